"""Error messages for unknown names."""

from difflib import get_close_matches


def unknown_name(what, given, known):
    """Return an error message for the unknown name `given` that suggests the nearest known one.

    Parameters
    ----------
    what : str
        What is named, such as ``"solver"``.
    given : object
        What was typed.
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
    return f"unknown {what} {given!r}{hint} Known: {', '.join(known)}."
