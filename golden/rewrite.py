"""Write every golden tree anew: `make golden`. Look at the diff before you commit it."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support import golden_texts
from support.golden import GOLDENS


def main() -> int:
    """Rewrite the trees and say which of them changed."""
    for golden in GOLDENS:
        tree, before = golden.generated(), golden.stored()
        if tree == before:
            print(f"  same     {golden.name}")
            continue
        shutil.rmtree(golden.expected, ignore_errors=True)
        for relative, content in tree.items():
            path = golden.expected / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        paths = sorted(
            path
            for path in tree.keys() | before.keys()
            if tree.get(path) != before.get(path)
        )
        print(f"  changed  {golden.name}: {', '.join(paths)}")
    golden_texts.rewrite()
    return 0


if __name__ == "__main__":
    sys.exit(main())
