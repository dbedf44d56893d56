"""What the paper says about its simulations, each claim with a test that decides it on evidence.

A claim holds, fails or stays open under one reading. `CLAIMS` has them all, in the order of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2, kendalltau, norm

from .evidence import Answer, Evidence, Played, Point, Setting, every, less, truth
from .readings import FIGURE_2, FIGURE_3, FIGURE_5, FIGURE_6, LEFT_OUT, OURS, PRIOR, SETTINGS

GAPS = ["GapE", "GapE-V"]
BUDGETS = [n for _, n in FIGURE_2]
SIZES = [k for k, _ in FIGURE_3]
MOVIES = "MovieLens"

Settings = Sequence[Setting]


class Curves(NamedTuple):
    """What a claim is about, as lines of a small plot; None in a line is a gap."""

    lines: Mapping[str, Sequence[float | None]]
    over: str  # what varies along the lines, in words
    pale: tuple[str, ...] = ()  # lines in the background
    target: float | None = None  # a level to compare with
    from_zero: bool = True


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and its test.

    Attributes
    ----------
    section : str
        Where the paper makes it.
    words : str
        What it says.
    test : str
        What we ask for, in words.
    function : callable
        Takes evidence and returns an `Answer`. It gets a `Played`, and a `Published` as well if `on_points`.
    on_points : bool
        Whether the published points can decide it.
    world : str
        The problem it is about.
    about : tuple of Point
        Points of a reconstructed policy that it judges. If the reconstruction matches none of them, it is not testable.
    headline : bool
        Whether the reading that fits the published curves best decides it.
    curves : callable
        Takes the same evidence and returns the `Curves` to show beside the answer.
    cell, place : str
        Where the book shows it, and where it discusses it: ``page#anchor``.

    Examples
    --------
    >>> Claim("1", "SR beats SH.", "over six budgets", lambda e: e.outperforms("SR", "SH", FIGURE_2)).world
    'synthetic'
    """

    section: str
    words: str
    test: str
    function: Callable[[Any], Answer]
    on_points: bool = True
    world: str = "synthetic"
    about: tuple[Point, ...] = ()
    headline: bool = False
    curves: Callable[[Any], Curves] = lambda e: Curves({}, "")
    cell: str = ""
    place: str = ""


# --- what to draw ----------------------------------------------------------------------------------------

OVER_BUDGETS, OVER_SIZES = "budgets from 1000 to 6000, K = 64", "32 to 64 arms, n = 5000"


def rates(
    names: Sequence[str], over: str, *figures: Settings, pale: Sequence[str] = (), target: float | None = None
) -> Callable[[Evidence], Curves]:
    """Draw the mistake rates of policies over settings, with a gap between two figures."""

    def draw(e: Evidence) -> Curves:
        lines: dict[str, list[float | None]] = {}
        for name in (*pale, *names):
            parts = [[e.rate(*s, name) for s in figure] for figure in figures]
            lines[name] = [y for part in parts for y in (None, *part)][1:]
        return Curves(lines, over, tuple(pale), target)

    return draw


def averages(names: Sequence[str], *figures: Settings) -> Callable[[Evidence], Curves]:
    """Draw for each policy a line from its average rate in a figure to that in another."""

    def draw(e: Evidence) -> Curves:
        lines = {name: [float(np.mean([e.rate(*s, name) for s in f])) for f in figures] for name in names}
        return Curves(lines, "average rates in one figure and the other")

    return draw


# --- several settings, several rivals --------------------------------------------------------------------


def count_settings(e: Evidence, prior: Iterable[str], settings: Settings) -> tuple[int, int]:
    """Return in how many settings both proposals beat every prior policy, and in how many one of them is beaten."""
    rivals = [(a, b) for a in OURS for b in prior]
    won = sum(all(e.beats(a, b, s) for a, b in rivals) for s in settings)
    lost = sum(any(e.beats(b, a, s) for a, b in rivals) for s in settings)
    return won, lost


