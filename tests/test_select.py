"""`select`: hard budgets, common examples, files that survive crashes, and what the answer claims."""

import json
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bai
from bai import __main__ as command
from bai import certainty, shared
from bai.book import selecting
from bai.policies.knowledge import plain_log_gain
from bai.selection import POLICIES

SCORES = np.random.default_rng(0).normal([[0.0], [0.3], [1.5], [0.1]], 1.0, size=(4, 60))


class Judge:
    """Looks scores up, and remembers which pairs were asked for."""

    def __init__(self, scores=SCORES):
        self.scores, self.asked, self.lock = scores, [], threading.Lock()

    def __call__(self, candidate, example):
        with self.lock:
            self.asked.append((candidate, example))
        return float(self.scores[candidate, example])


def judge_of_a_process(candidate, example):
    return float(SCORES[candidate, example])


@given(
    policy=st.sampled_from(POLICIES),
    shape=st.tuples(st.integers(2, 9), st.integers(1, 25)),
    share=st.floats(0, 1.2),
    batch=st.integers(1, 30),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_no_pair_is_judged_twice_and_the_budget_is_kept(policy, shape, share, batch, seed):
    scores = np.random.default_rng(seed).integers(0, 2, size=shape).astype(float)
    judge, least = Judge(scores), min(3, shape[1]) * shape[0]
    budget = max(least, int(share * scores.size))
    answer = bai.select(range(shape[0]), judge, range(shape[1]), budget, policy=policy, batch=batch, seed=seed)
    assert len(judge.asked) == len(set(judge.asked)) == answer.judged <= budget
    assert answer.judged >= min(budget, scores.size) - shape[0]  # halving leaves less than a row
    order = answer.order.tolist()
    for i in range(shape[0]):  # every candidate along the same order
        assert {j for c, j in judge.asked if c == i} == set(order[: answer.counts[i]])
    if budget >= scores.size:
        assert answer.probability_best.tolist() == np.eye(shape[0])[scores.mean(axis=1).argmax()].tolist()
        assert answer.best == scores.mean(axis=1).argmax()
    assert answer.probability_best.sum() == pytest.approx(1)
    assert answer.expected_loss >= 0


@pytest.mark.parametrize("policy", POLICIES)
def test_the_answer_does_not_depend_on_who_evaluates(policy):
    plain = bai.select(range(4), Judge(), range(60), 100, policy=policy, batch=8)
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(1) as processes:
        for executor, judge in ((threads, Judge()), (processes, judge_of_a_process)):
            other = bai.select(range(4), judge, range(60), 100, policy=policy, executor=executor)
            np.testing.assert_array_equal(other.scores, plain.scores)
            assert other.summary().equals(plain.summary())


@pytest.mark.parametrize("factor, shift", [(1e6, 0.0), (1e-6, 5.0), (100.0, -300.0)])
@pytest.mark.parametrize("policy", ["look ahead", "top two"])
def test_the_unit_of_the_scores_does_not_matter(policy, factor, shift):
    plain = bai.select(range(4), Judge(), range(60), 100, policy=policy)
    other = bai.select(range(4), Judge(SCORES * factor + shift), range(60), 100, policy=policy)
    assert other.best == plain.best == 2
    np.testing.assert_array_equal(other.counts, plain.counts)
    assert other.probability_best == pytest.approx(plain.probability_best, abs=0.01)
    least = bai.select(range(4), Judge(-SCORES), range(60), 100, policy=policy, minimise=True)
    assert least.best == 2
    np.testing.assert_array_equal(least.counts, plain.counts)


def test_a_crash_loses_nothing_and_nothing_is_paid_twice(tmp_path):
    straight, file = Judge(), tmp_path / "scores.jsonl"
    expected = bai.select(range(4), straight, range(60), 100)
    judge = Judge()

    def falls_over(candidate, example):
        if len(judge.asked) in (30, 71):
            judge.asked.append("crash")
            raise KeyboardInterrupt
        return judge(candidate, example)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            bai.select(range(4), falls_over, range(60), 100, file=file)
        file.write_bytes(file.read_bytes() + b"[1, 2")  # a line that breaks off
    answer = bai.select(range(4), falls_over, range(60), 100, file=file)
    paid = [pair for pair in judge.asked if pair != "crash"]
    assert len(paid) == len(set(paid)) == 100
    assert answer.summary().equals(expected.summary())
    again = Judge()
    bai.select(range(4), again, range(60), 100, file=file)
    assert again.asked == []
    more = bai.select(range(4), again, range(60), 130, file=file)  # a larger budget goes on
    assert len(again.asked) == 30 == more.judged - 100
    with pytest.raises(ValueError, match="scores of other candidates"):
        bai.select(range(5), Judge(), range(60), 100, file=file)
    for text in (
        "no json\n",
        '{"file": 1}\n[1]\n',
        file.read_text() + "[9, 9, 9]\n",
        file.read_text() + "[0, 0, NaN]\n",
    ):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(ValueError, match="file is"):
            bai.select(range(4), Judge(), range(60), 100, file=tmp_path / "bad")


def test_every_score_is_on_disk_before_the_next_is_asked_for(tmp_path):
    file, seen = tmp_path / "scores.jsonl", []

    def judge(candidate, example):
        seen.append(len(file.read_text().splitlines()) - 1)
        return 1.0 * candidate

    bai.select(range(3), judge, range(10), 12, file=file)
    assert seen == list(range(12))
    assert json.loads(file.read_text().splitlines()[0])["candidates"] == ["0", "1", "2"]


def test_an_evaluation_that_fails_is_tried_again_and_then_left_out():
    tries = {}

    def judge(candidate, example):
        tries[candidate, example] = tries.get((candidate, example), 0) + 1
        if candidate == 3 and example % 4 == 0:
            raise TimeoutError("no answer")
        if tries[candidate, example] == 1:
            raise ConnectionError("busy")
        return float(SCORES[candidate, example])

    answer = bai.select(range(4), judge, range(60), 100, retries=1)
    assert max(tries.values()) == 2
    assert answer.failed == sum(1 for c, e in tries if c == 3 and e % 4 == 0) > 0
    assert answer.judged == len(tries) == 100
    assert answer.best == 2
    bare = bai.select(range(4), lambda c, e: None if c == 2 else SCORES[c, e], range(60), 100)
    assert bare.best != 2
    assert bare.probability_best[2] == 0
    with pytest.raises(RuntimeError, match="evaluate failed 10 times in a row, the last time with ZeroDivisionError"):
        bai.select(range(4), lambda c, e: 1 / 0, range(60), 100)


def test_failures_with_scores_between_them_end_nothing():
    asked = []

    def evaluate(candidate, example):
        asked.append(example)
        return None if len(asked) % 3 == 0 else float(candidate == 1)

    answer = bai.select(range(3), evaluate, range(40), budget=60, retries=0, batch=1)
    assert len(asked) >= 60 and answer.best == 1


def test_an_answer_that_is_not_sure_names_the_rivals():
    alike = np.random.default_rng(1).integers(0, 2, size=(3, 200)).astype(float)
    answer = bai.select(["a", "b", "c"], lambda c, e: alike["abc".index(c), e], range(200), 60)
    assert not answer.separated
    assert answer.rivals
    assert "not separated from" in repr(answer)
    sure = bai.select(range(4), Judge(SCORES + 9 * np.eye(4)[2][:, None]), range(60), 60)
    assert sure.separated
    assert not sure.rivals
    assert "not separated" not in repr(sure)
    table = answer.summary()
    assert (table["low"] <= table["mean"]).all()
    assert table["behind"].iloc[0] == 0
    exact = bai.select(range(4), Judge(), range(60), 240)
    assert exact.summary()["low"].tolist() == pytest.approx(sorted(SCORES.mean(axis=1), reverse=True))
    assert exact.expected_loss == 0


def test_candidates_of_any_type_have_labels_of_their_own():
    long = "You are a careful assistant. " * 5
    answer = bai.select([long, long, {"temperature": 0}, None], lambda c, e: float(e), range(20), 20)
    assert len(set(answer.labels)) == 4
    assert all(len(label) < 60 for label in answer.labels)


def test_who_is_next_is_nobody_if_all_are_known_and_never_one_that_is():
    told, totals = np.full(3, 10), np.array([10.0, 10.0, 0.0])  # as good as the leader is one that is known
    for counts, square, expected in (([10, 10, 10], 9.0, -1), ([10, 10, 10], 0.0, -1), ([10, 10, 6], 9.0, 2)):
        counts, squares = np.array(counts, float), np.full(3, square)
        assert shared.next_candidate(counts, told, totals, squares, 10) == expected
        assert shared.most_gained(np.zeros((3, 10)), counts, told, totals, squares) == expected


def test_compiled_parts_give_the_same_uncompiled(monkeypatch):
    def told():
        for gains in np.random.default_rng(8).normal(size=(20, 4, 12)):
            gains[gains > 2] = np.nan  # judgements that failed
            counts = np.array([12, 9, 5, 4])
            known = [row[:count][np.isfinite(row[:count])] for row, count in zip(gains, counts, strict=True)]
            for row, count in zip(gains, counts, strict=True):
                row[count:] = np.nan
            sizes, totals = np.array([part.size for part in known]), np.array([part.sum() for part in known])
            squares = np.array([part.size * part.var() for part in known])
            yield shared.next_candidate(counts, sizes, totals, squares, 12)
            yield shared.most_gained(gains, counts, sizes, totals, squares)
            yield from shared.adjusted_means(gains, counts)
            yield shared.common_correlation(gains, counts, np.sqrt(squares))

    compiled = list(told())
    for name in ("next_candidate", "_noise", "most_gained", "_align", "adjusted_means", "common_correlation"):
        monkeypatch.setattr(shared, name, getattr(getattr(shared, name), "py_func", getattr(shared, name)))
    assert list(told()) == pytest.approx(compiled, rel=1e-12, abs=1e-12)


def test_only_examples_that_are_left_make_a_mean_uncertain():
    of = {n: shared._noise(n, n, n - 1.0, 1.0, 10) for n in (5, 10)}  # a variance of 1
    assert of[5] == pytest.approx(1 / 5 - 1 / 10)
    assert of[10] < 1e-6


def test_stages_have_equal_budgets_and_leave_over_less_than_a_row():
    assert shared.stage_rows(8, 40, 240) == [(8, 20), (4, 40)]  # the third stage's budget went to these
    cases = ((3, 10, 9), (5, 803, 80), (12, 803, 963), (30, 100, 1000), (12, 803, 9000), (2, 10, 6), (64, 20, 400))
    for n, size, budget in cases:
        stages = shared.stage_rows(n, size, budget)
        starts = [0, *(end for _, end in stages[:-1])]
        spent = [k * (end - start) for (k, end), start in zip(stages, starts, strict=True)]
        assert sum(spent) <= budget
        assert stages[-1][1] == size or budget - sum(spent) < stages[-1][0]
        assert stages[-1][1] <= size
        free = [part for part, (_, end) in zip(spent[:-1], stages, strict=False) if end < size]
        assert not free or max(free) - min(free) <= n


def test_adjusting_takes_the_luck_of_the_examples_off():
    rng = np.random.default_rng(2)
    easy = rng.normal(size=400)
    scores = np.array([easy, easy - 0.5, easy + 0.1])
    counts = np.array([400, 20, 20])
    for _ in range(20):
        order = rng.permutation(400)
        means = shared.adjusted_means(np.ascontiguousarray(scores[:, order]), counts)
        plain = scores[1, order][:20].mean()
        assert abs(means[1] - scores[1].mean()) < 0.4 * abs(plain - scores[1].mean()) + 0.03


def test_precision_grows_with_examples_and_has_no_bound_when_all_are_judged():
    rng, noise = np.random.default_rng(3), {}
    scores = rng.normal(size=(3, 100)) + 3 * rng.normal(size=100)
    contrast = np.array([1.0, -1.0, 0.0])
    for n in (20, 80, 100):
        told = np.where(np.arange(100) < n, scores, np.nan)
        noise[n] = contrast @ np.linalg.inv(shared.precision_matrix(told, np.full(3, n))) @ contrast / shared.INFLATION
    for n in (20, 80):  # the common part is gone, and the examples that are left count
        assert noise[n] == pytest.approx(2 * (1 / n - 1 / 100), rel=0.6 if n > 20 else 1.2)
    assert noise[100] < 1e-6


def plain_look_ahead(scores, budget):
    """The rule in plain words: what is known of every candidate is computed anew before every choice."""
    n_candidates, size = scores.shape
    counts = np.zeros(n_candidates, int)
    for spent in range(budget):
        seen = [row[:count] for row, count in zip(scores, counts, strict=True)]
        means = np.array([one.mean() if one.size else -np.inf for one in seen])
        squares = np.array([((one - one.mean()) ** 2).sum() if one.size else 0.0 for one in seen])
        low = max(np.flatnonzero(counts == counts.min()), key=lambda i: means[i])
        if counts[low] < max(3, 0.3 * spent / n_candidates) or squares.sum() == 0:
            counts[low] += 1
            continue
        variances = (squares + 10 * squares.sum() / (spent - n_candidates)) / (counts - 1 + 10)
        longest = counts.argmax()
        most, total, products = counts[longest], 0.0, 0.0
        for i in set(range(n_candidates)) - {longest}:
            other = seen[longest][: counts[i]]
            cross = ((seen[i] - means[i]) * (other - other.mean())).sum()
            common = ((other - other.mean()) ** 2).sum()
            total, products = total + cross, products + np.sqrt(common * squares[i])
            slope = cross / (common + 5 * squares[longest] / (most - 1))
            means[i] += np.clip(slope, 0, 1) * (seen[longest].mean() - other.mean())
        correlation = np.clip(total / products, 0, 0.95)
        best, gains = means.argmax(), np.full(n_candidates, -np.inf)
        for i in np.flatnonzero(counts < size):
            n, end = counts[i], min(2 * counts[i], size)
            told = max(0, 1 / n - 1 / min(end, most)) if n < most else 0
            news = (1 - correlation**2) * told + (1 - correlation) ** 2 * max(0, 1 / max(n, most) - 1 / end)
            gap = means[best] - (np.delete(means, best).max() if i == best else means[i])
            deviation = np.sqrt(variances[i] * news)
            gains[i] = np.log(deviation) + plain_log_gain((gap / deviation) ** 2)
        counts[gains.argmax()] += 1
    return counts


@pytest.mark.parametrize("shape, share", [((5, 60), 0.3), ((8, 40), 0.7), ((3, 30), 0.95), ((12, 80), 0.15)])
def test_looking_ahead_is_what_its_plain_version_does(shape, share):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(shape[0], 1)) / 3 + rng.normal(size=shape[1]) + rng.normal(size=shape)
        judge, budget = Judge(scores), int(share * scores.size)
        answer = bai.select(range(shape[0]), judge, range(shape[1]), budget, policy="look ahead", seed=seed)
        expected = plain_look_ahead(scores[:, answer.order], budget)
        np.testing.assert_array_equal(answer.counts, expected)
        np.testing.assert_array_equal(selecting.judged(scores[:, answer.order].copy(), budget, True), expected)


