"""The code that a reader copies from a verdict: Python that makes the model, without what only the experiment needs."""

from dataclasses import replace

import pytest

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
        "# The race had C=10.0, tol=1e-12.\n"
        "# Choose C, or alpha, on rows that are held out, as this race did.\n"
        'model = KernelSVC(solver="smo", fit_intercept=False, C=1.0).fit(X, y)'
    )


RECOMMENDABLE = [
    (experiment, display, method.name)
    for experiment in registry.EXPERIMENTS
    for display in experiment.tables
    if isinstance(display, Recommendation)
    for method in experiment.methods
    if method.depends_on is None and (display.methods is None or method.name in display.methods)
]


@pytest.mark.parametrize(
    ("experiment", "display", "name"),
    RECOMMENDABLE,
    ids=[f"{experiment.name}-{display.name}-{name}" for experiment, display, name in RECOMMENDABLE],
)
def test_the_code_of_every_method_that_may_be_recommended_makes_its_model(experiment, display, name):
    *imports, model = Results(experiment, "paper", {}).to_copy(name, *display.arguments) or ["None"]
    compile(model, "model", "eval")
    if name == display.zero or experiment.method(name).requires is not None:
        return
    space = {}
    exec("\n".join(imports), space)
    assert eval(model, space) is not None or not imports
