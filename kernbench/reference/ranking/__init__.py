"""References of what rankings give: losses over pairs, areas under the ROC curve, and the solvers on them."""