def best_in_most(e: Evidence, prior: Iterable[str], settings: Settings) -> Answer:
    """Both proposals beat all prior policies in more than half of the settings; one beaten in half refutes it."""
    won, lost = count_settings(e, prior, settings)
    holds = True if won > len(settings) / 2 else False if lost >= len(settings) / 2 else None
    return Answer(holds, f"{won} settings for the claim, {lost} against")


def competitive(e: Evidence, prior: Iterable[str], settings: Settings) -> Answer:
    """Neither proposal is beaten by a prior policy in more than half of the settings."""
    lost = count_settings(e, prior, settings)[1]
    return Answer(lost < len(settings) / 2, f"neither is beaten in {len(settings) - lost} of {len(settings)}")


def worst(e: Evidence, name: str, others: Sequence[str], settings: Settings) -> Answer:
    """Each of the others outperforms the policy over the settings."""
    answers = [e.outperforms(other, name, settings).holds for other in others]
    return Answer(every(answers), f"{answers.count(True)} of {len(others)} outperform it")


def best(e: Evidence, name: str, others: Sequence[str], settings: Settings) -> Answer:
    """The policy outperforms each of the others over the settings."""
    answers = {other: e.outperforms(name, other, settings).holds for other in others}
    behind = [other for other, holds in answers.items() if not holds]
    return Answer(every(answers.values()), f"not ahead of: {', '.join(behind) or 'none'}")


def lowest(e: Evidence, settings: Settings) -> Answer:
    """Each proposal outperforms each prior policy over the settings."""
    answers = {(a, b): e.outperforms(a, b, settings).holds for a in OURS for b in PRIOR}
    behind = sorted({b for (_, b), holds in answers.items() if not holds})
    return Answer(every(answers.values()), f"not both ahead of: {', '.join(behind) or 'none'}")


def better_at(e: Evidence, first: str, second: str, settings: Settings) -> Answer:
    """The first policy has fewer mistakes than the second in each setting."""
    said = " and ".join(f"{e.rate(*s, first):.3f} against {e.rate(*s, second):.3f}" for s in settings)
    return Answer(every(truth(-e.sign(less(first, second, [s]))) for s in settings), said)


def alike(e: Evidence, names: Sequence[str], *figures: Settings) -> Answer:
    """The policies are ordered alike in two figures, by their average rates (Kendall's rank correlation)."""
    means = [[np.mean([e.rate(*s, name) for s in figure]) for name in names] for figure in figures]
    correlation, p_value = map(float, kendalltau(*means, alternative="greater"))
    holds = True if p_value < 0.05 else False if correlation <= 0 else None
    return Answer(holds, f"correlation {correlation:.2f}, p = {p_value:.2g}")


# --- where pulls go --------------------------------------------------------------------------------------


def more_to_noisy(e: Played, name: str) -> Answer:
    """At each budget the policy gives the noisier half of the arms a larger share of its pulls than SH."""
    extra = {n: e.noisy_share[Point(64, n, name)] - e.noisy_share[Point(64, n, "SH")] for n in BUDGETS}
    holds = every(truth(e.sign_of_mean(("share", name, n), more)) for n, more in extra.items())
    means = [more.mean() for more in extra.values()]
    return Answer(holds, f"{name} {min(means):+.3f} to {max(means):+.3f}")


def fewer_quiet_pulls(e: Played) -> Answer:
    """SHVar gives the noisier half a larger share than SH."""
    holds, said = more_to_noisy(e, "SHVar")
    return Answer(holds, "share on noisier half, less that of SH: " + said)


def both_follow_noise(e: Played) -> Answer:
    """Both proposals give the noisier half a larger share than SH."""
    answers = [more_to_noisy(e, name) for name in OURS]
    return Answer(every(holds for holds, _ in answers), "; ".join(said for _, said in answers))


def mixed_stages(e: Played) -> Answer:
    """At each budget all stages of SH hold both kinds of arms in more than half of the runs."""
    share = [e.mixed[s].mean() for s in FIGURE_2]
    holds = every(truth(e.sign_of_mean(("mixed", s), e.mixed[s], target=0.5)) for s in FIGURE_2)
    return Answer(holds, f"both in {min(share):.0%} to {max(share):.0%} of the runs")


