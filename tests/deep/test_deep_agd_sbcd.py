"""AGD-SBCD of networks: the compiled solver's iterates, its state and memory, what it does with bad input."""

import copy
import io
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from linear_runs import LinearProblem  # noqa: E402

from kernbench.deep import AGDSBCD, IndexedDataset, PairBatchSampler  # noqa: E402
from kernbench.deep.optimisers.thresholds import OneThreshold  # noqa: E402
from kernbench.solvers.ranking.stochastic.agd import AGDSBCD as CompiledAGDSBCD  # noqa: E402

ONE_OPTION_EACH = [
    {},
    {"shared_batches": False},
    {"loss": "hinge"},
    {"loss": "squared_hinge", "step_size": 0.02},
    {"fpr_range": (0.0, 0.3)},
    {"fpr_range": (0.2, 1.0)},
    {"fpr_range": (0.0, 1.0)},
    {"threshold_step": 2.0, "gamma": 500.0, "mu": 100.0},
    {"thresholds": "exact", "threshold_step": 1.0},
    {"thresholds": "exact", "threshold_step": 0.7, "shared_batches": False, "gamma": 200.0, "mu": 10.0},
]


@pytest.fixture(scope="module")
def problem():
    return LinearProblem()


@pytest.fixture
def module(problem):
    return problem.module()


@pytest.mark.parametrize("options", ONE_OPTION_EACH, ids=str)
def test_a_linear_module_walks_with_the_compiled_solver(problem, module, options):
    """Over two ends of stages: w, both networks, their thresholds and the reported mean, to 1e-8."""
    inner_steps, n_steps = (10, 70) if options else (20, 200)
    options = {"step_size": 0.5, "thresholds": "stochastic", "fpr_range": (0.05, 0.5), "gamma": 2000.0, **options}
    solver, sampler = problem.compiled(CompiledAGDSBCD, inner_steps=inner_steps, **options)
    optimizer = problem.optimizer(module, lr=options.pop("step_size"), inner_steps=inner_steps, **options)
    negatives, two_batches = problem.inputs[problem.labels < 0], options.get("shared_batches") is False
    for _ in range(n_steps):
        if options["thresholds"] == "exact" and optimizer.inner_step == 0:
            optimizer.find_thresholds(module(negatives))
        for _ in range(2 if two_batches else 1):
            problem.step(optimizer, module, sampler.draw())
        solver.advance(1)
        assert_same_iterate(optimizer, module, solver.solution().state)
    assert (optimizer.stage, optimizer.inner_step) == (2, n_steps - 5 * inner_steps)


