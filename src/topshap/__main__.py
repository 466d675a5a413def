"""Run the command ``topshap`` as ``python -m topshap``, even if it is not on the PATH."""

from topshap.cli import main

if __name__ == "__main__":
    main()
