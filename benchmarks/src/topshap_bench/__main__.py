"""Run ``topshap-bench`` as ``python -m topshap_bench``."""

from topshap_bench.cli import main

if __name__ == "__main__":
    main()
