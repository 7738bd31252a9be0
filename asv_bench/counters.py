"""The gate of CI: counters of the quick suite against those checked in, exactly. Seconds are never compared.

::

    python asv_bench/counters.py check results               # exit code 1 if a counter differs or is missing
    python asv_bench/counters.py renew results [results …]   # write counters.json: what all these records agree on

Counters are the metrics that experiments declare deterministic, as far as they are whole numbers and of kernbench's own
estimators: kernel evaluations, iterations, feature values, support vectors, passes. Methods that a clock stops are left
out, and records of other code than the kernbench that is installed do not count.

Rounding differs between processors and BLAS libraries, and a solver that runs to a tolerance may take one step more or
less for it. So the file holds only counters that several records agree on, made by other kernels of the BLAS each, and
of a method only those that agree on every data set::

    for core in Haswell Prescott SkylakeX Sandybridge; do
        OPENBLAS_CORETYPE=$core kernbench run --results results-$core
    done
    python asv_bench/counters.py renew results-*

A cell that failed in one of the folders is no sign of rounding: ``renew`` names it, and writes nothing.
``renew --experiment NAME results-*`` replaces the counters of one experiment, of which alone there need be records.
"""

import argparse
import json
import sys
from pathlib import Path

from kernbench.experiments.registry import EXPERIMENTS
from kernbench.experiments.run import Store
from kernbench.experiments.run.code import shared_digest

BASELINE = Path(__file__).with_name("counters.json")


def counters_of(folder):
    """The counters of a folder of records at quick scale, made by the code that is installed.

    Returns
    -------
    dict of str to dict of str to int
        By ``"experiment/dataset/method/repeat"``, then by metric; of a cell without counters an empty one. Of several
        records of a cell, the last one's.
    """
    found, code = {}, shared_digest()
    for experiment in EXPERIMENTS:
        own = {method.name for method in experiment.methods if _is_own(method)}
        metrics = [metric for metric in experiment.metrics if metric.deterministic]
        for record in Store(folder).records(experiment.name):
            is_of_this_code = record["environment"].get("code") == code
            is_success = record["scale"] == "quick" and record["status"] == "ok"
            if is_of_this_code and is_success and record["method"] in own:
                name = "/".join(str(record[part]) for part in ("experiment", "dataset", "method", "repeat"))
                values = {metric.name: metric.of(record) for metric in metrics}
                found[name] = {
                    metric: int(value) for metric, value in values.items() if value is not None and value.is_integer()
                }
    return found


def _is_own(method):
    """Whether kernbench's own code does the work, and no clock ends it."""
    is_own = method.estimator.startswith("kernbench.estimators") and method.requires is None
    return is_own and method.depends_on is None


def agreed(stores):
    """The counters of which all cells are in all of `stores`, with equal values.

    Where a counter of a method depends on rounding on one data set, it may on every other with another processor: it is
    left out in all experiments.
    """
    doubtful = {
        (_method(name), metric)
        for name in {name for store in stores for name in store}
        for metric in {metric for store in stores for metric in store.get(name, {})}
        if len({store.get(name, {}).get(metric) for store in stores}) > 1
    }
    kept = {
        name: {metric: value for metric, value in values.items() if (_method(name), metric) not in doubtful}
        for name, values in stores[0].items()
    }
    return {name: values for name, values in kept.items() if values}


def _experiment(name):
    return name.split("/")[0]


def _method(name):
    return name.split("/")[2]


def differences(baseline, found):
    """What is wrong, one sentence for each counter that differs and each cell that is missing."""
    for name, values in baseline.items():
        if name not in found:
            yield f"{name}: no successful record"
            continue
        for metric, value in values.items():
            now = found[name].get(metric)
            if now != value:
                change = "is missing" if now is None else f"{value:,} -> {now:,}"
                yield f"{name}: {metric} {change}"


def unequal(stores, experiment=None):
    """Cells, of one experiment or of all, that some of `stores` have and others lack: a fit has failed there."""
    cells = [{name for name in store if experiment in (None, _experiment(name))} for store in stores]
    return sorted(set.union(*cells) - set.intersection(*cells))


def renew(stores, path=BASELINE, experiment=None):
    """Write the counters that all of `stores` agree on; with `experiment`, its own in place of those in the file."""
    kept = agreed(stores)
    if experiment is not None:
        others = json.loads(path.read_text(encoding="utf-8"))
        kept = {name: values for name, values in kept.items() if _experiment(name) == experiment}
        kept |= {name: values for name, values in others.items() if _experiment(name) != experiment}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(kept[name])}" for name in sorted(kept))
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    n_kept = sum(map(len, kept.values()))
    n_doubtful = sum(len(values) - len(kept.get(name, ())) for name, values in stores[0].items())
    print(f"{path.name}: {n_kept} counters of {len(kept)} cells; {n_doubtful} depend on rounding, or may.")


def check(found, path=BASELINE):
    """Print what is wrong; return the exit code."""
    baseline = json.loads(path.read_text(encoding="utf-8"))
    wrong = list(differences(baseline, found))
    print(f"{sum(map(len, baseline.values()))} counters of {len(baseline)} cells were compared.")
    for sentence in wrong:
        print(sentence)
    if wrong:
        print(f"{len(wrong)} differ. If that is intended, renew {path.name}: {Path(__file__).name} --help says how.")
    return 1 if wrong else 0


def main(arguments=None):
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "renew"))
    parser.add_argument("folders", nargs="+", metavar="results", help="folders of records")
    parser.add_argument("--experiment", choices=[one.name for one in EXPERIMENTS], help="renew those of this one only")
    given = parser.parse_args(arguments)
    if given.what == "check" and len(given.folders) > 1:
        parser.error("check takes one folder of records")
    stores = [counters_of(folder) for folder in given.folders]
    for folder, counters in zip(given.folders, stores):
        if not any(counters.values()):
            parser.error(f"{folder} has no records at quick scale of this code: kernbench run --results {folder}")
    if given.what == "check":
        return check(stores[0])
    if failed := unequal(stores, given.experiment):
        parser.error(f"not in all of these folders is a successful record of {', '.join(failed)}")
    renew(stores, experiment=given.experiment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
