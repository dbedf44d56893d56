"""How fast is the browser? Prints its time over Python's on one core by policy; asserts only that they agree."""

import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import bai

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "_ext")]
live = pytest.importorskip("live", reason="sphinx is not installed")
make_pdf = pytest.importorskip("make_pdf", reason="playwright is not installed")

K, N, RUNS, TRIES = 64, 2000, 1000, 10
PLAY = """
async given => {
  const played = await baiLive.simulate(given);
  return [Array.from(played.recommended), played.seconds];
}
"""


@pytest.mark.skipif(not make_pdf.CHROMIUM, reason="no chromium on this machine")
def test_time_in_the_browser_over_time_in_python(say, tmp_path):
    shutil.copytree(live.LIVE, tmp_path / "live")
    (tmp_path / "live" / "engine.js").write_text(live.engine_script(), encoding="utf-8")
    (tmp_path / "page.html").write_text('<script src="live/live.js"></script>')
    problem, bandits = {"kind": "synthetic", "arms": K, "runs": RUNS, "seed": 1}, bai.synthetic(K, RUNS, 1)
    with make_pdf.chromium() as browser, ThreadPoolExecutor(1) as one_core:
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        for policy in (cls() for cls in bai.REGISTRY):
            given = {"policy": live.as_given(policy), "problem": problem, "budget": N, "seed": 1}
            there, here = [], []
            for _ in range(TRIES):  # in turn, because machines are busy
                named, seconds = page.evaluate(PLAY, given)
                started = time.perf_counter()
                outcome = bai.simulate(policy, bandits, N, seed=1, executor=one_core)
                here.append(time.perf_counter() - started)
                there.append(seconds)
            assert named == outcome.recommended.tolist()
            times = [1000 * min(tries) for tries in (there, here)]
            say(f"{policy.name:9} {times[0]:8.1f} ms, in Python {times[1]:8.1f} ms: {times[0] / times[1]:.1f}")
