"""A fit loads NumPy, SciPy, scikit-learn and what these bring, nothing that only benchmarks, reports and plots need."""

import subprocess
import sys

from kernbench._models import MODELS

# Imported when a benchmark runs, a report is made, data are downloaded or a picture is drawn. So is rich, which
# scikit-learn's own callbacks import where it is installed.
ONLY_OF_THE_SUITE = ("click", "jinja2", "matplotlib", "pooch")
FIT = """
import sys, warnings
import numpy as np
import kernbench
warnings.simplefilter("ignore")
X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
for name, task in {models}:
    model = getattr(kernbench, name, None) or getattr(kernbench.features, name)
    model = model()
    model.fit(*{{"novelty": (X,), "ratio": (X, X + 1), "transform": (X,)}}.get(task, (X, y)))
print(*sorted(set({names}) & set(sys.modules)))
"""


def test_fits_load_nothing_of_the_suite():
    models = [(model.name, model.task) for model in MODELS]
    code = FIT.format(models=models, names=ONLY_OF_THE_SUITE)
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []
