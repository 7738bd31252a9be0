"""Sequential minimal optimisation on working sets: the dual of the kernel SVM to a certified gap."""
