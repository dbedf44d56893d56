"""Candidates judged on the same examples: which one is judged next, and what their scores say about the means.

Examples come in one random order, and every candidate is judged along it. So two candidates always have examples in
common, the luck of the draw cancels from their difference, and a candidate that has been judged on all is known.
"""

from __future__ import annotations

from itertools import pairwise
from math import log, sqrt

import numpy as np

from . import certainty
from .compiling import compiled
from .policies.knowledge import log_gain

INFLATION = (
    1.5  # of the variances in claims: with 1 those on near ties of AlpacaEval are too bold, with 2 others modest
)
FIRST = 3  # examples for every candidate before any choice is made
SHARE, POOLED = 0.3, 10.0  # of "look ahead": the part of an equal share that all have, and the pooled variance's weight


@compiled
def next_candidate(counts, told, totals, squares, size):
    """Return the candidate to judge next, -1 if there is none: TopTwo, for means over a finite set of `size` examples.

    `told`, `totals` and `squares` describe the scores that are known; `counts` includes those that are under way. A
    variance counts for the examples that are left only, and a candidate that has been judged on all is left alone.
    """
    least, degrees, pooled = 0, 0.0, 0.0
    for i in range(counts.size):
        if counts[i] < counts[least]:
            least = i
        degrees += max(told[i] - 1.0, 0.0)
        pooled += squares[i]
    if counts[least] >= size:
        return -1
    if counts[least] < FIRST or degrees == 0 or pooled <= 0.0:
        return least
    pooled /= degrees
    leader = -1
    for i in range(counts.size):
        if told[i] > 0 and (leader < 0 or totals[i] / told[i] > totals[leader] / told[leader]):
            leader = i
    lead, own, others, lowest, challenger = totals[leader] / told[leader], 0.0, 0.0, np.inf, -1
    own = _noise(counts[leader], told[leader], squares[leader], pooled, size)
    for i in range(counts.size):
        if i != leader:
            noise = _noise(counts[i], told[i], squares[i], pooled, size)
            others += counts[i] / noise
            gap = lead - (totals[i] / told[i] if told[i] > 0 else lead - 1e100)
            cost = gap * gap / (own + noise) + log(counts[i])
            if counts[i] < size and cost < lowest:
                lowest, challenger = cost, i
    if counts[leader] < size and (challenger < 0 or counts[leader] / own < others):
        return leader
    return challenger


@compiled
def _noise(count, told, square, pooled, size):
    """Return the variance of a mean over `count` of `size` examples; a trace is left when all are judged."""
    variance = (square + certainty.SHRINKAGE * pooled) / (max(told - 1.0, 0.0) + certainty.SHRINKAGE)
    return variance * max(1.0 / count - 1.0 / size, 1e-9)


@compiled
def most_gained(gains, counts, told, totals, squares):
    """Return the candidate to judge next, -1 if there is none: LookAhead, for candidates that share their examples.

    The sample of a candidate is imagined doubled, up to the number of examples. On examples that the one with the most
    has seen, only what its scores do not tell is news; beyond them, the means of the others would move along. A
    candidate with less than `SHARE` of an equal share comes first. `gains` has a row per candidate, the examples in
    their order, NaN where there is no score; the rest is as for `next_candidate`.
    """
    size, least, degrees, pooled, pulls = gains.shape[1], 0, 0.0, 0.0, 0.0
    means = np.full(told.size, -np.inf)
    for i in range(told.size):
        if told[i] > 0:
            means[i] = totals[i] / told[i]
        if counts[i] < counts[least] or (counts[i] == counts[least] and means[i] > means[least]):
            least = i
        degrees += max(told[i] - 1.0, 0.0)
        pooled += squares[i]
        pulls += counts[i]
    if counts[least] >= size:
        return -1
    if counts[least] < max(FIRST, SHARE * pulls / told.size) or degrees == 0 or pooled <= 0.0:
        return least
    longest = told.argmax()
    correlation, most = _align(gains, told, squares, longest, means), told[longest]
    best = means.argmax()
    top, means[best] = means[best], -np.inf
    means[best] = means.max()  # the best of the others, as for every candidate
    chosen, highest = least, -np.inf
    for i in range(told.size):
        n, end = counts[i], min(2.0 * counts[i], 1.0 * size)
        news = 0.0
        if n < most:
            news += (1.0 - correlation**2) * (1.0 / n - 1.0 / min(end, most))
        if end > most:
            news += (1.0 - correlation) ** 2 * (1.0 / max(n, most) - 1.0 / end)
        spread = (squares[i] + POOLED * pooled / degrees) / (max(told[i] - 1.0, 0.0) + POOLED) * news
        if n < size and spread > 0.0:
            gap = top - means[i]
            gain = 0.5 * log(spread) + log_gain(gap * gap / spread)
            if gain > highest:
                chosen, highest = i, gain
    return chosen


@compiled
def _align(gains, told, squares, longest, means):
    """Adjust `means` as `adjusted_means` does, and return the correlation with the candidate with the most scores.

    All candidates are given the same correlation. Sums are of deviations, so that the level of the scores has no say.
    """
    centre, shared, alone = means[longest], 0.0, 0.0
    variance = squares[longest] / max(told[longest] - 1.0, 1.0)
    for i in range(told.size):
        if i == longest or told[i] < 2:
            continue
        n, seen, t, own, other, cross, square, common = 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0
        while seen < told[i]:
            a, b = gains[i, t] - means[i], gains[longest, t] - centre
            t += 1
            seen += a == a
            if a == a and b == b:
                n += 1
                own += a
                other += b
                cross += a * b
                square += a * a
                common += b * b
        if n > 1:
            cross -= own * other / n
            common = max(common - other * other / n, 0.0)
            shared += cross
            alone += sqrt(max(square - own * own / n, 0.0) * common)
            if n == told[i] and common + variance > 0.0:
                slope = cross / (common + certainty.SHRINKAGE * variance)
                means[i] -= min(1.0, max(0.0, slope)) * other / n
    return min(0.95, max(0.0, shared / alone)) if alone > 0.0 else 0.0


