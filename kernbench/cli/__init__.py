"""The ``kernbench`` command.

One file per command; what a command needs is imported when it runs, so that ``kernbench --help`` answers at
once.
"""

from kernbench.cli.group import kernbench as main

__all__ = ["main"]
