"""Steps of random block coordinate descent: the core of `solvers.linear.rbcd`."""

import numpy as np

RECOMPUTED = 64  # passes over the blocks between two recomputations of the scores


def find_slopes(problem, scores, slopes):
    """slopes = w l'(m) y / n."""
    z = problem.y * scores - problem.targets
    slopes[:] = problem.weights * problem.y * problem.loss.slope(z) / problem.n


def steps(design, columns, problem, blocks, ends, constants, w, scores, slopes, numbers):
    """Do a step on each of `blocks`; `numbers` are the steps done so far and the features touched."""
    for block in blocks:
        part = slice(*ends[block : block + 2])
        of_block = columns.rows(np.arange(part.start, part.stop))
        step = -(of_block @ slopes + problem.alpha * w[part]) / constants[block]
        w[part] += step
        scores += step @ of_block
        numbers += 1, 2 * len(step)
        if numbers[0] % (RECOMPUTED * (len(ends) - 1)) == 0:
            scores[:] = design.scores(w)
        find_slopes(problem, scores, slopes)
