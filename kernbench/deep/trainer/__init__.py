"""The trainer: a network that ranks, fitted in one line, with scikit-learn's conventions.

::

    classifier.py    DeepPartialAUCClassifier: parameters, fit, prediction
    parameters.py    their checks
    fitting.py       a fit from its arguments to the fitted model
    examples.py      arrays and datasets, fetched by index
    methods.py       the four methods: batches, loss, optimiser, one step
    batches.py       batches whose state a checkpoint holds
    loop.py          steps, evaluations, states to keep, stopping rules
    checkpoints.py   the state of a fit in a file
    model_files.py   fitted models in files
    states.py        files of tensors and plain data
"""

from kernbench.deep.trainer.classifier import DeepPartialAUCClassifier

__all__ = ["DeepPartialAUCClassifier"]
