"""Building blocks of the compiled loops: running sums, the best of many, the better half.

A compiled loop makes the same pulls as the plain version of its policy, reward for reward, and compares the same
floating-point expressions, so that even ties fall alike. Ties go to the lowest position.
"""

from __future__ import annotations

import numpy as np

from ..compiling import inlined


@inlined
def observe(x, i, counts, totals, squares):
    """Take reward x into the running count, total and sum of squared deviations of arm i."""
    old = totals[i] / counts[i] if counts[i] > 0 else x
    counts[i] += 1
    totals[i] += x
    squares[i] += (x - old) * (x - totals[i] / counts[i])


@inlined
def copy(source, target):
    """Copy all values of an array to the beginning of another.

    In a loop, numba compiles an assignment of arrays together with a message about their shapes: that takes seconds.
    """
    for i in range(source.size):
        target[i] = source[i]


@inlined
def highest(keys):
    """Return the first position of the highest key; four searches side by side do not wait for each other.

    A key that is not a number is never the highest. If none is a number, the answer is the last position.
    """
    a = b = c = d = -np.inf
    whole = keys.size - keys.size % 4
    for i in range(0, whole, 4):
        a, b, c, d = max(a, keys[i]), max(b, keys[i + 1]), max(c, keys[i + 2]), max(d, keys[i + 3])
    top = max(max(a, b), max(c, d))
    for i in range(whole, keys.size):
        top = max(top, keys[i])
    i = 0
    while keys[i] != top and i < keys.size - 1:
        i += 1
    return i


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
    """Play all matches, once the leaves are set."""
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


# --- the better half -----------------------------------------------------------------------------------


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
    """Keep the positions with the highest scores in `active[:k]`, in their order; ties go to the lowest."""
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
