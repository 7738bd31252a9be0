"""One style a method, the same in every figure, in colours for colour-blind readers.

Okabe, Ito: Color Universal Design, 2008, without yellow, which cannot be seen on white.
"""

from dataclasses import dataclass

# Ink is replaced by the page's own text colour, so that figures are readable on light and dark backgrounds.
INK = "#010203"
GRID = "#a1a2a3"

# Darkened until each has a contrast of 3 : 1 to white, as WCAG 2 asks of graphics; the page has lighter ones for the
# dark theme, by these names.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#008C66", "#B5588F", "#B07800", "#2E95D3"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)

# Steps of one quantity, visible on white and on black.
ORDERED = (SKY, "#2B86BF", BLUE, "#7A5FB0", PURPLE)
PALETTE_NAMES = {
    BLUE: "blue",
    VERMILION: "vermilion",
    GREEN: "green",
    PURPLE: "purple",
    ORANGE: "orange",
    SKY: "sky",
    ORDERED[1]: "steel",
    ORDERED[3]: "violet",
}

KNOWN = {
    "libsvm": INK,
    "smo": BLUE,
    "sbp": VERMILION,
    "pegasos": GREEN,
    "sdca": PURPLE,
    "perceptron": ORANGE,
    "norm-ball-sgd": SKY,
}
MARKERS = {
    "libsvm": ("D", "d", "*"),
    "smo": ("o", "H"),
    "sbp": ("s", "p"),
    "pegasos": ("^", "<"),
    "sdca": ("v", ">"),
    "perceptron": ("P", "+"),
    "norm-ball-sgd": ("X", "x"),
}
OTHERS = ("h", "p", "<", ">", "o", "s", "^", "D", "v", "P", "X", "*", "d", "8")
ALL_MARKERS = tuple(dict.fromkeys((*OTHERS, *(marker for markers in MARKERS.values() for marker in markers))))
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))


@dataclass(frozen=True)
class Style:
    """Colour, marker and dash of one method."""

    colour: str
    marker: str
    dash: object


def family(method):
    """The solver behind a method's name: ``"sbp"`` for ``"sbp-quarter"``; the name itself when unknown."""
    fits = [name for name in KNOWN if method == name or method.startswith((f"{name}-", f"{name} ", f"{name}/"))]
    return max(fits, key=len, default=method)


def category_styles(panels):
    """The style of each category, given the lists of categories of all panels.

    Those of one panel differ, and a category looks the same in all panels. (Methods have :func:`method_styles`, which
    hold on the whole page.)
    """
    marks = ("o", "s", "^", "D", "v", "P", "X")
    found = {}
    for names in panels:
        for name in names:
            if name in found:
                continue
            used = {found[other].colour for other in names if other in found}
            free = [place for place, colour in enumerate(PALETTE) if colour not in used]
            # With more categories than colours, marks and dashes differ too.
            place = free[0] if free else len(found)
            dash = DASHES[0 if free else 1 + place % (len(DASHES) - 1)]
            found[name] = Style(PALETTE[place % len(PALETTE)], marks[place % len(marks)], dash)
    return found


def styles_of(results):
    """The style of every declared or recorded method of an experiment."""
    declared = [method.name for method in results.experiment.methods]
    budgeted = {name for name in declared if results.has_budget(name)}
    return method_styles([*declared, *results.methods()], budgeted)


def method_styles(methods, budgeted=()):
    """The style of each method.

    A known solver has its own colour in every figure; its variants share it and differ by their marks and dashes, the
    solid line being for one that is not `budgeted`. Other methods get the remaining colours in alphabetical order.
    Marks and dashes together differ as long as there are enough of them, since colour tells some readers nothing.
    """
    methods = sorted(set(methods), key=lambda name: (name in budgeted, len(name), name))
    families = {method: family(method) for method in methods}
    taken = {name for name in families.values() if name in KNOWN}
    free = [colour for colour in PALETTE if colour not in {KNOWN[name] for name in taken}] or list(PALETTE)
    others = sorted(set(families.values()) - taken)
    colours = {name: KNOWN[name] for name in taken} | {name: free[i % len(free)] for i, name in enumerate(others)}
    rounds = {name: i // len(free) for i, name in enumerate(others)}
    used = {marker for name in taken for marker in MARKERS[name]}
    marks = [marker for marker in OTHERS if marker not in used]
    own = {name: (marks[i % len(marks)],) for i, name in enumerate(others)}
    variants = {}
    result = {}
    unused = dict.fromkeys((marker, dash) for dash in DASHES for marker in ALL_MARKERS)
    for method in methods:
        name = families[method]
        nth = variants[name] = variants.get(name, -1) + 1
        markers = MARKERS.get(name) or own[name]
        wanted = markers[nth % len(markers)], DASHES[(nth + rounds.get(name, 0)) % len(DASHES)]
        # Figures without lines tell methods of one colour apart by their marks alone. A colour with no mark left gives
        # way to another.
        for colour in (colours[name], *PALETTE):
            seen = {style.marker for style in result.values() if style.colour == colour}
            pairs = [pair for pair in (wanted, *unused) if pair in unused and pair[0] not in seen]
            if pairs:
                break
        marker, dash = next(iter(pairs or unused), wanted)
        unused.pop((marker, dash), None)
        result[method] = Style(colour if pairs else colours[name], marker, dash)
    return result
