"""``python -m topshap_bench``, the same as ``topshap-bench``."""

from topshap_bench.cli import main

if __name__ == "__main__":
    main()
