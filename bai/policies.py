"""Strategies: what each algorithm of the paper is told, how it spends its budget, and where its code is.

A policy is a frozen dataclass. `steps` returns the plain version from `plain.py`, one pull at a time; `play`
runs the compiled version from `kernels.py` on a block of runs. Both make the same pulls on the same rewards.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from scipy.special import gammaincinv

from . import checks, kernels, plain, theory
from .kernels import Rewards
from .plain import Steps

Known = dict[str, np.ndarray]


class Policy:
    """What all policies share."""

    name: ClassVar[str]

    def __str__(self) -> str:
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        inside = ", ".join(f"{name}={value!r}" for name, value in changed)
        return f"{self.name}({inside})" if inside else self.name

    def least_budget(self, n_arms: int) -> int:
        """Return the smallest budget with which the policy can be played."""
        return n_arms

    def known(
        self, n_arms: int, budget: int, means: np.ndarray | None = None, variances: np.ndarray | None = None
    ) -> Known:
        """Return what the policy may know of the problem, one row per run.

        A simulation passes the true means and variances (R, K), of which the policy takes what it is entitled
        to. Without them the policy's own arguments must suffice.
        """
        return {}

    def steps(self, n_arms: int, budget: int, **known) -> Steps:
        """Return the plain version, as a generator of arms that is sent their rewards."""
        raise NotImplementedError

    def play(self, rewards: Rewards, budget: int, known: Known, pulls: np.ndarray, recommended: np.ndarray) -> None:
        """Play a block of runs with compiled code; write into `pulls` (R, K) and `recommended` (R,)."""
        raise NotImplementedError


def _reward_bounds(policy: Policy, argument: str, value: float | None, budget: int, means, variances) -> np.ndarray:
    """Return the largest reward b of each run: the value given, or the paper's b = max_i mu_i + sigma_i sqrt(log n)."""
    if value is not None:
        return np.full(1 if means is None else len(means), float(value))
    if means is None:
        raise ValueError(
            f"{policy.name} has {argument}=None; outside simulation give the largest reward: {argument}=..."
        )
    bound = theory.reward_bound(means, variances, budget)
    if (bound <= 0).any():
        raise ValueError(
            f"the largest reward comes out as b = {bound[bound <= 0][0]:g}, but {policy.name} takes rewards to lie "
            f"in [0, b]; shift them, or give the policy its own {argument}=..."
        )
    return bound


# --- elimination -----------------------------------------------------------------------------------------


