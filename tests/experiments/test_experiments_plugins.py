"""Plug-ins: what they bring, how they are refused, and how their cells end."""

import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernbench import KernelSVC
from kernbench.cli import main
from kernbench.experiments import plugins
from kernbench.experiments import registry as experiments
from kernbench.experiments.run import run
from kernbench.solvers import registry as solvers
from kernbench.solvers.kinds import KINDS

CELL = "sbp-libsvm/checkerboard/mine"


@pytest.fixture
def small(monkeypatch):
    """``small()`` runs the cell of the plug-in's solver on 200 rows and returns its record."""

    def go(folder, **options):
        place = experiments.names().index("sbp-libsvm")
        experiment = experiments.EXPERIMENTS[place]
        scale = experiment.scale("quick")
        settings = [replace(s, arguments={**s.arguments, "n_train": 200}) for s in scale.settings]
        reduced = replace(experiment, scales={**experiment.scales, "quick": replace(scale, settings=tuple(settings))})
        return run(reduced, results=folder, only=[CELL], **options).records

    return go


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


# --- what they bring


def test_a_solver_is_offered_everywhere_once_it_is_loaded(write_plugin):
    plugin = plugins.load(write_plugin("mine"))
    assert [entry.name for entry in plugin.solvers] == ["mine"]
    entry = solvers.get("mine", "kernel-svm")
    assert entry.load("compiled") is entry.load("reference") and entry.losses == ("hinge",)
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    assert KernelSVC(solver="mine", C=10.0).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    "kind, races",
    [
        ("kernel-svm", ("sbp-libsvm", "peers-svm")),
        ("linear-svm", ("peers-auc",)),
        ("roc-svm", ("rocsvm-linear", "peers-auc")),
        ("kernel-regression", ("dsg-ridge",)),
        ("linear-regression", ()),
    ],
)
def test_a_solver_joins_the_races_of_its_kind(write_plugin, kind, races):
    before = {experiment.name: experiment for experiment in experiments.EXPERIMENTS}
    plugin = plugins.load(write_plugin("mine", kind=kind))
    assert plugin.joined() == races
    for experiment in experiments.EXPERIMENTS:
        if experiment.name not in races:
            assert experiment is before[experiment.name]
            continue
        assert experiment.method("mine").params["solver"] == "mine"
        model = experiment.newcomers[kind].name
        for display in (*experiment.tables, *experiment.figures, *experiment.scale("quick").settings):
            if display.methods is not None:
                assert ("mine" in display.methods) == (model in display.methods), display.name


def test_a_solver_without_the_loss_of_a_race_does_not_join_it(write_plugin):
    losses = ('    losses = ("hinge",)', '    losses = ("squared_hinge",)')
    plugin = plugins.load(write_plugin("mine", losses))
    assert plugin.joined() == ()


def test_the_same_file_is_loaded_once_and_a_changed_one_not_again(write_plugin):
    path = write_plugin("mine")
    plugin = plugins.load(path)
    assert plugins.load(path) is plugin
    path.write_text(path.read_text() + "\n# changed\n")
    with pytest.raises(ValueError, match="another one of this name, or version"):
        plugins.load(path)


def test_the_digest_is_of_all_that_is_imported_from_the_folder(tmp_path):
    (tmp_path / "mine.py").write_text("import helper\nimport numpy\n")
    (tmp_path / "helper.py").write_text("from parts.steps import step\nimport mine\n")
    (tmp_path / "other.py").write_text("")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    found = []
    for changed in ("mine.py", "other.py", "helper.py", "parts/steps.py"):
        with open(tmp_path / changed, "a") as file:
            file.write("# changed\n")
        found.append(plugins._digest(tmp_path / "mine.py"))
    assert found[0] == found[1] and len(set(found)) == 3


# --- how they are refused


@pytest.mark.parametrize(
    "text, message",
    [
        ("1 / 0", r"plug-in bad.py: it raised ZeroDivisionError: division by zero \(bad.py:1"),
        ("import no_such_module_here", "it raised ModuleNotFoundError: No module named"),
        ("import sys; sys.exit(3)", "it raised SystemExit: 3"),
        ("def f(:", "it raised SyntaxError"),
        ("x = 1\0", r"it raised SyntaxError: source code string cannot contain null bytes \(bad.py\)"),
        ("raise ValueError", r"it raised ValueError \(bad.py:1"),
        ("x = 1", "it adds nothing"),
        ("SOLVERS = 7", "SOLVERS must be a list"),
        ("SOLVERS = ['smo']", "SOLVERS must hold SolverEntry, got 'smo'"),
        ("EXPERIMENTS = [3]", "EXPERIMENTS must hold Experiment, got 3"),
        ("while True: pass", "it raised TimeoutError: importing it takes longer than 0.5 s"),
        (
            "from kernbench.experiments.registry import get\nEXPERIMENTS = [get('peers-svm')]",
            "there is an experiment 'peers-svm' already",
        ),
        (
            "from dataclasses import replace\nfrom kernbench.experiments.registry import get\n"
            "EXPERIMENTS = [replace(get('peers-svm'), name='all')]",
            "there is an experiment 'all' already",
        ),
    ],
)
def test_a_bad_file_is_refused_in_one_line_and_leaves_nothing(tmp_path, text, message, forgotten_plugins, monkeypatch):
    monkeypatch.setattr(plugins, "IMPORT_SECONDS", 0.5)
    (tmp_path / "bad.py").write_text(text)
    before = list(solvers.SOLVERS), list(experiments.EXPERIMENTS)
    with pytest.raises(ValueError, match=message) as refusal:
        plugins.load(tmp_path / "bad.py")
    assert "\n" not in str(refusal.value)
    assert (solvers.SOLVERS, experiments.EXPERIMENTS) == before and plugins.PLUGINS == []
    assert "kernbench_plugin_bad" not in sys.modules