def assert_same_iterate(optimizer, module, theirs):
    ours = {"w": optimizer.state[module.weight]["w"]}
    if optimizer.inner_step > 0:  # the compiled solver's runs go to w when the next stage begins
        ours["high_v"] = module.weight
        ours["low_v"] = optimizer.state[module.weight].get("low")
        for end in ("low", "high"):
            ours[f"{end}_lam"] = optimizer.state[module.weight].get(f"{end}_thresholds")
    else:
        with optimizer.averaged():
            ours["ended"] = module.weight.clone()
    for name, value in ours.items():
        if value is not None:
            np.testing.assert_allclose(value.detach().ravel(), theirs[name], rtol=0, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("fpr_range, copies", [((0.05, 0.5), 4), ((0.0, 0.5), 2)])
def test_memory_is_four_copies_and_sixteen_bytes_a_positive(fpr_range, copies):
    """In float32, besides the module's own parameters and gradients."""
    module = torch.nn.Sequential(torch.nn.Linear(30, 20), torch.nn.ReLU(), torch.nn.Linear(20, 1))
    n_positive, n = 1000, sum(p.numel() for p in module.parameters())
    optimizer = AGDSBCD(module.parameters(), fpr_range, n_positive, inner_steps=2)
    for _ in range(12):
        optimizer.step(lambda: module(torch.randn(8, 30)), torch.arange(8) < 4, torch.arange(8))
    state = optimizer.state_dict()["state"].values()
    tensors = [value for of_one in state for value in of_one.values() if torch.is_tensor(value)]
    held = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    assert sum(held.values()) == copies * 4 * n + copies * 4 * n_positive
    assert set(vars(optimizer)) <= set(vars(torch.optim.SGD(module.parameters())))  # nothing elsewhere


def test_a_step_calls_the_closure_once_for_each_network(problem, module):
    for fpr_range, times in (((0.0, 0.5), 1), ((0.1, 0.5), 2)):
        calls = []
        optimizer = problem.optimizer(module, fpr_range)
        batch = PairBatchSampler(problem.y, seed=0).draw()
        scores = lambda: calls.append(1) or module(problem.inputs[batch])  # noqa: E731
        value = optimizer.step(scores, problem.labels[batch], problem.indices[batch])
        assert len(calls) == times and value.shape == ()


def test_a_batch_may_hold_its_examples_in_any_order(problem):
    """And as a column, with labels 0 and 1, in a batch of other sizes."""
    ends = []
    for reverse in (False, True):
        module = problem.module()
        optimizer = problem.optimizer(module)
        for batch in PairBatchSampler(problem.y, 5, 9, n_batches=30, seed=0):
            batch = batch[::-1] if reverse else batch
            labels = (problem.labels[batch] > 0).int()[:, None] if reverse else problem.labels[batch]
            optimizer.step(lambda: module(problem.inputs[batch]), labels, problem.indices[batch])
        ends.append(module.weight.detach().clone())
    torch.testing.assert_close(*ends, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"shared_batches": False}, {"thresholds": "exact"}], ids=str)
