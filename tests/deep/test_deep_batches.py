"""Batches of both classes: who is drawn, how often, from which seed; examples that know their index."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from kernbench.deep import IndexedDataset, PairBatchSampler  # noqa: E402
from kernbench.reference.ranking.stochastic.batches import draw  # noqa: E402

LABELS = np.array([0, 1, 0, 1, 1, 0, 0, 0, 0, 1])


def test_batches_hold_distinct_examples_of_both_classes_the_positives_first():
    for batch in PairBatchSampler(LABELS, 3, 4, n_batches=50, seed=0):
        assert len(set(batch)) == 7
        assert LABELS[batch].tolist() == [1, 1, 1, 0, 0, 0, 0]


def test_draws_are_uniform():
    counts = np.zeros(10)
    for batch in PairBatchSampler(LABELS, 2, 3, n_batches=4000, seed=1):
        counts[batch] += 1
    expected = np.where(LABELS == 1, 2000, 2000)  # 2 of 4 positives, 3 of 6 negatives
    assert np.abs(counts - expected).max() < 5 * np.sqrt(1000)


def test_a_batch_is_that_of_the_stochastic_solvers():
    sampler = PairBatchSampler(LABELS, 2, 3, seed=7)
    u = np.random.Generator(np.random.Philox(key=[7, 0])).random(50).reshape(10, 5)
    for numbers in u:
        drawn = [*sampler.positives[draw(numbers[:2], 4)], *sampler.negatives[draw(numbers[2:], 6)]]
        assert sampler.draw() == drawn


def test_a_batch_depends_on_seed_and_number_only():
    sampler = PairBatchSampler(LABELS, 2, 2, n_batches=5, seed=3)
    batches = [*sampler, *sampler]  # an iteration goes on where the last one ended
    assert sampler.batch == 10 and batches[:5] != batches[5:]
    other = PairBatchSampler(torch.tensor(LABELS * 2 - 1), 2, 2, n_batches=3, seed=3)
    other.batch = 4
    assert list(other) == batches[4:7]
    assert list(PairBatchSampler(LABELS, 2, 2, n_batches=5, seed=4)) != batches[:5]


def test_a_seed_may_be_as_long_as_those_of_numpy():
    first, second, other = (PairBatchSampler(LABELS, 2, 2, n_batches=5, seed=2**100 + k) for k in (0, 0, 1))
    assert list(first) == list(second) != list(other)


def test_a_class_may_be_smaller_than_its_part():
    sampler = PairBatchSampler(LABELS, 16, 16, seed=0)
    assert len(sampler) == 1 and sorted(sampler.draw()) == list(range(10))


def test_an_epoch_sees_as_many_examples_as_there_are():
    assert len(PairBatchSampler(np.arange(100) % 4 == 0, 8, 8)) == 7


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_gives_inputs_labels_and_indices(workers):
    data = IndexedDataset(TensorDataset(torch.arange(10.0), torch.zeros(10)), LABELS)
    loader = DataLoader(data, batch_sampler=PairBatchSampler(LABELS, 2, 3, seed=0), num_workers=workers)
    (x, labels, indices), expected = next(iter(loader)), PairBatchSampler(LABELS, 2, 3, seed=0).draw()
    assert x.int().tolist() == expected
    assert labels.tolist() == [1, 1, 0, 0, 0]
    assert [sampler_index(LABELS, i) for i in expected] == indices.tolist()


def sampler_index(labels, i):
    return int((labels[:i] == labels[i]).sum())


def test_the_inputs_of_an_item_are_its_first_entry():
    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return f"image {i}", "class", "more"

    data = IndexedDataset(Images(), [-1, 1])
    assert [data[0], data[1]] == [("image 0", 0, 0), ("image 1", 1, 0)]
    assert (len(data), data.n_positive, data.n_negative) == (2, 1, 1)
    assert IndexedDataset(np.array([[1.0, 2.0], [3.0, 4.0]]), [1, 0])[1][0].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    "labels, said",
    [
        ([0, 0], "no example is positive"),
        ([1, 1], "no example is negative"),
        ([0, 1, 2], "0 and 1, or -1 and 1"),
        ([0, 1, -1], "0 and 1, or -1 and 1"),
        (["a", "b"], "0 and 1, or -1 and 1"),
        ([[0, 1], [1, 0]], "one-dimensional"),
    ],
)
def test_bad_labels(labels, said):
    with pytest.raises(ValueError, match=said):
        PairBatchSampler(labels)
    with pytest.raises(ValueError, match=said):
        IndexedDataset(np.zeros(len(labels)), labels)


@pytest.mark.parametrize("options", [{"n_positive": 0}, {"n_negative": 1.5}, {"n_batches": 0}])
def test_bad_sizes(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        PairBatchSampler(LABELS, **options)


def test_labels_may_be_a_tensor_that_autograd_follows():
    labels = torch.tensor([0.0, 1.0, 0.0], requires_grad=True)
    for given in (labels, labels.bfloat16()):
        assert PairBatchSampler(given).positives.tolist() == [1]


def test_labels_of_other_examples():
    with pytest.raises(ValueError, match="one per example, 3, got 2"):
        IndexedDataset(np.zeros(3), [0, 1])
