"""The suite's own command, for whoever runs its folder: `python FOLDER run`."""

import sys

from trail_notes_evals.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
