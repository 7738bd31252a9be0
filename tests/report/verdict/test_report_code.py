"""The code that a reader copies from a verdict: Python that makes the model, without what only the experiment needs."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import is_regressor

from kernbench.experiments import registry
from kernbench.experiments.declare import Method, Recommendation
from kernbench.report.records.results import Results


def test_a_class_of_the_experiment_is_written_as_the_pipeline_that_it_stands_for(toy, records, advised):
    code = "from somewhere import Linear\nfrom elsewhere import Map\nmake(Map(3), Linear())"
    pipeline = Method("mapped", "map, linear", "kernbench.experiments.measure.zero:ZeroClassifier", code=code)
    toy = replace(toy, methods=(*toy.methods, pipeline))
    found = advised(
        toy, [records.one("libsvm", error=0.149, seconds=4.0), records.one("mapped", error=0.149, seconds=1.0)]
    )
    assert found.headline == "For a kernel SVM, use make(Map(3), Linear())."
    imports = "from somewhere import Linear\nfrom elsewhere import Map"
    assert found.code == f"{imports}\nmodel = make(Map(3), Linear()).fit(X, y)"
    assert found.advices[0].short == "map, linear"


def test_the_code_to_copy_is_python_and_has_no_parameters_of_the_experiment(toy, records, advised):
    params = {"solver": "smo", "fit_intercept": False, "passes": 5, "search": {"alphas": [1.0, 1e-5]}}
    params |= {"C": 10.0, "tol": 1e-12, "max_iter": -1}  # of the race; the last is the default
    methods = tuple(replace(method, params=params) if method.name == "smo" else method for method in toy.methods)
    code = advised(replace(toy, methods=methods), records.race()).code
    assert code == (
        "from kernbench import KernelSVC\n"
        "# The race stopped after 5 passes over the rows.\n"
        "# The race had C=10.0, tol=1e-12.\n"
        "# Choose C, or alpha, on rows that are held out, as this race did.\n"
        'model = KernelSVC(solver="smo", fit_intercept=False, C=1.0).fit(X, y)'
    )


def test_a_search_of_the_data_set_is_told_as_one_of_the_method_is(toy, records, advised):
    scale = toy.scale("paper")
    searched = tuple(
        replace(setting, params={**setting.params, "search": {"alphas": [1.0, 0.1]}}) for setting in scale.settings
    )
    assert "held out" not in advised(toy, records.race()).code
    toy = replace(toy, scales={**toy.scales, "paper": replace(scale, settings=searched)})
    assert "# Choose C, or alpha, on rows that are held out, as this race did.\n" in advised(toy, records.race()).code


def test_what_a_race_chose_is_named_and_a_single_value_is_no_choice(toy, records, advised):
    def code(search):
        methods = tuple(replace(method, params={"search": search}) for method in toy.methods)
        return advised(replace(toy, methods=methods), records.race()).code

    assert "# Choose alpha and the kernel's width, on rows that" in code({"width": [1, 4], "alpha": [0.1, 1.0]})
    assert "held out" not in code({"width": [1]})


RECOMMENDABLE = [
    (experiment, display, method)
    for experiment in registry.EXPERIMENTS
    for display in experiment.tables
    if isinstance(display, Recommendation)
    for method in experiment.methods
    if method.depends_on is None and (display.methods is None or method.name in display.methods)
]
# Loops over pairs or batches that a race has, and classes that take something else than rows and labels.
NOT_TO_COPY = ("zero", "svr-zero", "full-naive", "survival-svm", "libauc", "libauc-sopa", "libauc-sopas")


@pytest.mark.filterwarnings("ignore")  # of fits that the limit ends
@pytest.mark.parametrize(
    ("experiment", "display", "method"),
    RECOMMENDABLE,
    ids=[f"{experiment.name}-{display.name}-{method.name}" for experiment, display, method in RECOMMENDABLE],
)
def test_every_method_that_may_be_recommended_has_code_that_learns(experiment, display, method):
    lines = Results(experiment, "paper", {}).to_copy(method.name, *display.arguments)
    if method.name in NOT_TO_COPY:
        assert lines == []
        return
    *before, model = lines
    compile(model, "model", "eval")
    if method.code or (method.requires is not None and find_spec(method.requires) is None):
        return  # the test of what a user writes runs declared code
    space = {}
    exec("\n".join(before), space)
    model = eval(model, space)
    rng = np.random.default_rng(0)
    if "max_iter" in model.get_params():
        model.set_params(max_iter=5)  # batches and steps are for more rows
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    y = y if is_regressor(model) else np.where(y > 0, 1, -1)
    assert len(model.fit(X, y).predict(X)) == len(y)
