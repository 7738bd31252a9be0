"""From an experiment to records: cells, their processes, limits, and the store."""
