"""A solver and an experiment of one's own: ``kernbench new``, ``check``, and ``--plugin``."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from kernbench.cli.plugins.creating import TEMPLATES
from kernbench.experiments import registry as experiments
from kernbench.experiments.run import runner
from kernbench.experiments.run.progress import RunSummary
from kernbench.experiments.run.storing.store import Store
from kernbench.solvers import checks
from kernbench.solvers.kinds import KINDS

pytestmark = pytest.mark.usefixtures("forgotten_plugins")


def test_a_newcomers_solver_is_in_the_report_after_three_commands(kernbench, my_file):
    """``new``, ``run``, ``report``; only the cells of the solver itself and of the baseline are run, on few rows."""
    assert kernbench("new", "solver", "my-own").exit_code == 0
    few = ("--dataset", "my.svm", "--only", "sbp-libsvm/my.svm/my-own", "--only", "sbp-libsvm/my.svm/libsvm")
    run = kernbench("run", "sbp-libsvm", "--plugin", "my_own.py", *few)
    assert run.exit_code == 0 and "✓ my.svm / my-own / repeat 0: test error" in run.stderr
    assert kernbench("report", "--plugin", "my_own.py").exit_code == 0
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "my-own (plug-in)" in page and "--plugin my_own.py" in page
    table = Path("reports/tables/sbp-libsvm-quick-comparison.csv").read_text(encoding="utf-8")
    assert "my-own (plug-in)" in table
    curve = Path("reports/figures/sbp-libsvm-quick-seconds.csv").read_text(encoding="utf-8")
    assert "my-own" in curve


def test_records_of_an_experiment_that_is_not_loaded_are_named_in_the_note(kernbench, refused):
    kernbench("new", "experiment", "widths")
    kernbench("run", "widths", "--plugin", "widths.py")
    names = [experiment.name for experiment in experiments.EXPERIMENTS]
    del experiments.EXPERIMENTS[names.index("widths")]
    assert "no record of 'results' can be compared (3 records left out" in refused("compare", "results", "results")
    assert "An experiment of your own needs --plugin FILE" in refused("report")
    assert "unknown experiment 'widths'" in (message := refused("run", "widths")) and "--plugin FILE" in message


def test_list_and_fit_know_the_solver(kernbench):
    kernbench("new", "solver", "mine")
    listed = kernbench("list", "solvers", "--plugin", "mine.py").stdout
    assert "mine" in listed and "two kernel rows per step" in listed
    fit = kernbench("fit", "moons", "--plugin", "mine.py", "--set", "solver=mine", "--set", "max_iter=200")
    assert fit.exit_code == 0 and "duality gap" in fit.stdout


@pytest.fixture
def few_laws(monkeypatch):
    """A function that leaves of the laws, each of which is checked in a process of its own, those it is given."""

    def leave(*names):
        monkeypatch.setattr(checks, "LAWS", {name: checks.LAWS[name] for name in names})

    return leave


OTHERS = ["linear-svm", "roc-svm", "kernel-regression"]  # their templates keep every law in test_solvers_checks


@pytest.mark.parametrize(
    "kind", ["kernel-svm", "linear-regression", *(pytest.param(kind, marks=pytest.mark.slow) for kind in OTHERS)]
)
def test_what_new_writes_passes_its_checks(kernbench, few_laws, kind):
    if kind == "linear-regression":
        few_laws("certifies its distance to the optimum")  # the others as for the first kind
    kernbench("new", "solver", "mine", "--kind", kind)
    checked = kernbench("check", "mine.py")
    assert checked.exit_code == 0, checked.output
    assert "✓ mine: certifies its distance to the optimum" in checked.stdout
    by = "by hand" if "svm" in kind else "by its closed form"
    assert by in checked.stdout.replace("_", " ") and "none failed" in checked.stdout
    assert "Next: kernbench run" in checked.stdout or kind == "linear-regression"


def test_templates_have_lines_of_120_characters_and_sorted_imports(kernbench, tmp_path):
    for kind in ("experiment", *(path.name.removesuffix(".py.txt") for path in TEMPLATES.glob("*-*.py.txt"))):
        words = ["experiment", "mine"] if kind == "experiment" else ["solver", "mine", "--kind", kind]
        assert kernbench("new", *words).exit_code == 0
        lines = (tmp_path / "mine.py").read_text().splitlines()
        assert max(map(len, lines)) <= 120, kind
        imports = [line for line in lines if line.startswith("from kernbench")]
        modules = [line.split()[1] for line in imports]
        assert modules == sorted(modules), kind
        (tmp_path / "mine.py").unlink()


def test_every_kind_has_a_template_or_is_refused_with_those_that_have(kernbench, refused):
    for kind in KINDS:
        if (TEMPLATES / f"{kind}.py.txt").exists():
            assert kernbench("new", "solver", f"my-{kind}", "--kind", kind).exit_code == 0
        else:
            message = refused("new", "solver", "mine", "--kind", kind)
            assert f"no template of a solver of '{kind}'" in message and "linear-regression" in message
    fit = (
        "--estimator",
        "linearregressor",
        "--plugin",
        "my_linear_regression.py",
        "--set",
        "solver=my-linear-regression",
    )
    assert kernbench("fit", "ridge-2d", *fit, "--set", "max_iter=50").exit_code == 0


def test_an_unknown_kind_lists_those_with_a_template(refused):
    message = refused("new", "solver", "mine", "--kind", "nonsense")
    listed = message.partition("Known: ")[2].strip(". \n").split(", ")
    assert listed == sorted(path.name.removesuffix(".py.txt") for path in TEMPLATES.glob("*-*.py.txt"))


def test_a_wrong_solver_fails_its_checks_with_exit_code_1(kernbench, few_laws):
    few_laws("states its objective", "returns copies", "keeps the contract")
    kernbench("new", "solver", "mine")
    path = Path("mine.py")
    text = path.read_text().replace("        self.e -= s * row\n", "        self.e -= 0.9 * s * row\n")
    path.write_text(text.replace("        return self.converged\n", "        while True: pass\n"))
    checked = kernbench("check", "mine.py", "--time-limit", "1")
    assert checked.exit_code == 1
    failed = [line for line in checked.stdout.splitlines() if line.startswith("✗")]
    assert any("states its objective" in line for line in failed)
    assert any("keeps the contract" in line and "limit of 1 s" in line for line in failed)  # it never ends


def test_the_message_of_a_check_has_places_in_the_file_and_none_in_kernbench(kernbench, few_laws, tmp_path):
    few_laws("keeps the contract", "certifies its distance to the optimum")
    kernbench("new", "solver", "mine")
    path = tmp_path / "mine.py"
    text = path.read_text().replace("        return n_iter\n", "        return n_iter + 1\n")
    path.write_text(text.replace("    def gap(self):\n", "    def gap(self):\n        assert self.n_iter > 40\n"))
    failed = [line for line in kernbench("check", "mine.py").stdout.splitlines() if line.startswith("✗")]
    contract = next(line for line in failed if "keeps the contract" in line)
    assert contract.endswith("advance(40) returned 41, and n_iter is 40")
    certificate = next(line for line in failed if "certifies" in line)
    assert "AssertionError (mine.py:" in certificate and "in gap)" in certificate


@pytest.mark.parametrize(
    "code, words",
    [("{}['oops']", "KeyError: 'oops'"), ("self.beta + self.beta[:3]", "ValueError: operands could not be broadcast")],
)
def test_an_exception_of_a_plug_in_is_no_internal_error(kernbench, refused, tmp_path, code, words):
    kernbench("new", "solver", "mine")
    path = tmp_path / "mine.py"
    path.write_text(path.read_text().replace("        return n_iter\n", f"        return {code}\n"))
    message = refused("fit", "moons", "--plugin", "mine.py", "--set", "solver=mine")
    assert message.startswith(f"kernbench: error: plug-in mine.py: it raised {words}")
    assert message.rstrip().endswith(", in advance)") and "(mine.py:" in message


def test_an_experiment_of_ones_own_is_written_checked_run_and_reported(kernbench):
    assert kernbench("new", "experiment", "widths").exit_code == 0
    checked = kernbench("check", "widths.py")
    assert checked.exit_code == 0, checked.output
    assert "✓ widths: checkerboard / narrow" in checked.stdout
    run = kernbench("run", "widths", "--plugin", "widths.py")
    assert run.exit_code == 0 and "Next: kernbench report --plugin widths.py\n" in run.stdout
    assert kernbench("report", "--plugin", "widths.py").exit_code == 0
    assert "The width of the Gaussian kernel" in Path("reports/index.html").read_text(encoding="utf-8")


OWN = """
import numpy as np

