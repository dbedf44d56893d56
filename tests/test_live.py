"""The engine of the live parts in a real browser: problems, pulls and answers are those of Python, equal, not close."""

import ast
import contextlib
import importlib.metadata
import io
import json
import math
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bai
from bai import variance_bounds
from bai.book import families, leaderboard
from bai.policies.base import Progress
from bai.stats import paired

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "_ext")]

live = pytest.importorskip("live", reason="sphinx is not installed")
make_pdf = pytest.importorskip("make_pdf", reason="playwright is not installed")
import make_libm  # noqa: E402
import make_wasm  # noqa: E402
from wasm import sources  # noqa: E402

needs_chromium = pytest.mark.skipif(not make_pdf.CHROMIUM, reason="no chromium on this machine")

# Every policy with every option that the engine has.
ENGINE = [
    policy
    for cls in bai.REGISTRY
    for policy in cls.examples()
    if not isinstance(getattr(policy, "bound", None), variance_bounds.ChiSquare)
]
SOME = [bai.Unif(), bai.SH(), bai.SHVar(), bai.SHAdaVar(), bai.SR(), bai.TopTwo(), bai.GapEV(), bai.SHVar(reuse=True)]

SIMULATE = """
async ([given, seed]) => {
  const played = await baiLive.simulate({...given, seed: BigInt(seed), withPulls: true});
  return {
    recommended: Array.from(played.recommended),
    pulls: Array.from(played.pulls),
    mistakes: Array.from(played.mistakes),
    regret: Array.from(played.regret),
    pulled: played.pulled,
  };
}
"""
TRACE = """
async given => {
  const run = await baiLive.trace(given);
  return {order: Array.from(run.order), stages: run.stages, answer: run.answer, stacks: Array.from(run.stacks)};
}
"""
INSTANCES = """
async problem => {
  const made = await baiLive.instances(problem);
  return [Array.from(made.means), Array.from(made.variances)];
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the site that live parts need, and a page with the laboratory."""
    folder = tmp_path_factory.mktemp("live")
    shutil.copytree(live.LIVE, folder / "live")
    for name, script in live.MADE.items():
        (folder / "live" / name).write_text(script(), encoding="utf-8")
    scripts = "".join(f'<script defer src="live/{name}.js"></script>' for name in (*live.SHARED, "figures/laboratory"))
    place = '<main class="bai-live" data-live="laboratory"><p class="bai-live-static">static</p></main>'
    head = f'<meta charset="utf-8"><title>Laboratory</title><link rel="stylesheet" href="live/live.css">{scripts}'
    (folder / "page.html").write_text(f'<!doctype html><html lang="en"><head>{head}</head><body>{place}</body></html>')
    return folder


@pytest.fixture(scope="module")
def page(browser, folder):
    """The page, opened from the disk."""
    page = browser.new_page()
    page.goto((folder / "page.html").as_uri())
    return page


# --- what is stored --------------------------------------------------------------------------------------


def test_the_stored_module_was_made_from_the_loops_as_they_are():
    known = json.loads(make_wasm.RECORD.read_text(encoding="utf-8"))
    now = make_wasm.record(make_wasm.TARGET.read_bytes())
    before, after = known.pop("pieces"), now.pop("pieces")
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed == set(), "run python tools/make_wasm.py"
    assert now == known
    locked = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert {f"{name}=={make_wasm.MADE_WITH[name]}" for name in ("numba", "llvmlite")} <= set(locked)


def test_all_code_that_is_compiled_into_the_module_is_watched_and_nothing_else():
    names = set(sources.pieces())
    # A call, a constant, a tuple with names, what an attribute of a module names; not other loops and problems.
    assert {"make_wasm", "wasm.exports", "bai.policies.shadavar.Sums", "bai.sampling.GAUSSIAN"} <= names
    assert {"bai.policies.loops.select", "bai.sampling.next_normal", "bai.schedules.ROUNDING"} <= names
    assert not [name for name in names if name.startswith(("bai.policies.thompson", "bai.book", "bai.problems"))]


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("x + 1", "x + 2", False),
        ("x + 1", "x - 1", False),
        ("return x + 1", "# why\n    return (x + 1)", True),
        ('"""Doc."""', '"""Other."""', True),
        ("x: int", "x: float", True),
        ("y=2", "y=3", False),
        ("@inlined", "@compiled", False),
    ],
)
def test_a_change_of_what_is_compiled_counts_and_a_comment_does_not(old, new, same):
    code = '@inlined\ndef f(x: int, y=2) -> int:\n    """Doc."""\n    return x + 1\n'
    assert code.count(old) == 1
    shapes = [sources.shape(sources.Stripped().visit(ast.parse(text))) for text in (code, code.replace(old, new))]
    assert (shapes[0] == shapes[1]) is same


