"""Formatting of numbers and names for readers. A number that is None becomes a dash."""

import math
import re

from kernbench._names import NO_BREAK

DASH = "–"
MOST_DECIMALS = 5  # of a number with a standard error; smaller ones have powers of ten
MOST_DIGITS = 7  # of these, where the error is small beside the value
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def significant(value, digits=3):
    """`value` with `digits` significant digits, with an exponent only if necessary."""
    if value is None:
        return DASH
    if value < 0:
        return f"−{significant(-value, digits)}"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    if 1 <= abs(value) < 1e7:
        return f"{float(text):,.0f}"
    mantissa, exponent = text.split("e")
    return f"{mantissa} × {power_of_ten(int(exponent))}"


def with_error(value, error, digits=3):
    """``0.220 ± 0.011``: a value with as many decimals as its standard error, which has two significant digits."""
    decimals = 1 - math.floor(math.log10(error)) if error > 0 else 0
    if error > 0 and decimals <= MOST_DECIMALS and abs(value) < 1e7:
        decimals = max(decimals, 0)
        shown = f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", "−")  # + 0.0 turns -0.0 into 0.0
        return f"{shown} ± {error:,.{decimals}f}"
    if error == 0 and _is_whole(value):  # a count that is the same in all repeats
        return f"{_whole(value)} ± 0"
    if error > 0 and value:  # down to the last digit of the error
        digits = min(max(digits, math.floor(math.log10(abs(value))) + 1 + decimals), MOST_DIGITS)
    return f"{significant(value, digits)} ± {significant(error, 2)}"


def _is_whole(value):
    """Whether a number is a count that is printed with all of its digits."""
    return abs(value) < 1e7 and value == int(value)


def _whole(value):
    return f"{value:,.0f}".replace("-", "−")


