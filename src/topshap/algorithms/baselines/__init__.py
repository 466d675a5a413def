"""Published algorithms that the paper and the benchmarks compare with."""
