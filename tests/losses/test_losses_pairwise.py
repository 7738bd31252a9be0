import pytest

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.pairwise import HINGE, LOG_LOSS, PAIRWISE_LOSSES, SQUARED_HINGE, require_loss


def test_codes_are_those_of_the_losses_of_a_margin():
    assert [MARGIN_LOSSES[name].code for name in PAIRWISE_LOSSES] == list(range(len(PAIRWISE_LOSSES)))


def test_a_loss_that_is_offered_is_given_back():
    assert [require_loss(loss) for loss in PAIRWISE_LOSSES] == [HINGE, SQUARED_HINGE, LOG_LOSS]
    assert require_loss("squared_hinge", (SQUARED_HINGE,)) == SQUARED_HINGE


@pytest.mark.parametrize(
    "loss, offered, message",
    [
        ("square_hinge", PAIRWISE_LOSSES, "did you mean 'squared_hinge'"),
        (None, PAIRWISE_LOSSES, "unknown loss None"),
        ("hinge", (SQUARED_HINGE,), "minimises loss='squared_hinge' only"),
    ],
)
def test_a_loss_that_is_not_offered_is_refused(loss, offered, message):
    with pytest.raises(ValueError, match=message):
        require_loss(loss, offered)
