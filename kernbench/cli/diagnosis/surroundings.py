"""What experiments work with: peers, data, records, and the programs that run them elsewhere."""

import os
import shlex
import shutil
from importlib.util import find_spec

from kernbench.cli.diagnosis.finding import BROKEN, LACK, OK, Finding, install, version


def peers():
    """The peers that experiments compare with, each a finding."""
    from kernbench.experiments import registry

    wanted = {m.requires: m.package or m.requires for e in registry.EXPERIMENTS for m in e.methods if m.requires}
    yield Finding("peer scikit-learn", OK, version("scikit-learn"))
    for module, package in sorted(wanted.items()):
        if find_spec(module) is None:
            yield Finding(f"peer {package}", LACK, "not installed: a named gap in the report", install(package))
        else:
            yield Finding(f"peer {package}", OK, version(package) or "installed")


def data_sets():
    """Which data sets are here."""
    from kernbench.datasets import available, cache_folder
    from kernbench.datasets.files.folders import search_folders

    known, here = available(), set(available(offline=True))
    missing = [name for name in known if name not in here]
    folder = os.environ.get("KERNBENCH_DATA")
    where = f"KERNBENCH_DATA={folder}" if folder else f"KERNBENCH_DATA is not set, the cache is {cache_folder()}"
    if folder and not search_folders()[0].is_dir():
        return [Finding("data", BROKEN, f"{where}: there is no such folder", "set KERNBENCH_DATA to a folder")]
    found = f"{len(here)} of {len(known)} data sets ({where})"
    if not missing:
        return [Finding("data", OK, found)]
    remedy = f"kernbench data fetch NAME (it downloads, or says what to do), for: {', '.join(missing)}"
    remedy += "; the quick scale needs none"
    return [Finding("data", LACK, found, remedy)]


def asv():
    """airspeed velocity, for benchmarks over commits."""
    if find_spec("asv") is None:
        return [Finding("asv", LACK, "not installed: no benchmarks over commits", install("asv", "virtualenv"))]
    remedies = {} if find_spec("virtualenv") else {"virtualenv": install("virtualenv")}
    if shutil.which("git") is None:
        remedies["git"] = "install git, which is no Python package"
    if remedies:
        return [Finding("asv", LACK, f"asv {version('asv')} lacks {', '.join(remedies)}", "; ".join(remedies.values()))]
    return [Finding("asv", OK, f"{version('asv')}; see asv_bench/README.md")]


def dask():
    """Dask, for experiments on several machines."""
    if find_spec("dask") is None or find_spec("distributed") is None:
        remedy = install("'dask[array,dataframe]'", "distributed")  # as kernbench[dask] has them
        return [Finding("Dask", LACK, "not installed: one machine only", remedy)]
    return [Finding("Dask", OK, f"dask {version('dask')}, distributed {version('distributed')}")]


def store(folder):
    """The records."""
    from kernbench.experiments.run.storing.schema import UPDATE
    from kernbench.experiments.run.storing.store import Store, skipped_lines
    from kernbench.report import text

    with skipped_lines() as skipped:
        try:
            if not folder.exists():
                return [Finding("store", OK, f"no folder {folder} yet")]
            opened = Store(folder)
            records = opened.records()
            for name in opened.experiments():
                opened.check_writable(name)
        except (ValueError, OSError) as error:
            return [Finding("store", BROKEN, str(error), "give another folder: --results FOLDER")]
    n_experiments = len({record["experiment"] for record in records})
    found = f"{text.plural(len(records), 'record')} of {text.plural(n_experiments, 'experiment')} in {folder}"
    later = [note for note in skipped if note.endswith(UPDATE)]
    if later:
        return [Finding("store", BROKEN, f"{found}; {later[0]}", "or give another folder: --results FOLDER")]
    if skipped:
        are = "is not a record" if len(skipped) == 1 else "are not records"
        words = f"{found}; {text.plural(len(skipped), 'line')} {are}: {skipped[0]}"
        remedy = f"kernbench results clean --results {shlex.quote(str(folder))} (keeps a copy)"
        return [Finding("store", LACK, words, remedy)]
    return [Finding("store", OK, found)]
