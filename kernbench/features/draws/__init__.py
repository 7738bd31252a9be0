"""Random numbers of feature maps: the counter-based generator, spectral densities, frequencies."""
