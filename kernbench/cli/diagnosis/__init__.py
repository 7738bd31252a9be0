"""The checks of ``kernbench doctor``: each is a function that returns or yields findings.

::

    finding.py         Finding: what was found, and the remedy
    installation.py    Python, packages, compiled modules, compiler, OpenMP, SIMD, BLAS
    machine.py         cores, memory, disk
    surroundings.py    peers, data, asv, Dask, records
"""

import tempfile
from dataclasses import asdict
from pathlib import Path

from kernbench.cli.diagnosis import installation, machine, surroundings
from kernbench.cli.diagnosis.finding import BROKEN, Finding


def examine(results):
    """Return all findings; an examination that fails is a finding too.

    Parameters
    ----------
    results : Path
        Folder of the records.
    """
    examinations = (
        installation.python,
        installation.packages,
        installation.compiled_modules,
        installation.compiler,
        installation.openmp,
        installation.simd,
        installation.blas,
        machine.cores,
        machine.memory,
        surroundings.peers,
        surroundings.data_sets,
        surroundings.asv,
        surroundings.dask,
        lambda: surroundings.store(results),
        lambda: machine.room("results", results),
        lambda: machine.room("temporary files", Path(tempfile.gettempdir())),
    )
    findings = []
    for examination in examinations:
        try:
            findings += examination()
        except Exception as error:
            name = examination.__name__.replace("_", " ").strip("<>")
            findings.append(Finding(name, BROKEN, f"{type(error).__name__}: {error}", "please report this"))
    return findings


def as_data(findings):
    """The findings for ``--json``."""
    return {"ok": not any(f.status == BROKEN for f in findings), "findings": [asdict(f) for f in findings]}
