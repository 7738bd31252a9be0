"""Methods that see a stream of batches once: plain NumPy."""
