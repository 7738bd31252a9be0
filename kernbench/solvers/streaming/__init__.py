"""Methods that see a stream of batches once: `doubly_sgd`, doubly stochastic gradients."""
