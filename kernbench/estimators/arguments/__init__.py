"""The arguments of ``fit``: parameters, rows, labels, targets and streams, checked; the kernel that they specify."""