@pytest.mark.parametrize("n_steps, dtype", [(5, torch.float64), (13, torch.float64), (13, torch.float32)])
def test_a_run_resumes_bit_for_bit(options, n_steps, dtype):
    """At the end of a stage and within one (or within a step), from a file that is read with weights_only."""
    problem, options = LinearProblem(dtype), {"inner_steps": 5, **options}
    whole, first = problem.module(), problem.module()
    problem.train(problem.optimizer(whole, **options), whole, n_steps + 20)
    optimizer = problem.optimizer(first, **options)
    problem.train(optimizer, first, n_steps)
    file = io.BytesIO()
    torch.save({"module": first.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    saved, second = torch.load(file, weights_only=True), problem.module()
    second.load_state_dict(saved["module"])
    optimizer = problem.optimizer(second, **options)
    optimizer.load_state_dict(saved["optimizer"])
    problem.train(optimizer, second, 20, first=n_steps)
    assert torch.equal(whole.weight, second.weight)


@pytest.mark.parametrize("options", [{}, {"shared_batches": False}], ids=str)
def test_thresholds_keep_their_digits_beside_parameters_of_bfloat16(options):
    """PyTorch loads the state of a parameter in the parameter's type."""
    problem = LinearProblem(torch.float32)
    module, other = (problem.module().to(torch.bfloat16) for _ in range(2))
    optimizer, again = (problem.optimizer(one, **options) for one in (module, other))
    inputs = problem.inputs.to(torch.bfloat16)
    for batch in PairBatchSampler(problem.y, 5, 9, n_batches=7, seed=0):
        optimizer.step(lambda: module(inputs[batch]), problem.labels[batch], problem.indices[batch])
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    kept, loaded = (one.state[one.param_groups[0]["params"][0]] for one in (optimizer, again))
    assert {name for name, value in kept.items() if torch.is_tensor(value) and value.dtype == torch.float32}
    for name, value in kept.items():
        if torch.is_tensor(value):
            assert loaded[name].dtype == value.dtype and torch.equal(loaded[name], value), name


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_a_copy_goes_on_like_the_original(problem, module, duplicate):
    optimizer = problem.optimizer(module)
    problem.train(optimizer, module, 25)
    other, its_module = duplicate((optimizer, module))
    for one, of_one in ((optimizer, module), (other, its_module)):
        problem.train(one, of_one, 10, first=25)
    assert torch.equal(module.weight, its_module.weight)


def test_averaged_gives_the_parameters_back(problem, module):
    optimizer = problem.optimizer(module)
    problem.train(optimizer, module, 30)
    before, mean = module.weight.detach().clone(), optimizer.state[module.weight]["mean"].clone()
    with pytest.raises(KeyError), optimizer.averaged():
        assert torch.equal(module.weight, mean)
        raise KeyError
    assert torch.equal(module.weight, before)
    problem.train(optimizer, module, 1, first=30)


def test_an_interrupted_closure_leaves_v_n_in_the_parameters(problem, module):
    optimizer, batch = problem.optimizer(module), PairBatchSampler(problem.y, seed=0).draw()
    problem.train(optimizer, module, 3)
    low, calls = optimizer.state[module.weight]["low"].clone(), []

    def interrupted():
        calls.append(module.weight.detach().clone())
        if len(calls) == 2:
            raise KeyboardInterrupt
        return module(problem.inputs[batch])

    with pytest.raises(KeyboardInterrupt):
        optimizer.step(interrupted, problem.labels[batch], problem.indices[batch])
    assert torch.equal(calls[1], low)
    assert torch.equal(optimizer.state[module.weight]["low"], low) and not torch.equal(module.weight, low)


def test_groups_have_steps_of_their_own(problem):
    """A group that hardly steps stays, and learning rate schedulers see the groups."""
    module = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
    groups = [{"params": module[0].parameters(), "lr": 1e-12, "weight_decay": 0.1}, {"params": module[2].parameters()}]
    optimizer = AGDSBCD(groups, (0.05, 0.5), problem.data.n_positive, inner_steps=10)
    before = copy.deepcopy(module.state_dict())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for batch in PairBatchSampler(problem.y, n_batches=5, seed=0):
        problem.step(optimizer, module, batch)
    scheduler.step()
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([1e-13, 1e-2])
    torch.testing.assert_close(module[0].weight, before["0.weight"], rtol=0, atol=1e-9)
    assert (module[2].weight - before["2.weight"]).abs().max() > 1e-3


def test_parameters_without_a_part_in_the_scores_stay(problem):
    module = torch.nn.ModuleDict({"used": torch.nn.Linear(5, 1), "not": torch.nn.Linear(3, 3)}).double()
    before = module["not"].weight.detach().clone()
    optimizer = AGDSBCD(module.parameters(), (0.05, 0.5), problem.data.n_positive, inner_steps=5)
    for batch in PairBatchSampler(problem.y, n_batches=12, seed=0):
        optimizer.step(lambda: module["used"](problem.inputs[batch]), problem.labels[batch], problem.indices[batch])
    torch.testing.assert_close(module["not"].weight, before, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("fpr_range", [(0.05, 0.5), (0.0, 0.5)])
def test_frozen_parameters_do_not_even_decay(problem, fpr_range):
    """As with PyTorch's own optimisers; a group may have no others, and whole numbers may be among them."""
    module = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
    module[0].requires_grad_(False)
    frozen = [torch.nn.Parameter(torch.arange(5), requires_grad=False), module[0].bias]
    before, trained = copy.deepcopy(module.state_dict()), [module[0].weight, *module[2].parameters()]
    optimizer = AGDSBCD([{"params": trained}, {"params": frozen}], fpr_range, problem.data.n_positive, inner_steps=5,
                        weight_decay=0.1)  # fmt: skip
    for batch in PairBatchSampler(problem.y, n_batches=12, seed=0):
        problem.step(optimizer, module, batch)
    with optimizer.averaged():
        assert torch.equal(module[0].weight, before["0.weight"])
    assert torch.equal(module[0].weight, before["0.weight"]) and torch.equal(frozen[0], torch.arange(5))
    assert torch.equal(module[0].bias, before["0.bias"]) and not torch.equal(module[2].weight, before["2.weight"])


def test_scores_of_half_precision(problem):
    """Under autocast the arithmetic of pairs stays in float32."""
    module = problem.module().float()
    optimizer, inputs = problem.optimizer(module), problem.inputs.float()
    for batch in PairBatchSampler(problem.y, n_batches=30, seed=0):
        with torch.autocast("cpu", torch.bfloat16):
            optimizer.step(lambda: module(inputs[batch]), problem.labels[batch], problem.indices[batch])
    assert optimizer.state[module.weight]["high_thresholds"].dtype == torch.float32
    assert torch.isfinite(module.weight).all()


def test_it_learns(problem, module):
    """The mean of v_n ranks the negatives of the window better than the start does."""
    from kernbench.metrics import partial_auc

    optimizer = problem.optimizer(module, (0.0, 0.3), thresholds="exact", gamma=1000.0)
    before = partial_auc(problem.y, module(problem.inputs).detach().numpy()[:, 0], fpr_range=(0.0, 0.3))
    problem.train(optimizer, module, 100)
    with optimizer.averaged(), torch.no_grad():
        after = partial_auc(problem.y, module(problem.inputs).numpy()[:, 0], fpr_range=(0.0, 0.3))
    assert optimizer.stage == 2 and after > max(0.5, before + 0.05)


# --- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad_after", [0, 1, 20, 25])
def test_scores_that_are_not_finite_stop_it_at_the_last_good_state(problem, module, bad_after):
    optimizer = problem.optimizer(module)
    good = module.weight.detach().clone()
    problem.train(optimizer, module, bad_after)
    if bad_after >= 20:  # w of the second stage; at its very beginning w itself may be what is bad
        state = optimizer.state[module.weight]
        good = (state["mean"] if bad_after == 20 else state["w"]).clone()
    with torch.no_grad():
        module.weight *= np.nan
    with pytest.raises(ValueError, match=r"NaN or infinite .* lower lr=0.5 \(the step was 0.(5|25)\)"):
        problem.train(optimizer, module, 1)
    if bad_after:
        assert torch.equal(module.weight, good)
        problem.train(optimizer, module, 5)  # and it can go on
        assert torch.isfinite(module.weight).all()


def test_a_step_that_is_too_long_is_named(problem, module):
    optimizer = problem.optimizer(module, loss="squared_hinge", lr=1e300, mu=1e300)
    with pytest.raises(ValueError, match="lower lr=1e.300"):
        problem.train(optimizer, module, 20)
    assert torch.isfinite(module.weight).all()


@pytest.mark.parametrize(
    "closure, labels, indices, said",
    [
        (lambda h, X: h(X).detach(), [1, 0, 0, 0], [0, 0, 1, 2], "undetached"),
        (lambda h, X: h(X).expand(4, 2), [1, 0, 0, 0], [0, 0, 1, 2], "returns 2 columns"),
        (lambda h, X: h(X)[:3], [1, 0, 0, 0], [0, 0, 1, 2], "a label per score"),
        (lambda h, X: h(X), [0, 0, 0, 0], [0, 0, 1, 2], "no positive example"),
        (lambda h, X: h(X), [1, 1, 1, 1], [0, 0, 1, 2], "no negative example"),
        (lambda h, X: h(X), [1, 2, 0, 0], [0, 0, 1, 2], "0 and 1, or -1 and 1"),
        (lambda h, X: h(X), [1, 0, 0, 0], None, "IndexedDataset"),
        (lambda h, X: h(X), [1, 0, 0, 0], [0, 0, 1], "indices must be integers of shape"),
        (lambda h, X: h(X), [1, 0, 0, 0], [999, 0, 1, 2], "between 0 and n_positive - 1"),
        (lambda h, X: h(X), [1, 0, 0, 0], [-1, 0, 1, 2], "between 0 and n_positive - 1"),
    ],
)
def test_bad_batches(problem, module, closure, labels, indices, said):
    optimizer, before = problem.optimizer(module), module.weight.detach().clone()
    indices = None if indices is None else torch.tensor(indices)
    with pytest.raises(ValueError, match=said):
        optimizer.step(lambda: closure(module, problem.inputs[:4]), torch.tensor(labels), indices)
    assert torch.equal(module.weight, before)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"fpr_range": (0.5, 0.5)}, "0 <= a < b <= 1"),
        ({"fpr_range": (0.6, 0.5)}, "0 <= a < b <= 1"),
        ({"n_positive": None}, "n_positive"),
        ({"n_positive": 0}, "n_positive"),
        ({"lr": 0.0}, "lr"),
        ({"mu": -1.0}, "mu"),
        ({"gamma": 0.0}, "gamma"),
        ({"weight_decay": -1.0}, "weight_decay"),
        ({"inner_steps": 2.5}, "inner_steps"),
        ({"loss": "hinged"}, "did you mean 'hinge'"),
        ({"thresholds": "exakt"}, "did you mean 'exact'"),
        ({"threshold_step": 0}, "threshold_step"),
        ({"shared_batches": 1}, "shared_batches"),
    ],
)
def test_bad_parameters(module, options, said):
    with pytest.raises(ValueError, match=said):
        AGDSBCD(module.parameters(), **{"fpr_range": (0.05, 0.5), "n_positive": 5, **options})


