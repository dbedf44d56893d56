"""The sharp bounds against exact mistake probabilities, in logarithms, at random and at the corners.

The reference knows nothing of the code that it checks: it adds up all courses of eliminations. The chance that a
stage turns a set into given survivors is an integral over the highest estimate among those that go.
"""

import math
import time
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import binom, chi2, norm

import bai
from bai import theory
from bai.theory.halving_bounds import sh_errors

TOLERANCE = 2e-6  # of logarithms: what the quadratures of bound and reference may differ by
NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


def log_normal(x, mean, spread):
    return -(((x - mean) / spread) ** 2) / 2 - math.log(spread * math.sqrt(2 * math.pi))


def log_transition(means, spreads, kept):
    """log P(exactly the arms `kept` survive): the sum over who is the best of those that go."""
    terms = []
    for j in np.flatnonzero(~kept):
        rest = np.arange(means.size) != j

        def others(x, rest=rest):  # all that stay are at x or above, all others that go at x or below
            distance = np.where(kept, means - x[:, None], x[:, None] - means)[:, rest]
            noise = spreads[rest]
            with np.errstate(divide="ignore", invalid="ignore"):
                sure = np.where(distance >= 0, 0.0, -np.inf)
                return np.where(noise > 0, log_ndtr(distance / np.where(noise > 0, noise, 1)), sure).sum(axis=1)

        if spreads[j] == 0:
            terms.append(float(others(means[[j]])[0]))
            continue
        # The integrand is log-concave. Noiseless arms cut the line.
        low = max([means[i] for i in np.flatnonzero(~kept & rest & (spreads == 0))], default=-math.inf)
        high = min([means[i] for i in np.flatnonzero(kept & (spreads == 0))], default=math.inf)
        if low >= high:
            continue

        def density(x, j=j, others=others):
            return others(x) + log_normal(x, means[j], spreads[j])

        reach = 40 * spreads[j] + np.ptp(means)
        a, b = max(low, means[j] - reach), min(high, means[j] + reach)
        left, right = a, b
        for _ in range(5):  # the mode, by ever finer grids
            grid = np.linspace(left, right, 81)
            values = density(grid)
            i = int(values.argmax())
            left, right = grid[max(i - 1, 0)], grid[min(i + 1, 80)]
        ends = []
        for end in (a, b):  # where the integrand is smaller by a factor of e^40
            points = np.append(grid[i] + np.sign(end - grid[i]) * np.geomspace(1e-9, 1, 120) * abs(end - grid[i]), end)
            ends.append(points[min((density(points) < values[i] - 40).argmax() or 120, 120)])
        pieces = np.linspace(*ends, 3)
        for p, q in pairwise(pieces):
            values = density((p + q + (q - p) * NODES) / 2)
            with np.errstate(divide="ignore"):
                terms.append(float(np.logaddexp.reduce(values + np.log(WEIGHTS)) + np.log((q - p) / 2)))
    return float(np.logaddexp.reduce(terms)) if terms else -math.inf


def pulls_of(policy, variances, stage_budget):
    if policy == "SHVar":
        return theory.greedy_allocation(variances, stage_budget)
    extra = np.arange(variances.size) < stage_budget % variances.size
    return stage_budget // variances.size + extra


