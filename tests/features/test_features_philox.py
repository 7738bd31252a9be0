"""The generator: known answers, a layout on which files rely, and distributions that are accurate to the last
digits."""

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from kernbench.features.draws._philox import DISTRIBUTIONS, fill
from kernbench.reference.features import frequencies
from kernbench.reference.features.philox import Numbers, philox


def numbers(distribution, draws, n, *, seed=42, tag=0, block=3, **options):
    draws = np.asarray(draws, dtype=np.uint32)
    return fill(distribution, seed, tag, draws, np.full(len(draws), block, dtype=np.uint32), n, **options)


@pytest.mark.parametrize(
    "counter, key, words",
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers_of_the_authors(counter, key, words):
    assert philox(counter, key) == words
    quad, draw, block, tag = counter
    draws, blocks = np.array([[draw], [block]], dtype=np.uint32)
    ours = fill("word", key[0] | key[1] << 32, tag, draws, blocks, 4, first_quad=quad)
    assert ours.tolist() == [list(words)]


def test_known_normals():
    expected = [-0.4020553880, 1.0703566833, -0.2034344094, -1.3397659463]
    np.testing.assert_allclose(numbers("normal", [5], 4), [expected], atol=1e-10)
    np.testing.assert_allclose(Numbers(42, 3).normals(5, 4, 0), expected, atol=1e-10)
    words = numbers("word", [5], 4)[0].tolist()
    assert words == [0x8527F064, 0x4EA3D9C3, 0x6634F13B, 0xB9DC3953]


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 130])
def test_words_are_those_of_the_reference(seed, n):
    draws = [0, 1, 7, 2**32 - 1]
    ours = numbers("word", draws, n, seed=seed, tag=0x301, block=9, first_quad=5)
    reference = Numbers(seed, 9, factor=3)
    np.testing.assert_array_equal(ours, [reference.words(draw, n, 1, first_quad=5) for draw in draws])


@pytest.mark.parametrize("n_draws, n", [(1, 1), (1, 513), (700, 3), (129, 4), (80, 1024)])  # threads share the last
def test_a_number_depends_on_its_counter_alone(n_draws, n):
    """Not on the shape it is drawn in, the order of draws, or the number of threads."""
    whole = numbers("normal", np.arange(n_draws), n)
    backwards = numbers("normal", np.arange(n_draws)[::-1], n)
    np.testing.assert_array_equal(whole, backwards[::-1])
    one = n_draws // 2
    np.testing.assert_array_equal(whole[one], numbers("normal", [one], n)[0])
    np.testing.assert_array_equal(whole[:, : n // 2], numbers("normal", np.arange(n_draws), n // 2))
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads):
            np.testing.assert_array_equal(whole, numbers("normal", np.arange(n_draws), n))


FORMULAS = {
    "cauchy": frequencies.tangent,
    "laplace": frequencies.laplace,
    "sech": frequencies.sech,
    "exponential": lambda u: -np.log(u),
    "sign": lambda u: np.where(u < 0.5, 1.0, -1.0),
}


@pytest.mark.parametrize("distribution", FORMULAS)
def test_distributions_are_inverse_distribution_functions(distribution):
    u = numbers("uniform", np.arange(5000), 4)
    away = np.abs(u - 0.5) > 1e-3  # next to 1/2 the formulas themselves lose digits
    np.testing.assert_allclose(
        numbers(distribution, np.arange(5000), 4)[away], FORMULAS[distribution](u)[away], rtol=1e-11
    )


SCIPY = {
    "uniform": stats.uniform,
    "normal": stats.norm,
    "cauchy": stats.cauchy,
    "laplace": stats.laplace,
    "sech": stats.hypsecant(scale=1 / np.pi),
    "exponential": stats.expon,
    "levy": stats.levy(scale=0.5),
}


@pytest.mark.parametrize("distribution", SCIPY)
def test_distributions_have_their_distribution(distribution, global_random_seed):
    """A p-value below 1e-7 is as rare as that: 40,000 numbers show a cumulative distribution off by .015."""
    sample = numbers(distribution, np.arange(10_000), 4, seed=global_random_seed).ravel()
    assert stats.kstest(sample, SCIPY[distribution].cdf).pvalue > 1e-7


def test_every_law_is_tested():
    assert set(DISTRIBUTIONS) == {"word", "sign", *SCIPY}


@pytest.mark.parametrize("distribution", sorted(set(DISTRIBUTIONS) - {"word"}))
def test_float32_is_float64_rounded_once_and_scale_multiplies(distribution):
    wide = numbers(distribution, np.arange(300), 5, scale=0.3)
    narrow = numbers(distribution, np.arange(300), 5, scale=0.3, dtype=np.float32)
    np.testing.assert_array_equal(wide.astype(np.float32), narrow)
    np.testing.assert_allclose(wide, 0.3 * numbers(distribution, np.arange(300), 5), rtol=1e-15)


def test_uniform_numbers_stay_inside_the_open_interval():
    u = numbers("uniform", np.arange(50_000), 4)
    words = numbers("word", np.arange(50_000), 4)
    assert np.all((u > 0) & (u < 1))
    np.testing.assert_array_equal(u, (words + 0.5) / 2**32)


def test_streams_are_uncorrelated():
    """Of different seeds, blocks, purposes and factors."""
    draws = np.arange(20_000)
    seeds, others = ({}, {"seed": 43}, {"seed": 42 + 2**32}), ({"block": 4}, {"tag": 1}, {"tag": 256})
    streams = [numbers("normal", draws, 1, **which)[:, 0] for which in (*seeds, *others, {"first_quad": 1})]
    correlations = np.corrcoef(streams) - np.eye(len(streams))
    assert np.abs(correlations).max() < 5 / np.sqrt(len(draws))
