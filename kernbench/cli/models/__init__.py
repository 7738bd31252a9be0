"""``kernbench fit`` and ``kernbench predict``: models of data files."""
