"""Things with a name: found, or an error message that suggests the nearest name."""

from difflib import get_close_matches

NO_BREAK = "\u00a0"  # a space at which lines do not break


def unknown_name(what, given, known):
    """Return an error message for the unknown name `given` that suggests the nearest known one.

    Parameters
    ----------
    what : str
        The kind of thing named, such as ``"solver"``.
    given : object
        The name as typed.
    known : iterable of str
        The names that exist.

    Returns
    -------
    str
        For example ``unknown solver 'smoo'; did you mean 'smo'? Known: pegasos, sbp, smo.``
    """
    known = sorted(known)
    spelled = {name.lower(): name for name in known}
    near = get_close_matches(str(given).lower(), spelled, n=1, cutoff=0.5)
    hint = f"; did you mean {spelled[near[0]]!r}?" if near else "."
    return f"unknown {what} {given!r}{hint} " + (f"Known: {', '.join(known)}." if known else "There are none.")


def find(what, name, items):
    """Return the first of `items` with this ``name``.

    Raises
    ------
    ValueError
        If there is none; the message suggests the nearest name.
    """
    for item in items:
        if item.name == name:
            return item
    raise ValueError(unknown_name(what, name, [item.name for item in items]))


def printable(text):
    """`text` without control characters: SVG does not allow them, and a terminal would obey them."""
    return "".join(c if c.isprintable() or c == NO_BREAK else "\ufffd" for c in str(text))
