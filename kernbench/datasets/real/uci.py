"""Files of the UCI repository: their present addresses, and those before 2023."""

from kernbench.datasets.files.remote import RemoteFile

UCI_PAGES = "https://archive.ics.uci.edu/dataset"

_PRESENT = "https://archive.ics.uci.edu/static/public"
_FORMER = "https://archive.ics.uci.edu/ml/machine-learning-databases"


def uci_file(name, checksum, present, former=None, **facts):
    """Return the `RemoteFile` of a file of the UCI repository.

    Parameters
    ----------
    name, checksum : str
    present, former : str
        Paths below the two roots, ``archive.zip#member`` for a member of an archive; recent sets have no former one.
    **facts
        Further attributes of the file.
    """
    urls = (f"{_PRESENT}/{present}",) + ((f"{_FORMER}/{former}",) if former else ())
    return RemoteFile(name, checksum, urls, **facts)