def shares(*names: str) -> Callable[[Played], Curves]:
    """Draw the share of pulls on the noisier half of the arms over the six budgets."""

    def draw(e: Played) -> Curves:
        lines = {a: [float(e.noisy_share[Point(64, n, a)].mean()) for n in BUDGETS] for a in ("SH", *names)}
        return Curves(lines, "share of pulls on the noisier half, " + OVER_BUDGETS, from_zero=False)

    return draw


def mixed_share(e: Played) -> Curves:
    """Draw in which share of the runs the last two arms of SH are of both kinds."""
    return Curves({"SH": [float(e.mixed[s].mean()) for s in FIGURE_2]}, "share of runs, " + OVER_BUDGETS, target=1 / 2)


# --- bounds, which need no play --------------------------------------------------------------------------


def _below_b() -> list[float]:
    return [float(norm.cdf(sqrt(log(n))) ** n) for n in BUDGETS]


def chance_below_b(e: Evidence) -> Curves:
    """Draw the probability that n rewards of the arm that sets b stay below it."""
    return Curves({"probability": [*_below_b()]}, OVER_BUDGETS, target=0.95)


def bounded_rewards(e: Evidence) -> Answer:
    """The arm that sets b has n rewards below it with high probability."""
    inside = _below_b()
    return Answer(bool(min(inside) >= 0.95), f"probability at most {max(inside):.1g}")


def _variance_factor(pulls: np.ndarray) -> np.ndarray:
    """Return by what the bound at delta = 0.05 divides the sample variance; infinite if it is not positive."""
    return 1 - 2 * np.sqrt(log(1 / 0.05) / (pulls - 1))


def variance_bounds_hold(e: Evidence) -> Answer:
    """The bounds on variances cover with probability 0.95 for each fixed number of pulls from 14 to 6000."""
    cover = _coverage(np.arange(14, 6001))
    return Answer(bool(cover.min() >= 0.95), f"coverage at least {cover.min():.3f}")


def _coverage(pulls: np.ndarray) -> np.ndarray:
    return chi2.sf(_variance_factor(pulls) * (pulls - 1), pulls - 1)


def coverage(e: Evidence) -> Curves:
    """Draw the coverage of the bounds over numbers of pulls."""
    pulls = np.array([14, 20, 30, 50, 100, 300, 1000, 6000])
    return Curves({"coverage": _coverage(pulls).tolist()}, "14 to 6000 pulls", target=0.95, from_zero=False)


def overestimates(budget: int) -> np.ndarray:
    """Return bound over variance in the six stages at K = 64, with the pulls of a stage shared evenly.

    Examples
    --------
    >>> overestimates(6000).round(1)
    array([10.5,  2.7,  1.8,  1.5,  1.3,  1.2])
    """
    below = _variance_factor(np.array([budget / 6 / size for size in (64, 32, 16, 8, 4, 2)]))
    return np.where(below > 0, 1 / below, np.inf)


def bounds_improve(e: Evidence) -> Answer:
    """The bounds are at most twice the variance in most stages at n = 6000, but not at n = 1000."""
    few, many = (int((overestimates(n) <= 2).sum()) for n in (1000, 6000))
    first = overestimates(6000)[0]
    said = f"in {few} of 6 stages at 1000, {many} at 6000 (first stage there: {first:.0f} times)"
    return Answer(few <= 3 < many, said)


def bounds_by_stage(e: Evidence) -> Curves:
    """Draw bound over variance, stage by stage, for the smallest and the largest budget; none where it is infinite."""
    found = {f"n = {n}": [float(x) if np.isfinite(x) else None for x in overestimates(n)] for n in (1000, 6000)}
    return Curves(dict(found), "bound over variance in stages 1 to 6", target=2)


# --- Section 5.1 -----------------------------------------------------------------------------------------


def gain(e: Evidence, name: str) -> float:
    """Return by how much a policy errs less often than Unif, averaged over the six budgets of Figure 2."""
    return e.estimate(less("Unif", name, FIGURE_2)).value


