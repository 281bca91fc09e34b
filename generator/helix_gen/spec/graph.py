"""Graphs of a spec: what is reached, which edges return, which dispatches go round.

All walks are iterative: a chain of 100,000 nodes is a valid input.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

MAX_SHOWN: Final = 12


def reached(entry: str, successors: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the nodes that can be reached from `entry`, itself included."""
    seen = {entry}
    waiting = [entry]
    while waiting:
        for following in successors.get(waiting.pop(), ()):
            if following not in seen and following in successors:
                seen.add(following)
                waiting.append(following)
    return seen


def returning_edges(
    starts: Sequence[str], successors: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, int, list[str]]]:
    """Yield each returning edge: its node, its index there, and the cycle it closes.

    An edge returns when a depth-first walk from `starts`, in order, meets a node on
    the way that led to it (a back edge). Of a long cycle only the first nodes are
    given, at most MAX_SHOWN: a copy of each whole cycle would grow with the square.
    """
    done: set[str] = set()
    for start in starts:
        if start in done or start not in successors:
            continue
        way = [start]
        on_way = {start: 0}
        pending = [iter(enumerate(successors[start]))]
        while pending:
            for index, following in pending[-1]:
                if following in on_way:
                    first = on_way[following]
                    yield way[-1], index, way[first : first + MAX_SHOWN]
                elif following not in done and following in successors:
                    on_way[following] = len(way)
                    way.append(following)
                    pending.append(iter(enumerate(successors[following])))
                    break
            else:
                pending.pop()
                finished = way.pop()
                del on_way[finished]
                done.add(finished)
