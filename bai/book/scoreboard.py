"""The scoreboard of the paper's claims: a verdict on each, computed from what was played.

The tests are in `evidence`, what is played in `readings`, the claims in `claims`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import bars, problems
from . import paper, readings
from .claims import CLAIMS, Claim, Curves
from .evidence import Answer, Evidence, Played, Point, Published
from .readings import KEY, OURS, PRIOR, PUBLISHED_RUNS

FURTHER = 80  # tests that the claims may need in each reading, beyond those of all pairs
WORDS = {True: "holds", False: "fails", None: "open"}
EVERY, SOME, NO, OPEN, UNTESTABLE = (
    "reproduced under every reading",
    "reproduced only under some",
    "not reproduced",
    "open",
    "not testable",
)


@dataclass(frozen=True)
class World:
    """A problem of the paper: what was played under each reading, and its published points."""

    readings: Mapping[str, Played]
    published: Published

    def at_level(self, level: float) -> World:
        """Return the same world with another level for every test."""
        readings = {name: e.at_level(level) for name, e in self.readings.items()}
        return dataclasses.replace(self, readings=readings, published=self.published.at_level(level))


class Shown(NamedTuple):
    """The answer of one reading, or of the published points, and the lines behind it."""

    answer: Answer
    curves: Curves


@dataclass(frozen=True)
class Row:
    """A line of the scoreboard.

    Attributes
    ----------
    claim : Claim
    holds : mapping of str to bool or None
        The answer under each reading.
    evidence : str
        What the answer under the deciding reading, or else the first one, rests on.
    published : str
        What the published points say: "holds", "fails" or "open"; empty if they cannot decide.
    deciding : str
        The reading that decides; empty if all count alike.
    testable : bool
        False if the claim is about a reconstructed policy that matches none of the published points it is about.
    shown : mapping of str to Shown
        What each reading, and "published" where the published points can decide, answers and rests on.
    """

    claim: Claim
    holds: Mapping[str, bool | None]
    evidence: str
    published: str
    deciding: str = ""
    testable: bool = True
    shown: Mapping[str, Shown] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The verdict over all readings."""
        if not self.testable:
            return UNTESTABLE
        if not self.deciding or len(set(self.holds.values())) == 1:
            return verdict(self.holds)
        first = verdict({self.deciding: self.holds[self.deciding]})
        others = [f"{WORDS[answer]} under {name}" for name, answer in self.holds.items() if name != self.deciding]
        return f"{first} under {self.deciding}, the best fit; {', '.join(others)}"

    @property
    def kind(self) -> str:
        """The kind of verdict: one of five."""
        answers = set(self.holds.values())
        if not self.testable:
            return UNTESTABLE
        if answers == {True}:
            return EVERY
        if self.deciding:
            answers = {self.holds[self.deciding]}
        return SOME if True in answers else NO if False in answers else OPEN


# --- playing ---------------------------------------------------------------------------------------------


def play_worlds() -> dict[str, World]:
    """Play all that the page needs, and set the level of every test: 0.05 divided by their number.

    The runs are stored; a block of every row is played again and compared, see `stored`.
    """
    plays = (partial(readings.play_synthetic, "noisy"), partial(readings.play_synthetic, "quiet"), readings.play_movies)
    noisy, quiet, movies = (play() for play in bars.watch(plays))
    synthetic = {"noisy": noisy, "quiet": quiet, "wide": readings.with_wide_gape(noisy, problems.synthetic)}
    on_movies = {"movies": movies, "wide": readings.with_wide_gape(movies, problems.movielens)}
    worlds = {
        "synthetic": World(synthetic, readings.read_off_plots(2, 3)),
        "MovieLens": World(on_movies, readings.read_off_plots(5, 6)),
    }
    return set_level(worlds, 0.05 / count_tests(worlds))


# --- verdicts --------------------------------------------------------------------------------------------


def count_tests(worlds: Mapping[str, World], further: int = FURTHER) -> int:
    """Return the number of tests that are allowed for: all pairs of policies, and `further` ones in each reading."""
    return sum(len(e.pairs()) + further for world in worlds.values() for e in world.readings.values())


def set_level(worlds: Mapping[str, World], level: float) -> dict[str, World]:
    """Return the same worlds with this level for every test."""
    return {name: world.at_level(level) for name, world in worlds.items()}


def select(worlds: Mapping[str, World], runs: slice) -> dict[str, World]:
    """Return the same worlds with some of the runs, and the same published points."""

    def part(e: Played) -> Played:
        mistakes, noisy_share = (
            {point: values[runs] for point, values in each.items()} for each in (e.mistakes, e.noisy_share)
        )
        mixed = {setting: values[runs] for setting, values in e.mixed.items()}
        return Played(mistakes, noisy_share, mixed, level=e.level)

    return {
        name: World({reading: part(e) for reading, e in world.readings.items()}, world.published)
        for name, world in worlds.items()
    }


def judge(claim: Claim, evidence: Evidence) -> Answer:
    """Test a claim on the evidence of one reading, or on published points."""
    holds, said = claim.function(evidence)
    return Answer(None if holds is None else bool(holds), said)