@pytest.mark.skipif("BAI_REBUILD" not in os.environ, reason="takes a minute; the weekly workflow sets BAI_REBUILD")
def test_the_stored_module_is_what_the_loops_compile_to(tmp_path):
    versions = {name: importlib.metadata.version(name) for name in ("numba", "llvmlite")}
    versions["python"] = ".".join(map(str, sys.version_info[:2]))
    if versions != make_wasm.MADE_WITH:
        pytest.skip(f"bai.wasm was made with {make_wasm.MADE_WITH}; other versions write other bytes")
    make_wasm.main(tmp_path / "bai.wasm")
    assert (tmp_path / "bai.wasm").read_bytes() == make_wasm.TARGET.read_bytes(), "run python tools/make_wasm.py"


def test_the_stored_c_library_is_what_its_source_compiles_to(tmp_path):
    pytest.importorskip("ziglang", reason="ziglang is not installed")
    make_libm.main(tmp_path / "libm.wasm")
    assert (tmp_path / "libm.wasm").read_bytes() == make_libm.TARGET.read_bytes()


def test_no_path_of_a_machine_is_stored():
    for file in live.LIVE.glob("*.wasm"):
        assert not [part for part in (b"site-packages", b"/home", b"/root", b"/work") if part in file.read_bytes()]


def test_every_variant_of_the_leaderboard_is_written_in_python_as_it_is():
    book = json.loads(live.book_script().removeprefix("window.baiBook = ").rstrip(";\n"))
    written = {variant["label"]: eval(variant["python"], {"bai": bai}) for variant in book["variants"]}
    assert written == {k: policy for k, policy in leaderboard.POLICIES.items() if type(policy) in bai.REGISTRY}
    assert set(book["policies"]) == {policy.__name__ for policy in bai.REGISTRY}


def test_a_jupyterhub_is_offered_where_its_address_is_known(monkeypatch):
    from book import add_launch_buttons

    config = SimpleNamespace(html_theme_options={})
    monkeypatch.setenv("BOOK_REPOSITORY_URL", "https://git.example/owner/name")
    monkeypatch.setenv("BOOK_JUPYTERHUB_URL", "https://hub.example")
    add_launch_buttons(None, config)
    assert config.html_theme_options["launch_buttons"]["jupyterhub_url"] == "https://hub.example"


# --- problems --------------------------------------------------------------------------------------------


def assert_same_instances(page, problem, bandits):
    means, variances = page.evaluate(INSTANCES, problem)
    assert means == bandits.means.ravel().tolist()
    assert variances == bandits.variances.ravel().tolist()


@needs_chromium
@pytest.mark.parametrize(
    ("arms", "runs", "seed", "best"), [(2, 7, 0, "noisy"), (64, 520, 1, "noisy"), (33, 40, 2**40, "quiet")]
)
def test_instances_of_the_paper_are_the_same(page, arms, runs, seed, best):
    problem = {"kind": "synthetic", "arms": arms, "runs": runs, "seed": seed, "best": best}
    assert_same_instances(page, problem, bai.synthetic(arms, runs, seed, best))


@needs_chromium
def test_gaussian_families_of_the_leaderboard_are_the_same(page):
    gaussian = [n for n, f in families.DESIGN.items() if isinstance(f.make(1, 0), bai.GaussianBandits)]
    assert [family["name"] for family in page.evaluate("baiBook.families")] == gaussian
    for family in page.evaluate("baiBook.families"):
        problem = {**family["problem"], "runs": 30, "seed": 5}
        assert_same_instances(page, problem, families.DESIGN[family["name"]].make(30, 5))


# --- policies --------------------------------------------------------------------------------------------


def assert_same_play(page, policy, problem, bandits, budget, seed):
    given = {"policy": live.as_given(policy), "problem": problem, "budget": budget}
    played = page.evaluate(SIMULATE, [given, str(seed)])
    outcome = bai.simulate(policy, bandits, budget, seed)
    assert played["pulls"] == outcome.pulls.ravel().tolist(), policy
    assert played["recommended"] == outcome.recommended.tolist(), policy
    assert played["mistakes"] == outcome.mistakes.tolist(), policy
    assert played["regret"] == outcome.regret.tolist(), policy
    assert played["pulled"] == outcome.pulls.sum()


@needs_chromium
@pytest.mark.parametrize("policy", ENGINE, ids=repr)
def test_every_policy_makes_the_same_pulls(page, policy):
    problem = {"kind": "synthetic", "arms": 11, "runs": 620, "seed": 3}
    assert_same_play(page, policy, problem, bai.synthetic(11, 620, 3), 560, seed=3)


