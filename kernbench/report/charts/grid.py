"""One number for each pair of categories, as shown by dot charts and heat maps."""

from kernbench.report import text


class Grid:
    """The medians of a display's value by row and column, with the names of both.

    Parameters
    ----------
    display : kernbench.experiments.declare.Marks or HeatMap
    results : Results
    row, column : str
        Categories.
    """

    def __init__(self, display, results, row, column):
        self.display, self.results, self.categories = display, results, (row, column)
        self.values = results.medians(display, self.categories)
        declared = {"dataset": results.datasets, "method": results.methods()}  # a row may be empty in the first column
        self.rows, self.columns = (
            {name: results.category_label(place, name) for name in declared.get(place, found) if name in found}
            for place, found in zip(self.categories, [*zip(*self.values)] or [(), ()])
        )

    def remarks(self):
        """The sentence of the caption on what the numbers are; none for a single repeat."""
        if len({record["repeat"] for record in self.results.chosen_records(self.display)}) > 1:
            mixed = self.results.has_several_setups(*self.results.chosen_datasets(self.display))
            yield f"Medians over repeats{' and set-ups' if mixed else ''}."

    def words(self, digits):
        """The grid in words, for screen readers."""
        parts = [f"{self.display.value.label}."]
        for row, row_name in self.rows.items():
            values = [
                f"{text.names([name])} {text.significant(self.values[row, column], digits)}"
                for column, name in self.columns.items()
                if (row, column) in self.values
            ]
            parts.append(f"{row_name}: {text.listed(values)}.")
        return " ".join(parts)

    def csv_rows(self):
        """The data of the chart, with a heading."""
        yield (*self.categories, text.heading(self.display.value))
        for names, value in self.values.items():
            yield (*names, value)
