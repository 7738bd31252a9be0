"""Feature maps: from frequencies and rows to features, one module per construction."""
