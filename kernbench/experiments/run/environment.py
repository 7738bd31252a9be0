"""Where a measurement was made: versions, code, processor, threads. Unknown values are None."""

import platform
import subprocess
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from kernbench._version import __version__
from kernbench.experiments.run.code import PACKAGE, shared_digest

CPUINFO = Path("/proc/cpuinfo")
_TIME_LIMIT = 5.0  # seconds a helper program may take


def _output(*command):
    """The output of a program, or None if it is absent, fails or takes too long."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIME_LIMIT, stdin=subprocess.DEVNULL, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def git_state(folder=PACKAGE):
    """Commit of the checkout that `folder` belongs to, and whether `folder` differs from it.

    Parameters
    ----------
    folder : Path
        Of a package. One inside some other repository that does not track it (an environment kept in a project) is not
        a checkout.

    Returns
    -------
    commit : str or None
    dirty : bool or None
    """
    git = ("git", "-C", str(folder))
    if not _output(*git, "ls-files", "--", "."):
        return None, None
    state = _output(*git, "status", "--porcelain=v2", "--branch", "--", ".")
    lines = (state or "").splitlines()
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid")), None)
    return commit, None if commit is None else any(not line.startswith("#") for line in lines)


@cache
def processor():
    """The processor's model name, or the most similar information of the system."""
    fields = {}
    with suppress(OSError):
        for line in CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    if "model name" in fields:
        name = fields["model name"]
        if any(character.isdigit() for character in name) or "model" not in fields:
            return name
        # Virtual machines leave the number out: "AMD EPYC" has been processors of which one takes twice as long.
        return f"{name} (family {fields.get('cpu family')}, model {fields['model']})"
    if "CPU part" in fields:  # Linux gives ARM's numbers, without names
        return f"{platform.machine()} {fields.get('CPU implementer')} {fields['CPU part']}"
    if platform.system() == "Darwin":
        name = _output("sysctl", "-n", "machdep.cpu.brand_string")
        if name:
            return name
    return platform.processor() or platform.machine() or "unknown"


def n_cores():
    """Cores this process may use: affinity and container limits count."""
    from joblib import cpu_count

    return cpu_count()


@cache
def blas():
    """The BLAS that SciPy, and so the compiled solvers, call: name, version, architecture."""
    try:
        import scipy.linalg.cython_blas  # noqa: F401  its BLAS must be loaded before the look
        from threadpoolctl import threadpool_info

        found = [library for library in threadpool_info() if library["user_api"] == "blas"]
        # NumPy may bring a second copy; the compiled solvers call the one in SciPy's folder.
        found.sort(key=lambda library: "scipy" not in Path(library["filepath"]).parent.name)
        parts = [found[0].get(name) for name in ("internal_api", "version", "architecture")]
        return " ".join(part for part in parts if part)
    except Exception:  # a benchmark does not fail because the BLAS is unknown
        return "unknown"


def _version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def peers():
    """The installed libraries that experiments compare with: names and versions, by the module that methods require."""
    from kernbench.experiments import registry

    methods = (method for experiment in registry.EXPERIMENTS for method in experiment.methods if method.requires)
    packages = {method.requires: method.package or method.requires for method in methods}
    versions = {module: _version(package) for module, package in packages.items()}
    return {module: f"{packages[module]} {version}" for module, version in versions.items() if version is not None}


def collect(n_threads=None):
    """Describe this machine and this code.

    Parameters
    ----------
    n_threads : int, optional
        Threads a cell is given; the number of cores by default.

    Returns
    -------
    dict
        The ``environment`` of a record, without what the machine of a run adds for each cell; unknown values are None.
    """
    commit, dirty = git_state()
    cores = n_cores()
    return {
        "kernbench": __version__,
        "git_commit": commit,
        "git_dirty": dirty,
        "code": shared_digest(),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "scipy": _version("scipy"),
        "scikit-learn": _version("scikit-learn"),
        "processor": processor(),
        "n_cores": cores,
        "n_threads": cores if n_threads is None else n_threads,
        "blas": blas(),
        "platform": platform.platform(),
    }


def show_versions() -> None:
    """Print what a bug report should contain: versions, processor, BLAS and the threads of each library.

    ``kernbench doctor`` checks the installation, and names a remedy for what is missing.

    Examples
    --------
    >>> import kernbench
    >>> kernbench.show_versions()  # doctest: +SKIP
    """
    from threadpoolctl import threadpool_info

    from kernbench.kernels import threads  # noqa: F401  the compiled modules load their OpenMP

    lines = dict(collect())
    lines["threads"] = ", ".join(f"{pool['num_threads']} ({pool['internal_api']})" for pool in threadpool_info())
    width = max(map(len, lines))
    for name, value in lines.items():
        print(f"{name:>{width}}: {value}")