@compiled
def adjusted_means(scores, counts):
    """Return the mean of each candidate, adjusted for the luck of its examples; NaN without a score.

    `scores` has a row per candidate and the examples in their order, NaN where a judgement failed. The candidate with
    the most examples says whether those that another one has seen were easy: the difference, times the slope of the
    regression of one on the other, is taken off.
    """
    longest = counts.argmax()
    means = np.full(counts.size, np.nan)
    all_total, all_count, all_square = 0.0, 0, 0.0
    for t in range(counts[longest]):
        if scores[longest, t] == scores[longest, t]:
            all_total += scores[longest, t]
            all_count += 1
            all_square += scores[longest, t] ** 2
    for i in range(counts.size):
        n, x, own, other, cross, square = 0, 0, 0.0, 0.0, 0.0, 0.0
        for t in range(counts[i]):
            a, b = scores[i, t], scores[longest, t]
            if a == a:
                n += 1
                own += a
                if b == b:
                    x += 1
                    other += b
                    cross += a * b
                    square += b * b
        if n == 0:
            continue
        means[i] = own / n
        if i == longest or x < n or all_count < 2 or n < 2:
            continue
        variance = (all_square - all_total**2 / all_count) / (all_count - 1)
        common = square - other**2 / n + certainty.SHRINKAGE * variance
        slope = (cross - own * other / n) / common if common > 0 else 0.0
        means[i] += min(1.0, max(0.0, slope)) * (all_total / all_count - other / n)
    return means


@compiled
def common_correlation(scores, counts, deviations):
    """Return the average correlation between two candidates over the examples that both were judged on."""
    total, weight = 0.0, 0.0
    for i in range(counts.size):
        for j in range(i):
            n, a, b, cross = 0, 0.0, 0.0, 0.0
            for t in range(min(counts[i], counts[j])):
                x, y = scores[i, t], scores[j, t]
                if x == x and y == y:
                    n += 1
                    a += x
                    b += y
                    cross += x * y
            if n > 1 and deviations[i] > 0 and deviations[j] > 0:
                total += (cross - a * b / n) / (deviations[i] * deviations[j])
                weight += n - 1
    return total / weight if weight > 0 else 0.0


def stage_rows(n_candidates: int, n_examples: int, budget: int) -> list[tuple[int, int]]:
    """Return the stages of halving: how many candidates are in, and up to which example they are judged.

    Stages have equal budgets. None goes beyond the last example: what it would leave over is shared by the others, and
    what division leaves over goes to the last stage.

    Examples
    --------
    >>> stage_rows(8, 1000, 240)
    [(8, 10), (4, 30), (2, 70)]
    >>> stage_rows(8, 40, 240)
    [(8, 20), (4, 40)]
    """
    sizes = [n_candidates]
    while sizes[-1] > 2:
        sizes.append(-(-sizes[-1] // 2))

    def rows(share: int) -> list[int]:
        found = [0]
        for size in sizes:
            found.append(min(n_examples, found[-1] + share // size))
        return found[1:]

    def cost(ends: list[int]) -> int:
        starts = [0, *ends[:-1]]
        return sum(size * (end - start) for size, start, end in zip(sizes, starts, ends, strict=True))

    low, high = 0, budget
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(rows(middle)) <= budget else (low, middle - 1)
    ends = rows(low)
    ends[-1] = min(n_examples, ends[-1] + (budget - cost(ends)) // sizes[-1])
    kept = [(size, end) for size, end in zip(sizes, ends, strict=True)]
    full = next((k for k, (_, end) in enumerate(kept) if end == n_examples), len(kept) - 1)
    return kept[: full + 1]


def precision_matrix(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the inverse covariance of the means, as estimates of the means over all examples.

    All pairs of candidates are given the same correlation. The examples between two neighbouring counts were judged by
    the same candidates: they add up. A candidate that has been judged on all examples is known but for a trace.
    """
    told = np.isfinite(scores).sum(axis=1)
    squares = np.array(
        [np.nansum((row - np.nanmean(row)) ** 2) if n else 0.0 for row, n in zip(scores, told, strict=True)]
    )
    variances = certainty.shrunk_variances(told, squares)
    degrees = np.maximum(told - 1, 0) + certainty.SHRINKAGE
    scale = max(float(np.nanmax(np.abs(scores))), 1e-300)
    deviations = np.sqrt(np.maximum(variances * degrees / (degrees - 2), (1e-8 * scale) ** 2))
    correlation = min(0.95, max(0.0, common_correlation(scores, counts, deviations)))
    result = np.zeros((len(counts), len(counts)))
    ends = sorted({0, *(int(count) for count in counts)})
    for start, end in pairwise(ends):
        active = np.flatnonzero(counts >= end)
        inside = np.eye(active.size) - correlation / (1 + correlation * (active.size - 1))
        block = (end - start) * inside / (1 - correlation) / np.outer(deviations[active], deviations[active])
        result[np.ix_(active, active)] += block
    left = np.sqrt(np.maximum(1 - counts / scores.shape[1], 1e-9))
    result /= INFLATION * np.outer(left, left)
    result[told == 0], result[:, told == 0] = 0.0, 0.0
    return result