def slightly_better(e: Evidence, name: str) -> Answer:
    """The policy is better than Unif, averaged over six budgets, and nearer to Unif than to SH."""
    parts = (("Unif", 1), ("SH", 1), (name, -2))
    nearer = {Point(*s, a): w / len(FIGURE_2) for s in FIGURE_2 for a, w in parts}
    sides = [-e.sign(less(name, "Unif", FIGURE_2)), -e.sign(nearer)]
    whole = gain(e, "SH")
    return Answer(
        every(map(truth, sides)), f"{gain(e, name) / whole:.0%} of SH's gain" if whole else "SH gains nothing"
    )


def approaches(e: Evidence) -> Answer:
    """At n = 1000 SHVar is ahead of SHAdaVar, by more than the two differ either way at n = 6000."""
    early, late = (less("SHVar", "SHAdaVar", [Setting(64, n)]) for n in (1000, 6000))
    sums = [early, early | {point: -w for point, w in late.items()}, early | late]
    said = ", ".join(f"{-e.estimate(w).value:+.3f} at {n}" for w, n in ((early, 1000), (late, 6000)))
    return Answer(every(truth(-e.sign(weights)) for weights in sums), "SHAdaVar less SHVar: " + said)


def worse_with_arms(e: Evidence) -> Answer:
    """For each of the seven policies a straight line through its rates over the nine K rises."""
    slope = {k: (k - np.mean(SIZES)) / np.var(SIZES) / len(SIZES) for k in SIZES}
    lines = [{Point(k, 5000, name): -float(slope[k]) for k in SIZES} for name in OURS + PRIOR]
    least = min(-e.estimate(line).value for line in lines)
    return Answer(every(truth(-e.sign(line)) for line in lines), f"smallest slope {10 * least:+.3f} per ten arms")


def good_at_32(e: Evidence) -> Answer:
    """No prior policy errs significantly more often than in 5 % of the runs with 32 arms."""
    top = max(PRIOR, key=lambda name: e.rate(32, 5000, name))
    above = [e.sign({Point(32, 5000, name): 1}, 0.05) > 0 for name in PRIOR]
    return Answer(not any(above), f"highest: {top} {e.rate(32, 5000, top):.3f}")


def poor_at_64(e: Evidence) -> Answer:
    """Each prior policy errs significantly more often than in 10 % of the runs with 64 arms."""
    low = min(PRIOR, key=lambda name: e.rate(64, 5000, name))
    answers = [truth(e.sign({Point(64, 5000, name): 1}, 0.1)) for name in PRIOR]
    return Answer(every(answers), f"lowest: {low} {e.rate(64, 5000, low):.3f}")


# --- Section 5.2 -----------------------------------------------------------------------------------------


def _rates(e: Evidence, setting: Setting) -> str:
    return ", ".join(f"{name} {e.rate(*setting, name):.3f}" for name in ["VBR", *OURS])


def vbr_poor_at(e: Evidence, setting: Setting) -> Answer:
    """Both proposals beat VBR in the setting."""
    return Answer(every(e.ahead(name, "VBR", setting) for name in OURS), _rates(e, setting))


def vbr_on_par_at(e: Evidence, setting: Setting) -> Answer:
    """In the setting VBR beats neither proposal, and neither beats VBR."""
    return Answer(all(e.ahead(name, "VBR", setting) is None for name in OURS), _rates(e, setting))


def vbr_poor_everywhere(e: Evidence, settings: Settings) -> Answer:
    """Both proposals beat VBR in each setting."""
    counts = {name: (e.count_wins(name, "VBR", settings), e.count_wins("VBR", name, settings)) for name in OURS}
    said = "; ".join(f"{name} {won} times, is beaten {lost}" for name, (won, lost) in counts.items())
    return Answer(every(e.ahead(name, "VBR", s) for name in OURS for s in settings), "beats it: " + said)


