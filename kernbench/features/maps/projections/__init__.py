"""Products of rows with random directions, and features of them: dense, sparse, by Fastfood, times coefficients."""
