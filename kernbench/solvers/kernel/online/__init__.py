"""Online methods on a kernel expansion: Pegasos, norm-ball SGD, NORMA, the Perceptron."""
