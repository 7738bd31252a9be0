"""Values and slopes of the losses of an output for a batch of examples, compiled: see kernbench.losses.output."""

from kernbench.losses._output cimport KB_OUTPUT_SOFTMAX, output_slope, output_value, softmax_slopes

import numpy as np


def values_and_slopes(loss, const double[:, ::1] outputs, y):
    """Return the loss of each example, and its derivatives with respect to the outputs.

    Parameters
    ----------
    loss : OutputLoss
    outputs : ndarray of shape (n, n_outputs)
    y : ndarray of shape (n,) or (n, n_outputs), or None
        None for losses without labels.

    Returns
    -------
    values : ndarray of shape (n,)
    slopes : ndarray of shape (n, n_outputs)
    """
    cdef:
        Py_ssize_t n = outputs.shape[0], n_outputs = outputs.shape[1], i, c, wide
        int code = loss.code
        double p = loss.parameter, label
        double[::1] value = np.zeros(n)
        double[:, ::1] slope = np.empty((n, n_outputs))
        const double[:, ::1] labels
    labels = np.zeros((n, 1)) if y is None else np.ascontiguousarray(y, dtype=np.float64).reshape(n, -1)
    wide = labels.shape[1] > 1
    if wide and labels.shape[1] != n_outputs:
        raise ValueError(f"{labels.shape[1]} columns of labels for {n_outputs} outputs")
    if code == KB_OUTPUT_SOFTMAX and n and not (0 <= np.min(labels) and np.max(labels) < n_outputs):
        raise ValueError(f"labels of softmax must be whole numbers from 0 to {n_outputs - 1}")
    with nogil:
        for i in range(n):
            if code == KB_OUTPUT_SOFTMAX:
                value[i] = softmax_slopes(&outputs[i, 0], n_outputs, <Py_ssize_t> labels[i, 0], &slope[i, 0])
                continue
            for c in range(n_outputs):
                label = labels[i, c * wide]
                value[i] += output_value(code, p, outputs[i, c], label)
                slope[i, c] = output_slope(code, p, outputs[i, c], label)
    return np.asarray(value), np.asarray(slope)
