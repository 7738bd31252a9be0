"""The terminal: one console for standard output, one for standard error."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kernbench._names import printable

LEAST_WIDTH = 80  # characters of a table: a narrower terminal wraps its lines, where columns would be of single letters
PIPE_WIDTH = 160


def stdout():
    """Return a console on standard output; not kept, since tests and pipes replace the stream."""
    return Console(highlight=False, soft_wrap=True)


def stderr():
    """Return a console on standard error, for progress and notes, so that output can be piped."""
    return Console(stderr=True, highlight=False)


def table(title, headings, rows):
    """Return a table without borders, its first column coloured. All is plain text, not markup; fields are one line."""
    from rich.text import Text

    drawn = Table(title=escape(title), title_justify="left", title_style="bold", box=None, header_style="bold",
                  pad_edge=False)  # fmt: skip
    for i, heading in enumerate(headings):
        drawn.add_column(escape(heading), style="cyan" if i == 0 else None, no_wrap=i == 0, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(printable(" ".join(str(field).split()))) for field in row))
    return drawn


def print_table(title, headings, rows):
    """Print a table; wider than the terminal if that is narrow, or if the output is a pipe."""
    console = Console(highlight=False)
    console.width = max(console.width, LEAST_WIDTH) if console.is_terminal else PIPE_WIDTH
    console.print(table(title, headings, rows))
    console.print()