def robust(e: Played) -> Answer:
    """Over the ten settings neither proposal errs significantly more often than with Gaussian rewards."""
    sums = {name: less(name, f"{name}, Gaussian", FIGURE_5 + FIGURE_6) for name in OURS}
    parts = {name: e.estimate(weights) for name, weights in sums.items()}
    said = ", ".join(f"{name} {part.value:+.4f} ± {1.96 * part.error:.4f}" for name, part in parts.items())
    return Answer(not any([e.sign(weights) > 0 for weights in sums.values()]), said)


# --- the claims ------------------------------------------------------------------------------------------

OVER_64_MOVIES, OVER_128_MOVIES = (f"budgets from 1000 to 5000, {k} movies" for k in (64, 128))
FIGURE_2_CELL = "synthetic#fig-synthetic-budget"
FIGURE_5_CELL, FIGURE_6_CELL = "movielens#fig-movielens-64", "movielens#fig-movielens-128"


def _vbr(settings: Settings) -> tuple[Point, ...]:
    return tuple(Point(*s, "VBR") for s in settings)


def _others(*names: str) -> list[str]:
    return [name for name in OURS + PRIOR if name not in names]


# Against whom, and in which settings: within the paper's figures, and in a wider circle.
CIRCLES = {
    "those of the figures": (PRIOR, SETTINGS),
    "also those left out, K = 64": (PRIOR + LEFT_OUT, FIGURE_2),
}
CIRCLE_CELLS = dict(zip(CIRCLES, ("synthetic#fig-synthetic-forest", "synthetic#fig-synthetic-left-out"), strict=True))
CIRCLE_PLACES = dict(zip(CIRCLES, ("synthetic#sec-synthetic", "synthetic#sec-synthetic-left-out"), strict=True))


def _both_against(circle: str) -> Callable[[Evidence], Curves]:
    prior, settings = CIRCLES[circle]
    figures = [FIGURE_2, settings[len(FIGURE_2) :]] if settings != FIGURE_2 else [FIGURE_2]
    return rates(OURS, " and then ".join([OVER_BUDGETS, OVER_SIZES][: len(figures)]), *figures, pale=prior)


def _best_in_most_claim(circle: str) -> Claim:
    prior, settings = CIRCLES[circle]
    return Claim(
        "Abstract, 1",
        f"In most settings SHVar and SHAdaVar outperform the prior algorithms ({circle}).",
        f"both beat all others in more than half of {len(settings)} settings; fails if one is beaten in half or more",
        lambda e: best_in_most(e, prior, settings),
        on_points=prior == PRIOR,
        headline=True,
        curves=_both_against(circle),
        cell=CIRCLE_CELLS[circle],
        place=CIRCLE_PLACES[circle],
    )


def _competitive_claim(circle: str) -> Claim:
    prior, settings = CIRCLES[circle]
    return Claim(
        "7",
        f"Both algorithms are competitive with the best baselines ({circle}).",
        f"in more than half of {len(settings)} settings no prior algorithm beats either",
        lambda e: competitive(e, prior, settings),
        on_points=prior == PRIOR,
        curves=_both_against(circle),
        cell=CIRCLE_CELLS[circle],
        place="conclusions#sec-conclusions",
    )


def _adapting_claim(name: str) -> Claim:
    return Claim(
        "5.1",
        f"Adapting to the variances loses the best arm less often: {name} against SH.",
        f"{name} outperforms SH over the six budgets",
        lambda e: e.outperforms(name, "SH", FIGURE_2),
        curves=rates([name, "SH"], OVER_BUDGETS, FIGURE_2),
        cell=FIGURE_2_CELL,
        place="known_variances#sec-shvar" if name == "SHVar" else "unknown_variances#sec-shadavar",
    )


def _slightly_better_claim(name: str) -> Claim:
    return Claim(
        "5.1",
        f"{name} is only slightly better than Unif.",
        "fewer mistakes than Unif, averaged over the six budgets, and nearer to Unif than to SH",
        lambda e: slightly_better(e, name),
        curves=rates([name, "Unif", "SH"], OVER_BUDGETS, FIGURE_2),
        cell=FIGURE_2_CELL,
        place="synthetic#sec-synthetic-readings",
    )


