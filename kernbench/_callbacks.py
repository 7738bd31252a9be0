"""scikit-learn's callbacks, from its version 1.9 on: a fit as a tree of tasks.

::

    fit, or path            the root; its children are the runs, or, of a single run, the iterations themselves
      |-- a run             one problem (two classes, one output) for one strength of a path
      |     '-- iterations  those between two points of the trace
      |-- fold, refit       of a cross-validation: roots of the fits inside
      '-- cell, refit       of a search: a cell is reported when it is finished; the refit has runs

`CallbackSupport` is the mixin of all estimators; it opens a report around ``fit`` and ``path``. The runs find it by
`current_report`, and estimators need no code of their own. Without callbacks the report is `SILENT`.
"""

import inspect
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from importlib.util import find_spec
from threading import RLock
from typing import Any, Self

HAS_CALLBACKS = find_spec("sklearn.callback") is not None  # imported when first used: it loads rich
REPORTED = ("fit", "path")


class CallbackSupport:
    """Mixin of estimators that take part in scikit-learn's callbacks, where it has them."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        for name in REPORTED if HAS_CALLBACKS else ():
            if name in vars(cls):
                setattr(cls, name, _reported(vars(cls)[name]))

    if HAS_CALLBACKS:

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set scikit-learn's callbacks of the estimator; none removes them.

            Parameters
            ----------
            *callbacks : instances of classes such as ``sklearn.callback.ProgressBar``

            Returns
            -------
            self
            """
            from sklearn.callback import CallbackSupportMixin

            return CallbackSupportMixin.set_callbacks(self, *callbacks)

        def _init_callback_context(self, **options):
            from sklearn.callback import CallbackSupportMixin

            return CallbackSupportMixin._init_callback_context(self, **options)


class Report:
    """What a fit tells its callbacks.

    The root task begins when the number of runs is known, after the checks of arguments.

    Parameters
    ----------
    model : estimator
        Has callbacks.
    task_name : str
    X, y : array-like, optional
        As given to the method.
    sample_weight : array-like, optional
    """

    def __init__(self, model, task_name, X=None, y=None, sample_weight=None):
        self.model, self._task_name, self.root = model, task_name, None
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self._examples = {"estimator": model, "X": X, "y": y, "metadata": metadata}
        self._lock = RLock()  # runs in several threads report one after the other

    def begin(self, n_tasks=1, *, in_order=True):
        """Begin the root task.

        Parameters
        ----------
        n_tasks : int, default=1
            Number of runs or folds; a single run is the root task itself, and 0 stands for a fit without iterations.
        in_order : bool, default=True
            Whether they begin one after the other.
        """
        self._is_split = n_tasks > 1
        # None: how many iterations it takes to converge is not known in advance.
        count = None if n_tasks == 1 else n_tasks
        self.root = self.model._init_callback_context(
            task_name=self._task_name, max_subtasks=count, sequential_subtasks=in_order
        )
        self.root.call_on_fit_task_begin(**self._examples)

    def end(self, attributes):
        """End the root task; `attributes` are those that callbacks need for a fitted copy of the model, or None."""
        if self.root is None:
            self.begin(0)
        self.root.call_on_fit_task_end(**self._examples, reconstruction_attributes=attributes)

    @contextmanager
    def run(self, number=0, name="run"):
        """Report a run; yield the driver's callbacks for it."""
        with self._lock:
            if self.root is None:
                self.begin()
            task = self.subtask(number, name, None) if self._is_split else self.root
            if self._is_split:
                task.call_on_fit_task_begin(**self._examples)
        iterations = _Iterations(task, self._examples, self._lock)
        yield (iterations,)
        with self._lock:
            iterations.end()
            if self._is_split:
                task.call_on_fit_task_end(**self._examples)

    def subtask(self, number, name, max_subtasks=0):
        """Return the context of a part of the root task; a leaf may hold the fit of another estimator."""
        task_id = None if self.root.sequential_subtasks else number
        return self.root.subcontext(task_name=name, task_id=task_id, max_subtasks=max_subtasks)

    def part_done(self, number, name):
        """Report a part of the root task that is over, such as a cell of a search.

        Returns
        -------
        bool
            Whether a callback asks to stop.
        """
        with self._lock:
            task = self.subtask(number, name)
            task.call_on_fit_task_begin(**self._examples)
            return bool(task.call_on_fit_task_end(**self._examples))

    @contextmanager
    def part(self, number, name):
        """Report the runs inside as a part of the root task."""
        part = _Part(self, number, name)
        token = _current.set(part)
        try:
            yield
            part.end(None)
        finally:
            _current.reset(token)


