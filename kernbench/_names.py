"""Names that people type: find the one they meant."""

from difflib import get_close_matches


def unknown_name(what, given, known):
    """Return the sentence that refuses `given` and says the nearest name.

    Parameters
    ----------
    what : str
        What the name stands for, such as ``"solver"``.
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