from kernbench.datasets import Dataset
from kernbench.experiments.declare import Experiment, Method, Metric, MetricTable, Scale, Setting


def halves(n):
    X = np.random.default_rng(0).normal(size=(2 * n, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    return Dataset("halves", X[:n], y[:n], X[n:], y[n:])


class Mean:
    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.w_ = y @ X
        return self

    def predict(self, X):
        return np.where(X @ self.w_ > self.shift, 1, -1)


def judge(fit):
    return {"gain": float(np.mean(fit.predictions == fit.data.y_test)) - 0.5}


EXPERIMENTS = [
    Experiment(
        name="own",
        title="All is mine",
        paper="Ours",
        methods=(
            Method("mean", "mean", f"{__name__}:Mean"),
            Method("svc", "SVC", "sklearn.svm:SVC", {"gamma": 1.0}),
            Method("absent", "absent", "no_such_module:Model", requires="no_such_module", package="no-such-package"),
        ),
        scales={"quick": Scale((Setting("halves", {"n": 50}, loader=f"{__name__}:halves"),), 1, 30.0)},
        metrics=(Metric("gain", "gain", "higher", ("metrics", "gain")),),
        evaluate=f"{__name__}:judge",
        tables=(MetricTable("all", "All", ("gain",)),),
        own_data=True,
    )
]
"""


@pytest.mark.parametrize("what", ["solver", "experiment"])
def test_in_a_checkout_new_names_a_folder_that_a_report_may_be_written_to(kernbench, tmp_path, what):
    assert kernbench("new", what, "mine").stdout.endswith("kernbench report --plugin mine.py\n")
    (tmp_path / "mine.py").unlink()
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "records.jsonl.xz").touch()
    assert kernbench("new", what, "mine").stdout.endswith("kernbench report --plugin mine.py --out results/report\n")


def test_templates_name_a_folder_that_a_report_may_be_written_to():
    texts = [path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.py.txt")]
    commands = [line for text in texts for line in text.splitlines() if "kernbench report" in line]
    assert commands and all(command.endswith(" --out results/report") for command in commands)


def test_data_models_and_metrics_of_an_experiment_may_be_of_its_file(kernbench, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    run = kernbench("run", "own", "--plugin", "own.py")
    assert run.exit_code == 0 and "absent is left out, because no-such-package is not installed" in run.stderr
    found = {record["method"]: record["metrics"]["gain"] for record in Store("results").records()}
    assert found.keys() == {"mean", "svc"} and min(found.values()) > 0.3
    assert kernbench("report", "--plugin", "own.py").exit_code == 0
    assert "| halves | mean |" in Path("reports/details/own-quick.md").read_text(encoding="utf-8")


def test_an_experiment_without_the_scale_is_left_out_unless_it_is_named(kernbench, refused, monkeypatch):
    Path("own.py").write_text(OWN)
    words = ("--scale", "paper", "--plugin", "own.py", "--dry-run")
    assert "own: unknown scale 'paper'" in refused("run", "own", *words)
    asked = []
    monkeypatch.setattr(runner, "run", lambda names, **options: asked.extend(names) or RunSummary([]))
    run = kernbench("run", *words)
    assert run.exit_code == 0 and "own is left out, because it has no paper scale" in run.stderr
    assert asked == [name for name in experiments.names() if name != "own"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("new", "solver", "smo"), "'smo' already"),
        (("new", "solver", "libsvm"), "'libsvm' already"),
        (("new", "solver", "auto", "--kind", "linear-svm"), "'auto' already"),
        (("new", "solver", "My-Solver"), "is not a valid solver name"),
        (("new", "solver", "json"), "would hide the Python module 'json'"),
        (("new", "solver", "none"), "'none' would name the class None, a word that the file needs"),
        (("new", "solver", "solver-entry"), "'solver-entry' would name the class SolverEntry"),
        (("new", "solver", "mine", "--kind", "kernel-svn"), "did you mean 'kernel-svm'"),
        (("new", "solver", "mine", "--folder", "nowhere"), "there is no folder 'nowhere'"),
        (("new", "experiment", "peers-svm"), "there is an experiment or a method 'peers-svm' already"),
        (("new", "experiment", "all"), "there is an experiment or a method 'all' already"),
        (("new", "estimator", "linear-classifier"), "is not a checkout of kernbench"),
        (("new", "estimator", "linear-svc"), "there is an estimator or a method 'linear-svc' already"),
        (("new", "solver", "mine", "--built-in"), "is not a checkout of kernbench"),
        (("new", "solver", "mine", "--built-in", "--kind", "roc-svm"), "for --kind kernel-svm only"),
        (("new", "solver", "smo", "--built-in"), "'smo' already"),
        (("check", "absent.py"), "kernbench new solver NAME"),
        (("run", "--plugin", "absent.py"), "kernbench new solver NAME"),
        (("run", "--plugin", "bad.py"), "plug-in bad.py: it raised ZeroDivisionError"),
        (("list", "--plugin", "bad.py"), "plug-in bad.py: it raised ZeroDivisionError"),
        (("run", "--only", "sbp-libsv/*"), "matches nothing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_are_one_line(refused, tmp_path, arguments, message):
    (tmp_path / "bad.py").write_text("1 / 0\n")
    assert message in refused(*arguments)


def test_an_existing_file_is_not_overwritten(kernbench, refused):
    kernbench("new", "solver", "mine")
    assert "mine.py exists already" in refused("new", "solver", "mine")


def test_a_built_in_part_overwrites_nothing(refused, tmp_path):
    existing = tmp_path / "kernbench" / "estimators" / "svm" / "mine.py"
    existing.parent.mkdir(parents=True)
    for path in (existing, tmp_path / "kernbench" / "_models.py"):
        path.write_text("# mine\n")
    assert "mine.py exists already" in refused("new", "estimator", "mine")
    assert existing.read_text() == "# mine\n"


def test_options_of_a_run_reach_the_runner(kernbench, monkeypatch):
    asked = {}
    monkeypatch.setattr(runner, "run", lambda names, **options: asked.update(options) or RunSummary([]))
    kernbench("run", "--only", "a/*", "--only", "b", "--skip", "*/c", "--force")
    assert (asked["only"], asked["skip"], asked["force"]) == (("a/*", "b"), ("*/c",), True)


# --- data of one's own


@pytest.fixture
def my_file(tmp_path):
    """A LIBSVM file of two classes, 3 and 7."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=200) > 0, 7, 3)
    path = tmp_path / "my.svm"
    lines = [f"{label} " + " ".join(f"{k + 1}:{v:.5f}" for k, v in enumerate(row)) for label, row in zip(y, X)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_file_is_a_data_set_of_every_experiment_that_takes_its_kind(kernbench, my_file):
    chosen = ("--only", "*/my.svm/smo*", "--only", "*/my.svm/roc-svc", "--skip", "sbp-libsvm/*/smo-quarter")
    run = kernbench("run", "sbp-libsvm", "peers-svm", "peers-auc", "primitives", "--dataset", "my.svm", *chosen)
    assert run.exit_code == 0, run.output
    records = Store("results").records()
    assert {(r["experiment"], r["dataset"], r["status"]) for r in records} == {
        (name, "my.svm", "ok") for name in ("sbp-libsvm", "peers-svm", "peers-auc")
    }
    assert {r["data"]["kind"] for r in records} == {"own"}
    assert all(r["data"]["n_train"] == 150 for r in records)
    gammas = {r["params"]["gamma"] for r in records if "gamma" in r["params"]}
    assert len(gammas) == 1 and 0.1 < gammas.pop() < 1  # 1 / (d Var X), as a number
    assert kernbench("report").exit_code == 0
    page = Path("reports/index.html").read_text(encoding="utf-8")
    assert "my.svm" in page and "class 7 against 3" in page


def test_a_file_that_is_given_twice_is_one_data_set(kernbench, my_file):
    twice = ("--dataset", "my.svm", "--dataset", "./my.svm", "--only", "*/*/libsvm")
    planned = kernbench("run", "sbp-libsvm", *twice, "--dry-run")
    assert planned.exit_code == 0 and planned.stdout.count("my.svm") == 1


@pytest.mark.parametrize(
    "content, arguments, message",
    [
        ("1 1:2\n-1 1:3\n" * 8, ("primitives", "--dataset", "my.svm"), "none takes files of these: primitives"),
        ("1 1:2\n2 1:3\n3 1:1\n" * 8, ("peers-svm", "--dataset", "my.svm"), "holds multi-class data"),
        ("1 1:2\n1 1:3\n" * 8, ("peers-svm", "--dataset", "my.svm"), "all rows are of one class, 1"),
        ("1 1:2\n-1 1:3\n", ("peers-svm", "--dataset", "my.svm"), "one row"),
        ("1 1:2\n-1 1:x\n", ("peers-svm", "--dataset", "my.svm"), "my.svm"),
        ("", ("peers-svm", "--dataset", "other.svm"), "there is no data file other.svm"),
        ("", ("peers-svm", "--dataset", "adult-lik"), "did you mean 'adult-like'"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(refused, tmp_path, content, arguments, message):
    (tmp_path / "my.svm").write_text(content)
    assert message in refused("run", *arguments, "--dry-run")


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="names of files are of another encoding here")
def test_a_file_whose_name_is_not_text_is_refused(refused, my_file):
    name = os.fsdecode(b"caf\xe9.svm")
    try:
        my_file.rename(my_file.with_name(name))
    except OSError:
        pytest.skip("this system has names in UTF-8 only")
    message = refused("run", "sbp-libsvm", "--dataset", name, "--dry-run")
    assert message.endswith("caf\ufffd.svm: the name is not UTF-8 text; rename the file")


def test_a_name_of_a_data_set_is_a_name_whatever_files_there_are(kernbench, tmp_path):
    (tmp_path / "checkerboard").write_text("not a data file")
    dry = kernbench("run", "sbp-libsvm", "--dataset", "checkerboard", "--dry-run")
    assert dry.exit_code == 0 and "checkerboard" in dry.stdout
