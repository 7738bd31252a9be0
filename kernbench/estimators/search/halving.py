"""A search in rounds: all cells on few rows, the better ones on more, the best on all: successive halving.

::

    rows of the rounds:   ..., n / factor², n / factor, n
    each round:           the folds of a subsample are solved for the cells that are left;
                          the better of them, one in `factor`, stay
    all rows:             the cells that are left, exactly as in an exhaustive search

(Jamieson and Talwalkar, AISTATS 2016; scikit-learn's ``HalvingGridSearchCV`` is another form.) There are as many rounds
as leave at most `factor` cells, or fewer where there are few rows: a subsample has at least `LEAST_ROWS`, and at least
`LEAST_OF_STRATUM` rows of each class in each held-out part, which a rare class would not be in otherwise. Within a
round all cells of a kernel are solved on the same kernel rows, from one C to the next, as in an exhaustive search.

A cell is dropped for a lower score, however little lower: unlike a race it states no risk. The best C depends on the
number of rows, so that a cell that is the best on all of them may have been dropped on few.

Of a rare class few rows hold so few that most cells predict the frequent class throughout, with equal accuracy. Which
of them stay, the areas under their ROC curves decide: the decision values differ where the labels do not.
"""

import numpy as np

from kernbench.estimators.search.cells import text_of
from kernbench.estimators.search.subsamples import SubsampledCells, folds_on, nested_order, random_order_of, task_on
from kernbench.metrics import roc_auc

LEAST_ROWS = 500  # of a subsample: on fewer, scores of cells differ by less than chance
LEAST_OF_STRATUM = 2  # rows of a class in a held-out part


class Halving(SubsampledCells):
    """The cells of a grid, of which the better ones of each round are solved in the next; see the module.

    After `run`, the dropped ones have in `cells`: ``dropped_after``, the rows of their last round, ``dropped_score``,
    their mean score there, and ``dropped_against``, the index of the best cell of that round.

    Raises
    ------
    ValueError
        If there are several scores, none of which decides.
    """

    def __init__(self, search, examples, folds, scoring):
        super().__init__(search, examples, folds, scoring)
        if scoring.decides is None and len(scoring.names) > 1:
            raise ValueError(
                "search='halving' drops cells by one score: name it by refit, or choose search='exact', which solves "
                f"all cells: the scores are {', '.join(scoring.names)}"
            )
        self.score = scoring.decides or scoring.names[0]

    def _run_groups(self):
        self.left = set(range(len(self.cells)))
        for rows in self._samples():
            self._round(rows)
        super()._run_groups()

    def _in_turn(self, g):
        return [strength for strength in super()._in_turn(g) if self._index(strength, g) in self.left]

    def _samples(self):
        """Yield the rows of each subsample, ascending, from the smallest to the largest."""
        strata = self._strata()
        seed = 0 if self.search.random_state is None and self.search._keeps_cells else self.search.random_state
        order = nested_order(strata, random_order_of(seed))
        for size in sizes(len(self.cells), self.search.factor, len(strata), self._least_rows(strata)):
            rows = np.sort(order[:size])
            if self._trains_on_all_classes(rows):
                yield rows

    def _strata(self):
        """Return the stratum of each row: its class, the fold that holds it out, and whether it has a weight."""
        fold_of = np.zeros(len(self.examples.codes), dtype=np.intp)
        for j, fold in enumerate(self.folds, 1):
            fold_of[fold.test] = j
        parts = np.column_stack([self.examples.codes, fold_of, self.examples.used])
        return np.unique(parts, axis=0, return_inverse=True)[1].ravel()

    def _least_rows(self, strata):
        counts = np.bincount(strata[self.examples.used])
        return max(LEAST_ROWS, int(np.ceil(LEAST_OF_STRATUM * len(strata) / counts[counts > 0].min())))

    def _round(self, rows):
        """Solve the cells that are left on a subsample; keep the better ones."""
        examples, folds = self.examples.on(rows), folds_on(self.folds, rows, len(self.examples.y))
        scores, held_out = {}, {}
        for g, task in enumerate(self.tasks):
            strengths = self._in_turn(g)
            if not strengths:
                continue
            source = self.search._source_of_task(task_on(task, rows), examples, folds, self.deadline)
            with self._counting_values(source):
                for strength, cell in zip(strengths, source.cells(strengths), strict=True):
                    self.n_unconverged += cell.n_unconverged
                    index = self._index(strength, g)
                    held_out[index], found = self._scored(cell.values, folds, examples)
                    scores[index] = found[self.score].mean()
        n_kept = n_left(len(scores), self.search.factor)
        ranked = ranking(scores, n_kept, lambda index: mean_area(held_out[index], folds, examples))
        self.left = set(ranked[:n_kept])
        for index in ranked[n_kept:]:
            own = {"dropped_score": scores[index], "dropped_against": ranked[0]}
            self.cells[index].update(dropped_after=f"{len(rows)} rows", **own)
        leader = ranked[0]
        self.bar.describe(f"{len(rows)} rows, best {scores[leader]:.4g} at {text_of(self.cells[leader]['params'])}")
        self._show()


def ranking(scores, n_kept, tie_score):
    """Return the cells by descending score; equal ones in the order of the grid.

    Parameters
    ----------
    scores : dict
        The score of each index; NaN is below all others.
    n_kept : int
        Number of cells that stay.
    tie_score : callable
        Where some of equal cells would stay and others not, the order is that of descending ``tie_score(index)``.
    """
    known = {index: np.nan_to_num(score, nan=-np.inf) for index, score in scores.items()}
    limit = sorted(known.values(), reverse=True)[n_kept - 1]
    tied = [index for index, score in known.items() if score == limit]
    decided = sum(score >= limit for score in known.values()) == n_kept
    areas = {} if decided else {index: tie_score(index) for index in tied}
    return sorted(known, key=lambda index: (-known[index], -areas.get(index, 0.0), index))


def mean_area(held_out, folds, examples):
    """Return the area under the ROC curve of the held-out rows; of more than two classes the mean of each to the rest.

    Classes that no held-out row belongs to are left out; of a single class it is 1/2.
    """
    rows = np.concatenate([fold.test for fold in folds])
    rows = rows[examples.used[rows]]
    codes, values = examples.codes[rows], held_out.class_scores[rows]
    weights = None if examples.sample_weight is None else examples.sample_weight[rows]
    present = np.unique(codes)
    if len(present) < 2:
        return 0.5
    if values.ndim == 1:
        return roc_auc(codes, values, sample_weight=weights)
    return np.mean([roc_auc(codes == code, values[:, code], sample_weight=weights) for code in present])


def sizes(n_cells, factor, n_rows, least):
    """Return the numbers of rows of the subsamples, ascending: n / factor, n / factor² ..., each at least `least`.

    Parameters
    ----------
    n_cells : int
        There are no more subsamples than leave at most `factor` of so many cells.
    factor : float
    n_rows, least : int
    """
    found, size, left = [], n_rows, n_cells
    while left > factor and size > least:
        left = n_left(left, factor)
        size = max(min(int(size / factor), size - 1), least)
        found.append(size)
    return found[::-1]


def n_left(n_cells, factor):
    """Return how many cells stay after a round: one in `factor`, rounded up, and fewer than before."""
    return min(int(np.ceil(n_cells / factor)), n_cells - 1)