@needs_chromium
@pytest.mark.parametrize(("arms", "budget", "seed"), [(2, 60, 2**70 + 1), (64, 1203, 0), (130, 2600, 9)])
def test_pulls_are_the_same_for_any_number_of_arms_budget_and_seed(page, arms, budget, seed):
    problem = {"kind": "synthetic", "arms": arms, "runs": 130, "seed": 8, "best": "quiet"}
    bandits = bai.synthetic(arms, 130, 8, "quiet")
    for policy in SOME:
        assert_same_play(page, policy, problem, bandits, budget, seed)


@needs_chromium
def test_arms_of_ones_own_are_played_the_same_with_ties_and_without_noise(page):
    means, variances = [1.0, 1.0, 0.25, 0.5, 0.5], [0.5, 0.0, 0.0, 2.0, 0.1]
    problem = {"kind": "gaussian", "means": means, "variances": variances, "runs": 700}
    bandits = bai.GaussianBandits(means, variances, runs=700)
    for policy in SOME:
        assert_same_play(page, policy, problem, bandits, 300, seed=4)


@needs_chromium
def test_the_c_library_agrees_with_that_of_python(page):
    # Draws in the tails of the normal law pass through exp and log1p, a few constants through log and log2.
    points = np.random.default_rng(0).random(20_000)
    for name, values in {"exp": -7 * points, "log1p": -points, "log": 1e4 * points}.items():
        found = page.evaluate(
            "async ([name, values]) => Array.from(await baiLive.evaluate(name, values))", [name, values.tolist()]
        )
        exact = np.array([getattr(math, name)(value) for value in values.tolist()])
        assert (np.abs(np.array(found) - exact) <= np.spacing(np.abs(exact))).all()


# --- one run ---------------------------------------------------------------------------------------------


def plain_run(policy, stacks, means, variances):
    """The arm of every pull, the arms left after each stage, and the answer, by the plain version of the policy."""
    arms, budget = stacks.shape
    known = policy.known(arms, budget, bai.GaussianBandits(means, variances)).of_run(0)
    progress, order, stages, counts = Progress.begin(arms), [], [], [0] * arms
    steps = policy.resume(arms, budget, progress, **known)
    try:
        arm = next(steps)
        while True:
            order.append(arm)
            counts[arm] += 1
            stage, reward = progress.stage, float(stacks[arm, counts[arm] - 1])
            arm = steps.send(reward)
            if progress.stage > stage:
                stages.append({"end": len(order), "survivors": list(progress.active)})
    except StopIteration as stop:
        if progress.stage:
            stages.append({"end": len(order), "survivors": list(progress.active)})
        return {"order": order, "stages": stages, "answer": stop.value}


@needs_chromium
@pytest.mark.parametrize("policy", [p for p in ENGINE if not isinstance(p, bai.HalveVar)], ids=repr)
def test_a_watched_run_has_the_pulls_of_the_plain_version_in_their_order(page, policy):
    rng, arms, budget = np.random.default_rng(6), 7, 300
    means, variances = rng.random(arms), rng.random(arms)
    normals = np.random.Generator(np.random.SFC64(5)).standard_normal((arms, budget))
    stacks = means[:, None] + np.sqrt(variances)[:, None] * normals
    given = {"means": means.tolist(), "variances": variances.tolist(), "budget": budget, "seed": 5}
    run = page.evaluate(TRACE, {"policy": live.as_given(policy), **given})
    assert run.pop("stacks") == stacks.ravel().tolist()
    assert run == plain_run(policy, stacks, means, variances)


# --- how it behaves --------------------------------------------------------------------------------------


@needs_chromium
def test_play_can_be_called_off_and_says_how_far_it_is(page):
    told, name, message = page.evaluate(
        """
        async () => {
          const controller = new AbortController(), told = [];
          const progress = done => { told.push(done); if (told.length === 2) controller.abort(); };
          const problem = {kind: "synthetic", arms: 64, runs: 50000, seed: 1};
          const given = {policy: {name: "TopTwo"}, problem, budget: 1000, seed: 1};
          const {signal} = controller;
          return baiLive.simulate(given, {signal, progress}).then(() => [told], e => [told, e.name, e.message]);
        }
        """
    )
    assert name == "AbortError", message
    assert 0 < told[0] < told[1] < 1


