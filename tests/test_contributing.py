"""The worked examples of CONTRIBUTING.md run as they stand there."""

import re
import sys
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from kernbench import _models, saving
from kernbench.experiments import registry as experiments
from kernbench.experiments.run import run
from kernbench.report import build
from kernbench.solvers.registry import SolverEntry

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(heading, language="python"):
    """Return the code blocks of a section."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def as_module(name, source, monkeypatch):
    """Execute a code block as the module `name`."""
    module = module_from_spec(spec_from_loader(name, loader=None))
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, f"CONTRIBUTING.md: {name}", "exec"), vars(module))
    return module


@pytest.fixture
def two_classes():
    X, y = make_classification(200, 6, flip_y=0.1, random_state=0)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture
def alpha_classifier(monkeypatch):
    return as_module(
        "kernbench.estimators.svm.alpha_classifier", blocks("Add an estimator")[0], monkeypatch
    ).AlphaClassifier


def test_the_estimator_is_a_scikit_learn_classifier(alpha_classifier):
    failures = [
        check
        for check in check_estimator(alpha_classifier(tol=1e-9), on_fail=None, on_skip=None)
        if check["status"] == "failed"
    ]
    assert not failures


def test_the_estimator_finds_the_optimum_along_a_path(alpha_classifier, two_classes):
    X, y = two_classes
    alphas = [1e-3, 1e-1, 1e-2]
    models = alpha_classifier(tol=1e-10).path(X, y, alphas)
    for alpha, model in zip(alphas, models, strict=True):
        oracle = LogisticRegression(C=1 / (alpha * len(y)), fit_intercept=False, tol=1e-10).fit(X, y)
        assert model.converged_ and model.alpha == alpha
        np.testing.assert_allclose(model.coef_, oracle.coef_, atol=1e-4)


def test_the_estimator_takes_weights_as_repetitions(alpha_classifier, two_classes):
    X, y = two_classes
    counts = np.arange(len(y)) % 3
    weighted = alpha_classifier(1e-2, tol=1e-12).fit(X, y, sample_weight=counts)
    repeated = alpha_classifier(1e-2, tol=1e-12).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)


def test_the_estimator_is_saved_and_read_back(alpha_classifier, two_classes, tmp_path, monkeypatch):
    X, y = two_classes
    line = eval(blocks("Add an estimator")[1].strip().rstrip(","), {"Model": _models.Model})
    monkeypatch.setitem(_models.BY_NAME, line.name, line)
    assert line.load() is alpha_classifier
    model = alpha_classifier().fit(X, y)
    model.save(tmp_path / "model.npz")
    assert np.array_equal(saving.load(tmp_path / "model.npz").predict(X), model.predict(X))


def test_the_experiment_runs_and_is_reported(tmp_path, monkeypatch):
    declaration, line = blocks("Add an experiment")
    module = line.strip().strip('",')
    width = as_module(f"kernbench.experiments.{module}", declaration, monkeypatch).EXPERIMENT
    monkeypatch.setattr(experiments, "EXPERIMENTS", (*experiments.EXPERIMENTS, width))
    assert experiments.get("width") is width
    summary = run("width", results=tmp_path / "results")
    assert [(record["status"], record.get("error")) for record in summary.records] == [("ok", None)] * 3
    build(tmp_path / "results", tmp_path / "reports")
    page = (tmp_path / "reports" / "index.html").read_text(encoding="utf-8")
    assert width.title in page
    assert (tmp_path / "reports" / "tables" / "width-quick-errors.csv").exists()


def test_the_solvers_reference_reaches_the_optimum(seven_points, monkeypatch):
    reference, entry = blocks("Add a solver")
    solver_class = as_module("kernbench.reference.kernel.random_pairs", reference, monkeypatch).RandomPairs
    listed = eval(entry.strip().rstrip(","), {"SolverEntry": SolverEntry})
    assert listed.reference == "kernbench.reference.kernel.random_pairs:RandomPairs"
    solver = solver_class(seven_points.rows, seven_points.y, alpha=seven_points.alpha, random_state=0)
    solver.advance(4000)
    assert solver.check(1e-6)
    assert solver.objective() == pytest.approx(seven_points.optimum, rel=1e-6)
