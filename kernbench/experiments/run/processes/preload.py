"""The imports of the fork server, needed by most cells. Nothing else may import this module.

The first cell waits for them: what few cells need (scikit-learn's own models, a tenth of a second) they import
themselves, before they are timed.
"""

import gc
import os
import signal
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module

from kernbench._models import ESTIMATORS
from kernbench.experiments.run.processes.launching import THREAD_VARIABLES

MODULES = (
    "scipy.linalg",
    "kernbench.datasets",
    *sorted({model.address.partition(":")[0] for model in ESTIMATORS}),
    "kernbench.experiments.measure.race",
    "kernbench.experiments.run.cells",
    "kernbench.experiments.run.processes.worker",
    "kernbench.features",
    "kernbench.kernels",
)

# A BLAS starts its threads when it is loaded, and threads do not survive a fork. Cells raise the limit again.
os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
gc.disable()  # until everything is loaded: there is no garbage
with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
    for name in MODULES:
        with suppress(Exception):  # a cell that needs the module will raise it again
            import_module(name)
gc.freeze()  # a collection in a fork would copy every page it visits
gc.enable()
# The server was started with SIGINT blocked, and ignores it from now on; programs it is shared with do not.
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
signal.signal(signal.SIGINT, signal.default_int_handler)