def power_of_ten(exponent):
    """``10⁶`` for 6."""
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def percent(fraction, error=None, digits=2):
    """A fraction as percent, with its standard error when there is one."""
    if fraction is None:
        return DASH
    rounded = round(100 * fraction, digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    text = f"{rounded:.{digits}f}".replace("-", "−")
    if error is None:
        return text
    shown = f"{100 * error:.{digits}f}"
    return f"{text} ± {shown}" if error == 0 or float(shown) else with_error(100 * fraction, 100 * error)


def points(difference, digits=2):
    """A difference of two fractions in percentage points, with its sign."""
    if difference is None:
        return DASH
    rounded = round(100 * difference, digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    return f"{rounded:+.{digits}f}".replace("-", "−") if rounded else f"{0:.{digits}f}"


def seconds(value):
    """A duration in a suitable unit."""
    if value is None:
        return DASH
    if value < 1e-3:
        return f"{1e6 * value:.0f} µs"
    if value < 1:
        return f"{significant(1e3 * value)} ms"
    return f"{significant(value)} s" if value < 7200 else f"{significant(value / 3600)} h"


def duration(value):
    """A waiting time in seconds, minutes or hours: 45 s, 12 min, 3.5 h."""
    if value < 100:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 6000 else f"{significant(value / 3600, 2)} h"


def count(value):
    """A count: whole up to a million, then in powers of ten."""
    if value is None:
        return DASH
    if abs(value) < 1e6:
        return f"{value:,.0f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa} × {power_of_ten(int(exponent))}"


def memory(n_bytes):
    """Bytes as MB or GB (powers of 2¹⁰, as metrics and limits have them)."""
    if n_bytes is None:
        return DASH
    return f"{significant(n_bytes / 2**20)} MB" if n_bytes < 2**30 else f"{significant(n_bytes / 2**30)} GB"


def plural(number, noun):
    """``1 repeat``, ``3 repeats``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def span(numbers, noun):
    """Return the range of numbers with a noun: ``1 to 5 repeats``, ``3 repeats``."""
    low, high = min(numbers), max(numbers)
    return plural(high, noun) if low == high else f"{low:,} to {plural(high, noun)}"


def sentence(words):
    """`words` with a capital letter and a full stop."""
    return f"{capitalised(words)}{'' if words.endswith(('.', '!', '?')) else '.'}"


def capitalised(words):
    """`words` with a capital letter, unless the first is a name such as pAUC or a symbol such as n."""
    is_symbol = words[1:2] == " " and words[0] != "a"
    return words if is_symbol or words[1:2].isupper() else f"{words[:1].upper()}{words[1:]}"


def listed(names):
    """``a``, ``a and b``, ``a, b and c``."""
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1] if names else ""


def names(labels):
    """`listed` for names of methods: one with a comma or an "and" of its own is put in quotation marks."""
    return listed(f"“{label}”" if re.search(", | and ", label) else label for label in labels)


def file_name(name):
    """`name` without characters that have a meaning in file systems or addresses."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip(".-") or "unnamed"


def unbroken(sentence):
    """A sentence whose lines do not break between a number and its unit."""
    return re.sub(r"(?<=\d) (?=[%×]|(?:µs|ms|s|h|MB|GB|points|races?)\b)", NO_BREAK, sentence)


def short(label):
    """A method's label without its remarks in brackets: ``LIBSVM``, ``SMO, λ validated``."""
    return re.sub(r" \([^()]*\)", "", label)


def possessive(name):
    """``"LIBSVM's"``, ``"Pegasos'"``; a name is put in quotation marks as by `names`."""
    shown = names([name])
    return f"{shown}'" if shown.endswith("s") else f"{shown}'s"


def heading(metric):
    """A metric's label and unit, for a column or an axis; of a fraction in hundredths that it is one."""
    unit = metric.unit or ("× 100" if metric.factor == 100.0 else "")
    return f"{metric.label} ({unit})" if unit else metric.label


def scaled(metric, value, error=None):
    """A value in the metric's unit, without naming it: two decimals for a percentage or a fraction × 100.

    Of a deterministic metric, a count has all of its digits, whether it has an error or not.
    """
    if value is None:
        return DASH
    if metric.factor == 100.0:
        return percent(value, error)
    if error is None:
        value = metric.factor * value
        return _whole(value) if metric.deterministic and _is_whole(value) else significant(value)
    return with_error(metric.factor * value, metric.factor * error)


def printed(metric, value):
    """A paper's value, with its printed digits."""
    shown = f"{round(metric.factor * value, 6):g}".replace("-", "−")
    return f"{shown}.0" if metric.unit == "%" and shown.isdigit() else shown


def with_unit(metric, value):
    """A value and its unit: 14.91 %."""
    return f"{scaled(metric, value)} {metric.unit}".rstrip()


def fitting(metric, value, digits=3):
    """A value, in a suitable unit if the metric is a time or a memory: 396 ms."""
    if value is None:
        return DASH
    if metric.unit == "s":
        return seconds(value)
    if metric.unit == "MB":
        return memory(value)
    return f"{significant(metric.factor * value, digits)} {metric.unit}".rstrip()


def amount(metric, difference, digits=3):
    """A difference without its sign, in words: ``0.07 points``."""
    is_share = metric.factor == 100.0
    shown = f"{100 * difference:.{digits - 1}f}" if is_share else significant(metric.factor * difference, digits)
    return f"{shown} {unit_of_differences(metric)}".rstrip()


def unit_of_differences(metric):
    """The unit of differences of a metric: points for percentages, and for other fractions in hundredths."""
    return "points" if metric.factor == 100.0 else metric.unit


def signed(metric, difference, error=None):
    """A difference in the metric's unit, with its sign; points for percentages."""
    if difference is None:
        return DASH
    if metric.factor == 100.0:
        shown = points(difference)
    else:
        shown = f"{'+' if difference > 0 else ''}{significant(metric.factor * difference)}" if difference else "0"
    return shown if error is None else f"{shown} ± {significant(metric.factor * error, 2)}"


def signed_interval(metric, difference, ends):
    """A difference with the ends of its interval, if there is one: ``−0.30 [−0.52, −0.08]``."""
    if difference is None or ends is None:
        return signed(metric, difference)
    return f"{signed(metric, difference)} [{', '.join(signed(metric, end) for end in ends)}]"


def times(ratio, error=None, digits=3):
    """A ratio: ``2.93 ×``."""
    if ratio is None:
        return DASH
    return f"{significant(ratio, digits) if error is None else with_error(ratio, error, digits)} ×"