def _too_wide_claim(name: str) -> Claim:
    return Claim(
        "5.1",
        f"With the rescaling, the intervals of {name} are too wide to be practical.",
        f"{name} as defined ({name}*) outperforms the rescaled one over the six budgets",
        lambda e: e.outperforms(f"{name}*", name, FIGURE_2),
        on_points=False,
        curves=rates([f"{name}*", name], OVER_BUDGETS, FIGURE_2),
        cell="baselines#fig-experiments-scaling",
        place="baselines#sec-experiments-rescaling",
    )


def _halving_better_claim(name: str) -> Claim:
    return Claim(
        "5.1",
        f"SH outperforms {name}.",
        "outperforms it over the six budgets",
        lambda e: e.outperforms("SH", name, FIGURE_2),
        curves=rates(["SH", name], OVER_BUDGETS, FIGURE_2),
        cell=FIGURE_2_CELL,
        place="synthetic#sec-synthetic-readings",
    )


def _improves_on_unif_claim(name: str) -> Claim:
    return Claim(
        "5.2",
        f"Among 64 movies {name} improves on Unif.",
        "outperforms it over the five budgets",
        lambda e: e.outperforms(name, "Unif", FIGURE_5),
        world=MOVIES,
        curves=rates([name, "Unif"], OVER_64_MOVIES, FIGURE_5),
        cell=FIGURE_5_CELL,
        place="movielens#sec-movielens",
    )