def test_a_batch_that_looks_ahead_is_spread_over_candidates_that_may_win():
    judge = Judge(SCORES[[0, 1, 3, 3]] + [[0], [0], [0], [0.01]])
    answer = bai.select(range(4), judge, range(60), 100, policy="look ahead", batch=20)
    assert (answer.counts > 10).sum() > 1
    assert answer.counts.min() >= int(0.3 * 80 / 4)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_study_of_the_book_plays_what_select_plays(policy):
    scores = selecting.alpaca().to_numpy().T
    first = np.random.default_rng(0).permutation(803)  # the order of select with seed 0
    for run, row in enumerate(selecting.sets(scores, 5, "near ties", 3, seed=4)):
        order = np.random.default_rng([9, run]).permutation(803)
        arranged = np.empty((5, 803))
        arranged[:, first] = scores[row][:, order]
        answer = bai.select(range(5), Judge(arranged), range(803), 160, policy=policy)
        assert answer.index == selecting._named(scores[row], 160, policy, [9, run])


def test_stored_results_come_out_again():
    selecting.replay(size=5, share=0.05)


def test_stored_results_that_are_not_ours_are_noticed(monkeypatch):
    table = selecting.stored()
    monkeypatch.setattr(selecting, "stored", lambda: table.assign(first_regret=table["first_regret"] + 0.001))
    with pytest.raises(RuntimeError, match="other results than stored"):
        selecting.replay(size=5, share=0.05)


