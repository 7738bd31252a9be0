"""Where the UCI repository keeps a file: its present address and the one of before 2023."""

from kernbench.datasets.storage import RemoteFile

UCI_PAGES = "https://archive.ics.uci.edu/dataset"

_PRESENT = "https://archive.ics.uci.edu/static/public"
_FORMER = "https://archive.ics.uci.edu/ml/machine-learning-databases"


def uci_file(name, checksum, present, former=None, **facts):
    """A `RemoteFile` of the UCI repository.

    Parameters
    ----------
    name, checksum : str
    present, former : str
        The places below the two roots, ``archive.zip#member`` where the file comes packed; sets of recent
        years have no former place.
    **facts
        Further attributes of the file.
    """
    urls = (f"{_PRESENT}/{present}",) + ((f"{_FORMER}/{former}",) if former else ())
    return RemoteFile(name, checksum, urls, **facts)
