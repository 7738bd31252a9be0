"""The records of the checked-in report, as the pages quote them."""

import json
import lzma
from collections import defaultdict
from pathlib import Path
from statistics import median

from kernbench.report.records.cells import run_of
from kernbench.report.text import listed

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "reports" / "records.jsonl.xz"


class Records:
    """The successful records of a file, by experiment, data set and method.

    Parameters
    ----------
    path : Path
        As ``kernbench report --compact`` writes it.
    """

    def __init__(self, path=RECORDS):
        self._found = defaultdict(dict)
        for record in map(json.loads, lzma.decompress(path.read_bytes()).splitlines()):
            if record["status"] == "ok" and record["scale"] == "paper":
                place = record["experiment"], record["dataset"], record["method"]
                self._found[place][record["repeat"]] = record

    def of(self, experiment, dataset, method):
        """The records of a cell by the number of the repeat."""
        return self._found.get((experiment, dataset, method), {})

    def values(self, *place, metric):
        """A metric of a cell by the number of the repeat."""
        return {k: r["metrics"][metric] for k, r in self.of(*place).items()}

    def seconds(self, *place, clock="fit"):
        """The median of a time; None without records."""
        found = [record["seconds"][clock] for record in self.of(*place).values()]
        return median(found) if found else None

    def speed_up(self, experiment, dataset, slow, fast):
        """How many times as long one method's fits take as another's: the median over the repeats that both have.

        As in the report: repeats on one set-up, since one method alone may have been measured at another time, or on
        another machine. None without any.
        """
        slower, faster = (
            {run_of(record): record["seconds"]["fit"] for record in self.of(experiment, dataset, method).values()}
            for method in (slow, fast)
        )
        found = [slower[run] / faster[run] for run in slower.keys() & faster.keys()]
        return median(found) if found else None

    def machine(self, *places):
        """The processors, the threads and, if there are several, the commits of the cells that a text shows, in words.

        Parameters
        ----------
        *places : tuple of (experiment, data set, method)
            Those without records count for nothing.
        """
        environments = [record["environment"] for place in places for record in self.of(*place).values()]
        names = {e["processor"].replace("(R)", "") for e in environments}
        processors = sorted({name.replace(" Processor (", " (").removesuffix(" Processor") for name in names})
        kernels = sorted({e["blas"].split()[-1] for e in environments})  # which code OpenBLAS chose for the processor
        threads = sorted({e["n_threads"] for e in environments})
        commits = {environment["git_commit"] for environment in environments}
        mixed = f", measured at {len(commits)} commits" if len(commits) > 1 else ""
        blas = f"OpenBLAS kernels {' or '.join(kernels)}"
        count = f"{' or '.join(map(str, threads))} thread{'s' if threads != [1] else ''}"
        return f"{listed(processors)}, {blas}, {count}{mixed}"
