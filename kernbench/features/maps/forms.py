"""Which random features a kernel has: their forms, the ways to draw them, and what ``"auto"`` means.

========================  ==========================  ========================================================
form                      columns per draw            kernels
========================  ==========================  ========================================================
pair                      2: cosines, sines           Gaussian, Laplacian, Cauchy, Matern, SkewedChiSquared,
                                                      SkewedIntersection, and products with one of them
phase                     1: sqrt(2) cos(t + b)       the same
vector                    2 d: pairs of each column   ChiSquared, Intersection, JensenShannon
scalar                    1: their sum, with phases   the same
exact                     d in all                    Linear, Hellinger
tensor-sketch             a power of two              Polynomial
random-degree             1                           Polynomial, DotProduct
random                    1                           Linear, Hellinger, semigroup and arc-cosine kernels,
                                                      products without a cosine
========================  ==========================  ========================================================
"""

from kernbench.features.draws.spectral_densities import SPECTRAL_DENSITIES
from kernbench.kernels.functions import (
    KERNELS,
    ArcCosine,
    Cauchy,
    ChiSquared,
    DotProduct,
    ExponentialSemigroup,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    ReciprocalSemigroup,
    SkewedChiSquared,
    SkewedIntersection,
    Sum,
)
from kernbench.validation.numbers import check_name

FOURIER = (Gaussian, Laplacian, Cauchy, Matern, SkewedChiSquared, SkewedIntersection)
LAPLACE = (ExponentialSemigroup, ReciprocalSemigroup)
ADDITIVE = (ChiSquared, Intersection, JensenShannon)
SIGNED = (Linear, Hellinger)
DEGREES = (Polynomial, DotProduct)

FORMS = {
    **dict.fromkeys(FOURIER, ("pair", "phase")),
    **dict.fromkeys(LAPLACE, ("random",)),
    **dict.fromkeys(ADDITIVE, ("vector", "scalar")),
    **dict.fromkeys(SIGNED, ("exact", "random")),
    ArcCosine: ("random",),
    Polynomial: ("tensor-sketch", "random-degree"),
    DotProduct: ("random-degree",),
}
# Names that users type.
KERNELS_OF_NAMES = ("rbf", "gaussian", "laplacian", "additive_chi2", "poly", "polynomial", "linear")
ALL_FORMS = ("auto", "pair", "phase", "scalar", "vector", "exact", "random", "tensor-sketch", "random-degree")
ALL_DRAWS = ("iid", "orthogonal", "qmc", "fastfood")


def terms_of(kernel):
    """Return a kernel multiplied out: [(weight, (factor, ...)), ...], the factors neither sums nor products.

    Raises
    ------
    ValueError
        If a component has no random features.
    """
    if isinstance(kernel, Sum):
        return [
            (weight * inner, factors)
            for component, weight in zip(kernel.kernels, kernel.weights)
            for inner, factors in terms_of(component)
        ]
    if isinstance(kernel, Product):
        terms = [(1.0, ())]
        for component in kernel.kernels:
            terms = [
                (weight * inner, factors + more) for weight, factors in terms for inner, more in terms_of(component)
            ]
        return terms
    if type(kernel) not in FORMS:
        known = ", ".join(name for name, cls in KERNELS.items() if cls in FORMS)
        raise ValueError(
            f"there are no random features of {type(kernel).__name__}. Kernels that have them: {known}, and "
            "sums and products of these; Nystroem features exist for every kernel"
        )
    return [(1.0, (kernel,))]


def forms_of(factors):
    """Return the forms of a product of kernels, the one that ``"auto"`` prefers first."""
    if len(factors) == 1:
        return FORMS[type(factors[0])]
    return ("pair", "phase") if any(isinstance(factor, FOURIER) for factor in factors) else ("random",)


def columns_per_draw(form, n_features_in):
    """Return how many columns one draw makes."""
    return {"pair": 2, "vector": 2 * n_features_in}.get(form, 1)


def resolve_form(factors, form, n_columns, n_features_in, may_be_exact=True):
    """Return the form that `form` stands for, for a product of kernels.

    ``"auto"`` is the form of the smallest variance that fits: ``pair`` for an even number of columns, else
    ``phase``; ``vector`` for a multiple of 2 d columns, else ``scalar``; ``exact`` if there are enough columns, else
    ``random``.

    Raises
    ------
    ValueError
        If the form is unknown or is not offered by the kernel.
    """
    check_name("form", form, ALL_FORMS)
    allowed = forms_of(factors)
    if form == "auto":
        if "exact" in allowed:
            return "exact" if may_be_exact and n_features_in <= n_columns else "random"
        return allowed[0] if n_columns % columns_per_draw(allowed[0], n_features_in) == 0 else allowed[1]
    if form not in allowed:
        names = " times ".join(type(factor).__name__ for factor in factors)
        choice = ", ".join(repr(name) for name in ("auto", *allowed))
        raise ValueError(f"{names} has no features of form {form!r}; form must be one of {choice}")
    return form


def check_whole_draws(form, n_columns, terms, n_features_in):
    """Raise ValueError unless `n_columns` columns are whole draws of `form` for each term of a kernel.

    Parameters
    ----------
    form : str
    n_columns : int
        Of all terms together.
    terms : list of tuple of Kernel
        The factors of each term, all of which have the form.
    n_features_in : int
    """
    step = columns_per_draw(form, n_features_in)
    least = step * len(terms)
    if step == 1 or (n_columns % step == 0 and n_columns >= least):
        return
    below = n_columns // step * step
    near = f"{below} or {below + step}" if below >= least else f"{least}"
    each, also = (f", for each of {len(terms)} terms", f" and at least {least}") if len(terms) > 1 else ("", "")
    raise ValueError(
        f"form={form!r} makes {step} columns at a time here{each}: the number of features must be a multiple "
        f"of {step}{also}, got {n_columns}; take {near}, or form={forms_of(terms[0])[1]!r}"
    )


def check_draws(factors, form, draws):
    """Raise ValueError unless features of that form can be drawn that way."""
    check_name("draws", draws, ALL_DRAWS)
    for factor in factors:
        allowed = ["iid"]
        density = SPECTRAL_DENSITIES.get(type(factor))
        if density is not None:
            allowed += ["orthogonal"] if density.isotropic else []
            if len(factors) == 1:  # two scramblings of one Sobol sequence are not independent
                allowed += ["qmc", "fastfood"] if density.isotropic else ["qmc"]
        if draws not in allowed:
            choice = ", ".join(repr(name) for name in allowed)
            within = " in a product" if len(factors) > 1 else ""
            raise ValueError(
                f"{type(factor).__name__} features{within} cannot be drawn with draws={draws!r}; "
                f"draws must be one of {choice}"
            )
