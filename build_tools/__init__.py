"""Helpers of the build; not installed."""
