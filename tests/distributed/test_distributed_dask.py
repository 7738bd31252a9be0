"""`Distributed` on a Dask cluster: the bits of one process, for any partitions and workers, and after a loss."""

import signal
import time
from threading import Event, Thread, main_thread
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernbench
from kernbench import (
    ROCSVC,
    ROCSVCCV,
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    KernelNoveltyDetector,
    KernelRegressor,
    KernelSVC,
    KernelSVR,
    LinearSVC,
    PartialAUCClassifier,
)
from kernbench.cli import main as cli
from kernbench.datasets import write_svmlight
from kernbench.distributed import Distributed
from kernbench.features import Nystroem
from kernbench.kernels import Gaussian
from kernbench.solvers.design import as_design

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")

from kernbench.distributed.cluster.actors import Actors  # noqa: E402
from kernbench.distributed.cluster.dask_blocks import DaskBlocks  # noqa: E402
from kernbench.distributed.cluster.workers import WorkersLost, addresses, free_bytes, gathered_parts  # noqa: E402

N = 18_000


MODELS = {
    "bundle": ROCSVC(random_state=0),
    "newton": ROCSVC(solver="newton", random_state=0),
    "squared": ROCSVC(loss="squared"),
    "nystroem": ROCSVC("rbf", n_landmarks=30, random_state=0),
    "random": ROCSVC("rbf", features="random", n_features=64, random_state=0),
    "window": PartialAUCClassifier((0.0, 0.3), random_state=0),
    "window-random": PartialAUCClassifier((0.0, 0.3), kernel="rbf", features="random", n_features=32, random_state=0),
    "tight": PartialAUCClassifier((0.0, 0.3), solver="svmpauc-tight", random_state=0),
    "linear": LinearSVC(solver="bundle", random_state=0),
    "pipeline": make_pipeline(
        StandardScaler(), Nystroem(Gaussian(2.0), 20, random_state=0), LinearSVC(solver="bundle", random_state=0)
    ),
}


def last_of(model):
    return model[-1] if hasattr(model, "steps") else model


def weights_of(model):
    model = last_of(model)
    return model.feature_coef_ if hasattr(model, "feature_coef_") else model.coef_


LINEAR = ("bundle", "newton", "squared", "window", "tight")  # without features that could be kept

# The others hold the same law for more models; starting workers and their imports takes most of their time.
QUICK = (("linear", "auto"), ("pipeline", 0))
PLACES = [(name, memory) for name in MODELS for memory in ("auto", 0) if memory or name not in LINEAR]


@pytest.mark.parametrize(
    "name, memory", [pytest.param(*place, marks=() if place in QUICK else pytest.mark.slow) for place in PLACES]
)
def test_partitions_change_no_bit_and_files_give_the_same(name, memory, client, examples):
    X, y = examples(N, 6)
    here = Distributed(MODELS[name]).fit([X], y).estimator_
    for chunks in ((1_000, 3), (N, 6)):
        there = Distributed(MODELS[name], client, memory=memory).fit(
            da.from_array(X, chunks=chunks), da.from_array(y, chunks=777)
        )
        assert np.array_equal(weights_of(there.estimator_), weights_of(here))
        assert np.array_equal(last_of(there.estimator_).intercept_, last_of(here).intercept_)
        assert there.n_passes_ > 0


