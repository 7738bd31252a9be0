"""pauc-deep: its image sets, and what it is without PyTorch."""

import hashlib
import io
import pickle
import tarfile
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from kernbench._lazy import load
from kernbench.datasets.errors import ChecksumMismatch, DatasetUnavailable
from kernbench.experiments.papers.pauc.deep import images, measuring, photographs, planes
from kernbench.experiments.papers.pauc.parts import RANGE
from kernbench.experiments.registry import get
from kernbench.experiments.run.cells import plan

EXPERIMENT = get("pauc-deep")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The only folder of data."""
    monkeypatch.setenv("KERNBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("KERNBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_long_tails_are_those_of_table_5():
    sizes = images.long_tail(5000, 10)
    assert (sizes[3], sum(sizes) - sizes[3]) == (1077, 11_329)
    sizes = images.long_tail(500, 200)
    birds = sum(sizes[k] for k in images.BIRDS)
    assert (birds, sum(sizes) - birds) == (1308, 20_241)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is here")
def test_without_pytorch_networks_are_named_gaps_and_a_linear_score_is_measured(outcome):
    cells, gaps = plan([EXPERIMENT], "quick")
    assert [cell.method for cell in cells] == ["pixel-logistic"]
    assert {gap.reason for gap in gaps} == {"torch is not installed", "libauc is not installed"}
    found = outcome(EXPERIMENT, "striped-images", "pixel-logistic")
    assert 0.275 < found["metrics"]["test_pauc"] < 0.8


def test_every_combination_of_the_first_values_is_tried():
    values = {"learning_rate": [1.0, 0.1], "gamma": [500.0, 100.0]}
    assert measuring.grid_of(values, {}) == [{"learning_rate": 1.0, "gamma": 500.0}]
    tried = measuring.grid_of(values, {"learning_rate": 2, "gamma": 2})
    assert len(tried) == 4 and {"learning_rate": 0.1, "gamma": 100.0} in tried
    assert measuring.grid_of({}, {"gamma": 2}) == [{}]


def test_images_that_validate_do_not_judge():
    X, y = np.arange(40.0)[:, None], np.where(np.arange(40) % 4, -1, 1)
    data = SimpleNamespace(X_test=X, y_test=y)
    (judging, labels), keywords = measuring._parts_of_test(data, 12, seed=3)
    validating = keywords["validation"][0]
    assert sorted([*judging[:, 0], *validating[:, 0]]) == X[:, 0].tolist() and len(validating) == 12
    assert np.sum(keywords["validation"][1] > 0) == 3 and np.sum(labels > 0) == 7
    assert measuring._parts_of_test(data, 0, seed=3) == ((X, y), {})


def test_the_grids_hold_the_papers_gammas():
    grids = {method.name: method.params.get("grid", {}) for method in EXPERIMENT.methods}
    assert sorted(grids["agd-sbcd"]["gamma"]) == [0.1e3, 1e3, 2e3] and sorted(grids["auc-margin"]["gamma"]) == [
        100,
        500,
        1000,
    ]
    for name in ("mnist-lt-grid", "mnist-lt-of-0.01"):
        tried = EXPERIMENT.scale("paper").setting(name).params["tried"]
        assert (
            len(measuring.grid_of(grids["agd-sbcd"], tried)) == 6
            and len(measuring.grid_of(grids["cross-entropy"], tried)) == 2
        )


def test_a_run_without_names_has_the_ends_of_the_map_and_one_grid_of_all_gammas():
    by_default = [setting for setting in EXPERIMENT.scale("paper").settings if not setting.optional]
    places = {(s.arguments["n_positive"], s.params["fpr_range"][1]) for s in by_default if "n_positive" in s.arguments}
    assert places == {(n_positive, end) for n_positive in (10, 30, 100) for end in (0.01, 0.5)}
    assert [s.name for s in by_default if "gamma" in s.params["tried"]] == ["mnist-lt-of-0.01"]
    names = {setting.name for setting in by_default}
    for claim in EXPERIMENT.claims:
        assert claim.datasets is None or names & set(claim.datasets), claim.text


# The places of digits that the words of a claim cover, by number of threes (1,077 are those of Table 5) and window.
COVERED = {
    "With ten positives": lambda n, low, high: n == 10,
    "On the map, over rates up to 0.5": lambda n, low, high: n <= 100 and low == 0 and high == 0.5,
    "On digits, over rates up to 0.01 or 0.05": lambda n, low, high: high <= 0.05,
    "On digits at Table 5's imbalance, over wide": lambda n, low, high: n >= 100 and high == 0.5,
    "On digits at Table 5's imbalance, over rates up to 0.01": lambda n, low, high: n >= 100 and high == 0.01,
}


def test_claims_on_digits_are_judged_on_all_that_their_words_cover():
    digits = [s for s in EXPERIMENT.scale("paper").settings if s.name.startswith("mnist-")]
    found = set()
    for claim in EXPERIMENT.claims:
        if claim.datasets is None:
            continue
        (covers,) = [rule for words, rule in COVERED.items() if claim.text.startswith(words)]
        expected = {
            setting.name
            for setting in digits
            if covers(setting.arguments.get("n_positive", 1077), *setting.params.get("fpr_range", RANGE))
            and setting.takes(claim.method)
            and setting.takes(claim.baseline)
        }
        assert set(claim.datasets) == expected, claim.text
        found.add(claim.text)
    assert len(found) == 7


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_shifted_images_are_crops_with_zeros_at_the_edge():
    import torch

    from kernbench.experiments.papers.pauc.deep.augmentation import Shifted

    rows = np.arange(1, 2 * 9 + 1, dtype=np.float32).reshape(1, 18)
    torch.manual_seed(0)
    seen = [Shifted(rows, [1], 2, shift=1)[0][0].numpy() for _ in range(60)]
    padded = np.pad(rows.reshape(2, 3, 3), ((0, 0), (1, 1), (1, 1)))
    crops = [padded[:, i : i + 3, j : j + 3].ravel() for i in range(3) for j in range(3)]
    assert all(any(np.array_equal(image, crop) for crop in crops) for image in seen)
    assert all(any(np.array_equal(image, crop) for image in seen) for crop in crops)
    mirrored = [Shifted(rows, [1], 2, shift=0, flip=True)[0][0].numpy() for _ in range(20)]
    assert {tuple(image[:3]) for image in mirrored} == {(1.0, 2.0, 3.0), (3.0, 2.0, 1.0)}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
def test_the_first_step_size_of_agd_sbcd_trains_a_network(outcome):
    assert outcome(EXPERIMENT, "striped-images", "agd-sbcd")["metrics"]["test_pauc"] > 0.95


@pytest.mark.real_data
def test_the_subset_keeps_the_share_of_positives_and_the_tail(monkeypatch):
    try:
        data = planes.cifar10_subset()
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    assert data.kind == "subset" and data.X_train.shape == (2732, 3072) and data.X_test.shape == (1000, 3072)
    assert np.mean(data.y_train > 0) == pytest.approx(1077 / 12_406, abs=5e-4)
    other = planes.cifar10_subset(1)
    assert other.checksum != data.checksum == planes.cifar10_subset().checksum
    pictures = data.X_test.reshape(-1, 3, 32, 32)
    assert np.abs(np.diff(pictures, axis=2)).mean() < 0.1  # neighbours are alike; 0.21 in another order


def test_networks_see_the_subset_of_cifar10_one_colour_after_the_other(monkeypatch):
    """As the loader of the setting gives it, from rows that hold the three colours of a pixel side by side."""
    pictures = np.random.default_rng(0).random((40, 32, 32, 3), dtype=np.float32)
    labels = np.arange(40) % 10
    rows = SimpleNamespace(
        X_train=pictures.reshape(40, -1), y_train=labels, X_test=pictures.reshape(40, -1), y_test=labels, source="here"
    )
    monkeypatch.setattr(images, "load_dataset", lambda name: rows)
    data = load(EXPERIMENT.scale("paper").setting("cifar10-lt-subset").loader)(seed=0)
    assert np.array_equal(data.X_test.reshape(-1, 3, 32, 32), pictures.transpose(0, 3, 1, 2))
    known = {picture.tobytes() for picture in data.X_test}
    assert len(data.X_train) == 39 and {picture.tobytes() for picture in data.X_train} <= known
    assert data.checksum != images.cifar10_long_tailed_subset(0).checksum


@pytest.mark.real_data
def test_long_tailed_digits_have_the_counts_of_table_5():
    try:
        data = images.mnist_long_tailed()
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    assert (np.sum(data.y_train > 0), np.sum(data.y_train < 0)) == (1077, 11_329)
    assert np.mean(data.y_test > 0) == 0.101 and data.X_test.shape == (10_000, 784)
    few = images.mnist_long_tailed(3, n_positive=10, share=0.1, n_test=500)
    assert (np.sum(few.y_train > 0), np.sum(few.y_train < 0)) == (10, 1133)
    assert few.X_test.shape == (500, 784)


class Opening:
    def __reduce__(self):
        return open, ("made", "w")


def archive_of(batches):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, batch in batches.items():
            text = pickle.dumps(batch, protocol=2)
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return content.getvalue()


def batches(extra=None):
    names = [name for part in photographs.CIFAR10_PARTS for name in part]
    rng = np.random.default_rng(0)
    made = {
        name: {b"data": rng.integers(0, 256, (20, 3072), dtype=np.uint8), b"labels": list(range(10)) * 2}
        for name in names
    }
    return made | ({} if extra is None else {"data_batch_1": extra})


def test_the_archive_of_cifar10_is_read(folder):
    made = batches()
    content = archive_of(made)
    (folder / photographs.CIFAR10).write_bytes(content)
    with pytest.raises(ChecksumMismatch, match="is not the published"):
        photographs.cifar10()
    X, y, X_test, y_test = photographs.cifar10(hashlib.sha256(content).hexdigest())
    assert X.shape == (100, 3072) and X_test.shape == (20, 3072) and np.bincount(y).tolist() == [10] * 10
    assert np.array_equal(X[20:40], made["data_batch_2"][b"data"]) and y_test.tolist() == list(range(10)) * 2


def test_the_archive_cannot_run_code(folder, monkeypatch):
    monkeypatch.chdir(folder)
    content = archive_of(batches({b"data": Opening(), b"labels": []}))
    (folder / photographs.CIFAR10).write_bytes(content)
    with pytest.raises(pickle.UnpicklingError, match="is not an array"):
        photographs.cifar10(hashlib.sha256(content).hexdigest())
    assert not (folder / "made").exists()


@pytest.mark.parametrize(
    "load", [photographs.cifar10, images.cifar10_long_tailed, images.tiny_imagenet_long_tailed, images.chexpert]
)
def test_files_that_are_absent_are_named(folder, load):
    with pytest.raises(DatasetUnavailable, match=r"was not found.*get it from http.*KERNBENCH_DATA"):
        load()


def picture(path, colour, size=(64, 64), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path, quality=95)


def test_tiny_imagenet_is_read_from_its_folders(folder, monkeypatch):
    home = folder / photographs.TINY
    for k in range(2):
        for j in range(3):
            picture(home / "train" / f"n{k}" / "images" / f"n{k}_{j}.JPEG", (200 * k, 0, 0))
        picture(home / "val" / "images" / f"val_{k}.JPEG", (0, 200 * k, 0), mode="RGB")
    (home / "val" / "val_annotations.txt").write_text("val_0.JPEG\tn1\t0\nval_1.JPEG\tn0\t0\n")
    X, y, X_test, y_test = photographs.tiny_imagenet(lambda label, n: range(1 + label))
    assert y.tolist() == [0, 1, 1] and y_test.tolist() == [1, 0] and X.shape == (3, 3 * 64 * 64)
    assert X[1, : 64 * 64].min() > 150 > X[1, 64 * 64 :].max()  # red comes first
    monkeypatch.setattr(images, "BIRDS", (1,))
    data = images.tiny_imagenet_long_tailed()
    assert data.X_train.shape[0] == 6 and data.y_train.tolist() == [-1] * 3 + [1] * 3 and data.X_train.max() <= 1


def test_chexpert_is_read_from_its_tables(folder):
    home = folder / photographs.CHEXPERT
    for part, marks in (("train", ("1.0", "0.0", "-1.0", "")), ("valid", ("1.0", "0.0"))):
        lines = ["Path,Edema"]
        for k, mark in enumerate(marks):
            picture(home / part / f"{k}.jpg", 250 if mark == "1.0" else 10, size=(80, 70), mode="L")
            lines.append(f"{photographs.CHEXPERT}/{part}/{k}.jpg,{mark}")
        (home / f"{part}.csv").write_text("\n".join(lines))
    data = images.chexpert("edema")
    assert data.y_train.tolist() == [1, -1, -1, -1] and data.y_test.tolist() == [1, -1]  # uncertain is negative
    assert data.X_train.shape == (4, 64 * 64) and data.X_train[0].min() > 0.9 > 0.1 > data.X_train[1].max()


def test_fewer_inner_steps_than_the_papers_are_told():
    """The places of the map are told together."""
    named = EXPERIMENT.note.partition("outer iteration k has 10 (k + 1)² inner steps")[0].rpartition(". ")[2]
    for setting in EXPERIMENT.scale("paper").settings:
        if setting.params.get("inner_steps", 50) != 50:
            place = "On the map" if "n_positive" in setting.arguments else f"`{setting.name}`"
            assert setting.params["inner_steps"] == 10 and place in named


def test_where_every_gamma_is_tried_is_told_by_name():
    """Places of the map have rates up to 0.01, too, with one γ."""
    named = EXPERIMENT.note.partition("three values of γ")[2].partition(". ")[0]
    tried = [s for s in EXPERIMENT.scale("paper").settings if "gamma" in s.params["tried"]]
    assert tried and all(f"`{setting.name}`" in named for setting in tried if not setting.optional)
    assert "run only by name" in named and "placed by hand" in named