def log_mistake(policy, means, variances, budget, first_stage=None):
    """log P(mistake) of SH or SHVar, ties and odd pulls to the lowest positions.

    What becomes of all arms in the first stage is added to `first_stage`: spreads, who survives, log-probability.
    """
    stage_budget, best = budget // theory.stages(means.size), int(means.argmax())

    @cache
    def lost(arms):
        chosen = np.array(arms)
        mu, noise = means[chosen], variances[chosen]
        spreads = np.sqrt(noise / pulls_of(policy, noise, stage_budget))
        if len(arms) == 2:
            total, gap = math.hypot(*spreads), abs(mu[0] - mu[1])
            return float(log_ndtr(-gap / total)) if total > 0 else -math.inf
        terms = []
        for picked in combinations(range(len(arms)), (len(arms) + 1) // 2):
            kept = np.zeros(len(arms), bool)
            kept[list(picked)] = True
            step = log_transition(mu, spreads, kept)
            if first_stage is not None and len(arms) == means.size:
                first_stage.append((spreads, kept, step))
            terms.append(step + (lost(tuple(chosen[kept].tolist())) if best in chosen[kept] else 0.0))
        return float(np.logaddexp.reduce(terms))

    return lost(tuple(range(means.size)))


def random_problem(rng):
    """Two to five arms, from tiny budgets on; some with equal gaps, equal variances or arms without noise."""
    size = int(rng.integers(2, 6))
    stage_budget = size if rng.random() < 0.2 else size + int(rng.integers(0, 200))
    budget = theory.stages(size) * stage_budget + int(rng.integers(0, theory.stages(size)))
    variances = 10 ** rng.uniform(-2, 2, size) if rng.random() < 0.7 else rng.choice([0.5, 1.0, 2.0], size)
    if rng.random() < 0.25:
        variances[rng.integers(size)] = 0.0
    gaps = np.full(size, 1.0) if rng.random() < 0.2 else rng.uniform(0.2, 3, size)
    gaps[rng.integers(size)] = 0.0
    scale = math.sqrt(variances.sum() / stage_budget * 10 ** rng.uniform(-1, 2.9))
    return -gaps * scale, variances, budget


@pytest.fixture(scope="module")
def solved():
    """300 problems, each with the exact logarithms for SH and for SHVar, and the first stage of SHVar."""
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        problem, stage = random_problem(rng), []
        found.append(
            (problem, {"SH": log_mistake("SH", *problem), "SHVar": log_mistake("SHVar", *problem, stage)}, stage)
        )
    return found


@pytest.fixture(scope="module")
def exact(solved):
    return [(problem, truth) for problem, truth, _ in solved]


def log(value):
    return math.log(value) if value > 0 else -math.inf


BOUNDS = {
    "SHVar": (theory.shvar_bound, theory.full_form_bound, theory.theorem_1_bound, theory.theorem_2_bound),
    "SH": (theory.sh_gaussian_bound, theory.sh_closed_bound),
}


def test_no_bound_of_sh_or_shvar_is_below_the_exact_probability(exact):
    logs, checked = [], 0
    for problem, truth in exact:
        for policy, bounds in BOUNDS.items():
            logs.append(truth[policy])
            for bound in bounds:
                values = [bound(*problem)]
                if bound is not theory.theorem_1_bound and bound is not theory.theorem_2_bound:
                    values.append(bound(*problem, gaussian=False))
                for value in values:
                    # Below 1e-304 a float may be 0; the reference goes on.
                    assert truth[policy] < -700 or log(value) >= truth[policy] - TOLERANCE, (bound, problem)
                    checked += 1
    assert checked >= 2400 and len(logs) == 600
    finite = np.array(logs)[np.isfinite(logs)]
    assert (finite < -230).sum() > 20 and (finite > -3).sum() > 20  # both ends are there: 1e-100 and 0.05


def test_the_bound_of_sh_with_one_proxy_is_not_below_the_exact_probability_nor_the_sharp_bound():
    rng = np.random.default_rng(7)
    for case in range(300):
        size = 4 if case % 4 else 2
        each = int(rng.integers(1, 60))
        variances, gaps = 10 ** rng.uniform(-1, 1, size), rng.uniform(0.2, 3, size)
        gaps[rng.integers(size)] = 0.0
        means = -gaps * math.sqrt(variances.max() / each * 10 ** rng.uniform(-1, 2))
        budget = size * theory.stages(size) * each
        value = theory.sh_bound(means, budget, proxy=variances.max())
        assert log(value) >= log_mistake("SH", means, variances, budget)
        assert value >= theory.sh_gaussian_bound(means, variances, budget)


def test_the_sharp_bounds_are_close_to_the_exact_probability(exact):
    excess = {
        policy: [log(BOUNDS[policy][0](*problem)) - truth[policy] for problem, truth in exact if truth[policy] > -650]
        for policy in BOUNDS
    }
    assert np.median(excess["SH"]) < 0.5 and np.median(excess["SHVar"]) < 0.5
    assert min(excess["SH"] + excess["SHVar"]) > -TOLERANCE


def test_the_sharp_bounds_are_never_above_the_older_ones(exact):
    for problem, _ in exact:
        for older in BOUNDS["SHVar"][1:]:
            assert theory.shvar_bound(*problem) <= older(*problem) * (1 + 1e-9)
        assert theory.sh_gaussian_bound(*problem) <= theory.sh_closed_bound(*problem) * (1 + 1e-9)
        assert (
            theory.shvar_bound(*problem, gaussian=False) <= theory.full_form_bound(*problem, gaussian=False) * 1.000001
        )


def test_the_sharp_bounds_are_never_above_that_of_the_cheapest_path(exact):
    """It can be the smaller one where mistakes are very rare. Where the index of SHVar ties fewer pulls are sure."""
    for (means, variances, budget), _ in exact:
        if len(set(variances[variances > 0].tolist())) == means.size:
            high = theory.path_bounds(means, variances, budget, "SHVar")[1]
            assert high < -700 or log(theory.shvar_bound(means, variances, budget)) <= max(0, high) + 1e-9
    reached = 0
    rng = np.random.default_rng(15)
    for size, policy, bound in [(8, "SHVar", theory.shvar_bound), (6, "SH", theory.sh_gaussian_bound)] * 4:
        means, variances = -np.r_[0, np.sort(rng.uniform(0.2, 1.5, size - 1))], 10 ** rng.uniform(-1, 1, size)
        each = math.ceil(500 / theory.exponent(means, variances, policy) / size / 3)
        n = size * theory.stages(size) * (2 * each if policy == "SH" else each)  # every stage of SH is divided evenly
        value, high = log(bound(means, variances, n)), theory.path_bounds(means, variances, n, policy)[1]
        assert value <= high + 1e-9
        reached += value > high - 1e-9
    assert reached > 0


def test_two_arms_have_their_exact_probability():
    for variances, budget in (([1.0, 2.0], 31), ([0.0, 2.0], 30), ([1.0, 1.0], 3), ([1.0, 1.0], 2)):
        means, variances = np.array([1.0, 0.0]), np.array(variances)
        for policy in BOUNDS:
            value = BOUNDS[policy][0](means, variances, budget)
            worst = max(log_mistake(policy, means[::s], variances[::s], budget) for s in (1, -1))
            assert log(value) == pytest.approx(worst, abs=1e-9)


def test_probabilities_down_to_1e_300_keep_their_digits():
    for gap, least in ((10.0, -40), (25.0, -240), (41.0, -690)):
        means, variances = np.array([gap, 0.0, 0.0]), np.array([1.0, 0.9, 0.8])
        truth = log_mistake("SH", means, variances, 6)
        assert least < truth < 0.85 * least
        assert truth - TOLERANCE <= log(theory.sh_gaussian_bound(means, variances, 6)) < 0.95 * truth


def test_an_arm_without_noise_that_cannot_be_passed_costs_nothing():
    assert theory.sh_gaussian_bound([1.0, 0.0, -5.0], [0.0, 0.0, 1e-4], 6) < 1e-300
    assert theory.shvar_bound([1.0, 0.0], [0.0, 1.0], 2) == pytest.approx(norm.sf(1.0))
    assert theory.shvar_bound([1.0, 0.0, -1.0], [0.0, 0.0, 1.0], 600) < 1e-50


# --------------------------------------------------------------------------- one stage


def test_elimination_in_the_first_stage_has_its_exact_probability(solved):
    checked = 0
    for (means, variances, budget), _, stage in solved:
        if means.size > 2:
            pulls = theory.greedy_allocation(variances, budget // theory.stages(means.size))
            lost = np.logaddexp.reduce([step for _, kept, step in stage if not kept[means.argmax()]])
            found = theory.elimination_probability(means, variances, pulls)
            assert lost < -700 or log(found) == pytest.approx(lost, abs=TOLERANCE)
            checked += 1
    assert checked > 200


def test_every_transition_of_the_first_stage_lies_between_its_two_bounds(solved):
    checked = 0
    for (means, variances, _), _, stage in solved:
        for spreads, kept, step in stage:
            if variances.all():
                size, cost = means.size, theory.transition_cost(means, 1 / spreads**2, kept)
                least = -cost - 2 * math.sqrt(size * cost) - (size + 1) * math.log(2)
                assert least <= step <= -cost + TOLERANCE
                checked += 1
    assert checked > 900


def test_elimination_probability_is_that_of_simulated_stages():
    rng = np.random.default_rng(1)
    for size in (2, 3, 5, 8):
        means, variances = rng.normal(size=size), rng.uniform(0.1, 2, size)
        pulls, runs = rng.integers(1, 9, size), 200_000
        drawn = means + np.sqrt(variances / pulls) * rng.standard_normal((runs, size))
        best = means.argmax()
        lost = ((drawn >= drawn[:, [best]]).sum(axis=1) - 1 >= (size + 1) // 2).sum()
        chance = theory.elimination_probability(means, variances, pulls)
        assert min(binom.cdf(lost, runs, chance), binom.sf(lost - 1, runs, chance)) > 1e-6


def test_integrals_lie_between_their_step_sums():
    from bai.theory import rivals

    rng = np.random.default_rng(2)
    for _ in range(25):
        count = int(rng.integers(2, 7))
        size = int(rng.integers(3, count + 2))
        gaps, high = 10 ** rng.uniform(-2, 1, count), 10 ** rng.uniform(-4, 1, count)
        low = high * rng.choice([1, 0.5, 0.0, 1e-6], count)
        top = 10 ** rng.uniform(-5, 1)
        own = top * rng.choice([1, 0.3, 0.0]), top
        value = rivals.log_rivals(gaps, low, high, own, size)
        work, sums = np.empty(count), []
        for side, v in ((-1, own[1]), (1, own[0])):
            z = np.r_[0, np.geomspace(1e-8, 40 + gaps.max() / math.sqrt(top), 6000)]
            args = np.array([gaps, low, high]), 0.0, size - 1, (size + 1) // 2, work
            steps = np.array([rivals.log_lost(side * y * math.sqrt(v), *args) for y in z])
            tail = log_ndtr(-z)
            with np.errstate(divide="ignore"):
                mass = tail[:-1] + np.log(-np.expm1(np.minimum(tail[1:] - tail[:-1], 0)))
            for pick in (np.minimum, np.maximum):
                sums.append(np.logaddexp.reduce(mass + pick(steps[1:], steps[:-1])))
        below, above = np.logaddexp(sums[0], sums[2]), np.logaddexp(sums[1], sums[3])
        assert below - 1e-7 <= value <= max(above + 1e-7, rivals.LEAST + 1)


def test_the_compiled_integral_is_the_same_uncompiled(monkeypatch):
    from bai.theory import rivals

    cases = [(8, 0.1), (8, 2.0), (5, 1e-9), (4, 0.0)]
    arms = [(np.linspace(0.1, 1, size - 1), own * np.ones(size - 1), own) for size, own in cases]

    def values():
        return [rivals.log_rivals(gaps, v / 2, v, (own, own), gaps.size + 1) for gaps, v, own in arms]

    compiled = values()
    for name in ("log_normal_tail", "log_tail", "log_win", "log_lost", "log_half"):
        monkeypatch.setattr(rivals, name, getattr(rivals, name).py_func)
    assert values() == pytest.approx(compiled, rel=1e-12)


def test_rivals_that_change_places_cost_no_digits():
    """Where not all rivals are present, G turns sharply whenever another one becomes likelier."""
    from bai.theory import rivals

    rng, turned = np.random.default_rng(6), 0
    for _ in range(60):
        count = int(rng.integers(3, 9))
        size = int(rng.integers(3, count + 1))
        gaps, high = rng.uniform(0.2, 2, count), 10 ** rng.uniform(-3, 1, count)
        low = high * rng.choice([0, 0.1, 0.5, 1], count)
        own = 10 ** rng.uniform(-3, 1)
        value = rivals.log_rivals(gaps, low, high, (own / 3, own), size)
        arms, halves, plain = np.array([gaps, low, high]), [], []
        for side, v in ((-1, own), (1, own / 3)):
            edges, rest = rivals._edges(math.sqrt(v), arms, side), (arms, 0.0, size - 1, (size + 1) // 2)
            fine = np.union1d(edges, np.arange(0, 41, 1 / 200))
            halves.append(rivals.log_half(side, math.sqrt(v), fine, *rest))
            plain.append(rivals.log_half(side, math.sqrt(v), edges, *rest))
        assert value == pytest.approx(np.logaddexp(*halves), abs=2e-6)
        turned += abs(np.logaddexp(*plain) - value) > 1e-5
    assert turned > 5  # without these points it would be wrong


def test_far_tails_of_the_normal_are_right_to_the_last_digits():
    from bai.theory import rivals

    for x in (-3.0, 0.0, 5.0, 24.9, 25.1, 40.0, 1e3, 1e6):
        assert rivals.log_normal_tail(x) == pytest.approx(float(log_ndtr(-x)), rel=1e-13)


def test_ties_of_shvars_index_are_bracketed_by_the_counts():
    from bai.theory.halving_bounds import shvar_counts

    rng = np.random.default_rng(3)
    for _ in range(60):
        size = int(rng.integers(2, 6))
        variances, budget = rng.choice([0.0, 0.1, 0.3, 1.0, 2.0], size), size + int(rng.integers(0, 12))
        if not variances.any():
            continue
        orders = [rng.permutation(size) for _ in range(12)]
        seen = np.array([theory.greedy_allocation(variances[o], budget)[np.argsort(o)] for o in orders])
        fewest, most = shvar_counts(variances, budget)
        assert (fewest <= seen.min(axis=0)).all() and (seen.max(axis=0) <= most).all()
        assert (most - fewest <= 2).all()


def test_the_pulls_of_shvar_lie_in_their_brackets_for_every_set():
    from bai.theory.halving_bounds import shvar_errors

    rng = np.random.default_rng(4)
    for _ in range(80):
        count = int(rng.integers(3, 9))
        size = int(rng.integers(2, count + 1))
        variances, budget = 10 ** rng.uniform(-2, 1, count), size + int(rng.integers(0, 100))
        variances[rng.random(count) < 0.1] = 0.0
        chosen = np.r_[0, 1 + np.sort(rng.permutation(count - 1)[: size - 1])]
        if not variances[chosen].any():
            continue
        low, high, own = shvar_errors(variances, 0, budget, size)
        low, high = np.insert(low, 0, own[0]), np.insert(high, 0, own[1])
        errors = variances[chosen] / theory.greedy_allocation(variances[chosen], budget)
        assert (low[chosen] <= errors * (1 + 1e-12)).all() and (errors <= high[chosen] * (1 + 1e-12)).all()


# --------------------------------------------------------------------------- estimated variances, kept samples


def test_no_bound_of_shadavar_is_below_its_conditional_probability():
    """Three arms and more, all stages; `test_exact_bounds` has the exact law of two arms."""
    rng, checked = np.random.default_rng(5), 0
    while checked < 6:
        means, variances, budget = random_problem(rng)
        delta = float(rng.choice([0.05, 0.3, 0.7]))
        if means.size == 2 or not variances.all():
            continue
        budget += means.size * theory.stages(means.size) * theory.warmup_pulls(delta)
        gap = theory.gaps(means).min()
        means = means * math.sqrt(variances.sum() / (budget * gap**2)) * rng.uniform(1, 8)
        out = bai.rao_blackwell(
            bai.SHAdaVar(delta), bai.GaussianBandits(means, variances, runs=40), budget, seed=checked
        )
        bound = theory.shadavar_bound(means, variances, budget, delta)
        assert out.mistake_rate - 5 * out.standard_error <= bound
        checked += 1


def test_a_stage_of_shadavar_within_the_warm_up_costs_what_a_stage_of_sh_does():
    means, variances = [1.0, 0.5, 0.2, 0.0], [1.0, 0.1, 0.4, 0.2]
    assert theory.shadavar_bound(means, variances, 52, 0.05) == theory.sh_gaussian_bound(means, variances, 52)


def test_the_bound_of_shadavar_gains_from_independent_rivals():
    means, variances = np.r_[0.5, np.zeros(15)], np.where(np.arange(16) % 2 == 0, 1.0, 0.1)
    assert theory.shadavar_bound(means, variances, 2560, 0.05) == pytest.approx(0.0095, abs=2e-4)


def test_the_bound_of_shadavar_takes_less_than_a_second_of_processor_time_at_the_budget_where_theorem_3_begins():
    number = np.arange(64)  # the paper's problem, where the printed bound falls below 1 near this budget
    means = 1 - np.sqrt(number / 64)
    variances = np.where(number % 2 == 0, 0.9 * means**2 + 0.1, 0.1)
    theory.shadavar_bound(means, variances, 3000, 0.05)  # compiles
    start = time.process_time()
    assert 0 < theory.shadavar_bound(means, variances, 258_000, 0.05) < 1e-9
    assert time.process_time() - start < 1


def test_failures_are_not_smaller_than_their_sums_of_chi_square_probabilities():
    from bai.theory.shadavar_bounds import early_pulls

    levels, rho, delta = np.array([[0.004], [0.006], [0.02]]), np.array([50.0, 180.0, 400.0]), 0.05
    found = early_pulls(0.7, rho, levels, delta)
    for j, r in enumerate(rho):
        c = np.arange(theory.warmup_pulls(delta), math.ceil(r * 0.7))
        lower = theory.lemma_2_thresholds(c - 1, delta)[0]
        sums = chi2.cdf(levels * c * lower / 0.7, c - 1).sum(axis=1)
        assert (found[:, j] >= sums).all() and (found[:, j] <= np.minimum(2 * sums + 1e-300, 1.2 * c.size)).all()


@pytest.mark.parametrize("policy", ["SHVar", "SHAdaVar"])
def test_bounds_for_kept_samples_hold_in_simulation(policy):
    rng, told = np.random.default_rng(6), 0
    for seed in range(10):  # `test_exact_bounds` has the exact law of simpler problems
        size = int(rng.integers(3, 6))
        budget = int(rng.integers(40, 400) if policy == "SHVar" else rng.integers(150, 900))
        means, variances = rng.uniform(0, 0.4, size), 10.0 ** rng.uniform(-1.5, 0, size)
        means[rng.integers(size)] = rng.uniform(0.8, 2.0)
        if policy == "SHVar":
            bound, played = theory.keep_bound(means, variances, budget), bai.SHVar(reuse=True)
        else:
            bound, played = theory.shadavar_keep_bound(means, variances, budget, 0.2), bai.SHAdaVar(0.2, reuse=True)
        out = bai.simulate(played, bai.GaussianBandits(means, variances, runs=1000), budget, seed)
        told += bound < 0.5
        assert binom.sf(out.mistakes.sum() - 1, 1000, bound) > 1e-6
    assert told > 3


def test_no_more_pulls_than_planned_are_promised_to_shadavar_with_kept_samples():
    means, variances = np.array([0.0, -0.5, -0.6, -0.8]), np.array([1.0, 0.1, 0.8, 0.2])
    out = bai.simulate(bai.SHAdaVar(0.2, reuse=True), bai.GaussianBandits(means, variances, runs=2000), 800, seed=1)
    from bai.theory.keep_bounds import _plans

    final = out.pulls[:, 0] / variances[0]  # the best arm reaches the last stage in every run
    assert not out.mistakes.any()
    failures = [(rho[-1], f) for rho, f in _plans(means, variances, 400, 0.2) if f < 0.5]
    assert len(failures) > 5
    for rho, f in failures:
        assert binom.sf((final < rho).sum() - 1, 2000, f) > 1e-6


def test_the_closed_form_for_shadavar_with_kept_samples_is_the_stated_one_at_the_best_first_pulls():
    means, variances, n, delta = np.array([1.0, 0.0]), np.array([1.0, 0.25]), 4000, 1e-9
    warm_up, values = theory.warmup_pulls(delta), []
    for q in range(warm_up, n // 2 + 1):
        lower, upper = theory.lemma_2_thresholds(q - 1, delta)
        one = norm.sf(math.sqrt(lower / upper * (n - 2 * q) / 1.25 / 2))
        values.append(4 * one * (1 - one) + 2 * (n + 1 - 2 * warm_up) * delta)
    value = theory.shadavar_keep_closed_bound(means, variances, n, delta)
    assert min(values) <= value < 1.05 * min(values) < 1e-4
    out = bai.rao_blackwell(bai.SHAdaVar(delta), bai.GaussianBandits(means, variances, runs=50), n, seed=1)
    assert out.mistake_rate < value  # two arms have one stage, and nothing to keep
    assert theory.shadavar_keep_closed_bound(means, variances, 2 * warm_up - 1, delta) == 1.0
    assert theory.shadavar_keep_closed_bound(means, variances, n, 0.05) == 1.0


def test_rungs_that_cannot_matter_change_the_bound_of_shadavar_in_no_digit_and_never_lower_it():
    from bai.theory import shadavar_bounds

    for means, variances, n, delta in (
        ([0.0, -0.5, -0.6, -0.8], [1.0, 0.1, 0.8, 0.2], 5000, 0.05),
        (np.linspace(0, 1, 12), np.linspace(0.2, 2, 12), 9000, 0.3),
    ):
        quick = theory.shadavar_bound(means, variances, n, delta)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shadavar_bounds, "NEGLIGIBLE", -1.0)  # every rung is computed
            whole = theory.shadavar_bound(means, variances, n, delta)
        assert whole * (1 - 1e-14) <= quick <= whole * (1 + 1e-9)


def test_bounded_rewards_never_err_more_often_than_their_bound():
    rng, told = np.random.default_rng(8), 0
    for seed in range(24):
        size = int(rng.integers(2, 6))
        p = rng.uniform(0.02, 0.4, size)
        p[0] = rng.uniform(0.7, 0.98)
        budget, delta = int(rng.integers(200, 6000)), float(10 ** rng.uniform(-6, -3))
        bound = theory.bounded_bound(p, p * (1 - p), budget, delta, span=1.0)
        played = bai.SHAdaVar(delta, bound=bai.variance_bounds.Bernstein(span=1.0))
        mistakes = bai.simulate(played, bai.BernoulliBandits(p, runs=300), budget, seed).mistakes.sum()
        told += bound < 0.5
        assert binom.sf(mistakes - 1, 300, bound) > 1e-6
    assert told > 5


def test_bounded_bound_has_the_exponent_four():
    arms, n = ([0.2, 0.0], [0.25, 0.25]), 20_000
    best = min(theory.bounded_bound(*arms, n, math.exp(-x), 1.0) for x in np.linspace(60, 200, 71))
    assert math.log10(best) == pytest.approx(-53.4, abs=0.1)
    assert theory.bounded_bound(*arms, 3, 0.05, 1.0) == 1.0


def test_bounded_bound_refuses_variances_that_no_such_rewards_have():
    with pytest.raises(ValueError, match=r"variances has an entry 0.3; rewards in an interval of length 1"):
        theory.bounded_bound([1.0, 0.0], [0.3, 0.1], 100, 0.05, 1.0)


# --------------------------------------------------------------------------- starvation and floors


def test_every_reading_of_delta_refutes_the_printed_theorem_3():
    gap, n, delta, size = 0.5, 20_000, 0.25 / 20_000, 2
    assert theory.theorem_3_condition(size, n, delta)
    lower = [theory.starvation_bound(gap, n, d) for d in (size * n * delta, delta, delta / (size * n))]
    assert lower == pytest.approx([4.0e-9, 9.6e-92, 4.7e-161], rel=0.05, abs=0)
    printed = theory.theorem_3_bound([gap, 0.0], [1.0, 1.0], n, delta, printed=True)  # log(Kn/δ) in α: the weakest
    assert min(lower) > 1e60 * printed
    for d, low in zip((delta, delta / (size * n)), lower[1:], strict=True):
        assert low < theory.shadavar_bound([gap, 0.0], [1.0, 1.0], n, d)


@pytest.mark.parametrize("variances", [[1.0, 1.0], [1.0, 0.25]])
def test_mistakes_at_a_fixed_delta_fall_like_the_limit(variances):
    limit, power = theory.starvation_limit(1.0, variances, 0.05, chi_square=True)
    policy = bai.SHAdaVar(0.05, bound=bai.variance_bounds.ChiSquare())
    arms = bai.GaussianBandits([1.0, 0.0], variances, runs=20_000)
    out = bai.rao_blackwell(policy, arms, 1000, seed=1)
    assert abs(out.mistake_rate - limit * 1000**-power) < 5 * out.standard_error
    assert out.mistake_rate > 5 * out.standard_error


@pytest.mark.parametrize("variances", [[1.0, 1.0], [1.0, 0.25]])
def test_mistakes_at_a_fixed_delta_lie_in_their_bracket_and_the_bracket_closes(variances):
    policy = bai.SHAdaVar(bound=bai.variance_bounds.ChiSquare())
    for n in (20, 100, 400):
        low, high = theory.starvation_bracket(1.0, variances, n, 0.05, chi_square=True)
        out = bai.rao_blackwell(policy, bai.GaussianBandits([1.0, 0.0], variances, runs=20_000), n, seed=1)
        margin = 4.5 * out.standard_error
        assert low <= out.mistake_rate + margin and out.mistake_rate - margin <= high
    limit, power = theory.starvation_limit(1.0, variances, 0.05, chi_square=True)
    low, high = (x * 100_000**power for x in theory.starvation_bracket(1.0, variances, 100_000, 0.05, chi_square=True))
    assert 0.98 * limit < low <= limit <= high < 1.02 * limit


def test_a_tiny_delta_has_the_two_terms_that_are_stated_at_the_best_share():
    means, variances, n, delta = [0.5, 0.0], [1.0, 0.25], 4000, 1e-19
    values = []
    for q in range(2, n // 2):
        x = math.log(1 / delta) / (q - 1)
        if x < 0.25:
            alpha = (1 - 2 * math.sqrt(x)) / (1 + 2 * math.sqrt(x) + 2 * x)
            values.append((math.exp(-alpha * (n - 2 * q) * 0.25 / (4 * 1.25)) + n * delta**1.25) / 2)
    assert theory.tiny_delta_bound(means, variances, n, delta) == pytest.approx(min(values), rel=1e-9, abs=0)
    assert theory.tiny_delta_bound(means, variances, 300, delta) == 1.0  # the warm-up alone takes more


def test_a_floor_gives_an_exponential_bound_near_its_ratio():
    z = 0.01  # a gap of 0.2 in standard deviations
    floor, ratio = theory.best_floor(z)
    assert ratio == pytest.approx((math.sqrt(1 + 4 * z) - 2 * math.sqrt(z)) ** 2)
    n = [10**5, 2 * 10**5]
    a, b = (math.log(theory.floor_bound([0.2, 0.0], [1.0, 1.0], x, floor)) for x in n)
    assert (a - b) / (n[1] - n[0]) > 0.99 * ratio * z / 2
    assert theory.floor_bound([0.2, 0.0], [1.0, 1.0], 4, floor) == 1.0


# --------------------------------------------------------------------------- exponents


def test_the_cheapest_path_bounds_mistakes_from_both_sides(exact):
    checked = 0
    for (means, variances, budget), truth in exact:
        if (variances == 0).any():
            continue
        for policy, value in truth.items():
            order = np.argsort(-means, kind="stable")  # ties as `path_bounds` breaks them
            if len(set(variances.tolist())) < means.size or policy == "SH":
                value = log_mistake(policy, means[order], variances[order], budget)
            low, high = theory.path_bounds(means, variances, budget, policy)
            assert low <= value + TOLERANCE and value <= high + TOLERANCE
            checked += 1
    assert checked >= 300


def test_exponents_are_the_slopes_of_exact_probabilities():
    rng = np.random.default_rng(9)
    for _ in range(12):
        size = int(rng.integers(2, 6))
        means, variances = np.r_[0.0, -rng.uniform(0.3, 1, size - 1)], 10 ** rng.uniform(-0.5, 0.5, size)
        for policy in ("SH", "SHVar"):
            rate = theory.exponent(means, variances, policy)
            n = [math.ceil(x / rate) for x in (1500, 3000)]
            slope = -np.subtract(*[log_mistake(policy, means, variances, b) for b in n[::-1]]) / (n[1] - n[0])
            assert slope == pytest.approx(rate, rel=0.01)


def test_exponents_lie_in_their_brackets_in_300_problems(solved, monkeypatch):
    monkeypatch.setattr("bai.theory.exponents.CELLS", 500)  # coarser, so wider, and as valid
    checked, tight = 0, 0
    for (means, variances, _), _, _ in solved:
        variances = np.where(variances > 0, variances, 0.3)
        for policy in ("SH", "SHVar"):
            low, high = theory.exponent_bracket(means, variances, policy)
            rate = theory.exponent(means, variances, policy)
            assert low <= rate * (1 + 1e-9) and rate <= high * (1 + 1e-9)
            checked, tight = checked + 1, tight + (high < 1.02 * low)
    assert checked == 600 and 100 < tight < 600


def test_paying_before_the_elimination_can_be_cheapest():
    cost, path = theory.cheapest_path([0.0, -0.5, -0.55], [1.0, 0.1, 4.0], "SHVar")
    assert path == [(1, 2, 3), (1, 3)]
    assert cost == pytest.approx(0.05**2 / (4 * 5.1) + 0.55**2 / 20)


def test_equal_gaps_have_the_exponents_of_the_closed_form():
    rng = np.random.default_rng(10)
    for _ in range(30):
        size = int(rng.integers(2, 9))
        variances = 10 ** rng.uniform(-1, 1, size)
        rivals, terms = np.sort(variances[1:])[::-1], []
        for k in theory.stage_sizes(size):
            h = (k + 1) // 2
            total = variances[0] + rivals[: k - 1].sum()
            terms.append((total * (1 + 1 / h), k * (variances[0] + 1 / (1 / rivals[:h]).sum())))
        for policy, worst in zip(("SHVar", "SH"), np.max(terms, axis=0), strict=True):
            cost = theory.cheapest_path(np.r_[0.0, np.full(size - 1, -0.7)], variances, policy)[0]
            assert cost == pytest.approx(0.7**2 / 2 / worst)


def test_both_exponents_are_capped_by_the_final_against_the_runner_up():
    rng = np.random.default_rng(11)
    for _ in range(20):
        means, variances = -np.sort(rng.uniform(0, 1, 5)), 10 ** rng.uniform(-1, 1, 5)
        cap = (means[0] - means[1]) ** 2 / (4 * (variances[0] + variances[1])) / 3
        assert all(theory.exponent(means, variances, p) <= cap * (1 + 1e-9) for p in ("SH", "SHVar"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.exponent([1.0, 0.0], [1.0, 0.0], "SH"), "variances has an entry 0"),
        (lambda: theory.exponent([1.0, 0.0], [1.0, 1.0], "SR"), "policy is 'SR'"),
        (lambda: theory.cheapest_path(np.arange(13.0), np.ones(13), "SH"), "means has 13 arms"),
        (lambda: theory.transition_cost([1.0, 0.0], [1.0], [True, False]), "rates has shape"),
        (lambda: theory.transition_cost([1.0, 0.0], [1.0, 1.0], [True, True]), "survivors names all arms or none"),
        (lambda: theory.elimination_probability([1.0, 1.0], [1.0, 1.0], [1, 1]), "unique best arm"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("budget", [10, 11])
def test_errors_of_sh_lie_between_those_of_its_fewest_and_its_most_pulls(budget):
    variances = np.array([4.0, 1.0])
    arms = bai.GaussianBandits([1.0, 0.0], variances, runs=50)
    errors = variances / bai.simulate(bai.SH(), arms, budget, seed=1).pulls
    low, high, own = sh_errors(variances, 0, budget, 2)
    assert [low, high] == [errors[:, 1].min(), errors[:, 1].max()]
    assert own == (errors[:, 0].min(), errors[:, 0].max())
    assert (low < high) == (budget % 2 == 1)