def test_the_default_has_less_regret_than_the_top_two_on_captions_that_were_held_out():
    table = selecting.stored()
    found = selecting.compared(table[table["data"].isin(["captions 603", "captions 618"])], "top two")
    assert found["regret, high"] < 1
    assert found["mistakes, high"] < 0.01


@pytest.mark.parametrize("data", ["AlpacaEval", "captions"])
@pytest.mark.parametrize("method", selecting.INDEPENDENT)
def test_select_beats_independent_examples_in_mistakes_and_regret(data, method):
    table = selecting.stored()
    found = selecting.compared(table[table["data"].str.startswith(data)], method)
    assert found["mistakes, high"] < 0 and found["mistakes, p"] < 1e-3
    assert found["regret, high"] < 1 and found["regret, p"] < 1e-3


def test_claims_are_right_on_average_where_the_prior_holds():
    """Means from a normal law, common noise: 150 selections."""
    rng, claimed, right = np.random.default_rng(5), [], []
    for seed in range(150):
        means = rng.normal(0, 0.15, size=6)
        scores = means[:, None] + rng.normal(size=300) + rng.normal(size=(6, 300))
        answer = bai.select(range(6), Judge(scores), range(300), 360, seed=seed)
        claimed.append(answer.probability_best[answer.index])
        right.append(answer.best == scores.mean(axis=1).argmax())
    assert np.mean(right) == pytest.approx(np.mean(claimed), abs=0.2)
    assert certainty.DRAWS == 4000


