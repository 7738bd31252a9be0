"""Steps of Pegasos on explicit features: the core of `solvers.linear.pegasos`."""

import numpy as np

RECOMPUTED = 4096  # steps between two recomputations of |g|^2
SMALLEST_SCALE = 1e-6


def steps(design, problem, norms, drawn, lam, delay, limit, g, counts, lags, numbers):
    """Do a step on each row of `drawn`; `numbers` are the steps done so far, scale, |g|^2, begun, passed, total, inner
    products and kept."""
    y, targets, loss = problem.y, problem.targets, problem.loss
    t, scale, squared_norm, begun, passed, total, n_products, kept = numbers
    for batch in drawn:
        X, shrunk = design.rows(batch), scale / (lam * max(t + delay, 1.0))
        margins = [y[i] * shrunk * (x @ g) - targets[i] for i, x in zip(batch, X)]
        n_products += len(batch)
        for i, x, margin in zip(batch, X, margins):
            step = -float(loss.slope(margin)) / (len(batch) * scale)
            if step != 0.0:
                if limit < np.inf:
                    squared_norm += step * (2.0 * y[i] * (x @ g) + step * norms[i])
                    n_products += 1
                g += step * y[i] * x
                counts[i] += step
                lags[i] += passed * step
                n_products += 1
        t += 1
        if limit < np.inf:
            radius = limit * (lam * (t + delay)) ** 2
            if t % RECOMPUTED == 0:
                squared_norm = g @ g
            if scale**2 * squared_norm > radius:
                scale = np.sqrt(radius / squared_norm)
                if scale < SMALLEST_SCALE:
                    lags -= passed * counts
                    g *= scale
                    counts *= scale
                    kept *= scale
                    passed, squared_norm, scale = 0.0, radius, 1.0
        begun += scale * kept
        passed += scale
        total += t + delay
    numbers[:] = t, scale, squared_norm, begun, passed, total, n_products, kept