def test_options_of_the_whole_are_not_for_groups(module):
    with pytest.raises(ValueError, match="inner_steps is an option of the whole optimiser"):
        AGDSBCD([{"params": module.parameters(), "inner_steps": 3}], (0.05, 0.5), 5)
    with pytest.raises(ValueError, match="lr must be a positive number"):
        AGDSBCD([{"params": module.parameters(), "lr": -3.0}], (0.05, 0.5), 5)


def test_thresholds_of_losses_are_not_found_from_scores(problem, module):
    with pytest.raises(ValueError, match="thresholds='exact'"):
        problem.optimizer(module).find_thresholds(torch.zeros(3))


def test_a_checkpoint_of_another_shape(problem, module):
    optimizer = problem.optimizer(module)
    problem.train(optimizer, module, 2)
    other = torch.nn.Linear(7, 1, bias=False, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"shape \(1, 5\) there and has \(1, 7\) here"):
        problem.optimizer(other).load_state_dict(optimizer.state_dict())
    fewer = AGDSBCD(problem.module().parameters(), (0.05, 0.5), 7)
    with pytest.raises(ValueError, match=f"{problem.data.n_positive} positives, not of 7"):
        fewer.load_state_dict(optimizer.state_dict())


def test_a_dataset_without_indices():
    with pytest.raises(ValueError, match="map-style"):
        IndexedDataset(iter([1.0, 2.0]), [0, 1])


@pytest.mark.parametrize("share", [0.29, 0.58])  # 100 times each is a little less than a whole number
def test_a_threshold_that_is_found_lets_its_share_pass(share):
    state, scores = {}, torch.arange(100, dtype=torch.float64)
    OneThreshold(state, "high", share, None).find(scores)
    assert (scores > state["high_thresholds"]).sum() == round(100 * share)


def test_a_stage_that_begins_anew_forgets_how_its_thresholds_moved(problem, module):
    optimizer = problem.optimizer(module)
    problem.train(optimizer, module, 7)
    state = optimizer.state[module.weight]
    assert state["high_drift"].any()
    with torch.no_grad():
        module.weight *= np.nan
    with pytest.raises(ValueError, match="NaN"):
        problem.train(optimizer, module, 1)
    assert not state["high_drift"].any() and not state["low_drift"].any()
