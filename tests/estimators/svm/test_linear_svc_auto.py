"""solver="auto" of LinearSVC: what it stands for, and LIBLINEAR's optimum on data of any scale, in few steps."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as LiblinearSVC

import kernbench
from kernbench import LinearSVC

CS = (1e-3, 1e-1, 1.0, 10.0, 1e3, 1e5)


def made(n, d, seed, **options):
    return make_classification(n, d, n_informative=max(3, d // 3), flip_y=0.02, random_state=seed, **options)


def unscaled(n, d, seed):
    X, y = made(n, d, seed)
    return X * 10.0 ** np.random.default_rng(seed).uniform(-3, 3, d), y


def words(n, d):
    X = sparse.random(n, d, density=0.01, random_state=0, format="csr")
    return X, (X @ np.random.default_rng(0).normal(size=d) > 0).astype(int)


SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "small": lambda: made(200, 10, 0),
    "medium": lambda: made(1000, 20, 1),
    "many columns": lambda: made(2000, 100, 2),
    "many rows": lambda: made(20_000, 50, 3),
    "large": lambda: made(5000, 500, 4),
    "tall": lambda: made(100_000, 20, 5),
    "wide": lambda: made(300, 1000, 7),
    "wider": lambda: made(2000, 3000, 6),
    "unscaled": lambda: unscaled(3000, 30, 8),
    "huge numbers": lambda: (lambda X, y: (1e6 * X, y))(*made(60, 100, 9)),
    "shifted": lambda: (lambda X, y: (X + 100.0, y))(*made(3000, 10, 10)),
    "five classes": lambda: made(1000, 15, 11, n_classes=5),
    "sparse": lambda: words(2000, 200),
    "words": lambda: words(1000, 5000),
    "few rows": lambda: made(30, 4, 12, n_redundant=0),
    "one column": lambda: (np.arange(50.0)[:, None], np.arange(50) % 7 > 3),
}


def noisy_words(n, d, density):
    X, y = sparse.random(n, d, density=density, random_state=0, format="csr"), None
    rng = np.random.default_rng(0)
    y = (X @ rng.normal(size=d) > 0) ^ (rng.random(n) < 0.1)
    return X, y.astype(int)


# Of Newton's method for a class. At C = 1e5 a step changes the rows within the margin, and rounding decides which:
# 254 to 307 steps on the sparse set with four kinds of BLAS, where a method that stalls takes its limit of thousands.
MOST_STEPS = 600


def objectives(model, X, y, C):
    """The objective of each class against the rest, as LIBLINEAR writes it."""
    values = []
    for k in range(len(model.coef_)):
        sign = np.where(y == model.classes_[k if len(model.coef_) > 1 else 1], 1.0, -1.0)
        losses = np.maximum(0.0, 1.0 - sign * (X @ model.coef_[k] + model.intercept_[k])) ** 2
        values.append(0.5 * (model.coef_[k] @ model.coef_[k] + model.intercept_[k] ** 2) + C * losses.sum())
    return np.array(values)


def check(name, C):
    X, y = SETS[name]()
    model = LinearSVC(C=C, random_state=0).fit(X, y)
    assert model.converged_, model.status_
    theirs = LiblinearSVC(C=C, random_state=0).fit(X, y)
    # LIBLINEAR stops where it is not done on data that are not scaled.
    assert np.all(objectives(model, X, y, C) <= objectives(theirs, X, y, C) * (1 + 1e-4))
    return model


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("C", CS)
@pytest.mark.parametrize("name", SETS)
def test_never_worse_than_liblinear(name, C):
    check(name, C)


@pytest.mark.filterwarnings("ignore:Liblinear failed:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "unscaled", "shifted", "sparse"])
def test_few_steps_are_enough(name):
    for C in (1e-3, 1.0, 1e5):
        model = check(name, C)
        assert model.solver_ == "newton" and np.max(model.n_iter_) <= MOST_STEPS


@pytest.mark.parametrize("n, d", [(4000, 1000), (6000, 1600)])
def test_sparse_rows_take_few_passes(n, d):
    """A Hessian of many columns is not formed where conjugate gradients do."""
    X, y = noisy_words(n, d, 0.01)
    for C in (1e-3, 1.0, 1e3):
        model = LinearSVC(C=C).fit(X, y)
        assert model.solver_ == "newton" and model.converged_
        assert model.n_inner_products_ <= 400 * n, model.n_inner_products_ / n


def test_many_entries_are_no_rounding():
    """The bound on rounding errors counts the entries of rows, not the columns, of which few are used."""
    X, y = SETS["words"]()
    model = LinearSVC(C=1e5, random_state=0).fit(X, y)
    assert model.converged_ and model.duality_gap_ <= model.tol * model.objective_
    X, y = load_breast_cancer(return_X_y=True)
    assert LinearSVC(C=1e5).fit(X, y).converged_


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_nearly_orthogonal_rows_with_a_kink_take_passes_and_no_hessians(C):
    """In the time of a few Hessians coordinate ascent reaches the optimum; Newton's method took hundreds of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 500))
    y = X @ rng.normal(size=500) + 3.0 * rng.normal(size=600) > 0
    model = LinearSVC("hinge", C=C, random_state=0).fit(X, y)
    assert model.solver_ == "newton" and model.converged_ and model.n_iter_.max() == 1
    assert model.n_inner_products_ <= 500 * len(X)
    exact = LinearSVC("hinge", C=C, random_state=0, solver="sdca", tol=1e-10).fit(X, y)
    assert model.objective_ - model.duality_gap_ <= exact.objective_ * (1 + 1e-9)
    assert model.objective_ <= exact.objective_ * (1 + 1e-4)


