"""Files of the experiments beside this suite, not of the commit that is measured.

Every commit is measured on the same numbers, and the suite declares nothing that an experiment declares.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "kernbench" / "experiments" / "ours"


def _beside(experiment, name):
    spec = spec_from_file_location(f"kernbench_asv_{experiment}_{name}", FOLDER / experiment / f"{name}.py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


inputs, catalogue, errors = (_beside("primitives", name) for name in ("inputs", "catalogue", "errors"))
twins = _beside("twins", "settings")