@pytest.mark.parametrize(
    "name, message",
    [
        ("smo", "there is a solver 'smo' of kernel-svm already"),
        ("libsvm", "sbp-libsvm has a method 'libsvm' already"),
        ("auto", "solver='auto' leaves the choice to the estimator"),
        ("My Solver", "is not a valid solver name"),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused(write_plugin, name, message):
    with pytest.raises(ValueError, match=message):
        plugins.load(write_plugin("mine", ('name="mine"', f'name="{name}"')))
    assert "mine" not in solvers.names() and plugins.PLUGINS == []


MISTAKES = {  # what is typed in place of what, and what is said
    "no advance": ("    def advance(", "    def advances(", r"Mine lacks advance\(\); what a solver has is said in"),
    "no solution": ("    def solution(", "    def model(", r"Mine lacks solution\(\)"),
    "no initial": ("random_state=None, initial=None", "random_state=None", "unexpected keyword argument 'initial'"),
    "more to be given": ("rows, y, *, alpha,", "rows, y, *, C, alpha,", r"Mine\(rows, y, \*, alpha, .* argument: 'C'"),
    "losses in text": (
        'losses = ("hinge",)',
        'losses = "hinge"',
        r"a tuple of names, such as \('hinge',\), got 'hinge'",
    ),
    "no losses": ('losses = ("hinge",)', "losses = None", "a tuple of names, .* got None"),
    "no limit": ("        default_epochs=20,\n", "", "default_epochs=0, default_iterations=0; max_iter=-1 stands for"),
    "a limit in text": ("default_epochs=20", 'default_epochs="20"', "default_epochs='20'; max_iter=-1 stands for"),
    "a limit below 0": ("default_epochs=20", "default_epochs=-1", "default_epochs=-1; max_iter=-1 stands for"),
    "a kind in a list": ('problem="kernel-svm"', 'problem=["kernel-svm"]', r"unknown kind of problem \['kernel-svm'\]"),
    "a number for a name": ('name="mine"', "name=3", "3 is not a valid solver name"),
    "no text": ('paper="yours"', "paper=None", "paper must be text, got None"),
    "no class": ('method=f"{__name__}:Mine"', 'method="Mine"', "no method at 'Mine', which must be 'module:Class'"),
    "no cores": (
        "random_state=None, initial=None",
        'random_state=None, initial=None, core="compiled"',
        "Mine takes core=: name its modules in compiled_core and reference_core",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_solver_is_refused_with_what_to_do(write_plugin, mistake):
    old, new, message = MISTAKES[mistake]
    with pytest.raises(ValueError, match=f"plug-in mine.py: .*{message}") as refusal:
        plugins.load(write_plugin("mine", (old, new)))
    assert "it raised" not in str(refusal.value)  # not an error of our code


DECLARED = {  # the same of experiments
    "a name with a space": ('name="mine"', 'name="my own"', "'my own' is not a valid experiment name"),
    "a number for a name": ('name="mine"', "name=3", "3 is not a valid experiment name"),
    "another scale": ('"quick": scale', '"fast": scale', "scales of 'mine' must be 'quick' and, if you like, 'paper'"),
    "a dot": ("estimators:KernelSVC", "estimators.KernelSVC", "method 'wide': estimator must be 'module:name', got 'k"),
    "a class": ('"kernbench.estimators:KernelSVC"', "dict", "method 'wide': estimator must be .*, got <class 'dict'>"),
    "a set": ('"C": 10.0', '"C": {10.0}', "method 'wide': params must be numbers, .* set is not JSON serializable"),
    "an array": ('"n_test": 1000', '"n_test": np.ones(2)', "data set 'checkerboard': arguments must be numbers, .* nd"),
    "infinity": ('"C": 10.0', '"C": np.inf', "method 'wide': params must be numbers, .* not JSON compliant"),
    "no loader": ('repeat_argument="seed"', 'loader="load"', "data set 'checkerboard': loader must be 'module:name'"),
    "no judge": ("own_data=True", 'evaluate="judge"', "experiment 'mine': evaluate must be 'module:name', got 'judge'"),
    "no time": ("time_limit=60.0", "time_limit=-1", r"repeats >= 1 and time_limit > 0, got 1 and -1"),
    "text for a metric": ("metrics=(m.TEST", 'metrics=("error", m.TEST', r"has no attribute 'name' \(mine.py:"),
}


@pytest.mark.parametrize("mistake", DECLARED)
def test_a_mistake_in_an_experiment_is_refused_with_what_to_do(tmp_path, forgotten_plugins, mistake):
    old, new, message = DECLARED[mistake]
    main(["new", "experiment", "mine", "--folder", str(tmp_path)], standalone_mode=False)
    path = tmp_path / "mine.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new).replace("\n\nMETHODS", "\nimport numpy as np\n\nMETHODS"))
    with pytest.raises(ValueError, match=f"plug-in mine.py: .*{message}"):
        plugins.load(path)


def test_what_an_import_prints_is_not_in_the_output_of_the_command(write_plugin, capsys):
    path = write_plugin("mine", ("SOLVERS = [", "print('hello')\nSOLVERS = ["))
    capsys.readouterr()
    plugins.load(path)
    assert capsys.readouterr() == ("", "hello\n")


def test_what_is_no_plug_in_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="write one with: kernbench new solver"):
        plugins.load(tmp_path / "absent.py")
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(ValueError, match="a plug-in is a Python file"):
        plugins.load(tmp_path / "mine.txt")


def test_a_copy_of_the_process_that_an_import_makes_ends_at_once(tmp_path, write_plugin):
    log = tmp_path / "log"
    fork = f"import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\nopen({str(log)!r}, 'a').write('x')\n"
    path = write_plugin("mine", ("import numpy as np\n", f"{fork}import numpy as np\n"))
    plugins.load(path)
    assert log.read_text() == "xx" and "mine" in solvers.names()  # both imported it, one came here


# --- how their cells end


def test_a_cell_of_a_plug_in_is_measured_and_names_it(write_plugin, small, tmp_path):
    plugin = plugins.load(write_plugin("mine"))
    (record,) = small(tmp_path / "results")
    assert (record["status"], record["error"]) == ("ok", None)
    assert record["environment"]["plugin"] == f"mine.py {plugin.digest[:12]}"
    assert record["metrics"]["test_error"] < 0.5 and len(record["trace"]["seconds"]) > 1


def test_its_cells_run_again_when_the_file_has_changed_and_no_others_do(write_plugin, small, tmp_path, request):
    path = write_plugin("mine")
    plugins.load(path)
    assert len(small(tmp_path / "results")) == 1
    assert len(small(tmp_path / "results")) == 0
    source = path.read_text()
    plugins.PLUGINS.clear()
    solvers.SOLVERS[:] = [entry for entry in solvers.SOLVERS if entry.name != "mine"]
    experiments.EXPERIMENTS[:] = request.getfixturevalue("declared")
    path.write_text(source + "\n# a change\n")
    plugins.load(path)
    assert len(small(tmp_path / "results")) == 1


@pytest.fixture
def declared(monkeypatch):
    """The experiments without those that a plug-in has joined."""
    from kernbench._lazy import load

    names = ("papers.sbp.libsvm", "ours.svm_peers.declaration")
    return [load(f"kernbench.experiments.{name}:EXPERIMENT") for name in names]


@pytest.mark.parametrize(
    "change, status, message",
    [
        (("self.beta[i] += s", "self.beta[i] += np.nan"), "error", "is not finite: it diverged"),
        (("Solution(self.beta.copy()", "Solution(self.beta[:3].copy()"), "error", r"of shape \(3,\), not \(200,\)"),
        (("        return n_iter\n", "        while True: pass\n"), "timeout", "took longer than its limit of 1 s"),
        (("        return n_iter\n", "        raise OSError('no luck')\n"), "error", "OSError: no luck"),
        (("        return n_iter\n", "        import os; os._exit(0)\n"), "error", "exit code 0 and no result"),
    ],
    ids=["nan", "shape", "endless", "raises", "leaves"],
)
def test_a_solver_that_fails_is_a_record(write_plugin, small, tmp_path, change, status, message):
    plugins.load(write_plugin("mine", change))
    (record,) = small(tmp_path / "results", time_limit=1 if status == "timeout" else None)
    assert record["status"] == status
    assert re.search(message, record["error"]), record["error"]


def test_a_solver_that_forks_is_measured_once_and_leaves_no_process(write_plugin, small, tmp_path):
    log = tmp_path / "log"
    code = f"""        import os
        if not hasattr(self, 'forked'):
            self.forked = True
            os.fork()
            open({str(log)!r}, 'a').write(f'{{os.getpid()}} ')
"""
    plugins.load(write_plugin("mine", ("        return n_iter\n", f"{code}        return n_iter\n")))
    (record,) = small(tmp_path / "results")
    assert record["status"] == "ok"
    pids = set(log.read_text().split())
    deadline = time.monotonic() + 20
    while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)  # killed, but not gone yet
    assert len(pids) >= 2 and not any(is_running(pid) for pid in pids)


def test_a_file_that_changes_during_the_run_is_an_error_that_says_so(write_plugin, small, tmp_path):
    path = write_plugin("mine")
    plugins.load(path)
    path.write_text(path.read_text() + "\n# changed\n")
    (record,) = small(tmp_path / "results")
    assert record["error"].startswith("ValueError: plug-in mine.py was changed during the run")


def test_newcomers_are_declared_for_the_estimator_of_their_kind():
    declared = [(kind, model) for e in experiments.EXPERIMENTS for kind, model in e.newcomers.items()]
    assert {kind for kind, _ in declared} >= {"kernel-svm", "linear-svm", "roc-svm"}
    for kind, model in declared:
        assert model.estimator.endswith(f":{KINDS[kind].estimator}"), model
