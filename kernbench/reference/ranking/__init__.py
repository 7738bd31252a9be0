"""References of what is computed from rankings: losses over pairs, areas under the ROC curve, and the solvers on them."""
