"""``python -m topshap``: the command ``topshap``, where it is not on the path."""

from topshap.cli import main

if __name__ == "__main__":
    main()
