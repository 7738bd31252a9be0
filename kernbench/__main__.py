"""``python -m kernbench`` is ``kernbench``."""

from kernbench.cli import main

if __name__ == "__main__":
    main(prog_name="kernbench")
