"""A figure in the forms in which it is handed out."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Picture:
    """A figure of the page, and its files.

    Attributes
    ----------
    name : str
        File name without its ending.
    caption, alternative : str
        What everybody reads, and what a screen reader says.
    svg_inline, svg_file : str
        For the page (safe to place in HTML as it is; small multiples are several elements) and to stand
        alone.
    csv : str
        What is drawn.
    heading : str
        Under which it stands in its section, with its neighbours of the same heading.
    shape : {"", "wide", "panels", "panels large"}
        How it is laid out: beside others, over the whole width, or as small multiples that flow.
    lead : str
        Over small multiples: what their axes are.
    """

    name: str
    caption: str
    alternative: str
    svg_inline: str
    svg_file: str
    csv: str
    heading: str = ""
    shape: str = ""
    lead: str = ""


def by_heading(pictures):
    """Neighbours of one heading together: a list of (heading, list of Picture)."""
    groups = []
    for picture in pictures:
        if not groups or groups[-1][0] != picture.heading:
            groups.append((picture.heading, []))
        groups[-1][1].append(picture)
    return groups