def test_a_pass_sends_and_receives_what_the_page_says(client, examples):
    """Scores: d numbers to each worker, n back. Combination: n slopes out, the sums of the chunks back."""
    n, d = 40_000, 10
    X, _ = examples(n, d)
    blocks = DaskBlocks(client, client.scatter(np.array_split(X, 5)))
    design, array = as_design(blocks), as_design(X)
    w, g = np.arange(d) * 1.0, np.random.default_rng(0).normal(size=n)
    assert np.array_equal(design.scores(w), array.scores(w))
    workers = len(blocks.actors.shares)
    assert (blocks.n_passes, blocks.n_bytes_sent, blocks.n_bytes_received) == (1, 8 * d * workers, 8 * n)
    assert np.array_equal(design.combine(g), array.combine(g))
    chunks = len(blocks.starts) - 1
    assert blocks.n_bytes_sent == 8 * d * workers + 8 * n
    assert blocks.n_bytes_received == 8 * n + 8 * d * chunks


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 3])
def test_the_number_of_workers_changes_no_bit_nor_does_the_loss_of_one(n_workers, examples):
    X, y = examples(30_000, 5)
    here = Distributed(ROCSVC(solver="adamax", max_iter=60, random_state=0, callback=lambda model: None)).fit([X], y)
    with (
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = []

        def kill(model):
            if n_workers == 3 and not killed:
                killed.append(next(iter(cluster.workers)))
                cluster.workers[killed[0]].process.process._process.kill()

        model = ROCSVC(solver="adamax", max_iter=60, random_state=0, callback=kill)
        there = Distributed(model, client).fit(da.from_array(X, chunks=(4_000, 5)), y)
        assert np.array_equal(there.estimator_.coef_, here.estimator_.coef_)
        assert len(there.estimator_.trace_["n_bytes_sent"]) == len(there.estimator_.trace_["n_iter"])
        assert len(killed) == (n_workers == 3)

        model = DoublyStochasticClassifier(block_size=16, max_iter=20, random_state=0)
        one = Distributed(model).fit([X], y).estimator_
        killed = []
        model = clone(model).set_params(callback=kill)
        there = Distributed(model, client).fit(da.from_array(X, chunks=(7_000, 5)), y)
        assert np.array_equal(there.estimator_.block_coef_, one.block_coef_)
        assert len(killed) == (n_workers == 3)


def test_a_doubly_stochastic_step_sends_a_block_and_receives_one(client, examples):
    X, y = examples(N, 6)
    m = 256
    model = DoublyStochasticClassifier(batch_size=512, block_size=m, precondition=False, random_state=0, max_iter=10)
    there = Distributed(model, client).fit(da.from_array(X, chunks=(5_000, 6)), da.from_array(y, chunks=777))
    assert np.array_equal(there.estimator_.block_coef_, Distributed(model).fit([X], y).estimator_.block_coef_)
    workers, steps = 2, there.n_passes_
    assert steps == 10
    # The blocks reach at least one worker, and the sums come back from at least one.
    assert 8 * m * (steps - 1) <= there.n_bytes_sent_ <= 8 * m * workers * (steps - 1)
    # Some sums are asked for again.
    assert 8 * m * steps <= there.n_bytes_received_ <= (8 * m + 400) * workers * (steps + 2)


def test_an_interrupt_ends_the_pass_on_the_workers(client, examples, tmp_path):
    """The workers do not go on with a pass that nobody waits for, and the next one has the bits of an array."""
    X, _ = examples(60_000, 40)
    blocks = DaskBlocks(client, client.scatter(np.array_split(X, 4)))
    w = np.arange(40) * 1.0
    expected = blocks.scores(w)  # the objects on the workers are made

    log, is_over = tmp_path / "log", Event()

    def slow(X, start):  # of this function, since workers cannot import the tests
        with open(log, "a") as file:
            file.write(f"{start}\n")
        time.sleep(0.5)

    def press_ctrl_c():
        while not log.exists():
            if is_over.wait(0.01):
                return
        signal.pthread_kill(main_thread().ident, signal.SIGINT)  # wakes the thread that waits for the workers

    thread = Thread(target=press_ctrl_c)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            blocks.map(slow)
    finally:
        is_over.set()
        thread.join()
    assert np.array_equal(blocks.scores(w), expected)
    assert len(log.read_text().splitlines()) <= len(blocks.layout.blocks().groups) - 2


def test_the_other_doubly_stochastic_models_are_those_of_files(client, examples):
    X, y = examples(1_500, 3)
    rows, small = da.from_array(X, chunks=(400, 2)), {"batch_size": 256, "block_size": 16, "random_state": 0}
    gp = DoublyStochasticGPRegressor(std="operator", max_iter=3, **small)
    here, there = Distributed(gp).fit([X], X[:, 0]), Distributed(gp, client).fit(rows, X[:, 0])
    assert np.array_equal(there.estimator_.operator_coef_, here.estimator_.operator_coef_)
    for lazy, expected in zip(there.predict(rows, return_std=True), here.predict(X, return_std=True)):
        np.testing.assert_allclose(lazy.compute(), expected, atol=1e-9)

    novelty = DoublyStochasticNoveltyDetector(max_iter=8, **small)
    here, there = Distributed(novelty).fit([X]), Distributed(novelty, client).fit(rows)
    assert np.array_equal(there.estimator_.block_coef_, here.estimator_.block_coef_)
    np.testing.assert_allclose(there.score_samples(rows).compute(), here.score_samples(X), atol=1e-9)

    ratio = DoublyStochasticDensityRatio(max_iter=8, **small)
    here, there = (Distributed(ratio).fit([X[:900]], [X[900:]]), Distributed(ratio, client).fit(rows[:900], rows[900:]))
    assert np.array_equal(there.estimator_.block_coef_, here.estimator_.block_coef_)
    np.testing.assert_allclose(there.log_ratio(rows).compute(), here.log_ratio(X), atol=1e-9)
    np.testing.assert_allclose(there.ratio(rows).compute(), here.ratio(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")
def test_two_samples_in_sparse_files_have_the_columns_of_the_widest(client, tmp_path):
    X = sparse.random(900, 12, density=0.3, format="csr", random_state=0)
    P, Q, folders = X[:400, :9], X[400:], (tmp_path / "P", tmp_path / "Q")
    for folder, rows in zip(folders, (P, Q)):
        folder.mkdir()
        write_svmlight(folder / "0.svm", rows[:250], np.zeros(250))
        write_svmlight(folder / "1.svm", rows[250:], np.zeros(rows.shape[0] - 250))
    model = DoublyStochasticDensityRatio(batch_size=256, block_size=16, max_iter=8, random_state=0)
    for own, other in (folders, folders[::-1], ([Q], folders[0])):
        here = Distributed(model).fit(own, other).estimator_
        there = Distributed(model, client).fit([dask.delayed(Q)] if isinstance(own, list) else own, other).estimator_
        assert there.n_features_in_ == 12 and np.array_equal(there.block_coef_, here.block_coef_)
    with pytest.raises(ValueError, match="all must have the same columns"):  # rows in memory say how wide they are
        Distributed(model, client).fit([dask.delayed(P)], folders[1])


def test_partitions_of_other_types_are_those_of_one_process(client, examples):
    pandas = pytest.importorskip("pandas")
    X, y = examples(200, 3)
    frame = pandas.DataFrame(np.round(3 * X), columns=list("abc"))
    parts = [frame[:100].astype(int), frame[100:].assign(c=pandas.Categorical(y[100:]))]
    there = Distributed(ROCSVC(random_state=0), client).fit([dask.delayed(part) for part in parts], y)
    here = Distributed(ROCSVC(random_state=0)).fit(parts, y)
    assert np.array_equal(there.estimator_.coef_, here.estimator_.coef_)


def test_data_that_do_not_belong_together_are_refused(client, examples, tmp_path):
    X, y = examples(40, 3)
    model = Distributed(ROCSVC(), client)
    broken = X.copy()
    broken[33, 1] = np.inf
    (tmp_path / "0.csv").write_text("1,2,0\n3,4,1\n")
    (tmp_path / "1.csv").write_text("5,6,NA\n7,8,NA\n")
    text = [dask.delayed(y[:20]), dask.delayed(np.repeat("NA", 20))]
    for data, labels, message in (
        (da.from_array(broken, chunks=(20, 3)), y, "column 1 of partition 1 holds infinity, first in its row 13"),
        ([dask.delayed(X[:20]), dask.delayed(X[20:, :2])], y, "partition 1 has shape"),
        ([dask.delayed(X[:20]), dask.delayed(X[20:].astype(np.float32))], y, "another dtype"),
        (da.from_array(X, chunks=(20, 3)), y[:7], "y has 7 entries and X has 40 rows"),
        (da.from_array(X, chunks=(20, 3)), None, "there are no labels"),
        (da.from_array(X, chunks=(20, 3)), "clicked", "'clicked' are not a file, and a collection has no column of"),
        (da.from_array(X + 1j, chunks=(20, 3)), y, "partition 0 must hold real numbers"),
        (da.from_array(X, chunks=(20, 3)), text, "labels of partition 1 are text, those of partition 0 are numbers"),
        (str(tmp_path), 2, r"the labels of .*1\.csv are text, those of .*0\.csv are numbers"),
        (X, y, "must be a Dask array"),
        (da.from_array(X[:, 0], chunks=20), y, "two dimensions"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(data, labels)
    with pytest.raises(ValueError, match=r"Distributed\(estimator, client\)"):
        Distributed(ROCSVC()).fit(da.from_array(X, chunks=20), y)
    with pytest.raises(ValueError, match="Distributed"):
        ROCSVC().fit(da.from_array(X, chunks=20), y)
    with pytest.raises(ValueError, match="solver='bundle'"):
        Distributed(LinearSVC(solver="sdca"), client).fit(da.from_array(X, chunks=20), y)


def test_a_clone_has_the_same_client(client):
    model = Distributed(ROCSVC(alpha=0.5), client, memory=7)
    other = clone(model)
    assert other.client is model.client is client and other.memory == 7
    assert other.estimator is not model.estimator and other.estimator.alpha == 0.5


def test_workers_of_another_version_are_refused(client, examples, monkeypatch):
    monkeypatch.setattr("kernbench.distributed.cluster.workers.__version__", "0.0")
    X, y = examples(40, 3)
    with pytest.raises(ValueError, match="install the same"):
        Distributed(clone(ROCSVC()), client).fit(da.from_array(X, chunks=20), y)


def test_workers_are_known_whatever_the_client_was_told_last(client, monkeypatch):
    """It asks every two seconds how the scheduler is, without its workers, and keeps the answer."""

    async def look(**_):
        client._scheduler_identity = {"workers": {}}

    monkeypatch.setattr(client, "_update_scheduler_info", look)
    assert client.scheduler_info()["workers"] == {}
    assert len(addresses(client)) == 2 and free_bytes(client) > 0


def test_sparse_rows_of_all_partitions_are_fetched(client, examples):
    X, _ = examples(5_000, 4, is_sparse=True)
    blocks = DaskBlocks(client, client.scatter([X[:1_000], X[1_000:]]))
    some = np.random.default_rng(0).integers(5_000, size=60)
    taken = blocks.rows(some)
    assert sparse.issparse(taken) and np.array_equal(taken.toarray(), X[some].toarray())


def test_kernel_svc_is_that_of_files_for_any_partitions(client, examples):
    X, y = examples(2_000, 4)
    svc = KernelSVC(C=3.0, tol=1e-3)
    for model in (svc, clone(svc).set_params(kernel="linear"), make_pipeline(StandardScaler(), svc)):
        here = last_of(Distributed(model).fit([X], y).estimator_)
        there = Distributed(model, client).fit(da.from_array(X, chunks=(300, 2)), y)
        found = last_of(there.estimator_)
        assert np.array_equal(found.dual_coef_, here.dual_coef_)
        assert np.array_equal(found.support_, here.support_)
        assert found.converged_ and there.n_bytes_received_ > 8 * 2_000 and there.n_rounds_ > 0


@pytest.mark.parametrize(
    "model", [KernelSVR(C=3.0), KernelRegressor("quantile"), KernelNoveltyDetector(nu=0.1)], ids=str
)
def test_kernel_regressors_are_those_of_files_for_any_partitions(model, client, examples):
    X, y = examples(2_000, 4)
    targets = [] if isinstance(model, KernelNoveltyDetector) else [X[:, 0] + 0.1 * y]
    here = Distributed(model).fit([X], *targets).estimator_
    there = Distributed(model, client).fit(da.from_array(X, chunks=(300, 2)), *targets)
    found = there.estimator_
    assert np.array_equal(found.dual_coef_, here.dual_coef_) and np.array_equal(found.support_, here.support_)
    assert found.converged_ and there.n_bytes_received_ > 0 and there.n_rounds_ > 0
    expected = here.predict(X)
    assert np.array_equal(there.predict(da.from_array(X, chunks=(2_000, 4))).compute(), expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_of_partitions_are_drawn_as_those_of_a_list_of_chunks(client, examples):
    X, y = examples(2_000, 4)
    model = KernelSVC(solver="scs", random_state=0, max_iter=15, tol=1e-12)
    plain = model.fit_chunks([(X[:600], y[:600]), (X[600:], y[600:])]).dual_coef_
    there = Distributed(clone(model), client).fit([dask.delayed(X[:600]), dask.delayed(X[600:])], y)
    assert np.array_equal(there.estimator_.dual_coef_, plain)


def test_a_relative_folder_is_that_of_this_process(client, examples, in_files, monkeypatch):
    """The workers were started in another one."""
    X, y = examples(200, 3)
    folder = in_files(X, (90,))
    monkeypatch.chdir(folder.parent)
    there = Distributed(ROCSVC(random_state=0), client).fit(folder.name, y).estimator_
    assert np.array_equal(there.coef_, Distributed(ROCSVC(random_state=0)).fit(folder, y).estimator_.coef_)


@pytest.mark.slow
def test_files_are_read_by_workers(client, cluster, examples, in_files, tmp_path):
    X, y = examples(2_000, 4)
    folder = in_files(X, (5, 1_000))
    here = Distributed(ROCSVC(random_state=0)).fit(folder, y).estimator_
    assert np.array_equal(Distributed(ROCSVC(random_state=0), client).fit(folder, y).estimator_.coef_, here.coef_)
    tables = tmp_path / "tables"
    tables.mkdir()
    for k, part in enumerate(np.array_split(np.column_stack([X, y]), 3)):
        np.savetxt(tables / f"{k}.csv", part, delimiter=",", header="a,b,c,d,label", comments="")
    there = Distributed(ROCSVC(random_state=0), client).fit(str(tables), "label").estimator_
    assert np.array_equal(there.coef_, Distributed(ROCSVC(random_state=0)).fit(tables, "label").estimator_.coef_)
    out = tmp_path / "model.npz"
    arguments = ["fit", str(tables), "--estimator", "rocsvc", "--label", "label", "--out", str(out)]
    result = CliRunner().invoke(cli, [*arguments, "--scheduler", cluster.scheduler_address])
    assert result.exit_code == 0, result.output
    assert "2,000 × 4" in result.output
    np.testing.assert_allclose(kernbench.load(out).coef_, there.coef_, rtol=1e-9)
    assert "no Dask scheduler answers" in str(
        CliRunner().invoke(cli, [*arguments, "--scheduler", "tcp://127.0.0.1:1"]).output
    )


@pytest.mark.slow
def test_searches_run_on_the_workers(client, examples):
    X, y = examples(600, 4)
    search = ROCSVCCV(alphas=[1e-1, 1e-3], cv=2, random_state=0, n_jobs=2)
    plain = clone(search).fit(X, y)
    with joblib.parallel_config("dask", client=client):
        found = search.fit(X, y)
        many = LinearSVC(n_jobs=2, random_state=0).fit(X, np.arange(600) % 3)
    assert found.alpha_ == plain.alpha_ and np.array_equal(found.coef_, plain.coef_)
    assert np.array_equal(many.coef_, LinearSVC(random_state=0).fit(X, np.arange(600) % 3).coef_)


@pytest.mark.slow
def test_partitions_that_cannot_be_computed_again_are_named(examples):
    X, y = examples(2_000, 3)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        scattered, labels = client.scatter(np.array_split(X, 2)), client.scatter(np.array_split(y, 2))
        message = "lost with its worker and cannot be computed again"

        def kill(model):
            for nanny in cluster.workers.values():
                nanny.process.process._process.kill()

        with pytest.raises(WorkersLost, match=message):
            Distributed(ROCSVC(solver="adamax", callback=kill), client).fit(scattered, y)
        client.wait_for_workers(2)
        for rows, own in ((scattered, y), (da.from_array(X, chunks=(50, -1)), labels)):
            with pytest.raises(WorkersLost, match=message):
                Distributed(KernelSVC(), client).fit(rows, own)


def test_workers_that_are_lost_again_and_again_are_one_kind_of_error(monkeypatch):
    def lost(*_, **__):
        raise OSError("a worker was lost")

    monkeypatch.setattr(Actors, "_create", lost)
    with pytest.raises(WorkersLost, match="lost 4 times in one pass over the rows: a worker was lost"):
        Actors(None, [], None, None).call("ask", None)

    def killed(*_, **__):
        raise distributed.scheduler.KilledWorker("read", SimpleNamespace(address="tcp://10.0.0.2:1"), 3)

    with pytest.raises(WorkersLost, match="all those workers died"):
        gathered_parts(SimpleNamespace(gather=killed), [])
