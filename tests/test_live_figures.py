"""The live figures of the chapters: each draws itself in a real browser, and computes what Python computes."""

import shutil
import sys
from pathlib import Path

import pytest

import bai
from bai import theory
from bai.book import leaderboard

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "_ext")]

live = pytest.importorskip("live", reason="sphinx is not installed")
make_pdf = pytest.importorskip("make_pdf", reason="playwright is not installed")

pytestmark = pytest.mark.skipif(not make_pdf.CHROMIUM, reason="no chromium on this machine")
FIGURES = ["movies", "watch", "warmup", "figure2", "bounds", "board"]


@pytest.fixture(scope="module")
def page(tmp_path_factory, browser):
    """A page with all live figures, opened from the disk; an error on it fails the test that meets it."""
    folder = tmp_path_factory.mktemp("figures")
    shutil.copytree(live.LIVE, folder / "live")
    for name, script in live.MADE.items():
        (folder / "live" / name).write_text(script(), encoding="utf-8")
    names = (*live.SHARED, *(f"figures/{name}" for name in FIGURES))
    scripts = "".join(f'<script defer src="live/{name}.js"></script>' for name in names)
    places = "".join(f'<div class="bai-live" data-live="{name}"><p>static</p></div>' for name in FIGURES)
    head = f'<meta charset="utf-8"><title>Figures</title><link rel="stylesheet" href="live/live.css">{scripts}'
    (folder / "page.html").write_text(f'<!doctype html><html lang="en"><head>{head}</head><body>{places}</body></html>')
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((folder / "page.html").as_uri())
    yield page
    page.close()
    assert errors == []


def part(page, name):
    return page.locator(f"[data-live={name}]")


def said(page, name, words):
    """What a live figure says, once it says these words."""
    place = part(page, name).locator("[role=status]")
    place.filter(has_text=words).wait_for(state="attached")
    return place.text_content()


def test_every_page_that_should_have_a_live_figure_has_it():
    wanted = {
        "introduction": "movies",
        "setting": "figure2",
        "sequential_halving": "watch",
        "known_variances": "watch",
        "unknown_variances": "warmup",
        "analysis": "bounds",
        "synthetic": "figure2",
        "leaderboard": "board",
    }
    texts = {name: (ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8") for name in wanted}
    assert [name for name, figure in wanted.items() if f"{{live}} {figure}" not in texts[name]] == []


def test_movies_are_those_of_the_introduction_and_plans_err_as_often_as_normal_averages_do(page):
    movies = page.evaluate("baiBook.movies")
    assert movies[0]["name"] == "cult horror" and len(movies) == 8
    arms = bai.GaussianBandits([m["mean"] for m in movies], [m["variance"] for m in movies], runs=20_000)
    rate = float(part(page, "movies").locator(".bai-count").first.text_content().split(" %")[0]) / 100
    out = bai.simulate(bai.Unif(), arms, 800, seed=1)
    assert abs(rate - out.mistake_rate) < 5 * (out.mistake_rate * 1.5 / 10_000) ** 0.5  # 1 in a million by chance
    part(page, "movies").locator("input[type=range]").first.fill("2")
    assert said(page, "movies", "The best movie is family film")


def test_a_watched_run_ends_with_the_answer_of_the_policies(page):
    for _ in range(3):
        part(page, "watch").get_by_text("Next stage").click()
    trace = "async () => (await baiLive.trace({policy: {name: 'SH'}, ...{means: baiBook.watch.means, variances: \
baiBook.watch.noisy, budget: 240, seed: 1}})).answer"
    answer = page.evaluate(trace)
    assert f"SH: names arm {answer + 1}" in said(page, "watch", "names arm")


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-4])
def test_overestimates_and_forced_pulls_are_those_of_python(page, delta):
    got = page.evaluate(
        "async d => {const f = await baiLive.factors({delta: d, most: 60, arms: 64}); return [[...f.table], \
f.corrected, f.printed]}",
        delta,
    )
    spread = bai.variance_bounds.Gaussian().spread(delta, 60)
    expected = [n * (n - 1) / spread[n] for n in range(20, 61)]
    assert got[0][20:] == pytest.approx(expected, rel=1e-12)
    assert got[1] == bai.SHAdaVar(delta=delta).warmup_pulls(64)
    assert got[2] == bai.variance_bounds.Printed().warmup_pulls(64, delta)


def test_bounds_are_those_of_the_corrected_theorems(page):
    for variances, gap, budget in (([4.0, 1.0] * 4, 1.0, 600), ([2.0, 1.0], 0.3, 50), ([1.0, 9.0, 1.0], 0.5, 2000)):
        means = [0.0] + [-gap] * (len(variances) - 1)
        bounds = [f(means, variances, budget) for f in (theory.theorem_1_bound, theory.theorem_2_bound)]
        assert page.evaluate("([v, g, n]) => baiLive.bounds(v, g, n)", [variances, gap, budget]) == pytest.approx(
            bounds
        )


def test_figure_2_is_played_when_it_comes_into_sight_and_again_when_the_best_arm_changes(page):
    part(page, "figure2").locator("select").first.scroll_into_view_if_needed()
    assert "SHVar makes fewer mistakes than SH" in said(page, "figure2", "Best arm noisy")
    part(page, "figure2").locator("select").first.select_option("quiet")
    shown = said(page, "figure2", "Best arm quiet")
    problem = bai.synthetic(64, 1000, seed=1, best_arm="quiet")
    rate = bai.simulate(bai.SHVar(), problem, 6000, seed=1).mistake_rate
    assert f"({100 * rate:.1f} against" in shown


def test_the_leaderboard_is_the_stored_one_sorted_by_a_click_and_a_pair_is_played_again(page):
    family = next(iter(leaderboard.FAMILIES))
    rows = leaderboard.stored().query("family == @family")
    least = rows["budget"].min()
    board = part(page, "board")
    board.locator("thead button").nth(1).click()
    best = rows[rows["budget"] == least].sort_values("mistake_rate").iloc[0]
    assert board.locator("tbody th").first.text_content().startswith(best["policy"])
    assert board.locator("tbody td").first.text_content() == f"{100 * best['mistake_rate']:.1f} %"
    board.get_by_text("Play this pair again").click()
    assert said(page, "board", "Played.")
    problem = leaderboard.FAMILIES[family].make(2000, 7)
    rate = bai.simulate(bai.TopTwo(), problem, int(least), seed=7).mistake_rate
    assert board.locator("tbody").last.locator("td").first.text_content() == f"{100 * rate:.1f} %"
