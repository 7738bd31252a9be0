"""The Nyström map: landmarks, roots of their kernel matrix, and the transformer."""
