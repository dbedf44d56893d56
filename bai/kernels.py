"""The compiled loops behind `simulate`: each plays a block of runs and writes pulls and answers in place.

A kernel makes the same pulls as the plain version of its algorithm in `plain.py`, reward for reward, and
compares the same floating-point expressions, so that even ties fall alike. Compiled code that calls each
other lives in one file because numba's cache on disk notices changes of the file that it compiles and of no other.

Within a run the arms are known by their position 0 ... K - 1. Ties go to the lowest position; `simulate` puts
the arms in random order first.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import typeof_impl

compiled = njit(cache=True, nogil=True, error_model="numpy")
# Without this a call in a hot loop spends more on counting references to its arrays than on its work.
inlined = njit(cache=True, nogil=True, error_model="numpy", forceinline=True)

GAUSSIAN, TABLE, REPLAY, LOW_RANK = 0, 1, 2, 3


class Rewards(NamedTuple):
    """Where rewards come from: one row per run of the block, one column per position."""

    kind: int
    rng: np.random.Generator
    loc: np.ndarray = np.empty((0, 0))  # GAUSSIAN: means (R, K)
    scale: np.ndarray = np.empty((0, 0))  # GAUSSIAN: standard deviations (R, K)
    table: np.ndarray = np.empty((0, 0))  # TABLE, REPLAY: rewards (M, U); LOW_RANK: factors of the items (M, D)
    rows: np.ndarray = np.empty((0, 0), np.int64)  # row of the table (R, K)
    users: np.ndarray = np.empty((0, 0))  # LOW_RANK: factors of the users (U, D)


_reward_types: dict = {}


@typeof_impl.register(Rewards)
def _type_of_rewards(rewards, context):
    # Found anew for each call this takes 0.15 ms, which is long beside a block of 500 cheap runs.
    key = tuple((x.dtype, x.ndim, x.flags.num) if isinstance(x, np.ndarray) else type(x) for x in rewards)
    if key not in _reward_types:
        _reward_types[key] = types.NamedTuple([typeof_impl(x, context) for x in rewards], Rewards)
    return _reward_types[key]


@inlined
def draw(rewards, r, i, k):
    """Return the reward of pull number k (from 0) of arm i in run r."""
    if rewards.kind == GAUSSIAN:
        return rewards.loc[r, i] + rewards.scale[r, i] * rewards.rng.standard_normal()
    row = rewards.rows[r, i]
    if rewards.kind == TABLE:
        return rewards.table[row, int(rewards.rng.random() * rewards.table.shape[1])]
    if rewards.kind == LOW_RANK:
        user = int(rewards.rng.random() * rewards.users.shape[0])
        reward = 0.0
        for d in range(rewards.users.shape[1]):
            reward += rewards.table[row, d] * rewards.users[user, d]
        return reward
    return rewards.table[row, k]


@inlined
def draw_sum(rewards, r, i, k, m, total):
    """Return `total` plus the rewards of pulls k, ..., k + m - 1 of arm i."""
    if rewards.kind == GAUSSIAN:
        # Nobody looks at the single rewards, so their sum is drawn at once.
        return total + m * rewards.loc[r, i] + sqrt(m) * rewards.scale[r, i] * rewards.rng.standard_normal()
    for j in range(m):
        total += draw(rewards, r, i, k + j)
    return total


# --- the order of arms -----------------------------------------------------------------------------------


@compiled
def shuffle(rng, order):
    """Fill each row of `order` with a random permutation (Fisher and Yates)."""
    for r in range(order.shape[0]):
        for i in range(order.shape[1]):
            j = int(rng.random() * (i + 1))
            order[r, i] = order[r, j]
            order[r, j] = i


@compiled
def gather(values, order):
    """Return values[r, order[r, i]]: what belongs to the arms, by position."""
    result = np.empty(order.shape, values.dtype)
    for r in range(order.shape[0]):
        for i in range(order.shape[1]):
            result[r, i] = values[r, order[r, i]]
    return result


@compiled
def scatter(values, order):
    """Undo `gather`."""
    result = np.empty_like(values)
    for r in range(order.shape[0]):
        for i in range(order.shape[1]):
            result[r, order[r, i]] = values[r, i]
    return result


# --- a tournament: which arm has the highest key? --------------------------------------------------------
#
# Arm i plays at leaf half + i of a binary tree; node j holds the winner of nodes 2j and 2j + 1 and its key, so
# node 1 holds the champion. A tie goes to the lower position. A new key of one arm costs log2(K) matches without
# a branch that the processor could mispredict, which makes it faster than a heap.


@inlined
def tree_size(n_arms):
    half = 1
    while half < n_arms:
        half *= 2
    return 2 * half


@inlined
def open_tournament(winners, best_keys):
    """Enter no arm yet: every leaf has the key -inf."""
    half = winners.size // 2
    for node in range(1, winners.size):
        best_keys[node] = -np.inf
        winners[node] = max(0, node - half)


@inlined
def play_tournament(winners, best_keys):
    """Play all matches, the leaves being set."""
    for node in range(winners.size // 2 - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        loses = best_keys[right] > best_keys[left]
        winners[node] = winners[right] if loses else winners[left]
        best_keys[node] = best_keys[right] if loses else best_keys[left]


@inlined
def set_key(winners, best_keys, i, key):
    """Give arm i a new key."""
    node = winners.size // 2 + i
    best_keys[node] = key
    winner = i
    while node > 1:
        rival, rival_key = winners[node ^ 1], best_keys[node ^ 1]
        loses = (rival_key > key) | ((rival_key == key) & (node & 1 == 1))  # the left one wins a tie
        winner = rival if loses else winner
        key = rival_key if rival_key > key else key
        node >>= 1
        winners[node], best_keys[node] = winner, key


# --- elimination -----------------------------------------------------------------------------------------


@inlined
def select(values, k, rank):
    """Return the value of the given rank (from 0) in `values[:k]`, which is reordered.

    Quickselect with Lomuto's partition, whose inner loop has no branch to mispredict. numba's np.partition
    allocates on each call, which costs more than the selection among a few arms.
    """
    low, high = 0, k - 1
    while low < high:
        middle = (low + high) // 2
        pivot = values[middle]
        values[middle] = values[high]
        below = low
        for j in range(low, high):
            x = values[j]
            values[j] = values[below]
            values[below] = x
            below += x < pivot
        values[high] = values[below]
        values[below] = pivot
        if rank == below:
            break
        if rank < below:
            high = below - 1
        else:
            low = below + 1
    return values[rank]


@inlined
def keep_highest(active, scores, k, survivors, scratch):
    """Keep the positions with the highest scores in `active[:k]`, in their order, ties to the lowest."""
    for p in range(k):
        scratch[p] = scores[p]
    cut = select(scratch, k, k - survivors)
    spare = survivors
    for p in range(k):
        spare -= scores[p] > cut
    kept = 0
    for p in range(k):  # without a branch, which would be mispredicted for every other arm
        tied = (scores[p] == cut) & (spare > 0)
        spare -= tied
        active[kept] = active[p]
        kept += (scores[p] > cut) | tied


@inlined
def share_equally(active, k, b, counts, targets):
    """Least pulled first, b pulls: the counts may differ by one beforehand, and b >= k or they are equal."""
    total = b
    for p in range(k):
        total += counts[active[p]]
    each, rest = total // k, total % k
    for p in range(k):
        targets[active[p]] = each + (p < rest)


@inlined
def share_greedily(active, k, b, counts, targets, weights, r, winners, best_keys):
    """Algorithm 3, line 4, b times: pull the arm with the highest weight / count.

    The greedy rule picks the largest b of all numbers weight_i / c, c = 1, 2, ... (Adams' apportionment), and
    arm i gets at least (b - k + 1) weight_i / sum(weights) of them. So start there and play on.
    """
    total, mass = b, 0.0
    for p in range(k):
        total += counts[active[p]]
        mass += weights[r, active[p]]
    left, half = total, winners.size // 2
    open_tournament(winners, best_keys)
    for p in range(k):
        i = active[p]
        target = max(1, counts[i])
        if mass > 0:
            target = max(target, ceil((total - k + 1) * (weights[r, i] / mass) * (1 - 1e-12)))
        targets[i] = target
        left -= target
        best_keys[half + i] = weights[r, i] / target
    play_tournament(winners, best_keys)
    for _ in range(left):
        i = winners[1]
        targets[i] += 1
        set_key(winners, best_keys, i, weights[r, i] / targets[i])


@compiled
def eliminate(rewards, stage_pulls, survivors, reuse, weights, pulls, recommended):
    """Unif, SH, SHVar and SR: counts that no reward can change, so only sums of rewards are drawn.

    `weights` has K columns (pull in proportion to them) or none (pull equally).
    """
    n_runs, n_arms = pulls.shape
    everyone = np.arange(n_arms)
    active, counts, targets = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    totals, scores, scratch = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        k = n_arms
        active[:] = everyone
        counts[:] = 0
        totals[:] = 0.0
        for s in range(stage_pulls.size):
            if not reuse:
                counts[:] = 0
                totals[:] = 0.0
            if weights.shape[1] == 0:
                share_equally(active, k, stage_pulls[s], counts, targets)
            else:
                share_greedily(active, k, stage_pulls[s], counts, targets, weights, r, winners, best_keys)
            for p in range(k):
                i = active[p]
                m = targets[i] - counts[i]
                totals[i] = draw_sum(rewards, r, i, pulls[r, i], m, totals[i])
                counts[i] += m
                pulls[r, i] += m
                scores[p] = totals[i] / counts[i]
            keep_highest(active, scores, k, survivors[s], scratch)
            k = survivors[s]
        recommended[r] = active[0]


# --- SHAdaVar --------------------------------------------------------------------------------------------


@inlined
def observe(x, i, counts, totals, squares):
    """Take reward x into the running count, total and sum of squared deviations of arm i."""
    old = totals[i] / counts[i] if counts[i] > 0 else x
    counts[i] += 1
    totals[i] += x
    squares[i] += (x - old) * (x - totals[i] / counts[i])


@inlined
def mean_key(square, count, spread, slack, span):
    """Return SHAdaVar's index U / N, or with Bernstein's bound, whose `slack` is not empty, the root of U / N."""
    if slack.size > 0:
        return sqrt(max(0.0, square) / spread[count]) + span * slack[count]
    return square / spread[count]


@inlined
def is_above(level, square, count, spread, slack, span):
    """Return whether an arm's index is above a positive level. The printed warm-up makes a negative one: never."""
    if slack.size > 0:
        return mean_key(square, count, spread, slack, span) > level
    return 0 < level * spread[count] < square


@inlined
def pull_arm(rewards, r, i, pulls, most, level, spread, slack, span, counts, totals, squares, buffer, used):
    """Pull arm i, at most `most` times, until its index is at most `level`.

    The rewards also go to `buffer[used:]`. Return how many there are.
    """
    count, total, square = counts[i], totals[i], squares[i]
    mean = total / count
    m = 0
    while m < most and is_above(level, square, count, spread, slack, span):
        x = draw(rewards, r, i, pulls[r, i] + m)
        buffer[used + m] = x
        m += 1
        count += 1
        total += x
        old = mean
        mean = total / count
        square += (x - old) * (x - mean)
    counts[i], totals[i], squares[i] = count, total, square
    return m


@inlined
def warm_up(rewards, r, i, pulls, most, counts, totals, squares, lows, highs):
    """Pull arm i `most` times; keep its lowest and highest reward too."""
    low, high = lows[i], highs[i]
    for m in range(most):
        x = draw(rewards, r, i, pulls[r, i] + m)
        observe(x, i, counts, totals, squares)
        low, high = min(low, x), max(high, x)
    lows[i], highs[i] = low, high
    pulls[r, i] += most


@inlined
def next_level(active, k, left, spread, slack, span, counts, squares):
    """Return the level that half of the pulls left should reach if the variances are as estimated, or 0.

    The odd factor keeps the level clear of every index, so that rounding cannot decide whether it is reached.
    """
    top, mass, noisiest = 0.0, 0.0, 0
    for p in range(k):
        i = active[p]
        variance = squares[i] / (counts[i] - 1)
        mass += variance
        if variance > top:
            top, noisiest = variance, i
    steps = int(0.5 * left * (top / mass)) if top > 0 else 0
    count = counts[noisiest] + steps
    return 1.000000001 * mean_key(top * (count - 1), count, spread, slack, span) if steps > 0 else 0.0


@inlined
def doubt_scale(doubt, lows, highs):
    """Return doubt D^2, where D is the range of all rewards seen, or 1 while there is only one value."""
    seen = highs.max() - lows.min()
    return doubt * (seen * seen) if seen > 0 else doubt


@compiled
def adapt(rewards, stage_pulls, survivors, warmups, reuse, spread, slack, spans, doubt, pulls, recommended):
    """SHAdaVar: warm up every arm, then pull where the overestimated variance of the mean is highest.

    After c pulls of an arm that variance, U / N in the paper, is (sum of squared deviations) / spread[c]. It
    depends on the arm's own rewards only, so it does not matter in which order arms come down to a common level.
    Hence: guess a level that the budget allows, pull each arm down to it in one go, guess again; when little is
    left, pull the highest arm one by one. A level that proves too low is taken back, and what was drawn for it
    stays in the buffer as the next rewards of its arms.

    With doubt > 0 an arm whose rewards so far are all the same number has the index doubt (D / c)^2, where D is the
    range of all rewards. While there is such an arm, the highest arm is pulled one by one. There is none later on
    unless there is one after the warm-up, so lowest and highest rewards need no attention between.
    """
    n_runs, n_arms = pulls.shape
    everyone = np.arange(n_arms)
    active, counts, targets = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    totals, squares, scores, scratch = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    lows, highs = np.empty(n_arms), np.empty(n_arms)
    start, ready, buffer = np.empty(n_arms, np.int64), np.zeros(n_arms, np.int64), np.empty(stage_pulls.max())
    old_counts, old_totals, old_squares = np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        k, span = n_arms, spans[r]
        active[:] = everyone
        for s in range(stage_pulls.size):
            if s == 0 or not reuse:
                counts[:] = 0
                totals[:] = 0.0
                squares[:] = 0.0
                lows[:] = np.inf
                highs[:] = -np.inf

            left, warm = stage_pulls[s], warmups[s]
            for p in range(k):
                warm -= counts[active[p]]
            if warm > 0:
                warm = min(warm, left)
                left -= warm
                share_equally(active, k, warm, counts, targets)
                for p in range(k):
                    i = active[p]
                    warm_up(rewards, r, i, pulls, targets[i] - counts[i], counts, totals, squares, lows, highs)

            repeats = False
            for p in range(k):
                repeats |= (doubt > 0) & (lows[active[p]] == highs[active[p]])
            while left > 0 and not repeats:
                level = next_level(active, k, left, spread, slack, span, counts, squares)
                if level <= 0:
                    break
                used, deep_enough = 0, True
                for p in range(k):
                    i = active[p]
                    old_counts[i], old_totals[i], old_squares[i] = counts[i], totals[i], squares[i]
                for p in range(k):
                    i = active[p]
                    start[i] = used
                    used += pull_arm(
                        rewards, r, i, pulls, left - used, level, spread, slack, span,
                        counts, totals, squares, buffer, used,
                    )  # fmt: skip
                    if is_above(level, squares[i], counts[i], spread, slack, span):
                        deep_enough = False
                if not deep_enough:
                    for p in range(k):
                        i = active[p]
                        ready[i] = counts[i] - old_counts[i]
                        counts[i], totals[i], squares[i] = old_counts[i], old_totals[i], old_squares[i]
                    break
                for p in range(k):
                    i = active[p]
                    pulls[r, i] += counts[i] - old_counts[i]
                left -= used
                if used == 0:
                    break

            scale, fresh = 0.0, True  # whether all keys must be set
            for _ in range(left):
                if fresh:
                    scale = doubt_scale(doubt, lows, highs)
                    open_tournament(winners, best_keys)
                    for p in range(k):
                        i = active[p]
                        key = mean_key(squares[i], counts[i], spread, slack, span)
                        if repeats and lows[i] == highs[i]:
                            key = scale / (counts[i] * counts[i])
                        set_key(winners, best_keys, i, key)
                i = winners[1]
                if ready[i] > 0:
                    x = buffer[start[i]]
                    start[i] += 1
                    ready[i] -= 1
                else:
                    x = draw(rewards, r, i, pulls[r, i])
                observe(x, i, counts, totals, squares)
                pulls[r, i] += 1
                key = mean_key(squares[i], counts[i], spread, slack, span)
                fresh = False
                if repeats:
                    lows[i], highs[i] = min(lows[i], x), max(highs[i], x)
                    fresh = doubt_scale(doubt, lows, highs) != scale
                    if lows[i] == highs[i]:
                        key = scale / (counts[i] * counts[i])
                set_key(winners, best_keys, i, key)

            for p in range(k):
                i = active[p]
                ready[i] = 0
                scores[p] = totals[i] / counts[i]
            keep_highest(active, scores, k, survivors[s], scratch)
            k = survivors[s]
        recommended[r] = active[0]


# --- gap-based exploration -------------------------------------------------------------------------------


@inlined
def radius_parts(a, bound, with_variance, count):
    """Return (part, tail): after `count` pulls the gap of an arm may be off by sqrt(a) sqrt(part * squares) + tail."""
    if with_variance:
        return 2.0 / (count * (count - 1.0)), a * (7.0 * bound / (3.0 * (count - 1.0)))
    return 0.0, sqrt(a) * (bound * sqrt(1.0 / count))


@inlined
def two_best(means):
    """Return the position of the highest mean, that of the highest among the others, and the third mean."""
    best, second = (0, 1) if means[0] >= means[1] else (1, 0)
    third = -np.inf
    for i in range(2, means.size):
        if means[i] > third:
            if means[i] > means[best]:
                best, second, third = i, best, means[second]
            elif means[i] > means[second]:
                second, third = i, means[second]
            else:
                third = means[i]
    return best, second, third


@compiled
def explore(rewards, budget, a, bound, with_variance, pulls, recommended):
    """GapE and GapE-V: pull the arm with the highest radius - gap.

    The gap of the best arm is to the second best, that of any other to the best. Adding the best mean to all
    indices changes no comparison and leaves mean + radius, with the second mean in place of the best arm's own.
    The best arm stays out of the tournament, since its index moves with the second mean. What the radius takes from
    the count is computed one pull ahead: nothing waits for it then.
    """
    n_runs, n_arms = pulls.shape
    first = 2 if with_variance else 1
    counts = np.empty(n_arms, np.int64)
    totals, squares, means, radii = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    parts, tails = np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        root = sqrt(a[r])
        counts[:] = 0
        totals[:] = 0.0
        squares[:] = 0.0
        open_tournament(winners, best_keys)
        for i in range(n_arms):
            for k in range(first):
                observe(draw(rewards, r, i, k), i, counts, totals, squares)
            means[i] = totals[i] / counts[i]
            part, tail = radius_parts(a[r], bound[r], with_variance, first)
            radii[i] = root * sqrt(part * squares[i]) + tail
            parts[i], tails[i] = radius_parts(a[r], bound[r], with_variance, first + 1)
            set_key(winners, best_keys, i, means[i] + radii[i])
        best, second, third = two_best(means)
        set_key(winners, best_keys, best, -np.inf)
        for _ in range(budget - first * n_arms):
            i, key = winners[1], means[second] + radii[best]
            if key > best_keys[1] or (key == best_keys[1] and best < i):
                i = best
            x = draw(rewards, r, i, counts[i])
            counts[i] += 1
            totals[i] += x
            mean = totals[i] / counts[i]
            radius = tails[i]
            if with_variance:
                squares[i] += (x - means[i]) * (x - mean)
                radius = root * sqrt(parts[i] * squares[i]) + tails[i]
            means[i], radii[i] = mean, radius
            if i != best:
                set_key(winners, best_keys, i, mean + radius)
            parts[i], tails[i] = radius_parts(a[r], bound[r], with_variance, counts[i] + 1)
            # Look for the two best again only if this mean may have crossed theirs; `third` bounds all others.
            if i == best:
                changed = mean <= means[second]
            elif i == second:
                changed = mean < third or mean >= means[best]
            else:
                third = max(third, mean)
                changed = mean >= means[second]
            if changed:
                old_best = best
                best, second, third = two_best(means)
                if best != old_best:
                    set_key(winners, best_keys, old_best, means[old_best] + radii[old_best])
                    set_key(winners, best_keys, best, -np.inf)
        pulls[r] = counts
        recommended[r] = best


@inlined
def estimate_terms(terms, start, stop, best_mean, rivals, slacks, deviations, bound, with_variance):
    """Write the shares of arms in the estimated complexity; a gap is `best_mean` - `rivals`, enlarged by its slack."""
    if with_variance:
        for i in range(start, stop):
            gap = best_mean - rivals[i] + slacks[i]
            deviation = deviations[i]
            root = deviation + sqrt(deviation * deviation + 16.0 / 3.0 * bound * gap)
            terms[i] = root * root / (gap * gap)
    else:
        for i in range(start, stop):
            gap = best_mean - rivals[i] + slacks[i]
            terms[i] = bound * bound / (gap * gap)


@inlined
def adaptive_keys(keys, rivals, roots, tails, a):
    """Write each arm's index: its rival's mean plus sqrt(a) times `roots` plus a times `tails`."""
    root = sqrt(a)
    for i in range(keys.size):
        keys[i] = rivals[i] + (root * roots[i] + a * tails[i])


@inlined
def highest(keys):
    """Return the first position of the highest key; four searches side by side do not wait for each other."""
    a = b = c = d = -np.inf
    whole = keys.size - keys.size % 4
    for i in range(0, whole, 4):
        a, b, c, d = max(a, keys[i]), max(b, keys[i + 1]), max(c, keys[i + 2]), max(d, keys[i + 3])
    top = max(max(a, b), max(c, d))
    for i in range(whole, keys.size):
        top = max(top, keys[i])
    i = 0
    while keys[i] != top:
        i += 1
    return i


@compiled
def explore_adaptively(rewards, budget, effort, bound, with_variance, pulls, recommended):
    """A-GapE and A-GapE-V: as `explore`, with a = effort / complexity estimated anew in every round.

    The estimate takes gaps as large and deviations as small as plausible. Every index changes with it, so a round
    visits all arms, in short loops free of branches that compile to vector instructions. The estimate itself is a
    sum over arms. A pull of an arm other than the two best changes one term, so the sum is resumed there: `sums[j]`
    holds the terms before j.
    """
    n_runs, n_arms = pulls.shape
    first = 2 if with_variance else 1
    counts = np.empty(n_arms, np.int64)
    totals, squares, means, keys = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    slacks, deviations, terms, sums = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.zeros(n_arms)
    roots, tails = np.empty(n_arms), np.zeros(n_arms)
    for r in range(n_runs):
        b = bound[r]
        counts[:] = 0
        totals[:] = 0.0
        squares[:] = 0.0
        best, second, third, changed = 0, 1, -np.inf, True
        for t in range(budget):
            start, stop = 0, n_arms
            if t < first * n_arms:
                i = t // first
            else:
                if t == first * n_arms or changed:
                    best, second, third = two_best(means)
                elif i != best and i != second:
                    start, stop = i, i + 1
                # Each arm's rival is the best of the others: the second for the best arm. Put it in place meanwhile.
                own, means[best] = means[best], means[second]
                estimate_terms(terms, start, stop, own, means, slacks, deviations, b, with_variance)
                total = sums[start]
                for j in range(start, n_arms):
                    sums[j] = total
                    total += terms[j]
                adaptive_keys(keys, means, roots, tails, effort / total)
                means[best] = own
                i = highest(keys)
            observe(draw(rewards, r, i, counts[i]), i, counts, totals, squares)
            count = counts[i]
            means[i] = totals[i] / count
            slacks[i] = b * sqrt(1.0 / (2.0 * count))
            roots[i] = b * sqrt(1.0 / count)
            if with_variance and count > 1:
                deviation = sqrt(squares[i] / (count - 1)) - b * sqrt(2.0 / (count - 1))
                deviations[i] = max(0.0, deviation)
                roots[i] = sqrt(2.0 / (count * (count - 1.0)) * squares[i])
                tails[i] = 7.0 * b / (3.0 * (count - 1.0))
            # Look for the two best again only if this mean may have crossed theirs; `third` bounds all others.
            if i == best:
                changed = means[i] <= means[second]
            elif i == second:
                changed = means[i] < third or means[i] >= means[best]
            else:
                third = max(third, means[i])
                changed = means[i] >= means[second]
        pulls[r] = counts
        recommended[r] = two_best(means)[0]


# --- variance-based rejects ------------------------------------------------------------------------------


@inlined
def pull_priority(count, least, widest, total, radius):
    """Return VBR's key of an arm; arms short of `least` pulls come before all others, fewest pulls first."""
    if count < least:
        return 1e300 / (count + 1)
    return radius if widest else total / count + radius


@compiled
def reject(rewards, stage_pulls, gamma, least, widest, pulls, recommended):
    """VBR: in each stage pull by confidence interval, then reject the arm with the lowest upper bound.

    While some arm has fewer than `least` pulls, the least pulled arm is next. After that it is the arm with the
    highest upper bound, or with the widest interval.
    """
    n_runs, n_arms = pulls.shape
    everyone = np.arange(n_arms)
    active, counts = np.empty(n_arms, np.int64), np.empty(n_arms, np.int64)
    totals, squares, radii, scores = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    winners, best_keys = np.empty(tree_size(n_arms), np.int64), np.empty(tree_size(n_arms))
    for r in range(n_runs):
        active[:] = everyone
        counts[:] = 0
        totals[:] = 0.0
        squares[:] = 0.0
        radii[:] = 0.0
        open_tournament(winners, best_keys)
        for i in range(n_arms):
            set_key(winners, best_keys, i, pull_priority(0, least, widest, 0.0, 0.0))
        for s in range(stage_pulls.size):
            for _ in range(stage_pulls[s]):
                i = winners[1]
                observe(draw(rewards, r, i, counts[i]), i, counts, totals, squares)
                if counts[i] > 1:
                    radii[i] = gamma * sqrt(squares[i] / (counts[i] - 1) / counts[i])
                set_key(winners, best_keys, i, pull_priority(counts[i], least, widest, totals[i], radii[i]))
            k = n_arms - s
            worst = 0
            for p in range(k):
                i = active[p]
                scores[p] = totals[i] / counts[i] + radii[i]
                worst = p if scores[p] <= scores[worst] else worst
            set_key(winners, best_keys, active[worst], -np.inf)
            for p in range(worst, k - 1):
                active[p] = active[p + 1]
        pulls[r] = counts
        recommended[r] = active[0]


# --- allocation by estimated means and variances ---------------------------------------------------------
#
# Every index changes with every pull. As in `explore_adaptively`, what depends on an arm's own rewards is kept, and
# the loops over arms are short and free of branches, so that they compile to vector instructions.


@inlined
def total_without(terms, i):
    """Return the sum of all terms but that of arm i, which is lost."""
    terms[i] = 0.0
    total = 0.0
    for j in range(terms.size):
        total += terms[j]
    return total


@inlined
def below_ocba_share(means, variances, counts, keys, terms):
    """OCBA: return the arm with the most OCBA share per pull. `keys` and `terms` are scratch."""
    leader = highest(means)
    mean = means[leader]
    for i in range(keys.size):
        gap = mean - means[i]
        square = gap * gap
        share = variances[i] / square
        noisy = variances[i] > 0
        keys[i] = share / counts[i] if noisy else 0.0
        terms[i] = share / square if noisy else 0.0
    total = total_without(terms, leader)
    keys[leader] = sqrt(variances[leader] * total) / counts[leader] if variances[leader] > 0 else 0.0
    return highest(keys)


@inlined
def leader_or_challenger(means, squares, counts, pairs, log_counts, pooled, weight, noise, terms):
    """TopTwo: return the leader or the rival that is hardest to tell from it. `noise` and `terms` are scratch.

    `pairs` holds (N - 1 + weight) N.
    """
    for i in range(noise.size):
        noise[i] = (squares[i] + weight * pooled) / pairs[i]
        terms[i] = counts[i] / noise[i]
    leader = highest(means)
    mean, own, due = means[leader], noise[leader], terms[leader]
    if due < total_without(terms, leader):
        return leader
    for i in range(noise.size):
        gap = mean - means[i]
        terms[i] = -(gap * gap / (own + noise[i]) + log_counts[i])
    terms[leader] = -np.inf
    return highest(terms)


@compiled
def allocate(rewards, budget, first, top_two, logs, weight, pulls, recommended):
    """OCBA and TopTwo: every arm `first` times, then one pull at a time, looking at all arms."""
    n_runs, n_arms = pulls.shape
    counts, scratch, terms = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    totals, squares, means, variances = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    pairs, log_counts = np.empty(n_arms), np.empty(n_arms)
    for r in range(n_runs):
        counts[:] = 0.0
        totals[:] = 0.0
        squares[:] = 0.0
        for t in range(budget):
            if t < first * n_arms:
                i = t // first
            elif top_two:
                pooled = 0.0
                for j in range(n_arms):
                    pooled += squares[j]
                pooled /= t - n_arms
                if pooled > 0:
                    i = leader_or_challenger(
                        means, squares, counts, pairs, log_counts, pooled, weight, scratch, terms
                    )  # fmt: skip
                else:
                    i = counts.argmin()
            else:
                i = below_ocba_share(means, variances, counts, scratch, terms)
            observe(draw(rewards, r, i, int(counts[i])), i, counts, totals, squares)
            count = counts[i]
            means[i] = totals[i] / count
            if count > 1:
                variances[i] = squares[i] / (count - 1)
                pairs[i] = (count - 1 + weight) * count
            if top_two:
                log_counts[i] = logs[int(count)]
        pulls[r] = counts
        recommended[r] = highest(means)
