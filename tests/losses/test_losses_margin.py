"""The losses of a margin: slopes, conjugates and steps of dual ascent, against brute force and against C."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import kernbench.losses
from kernbench.losses.margin import MARGIN_LOSSES, Hinge, LogLoss, SquaredHinge, dual_pair, margin_loss, pair_room
from kernbench.problems.intercept import best_intercept

LOSSES = list(MARGIN_LOSSES.values())
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
EXTREME = np.array([-1e300, -1e6, -800.0, -40.0, 0.0, 40.0, 800.0, 1e6, 1e300])


@every_loss
def test_slope_matches_finite_difference(loss):
    margins = np.linspace(-6, 6, 41) + 0.013
    step = 1e-6
    numerical = (loss.value(margins + step) - loss.value(margins - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(margins), numerical, atol=1e-8)


@every_loss
def test_second_derivative_is_at_most_the_smoothness(loss):
    margins = np.linspace(-4, 4, 401)
    change = np.diff(loss.slope(margins)) / np.diff(margins)
    assert change.max() <= loss.smoothness * (1 + 1e-9)
    assert loss is Hinge or change.max() >= 0.99 * loss.smoothness


@every_loss
def test_dual_value_is_the_conjugate(loss):
    """psi(a) = min over m of l(m) + a m."""
    for a in (0.0, 1e-6, 0.2, 0.5, 0.9, 1.0):
        best = minimize_scalar(
            lambda m: loss.value(m) + a * m, bounds=(-40, 40), method="bounded", options={"xatol": 1e-10}
        )
        assert loss.dual_value(a) == pytest.approx(best.fun, abs=1e-8)


@every_loss
def test_a_pair_of_margin_and_slope_meets_the_inequality_of_fenchel(loss):
    margins = np.linspace(-8, 8, 33) + 0.01
    a = -loss.slope(margins)
    np.testing.assert_allclose(loss.dual_value(a), loss.value(margins) + a * margins, atol=1e-12)
    for other in (0.1, 0.7, 1.0):
        assert np.all(loss.dual_value(other) <= loss.value(margins) + other * margins + 1e-12)


@every_loss
def test_dual_slope_and_curvature_match_finite_differences(loss):
    a, step = np.linspace(0.05, 0.95, 19), 1e-5
    up, down, here = loss.dual_value(a + step), loss.dual_value(a - step), loss.dual_value(a)
    np.testing.assert_allclose(loss.dual_slope(a), (up - down) / (2 * step), atol=1e-7)
    np.testing.assert_allclose(loss.dual_curvature(a), (2 * here - up - down) / step**2, rtol=1e-3, atol=1e-4)


@every_loss
def test_extreme_margins_neither_overflow_nor_vanish(loss):
    with np.errstate(over="ignore" if loss is SquaredHinge else "raise", invalid="raise"):
        values, slopes = loss.value(EXTREME), loss.slope(EXTREME)
    assert np.all(values >= 0) and np.all(np.diff(values[np.isfinite(values)]) <= 0)
    assert np.all(slopes <= 0) and np.all(np.isfinite(slopes))
    assert values[-1] == 0.0 and slopes[-1] == 0.0
    assert loss.value(np.array([-1e6]))[0] == pytest.approx({2.0: 1e12}.get(loss.smoothness, 1e6), rel=1e-5)
    for a in (0.0, 1.0):
        assert np.isfinite(loss.dual_value(a)) and np.isfinite(loss.dual_slope(a))


def gain_of_one(loss, a, margin, curvature, new):
    return loss.dual_value(new) - loss.dual_value(a) - margin * (new - a) - 0.5 * curvature * (new - a) ** 2


@every_loss
def test_dual_coordinate_maximises(loss):
    rng = np.random.default_rng(0)
    for _ in range(200):
        a = rng.choice([0.0, 1.0, rng.random()])
        margin, curvature = rng.normal() * 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-4, 5)
        new = loss.dual_coordinate(a, margin, curvature)
        assert 0.0 <= new <= loss.upper
        end = min(loss.upper, 2.0 * abs(1.0 - margin) + a + 1.0)
        grid = np.concatenate([np.linspace(0, end, 201), end * np.geomspace(1e-9, 1, 50)])
        for other in (*grid, *np.clip(new + np.array([-1e-4, 1e-4]), 0, loss.upper)):
            best = gain_of_one(loss, a, margin, curvature, new)
            assert gain_of_one(loss, a, margin, curvature, other) <= best + 1e-12 * (1 + abs(margin) + curvature)


def test_a_coordinate_of_the_logistic_loss_is_found_where_newton_alone_runs_in_circles():
    for a, margin, curvature in (
        (0.0, -4.360759265224841, 28.972145725559162),
        (1.0, 37.9, 188.4),
        (0.0, -3.66, 57066.0),
    ):
        new = LogLoss.dual_coordinate(a, margin, curvature)
        assert LogLoss.dual_slope(new) == pytest.approx(margin + curvature * (new - a), abs=1e-7)


def test_a_hinge_of_no_curvature_goes_to_the_bound_its_margin_says():
    assert [Hinge.dual_coordinate(0.3, margin, 0.0) for margin in (0.5, 1.0, 1.5)] == [1.0, 0.3, 0.0]


def pair_of(rng, loss):
    ends = rng.choice([0.0, 1.0, 2.0], 2) if rng.random() < 0.5 else rng.random(2)
    a = np.minimum(ends, 1.0) if np.isfinite(loss.upper) else ends
    return (a, rng.choice([-1.0, 1.0], 2), 10 ** rng.uniform(-1, 1, 2), rng.normal() * 3, 10 ** rng.uniform(-3, 3))


@every_loss
def test_dual_pair_maximises_and_stays_in_the_domain(loss):
    rng = np.random.default_rng(1)
    moved = 0
    for _ in range(200):
        a, y, w, difference, curvature = pair_of(rng, loss)
        s = dual_pair(loss, a, y, w, difference, curvature)

        def gain(s):
            ends = a[0] + y[0] * s / w[0], a[1] - y[1] * s / w[1]
            first, second = (loss.dual_value(np.clip(end, 0.0, loss.upper)) for end in ends)
            return w[0] * first + w[1] * second - difference * s - 0.5 * curvature * s * s

        for end in (a[0] + y[0] * s / w[0], a[1] - y[1] * s / w[1]):
            assert -1e-12 <= end <= loss.upper + 1e-12
        (grow_i, shrink_i), (grow_j, shrink_j) = (pair_room(loss, *one) for one in zip(a, y, w))
        low, high = max(-min(shrink_i, grow_j), -20.0), min(grow_i, shrink_j, 20.0)
        best = gain(s)
        assert gain(np.linspace(low, high, 301)).max() <= best + 1e-11 * (1 + abs(best))
        moved += s != 0.0
    assert moved > 50


def test_equal_points_exchange_all_there_is_room_for():
    assert dual_pair(Hinge, (0.2, 0.5), (1.0, -1.0), (2.0, 3.0), 0.5, 0.0) == pytest.approx(1.5)
    assert dual_pair(Hinge, (0.2, 0.5), (1.0, -1.0), (2.0, 3.0), 2.5, 0.0) == pytest.approx(-0.4)
    assert dual_pair(Hinge, (0.2, 0.5), (1.0, -1.0), (2.0, 3.0), 2.0, 0.0) == 0.0


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The functions of _margin.h, compiled on their own."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("margin")
    names = "margin_value", "margin_slope", "dual_value", "dual_slope", "dual_curvature"
    number = "double {0}(int l, double x) {{ return kb_{1}(l, x); }}\n"
    (folder / "m.c").write_text(
        '#include "_margin.h"\n'
        + "".join(number.format(f"k_{name}", name) for name in names)
        + "double k_coordinate(int l, double a, double m, double c) { return kb_dual_coordinate(l, a, m, c); }\n"
        "double k_pair(int l, double a, double y, double w, double a2, double y2, double w2, double d, double c)\n"
        "{ kb_dual_end p = {a, y, w}, q = {a2, y2, w2}; return kb_dual_pair(l, p, q, d, c); }\n"
    )
    headers = Path(kernbench.losses.__file__).parent
    command = [
        compiler,
        "-O2",
        "-shared",
        "-fPIC",
        f"-I{headers}",
        str(folder / "m.c"),
        "-o",
        str(folder / "m.so"),
        "-lm",
    ]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("this compiler makes no shared libraries")
    library = ctypes.CDLL(str(folder / "m.so"))

    def call(name, loss, *numbers):
        function = getattr(library, f"k_{name}")
        function.restype, function.argtypes = (ctypes.c_double, [ctypes.c_int] + [ctypes.c_double] * len(numbers))
        return function(loss.code, *map(float, numbers))

    return call


@every_loss
def test_c_has_the_same_formulas(loss, compiled):
    rng = np.random.default_rng(2)
    for margin in (*EXTREME[1:-1], *rng.normal(size=50), 1.0):
        assert compiled("margin_value", loss, margin) == pytest.approx(float(loss.value(margin)), rel=1e-13, abs=1e-300)
        assert compiled("margin_slope", loss, margin) == pytest.approx(float(loss.slope(margin)), rel=1e-13, abs=1e-300)
    for a in (0.0, 1e-18, 1e-9, *rng.random(20), 1.0):
        for name in ("dual_value", "dual_slope", "dual_curvature"):
            assert compiled(name, loss, a) == pytest.approx(float(getattr(loss, name)(a)), rel=1e-12, abs=1e-14)
    for _ in range(300):
        a, margin = rng.choice([0.0, 1.0, rng.random()]), rng.normal() * 10 ** rng.uniform(-2, 4)
        curvature = 10 ** rng.uniform(-4, 5)
        ours = compiled("coordinate", loss, a, margin, curvature)
        assert ours == pytest.approx(loss.dual_coordinate(a, margin, curvature), rel=1e-9, abs=1e-12)
        a, y, w, difference, curvature = pair_of(rng, loss)
        ours = compiled("pair", loss, a[0], y[0], w[0], a[1], y[1], w[1], difference, curvature)
        assert ours == pytest.approx(dual_pair(loss, a, y, w, difference, curvature), rel=1e-9, abs=1e-12)


@every_loss
def test_intercept_minimises_the_sum_of_losses(loss):
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = rng.integers(2, 30)
        y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        responses = rng.normal(size=n) * 10 ** rng.uniform(-3, 3) + rng.normal() * 100
        weights = np.where(np.arange(n) < 2, 1.0, rng.integers(0, 4, n))
        b = best_intercept(responses, y, weights, loss)

        def total(b):
            return weights @ loss.value(y * (responses + b))

        reach = np.abs(responses).max() + 2
        for other in (*np.linspace(-reach, reach, 101), b - 1e-3, b + 1e-3):
            assert total(b) <= total(other) * (1 + 1e-12) + 1e-12


def test_intercept_of_separable_classes_is_the_middle_of_the_free_interval():
    y, responses = np.array([1.0, 1.0, -1.0]), np.array([4.0, 5.0, -3.0])
    for loss in (Hinge, SquaredHinge):
        assert best_intercept(responses, y, np.ones(3), loss) == pytest.approx(-0.5)  # between -3 and 2
        assert best_intercept(responses + 7, y, np.array([1.0, 0.5, 2.0]), loss) == pytest.approx(-7.5)


def test_intercept_of_unequal_classes_and_equal_margins():
    y, weights = np.array([1.0, -1.0]), np.array([3.0, 1.0])
    assert best_intercept(np.zeros(2), y, weights, LogLoss) == pytest.approx(np.log(3))
    assert best_intercept(np.zeros(2), y, weights, SquaredHinge) == pytest.approx(0.5)
    assert best_intercept(y, y, weights, SquaredHinge) == 0.0


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_intercept_of_the_logistic_loss_far_away(shift):
    y = np.array([1.0, 1.0, -1.0])
    b = best_intercept(np.array([800.0, -900.0, 1.0]) - shift, y, np.ones(3), LogLoss)
    assert np.isfinite(b) and abs(b - shift) < 1000


def test_unknown_and_unoffered_losses_are_told_apart():
    with pytest.raises(ValueError, match="did you mean 'squared_hinge'"):
        margin_loss("squared_hing")
    with pytest.raises(ValueError, match="minimises loss='hinge' only, not 'log_loss'"):
        margin_loss("log_loss", offered=("hinge",))
