"""Outputs of snippets, written into the pages: a fence ``text`` after a fence ``python`` is what that snippet prints.

``python docs/_snippets.py`` writes those of the tutorial; a test fails while one differs by more than rounding.
"""

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

PAGES = [Path(__file__).parent / "tutorial.md"]
SNIPPET = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


def outputs(text):
    """Run the snippets of a page one after another; yield the match of each and what it printed."""
    names = {"__name__": "snippet"}
    for found in SNIPPET.finditer(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found["code"], "snippet", "exec"), names)
        yield found, printed.getvalue()


def with_outputs(text):
    """Return the text of a page with the outputs that its snippets have now."""
    parts, end = [], 0
    for found, printed in outputs(text):
        shown = f"```python\n{found['code']}```\n" + (f"\n```text\n{printed}```\n" if printed else "")
        parts += [text[end : found.start()], shown]
        end = found.end()
    return "".join([*parts, text[end:]])


def agree(shown, printed, rtol=0.1, atol=0.005):
    """Whether two outputs have the same words, and numbers that differ by rounding or by another order of additions.

    Numbers in exponent notation, which are certificates here, may differ by a factor of ten.
    """
    numbers = [NUMBER.findall(text) for text in (shown, printed)]
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", printed).split() or len(numbers[0]) != len(numbers[1]):
        return False
    for pair in zip(*numbers):
        a, b = (float(number.replace(",", "")) for number in pair)
        if any("e" in number for number in pair):
            if not 0.1 * a <= b <= 10.0 * a:
                return False
        elif abs(a - b) > atol + rtol * abs(a):
            return False
    return True


def main():
    """Write the outputs into the pages."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for page in PAGES:
            page.write_text(with_outputs(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
