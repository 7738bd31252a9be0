"""The slow second pass over a table that NumPy could not parse: find the first fault and report where it is."""

import math
from itertools import islice

from kernbench.datasets.errors import malformed, shown
from kernbench.datasets.readers.compressed import open_text
from kernbench.datasets.readers.delimited_layout import OPEN_QUOTE, has_open_quote, is_number, split

SAMPLE = 100  # rows inspected to distinguish a column of categories from a single typing error
HEADER_HINT = " (if the first line is a header, set header=True, or name the label column)"
MISSING = ("na", "n/a", "#n/a", "null", "none", "?", ".", "-")  # as programs write missing values, in small letters


def raise_first_fault(path, layout):
    """Raise `DataFileError` for the first fault in the table at `path`; return if there is none."""
    with open_text(path) as file:
        rows = _rows(file, path, layout)
        for line, fields in rows:
            if len(fields) != layout.n_columns:
                raise malformed(path, _ragged(line, fields, layout), line=line)
            for position, field in enumerate(fields):
                problem = _problem(field, position, layout)
                if problem:
                    if position != layout.label:
                        problem += _advice(line, position, fields, rows, layout)
                    raise malformed(path, problem, line=line, column=layout.column(position))


def _rows(file, path, layout):
    """Yield line number and fields of every example."""
    for number, line in enumerate(file, 1):
        if number <= layout.n_skipped or line.isspace():
            continue
        if has_open_quote(line, layout.delimiter):
            *before, open_field = split(line, layout.delimiter)
            raise malformed(
                path, f"found {shown(open_field)}: {OPEN_QUOTE}", line=number, column=layout.column(len(before))
            )
        yield number, split(line, layout.delimiter)


def _ragged(line, fields, layout):
    found = f"found {len(fields)} field{'s' if len(fields) != 1 else ''}, expected {layout.n_columns}"
    if layout.names and len(fields) == layout.n_columns + 1 and line == layout.n_skipped + 1:
        return f"{found} as in the header (if lines begin with row names, write the table without them)"
    return f"{found} as in the {'header' if layout.names else 'first line'}"


def _problem(field, position, layout):
    if position == layout.label:
        if field == "":
            return "the label is missing"
        if is_number(field) == layout.text_labels:
            kinds = ("text", "a number") if layout.text_labels else ("a number", "text")
            problem = f"found the label {shown(field)}; the first label is {kinds[0]}, this one is {kinds[1]}"
            return problem + (HEADER_HINT if layout.text_labels and not layout.names else "")
        if not layout.text_labels and not math.isfinite(float(field)):
            return f"found the label {shown(field)}; labels must be finite"
        return None
    if field == "":
        return "found an empty field, expected a number; fill in missing values first"
    if not is_number(field):
        problem = f"found {shown(field)}, expected a number"
        return f"{problem}; fill in missing values first" if field.lower() in MISSING else problem
    if not math.isfinite(float(field)):
        return f"found {shown(field)}, expected a finite number; remove or impute such values first"
    return None


def _advice(line, position, fields, rows, layout):
    """Advise on text in a column of numbers; the next rows show whether the whole column is text."""
    field = fields[position]
    if is_number(field) or field == "":
        return ""
    if is_number(field.replace(",", "")):
        return "; write decimals with a point, and thousands without a comma"
    hint = HEADER_HINT if not layout.names and line == layout.n_skipped + 1 else ""
    sample = [fields] + [f for _, f in islice(rows, SAMPLE) if len(f) == layout.n_columns]

    def mostly_text(column):
        return 2 * sum(not is_number(row[column]) for row in sample) > len(sample)

    columns = [layout.column(p) for p in range(layout.n_columns) if p != layout.label and mostly_text(p)]
    if layout.column(position) not in columns:
        return hint
    which = f"column {columns[0]} holds" if len(columns) == 1 else f"columns {', '.join(columns)} hold"
    return (
        f"{hint}; {which} text: encode categories as numbers first, for example with "
        "sklearn.preprocessing.OneHotEncoder, leave the column out, or name it if it is that of the labels"
    )
