"""A published file, its checksum and its addresses."""

import hashlib
from dataclasses import dataclass

from kernbench.datasets.files.folders import find_file


@dataclass(frozen=True)
class RemoteFile:
    """A published file, or one made from published files.

    Attributes
    ----------
    name : str
        Without the suffix of a compression.
    checksum : str
        SHA-256 of the decompressed content: :func:`kernbench.datasets.files.checksums.content_checksum`.
    urls : tuple of str
        Public origins, tried in this order. ``address#member`` is a member of the zip archive at that address,
        ``address#inner.zip#member`` a member of an archive inside it.
    aliases : tuple of str
        Other names of copies of the file.
    same_examples : tuple of str
        Checksums of copies with the same examples and other line ends.
    recipe : str
        How to make the file from what its page offers, if it cannot be downloaded.
    """

    name: str
    checksum: str
    urls: tuple
    aliases: tuple = ()
    same_examples: tuple = ()
    recipe: str = ""

    def find(self):
        """Return the path of the file on this computer, or None."""
        return find_file(self.name, *self.aliases)

    def is_published(self, checksum):
        """Return whether `checksum` is that of the published content."""
        return checksum == self.checksum or checksum in self.same_examples


def combined_checksum(files):
    """Return the checksum of a set: that of its only file, or SHA-256 of the lines ``<checksum>  <name>``."""
    if len(files) == 1:
        return files[0].checksum
    listing = "".join(f"{file.checksum}  {file.name}\n" for file in files)
    return hashlib.sha256(listing.encode()).hexdigest()