def test_coordinate_ascent_that_would_take_too_long_is_given_up():
    """On columns of scales from 1e-3 to 1e3 its gap shrinks too slowly: after a few passes Newton steps follow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 80)) * 10.0 ** rng.uniform(-3, 3, 80)
    y = X @ (rng.normal(size=80) / np.abs(X).max(axis=0)) + 0.3 * rng.normal(size=2000) > 0
    model = LinearSVC("hinge", random_state=0).fit(X, y)
    assert model.converged_ and 1 < model.n_iter_.max() <= MOST_STEPS


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_other_losses_on_unscaled_columns(loss):
    X, y = unscaled(500, 10, 0)
    for C in (1e-3, 1e3):
        model = LinearSVC(loss, C=C).fit(X, y)
        assert model.converged_ and np.max(model.n_iter_) <= MOST_STEPS


def test_the_logistic_loss_leaves_zero_on_huge_rows():
    X, y = SETS["huge numbers"]()
    model = LinearSVC("log_loss", random_state=0, max_iter=60_000).fit(X, y)
    assert model.solver_ == "sdca" and model.score(X, y) == 1.0 and model.objective_ < 0.01


def test_auto_goes_by_the_shape(tmp_path):
    rng = np.random.default_rng(0)
    shapes = {(60, 5): "newton", (20, 60): "sdca", (1600, 1550): "newton", (1600, 1650): "sdca"}
    for shape, name in shapes.items():
        X = sparse.random(*shape, density=0.1, random_state=0, format="csr")
        y = rng.random(shape[0]) < 0.5
        model = LinearSVC(tol=0.5, random_state=0).fit(X, y)
        assert model.solver_ == name and model.get_params()["solver"] == "auto"
        hinge = LinearSVC("hinge", tol=0.9, random_state=0).fit(X, y)
        assert hinge.solver_ == (name if shape[1] < 1500 else "sdca")
    model.save(tmp_path / "model.npz")
    assert kernbench.load(tmp_path / "model.npz").solver_ == "sdca"
    assert LinearSVC(solver="bundle", tol=0.5).fit(X, y).solver_ == "bundle"
    two = LinearSVC(tol=0.5, random_state=0).path(X, y, [0.1, 1.0])
    assert [model.solver_ for model in two] == ["sdca", "sdca"]


def test_a_warning_names_the_other_solver():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="solver='sdca'.* Try solver='newton', too"):
        LinearSVC(solver="sdca", max_iter=2000, random_state=0).fit(X, y)


def test_bundle_reaches_the_optimum_of_a_separable_class():
    X, y = load_iris(return_X_y=True)
    for C in (1.0, 1e3, 1e5):
        model = LinearSVC(C=C, solver="bundle", random_state=0).fit(X, y)
        best = LinearSVC(C=C).fit(X, y).objective_
        np.testing.assert_allclose(model.objective_, best, rtol=1e-3)
