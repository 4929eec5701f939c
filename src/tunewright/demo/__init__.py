"""The built-in workload: a small network on scikit-learn's handwritten digits."""
