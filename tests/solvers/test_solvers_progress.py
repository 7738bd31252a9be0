"""The progress bar: what it shows, and that silence is silent."""

import pytest

from kernbench.solvers import progress
from kernbench.solvers.base import Solution
from kernbench.solvers.driver import run
from kernbench.solvers.method import Method
from kernbench.solvers.progress import progress_bar


class Halving(Method):
    """A solver whose objective halves with each iteration."""

    first_check = None

    def __init__(self):
        self.n_iter = 0

    def advance(self, n_iter):
        self.n_iter += n_iter
        return n_iter

    def solution(self):
        return Solution(None)

    def objective(self):
        return 0.5**self.n_iter

    def gap(self):
        return None


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def output(capsys):
    """A function that tells what was written since the last call, to either stream."""
    return lambda: "".join(capsys.readouterr())


def test_no_progress_shows_nothing(output):
    run(Halving(), max_iter=5)
    with progress_bar(False, 10) as bar:
        bar.update(1, 0.5)
        bar.tick(2)
    assert output() == ""


def test_bar_shows_title_iterations_and_objective(output):
    run(Halving(), max_iter=5, progress="smo, class 2")
    shown = output()
    assert "smo, class 2" in shown and "5/5" in shown and "objective 0.03125" in shown


def test_bar_without_a_title_or_an_end(output):
    run(Halving(), max_iter=5, progress=True)
    assert "fit" in output()
    with progress_bar(True, None) as bar:
        bar.update(3, 0.125)
    shown = output()
    assert "3/?" in shown and "objective 0.125" in shown


def test_ticks_between_two_objectives_move_the_bar_but_not_too_often(monkeypatch, output):
    now = 1000.0
    monkeypatch.setattr(progress, "perf_counter", lambda: now)
    with progress_bar("fit", 100) as bar:
        bar.update(1, 0.25)
        now += 1.0
        bar.tick(40)
        bar.tick(50)  # at the same moment: left out
    shown = output()
    assert "40/100" in shown and "objective 0.25" in shown


def test_bar_is_closed_when_the_run_fails(output):
    with pytest.raises(ZeroDivisionError):
        run(Halving(), max_iter=5, progress="first", callback=lambda solver: 1 / 0)
    run(Halving(), max_iter=5, progress="second")  # a bar left open would not let another one start
    assert "second" in output()


def test_bar_survives_ctrl_c(output):
    class Interrupted(Halving):
        def advance(self, n_iter):
            super().advance(n_iter)
            if self.n_iter >= 2:
                raise KeyboardInterrupt
            return n_iter

    result = run(Interrupted(), max_iter=1000, progress=True)
    assert result.status == "interrupted"
    assert f"{result.n_iter}/1000" in output()
