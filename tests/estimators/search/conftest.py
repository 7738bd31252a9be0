"""Lets the tests of this folder import `search_faces`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
