"""``kernbench fit --tune``: the parameters that cross-validation chooses, printed and saved."""

import numpy as np
import pytest

from kernbench.saving import load as load_model


def test_tune_chooses_by_cross_validation(kernbench, moons, tmp_path):
    grid = ("--set", "Cs=[0.1, 10]", "--set", "gammas=[0.5, 2]", "--set", "cv=3")
    result = kernbench("fit", "train.svm", "--tune", *grid, "--test", "test.svm", "--out", "m.npz")
    assert result.exit_code == 0, result.output
    model = load_model(tmp_path / "m.npz")
    assert type(model).__name__ == "KernelSVCCV" and model.cv_results_["mean_test_score"].shape == (4,)
    shown = {name.strip(): value for name, value in (line.rsplit(maxsplit=1) for line in result.stdout.splitlines())}
    assert float(shown["C"]) == model.best_params_["C"] and float(shown["gamma"]) == model.best_params_["gamma"]
    assert float(shown["cross-validated score"]) == pytest.approx(model.best_score_, rel=1e-4)


@pytest.mark.parametrize(
    "estimator, grid",
    [
        ("rocsvc", "alphas=[0.1, 0.01]"),
        ("linearsvc", "Cs=[0.1, 1]"),
        ("kernelregressor", "alphas=[0.1, 0.01]"),
        ("partialaucclassifier", "alphas=[0.1, 0.01]"),
    ],
)
def test_tune_is_for_every_model_with_a_search(kernbench, moons, estimator, grid):
    found = kernbench("fit", "train.svm", "--tune", "--estimator", estimator, "--set", grid, "--set", "cv=2")
    assert found.exit_code == 0, found.output
    shown = dict(line.strip().rsplit(maxsplit=1) for line in found.stdout.splitlines())
    assert float(shown[grid[: grid.index("s=")]]) in (1.0, 0.1, 0.01)
    assert np.isfinite(float(shown["cross-validated score"]))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--estimator", "linearregressor"), "linearsvc, kernelregressor, rocsvc and partialaucclassifier"),
        (("--set", "C=1"), "Cs"),
        (("--set", "refit=false"), "leave it out"),
        (("--chunk-rows", "50"), "chunk"),
    ],
)
def test_what_cannot_be_tuned_is_said(kernbench, moons, arguments, message):
    result = kernbench("fit", "train.svm", "--tune", *arguments)
    assert result.exit_code == 2 and message in result.output and "Traceback" not in result.output
