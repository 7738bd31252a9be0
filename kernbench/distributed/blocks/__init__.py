"""Rows in blocks that one process reads: of files, of memory, of feature maps; drawn, and summarised."""