def verdict(holds: Mapping[str, bool | None]) -> str:
    """Return the verdict on a claim, given whether it holds under each reading.

    Examples
    --------
    >>> verdict({"noisy": True, "quiet": True}), verdict({"noisy": False, "quiet": None})
    ('reproduced', 'not reproduced; open under quiet')
    >>> verdict({"noisy": True, "quiet": False})
    'reproduced only under noisy'
    """
    under = {answer: ", ".join(name for name, said in holds.items() if said is answer) for answer in WORDS}
    rest = f"; open under {under[None]}" if under[None] else ""
    if not under[True] and not under[False]:
        return "open"
    if not under[True]:
        return "not reproduced" + rest
    return f"reproduced only under {under[True]}{rest}" if under[False] or rest else "reproduced"


def matches(e: Played, published: Published, point: Point) -> bool:
    """Return whether ours lies within three joint standard errors, plus the reading error, of a published point."""
    ours, theirs = e.rate(*point), published.rate(*point)
    error = sqrt(ours * (1 - ours) / e.runs + theirs * (1 - theirs) / published.runs)
    return abs(ours - theirs) <= 3 * error + published.reading_error


def best_fit(world: World) -> str:
    """Return the reading that matches the most published points, the first of them if several do."""
    points = list(world.published.points())
    counts = {name: sum(matches(e, world.published, p) for p in points) for name, e in world.readings.items()}
    return max(counts, key=counts.__getitem__)


def can_be_tested(claim: Claim, world: World) -> bool:
    """Return whether under some reading a published point that the claim is about is matched, if it names any."""
    readings = world.readings.values()
    return not claim.about or any(matches(e, world.published, p) for e in readings for p in claim.about)


def score(worlds: Mapping[str, World], claims: Iterable[Claim] = CLAIMS, further: int = FURTHER) -> list[Row]:
    """Judge claims under all readings of their worlds.

    Raises ValueError if a reading has then seen more than `further` tests beside its pairs: their level would be too
    high.
    """
    rows = []
    for claim in claims:
        world = worlds[claim.world]
        asked: dict[str, Evidence] = {**world.readings, **({"published": world.published} if claim.on_points else {})}
        shown = {name: Shown(judge(claim, e), claim.curves(e)) for name, e in asked.items()}
        holds = {name: shown[name].answer.holds for name in world.readings}
        published = WORDS[shown["published"].answer.holds] if claim.on_points else ""
        deciding = best_fit(world) if claim.headline else ""
        said = shown[deciding or next(iter(shown))].answer.said
        rows.append(Row(claim, holds, said, published, deciding, can_be_tested(claim, world), shown))
    most = max(len(e.tested) for world in worlds.values() for e in world.readings.values())
    if most > further:
        raise ValueError(
            f"further is {further}, but the claims made {most} tests in one reading; "
            "allow for more in both count_tests and score: further=..."
        )
    return rows


# --- counts ----------------------------------------------------------------------------------------------


def summary(board: Sequence[Row]) -> str:
    """Return in text how many claims got which kind of verdict, and how those that can be tested fare per reading."""
    kinds = [row.kind for row in board]
    lines = [f"{kind}: {kinds.count(kind)}" for kind in (EVERY, SOME, NO, OPEN, UNTESTABLE)]
    lines += [f"all claims: {len(board)}", ""]
    tested = [row for row in board if row.testable]
    for world, name in dict.fromkeys((row.claim.world, name) for row in tested for name in row.holds):
        answers = [row.holds[name] for row in tested if row.claim.world == world]
        hold, fail, remain = (answers.count(answer) for answer in WORDS)
        lines.append(f"{world}, {name}: {hold} hold, {fail} fail, {remain} open")
    decided = [row.published for row in board if row.published]
    hold, fail = decided.count("holds"), decided.count("fails")
    lines.append(f"published points: {hold} of {len(decided)} hold, {fail} fail")
    return "\n".join(lines)


def match(readings: Mapping[str, Played], *figures: int) -> pd.DataFrame:
    """Count for each policy and reading how many published points of some figures are matched by ours.

    A point is matched if ours lies within three joint standard errors plus the reading error.
    """
    points = paper.published().query("figure in @figures")
    counts = {name: _matched(e, points).groupby(points["policy"]).sum() for name, e in readings.items()}
    table = pd.DataFrame(counts).loc[PRIOR + OURS]
    table["of"] = points.groupby("policy").size()
    groups = {"all": table.sum(), "Unif, SH, SHVar, SHAdaVar": table.loc[["Unif", "SH", *OURS]].sum()}
    return pd.concat([table, pd.DataFrame(groups).T])


def _matched(e: Played, points: pd.DataFrame) -> pd.Series:
    """Return for each published point whether it is matched."""
    theirs = points["mistake_rate"]
    ours = pd.Series([e.rate(*key) for key in points[KEY].itertuples(index=False)], theirs.index)
    error = np.sqrt(ours * (1 - ours) / e.runs + theirs * (1 - theirs) / PUBLISHED_RUNS)
    return abs(ours - theirs) <= 3 * error + points["reading_error"]


def tally(e: Played, rivals: Sequence[str], settings: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """Count for each rival and each proposal: settings in which the rival wins, in which it loses, and all played."""
    table = {}
    for rival in rivals:
        played = [s for s in settings if (*s, rival) in e.mistakes]
        counts = {a: (e.count_wins(rival, a, played), e.count_wins(a, rival, played)) for a in OURS}
        table[rival] = {a: f"{won} / {lost} / {len(played)}" for a, (won, lost) in counts.items()}
    return pd.DataFrame(table).T
