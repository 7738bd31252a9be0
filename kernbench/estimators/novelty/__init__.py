"""Novelty detection by the one-class support vector machine: KernelNoveltyDetector."""