INTRODUCTION = (
    *map(_best_in_most_claim, CIRCLES),
    Claim(
        "1",
        "Known variances let one pull the quiet arms less.",
        "at each budget SHVar gives the noisier half of the arms a larger share of the pulls than SH",
        fewer_quiet_pulls,
        on_points=False,
        curves=shares("SHVar"),
        cell="experiments#fig-experiments-pulls",
        place="known_variances#sec-shvar",
    ),
)
SET_UP = (
    Claim(
        "5",
        "With high probability b exceeds n rewards of any arm.",
        "for the arm that sets b, n rewards stay below b with probability at least 0.95, at each budget",
        bounded_rewards,
        on_points=False,
        curves=chance_below_b,
        cell="baselines#sec-experiments-range",
        place="experiments#sec-experiments-told",
    ),
    Claim(
        "5",
        "The upper bounds of SHAdaVar on the variances hold with probability 0.95.",
        "coverage at least 0.95 for each fixed number of pulls from 14 to 6000",
        variance_bounds_hold,
        on_points=False,
        curves=coverage,
        cell="unknown_variances#fig-unknown-spread",
        place="unknown_variances#sec-shadavar",
    ),
    Claim(
        "5.1",
        "Every stage of sequential halving involves quiet and noisy arms.",
        "at each budget, SH's last four arms and its last two are of both kinds in more than half of the runs",
        mixed_stages,
        on_points=False,
        curves=mixed_share,
        cell="setting#fig-setting-synthetic",
        place="synthetic#sec-synthetic",
    ),
    *map(_adapting_claim, OURS),
)
ON_FIGURE_2 = (
    Claim(
        "5.1",
        "Unif is the worst.",
        "each of the other six outperforms it over the six budgets",
        lambda e: worst(e, "Unif", _others("Unif"), FIGURE_2),
        curves=rates(["Unif"], OVER_BUDGETS, FIGURE_2, pale=_others("Unif")),
        cell=FIGURE_2_CELL,
        place="synthetic#sec-synthetic",
    ),
    *(make(name) for name in GAPS for make in (_slightly_better_claim, _too_wide_claim)),
    *map(_halving_better_claim, GAPS),
    Claim(
        "5.1",
        "SHVar outperforms all algorithms at all budgets.",
        "it outperforms each of the other six over the six budgets",
        lambda e: best(e, "SHVar", _others("SHVar"), FIGURE_2),
        curves=rates(["SHVar"], OVER_BUDGETS, FIGURE_2, pale=_others("SHVar")),
        cell=FIGURE_2_CELL,
        place="synthetic#sec-synthetic-readings",
    ),
    Claim(
        "5.1",
        "At small budgets VBR outperforms SHAdaVar.",
        "VBR beats it at n = 1000",
        lambda e: better_at(e, "VBR", "SHAdaVar", FIGURE_2[:1]),
        about=_vbr(FIGURE_2[:1]),
        curves=rates(["VBR", "SHAdaVar"], OVER_BUDGETS, FIGURE_2),
        cell=FIGURE_2_CELL,
        place="synthetic#sec-synthetic-readings",
    ),
    Claim(
        "5.1",
        "At large budgets SHAdaVar outperforms VBR.",
        "SHAdaVar beats it at n = 5000 and 6000",
        lambda e: better_at(e, "SHAdaVar", "VBR", FIGURE_2[4:]),
        about=_vbr(FIGURE_2[4:]),
        curves=rates(["VBR", "SHAdaVar"], OVER_BUDGETS, FIGURE_2),
        cell=FIGURE_2_CELL,
        place="synthetic#sec-synthetic-readings",
    ),
    Claim(
        "5.1",
        "With the budget SHAdaVar approaches SHVar.",
        "at n = 1000 SHVar is ahead, and by more than the two differ either way at n = 6000",
        approaches,
        curves=rates(OURS, OVER_BUDGETS, FIGURE_2),
        cell=FIGURE_2_CELL,
        place="unknown_variances#sec-shadavar",
    ),
    Claim(
        "5.1",
        "The bounds on the variances improve quickly with the budget.",
        "at most twice the variance in most stages at n = 6000, but not at n = 1000",
        bounds_improve,
        on_points=False,
        curves=bounds_by_stage,
        cell="unknown_variances#fig-unknown-warmup",
        place="unknown_variances#sec-unknown-warmup",
    ),
)
ON_FIGURE_3 = (
    Claim(
        "5.1",
        "The order of the algorithms is similar in Figures 2 and 3.",
        "Kendall's correlation of the seven average rates is positive with a p-value below 0.05",
        lambda e: alike(e, OURS + PRIOR, FIGURE_2, FIGURE_3),
        curves=averages(OURS + PRIOR, FIGURE_2, FIGURE_3),
        cell="synthetic#fig-synthetic-arms",
        place="synthetic#sec-synthetic",
    ),
    Claim(
        "5.1",
        "All seven algorithms get worse as K grows.",
        "for each, the slope of the rate over the nine K is positive",
        worse_with_arms,
        curves=rates(OURS + PRIOR, OVER_SIZES, FIGURE_3),
        cell="synthetic#fig-synthetic-arms",
        place="synthetic#sec-synthetic",
    ),
    Claim(
        "5.1",
        "SHVar and SHAdaVar have the lowest rates for all K.",
        "each outperforms each of the five prior algorithms over the nine K",
        lambda e: lowest(e, FIGURE_3),
        curves=rates(OURS, OVER_SIZES, FIGURE_3, pale=PRIOR),
        cell="synthetic#fig-synthetic-arms",
        place="synthetic#sec-synthetic-readings",
    ),
    Claim(
        "5.1",
        "At K = 32 the other algorithms err in about 5 % of the runs or fewer.",
        "none of the five is significantly above 0.05",
        good_at_32,
        curves=rates(PRIOR, OVER_SIZES, FIGURE_3, target=0.05),
        cell="synthetic#fig-synthetic-arms",
        place="synthetic#sec-synthetic",
    ),
    Claim(
        "5.1",
        "At K = 64 the other algorithms err in more than 10 % of the runs.",
        "each of the five is significantly above 0.1; it fails if one is significantly below",
        poor_at_64,
        curves=rates(PRIOR, OVER_SIZES, FIGURE_3, target=0.1),
        cell="synthetic#fig-synthetic-arms",
        place="synthetic#sec-synthetic",
    ),
)
ON_MOVIES = (
    Claim(
        "5.2",
        "Among 64 movies SHVar and SHAdaVar perform best for most budgets.",
        "both beat all others at more than half of 5 budgets; fails if one is beaten at half or more",
        lambda e: best_in_most(e, PRIOR, FIGURE_5),
        world=MOVIES,
        curves=rates(OURS, OVER_64_MOVIES, FIGURE_5, pale=PRIOR),
        cell=FIGURE_5_CELL,
        place="movielens#sec-movielens",
    ),
    Claim(
        "5.2",
        "Among 64 movies Unif is the worst, VBR aside.",
        "each of the other five outperforms it over the five budgets",
        lambda e: worst(e, "Unif", _others("Unif", "VBR"), FIGURE_5),
        world=MOVIES,
        curves=rates(["Unif"], OVER_64_MOVIES, FIGURE_5, pale=_others("Unif", "VBR")),
        cell=FIGURE_5_CELL,
        place="movielens#sec-movielens",
    ),
    *map(_improves_on_unif_claim, GAPS),
    Claim(
        "5.2",
        "Among 64 movies VBR performs poorly at small budgets.",
        "SHVar and SHAdaVar beat it at n = 1000",
        lambda e: vbr_poor_at(e, FIGURE_5[0]),
        world=MOVIES,
        about=_vbr(FIGURE_5[:1]),
        curves=rates(["VBR", *OURS], OVER_64_MOVIES, FIGURE_5),
        cell=FIGURE_5_CELL,
        place="movielens_readings#sec-movielens-vbr",
    ),
    Claim(
        "5.2",
        "Among 64 movies VBR is on par with SHVar and SHAdaVar at large budgets.",
        "at n = 5000 it beats neither, and neither beats it",
        lambda e: vbr_on_par_at(e, FIGURE_5[-1]),
        world=MOVIES,
        about=_vbr(FIGURE_5[-1:]),
        curves=rates(["VBR", *OURS], OVER_64_MOVIES, FIGURE_5),
        cell=FIGURE_5_CELL,
        place="movielens_readings#sec-movielens-vbr",
    ),
    Claim(
        "5.2",
        "Among 128 movies the trends are similar, VBR aside.",
        "Kendall's correlation of the other six average rates is positive with a p-value below 0.05",
        lambda e: alike(e, _others("VBR"), FIGURE_5, FIGURE_6),
        world=MOVIES,
        curves=averages(_others("VBR"), FIGURE_5, FIGURE_6),
        cell=FIGURE_6_CELL,
        place="movielens#sec-movielens",
    ),
    Claim(
        "5.2",
        "Among 128 movies VBR performs poorly at all budgets.",
        "SHVar and SHAdaVar beat it at each of 5 budgets",
        lambda e: vbr_poor_everywhere(e, FIGURE_6),
        world=MOVIES,
        about=_vbr(FIGURE_6),
        curves=rates(["VBR", *OURS], OVER_128_MOVIES, FIGURE_6),
        cell=FIGURE_6_CELL,
        place="movielens_readings#sec-movielens-vbr",
    ),
    Claim(
        "5.2, 7",
        "SHVar and SHAdaVar are robust to noise that is not Gaussian.",
        "over the 10 settings neither errs significantly more often than with Gaussian rewards",
        robust,
        on_points=False,
        world=MOVIES,
        curves=rates(
            [*OURS, *(f"{name}, Gaussian" for name in OURS)],
            f"{OVER_64_MOVIES} and then {OVER_128_MOVIES}",
            FIGURE_5,
            FIGURE_6,
        ),
        cell="movielens_readings#fig-movielens-shapes",
        place="movielens_readings#sec-movielens-shapes",
    ),
)
CONCLUSION = (
    Claim(
        "7",
        "Both algorithms pull noisier arms more often.",
        "each gives the noisier half a larger share of the pulls than SH, at each budget",
        both_follow_noise,
        on_points=False,
        curves=shares(*OURS),
        cell="experiments#fig-experiments-pulls",
        place="conclusions#sec-conclusions",
    ),
    *map(_competitive_claim, CIRCLES),
)
CLAIMS = INTRODUCTION + SET_UP + ON_FIGURE_2 + ON_FIGURE_3 + ON_MOVIES + CONCLUSION
