"""`cache`: what is kept of judges' answers, and how to let it go."""

from __future__ import annotations

import time
from argparse import Namespace

from ..folder import SuiteFolder
from ..judges.cache import FILE
from ..judges.judging import suite_cache
from ..safe_text import printable


def execute(args: Namespace, folder: SuiteFolder) -> int:
    """Show what the cache holds, or prune it; the exit code is 0."""
    path = folder.runs / FILE
    if not path.is_file():
        print("the cache is empty: no judge has answered yet")
        return 0
    cache = suite_cache(folder)
    try:
        if args.action == "prune":
            before = None
            if args.older_than is not None:
                before = int(time.time() // 86_400) - args.older_than
            removed = cache.prune(before=before)
            print(f"{removed} answers removed")
        stats = cache.stats()
    finally:
        cache.close()
    print(f"{stats.entries} answers, {stats.bytes / 1024:.0f} KiB in runs/{FILE}")
    for model, count in stats.models:
        print(f"  {count:>8} {printable(model, 80)}")
    if stats.oldest is not None and stats.newest is not None:
        print(f"  from {_date(stats.oldest)} to {_date(stats.newest)}")
    return 0


def _date(day: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(day * 86_400))
