"""Methods for all ways in which a cell can end; imported by the child processes of the tests."""

import os
import signal
import time
from dataclasses import dataclass, replace

import numpy as np

from kernbench.experiments.measure.record import result
from kernbench.kernels.threads import n_openmp_threads


@dataclass(frozen=True)
class Data:
    name: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    kind: str = "generated"
    description: str = "a line with a step"
    checksum: str = "abc"


def load(n=20):
    X = np.linspace(-1, 1, n)[:, None]
    y = np.where(X[:, 0] > 0, 1, -1)
    return Data("step", X, y, X, y, checksum=f"step-{n}")


def load_nothing():
    raise OSError("step.csv is not there; place it in the data folder")


def load_from_a_folder_in_another_encoding():
    raise OSError("caf\udce9/step.csv:\nnot there")


def load_without_text():
    return replace(load(), checksum=12)


class Sign:
    """Predicts the sign; writes a line to a file for each fit, so that tests can count them."""

    def __init__(self, log=None, seconds=0.0, max_seconds=None, **params):
        self.log, self.seconds, self.max_seconds, self.params = log, seconds, max_seconds, params

    def fit(self, X, y):
        if self.log is not None:
            with open(self.log, "a") as file:
                file.write(f"{os.getpid()} {len(y)} {sorted(set(y.tolist()))}\n")
        time.sleep(self.seconds)
        self.before_end()
        return self

    def before_end(self):
        pass

    def predict(self, X):
        return np.where(X[:, 0] > 0, 1, -1)


class Raises(Sign):
    def before_end(self):
        raise ArithmeticError("the step is\ntoo high")


class Diverges(Sign):
    def predict(self, X):
        self.worst = np.float64("inf")
        return super().predict(X)


class Hangs(Sign):
    def before_end(self):
        time.sleep(600)


class Hogs(Sign):
    def before_end(self):
        self.kept = []
        for _ in range(400):
            self.kept.append(np.ones(2**20))  # 8 MB, touched
            time.sleep(0.01)


class Grows(Sign):
    def before_end(self):
        self.kept = [np.ones(2**20) for _ in range(20)]  # 160 MB


class LacksMemory(Sign):
    def before_end(self):
        np.ones(2**55)


class KillsItself(Sign):
    def before_end(self):
        print("about to go", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


class Leaves(Sign):
    def before_end(self):
        os._exit(7)


def evaluate(fit):
    return {
        "test_error": float(np.mean(fit.predictions != fit.data.y_test)),
        "worst": getattr(fit.model, "worst", None),
        "threads": int(os.environ["OMP_NUM_THREADS"]),
        "openmp_threads": n_openmp_threads(),
        "variable": os.environ.get("A_VARIABLE"),
        "budget": fit.model.max_seconds,
    }


def measured(cell):
    """A measurement that is not a race."""
    return result(
        load(), {"value": cell.params["value"], "nothing": float("nan")}, trace={"x": [1, 2], "y": [0.5, 0.25]}
    )


def measured_twice(cell):
    return result(load(), {"value": 6})


def measured_as_a_list(cell):
    return result(load(), {}) | {"metrics": [6]}


def measured_without_times(cell):
    return result(load(), {}) | {"seconds": None}
