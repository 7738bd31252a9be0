"""The vectorised functions have the promised accuracy for every argument, in every layout."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernbench.kernels import elementwise

FUNCTIONS = {
    "exp": (elementwise.exp, np.exp),
    "log": (elementwise.log, np.log),
    "cos": (elementwise.cos, np.cos),
    "sin": (elementwise.sin, np.sin),
    "cos of sincos": (lambda x: elementwise.sincos(x)[1], np.cos),
    "sin of sincos": (lambda x: elementwise.sincos(x)[0], np.sin),
    "acos": (elementwise.acos, np.arccos),
}
TRIGONOMETRIC = ["cos", "sin", "cos of sincos", "sin of sincos"]
MAPS = {name: getattr(elementwise, name) for name in ("exp", "log", "cos", "sin", "acos")}

# The relative errors promised in the docstrings, by function and precision.
PROMISED = {np.float32: dict.fromkeys(FUNCTIONS, 2e-7), np.float64: dict.fromkeys(FUNCTIONS, 4e-16)}
PROMISED[np.float32] |= {"exp": 1e-7, "log": 1e-7}
PROMISED[np.float64] |= {"exp": 2e-16, "log": 2e-16}
LIMIT = {np.float32: 6000.0, np.float64: 1e6}
LOWEST = {np.float32: -87.3, np.float64: -708.0}  # where the domain of exp_nonpositive begins

WIDER = {np.float32: np.float64, np.float64: np.longdouble}
UNSIGNED = {np.float32: np.uint32, np.float64: np.uint64}
# If long double is no longer than double, the reference itself has an error of a unit in the last place.
SLACK = {np.float32: 0.0, np.float64: 0.0 if np.finfo(np.longdouble).eps < 1e-18 else 2.3e-16}

functions = pytest.mark.parametrize("function", FUNCTIONS)
trigonometric = pytest.mark.parametrize("function", TRIGONOMETRIC)


def assert_as_promised(function, x):
    """Compare with a reference of more digits; where it is not finite in this precision, require equality."""
    ours, true = FUNCTIONS[function]
    dtype = x.dtype.type
    with np.errstate(all="ignore"):
        actual, truth = ours(x), true(x.astype(WIDER[dtype]))
        nearest = truth.astype(dtype)
    assert actual.dtype == dtype
    exact = ~np.isfinite(nearest) | (truth == 0)
    np.testing.assert_array_equal(actual[exact], nearest[exact])
    x, actual, truth = x[~exact], actual[~exact], truth[~exact]
    size, info = np.abs(truth), np.finfo(dtype)
    allowed = (PROMISED[dtype][function] + SLACK[dtype]) * size
    allowed[size < info.smallest_normal] = info.smallest_subnormal
    excess = np.abs(actual - truth) - allowed
    assert np.all(excess <= 0), f"{function}({x[np.nanargmax(excess)]!r}) is {actual[np.nanargmax(excess)]!r}"


def from_bits(bits, dtype):
    return np.asarray(bits, dtype=UNSIGNED[dtype]).view(dtype)


def around(values, dtype, width=200):
    """The numbers next to each of `values`, on both sides."""
    values = np.atleast_1d(np.asarray(values, dtype=dtype))
    bits = values.view(UNSIGNED[dtype]).astype(np.int64)[:, None] + np.arange(-width, width + 1)
    return from_bits(bits.astype(UNSIGNED[dtype]).ravel(), dtype)


def every_magnitude(dtype, n):
    """n bit patterns at even distances: all binary orders, both signs, denormal numbers, infinity and NaN."""
    last = np.iinfo(UNSIGNED[dtype]).max
    return from_bits(np.arange(n, dtype=UNSIGNED[dtype]) * UNSIGNED[dtype](last // n), dtype)


@functions
def test_error_is_bounded_over_all_magnitudes(function, dtype):
    assert_as_promised(function, every_magnitude(dtype, 200_003))


@functions
def test_error_is_bounded_at_the_ends_of_the_range(function, dtype):
    info = np.finfo(dtype)
    ends = around([info.smallest_subnormal * 300, info.smallest_normal, 1.0, info.max], dtype)
    assert_as_promised(function, np.concatenate([ends, -ends]))


@functions
def test_error_is_bounded_on_usual_arguments(function, dtype):
    rng = np.random.default_rng(0)
    for scale in (0.5, 1.0, 20.0, 3000.0):
        assert_as_promised(function, (scale * rng.uniform(-1, 1, size=50_000)).astype(dtype))


def test_exp_is_right_where_it_overflows_becomes_denormal_and_vanishes(dtype):
    info = np.finfo(dtype)
    ends = np.array([info.max, info.smallest_normal, info.smallest_subnormal], dtype=np.longdouble)
    top, normal, least = np.log(ends)
    assert_as_promised("exp", around([top, normal, least, least - np.log(2)], dtype))
    assert_as_promised("exp", np.linspace(least - 2, normal + 2, 20_000).astype(dtype))
    # 2^n is put together from two halves: every n, odd and even.
    assert_as_promised("exp", np.linspace(normal, top, 20_000).astype(dtype))


def assert_exp_nonpositive_as_promised(x):
    promised = {np.float32: 1e-7, np.float64: 4e-16}[x.dtype.type]
    truth = np.exp(x.astype(WIDER[x.dtype.type]))
    actual = elementwise.exp_nonpositive(x)
    assert actual.dtype == x.dtype
    assert np.max(np.abs(actual - truth) / truth) <= promised + SLACK[x.dtype.type]


def test_exp_of_the_kernels_is_right_on_its_whole_domain(dtype):
    low = dtype(LOWEST[dtype])
    first = around(low, dtype)
    assert_exp_nonpositive_as_promised(first[first >= low])
    assert_exp_nonpositive_as_promised(np.array([0.0, -0.0, -np.finfo(dtype).smallest_subnormal], dtype=dtype))
    assert_exp_nonpositive_as_promised(np.linspace(low, 0, 200_003).astype(dtype).clip(low, 0))
    sizes = 2.0 ** np.linspace(-120, np.log2(-low) - 1e-6, 20_000)
    assert_exp_nonpositive_as_promised(-sizes.astype(dtype))


def test_exp_of_the_kernels_below_its_domain_stays_at_the_smallest_value(dtype):
    low = dtype(LOWEST[dtype])
    smallest = elementwise.exp_nonpositive(low)
    assert np.finfo(dtype).smallest_normal <= smallest < 2 * np.finfo(dtype).smallest_normal
    below = np.array([np.nextafter(low, dtype(-np.inf)), 2 * low, np.finfo(dtype).min, -np.inf], dtype=dtype)
    np.testing.assert_array_equal(elementwise.exp_nonpositive(below), np.full(4, smallest))


def test_exp_of_the_kernels_keeps_nan_and_refuses_positive_arguments(dtype):
    x = np.linspace(-3, 0, 37).astype(dtype)
    assert elementwise.exp_nonpositive(x)[-1] == 1
    x[5] = np.nan
    np.testing.assert_array_equal(np.isnan(elementwise.exp_nonpositive(x)), np.isnan(x))
    x[7] = np.finfo(dtype).smallest_subnormal
    with pytest.raises(ValueError, match="x <= 0"):
        elementwise.exp_nonpositive(x)


def test_log_keeps_its_digits_next_to_one(dtype):
    assert_as_promised("log", around([1.0, 0.5, 2.0, np.sqrt(0.5), np.sqrt(2.0)], dtype, width=3000))
    steps = 2.0 ** -np.linspace(1, 60, 5000)
    assert_as_promised("log", np.concatenate([1 + steps, 1 - steps]).astype(dtype))


def test_acos_keeps_its_digits_next_to_one_and_half(dtype):
    x = around([0.5, 1.0, np.finfo(dtype).smallest_normal], dtype, width=3000)
    assert_as_promised("acos", np.concatenate([x, -x]))
    steps = 2.0 ** -np.linspace(0, 60, 5000)
    assert_as_promised("acos", np.concatenate([steps, -steps, 1 - steps, steps - 1]).astype(dtype))


@trigonometric
def test_relative_error_holds_next_to_the_multiples_of_half_pi(function, dtype):
    last = int(LIMIT[dtype] / (np.pi / 2))
    multiples = np.unique(np.concatenate([np.arange(200), np.linspace(1, last, 3000).astype(int)]))
    nearest = (multiples * (np.longdouble(np.pi) / 2 + np.longdouble(6.123233995736766e-17))).astype(dtype)
    x = around(nearest[1:], dtype, width=3)
    assert_as_promised(function, np.concatenate([x, -x]))


@trigonometric
def test_arguments_beyond_the_limit_are_right_too_beside_usual_ones(function, dtype):
    limit = LIMIT[dtype]
    edge = around(limit, dtype)
    assert_as_promised(function, np.concatenate([edge, -edge]))
    x = np.random.default_rng(0).uniform(-10, 10, size=2000).astype(dtype)
    x[::97] = np.resize([limit * 1.5, -1e9, 3e30, np.inf, -np.inf, np.nan], x[::97].size)
    assert_as_promised(function, x)
    assert_as_promised(function, np.full(700, 1.1 * limit, dtype=dtype))


@pytest.mark.parametrize(
    "function, x, value",
    [
        *[("exp", np.nan, np.nan), ("exp", np.inf, np.inf), ("exp", -np.inf, 0), ("exp", -0.0, 1)],
        *[("log", np.nan, np.nan), ("log", np.inf, np.inf), ("log", -np.inf, np.nan), ("log", -1.0, np.nan)],
        *[("log", 0.0, -np.inf), ("log", -0.0, -np.inf), ("log", -1e-40, np.nan), ("log", 1.0, 0)],
        *[("cos", np.nan, np.nan), ("cos", np.inf, np.nan), ("cos", -np.inf, np.nan), ("cos", 0.0, 1)],
        *[("sin", np.nan, np.nan), ("sin", np.inf, np.nan), ("sin", -np.inf, np.nan), ("sin", -0.0, 0)],
        *[("cos of sincos", 0.0, 1), ("sin of sincos", 0.0, 0), ("cos of sincos", np.inf, np.nan)],
        *[("acos", np.nan, np.nan), ("acos", 1.0, 0), ("acos", -1.0, np.pi), ("acos", 0.0, np.pi / 2)],
        *[("acos", 1 + 2.0**-23, np.nan), ("acos", -2.0, np.nan), ("acos", np.inf, np.nan)],
    ],
)
def test_special_values_are_exact(function, x, value, dtype):
    # Alone and inside a full vector: both loops that the compiler makes of one.
    for n in (1, 37):
        actual = FUNCTIONS[function][0](np.full(n, x, dtype=dtype))
        np.testing.assert_array_equal(actual, np.full(n, value, dtype=dtype))


@pytest.mark.parametrize("name", MAPS)
def test_not_a_number_stays_so_whatever_its_bits(name, dtype):
    quiet = np.array(np.nan, dtype=dtype).view(UNSIGNED[dtype])
    sign = UNSIGNED[dtype](1) << UNSIGNED[dtype](8 * np.dtype(dtype).itemsize - 1)
    payloads = quiet | np.arange(1000, dtype=UNSIGNED[dtype])
    assert np.all(np.isnan(MAPS[name](from_bits(np.concatenate([payloads, payloads | sign]), dtype))))


@functions
def test_value_depends_on_nothing_but_its_argument(function, dtype):
    """Not on special values nearby, the place in the array, or the number of threads."""
    f = FUNCTIONS[function][0]
    x = np.random.default_rng(1).uniform(0.001, 0.999, size=531).astype(dtype)
    whole = f(x)
    np.testing.assert_array_equal(whole, np.concatenate([f(one) for one in x[:, None]]))
    np.testing.assert_array_equal(whole[3:], f(x[3:]))
    for intruder in (0.0, np.nan, 1e30, np.finfo(dtype).smallest_subnormal):
        mixed = np.insert(x, 100, intruder)
        np.testing.assert_array_equal(whole, np.delete(f(mixed), 100))
    long = np.resize(x, 200_000)
    with threadpool_limits(1, user_api="openmp"):
        alone = f(long)
    with threadpool_limits(3, user_api="openmp"):
        np.testing.assert_array_equal(alone, f(long))
    np.testing.assert_array_equal(alone, np.resize(whole, long.size))


@pytest.mark.parametrize("name", MAPS)
def test_layout_agnosticism(name, dtype):
    f = MAPS[name]
    X = np.random.default_rng(2).uniform(0, 1, size=(23, 14)).astype(dtype)
    flat = f(X.ravel())
    np.testing.assert_array_equal(f(X), flat.reshape(X.shape))
    np.testing.assert_array_equal(f(np.asfortranarray(X)), flat.reshape(X.shape))
    np.testing.assert_array_equal(f(X[::-2, 1::3]), flat.reshape(X.shape)[::-2, 1::3])
    np.testing.assert_array_equal(f(X.astype(X.dtype.newbyteorder())), flat.reshape(X.shape))
    np.testing.assert_array_equal(f(X.reshape(23, 2, 7)), flat.reshape(23, 2, 7))
    X.setflags(write=False)
    np.testing.assert_array_equal(f(X), flat.reshape(X.shape))
    assert f(X[:0]).shape == (0, 14)
    scalar = f(X[3, 4])
    assert np.isscalar(scalar) and scalar.dtype == dtype and scalar == flat.reshape(X.shape)[3, 4]


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("step", [1, 2], ids=["contiguous", "strided"])
def test_out_is_filled_and_returned_even_where_it_overlaps_the_input(name, step, dtype):
    f = MAPS[name]
    x = np.random.default_rng(3).uniform(0, 1, size=1400).astype(dtype)
    x[::310] = [1e30, np.nan, 0.0, -np.inf, 0.5]
    expected = f(x)
    out = np.empty(step * x.size, dtype=dtype)[::step]
    assert f(x, out=out) is out
    np.testing.assert_array_equal(out, expected)
    for shift in (0, 1, 7):
        room = np.zeros(step * x.size + shift, dtype=dtype)
        for ends in (slice(shift, None), slice(step * x.size)), (slice(step * x.size), slice(shift, None)):
            source, target = (room[end][::step] for end in ends)
            source[...] = x
            f(source, out=target)
            np.testing.assert_array_equal(target, expected)


def test_sincos_fills_the_arrays_it_is_given(dtype):
    x = np.random.default_rng(4).uniform(-9, 9, size=(70, 11)).astype(dtype)
    x[5] = 1e30
    sine, cosine = elementwise.sincos(x)
    room = np.empty((70, 22), dtype=dtype)
    own = x.copy()
    first, second = elementwise.sincos(own, out=(own, room[:, ::2]))
    assert first is own
    np.testing.assert_array_equal(own, sine)
    np.testing.assert_array_equal(room[:, ::2], cosine)
    np.testing.assert_array_equal(second, cosine)
    with pytest.raises(ValueError, match="overlap"):
        elementwise.sincos(x, out=(own, own))
    with pytest.raises(ValueError, match="pair"):
        elementwise.sincos(x, out=own[None])


def test_other_real_numbers_are_computed_in_double():
    for x in ([1, 0], [True, False], np.array([1, 0], dtype=np.float16), np.array([1, 0], dtype=np.int8)):
        np.testing.assert_array_equal(elementwise.exp(x), elementwise.exp(np.array([1.0, 0.0])))


@pytest.mark.parametrize("x", [1j, "one", None, [np.datetime64("2020-01-01")]])
def test_what_is_not_real_is_refused(x):
    with pytest.raises(ValueError, match="expected real numbers"):
        elementwise.log(x)


@pytest.mark.parametrize(
    "out",
    [np.empty(4), np.empty((3, 1)), np.empty(3, dtype=np.float32), [0.0, 0.0, 0.0]],
    ids=["longer", "other shape", "other precision", "list"],
)
def test_out_that_does_not_fit_is_refused(out):
    with pytest.raises(ValueError, match=r"float64 of shape \(3,\)"):
        elementwise.exp(np.zeros(3), out=out)


def test_out_that_is_read_only_is_refused():
    out = np.zeros(3)
    out.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        elementwise.exp(np.zeros(3), out=out)


@pytest.mark.slow
@functions
def test_every_float32(function):
    chunk = 2**22
    for start in range(0, 2**32, chunk):
        assert_as_promised(function, from_bits(np.arange(start, start + chunk), np.float32))


@pytest.mark.slow
def test_every_float32_of_the_domain_of_exp_nonpositive():
    last = int(np.float32(LOWEST[np.float32]).view(np.uint32))
    for start in range(2**31, last + 1, 2**22):
        bits = np.arange(start, min(start + 2**22, last + 1))
        assert_exp_nonpositive_as_promised(from_bits(bits, np.float32))
