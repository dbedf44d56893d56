"""Bounds whose truth is no plain integral, against probabilities computed from below: not one may be beaten.

Kept samples, learned variances, bounded rewards, floors. Every reference is a lower bound on the probability of a
mistake that holds for certain, up to rounding: sums over cells of log-concave integrands, counts that are moved to the
unfavourable side of a grid, or all courses of play added up. For lower bounds it is an upper bound instead. Nothing is
simulated, except where the reference itself is compared with play.

`COVERED` says which test has exact probabilities for which bound of `bai.theory`.
"""

import math
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.special import chdtr, chdtrc, chdtri, log_ndtr, logsumexp
from test_bounds import log_mistake, log_transition, pulls_of

import bai
from bai import theory

ROUNDING = 1e-9

# For every function of `bai.theory` that bounds or gives a probability or an exponent, the exact test of it.
COVERED = {
    "test_bounds": {
        "test_no_bound_of_sh_or_shvar_is_below_the_exact_probability":
            "theorem_1_bound theorem_2_bound full_form_bound shvar_bound sh_gaussian_bound sh_closed_bound",
        "test_the_bound_of_sh_with_one_proxy_is_not_below_the_exact_probability_nor_the_sharp_bound": "sh_bound",
        "test_elimination_in_the_first_stage_has_its_exact_probability": "elimination_probability",
        "test_every_transition_of_the_first_stage_lies_between_its_two_bounds": "transition_cost",
        "test_the_cheapest_path_bounds_mistakes_from_both_sides": "cheapest_path path_bounds",
        "test_exponents_are_the_slopes_of_exact_probabilities": "exponent",
        "test_exponents_lie_in_their_brackets_in_300_problems": "exponent_bracket",
        "test_mistakes_at_a_fixed_delta_lie_in_their_bracket_and_the_bracket_closes": "starvation_limit",
        "test_a_floor_gives_an_exponential_bound_near_its_ratio": "best_floor",
    },
    "test_exact_bounds": {
        "test_kept_samples_of_two_to_five_arms_are_bounded_in_300_problems": "keep_bound sh_keep_bound",
        "test_learned_variances_are_bounded_in_300_problems": "shadavar_bound shadavar_failure",
        "test_learned_variances_with_kept_samples_are_bounded_in_300_problems": "shadavar_keep_bound",
        "test_no_pulls_whatever_beat_the_bounds_of_shadavar_in_300_problems":
            "theorem_3_bound tiny_delta_bound shadavar_keep_closed_bound",
        "test_two_arms_at_a_fixed_delta_are_bounded_in_300_problems": "starvation_bound starvation_bracket",
        "test_floors_are_bounded_in_300_problems": "floor_bound",
        "test_bounded_rewards_of_two_arms_are_bounded_in_240_problems": "bounded_bound bounded_closed_bound",
    },
    "test_halvevar": {
        "test_the_upper_bound_holds_on_random_problems": "halvevar_bound",
        "test_the_exact_probability_is_the_rate_of_simulated_mistakes": "halvevar_mistakes",
        "test_on_one_of_the_hard_problems_halvevar_and_fixed_shares_err_as_often_as_the_lower_bound_says":
            "variance_lower_bound",
    },
    "test_theory": {
        "test_lemma_3_holds_for_every_pair_with_an_integral_allocation": "lemma_3_bound",
        "test_lemma_a_holds_for_any_dependence_between_rivals": "lemma_a_bound",
    },
}  # fmt: skip
NO_BOUNDS = {
    "stages", "stage_sizes", "gaps", "warmup_pulls", "reward_bound", "gape_complexity", "gapev_complexity", "h2",
    "lemma_1_allocation", "neyman_allocation", "greedy_allocation", "shvar_gain", "lemma_4_pulls", "lemma_b_rho",
    "greedy_rho", "lemma_2_thresholds", "variance_ucb", "lemma_5_alpha", "lemma_5_pulls", "theorem_3_condition",
    "theorem_3_least_budget", "variance_price", "variance_stages", "variance_complexity", "hard_problems",
}  # fmt: skip