class _Elimination(Policy):
    """Algorithm 1: pull in stages; after each, keep the arms with the highest means."""

    reuse: bool

    def schedule(self, n_arms: int, budget: int) -> list[tuple[int, int]]:
        """Return the number of pulls and of survivors of each stage."""
        sizes = theory.stage_sizes(n_arms)
        return [(budget // len(sizes), (size + 1) // 2) for size in sizes]

    def least_budget(self, n_arms: int) -> int:
        return n_arms * theory.stages(n_arms)  # one pull per arm in the first stage

    def steps(self, n_arms: int, budget: int, **known) -> Steps:
        return plain.eliminate(n_arms, self.schedule(n_arms, budget), plain.least_pulled, reuse=self.reuse)

    def play(self, rewards, budget, known, pulls, recommended) -> None:
        weights = known.get("variances", np.empty((len(pulls), 0)))
        schedule = self._stage_arrays(pulls.shape[1], budget)
        kernels.eliminate(rewards, *schedule, self.reuse, weights, pulls, recommended)

    def _stage_arrays(self, n_arms: int, budget: int) -> tuple[np.ndarray, np.ndarray]:
        pulls, survivors = zip(*self.schedule(n_arms, budget), strict=True)
        return np.array(pulls, np.int64), np.array(survivors, np.int64)


@dataclass(frozen=True)
class Unif(_Elimination):
    """Uniform allocation: all arms in turn, then the highest mean.

    Examples
    --------
    >>> Unif().schedule(n_arms=64, budget=1000)
    [(1000, 1)]
    """

    name: ClassVar[str] = "Unif"
    reuse: ClassVar[bool] = False

    def schedule(self, n_arms: int, budget: int) -> list[tuple[int, int]]:
        return [(budget, 1)]

    def least_budget(self, n_arms: int) -> int:
        return n_arms


@dataclass(frozen=True)
class SH(_Elimination):
    """Sequential halving (Algorithms 1 and 2): equal pulls in each of ceil(log2 K) stages.

    Parameters
    ----------
    reuse : bool
        Keep the samples of earlier stages. The paper discards them.

    Examples
    --------
    >>> SH().schedule(n_arms=5, budget=100)
    [(33, 3), (33, 2), (33, 1)]
    >>> print(SH(reuse=True))
    SH(reuse=True)
    """

    name: ClassVar[str] = "SH"
    reuse: bool = False

    def __post_init__(self):
        checks.flag("reuse", self.reuse)


@dataclass(frozen=True)
class SHVar(_Elimination):
    """Sequential halving with known variances (Algorithms 1 and 3): pull where the mean is noisiest.

    Parameters
    ----------
    variances : sequence of float, optional
        The variances the policy works with. A simulation tells it the true ones unless they are given here.
    reuse : bool
        Keep the samples of earlier stages. The paper discards them.

    Examples
    --------
    >>> SHVar(variances=[1, 0.1, 0.1]).variances
    (1.0, 0.1, 0.1)
    """

    name: ClassVar[str] = "SHVar"
    variances: tuple[float, ...] | None = None
    reuse: bool = False

    def __post_init__(self):
        checks.flag("reuse", self.reuse)
        if self.variances is not None:
            values = checks.array("variances", self.variances, 1, least=0)
            object.__setattr__(self, "variances", tuple(values.tolist()))

    def known(self, n_arms, budget, means=None, variances=None) -> Known:
        if self.variances is None:
            if variances is None:
                raise ValueError("SHVar has variances=None; outside simulation give them: SHVar(variances=[...])")
            return {"variances": variances}
        if len(self.variances) != n_arms:
            raise ValueError(f"variances has {len(self.variances)} entries for {n_arms} arms; give one per arm")
        runs = 1 if variances is None else len(variances)
        return {"variances": np.tile(self.variances, (runs, 1))}

    def steps(self, n_arms, budget, **known) -> Steps:
        choose = plain.noisiest_mean(known["variances"])
        return plain.eliminate(n_arms, self.schedule(n_arms, budget), choose, reuse=self.reuse)


@functools.lru_cache(maxsize=16)
def _chi_square_quantiles(delta: float, budget: int) -> np.ndarray:
    """Return what a chi-square variable with 0, 1, ..., n - 1 degrees of freedom exceeds with probability 1 - delta."""
    return np.append(0.0, 2 * gammaincinv(np.arange(1, budget) / 2, delta))


@dataclass(frozen=True)
class SHAdaVar(_Elimination):
    """Sequential halving with unknown variances (Algorithms 1 and 4): overestimate them.

    Parameters
    ----------
    delta : float
        Probability with which one bound on one variance may fail.
    bound : {"gaussian", "chi-square", "bernstein", "plug-in"}
        "gaussian" is the paper's upper bound (Lemma 2), "chi-square" the exact one for Gaussian rewards, which is
        positive from two pulls on. "bernstein" holds for all bounded rewards: the standard deviation is at most the
        sample's plus span sqrt(2 log(1/delta) / (N - 1)) (Maurer and Pontil, 2009). "plug-in" is the plain sample
        variance, the idea that the paper names and drops.
    warmup : {"corrected", "printed"}
        "corrected" pulls every arm often enough for its bound to be positive: floor(4 log(1/delta)) + 2 times, or
        twice with the other bounds. "printed" stops after floor(k (4 log(1/delta) + 1)) rounds with k arms, as
        Algorithm 4 reads literally; some arms then have a negative bound and are never pulled again in the stage.
    reuse : bool
        Keep the samples of earlier stages. The paper discards them.
    span : float, optional
        For bound="bernstein": the length of an interval that holds all rewards. A simulation takes the same b as
        for GapE unless it is given here.
    repeats : {"trusted", "doubted"}
        What an arm with N equal rewards is thought to be. "trusted": it has no noise, and is not pulled again in the
        stage. "doubted": its variance is at most D^2 log(1/delta) / N, where D is the range of all rewards seen (in the
        stage, unless `reuse`), for other values that together had more than probability log(1/delta) / N would have
        come up with probability 1 - delta, if delta is at most 0.135. Nothing changes for continuous rewards.

    Examples
    --------
    >>> SHAdaVar(delta=0.05).warmup_pulls(n_arms=64)
    832
    >>> SHAdaVar(delta=0.05, warmup="printed").warmup_pulls(n_arms=64)
    830
    >>> SHAdaVar(bound="chi-square").warmup_pulls(n_arms=64)
    128
    """

    name: ClassVar[str] = "SHAdaVar"
    delta: float = 0.05
    bound: str = "gaussian"
    warmup: str = "corrected"
    reuse: bool = False
    span: float | None = None
    repeats: str = "trusted"

    def __post_init__(self):
        checks.number("delta", self.delta, above=0, below=1)
        checks.choice("bound", self.bound, ("gaussian", "chi-square", "bernstein", "plug-in"))
        checks.choice("warmup", self.warmup, ("corrected", "printed"))
        checks.flag("reuse", self.reuse)
        checks.choice("repeats", self.repeats, ("trusted", "doubted"))
        if self.warmup == "printed" and (self.reuse or self.bound != "gaussian" or self.repeats != "trusted"):
            raise ValueError(
                "warmup is 'printed', which the paper defines for its own bound and for stages that start afresh; "
                "use bound='gaussian', reuse=False and repeats='trusted' with it"
            )
        if self.span is not None:
            checks.number("span", self.span, above=0)
            if self.bound != "bernstein":
                raise ValueError(f"span is {self.span!r}, but bound={self.bound!r} has no use for it; leave it out")
        if self.bound == "bernstein" and self.repeats == "doubted":
            raise ValueError("repeats is 'doubted', but bound='bernstein' never trusts them; leave repeats out")

    def warmup_pulls(self, n_arms: int) -> int:
        """Return after how many pulls `n_arms` arms are warm."""
        if self.warmup == "printed":
            return math.floor(n_arms * (4 * math.log(1 / self.delta) + 1))
        return n_arms * (theory.warmup_pulls(self.delta) if self.bound == "gaussian" else 2)

    def spread(self, budget: int) -> np.ndarray:
        """Return the divisors that turn the sum of squared deviations after 0, 1, 2, ... pulls into U / N.

        With Bernstein's bound: into (sample variance) / N.
        """
        count = np.arange(budget + 1, dtype=float)
        lower = np.maximum(count - 1, 0)
        if self.bound == "gaussian":
            lower -= 2 * np.sqrt(lower * math.log(1 / self.delta))
        elif self.bound == "chi-square":
            lower[1:] = _chi_square_quantiles(self.delta, budget)
        return count * lower

    def slack(self, budget: int) -> np.ndarray:
        """Return what Bernstein's bound adds to the root of (sample variance) / N for rewards in [0, 1], if used."""
        if self.bound != "bernstein":
            return np.empty(0)
        count = np.arange(2, budget + 1)
        return np.append([0.0, 0.0], np.sqrt(2 * math.log(1 / self.delta) / (count * (count - 1))))

    @property
    def _doubt(self) -> float:
        return math.log(1 / self.delta) if self.repeats == "doubted" else 0.0

    def known(self, n_arms, budget, means=None, variances=None) -> Known:
        if self.bound != "bernstein":
            return {}
        return {"span": _reward_bounds(self, "span", self.span, budget, means, variances)}

    def steps(self, n_arms, budget, **known) -> Steps:
        spread = self.spread(budget).tolist()
        if self.bound == "bernstein":
            index = plain.by_bernstein(spread, self.slack(budget).tolist(), known["span"])
        elif self.repeats == "doubted":
            index = plain.doubting_repeats(spread, self._doubt)
        else:
            index = plain.by_quantile(spread)
        choose = plain.overestimated_mean(index, self.warmup_pulls)
        return plain.eliminate(n_arms, self.schedule(n_arms, budget), choose, reuse=self.reuse)

    def play(self, rewards, budget, known, pulls, recommended) -> None:
        n_arms = pulls.shape[1]
        warmups = np.array([self.warmup_pulls(size) for size in theory.stage_sizes(n_arms)])
        schedule = self._stage_arrays(n_arms, budget)
        spans = known.get("span", np.zeros(len(pulls)))
        tables = self.spread(budget), self.slack(budget), spans
        kernels.adapt(rewards, *schedule, warmups, self.reuse, *tables, self._doubt, pulls, recommended)


@dataclass(frozen=True)
class SR(_Elimination):
    """Successive rejects (Audibert, Bubeck and Munos, 2010): K - 1 phases, each rejects the lowest mean.

    Examples
    --------
    >>> SR().schedule(n_arms=4, budget=100)
    [(64, 3), (15, 2), (20, 1)]
    """

    name: ClassVar[str] = "SR"
    reuse: ClassVar[bool] = True

    def schedule(self, n_arms: int, budget: int) -> list[tuple[int, int]]:
        log_bar = 0.5 + sum(1 / i for i in range(2, n_arms + 1))
        per_arm = [0] + [math.ceil((budget - n_arms) / (log_bar * k)) for k in range(n_arms, 1, -1)]
        extra = np.diff(per_arm).tolist()
        return [(k * m, k - 1) for k, m in zip(range(n_arms, 1, -1), extra, strict=True)]

    def least_budget(self, n_arms: int) -> int:
        return n_arms + 1


@dataclass(frozen=True)
class VBR(_Elimination):
    """Variance-based rejects: a reconstruction of the baseline that the paper takes from Faella et al. (2020).

    The paper gives no pseudocode. This version spends n / K pulls in each of K - 1 stages and rejects the arm
    with the lowest upper bound mean + gamma sd / sqrt(N) at the end of each.

    Parameters
    ----------
    gamma : float
        Half-width of the intervals in standard errors.
    pull : {"upper", "widest"}
        Pull the arm with the highest upper bound, or with the widest interval, once every arm has three pulls.

    Examples
    --------
    >>> VBR().schedule(n_arms=4, budget=100)
    [(28, 3), (24, 2), (24, 1)]
    """

    name: ClassVar[str] = "VBR"
    reuse: ClassVar[bool] = True
    least_pulls: ClassVar[int] = 3
    gamma: float = 1.96
    pull: str = "upper"

    def __post_init__(self):
        checks.number("gamma", self.gamma, above=0)
        checks.choice("pull", self.pull, ("upper", "widest"))

    def schedule(self, n_arms: int, budget: int) -> list[tuple[int, int]]:
        until = [j * (budget - n_arms) // n_arms for j in range(n_arms)]
        pulls = np.diff(until).tolist()
        pulls[0] += n_arms
        return list(zip(pulls, range(n_arms - 1, 0, -1), strict=True))

    def least_budget(self, n_arms: int) -> int:
        return n_arms

    def steps(self, n_arms, budget, **known) -> Steps:
        radius = plain.interval_radius(self.gamma)
        choose = plain.by_interval(radius, self.least_pulls, self.pull == "widest")
        upper = lambda tally, arm: tally.mean(arm) + radius(tally, arm)  # noqa: E731
        return plain.eliminate(n_arms, self.schedule(n_arms, budget), choose, upper, reuse=True)

    def play(self, rewards, budget, known, pulls, recommended) -> None:
        stage_pulls, _ = self._stage_arrays(pulls.shape[1], budget)
        widest = self.pull == "widest"
        kernels.reject(rewards, stage_pulls, self.gamma, self.least_pulls, widest, pulls, recommended)


# --- gap-based exploration -------------------------------------------------------------------------------


class _Exploration(Policy):
    """Gabillon et al. (2011): pull the arm with the highest radius - gap, answer with the highest mean.

    The rewards are taken to lie in [0, b]. Simulations use the paper's b = max_i mu_i + sigma_i sqrt(log n).
    """

    with_variance: ClassVar[bool]
    effort_constant: ClassVar[float]
    error_constant: ClassVar[float]  # 1 / c in the error bound exp(-c n / H)
    bound: float | None
    scaling: float | str

    def __post_init__(self):
        if self.bound is not None:
            checks.number("bound", self.bound, above=0)
        if self.scaling != "paper":
            checks.number("scaling", self.scaling, above=0)

    @property
    def first(self) -> int:
        """Pulls of each arm before the index is used."""
        return 2 if self.with_variance else 1

    def least_budget(self, n_arms: int) -> int:
        return self.first * n_arms

    def effort(self, n_arms: int, budget: int) -> float:
        """Return a H, where a is the exploration parameter: a constant times the free budget over the scaling."""
        scaling = self.scaling
        if scaling == "paper":
            scaling = 4 * math.log2(n_arms) / self.error_constant  # c / c'
        return self.effort_constant * (budget - self.first * n_arms) / scaling

    def known(self, n_arms, budget, means=None, variances=None) -> Known:
        return {"bound": _reward_bounds(self, "bound", self.bound, budget, means, variances)}


class _KnownComplexity(_Exploration):
    """GapE and GapE-V are told the complexity H, which depends on the unknown means."""

    complexity: float | None

    def __post_init__(self):
        super().__post_init__()
        if self.complexity is not None:
            checks.number("complexity", self.complexity, above=0)

    def known(self, n_arms, budget, means=None, variances=None) -> Known:
        known = super().known(n_arms, budget, means, variances)
        if self.complexity is not None:
            complexity = np.full(len(known["bound"]), float(self.complexity))
        elif means is None:
            raise ValueError(f"{self.name} has complexity=None; outside simulation give the complexity: complexity=...")
        elif self.with_variance:
            complexity = theory.gapev_complexity(means, variances, known["bound"])
        else:
            complexity = theory.gape_complexity(means, known["bound"])
        return known | {"a": self.effort(n_arms, budget) / complexity}

    def steps(self, n_arms, budget, **known) -> Steps:
        width = plain.gap_variance_radius if self.with_variance else plain.gap_radius
        radius = lambda tally, gaps: width(tally, known["a"], known["bound"])  # noqa: E731
        return plain.explore(n_arms, budget, self.first, radius)

    def play(self, rewards, budget, known, pulls, recommended) -> None:
        kernels.explore(rewards, budget, known["a"], known["bound"], self.with_variance, pulls, recommended)


class _EstimatedComplexity(_Exploration):
    """A-GapE and A-GapE-V estimate the complexity anew in every round."""

    def steps(self, n_arms, budget, **known) -> Steps:
        bound, effort = known["bound"], self.effort(n_arms, budget)
        width = plain.gap_variance_radius if self.with_variance else plain.gap_radius
        estimate = plain.estimated_variance_complexity if self.with_variance else plain.estimated_complexity
        radius = lambda tally, gaps: width(tally, effort / estimate(tally, gaps, bound), bound)  # noqa: E731
        return plain.explore(n_arms, budget, self.first, radius)

    def play(self, rewards, budget, known, pulls, recommended) -> None:
        effort = self.effort(pulls.shape[1], budget)
        kernels.explore_adaptively(
            rewards, budget, effort, known["bound"], self.with_variance, pulls, recommended
        )


@dataclass(frozen=True)
class GapE(_KnownComplexity):
    """Gap-based exploration: radius b sqrt(a / T), a = (4/9) (n - K) / H, H = sum_k b^2 / Delta_k^2.

    Parameters
    ----------
    complexity, bound : float, optional
        H and b. A simulation computes them from the problem unless they are given here.
    scaling : float or "paper"
        H is multiplied by this. "paper" is 4 log2(K) / 144, as in its experiments.

    Examples
    --------
    >>> print(GapE(scaling="paper"))
    GapE(scaling='paper')
    """

    name: ClassVar[str] = "GapE"
    with_variance: ClassVar[bool] = False
    effort_constant: ClassVar[float] = 4 / 9
    error_constant: ClassVar[float] = 144
    complexity: float | None = None
    bound: float | None = None
    scaling: float | str = 1.0


@dataclass(frozen=True)
class GapEV(_KnownComplexity):
    """GapE with variances: radius sqrt(2 a var / T) + 7 a b / (3 (T - 1)), a = (8/9) (n - 2K) / H_v.

    H_v = sum_k (sigma_k + sqrt(sigma_k^2 + (16/3) b Delta_k))^2 / Delta_k^2.

    Parameters
    ----------
    complexity, bound : float, optional
        H_v and b. A simulation computes them from the problem unless they are given here.
    scaling : float or "paper"
        H_v is multiplied by this. "paper" is 4 log2(K) / 512, as in its experiments.

    Examples
    --------
    >>> print(GapEV())
    GapE-V
    """

    name: ClassVar[str] = "GapE-V"
    with_variance: ClassVar[bool] = True
    effort_constant: ClassVar[float] = 8 / 9
    error_constant: ClassVar[float] = 512
    complexity: float | None = None
    bound: float | None = None
    scaling: float | str = 1.0


@dataclass(frozen=True)
class AGapE(_EstimatedComplexity):
    """GapE with H estimated in every round, from gaps enlarged by b sqrt(1 / (2T)).

    Parameters
    ----------
    bound : float, optional
        The largest reward b. A simulation computes it from the problem; with `bound=1` the policy
        knows nothing in advance, because b then only sets the scale on which gaps are enlarged.
    scaling : float or "paper"
        H is multiplied by this. "paper" is 4 log2(K) / 144.

    Examples
    --------
    >>> print(AGapE(bound=1))
    A-GapE(bound=1)
    """

    name: ClassVar[str] = "A-GapE"
    with_variance: ClassVar[bool] = False
    effort_constant: ClassVar[float] = GapE.effort_constant
    error_constant: ClassVar[float] = GapE.error_constant
    bound: float | None = None
    scaling: float | str = 1.0


@dataclass(frozen=True)
class AGapEV(_EstimatedComplexity):
    """GapE-V with H_v estimated in every round, from enlarged gaps and deviations reduced by b sqrt(2 / (T - 1)).

    Parameters
    ----------
    bound : float, optional
        The largest reward b. A simulation computes it from the problem unless it is given here.
    scaling : float or "paper"
        H_v is multiplied by this. "paper" is 4 log2(K) / 512.

    Examples
    --------
    >>> print(AGapEV(scaling="paper"))
    A-GapE-V(scaling='paper')
    """

    name: ClassVar[str] = "A-GapE-V"
    with_variance: ClassVar[bool] = True
    effort_constant: ClassVar[float] = GapEV.effort_constant
    error_constant: ClassVar[float] = GapEV.error_constant
    bound: float | None = None
    scaling: float | str = 1.0


# --- allocation by estimated means and variances ---------------------------------------------------------


class _Allocation(Policy):
    """Pull every arm a few times, then one arm at a time as all estimates say; answer with the highest mean."""

    first: int

    def __post_init__(self):
        checks.integer("first", self.first, least=2)

    def least_budget(self, n_arms: int) -> int:
        return self.first * n_arms


@dataclass(frozen=True)
class OCBA(_Allocation):
    """Optimal computing budget allocation with sample variances (Chen et al., 2000), one pull at a time.

    With b the arm with the highest mean, the shares of the budget are w_i = (sigma_i / gap_i)^2 for the others and
    w_b = sigma_b sqrt(sum_i w_i^2 / sigma_i^2), estimated anew before every pull. The arm with the highest w / N is
    next, which is the one furthest below its share.

    Parameters
    ----------
    first : int
        Pulls of every arm before the shares are used.

    Examples
    --------
    >>> OCBA().least_budget(n_arms=64)
    320
    """

    name: ClassVar[str] = "OCBA"
    first: int = 5

    def steps(self, n_arms, budget, **known) -> Steps:
        return plain.allocate(n_arms, budget, self.first, plain.below_ocba_share)

    def play(self, rewards, budget, known, pulls, recommended) -> None:
        kernels.allocate(rewards, budget, self.first, False, np.empty(0), 0.0, pulls, recommended)


@dataclass(frozen=True)
class TopTwo(_Allocation):
    """The leader against the rival that is hardest to tell from it, with shrunk variances.

    The leader b has the highest mean. The challenger i has the lowest gap^2 / (v_b / N_b + v_i / N_i) + log(N_i): few
    standard errors behind, or hardly looked at. The leader is pulled if N_b^2 / v_b is below the sum of the other
    arms' N_i^2 / v_i, which is how the best allocation balances them (Glynn and Juneja, 2004), otherwise the
    challenger. Every variance is drawn to the pooled one: v_i = (squares_i + shrinkage pooled) / (N_i - 1 + shrinkage).

    Parameters
    ----------
    first : int
        Pulls of every arm before that.
    shrinkage : float
        How many rewards the pooled variance counts for in every arm's variance.

    Examples
    --------
    >>> TopTwo().least_budget(n_arms=64)
    192
    """

    name: ClassVar[str] = "TopTwo"
    first: int = 3
    shrinkage: float = 5.0

    def __post_init__(self):
        super().__post_init__()
        checks.number("shrinkage", self.shrinkage, above=0)

    @staticmethod
    def _logs(budget: int) -> np.ndarray:
        return np.log(np.maximum(1, np.arange(budget + 1)))

    def steps(self, n_arms, budget, **known) -> Steps:
        choose = plain.leader_or_challenger(self._logs(budget).tolist(), float(self.shrinkage))
        return plain.allocate(n_arms, budget, self.first, choose)

    def play(self, rewards, budget, known, pulls, recommended) -> None:
        shrinkage = float(self.shrinkage)
        kernels.allocate(rewards, budget, self.first, True, self._logs(budget), shrinkage, pulls, recommended)
