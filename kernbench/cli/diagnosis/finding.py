"""Findings, and what several examinations need."""

import subprocess
from dataclasses import dataclass
from importlib import metadata

OK, LACK, BROKEN = "ok", "lack", "broken"
SECONDS = 60  # a compiler may take


@dataclass(frozen=True)
class Finding:
    """What was found.

    Attributes
    ----------
    what : str
    status : {"ok", "lack", "broken"}
        Broken: something that kernbench needs. Lack: something that is missing, and kernbench does without.
    found : str
    remedy : str
        The command or step that mends a lack; empty where there is none.
    """

    what: str
    status: str
    found: str
    remedy: str = ""


def install(*names):
    return f"python -m pip install {' '.join(names)}" if names else ""


def version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def gigabytes(n_bytes):
    return f"{n_bytes / 2**30:.1f} GB"
