"""Run asv over commits of the main line, or over releases, and keep the results for the report's history.

::

    python asv_bench/over_commits.py run --last 10               # the last ten commits of the main line
    python asv_bench/over_commits.py run --last 100 --every 10   # ten of the last hundred
    python asv_bench/over_commits.py run --releases              # every tag v*
    python asv_bench/over_commits.py keep                        # their results -> reports/history

By default only the fits by public names are run, which every commit understands; ``--bench .`` runs all. Commits are
taken newest first, so that a run that is stopped has measured the end of the range; one that has results is left out.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RESULTS, KEPT = HERE / ".asv" / "results", HERE.parent / "reports" / "history"
FITS = "public_fits"
PARTS = ("result", "params", "version")  # of what asv keeps of a benchmark; the rest is repeats and intervals


def commits(last, every, releases):
    """Hashes, newest first; of a release that of the commit, where its tag is an object of its own, too."""
    if releases:
        words = ["rev-list", "--no-walk", "--tags=v*"]
    else:
        words = ["rev-list", "--first-parent", f"--max-count={last}", "HEAD"]
    found = subprocess.run(["git", *words], cwd=HERE, check=True, capture_output=True, text=True)
    return found.stdout.split()[::every]


def run(given):
    """Run asv on the commits; return its exit code."""
    hashes = "".join(f"{commit}\n" for commit in commits(given.last, given.every, given.releases))
    words = ["asv", "run", "--skip-existing-commits", "--bench", given.bench, *given.asv, "HASHFILE:-"]
    return subprocess.run(words, cwd=HERE, input=hashes, text=True).returncode


def keep(source=RESULTS, target=KEPT, bench=FITS):
    """Copy the results of the benchmarks in whose names `bench` is found, without repeats and intervals.

    Parameters
    ----------
    source, target : Path
    bench : str
        A regular expression, as for asv.

    Returns
    -------
    int
        How many commits were copied.

    Raises
    ------
    ValueError
        If there is no such benchmark; what was kept before stays.
    """
    described = json.loads((source / "benchmarks.json").read_text(encoding="utf-8"))
    chosen = {
        name: {part: entry[part] for part in ("unit", "type", "param_names")}
        for name, entry in described.items()
        if name != "version" and re.search(bench, name)
    }
    if not chosen:
        raise ValueError(f"no benchmark in {source} matches {bench!r}")
    _write(target / "benchmarks.json", {**chosen, "version": described["version"]})
    n_kept = 0
    for path in sorted(source.glob("*/*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        if path.name != "machine.json":
            columns = content["result_columns"]
            content["results"] = {
                name: [dict(zip(columns, row))[part] for part in PARTS]
                for name, row in content["results"].items()
                if name in chosen
            }
            if not any(any(row[0] or ()) for row in content["results"].values()):
                continue
            content = {name: content[name] for name in ("commit_hash", "date", "results", "version")}
            content["result_columns"] = PARTS
            n_kept += 1
        _write(target / path.parent.name / path.name, content)
    return n_kept


def _write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in content.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def parse(words):
    """The options; those of asv are the words after ``--``."""
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="%(prog)s {run,keep} [options] [-- options of asv run]",
    )
    parser.add_argument("what", choices=("run", "keep"))
    parser.add_argument("--last", type=int, default=10, help="how far back from HEAD")
    parser.add_argument("--every", type=int, default=1, help="take every so many commits")
    parser.add_argument("--releases", action="store_true", help="the tags v* instead")
    parser.add_argument("--bench", default=FITS, help="which benchmarks, as for asv run")
    given = parser.parse_args(words[:end])
    given.asv = words[end + 1 :]
    return given


def main():
    """Run the command; return its exit code."""
    given = parse(sys.argv[1:])
    if given.what == "run":
        return run(given)
    print(f"{keep(bench=given.bench)} commits in {KEPT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
