"""Steps of the kernel Perceptron on responses."""

from kernbench.reference.kernel.online.walk import Walk

__all__ = ["Walk", "steps"]


def steps(walk, examples, y, weights, bias_step, averages, mistakes, responses, mistake_sums, response_sums, numbers):
    """Do the steps on examples; `numbers` are the steps done so far, the mistakes, the logical evaluations, the
    intercept and the support vectors."""
    for i in examples:
        numbers[0] += 1
        if weights[i] > 0:
            numbers[2] += numbers[4]
            if y[i] * (responses[i] + numbers[3]) <= 0:
                numbers[1] += 1
                numbers[4] += mistakes[i] == 0
                mistakes[i] += weights[i]
                responses += weights[i] * y[i] * walk.row(i)
                numbers[3] += weights[i] * y[i] * bias_step
        if averages:
            mistake_sums += mistakes
            response_sums += responses