def test_every_bound_has_its_exact_test():
    named = [name for tests in COVERED.values() for names in tests.values() for name in names.split()]
    assert sorted([*named, *NO_BOUNDS]) == sorted(theory.__all__)
    for file, tests in COVERED.items():
        source = (Path(__file__).parent / f"{file}.py").read_text(encoding="utf-8")
        assert all(f"def {test}(" in source for test in tests)


def log(value):
    return math.log(value) if value > 0 else -math.inf


def hold(bound, truth):
    """Whether a bound is at least the exponential of `truth`; below 1e-304 a float may be 0."""
    return truth < -700 or log(bound) >= truth - ROUNDING


# --------------------------------------------------------------------------- kept samples


def log_integral(density, centre, spreads, points=41):
    """Return a lower bound on the logarithm of the integral of a log-concave function, close to it.

    On a cell the integral is at least the volume times the exponential of the mean logarithm (Jensen), and the mean of
    a concave function is at least that of its corners. A finer grid can only raise the value.
    """
    width = 8 * spreads
    for _ in range(7):  # towards the mode
        axes = [np.linspace(c - w, c + w, 15) for c, w in zip(centre, width, strict=True)]
        values = density(*np.meshgrid(*axes, indexing="ij"))
        at = np.unravel_index(values.argmax(), values.shape)
        centre = np.array([axis[i] for axis, i in zip(axes, at, strict=True)])
        width = width * 0.3
    axes = [np.linspace(c - 6 * s, c + 6 * s, points) for c, s in zip(centre, spreads, strict=True)]
    corners = density(*np.meshgrid(*axes, indexing="ij"))
    for axis in range(len(axes)):
        low, high = (np.take(corners, range(i, corners.shape[axis] - 1 + i), axis) for i in (0, 1))
        corners = (low + high) / 2
    return logsumexp(corners) + sum(math.log(axis[1] - axis[0]) for axis in axes)


