"""The same fits over files and over the workers of a cluster."""
