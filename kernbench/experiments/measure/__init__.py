"""How a method is measured: clock, fit, prediction, evaluation."""