# --- the command line --------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    selecting.alpaca().iloc[:100, :5].to_csv(path)
    return path


def test_the_command_line_replays_a_table(table, capsys):
    command.main(["select", str(table), "--budget", "120"])
    said = capsys.readouterr().out
    assert "best: FuseChat-Gemma" in said or "best: NullModel" in said
    assert "120 of 500 pairs judged" in said


def test_the_command_line_judges_with_a_command_and_goes_on(table, capsys):
    program = (
        f"{sys.executable} -c 'import sys; print(1e9); print(len(sys.argv[1]) + int(sys.argv[2]) % 2)' "
        "{candidate} {example}"
    )
    command.main(["select", str(table), "--budget", "15", "--live", program, "--parallel", "2"])
    assert "best: FuseChat-Llama-3.2-1B-Instruct" in capsys.readouterr().out
    assert len(table.with_suffix(".scores.jsonl").read_text().splitlines()) == 16
    command.main(["select", str(table), "--budget", "15", "--live", "no-such-program"])  # all is known already
    assert "15 of 500" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        (None, [], "is not a file"),
        ("", [], "cannot be read"),
        ("e,a\n1,2\n", [], "1 examples and 1 candidates"),
        ("e,a,b\n1,2,x\n", [], "no numbers"),
        ("e,a,b\n1,2,\n", [], "missing"),
        ("e,a,b\n1,2,3\n", ["--live", ""], "is empty"),
        ("e,a,b\n1,2,3\n2,1,1\n3,1,1\n4,1,1\n", ["--budget", "3"], "budget is 3"),
    ],
)
def test_the_command_line_says_what_is_wrong(text, more, message, tmp_path):
    path = tmp_path / "table.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SystemExit, match=message):
        command.main(["select", str(path), "--budget", "10", *more])


def test_the_module_can_be_run():
    done = subprocess.run([sys.executable, "-m", "bai", "select", "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "--live" in done.stdout
