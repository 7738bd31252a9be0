"""Losses of batches: their values and slopes against the plain-NumPy references, worked examples, bad input."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from kernbench.deep import AUCMarginLoss, PairwiseLoss, PartialAUCLoss, RankedRangeLoss  # noqa: E402
from kernbench.deep.losses.formulas import SLOPES, VALUES  # noqa: E402
from kernbench.losses.margin import MARGIN_LOSSES  # noqa: E402
from kernbench.losses.regression import REGRESSION_LOSSES  # noqa: E402
from kernbench.losses.table import losses_of  # noqa: E402
from kernbench.pairs import RankedRange  # noqa: E402
from kernbench.reference.pairs.pairs import AllPairs  # noqa: E402
from kernbench.reference.pairs.window import WindowPairs  # noqa: E402

PAIR_LOSSES = losses_of("pair")
PRECISIONS = ((torch.float64, 1e-12), (torch.float32, 1e-6))
precisions = pytest.mark.parametrize("dtype, tolerance", PRECISIONS, ids=["float64", "float32"])


def test_formulas_are_those_of_the_table():
    """A row of the table without a formula on tensors would not be offered."""
    assert set(VALUES) == set(losses_of("pair", "rank")) and set(SLOPES) == set(losses_of("pair"))
    z = torch.linspace(-3.0, 3.0, 121, dtype=torch.float64)
    for name, value in VALUES.items():
        loss = (MARGIN_LOSSES | REGRESSION_LOSSES)[name]
        np.testing.assert_allclose(value(z), loss.value(z.numpy()), atol=1e-14)
        if name in SLOPES:
            np.testing.assert_allclose(SLOPES[name](z), loss.slope(z.numpy()), atol=1e-14)


def batches(dtype):
    """Batches of many sizes: (scores, mask of the positives); those of odd number have ties."""
    rng = np.random.default_rng(0)
    for number, size in enumerate((2, 3, 9, 32, 33, 200)):
        positive = rng.random(size) < 0.3
        positive[:2] = True, False
        scores = rng.normal(scale=1.5, size=size)
        yield torch.tensor(np.round(scores * 2) / 2 if number % 2 else scores, dtype=dtype), positive


def value_and_slopes(module, scores, labels):
    scores = scores.clone().requires_grad_()
    value = module(scores, labels)
    value.backward()
    assert value.shape == () and value.dtype == scores.grad.dtype == scores.dtype
    return value.item(), scores.grad.double().numpy()


def assert_equal(ours, theirs, tolerance):
    np.testing.assert_allclose(ours[0], theirs[0], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=tolerance, atol=tolerance)


@precisions
@pytest.mark.parametrize("loss", PAIR_LOSSES)
@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.05, 0.5), (0.3, 1.0), (0.0, 1.0)])
def test_window_is_the_exact_one(loss, fpr_range, dtype, tolerance):
    for scores, positive in batches(dtype):
        theirs = WindowPairs(positive, fpr_range, loss=loss).value_and_subgradient(scores.double().numpy())
        for labels in (positive, positive.astype(int), np.where(positive, 1.0, -1.0)):
            ours = value_and_slopes(PartialAUCLoss(fpr_range, loss), scores, torch.as_tensor(labels))
            assert_equal(ours, theirs, tolerance)


@precisions
@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_ranks_are_the_exact_ones(loss, dtype, tolerance):
    for scores, positive in list(batches(dtype))[2:]:
        theirs = WindowPairs(positive, ranks=(1, 3), loss=loss).value_and_subgradient(scores.double().numpy())
        ours = value_and_slopes(PartialAUCLoss(ranks=(1, 3), loss=loss), scores, torch.as_tensor(positive))
        assert_equal(ours, theirs, tolerance)


@precisions
@pytest.mark.parametrize("loss", PAIR_LOSSES)
def test_all_pairs_are_the_exact_ones(loss, dtype, tolerance):
    for scores, positive in batches(dtype):
        theirs = AllPairs(np.where(positive, 1, -1)).value_and_subgradient(scores.double().numpy(), loss)
        assert_equal(value_and_slopes(PairwiseLoss(loss), scores, torch.as_tensor(positive)), theirs, tolerance)


@precisions
@pytest.mark.parametrize("loss", losses_of("rank"))
@pytest.mark.parametrize("ranked_range", [(0, 1), (1, 2), (0.1, 0.7), (0.05, 1.0), (0.0, 1.0)])
def test_ranked_range_is_the_exact_one(loss, ranked_range, dtype, tolerance):
    for scores, positive in batches(dtype):
        share = len(scores) if isinstance(ranked_range[1], float) else 1
        masses = [end * share for end in ranked_range]
        theirs = RankedRange(np.where(positive, 1.0, -1.0), masses, loss=loss)
        labels = torch.as_tensor(positive).int() * 2 - 1
        ours = value_and_slopes(RankedRangeLoss(ranked_range, loss), scores, labels)
        assert_equal(ours, theirs.value_and_subgradient(scores.double().numpy()), tolerance)


def test_ranked_range_takes_any_loss():
    """Cross-entropy over three classes, without the two hardest of ten examples."""
    outputs = torch.randn(10, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    targets = torch.arange(10) % 3
    losses = torch.nn.CrossEntropyLoss(reduction="none")
    value = RankedRangeLoss((2, 10), losses)(outputs, targets)
    kept = torch.sort(losses(outputs, targets), descending=True).values[2:]
    assert value.item() == pytest.approx(kept.mean().item(), rel=1e-14)
    value.backward()
    assert (outputs.grad.abs().sum(1) == 0).sum() == 2


@pytest.mark.parametrize("module", [PartialAUCLoss((0.1, 0.6), "log_loss"), PairwiseLoss("log_loss"), AUCMarginLoss()])
def test_gradient_matches_finite_differences(module):
    scores = torch.tensor([0.3, -1.2, 0.8, 2.0, 0.1, -0.4, 0.9], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(module, (scores, torch.tensor([1, 0, 0, 1, 0, 0, 1])))


def test_worked_example():
    """m = 1 and n = 3 of four negatives: the window holds 0.5 and 0."""
    scores = torch.tensor([1.0, 0, 2, 0.5, -1, 0], dtype=torch.float64)
    labels = torch.tensor([1, 1, 0, 0, 0, 0])
    assert PartialAUCLoss((0.25, 0.75))(scores, labels).item() == pytest.approx(0.75)
    assert PartialAUCLoss(ranks=(1, 3), loss="log_loss")(scores, labels).item() == pytest.approx(0.61364071)


@pytest.mark.parametrize("margin, value", [(1.0, 2.0), (3.0, 6.0)])
def test_worked_example_of_the_auc_margin(margin, value):
    scores, labels = torch.tensor([2.0, 0.0, 1.0, -1.0], dtype=torch.float64), torch.tensor([1, 1, 0, 0])
    assert AUCMarginLoss(margin)(scores, labels).item() == pytest.approx(value)


def test_auc_margin_is_its_saddle_value():
    """At a, b = the means and theta = (M + b - a)_+ the min-max form has this value and these slopes."""
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(40, dtype=torch.float64, generator=generator, requires_grad=True)
    positive = torch.arange(40) % 3 == 0
    p, n = scores[positive], scores[~positive]
    a, b = p.mean().detach(), n.mean().detach()
    theta = torch.relu(1.5 + b - a)
    saddle = (p - a).square().mean() + (n - b).square().mean()
    saddle = saddle + 2 * theta * (1.5 + n.mean() - p.mean()) - theta**2
    (slopes,) = torch.autograd.grad(saddle, scores)
    assert_equal(
        value_and_slopes(AUCMarginLoss(1.5), scores.detach(), positive), (saddle.item(), slopes.numpy()), 1e-12
    )


def test_pairs_are_not_listed():
    """200,000 scores have 10^10 pairs."""
    scores = torch.linspace(-3, 3, 200_000, dtype=torch.float64).roll(77_777)
    labels = torch.arange(200_000) % 2
    for module in (PairwiseLoss("log_loss"), PartialAUCLoss((0.1, 0.5))):
        assert 0 < module(scores, labels).item() < 10


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_full(dtype):
    scores, labels = torch.linspace(-2, 2, 64, dtype=dtype), torch.arange(64) % 4 == 0
    for module in (PairwiseLoss(), PartialAUCLoss((0.0, 0.5)), RankedRangeLoss((0.1, 0.9))):
        ours, theirs = (value_and_slopes(module, scores, labels), value_and_slopes(module, scores.double(), labels))
        assert_equal(ours, theirs, 2e-2)


@pytest.mark.parametrize("module", [PairwiseLoss("log_loss"), PartialAUCLoss((0.0, 0.5), "log_loss")])
def test_small_slopes_of_half_precision_are_there_for_a_scaled_loss(module):
    scores, labels = torch.linspace(0.0, 20.0, 64, dtype=torch.float16), torch.arange(64) >= 32
    (scaled,) = torch.autograd.grad(2.0**14 * module(scores.requires_grad_(), labels), scores)
    exact = value_and_slopes(module, scores.detach().double(), labels)[1]
    assert (np.abs(exact) < torch.finfo(torch.float16).smallest_normal).any()
    np.testing.assert_allclose(scaled.double() / 2.0**14, exact, rtol=1e-3, atol=1e-10)


def test_a_large_batch_of_half_precision_does_not_overflow():
    scores = torch.full((4096,), 20.0, dtype=torch.float16)
    value, slopes = value_and_slopes(RankedRangeLoss((0.0, 1.0)), scores, torch.zeros(4096))
    assert value == 20.0 and np.allclose(slopes, 1 / 4096)


def test_a_column_of_scores_is_a_vector_of_them():
    scores, labels = torch.randn(12, 1), torch.arange(12) % 2
    for module in (PairwiseLoss(), PartialAUCLoss((0.0, 0.5)), AUCMarginLoss(), RankedRangeLoss()):
        assert module(scores, labels).item() == module(scores[:, 0], labels[:, None]).item()


@pytest.mark.parametrize("module", [PairwiseLoss(), PartialAUCLoss(), AUCMarginLoss(), RankedRangeLoss()])
@pytest.mark.parametrize(
    "scores, labels, said",
    [
        (torch.randn(4, 2), [0, 1, 0, 1], "returns 2 columns"),
        (torch.randn(4, 2, 1), [0, 1, 0, 1], r"shape \(B,\)"),
        (torch.arange(4), [0, 1, 0, 1], "floating-point"),
        (torch.randn(4), [0, 1, 2, 1], "0 and 1, or -1 and 1"),
        (torch.randn(4), [-1, 0, 1, 1], "0 and 1, or -1 and 1"),
        (torch.randn(4), np.array([255, 1, 1, 255], dtype=np.uint8), "0 and 1, or -1 and 1"),
        (torch.randn(4), [0.0, 1.0, np.nan, 1.0], "0 and 1, or -1 and 1"),
        (torch.randn(4), [0, 1, 0], "a label per score"),
        (torch.tensor([1.0, np.nan, 0.0, 2.0]), [0, 1, 0, 1], "finite"),
        (torch.tensor([1.0, 0.5, np.inf, 2.0]), [0, 1, 0, 1], "finite"),
    ],
)
def test_bad_batches(module, scores, labels, said):
    with pytest.raises(ValueError, match=said):
        module(scores, torch.as_tensor(labels))


@pytest.mark.parametrize("module", [PairwiseLoss(), PartialAUCLoss(), AUCMarginLoss()])
@pytest.mark.parametrize("label, missing", [(1, "negative"), (0, "positive"), (-1, "positive")])
def test_a_batch_without_a_class(module, label, missing):
    with pytest.raises(ValueError, match=f"holds no {missing} example"):
        module(torch.randn(4), torch.full((4,), label))


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: PartialAUCLoss((0.5, 0.5)), "0 <= a < b <= 1"),
        (lambda: PartialAUCLoss((0.5, 0.2)), "0 <= a < b <= 1"),
        (lambda: PartialAUCLoss((0.5, 1.2)), "0 <= a < b <= 1"),
        (lambda: PartialAUCLoss(0.5), "pair"),
        (lambda: PartialAUCLoss((0.2, 0.5), ranks=(1, 2)), "pass only one of them"),
        (lambda: PartialAUCLoss(ranks=(2, 2)), "0 <= m < n"),
        (lambda: PartialAUCLoss(ranks=(0.5, 2)), "integers"),
        (lambda: PartialAUCLoss(loss="log-loss"), "did you mean 'log_loss'"),
        (lambda: PairwiseLoss("squared"), "unknown loss"),
        (lambda: AUCMarginLoss(0), "margin"),
        (lambda: RankedRangeLoss((3, 2)), "ranked_range"),
        (lambda: RankedRangeLoss(loss="huberr"), "did you mean 'huber'"),
        (lambda: PartialAUCLoss(ranks=(1, 9))(torch.randn(4), torch.tensor([1, 0, 0, 0])), "beyond the negatives"),
        (lambda: RankedRangeLoss((1, 9))(torch.randn(4), torch.tensor([1, 0, 0, 0])), "beyond the 4 losses"),
        (lambda: RankedRangeLoss()(torch.zeros(0), torch.zeros(0)), "the batch holds no example"),
        (lambda: RankedRangeLoss(loss=torch.nn.MSELoss())(torch.randn(4), torch.randn(4)), "one number per example"),
    ],
)
def test_bad_parameters(make, said):
    with pytest.raises(ValueError, match=said):
        make()
