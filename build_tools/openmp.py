"""Find out whether this compiler can build and run OpenMP programs, and with which flags."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.errors import CompileError, LinkError
from setuptools._distutils.sysconfig import customize_compiler

PROGRAM = """
#include <omp.h>
#include <stdio.h>
int main(void) {
    int threads = 0;
    #pragma omp parallel reduction(+:threads)
    threads += 1;
    printf("%d", threads);
    return threads < 1;
}
"""

CANDIDATES = {
    "win32": [(["/openmp"], [])],
    "darwin": [(["-Xpreprocessor", "-fopenmp"], ["-lomp"]), (["-fopenmp"], ["-fopenmp"])],
}


def _works(compile_flags, link_flags):
    """Compile, link and run `PROGRAM`."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text(PROGRAM)
        compiler = new_compiler()
        customize_compiler(compiler)
        try:
            objects = compiler.compile([str(source)], output_dir=folder, extra_postargs=compile_flags)
            compiler.link_executable(objects, str(Path(folder) / "probe"), extra_postargs=link_flags)
            answer = subprocess.run([str(Path(folder) / "probe")], capture_output=True, timeout=60)
        except (CompileError, LinkError, OSError, subprocess.SubprocessError):
            return False
        return answer.returncode == 0


def openmp_flags():
    """Return the compile and link flags for OpenMP, two empty lists where it does not work.

    ``KERNBENCH_OPENMP=0`` in the environment turns it off.
    """
    if os.environ.get("KERNBENCH_OPENMP", "1") == "0":
        return [], []
    for compile_flags, link_flags in CANDIDATES.get(sys.platform, [(["-fopenmp"], ["-fopenmp"])]):
        if _works(compile_flags, link_flags):
            return compile_flags, link_flags
    print("kernbench: OpenMP does not work with this compiler; building single-threaded.", file=sys.stderr)
    return [], []