def log_kept(policy, means, variances, budget):
    """Return a lower bound on log P(mistake) of SH or SHVar with three or four arms and all samples kept.

    Arm 1 goes in the first stage, or it stays with arm j, both above all others, and arm j ends above it.
    """
    stage_budget, best, size = budget // 2, int(means.argmax()), means.size
    first = pulls_of(policy, variances, stage_budget)
    error = np.sqrt(variances / first)
    terms, others = [], [j for j in range(size) if j != best]

    def below(level, arms):
        return sum(log_ndtr((level - means[i]) / error[i]) for i in arms)

    def normal(x, i):
        return -(((x - means[i]) / error[i]) ** 2) / 2 - math.log(error[i] * math.sqrt(2 * math.pi))

    for number in range((size + 1) // 2, size):
        for winners in combinations(others, number):  # exactly these are above the best arm, so it goes

            def gone(t, winners=winners):
                above = sum(log_ndtr((means[i] - t) / error[i]) for i in winners)
                return normal(t, best) + above + below(t, [i for i in others if i not in winners])

            terms.append(log_integral(gone, means[[best]], error[[best]], 401))
    for j in others:
        pair = np.array([best, j])
        more = np.array([stage_budget // 2, stage_budget - stage_budget // 2])
        if policy == "SHVar":  # the pull goes where variance / pulls is highest
            more[:] = 0
            for _ in range(stage_budget):
                index = variances[pair] / (first[pair] + more)
                more[1 if index[1] > index[0] or (index[1] == index[0] and j < best) else 0] += 1
        share = first[pair] / (first[pair] + more)
        fresh = math.sqrt((variances[pair] * more / (first[pair] + more) ** 2).sum())

        def overtaken(x, y, j=j, share=share, fresh=fresh):
            lead = share[0] * x + (1 - share[0]) * means[best] - share[1] * y - (1 - share[1]) * means[j]
            stay = below(np.minimum(x, y), [i for i in others if i != j])
            return normal(x, best) + normal(y, j) + stay + log_ndtr(-lead / fresh)

        terms.append(log_integral(overtaken, means[pair], error[pair]))
    return float(logsumexp(terms))


def log_lost_at_once(policy, means, variances, stage_budget):
    """Return log P(arm 1 goes in the first stage), where nothing has been kept yet."""
    spreads = np.sqrt(variances / pulls_of(policy, variances, stage_budget))
    best, terms = int(means.argmax()), []
    for picked in combinations(range(means.size), (means.size + 1) // 2):
        if best not in picked:
            kept = np.isin(np.arange(means.size), picked)
            terms.append(log_transition(means, spreads, kept))
    return float(logsumexp(terms))


def test_kept_samples_of_two_to_five_arms_are_bounded_in_300_problems():
    rng, logs = np.random.default_rng(20), []
    for case in range(300):
        size = 2 + case % 4
        stage_budget = size if case % 10 == 0 else size + int(rng.integers(0, 150))
        variances = 10 ** rng.uniform(-1.5, 1.5, size) if case % 3 else rng.choice([0.5, 1.0, 2.0], size)
        gaps = np.full(size, 1.0) if case % 5 == 0 else rng.uniform(0.2, 2.0, size)  # ties among rivals
        gaps[rng.integers(size)] = 0.0
        scale = math.sqrt(variances.sum() / stage_budget * 10 ** rng.uniform(-0.5, 3.2))
        means, n = -gaps * scale, theory.stages(size) * stage_budget + case % 2
        for policy, bound in (("SHVar", theory.keep_bound), ("SH", theory.sh_keep_bound)):
            if size == 2:
                truth = log_mistake(policy, means, variances, n)  # one stage, and nothing to keep
            elif size < 5:
                truth = log_kept(policy, means, variances, n)
            else:
                truth = log_lost_at_once(policy, means, variances, stage_budget)
            logs.append(truth)
            assert hold(bound(means, variances, n), truth), (policy, means, variances, n)
            assert hold(bound(means, variances, n, gaussian=False), truth), (policy, means, variances, n)
    logs = np.array(logs)
    assert (logs < -230).sum() > 20 and (logs > -3).sum() > 20 and (logs > -700).sum() > 200


def test_the_reference_for_kept_samples_is_what_play_shows():
    for size in (3, 4):
        means, variances = np.array([0.0, -0.3, -0.35, -0.5])[:size], np.array([1.0, 0.3, 0.8, 0.1])[:size]
        for policy in (bai.SHVar(reuse=True), bai.SH(reuse=True)):
            out = bai.simulate(policy, bai.GaussianBandits(means, variances, runs=100_000), 72, seed=1)
            low, high = out.interval
            assert 0.97 * low <= math.exp(log_kept(policy.name, means, variances, 72)) <= high


def test_kept_samples_of_one_or_two_noisy_arms_are_bounded():
    """Without noise in the others arms 1 and 2 have all pulls but one for each of those, and their means decide."""
    for size in (3, 4, 5):
        for stage_budget in (size, 10, 400):
            for gap in (0.1, 1.0, 1.5):
                n, quiet = theory.stages(size) * stage_budget, np.zeros(size - 1)
                means, variances = np.r_[0.0, np.full(size - 1, -gap)], np.r_[1.0, quiet]
                truth = float(log_ndtr(-gap * math.sqrt(n - size + 1)))
                assert hold(theory.keep_bound(means, variances, n), truth)
                means, variances = np.r_[0.0, -gap, np.full(size - 2, -1e9)], np.r_[1.0, 0.3, quiet[1:]]
                truth = log_mistake("SHVar", means[:2], variances[:2], n - size + 2)
                assert hold(theory.keep_bound(means, variances, n), truth)


# --------------------------------------------------------------------------- learned variances and floors

LEVELS = np.geomspace(2e-3, 3.0, 110)  # of U / N in units of the variance
LATTICE = 500


class Lowest:
    """The lowest index m(c) = min S(c') / a(c') over w <= c' <= c, S a walk with steps of chi-square, one degree each.

    `stays[c - w]` and `falls[c - w]` hold lower bounds on P(m(c) > x) and P(m(c) < x) for all levels x. Steps are
    rounded down for the first and up for the second. What leaves the lattice at its top is kept there, or is safe.
    """

    def __init__(self, warm_up, divisors):
        last = warm_up + divisors.size - 1
        step = (last + 6 * math.sqrt(2 * last)) / LATTICE
        edges = np.arange(LATTICE + 1) * step
        mass = np.diff(chdtr(1, edges))  # of the cells between the edges
        shifts = np.subtract.outer(np.arange(LATTICE), np.arange(LATTICE))
        down = np.where(shifts >= 0, mass[np.maximum(shifts, 0)], 0.0)
        down[-1] = 1 - down[:-1].sum(axis=0)
        up = np.where(shifts >= 1, mass[np.maximum(shifts - 1, 0)], 0.0)
        start = np.diff(chdtr(warm_up - 1, edges))
        low, high = start.copy(), np.insert(start[:-1], 0, 0.0)
        low[-1] += 1 - start.sum()
        low, high = (np.repeat(x[:, None], LEVELS.size, axis=1) for x in (low, high))
        safe = np.full(LEVELS.size, 1 - high[:, 0].sum())
        stays, falls, single = [], [], np.zeros(LEVELS.size)
        for i, divisor in enumerate(divisors):
            if i:
                before = high.sum(axis=0)
                low, high = down @ low, up @ high
                safe = safe + before - high.sum(axis=0)
            alive = edges[:-1, None] > LEVELS * divisor
            low, high = low * alive, high * (edges[:-1, None] >= LEVELS * divisor)
            single = np.maximum(single, chdtr(warm_up + i - 1, LEVELS * divisor))
            stays.append(low.sum(axis=0))
            falls.append(np.maximum(single, 1 - high.sum(axis=0) - safe))
        self.warm_up, self.divisors = warm_up, divisors
        counts = np.arange(warm_up, last + 1)[:, None]
        # P(S(c)/a(c) <= x), each count alone, and its complement
        self.once, self.above = (tail(counts - 1, LEVELS * divisors[:, None]) for tail in (chdtr, chdtrc))
        self.stays = np.minimum.accumulate(stays, axis=1)
        self.falls = np.maximum.accumulate(falls, axis=1)

    def short(self, pulls, budget, ratio):
        """Return a lower bound on P(N_1 <= v): m_1(v) < ratio m_2(n - v - 1), the two arms independent."""
        other = budget - pulls - 1
        if pulls < self.warm_up or other < self.warm_up:
            return 0.0 if pulls < self.warm_up else 1.0
        at = np.searchsorted(LEVELS, ratio * LEVELS * (1 + 1e-12), side="right") - 1  # the next lower level
        below = np.where(at >= 0, self.falls[pulls - self.warm_up][at], 0.0)
        drops = -np.diff(np.append(self.stays[other - self.warm_up], 0.0))
        return float((below * drops).sum())

    def short_at_most(self, pulls, budget, ratio):
        """Return an upper bound on P(N_1 <= v): m_1(v) is below a level at one count c, and m_2 reaches that level."""
        other = budget - pulls - 1
        if pulls < self.warm_up or other < self.warm_up:
            return 0.0 if pulls < self.warm_up else 1.0
        first, second = pulls - self.warm_up, other - self.warm_up
        reaches = np.minimum(1 - self.falls[second] + 1e-12, self.above[: second + 1].min(axis=0))
        at = np.searchsorted(LEVELS, ratio * LEVELS * (1 - 1e-12))  # the next higher level
        below = np.append(np.minimum(1.0, self.once[: first + 1].sum(axis=0)), 1.0)[at]  # a union over counts
        drops = -np.diff(np.r_[1.0, reaches, 0.0])
        return max(0.0, float((np.append(below, 1.0) * drops).sum()))

    def log_mistake(self, gap, variances, budget, most=False):
        """Return a bound on log P(mistake) with two arms, from below or, for `most`, from above.

        It is E h(N_1), where h falls to its least value and then rises.
        """
        pulls = np.arange(self.warm_up, budget - self.warm_up + 1)
        short = self.short_at_most if most else self.short
        value = log_ndtr(-gap / np.sqrt(variances[0] / pulls + variances[1] / (budget - pulls)))
        least, ratio = int(value.argmin()), variances[1] / variances[0]
        terms, logs = [1.0], [value[least]]
        for i in range(pulls.size - 1):
            if i < least:
                chance, high, low = short(int(pulls[i]), budget, ratio), value[i], value[i + 1]
            else:
                chance = short(int(budget - pulls[i + 1]), budget, 1 / ratio)
                high, low = value[i + 1], value[i]
            terms.append(chance)
            logs.append(high + math.log(-math.expm1(low - high)) if high > low else -math.inf)
        return float(logsumexp(logs, b=terms))


def log_last_stage(lowest, means, variances, stage_budget):
    """Return a lower bound on log P(mistake) for any number of arms, from the last stage alone.

    It errs with probability at least e against each rival. If arm 1 is there with probability q, a mistake has at least
    max(1 - q, q e), and that is at least e/(1 + e). With two arms there is only that stage: e.
    """
    best = int(means.argmax())
    errors = [
        lowest.log_mistake(means[best] - means[j], variances[[best, j]], stage_budget)
        for j in range(means.size)
        if j != best
    ]
    return min(errors) - (math.log1p(math.exp(min(errors))) if means.size > 2 else 0.0)


@cache
def learned(delta, most, chi_square=False):
    warm_up = 2 if chi_square else theory.warmup_pulls(delta)
    counts = np.arange(warm_up, most)
    lower = chdtri(counts - 1, 1 - delta) if chi_square else theory.lemma_2_thresholds(counts - 1, delta)[0]
    return Lowest(warm_up, counts * lower)


@cache
def floored(stage_budget, floor):
    counts = np.arange(math.floor(floor * stage_budget / 2), stage_budget)
    return Lowest(int(counts[0]), counts * (counts - 1.0))


def random_arms(rng, size, stage_budget, easiest, hardest):
    variances = 10 ** rng.uniform(-1, 1, size) if rng.random() < 0.7 else rng.choice([0.5, 1.0, 2.0], size)
    gaps = np.ones(size) if rng.random() < 0.2 else rng.uniform(0.5, 2.0, size)
    gaps[rng.integers(size)] = 0.0
    return -gaps * math.sqrt(variances.sum() / stage_budget * 10 ** rng.uniform(easiest, hardest)), variances


def test_the_law_of_the_pulls_is_what_play_shows():
    """The two bounds on P(N_1 <= v), from below and through N_2 from above, enclose what 20,000 runs show."""
    variances, n, delta = np.array([1.0, 0.3]), 40, 0.3
    lowest = learned(delta, 70)
    out = bai.simulate(bai.SHAdaVar(delta), bai.GaussianBandits([0.5, 0.0], variances, runs=20_000), n, seed=1)
    for v in (8, 15, 22, 26, 30):
        seen = (out.pulls[:, 0] <= v).mean()
        below = lowest.short(v, n, variances[1] / variances[0])
        above = 1 - lowest.short(n - v - 1, n, variances[0] / variances[1])
        assert below - 0.02 < seen < above + 0.02 and above - below < 0.3  # 5 standard errors are 0.018
        most = lowest.short_at_most(v, n, variances[1] / variances[0])
        assert seen < most + 0.02
    truth, most = (math.exp(lowest.log_mistake(0.5, variances, n, above)) for above in (False, True))
    assert 0.9 * out.interval[0] < truth < out.interval[1] and out.interval[0] < most < 2 * truth


def test_learned_variances_are_bounded_in_300_problems():
    rng, logs, told, short = np.random.default_rng(21), [], 0, 0
    for case in range(300):
        size = 2 if case % 4 else 3 + case // 4 % 3
        delta = (0.05, 0.3, 0.7)[case % 3]
        fewest = max(size * theory.warmup_pulls(delta), 2 * theory.warmup_pulls(delta) + 1)
        stage_budget = int(rng.integers(fewest, 70)) if fewest < 69 else 69
        means, variances = random_arms(rng, size, stage_budget, 0.5, 3.2)
        lowest = learned(delta, 70)
        truth = log_last_stage(lowest, means, variances, stage_budget)
        bound = theory.shadavar_bound(means, variances, theory.stages(size) * stage_budget, delta)
        assert hold(bound, truth), (means, variances, stage_budget, delta)
        logs.append(truth)
        told += bound < 0.5
        pair = variances[:2]
        if size > 2:  # any two arms are a stage of their own
            stage_budget = int(rng.integers(2 * theory.warmup_pulls(delta) + 1, 70))
        rho = float(rng.uniform(0.1, 1)) * stage_budget / pair.sum()
        failure = theory.shadavar_failure(pair, stage_budget, delta, rho)
        for own, other in (pair, pair[::-1]):
            assert failure >= (1 - ROUNDING) * lowest.short(math.ceil(rho * own) - 1, stage_budget, other / own)
        short += failure < 0.5
    assert told > 100 and short > 60 and min(logs) < -230 and max(logs) > -5


def log_surest(means, variances, budget):
    """Return the least log P(mistake) against any rival that any counts with this sum can have."""
    best = int(means.argmax())
    noise = np.sqrt(variances[best]) + np.sqrt(np.delete(variances, best))
    return float(log_ndtr(-(means[best] - np.delete(means, best)) * math.sqrt(budget) / noise).min())


def test_no_pulls_whatever_beat_the_bounds_of_shadavar_in_300_problems():
    """In the last stage; with samples kept among arms without noise, of which w pulls are enough to know them."""
    rng, told, logs = np.random.default_rng(27), np.zeros(3, int), []
    for case in range(300):
        size, delta = 2 + case % 4, float(10 ** rng.uniform(-9, -2))
        warm_up, m = theory.warmup_pulls(delta), theory.stages(size)
        stage_budget = size * warm_up * int(rng.integers(1, 30))
        means, variances = random_arms(rng, size, stage_budget, 0.2, 3.0)
        surest = log_surest(means, variances, stage_budget)
        truth = surest - (math.log1p(math.exp(surest)) if size > 2 else 0.0)  # as in `log_last_stage`
        n, bounds = m * stage_budget + case % m, []
        for bound in (theory.theorem_3_bound, theory.tiny_delta_bound):
            bounds.append(bound(means, variances, n, delta))
            assert hold(bounds[-1], truth), (bound, means, variances, n, delta)
        means, variances = (
            np.r_[0.0, means.min(), np.full(size - 2, 1e9 * means.min())],
            np.r_[variances[:2], np.zeros(size - 2)],
        )
        truth = log_surest(means[:2], variances[:2], m * stage_budget - (size - 2) * warm_up)
        bounds.append(theory.shadavar_keep_closed_bound(means, variances, n, delta))
        assert hold(bounds[-1], truth), (means, variances, n, delta)
        logs.append(truth)
        told += np.array(bounds) < 0.5
    assert told.min() > 60 and min(logs) < -230 and max(logs) > -5


def test_learned_variances_with_kept_samples_are_bounded_in_300_problems(monkeypatch):
    """Rivals without noise take w pulls each and are sure to go; arms 1 and 2 then share the rest as two arms do."""
    monkeypatch.setattr("bai.theory.keep_bounds.SHARES", bai.theory.keep_bounds.SHARES[::3])  # fewer plans, for speed
    rng, logs, told = np.random.default_rng(28), [], 0
    for case in range(300):
        size, delta = 2 + case % 4, (0.3, 0.7)[case // 4 % 2] if case % 4 > 1 else (0.05, 0.3, 0.7)[case // 4 % 3]
        warm_up, m = theory.warmup_pulls(delta), theory.stages(size)
        fewest, most = max(size * warm_up, 2 * warm_up + 1), (76 + (size - 2) * warm_up) // m
        stage_budget = int(rng.integers(fewest, most + 1))
        n = m * stage_budget - (size - 2) * warm_up
        two, variances = random_arms(rng, 2, n, 0.5, 3.2)
        two = two[::-1] if two[0] < 0 else two
        means = np.r_[two, np.full(size - 2, -1e6 * np.ptp(two))]
        truth = learned(delta, 77).log_mistake(float(np.ptp(two)), variances, n)
        bound = theory.shadavar_keep_bound(means, np.r_[variances, np.zeros(size - 2)], m * stage_budget, delta)
        assert hold(bound, truth), (means, variances, stage_budget, delta)
        logs.append(truth)
        told += bound < 0.5
    assert told > 60 and min(logs) < -230 and max(logs) > -5


def test_two_arms_at_a_fixed_delta_are_bounded_in_300_problems():
    rng, told, near = np.random.default_rng(25), 0, 0
    for case in range(300):
        chi_square, delta = case % 2 == 1, (0.05, 0.3, 0.5)[case % 3]
        lowest = learned(delta, 70, chi_square)
        n = int(rng.integers(2 * lowest.warm_up + 1, 70))
        means, variances = random_arms(rng, 2, n, 0.5, 3.0)
        best = int(means.argmax())
        gap, variances = float(np.ptp(means)), variances[[best, 1 - best]]
        truth, most = (lowest.log_mistake(gap, variances, n, above) for above in (False, True))
        low, high = theory.starvation_bracket(gap, variances, n, delta, chi_square)
        assert hold(high, truth), (gap, variances, n, delta)
        assert low <= high and log(low) <= most + ROUNDING, (gap, variances, n, delta)
        told, near = told + (high < 0.1), near + (log(low) > most - 3)
        if not chi_square:
            equal = lowest.log_mistake(gap, np.ones(2), n, True)
            assert log(theory.starvation_bound(gap, n, delta)) <= equal + ROUNDING
    assert told > 60 and near > 30


def test_floors_are_bounded_in_300_problems():
    rng, logs, told = np.random.default_rng(22), [], 0
    for case in range(300):
        size = 2 if case % 3 else 3 + case // 3 % 3
        stage_budget, floor = ((80, 0.3), (80, 0.6), (120, 0.5), (140, 0.2))[case % 4]
        means, variances = random_arms(rng, size, stage_budget, 1.0, 3.5)
        truth = log_last_stage(floored(stage_budget, floor), means, variances, stage_budget)
        bound = theory.floor_bound(means, variances, theory.stages(size) * stage_budget, floor)
        assert hold(bound, truth), (means, variances, stage_budget, floor)
        logs.append(truth)
        told += bound < 0.5
    assert told > 60 and min(logs) < -230 and max(logs) > -10


# --------------------------------------------------------------------------- bounded rewards


@cache
def courses(budget, delta):
    """Return how many courses of play of two arms with rewards 0 and 1 end with these pulls and successes.

    The index is the root of U / N with Bernstein's bound. How a course goes does not depend on the probabilities of
    the rewards, so one table serves all problems. Rows: pulls and successes of arm 1, of arm 2, log number.
    """
    n = np.arange(budget + 1)[:, None]
    s = np.arange(budget + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        index = np.sqrt(s * (n - s) / n / (n * (n - 1.0))) + np.sqrt(2 * math.log(1 / delta) / (n * (n - 1.0)))
    first = np.array([math.comb(2, k) for k in range(3)], float)
    alive = {2: np.outer(first, first)}  # by the pulls of arm 1; axes: successes of both
    for pulled in range(4, budget):
        after = {}
        for a, number in alive.items():
            b = pulled - a
            goes = index[a, : a + 1, None] >= index[b, : b + 1]  # the first arm on ties
            one, two = number * goes, number * ~goes
            for key, moved, axis in ((a + 1, one, 0), (a, two, 1)):
                if moved.any():
                    pad = [(0, int(axis == 0)), (0, int(axis == 1))]
                    failed, won = np.pad(moved, pad), np.pad(moved, [p[::-1] for p in pad])
                    after[key] = after.get(key, 0) + failed + won
        alive = after
    rows = []
    for a, number in alive.items():
        i, j = np.nonzero(number)
        rows.append(np.column_stack([np.full(i.size, a), i, np.full(i.size, budget - a), j, np.log(number[i, j])]))
    return np.concatenate(rows).T


def log_bernoulli(p, budget, delta):
    """Return log P(mistake), ties against the best arm, for two arms."""
    n1, s1, n2, s2, number = courses(budget, delta)
    lost = s1 * n2 <= s2 * n1 if p[0] > p[1] else s1 * n2 >= s2 * n1
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(k > 0, k * np.log(x), 0.0) for k, x in ((s1, p[0]), (n1 - s1, 1 - p[0]))]
        terms += [np.where(k > 0, k * np.log(x), 0.0) for k, x in ((s2, p[1]), (n2 - s2, 1 - p[1]))]
    return float(logsumexp((number + sum(terms))[lost]))


def log_one_random(p, levels, stage_budget, delta):
    """Return log P(mistake) if only arm 1 is random and its rivals always have the rewards `levels`, for any K.

    A rival's index depends on its pulls only, so a stage is a walk of the pulls and successes of arm 1.
    """
    slack = math.sqrt(2 * math.log(1 / delta))
    kept, lost, size = 0.0, [], levels.size + 1
    while size > 1:
        rivals = np.sort(levels)[::-1][: size - 1]
        alive = {(2, k): float(math.comb(2, k)) for k in range(3)}  # numbers of courses
        pulls = np.full(size - 1, 2)
        quiet = []  # the rivals' indices in the order in which they are used up
        for _ in range(stage_budget):
            turn = int(pulls.argmin())
            quiet.append(slack / math.sqrt(pulls[turn] * (pulls[turn] - 1)))
            pulls[turn] += 1
        for pulled in range(2 * size, stage_budget):
            after = {}
            for (n, s), number in alive.items():
                own = math.sqrt(s * (n - s) / n / (n * (n - 1))) + slack / math.sqrt(n * (n - 1))
                moves = ((n + 1, s), (n + 1, s + 1)) if own >= quiet[pulled - 2 * (size - 1) - n] else ((n, s),)
                for state in moves:
                    after[state] = after.get(state, 0.0) + number
            alive = after
        survivors = (size + 1) // 2
        stay = []
        for (n, s), number in alive.items():
            chance = kept + math.log(number) + s * math.log(p) + (n - s) * math.log1p(-p)
            (stay if (rivals >= s / n).sum() < survivors else lost).append(chance)
        kept, size = float(logsumexp(stay)), survivors
    return float(logsumexp(lost))


def test_bounded_rewards_of_two_arms_are_bounded_in_240_problems():
    rng, logs, told = np.random.default_rng(23), [], 0
    for case in range(240):
        budget, delta = ((40, 0.01), (60, 3e-3), (70, 1e-4), (30, 0.05))[case % 4]
        p = np.array([1 - 10 ** rng.uniform(-9, -0.4), 10 ** rng.uniform(-9, -0.4)])
        if case % 5 == 0:
            p = rng.uniform(0, 1, 2)
        p = p if case % 3 else p[::-1].copy()
        if case % 7 == 0:
            p[p.argmin()] = 0.0  # a rival without noise
        truth = log_bernoulli(p, budget, delta)
        span = float(rng.choice([1.0, 3.0]))
        bound = theory.bounded_bound(span * p, span**2 * p * (1 - p), budget, delta, span)
        assert hold(bound, truth), (p, budget, delta)
        assert bound <= theory.bounded_closed_bound(span * p, span**2 * p * (1 - p), budget, delta, span) * (1 + 1e-12)
        logs.append(truth)
        told += bound < 0.9
    assert told > 80 and min(logs) < -230 and max(logs) > -2


def test_bounded_rewards_of_three_to_five_arms_are_bounded_in_60_problems():
    rng, told = np.random.default_rng(24), 0
    for case in range(60):
        size, stage_budget, delta = 3 + case % 3, int(rng.integers(60, 150)), float(10 ** rng.uniform(-4, -3))
        p = 1 - 10 ** rng.uniform(-6, -0.5)
        levels = np.zeros(size - 1) if case % 2 else rng.integers(0, 5, size - 1) / 16  # ties, and rivals apart
        truth = log_one_random(p, levels, stage_budget, delta)
        means, variances = np.r_[p, levels], np.r_[p * (1 - p), np.zeros(size - 1)]
        bound = theory.bounded_bound(means, variances, theory.stages(size) * stage_budget, delta, 1.0)
        assert hold(bound, truth), (means, stage_budget, delta)
        closed = theory.bounded_closed_bound(means, variances, theory.stages(size) * stage_budget, delta, 1.0)
        assert bound <= closed * (1 + 1e-12)
        told += bound < 0.9
    assert told > 20


def test_the_references_for_bounded_rewards_are_what_play_shows():
    runs = 100_000
    policy = bai.SHAdaVar(0.05, bound=bai.variance_bounds.Bernstein(span=1.0))
    for p in ([0.6, 0.45], [0.7, 0.0]):
        if p[1]:
            truth = math.exp(log_bernoulli(np.array(p), 30, 0.05))
        else:
            truth = math.exp(log_one_random(p[0], np.zeros(1), 6, 0.05))
        mistakes = bai.simulate(policy, bai.BernoulliBandits(p, runs=runs), 30 if p[1] else 6, seed=2).mistakes
        assert mistakes.mean() <= truth + 0.01 and truth < mistakes.mean() + 0.1  # ties are split in play
