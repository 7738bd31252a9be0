"""Each target on a few inputs, the same each time; ``tools/fuzz MINUTES`` feeds them with others."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

spec = importlib.util.spec_from_file_location("fuzz_targets", Path(__file__).parent / "targets.py")
targets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(targets)

EXAMPLES = {"data_files": 60, "model_files": 60, "kernels": 40, "estimators": 40, "command_line": 40}


@pytest.mark.parametrize("name", targets.TARGETS)
def test_odd_inputs_pass_or_are_refused(name):
    @settings(max_examples=EXAMPLES[name], deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def run(data):
        targets.TARGETS[name](data.draw)

    run()


def test_the_seed_is_printed_before_the_first_input():
    """So that it is known of inputs on which a target hangs."""
    script = Path(__file__).parents[2] / "tools" / "fuzz"
    command = [sys.executable, script, "0", "kernels", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["kernels: seed 3", "kernels: 0 inputs, nothing found"]