@needs_chromium
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"budget": 40}, "budget is 40; SH needs at least 44 pulls for 11 arms"),
        ({"policy": {"name": "Best"}}, "there is no policy Best"),
        ({"problem": {"kind": "synthetic", "arms": 1, "runs": 5, "seed": 1}}, "arms is 1"),
        ({"problem": {"kind": "gaussian", "means": [1, 2], "variances": [1], "runs": 5}}, "2 means and 1 variances"),
        ({"policy": {"name": "SHAdaVar", "bound": {"name": "ChiSquare"}}}, "there is no bound ChiSquare here"),
    ],
)
def test_bad_input_is_named(page, given, message):
    problem = {"kind": "synthetic", "arms": 11, "runs": 5, "seed": 1}
    asked = {"policy": {"name": "SH"}, "problem": problem, "budget": 100, "seed": 1, **given}
    said = page.evaluate("given => baiLive.simulate(given).then(() => 'played', error => error.message)", asked)
    assert message in said


@needs_chromium
@pytest.mark.parametrize("missing", ["WebAssembly", "Worker"])
def test_without_webassembly_or_workers_the_static_part_stays(browser, folder, missing):
    page = browser.new_page()
    page.add_init_script(f"delete window.{missing}")
    page.goto((folder / "page.html").as_uri())
    assert page.inner_text(".bai-live") == "static"
    page.close()


# --- the laboratory --------------------------------------------------------------------------------------

STUDIES = {
    "paper": "problem=paper&arms=16&best=quiet&budgets=200+400&runs=700&seed=2&policy=SH&policy=SHAdaVar%2C+kept",
    "own": "problem=own&means=1+0.9+0.1&variances=1+0.5+0.1&budgets=90&runs=600&seed=3&policy=Unif&policy=SHVar",
    "family": "problem=one+close+rival&budgets=320&runs=520&seed=4&policy=SR&policy=A-GapE-V%2C+b+%3D+1&policy=TopTwo",
}


def finished(page):
    """Wait until the laboratory has played; return its table."""
    page.wait_for_function("document.querySelector('.bai-status')?.textContent.includes('pulls in')")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the table").click()
    return pd.read_csv(download.value.path())


@needs_chromium
@pytest.mark.parametrize("name", STUDIES)
def test_the_laboratory_and_the_program_that_it_shows_give_the_same_table(browser, folder, name):
    page = browser.new_page()
    page.goto(f"{(folder / 'page.html').as_uri()}#lab?{STUDIES[name]}")
    table = finished(page)
    page.get_by_role("button", name="Show the Python program").click()
    space: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(page.inner_text(".bai-code"), space)
    expected = space["table"]
    assert "mistakes" in printed.getvalue()
    assert table["mistakes"].sum() > 0
    exact = ["policy", "n_arms", "budget", "runs", "mistakes", "mistake_rate"]
    pd.testing.assert_frame_equal(table[exact], pd.DataFrame(expected[exact]))
    close = table[["low", "high"]] - expected[["low", "high"]].to_numpy()
    assert close.abs().to_numpy().max() < 1e-12
    page.close()


@needs_chromium
def test_the_address_restores_the_laboratory(browser, folder):
    page = browser.new_page()
    page.goto((folder / "page.html").as_uri())
    page.get_by_label("Runs", exact=True).fill("600")
    page.get_by_label("Budgets", exact=True).fill("600, 1200")
    page.get_by_label("SR", exact=True).check()
    page.get_by_role("button", name="Run", exact=True).click()
    first = finished(page)
    again = browser.new_page()
    again.goto(page.evaluate("location.href"))
    assert finished(again).equals(first)
    assert first["policy"].unique().tolist() == ["Unif", "SH", "SHVar", "SHAdaVar", "SR"]
    assert again.get_by_label("SR", exact=True).is_checked()
    page.close()
    again.close()


@needs_chromium
def test_the_laboratory_names_what_it_cannot_play(browser, folder):
    page = browser.new_page()
    page.goto((folder / "page.html").as_uri())
    page.get_by_label("Budgets", exact=True).fill("200, many")
    page.get_by_role("button", name="Run", exact=True).click()
    assert "“many”, which is not a number" in page.get_by_role("alert").inner_text()
    page.get_by_label("Budgets", exact=True).fill("200")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("SH needs at least 384 pulls for 64 arms").wait_for()
    page.close()


@needs_chromium
def test_intervals_and_paired_tests_are_those_of_python(page):
    rng = np.random.default_rng(1)
    for runs, share in ((50, 0.5), (5000, 0.1), (5000, 0.001), (300, 0.0)):
        first, second = (rng.random((2, runs)) < [[share], [share * 1.3]]).astype(int)
        found = page.evaluate("([a, b]) => baiStats.paired(Uint8Array.from(a), b)", [first.tolist(), second.tolist()])
        expected = paired(first.astype(bool), second.astype(bool))
        assert (found["onlyFirst"], found["onlySecond"]) == (expected.only_first, expected.only_second)
        assert found["difference"] == expected.difference
        assert found["error"] == pytest.approx(expected.standard_error, rel=1e-12)
        assert found["p"] == pytest.approx(expected.p_value, rel=1e-9)
