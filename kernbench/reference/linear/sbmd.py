"""Steps of stochastic block mirror descent: the core of `solvers.linear.sbmd`."""


def steps(design, problem, examples, blocks, ends, lam, largest_step, begun, w, sums, counted, numbers):
    """Do a step for each example and block; `numbers` are the steps done so far and the entries touched."""
    for i, block in zip(examples, blocks):
        y, x, part = problem.y[i], design.rows([i])[0], slice(*ends[block : block + 2])
        slope = float(problem.loss.slope(y * (x @ w) - problem.targets[i]))
        passed = 0.5 * numbers[0] * (numbers[0] + 1.0) - begun
        sums[part] += (passed - counted[block]) * w[part]
        counted[block] = passed
        numbers[0] += 1
        step = min(largest_step, 2.0 * len(counted) / (lam * (numbers[0] + 1)))
        w[part] *= 1.0 - step * lam
        w[part] -= step * slope * y * x[part]
        numbers[1] += len(x) + part.stop - part.start
