"""Build of the compiled parts; everything declarative lives in pyproject.toml.

Environment variables
---------------------
KERNBENCH_DEBUG=1
    Bounds checks, initialisation checks and line tracing in the Cython code, no optimisation.
KERNBENCH_SANITIZE=1
    With AddressSanitizer and UndefinedBehaviorSanitizer; tools/sanitize builds so and runs the tests.
KERNBENCH_OPENMP=0
    Build without OpenMP (single-threaded); by default it is probed and used where it works.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from Cython.Build import cythonize  # noqa: E402
from setuptools import Extension, setup  # noqa: E402

from build_tools.openmp import openmp_flags  # noqa: E402
from build_tools.stale import options_file, remove_stale_files  # noqa: E402

DEBUG = os.environ.get("KERNBENCH_DEBUG", "0") not in ("", "0")
SANITIZE = os.environ.get("KERNBENCH_SANITIZE", "0") not in ("", "0")
HERE = Path(__file__).parent

# A header is included by its name alone: no two may share one.
HEADER_FOLDERS = sorted({str(p.parent.relative_to(HERE)) for p in HERE.glob("kernbench/**/*.h")})


SANITIZERS = ["-fsanitize=address,undefined"] if SANITIZE else []


def compile_flags():
    if sys.platform == "win32":
        return ["/O2"]
    if SANITIZE:
        return ["-O1", "-g", "-fno-omit-frame-pointer", *SANITIZERS]
    if DEBUG:
        return ["-O0", "-g"]
    # -fno-math-errno and friends let `x > 0 ? x : 0` vectorise; they do not touch NaN or re-associate sums.
    # -g0: Python's own flags ask for debug information; KERNBENCH_DEBUG=1 keeps it.
    return ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-Wno-psabi"]


def extensions():
    parallel_compile, parallel_link = openmp_flags()
    macros = [("KERNBENCH_OPENMP", "1")] if parallel_compile else []
    if DEBUG:
        macros.append(("CYTHON_TRACE_NOGIL", "1"))
    options = {"debug": DEBUG, "sanitize": SANITIZE, "without OpenMP": not parallel_compile}
    chosen = options_file(Path("build") / "options.txt", [name for name, given in options.items() if given])
    headers = [path.relative_to(HERE) for path in sorted(HERE.glob("kernbench/**/*.h"))]
    yield Extension(
        SHARED,
        sources=[SHARED.replace(".", "/") + ".c"],  # generated, in the build folder
        depends=[str(path) for path in chosen],
        extra_compile_args=compile_flags(),
        extra_link_args=SANITIZERS,
        define_macros=macros,
    )
    for source in sorted(HERE.glob("kernbench/**/*.pyx")):
        relative = source.relative_to(HERE)
        yield Extension(
            ".".join(relative.with_suffix("").parts),
            sources=[str(relative)],
            include_dirs=HEADER_FOLDERS,
            depends=[str(path) for path in (*headers, *chosen)],
            extra_compile_args=compile_flags() + parallel_compile,
            extra_link_args=parallel_link + SANITIZERS,
            define_macros=macros,
        )


# Memoryviews and other helpers of Cython, compiled once for all modules instead of once in each.
SHARED = "kernbench._cython"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    # These two cannot report an error from code that runs without the interpreter lock.
    "nonecheck": False,
    "cdivision": True,
    "linetrace": DEBUG,
    "profile": DEBUG,
    "embedsignature": True,
}

# The generation of C takes a minute; a command that only collects files or metadata does without.
COLLECTING = {"egg_info", "dist_info", "sdist"}
COMPILING = ("build", "bdist", "install", "develop", "editable")


def modules(workers):
    if COLLECTING & set(sys.argv[1:]) and not any(given.startswith(COMPILING) for given in sys.argv[1:]):
        return []
    # Cython keeps stale C when only directives change: the options name the folder.
    build_dir = Path("build") / ("cython-debug" if DEBUG else "cython")
    return cythonize(
        list(extensions()),
        build_dir=str(build_dir),
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
        nthreads=0 if sys.platform == "win32" else workers,
    )


def n_processors():
    """Those that this process may use: a job of two on a large machine has the memory for two compilers."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    workers = n_processors()
    in_place = [HERE / "kernbench"] if "--inplace" in sys.argv else []
    for built in (*in_place, *HERE.glob("build/lib*/kernbench")):
        remove_stale_files(built, HERE / "kernbench", generated=(SHARED.rpartition(".")[2],))
    setup(options={"build_ext": {"parallel": workers}}, ext_modules=modules(workers))
