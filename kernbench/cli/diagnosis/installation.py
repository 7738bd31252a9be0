"""The installation: Python, packages, compiled modules, and what they were built with."""

import os
import platform
import sys
import sysconfig
import tempfile
from importlib import import_module, metadata
from pathlib import Path

from kernbench._version import __version__
from kernbench.cli.diagnosis.finding import BROKEN, LACK, OK, Finding, install, output

PACKAGE = Path(__file__).parents[2]
PROGRAM = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
# x86-64 levels of the compiled loops, and the flags of /proc/cpuinfo that they need.
LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
}


def python():
    """Python itself."""
    where = "a virtual environment" if sys.prefix != sys.base_prefix else sys.prefix
    return [Finding("Python", OK, f"{platform.python_version()} in {where}, {platform.platform()}")]


def packages():
    """What kernbench requires."""
    names = ("numpy", "scipy", "scikit-learn", "joblib", "psutil", "threadpoolctl", "matplotlib", "click", "rich")
    found, missing = [], []
    for name in (*names, "pooch", "jinja2"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    yield Finding("packages", BROKEN if missing else OK, ", ".join(found), install(*missing))


def compiled_modules():
    """The compiled parts: a source checkout may lack them, or have those of another Python."""
    broken = []
    sources = {path.with_suffix("") for path in PACKAGE.rglob("*.pyx")}
    built = {path.parent / path.name.partition(".")[0] for path in PACKAGE.rglob("*.so")}
    modules = [".".join(path.relative_to(PACKAGE.parent).parts) for path in sorted(sources | built)]
    for name in modules:
        try:
            import_module(name)
        except ImportError as error:
            broken.append(f"{name}: {error}")
    remedy = "build them: python -m pip install . (in a checkout: python setup.py build_ext --inplace)"
    if broken or not modules:
        found = f"{len(broken)} of {len(modules)} cannot be imported: {'; '.join(broken[:2])}"
        return [Finding("compiled modules", BROKEN, found, remedy)]
    return [Finding("compiled modules", OK, f"{len(modules)}, of kernbench {__version__} in {PACKAGE}")]


def compiler():
    """A C compiler, which building kernbench or a compiled twin takes."""
    command = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    version = output(*command, "--version")
    if version is None:
        found, remedy = f"{' '.join(command)} does not run", "install GCC or clang; only building needs it"
        return [Finding("compiler", LACK, found, remedy)]
    works = _compiles(command)
    remedy = "" if works else "install libgomp (GCC) or libomp (clang), else loops are built single-threaded"
    with_openmp = "compiles OpenMP" if works else "does not compile OpenMP"
    return [Finding("compiler", OK if works else LACK, f"{version.splitlines()[0]}; {with_openmp}", remedy)]


def openmp():
    """Whether the compiled loops use threads."""
    from threadpoolctl import threadpool_info

    import kernbench.kernels.engine  # noqa: F401
    from kernbench.kernels.threads import n_openmp_threads

    libraries = [lib for lib in threadpool_info() if lib["user_api"] == "openmp"]
    if not libraries:
        remedy = "rebuild with a compiler that has OpenMP, without KERNBENCH_OPENMP=0"
        return [Finding("OpenMP", LACK, "the compiled loops are single-threaded", remedy)]
    names = ", ".join(sorted({Path(lib["filepath"]).name for lib in libraries}))
    limit = os.environ.get("OMP_NUM_THREADS")
    said = f"; OMP_NUM_THREADS={limit}" if limit else ""
    return [Finding("OpenMP", OK, f"{n_openmp_threads()} threads ({names}){said}")]


def simd():
    """The instructions that the compiled loops use here: the loader picks by the processor."""
    from kernbench.kernels.simd import _elementwise

    flags = _processor_flags()
    level = next((name for name, needed in LEVELS.items() if needed <= flags), "x86-64")
    if platform.machine() not in ("x86_64", "AMD64") or not flags:
        return [Finding("SIMD", OK, f"what the compiler chose for {platform.machine()}")]
    is_dispatched = b"arch_x86_64_v" in Path(_elementwise.__file__).read_bytes()
    if not is_dispatched and level != "x86-64":
        remedy = "rebuild with GCC 12 or newer on glibc, unless this build was stripped of its symbols"
        return [Finding("SIMD", LACK, f"x86-64 in this build, {level} on this processor", remedy)]
    slow = level == "x86-64"
    remedy = "use a processor with AVX2: kernels are several times slower without" if slow else ""
    return [Finding("SIMD", LACK if slow else OK, f"{level}, chosen at run time", remedy)]


def blas():
    """The BLAS of SciPy, which the compiled solvers call."""
    from threadpoolctl import threadpool_info

    from kernbench.experiments.run import environment

    name = environment.blas()
    libraries = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    threads = sorted({lib["num_threads"] for lib in libraries})
    if not libraries:
        remedy = "install SciPy from PyPI or conda-forge, which bring OpenBLAS or MKL"
        return [Finding("BLAS", LACK, "none that is known: products may be slow, and threads not limited", remedy)]
    found = f"{name}, {' and '.join(map(str, threads))} threads; kernbench limits it inside its own loops"
    return [Finding("BLAS", OK, found)]


def _compiles(command):
    """Whether a compiler builds a program with OpenMP that runs."""
    flags = ["-Xpreprocessor", "-fopenmp", "-lomp"] if sys.platform == "darwin" else ["-fopenmp"]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(PROGRAM)
        built = output(*command, str(source), "-o", str(program), *flags)
        return built is not None and output(str(program)) is not None


def _processor_flags():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return set(next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), ()))
