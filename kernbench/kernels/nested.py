"""The parameters of a kernel object as parameters of the estimator that has it."""

from dataclasses import fields, replace
from typing import Any, Self

from sklearn.base import BaseEstimator

from kernbench._names import unknown_name
from kernbench.kernels.base import Kernel

PREFIX = "kernel__"


class NestedKernel(BaseEstimator):
    """Base of estimators and transformers: with a kernel object, ``kernel__sigma`` and so on are parameters, too.

    Kernel objects do not change, so that models may share them: setting a parameter replaces the object by another one.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Include those of a kernel object, such as ``kernel__sigma``, and of estimators that are parameters.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=deep)
        kernel = params.get("kernel")
        if deep and isinstance(kernel, Kernel):
            params |= {PREFIX + field.name: getattr(kernel, field.name) for field in fields(kernel)}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : dict
            Those of a kernel object are called ``kernel__sigma`` and so on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For an unknown name, or a value that the kernel cannot have.
        """
        own = {name.removeprefix(PREFIX): value for name, value in params.items() if name.startswith(PREFIX)}
        if own and hasattr(self, "kernel"):
            kernel = params.get("kernel", self.kernel)
            if not hasattr(kernel, "set_params"):  # as a function that is a kernel of scikit-learn has
                params = {name: value for name, value in params.items() if not name.startswith(PREFIX)}
                params["kernel"] = _replaced(kernel, own)
        return super().set_params(**params)


def _replaced(kernel, parameters):
    """Return a kernel object with other values of these parameters."""
    first = next(iter(parameters))
    if not isinstance(kernel, Kernel):
        raise ValueError(
            f"{PREFIX}{first} is a parameter of a kernel object, but kernel={kernel!r}: set gamma, degree or coef0, or "
            "pass an object of kernbench.kernels"
        )
    known = [field.name for field in fields(kernel)]
    for name in parameters:
        if name not in known:
            raise ValueError(unknown_name(f"parameter of {type(kernel).__name__}", name, known))
    return replace(kernel, **parameters)
