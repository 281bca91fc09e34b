"""The suite's own command: `python -m PACKAGE --help`, from the suite's folder."""

import os
import sys


def main() -> int:
    """Run one command of the suite and return its exit code."""
    if not __package__:  # started by its path: `python PACKAGE run`
        sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    from bakery_orders_evals._runtime.cli import main as run

    return run(__file__)


if __name__ == "__main__":
    sys.exit(main())
