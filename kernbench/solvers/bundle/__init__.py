"""Cutting planes for a convex risk of scores, and the quadratic programme of their dual."""
