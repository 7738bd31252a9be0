"""The loop of a fit: steps, the clock, validation at fixed steps, the states to keep, the rules to stop by."""

import copy
from dataclasses import dataclass, field

import numpy as np
import torch

from kernbench._interrupts import deferred_interrupt
from kernbench.deep.trainer.examples import reference_tensor, scores_of
from kernbench.deep.trainer.methods import Diverged
from kernbench.metrics import partial_auc
from kernbench.solvers.progress import progress_bar
from kernbench.solvers.tracing import Callbacks, Clock, Trace

COLUMNS = ("n_iter", "epoch", "seconds", "learning_rate", "loss", "validation_partial_auc")


@dataclass
class Run:
    """All that changes in the course of a fit; a checkpoint holds it.

    Attributes
    ----------
    method : Method
        Module, optimiser and batches; one step at a time.
    validation : Examples or None
    fpr_range : (float, float)
    n_iter : int
        Steps done.
    clock : Clock
        Runs during steps only.
    trace : Trace
    last : dict of str to Tensor
        The state of the module at the last evaluation with finite scores.
    best : dict of str to Tensor, or None
        The state of the largest validation score after the first step, the last one if several have it.
    best_score : float or None
    best_n_iter : int
    losses : list of float
        The losses of the batches since the last evaluation.
    """

    method: object
    validation: object
    fpr_range: tuple
    n_iter: int = 0
    clock: Clock = field(default_factory=Clock)
    trace: Trace = field(default_factory=lambda: Trace(*COLUMNS))
    last: dict | None = None
    best: dict | None = None
    best_score: float | None = None
    best_n_iter: int = 0
    losses: list = field(default_factory=list)

    def evaluate(self, ask=None):
        """Evaluate the module, add a point to the trace, keep its state; return whether a callback ends the run.

        The random state of the training is not touched: the number of evaluations does not change its path.

        Parameters
        ----------
        ask : Callbacks, optional
            Called with the module, with the weights that are evaluated.

        Raises
        ------
        Diverged
            If a parameter or a score is not finite.
        """
        score, stop, columns = None, False, {}
        device = reference_tensor(self.method.module).device
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices), self.method.judged_weights() as module:
            if self.validation is not None:
                scores = scores_of(module, self.validation)
                if not np.isfinite(scores).all():
                    raise Diverged
                score = float(partial_auc(self.validation.y, scores, self.fpr_range))
            elif not all(torch.isfinite(tensor).all() for tensor in module.parameters()):
                raise Diverged
            self.last = state_of(module)
            # The first weights are the best only until there are trained ones: a few examples may flatter them. The
            # later of equal scores counts: few validation examples are ranked without a fault long before others are.
            if score is not None and (self.best_n_iter == 0 or score >= self.best_score):
                self.best, self.best_score, self.best_n_iter = self.last, score, self.n_iter
            if ask is not None:
                module.eval()  # for callbacks that call it themselves
                stop, columns = ask(module)
                module.train()
        row = {
            "n_iter": self.n_iter,
            "epoch": self.n_iter / self.method.steps_per_epoch,
            "seconds": self.clock.seconds,
            "learning_rate": self.method.learning_rate,
            "loss": float(np.mean(self.losses)) if self.losses else None,
            "validation_partial_auc": score,
        }
        self.trace.add({**row, **columns})
        self.losses = []
        return stop


@dataclass(frozen=True)
class Limits:
    """When a fit ends, and when the module is evaluated.

    Attributes
    ----------
    max_iter, look_every : int
        In steps.
    patience : int or None
        Evaluations without a better validation score.
    max_seconds : float or None
    """

    max_iter: int
    look_every: int
    patience: int | None = None
    max_seconds: float | None = None


def advance(run, limits, *, callback=None, snapshot=None, checkpoint=None, progress=False):
    """Take steps until a limit is reached; return the status.

    Parameters
    ----------
    run : Run
    limits : Limits
    callback : callable or list of callables, optional
        As in :func:`kernbench.solvers.driver.run`; called at each evaluation with ``snapshot(module)``.
    snapshot : callable, optional
    checkpoint : callable, optional
        Called without arguments when the state may be written: after each evaluation at a fixed step, and after Ctrl-C.
    progress : bool or str, default=False

    Returns
    -------
    str
        ``"finished"`` (all epochs), ``"early_stopping"``, ``"max_seconds"``, ``"callback"``, ``"interrupted"`` or
        ``"diverged"``.
    """
    ask = None if callback is None else Callbacks(callback, snapshot)
    save = checkpoint or (lambda: None)
    status = None
    with deferred_interrupt() as interrupt, progress_bar(progress, limits.max_iter) as bar:

        def evaluate():
            stop = run.evaluate(ask)
            loss = run.trace.columns["loss"][-1]
            if loss is not None:
                bar.update(run.n_iter, loss)
            if ask is not None and ask.interrupted:
                interrupt.asked = True
                return None
            return "callback" if stop else None

        def exhausted():
            if limits.patience is None or run.best_score is None:
                return False
            looks = zip(run.trace.columns["n_iter"], run.trace.columns["validation_partial_auc"])
            reached = next((n_iter for n_iter, score in looks if n_iter and score == run.best_score), 0)
            return run.n_iter - reached >= limits.patience * limits.look_every

        try:
            if not run.trace.columns["n_iter"]:
                status = evaluate()
            while status is None:
                if interrupt.asked:
                    status = "interrupted"
                elif run.n_iter >= limits.max_iter:
                    status = "finished"
                elif run.n_iter % limits.look_every == 0 and exhausted():
                    status = "early_stopping"
                elif limits.max_seconds is not None and run.clock.seconds >= limits.max_seconds:
                    status = "max_seconds"
                else:
                    with run.clock:
                        run.losses.append(run.method.step())
                    run.n_iter += 1
                    bar.tick(run.n_iter)
                    if run.n_iter % limits.look_every == 0:
                        status = evaluate()
                        save()
            if run.n_iter != run.trace.columns["n_iter"][-1]:
                # Off the schedule: not in the checkpoint, whose continuation must not depend on where it was stopped.
                save()
                evaluate()
        except Diverged:
            status = "diverged"
        except KeyboardInterrupt:  # pressed twice: the current step or evaluation is lost
            status = "interrupted"
    return status


def state_of(module):
    """A copy of a module's parameters and buffers, on the CPU."""
    return {name: tensor.detach().to("cpu", copy=True) for name, tensor in copy.copy(module.state_dict()).items()}
