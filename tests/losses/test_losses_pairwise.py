import pytest

from kernbench.losses.pairwise import HINGE, PAIRWISE_LOSSES, SQUARED_HINGE, require_loss


def test_a_loss_that_is_offered_is_given_back():
    assert [require_loss(loss) for loss in PAIRWISE_LOSSES] == [HINGE, SQUARED_HINGE]
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
