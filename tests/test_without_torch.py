"""`kernbench.deep` where PyTorch is not installed."""

import subprocess
import sys

HIDE_TORCH = """
import sys
class NoTorch:
    def find_spec(name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'")
sys.meta_path.insert(0, NoTorch)
"""


def run_without_torch(code):
    """Run Python code in a process whose `import torch` fails; return what it printed."""
    command = [sys.executable, "-P", "-c", HIDE_TORCH + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_without_torch_the_import_says_what_to_install():
    said = run_without_torch("try:\n    import kernbench.deep\nexcept ImportError as error:\n    print(error)")
    assert 'pip install "kernbench[torch]"' in said


def test_without_torch_everything_else_works():
    said = run_without_torch(
        "import kernbench, kernbench.cli\nprint([hasattr(kernbench, n) for n in kernbench.__all__])"
    )
    assert "True" in said and "False" not in said
