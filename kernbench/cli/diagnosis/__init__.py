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
    examinations = {
        "Python": installation.python,
        "packages": installation.packages,
        "compiled modules": installation.compiled_modules,
        "compiler": installation.compiler,
        "OpenMP": installation.openmp,
        "SIMD": installation.simd,
        "BLAS": installation.blas,
        "cores": machine.cores,
        "memory": machine.memory,
        "peers": surroundings.peers,
        "data": surroundings.data_sets,
        "asv": surroundings.asv,
        "Dask": surroundings.dask,
        "store": lambda: surroundings.store(results),
        "disk: results": lambda: machine.room("results", results),
        "disk: temporary files": lambda: machine.room("temporary files", Path(tempfile.gettempdir())),
    }
    findings = []
    for what, examination in examinations.items():
        try:
            findings += examination()
        except Exception as error:
            findings.append(Finding(what, BROKEN, f"{type(error).__name__}: {error}", "please report this"))
    return findings


def as_data(findings):
    """The findings for ``--json``."""
    return {"ok": not any(f.status == BROKEN for f in findings), "findings": [asdict(f) for f in findings]}