class _Part(Report):
    """The report of a part of a fit that has runs of its own, such as the last fit of a search."""

    def __init__(self, whole, number, name):
        self.model, self._examples, self._lock = whole.model, whole._examples, whole._lock
        self._whole, self._number, self._task_name, self.root = whole, number, name, None

    def begin(self, n_tasks=1, *, in_order=True):
        self._is_split = n_tasks > 1
        above = self._whole.root
        self.root = above.subcontext(
            task_name=self._task_name,
            task_id=None if above.sequential_subtasks else self._number,
            max_subtasks=None if n_tasks == 1 else n_tasks,
            sequential_subtasks=in_order,
        )
        self.root.call_on_fit_task_begin(**self._examples)


class _Silent:
    """The report of a fit without callbacks."""

    def begin(self, n_tasks=1, *, in_order=True):
        pass

    @contextmanager
    def run(self, number=0, name="run"):
        yield ()

    def subtask(self, number, name, max_subtasks=0):
        return None

    def part_done(self, number, name):
        return False

    @contextmanager
    def part(self, number, name):
        yield


SILENT = _Silent()
_current = ContextVar("report of the fit that is under way", default=SILENT)


def current_report():
    """Return the report of the innermost fit of this thread."""
    return _current.get()


@contextmanager
def silent():
    """Report nothing of the fits inside."""
    token = _current.set(SILENT)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def nested(task, caller, model):
    """Report the fits of `model` inside as the task of a context from `Report.subtask`; None reports nothing.

    Contexts can be pickled, so that the fit may be in another process.
    """
    if task is None:
        yield
        return
    with task.propagate_callback_context(model):
        task.call_on_fit_task_begin(estimator=caller)
        yield
        task.call_on_fit_task_end(estimator=caller)


class _Iterations:
    """A callback of the driver: at each point of the trace it ends a task and begins the next."""

    def __init__(self, parent, examples, lock):
        self._parent, self._examples, self._lock, self._task = parent, examples, lock, None

    def __call__(self, fitted):
        """Return whether a callback asks to stop the run."""
        attributes = vars(fitted)
        with self._lock:
            stop = self._task is not None and self._end(attributes)
            self._task = self._parent.subcontext(task_name="iterations")
            self._task.call_on_fit_task_begin(**self._examples, reconstruction_attributes=attributes)
        return stop

    def end(self):
        """End the task that began at the last point, after which there are no more iterations."""
        if self._task is not None:
            self._end(None)

    def _end(self, attributes):
        return self._task.call_on_fit_task_end(**self._examples, reconstruction_attributes=attributes)


def _reported(method):
    """Return a method that opens a report for estimators with callbacks."""
    signature = inspect.signature(method)

    @wraps(method)
    def reported(self, *args, **kwargs):
        around = _current.get()
        if around is not SILENT and around.model is self:  # a method of a base class, called by this one's
            return method(self, *args, **kwargs)
        if not getattr(self, "_skl_callbacks", None):
            if around is SILENT:
                return method(self, *args, **kwargs)
            report = SILENT  # another estimator's fit encloses this one
        else:
            given = signature.bind(self, *args, **kwargs).arguments
            report = Report(self, method.__name__, *(given.get(name) for name in ("X", "y", "sample_weight")))
        token = _current.set(report)
        try:
            if report is SILENT:
                return method(self, *args, **kwargs)
            from sklearn.callback import with_callbacks

            return with_callbacks(complete)(self, report, args, kwargs)
        finally:
            _current.reset(token)

    def complete(self, report, args, kwargs):
        result = method(self, *args, **kwargs)
        report.end({} if result is self else None)  # models of a path are others
        return result

    return reported
