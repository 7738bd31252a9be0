"""Lets the tests of this folder import `doubly_stochastic_cases`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
