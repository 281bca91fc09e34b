"""Statistics of pass rates: intervals that never collapse, and pass^k.

Everything here is exact or uses +, -, *, / and the square root alone, which IEEE 754
fixes to the last bit: the same counts give the same numbers on every machine.
"""

from collections.abc import Sequence
from math import comb, sqrt
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

Z95: Final = 1.959963984540054
RESAMPLES: Final = 1000


def wilson(passes: float, total: float) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a rate, `total` above zero.

    `passes` may be a sum of numbers in [0, 1]: their variance is at most that of a
    rate, so the interval then errs on the wide side. At 0 % and 100 % it keeps a
    width. E. B. Wilson, JASA 22 (1927), 209-212.
    """
    z2 = Z95 * Z95
    rate = passes / total
    center = (rate + z2 / (2 * total)) / (1 + z2 / total)
    half = (Z95 / (1 + z2 / total)) * sqrt(
        max(0.0, rate * (1 - rate)) / total + z2 / (4 * total * total)
    )
    low = 0.0 if passes <= 0 else max(0.0, center - half)
    high = 1.0 if passes >= total else min(1.0, center + half)
    return low, high


def pass_hat_k(passes: int, total: int, k: int) -> float:
    """Return the unbiased estimate that `k` repeats all pass: C(c, k) / C(n, k).

    Needs `total` >= `k`.
    """
    return comb(passes, k) / comb(total, k)


def pass_at_k(passes: int, total: int, k: int) -> float:
    """Return the unbiased estimate that one of `k` repeats passes.

    1 - C(n - c, k) / C(n, k), needs `total` >= `k`. M. Chen et al., arXiv:2107.03374.
    """
    return 1 - comb(total - passes, k) / comb(total, k)


def bootstrap_by_case(
    groups: Sequence[tuple[float, int, int]], *, seed: str
) -> tuple[float, float]:
    """Return the 95 % interval of a ratio over repeated cases, resampled by case.

    A group is (passes, repeats, cases): so many cases with that outcome, `repeats`
    and `cases` above zero. The repeats of one case stay together, for they are not
    independent. Few cases show too little of what others are like, so one more that
    always passes and one that never does are drawn from too (after A. Agresti and B.
    Caffo, Am. Stat. 54 (2000), 280-288). It is never narrower than if all repeats were
    independent (Wilson), and its lower end is never above, its upper end never below,
    that of as many cases that all pass or all fail: where all do, it is just that.
    """
    from random import Random

    ordered = sorted(groups)
    cases = sum(count for _, _, count in ordered)
    passes = sum(p * n for p, _, n in ordered)
    total = sum(t * n for _, t, n in ordered)
    if passes <= 0:
        return wilson(0, cases)
    if passes >= total:
        return wilson(cases, cases)
    repeats = total / cases
    drawn_from = [*ordered, (0.0, repeats, 1), (repeats, repeats, 1)]
    counts = [count for _, _, count in drawn_from]
    rng = Random(seed)
    rates = []
    for _ in range(RESAMPLES):
        times = drawn_again(counts, rng)
        drawn = sum(n * group[0] for n, group in zip(times, drawn_from, strict=True))
        of = sum(n * group[1] for n, group in zip(times, drawn_from, strict=True))
        rates.append(drawn / of)
    rates.sort()
    tail = RESAMPLES // 40
    independent = wilson(passes, total)
    return (
        min(rates[tail - 1], independent[0], wilson(cases, cases)[0]),
        max(rates[RESAMPLES - tail], independent[1], wilson(0, cases)[1]),
    )


def difference_by_case(
    groups: Sequence[tuple[float, int]], *, seed: str
) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences, resampled by case.

    A group is (difference, cases), a difference in [-1, 1], `cases` above zero. Few
    cases show too little of what others are like, so one more of either extreme is
    drawn from too (after A. Agresti and Y. Min, Stat. Med. 24 (2005), 729-740): it
    keeps a width where no case differs. It always holds the mean itself.
    """
    from random import Random

    ordered = sorted(groups)
    cases = sum(count for _, count in ordered)
    mean = sum(value * count for value, count in ordered) / cases
    drawn_from = [*ordered, (-1.0, 1), (1.0, 1)]
    counts = [count for _, count in drawn_from]
    rng = Random(seed)
    means = []
    for _ in range(RESAMPLES):
        times = drawn_again(counts, rng)
        drawn = sum(n * value for n, (value, _) in zip(times, drawn_from, strict=True))
        means.append(drawn / (cases + 2))
    means.sort()
    tail = RESAMPLES // 40
    return min(means[tail - 1], mean), max(means[RESAMPLES - tail], mean)


def drawn_again(counts: Sequence[int], rng: "Random") -> list[int]:
    """Return how often each group is drawn in one resample of cases with replacement.

    `counts` are the cases of each group; as many are drawn as there are.
    """
    left = whole = sum(counts)
    drawn = []
    for count in counts:
        # A multinomial draw, one binomial at a time.
        times = _binomial(left, count, whole, rng)
        whole -= count
        left -= times
        drawn.append(times)
    return drawn


def _binomial(trials: int, share: int, whole: int, rng: "Random") -> int:
    """Return how many of `trials` succeed, each with the chance `share`/`whole`.

    Exact, in integers alone, so that no platform's logarithm can change a draw. A
    trial is a random binary fraction, compared bit by bit with the chance: where the
    bits differ the trial is decided, so half of the open trials are at each bit.
    """
    if share >= whole:
        return trials
    successes = 0
    while trials and share:
        share *= 2
        ones = rng.getrandbits(trials).bit_count()
        if share >= whole:
            share -= whole
            successes += trials - ones
            trials = ones
        else:
            trials -= ones
    return successes
