"""Every test has its own cache folder, and has the user's KERNBENCH_DATA only if it is marked real_data."""

import os
from pathlib import Path

import pooch
import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch, request):
    """The test's cache folder; it does not exist yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("KERNBENCH_CACHE", str(folder))
    if request.node.get_closest_marker("real_data") is None:
        monkeypatch.delenv("KERNBENCH_DATA", raising=False)
    return folder


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """An empty folder that KERNBENCH_DATA names."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("KERNBENCH_DATA", str(folder))
    return folder


@pytest.fixture
def write(tmp_path):
    """Return a function ``write(name, content)`` that puts text or bytes into a file and returns its path."""

    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


@pytest.fixture
def real_files():
    """Return a function that skips the test unless KERNBENCH_DATA holds the files of a set."""
    from kernbench.datasets import describe

    def require(name):
        if not os.environ.get("KERNBENCH_DATA"):
            pytest.skip("KERNBENCH_DATA is not set")
        missing = [file.name for file in describe(name).files if file.find() is None]
        if missing:
            pytest.skip(f"{Path(os.environ['KERNBENCH_DATA'])} does not hold {', '.join(missing)}")

    return require


@pytest.fixture
def server(monkeypatch):
    """Stand-in for the network: a dict from address to the bytes or the exception it answers with."""
    answers, asked = {}, []

    class Downloader:
        def __init__(self, **options):
            assert options["timeout"] > 0

        def __call__(self, url, output_file, pooch):
            asked.append(url)
            answer = answers.get(url, OSError("no route to host"))
            with open(output_file, "wb") as file:
                file.write(answer[:10] if isinstance(answer, bytes) else b"half a fi")
                if isinstance(answer, BaseException):
                    raise answer
                file.write(answer[10:])

    monkeypatch.setattr(pooch, "HTTPDownloader", Downloader)
    answers["asked"] = asked
    return answers
