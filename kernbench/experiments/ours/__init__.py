"""Experiments of our own: questions that no paper asks."""
