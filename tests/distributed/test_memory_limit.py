"""Files larger than memory: a fit keeps to an enforced limit."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("resource", reason="limits are set by POSIX systems")

# The limit is on what the fit takes beyond the imports: what these take depends on which packages are installed
# (scikit-learn imports pandas, and pandas pyarrow, where they are), on BLAS and on the number of cores.
# VmHWM, not ru_maxrss: the latter begins at what the parent held when it forked.
FIT = """
import json, resource, sys
import numpy as np
import psutil
from kernbench import {model}
from kernbench.distributed import Distributed

before = psutil.Process().memory_info()
limit = before.data + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
model = Distributed({call}).fit(sys.argv[2] + "/x.npy", sys.argv[2] + "/y.npy").estimator_
peak = 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([peak - before.rss, model.duality_gap_ / model.objective_, bool(model.converged_)]))
"""
THREADS = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}  # each has a stack and buffers, some 50 MB


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux enforces RLIMIT_DATA on all private memory")
@pytest.mark.parametrize(
    "model, call, n, d, limit",
    [
        ("ROCSVC", "ROCSVC(random_state=0)", 1_000_000, 440, 420 << 20),
        # 2 GB of features, most of them computed anew in each pass
        ("ROCSVC", "ROCSVC('rbf', features='random', n_features=512, random_state=0)", 1_050_000, 20, 512 << 20),
    ],
)
def test_a_file_or_features_four_times_the_limit_are_fitted_within_it(model, call, n, d, limit, tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32, shape=(n, d))
    rng = np.random.default_rng(0)
    y, w = np.empty(n, dtype=np.int8), rng.normal(size=d) / np.sqrt(d)
    for start in range(0, n, 50_000):
        part = rows[start : start + 50_000] = rng.standard_normal((50_000, d), dtype=np.float32)
        y[start : start + 50_000] = part @ w + 0.7 * rng.standard_normal(50_000) > 1
    del rows
    np.save(tmp_path / "y.npy", y)
    assert 4 * n * max(d, 512 if "features=" in call else 0) >= 3.99 * limit
    program = FIT.format(model=model, call=call)
    command = [sys.executable, "-P", "-c", program, str(limit), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **THREADS})
    assert run.returncode == 0, run.stderr[-2000:]
    peak, gap, converged = json.loads(run.stdout.splitlines()[-1])
    print(f"peak {peak >> 20} MB of {limit >> 20}, gap / objective {gap:.2g}")
    assert converged and gap <= 1e-3
    assert peak <= limit
