"""`kernbench.deep` where PyTorch is not installed."""

import subprocess
import sys


def run_without_torch(code):
    """Run Python code in a process whose `import torch` fails; return what it printed."""
    code = f"import sys; sys.modules['torch'] = None\n{code}"
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout


def test_without_torch_the_import_says_what_to_install():
    said = run_without_torch(
        "try:\n    import kernbench.deep\nexcept ImportError as error:\n    print(error)"
    )
    assert 'pip install "kernbench[torch]"' in said


def test_without_torch_everything_else_works():
    said = run_without_torch(
        "import kernbench, kernbench.cli\nprint([hasattr(kernbench, n) for n in kernbench.__all__])"
    )
    assert "True" in said and "False" not in said
