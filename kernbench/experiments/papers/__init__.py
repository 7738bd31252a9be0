"""Experiments that repeat tables and figures of papers, one folder per paper."""
