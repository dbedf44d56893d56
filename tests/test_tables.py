"""The table of paired comparisons that several pages show."""

import pytest

import bai
from bai.book.tables import compare

POLICIES = {"all alike": bai.Unif(), "halves": bai.SH(), "halves, keeps": bai.SH(reuse=True)}
PROBLEMS = {name: bai.synthetic(8, 400, seed=2, best_arm=name) for name in ("noisy", "quiet")}


@pytest.fixture(scope="module")
def played():
    return bai.sweep(POLICIES, PROBLEMS, [60, 120], seed=3)


def test_a_row_says_what_the_two_policies_do_when_played_alone(played):
    row = compare(played, ("all alike", "halves")).loc["quiet", "all alike", "halves", 120]
    outs = [bai.simulate(POLICIES[name], PROBLEMS["quiet"], 120, seed=3) for name in ("all alike", "halves")]
    pair = bai.paired(*(out.mistakes for out in outs))
    assert (row["A errs"], row["B errs"]) == tuple(round(out.mistake_rate, 4) for out in outs)
    assert row["A − B"] == f"{pair.difference:+.4f} ± {1.96 * pair.standard_error:.4f}"
    assert float(row["p"]) == pytest.approx(pair.p_value, rel=0.05)


def test_problems_pairs_and_budgets_come_in_the_order_of_the_study_and_of_the_call(played):
    pairs = [("halves", "halves, keeps"), ("halves", "all alike")]
    found = compare(played, *pairs, budgets=[120, 60])
    assert list(found.index) == [(name, *pair, n) for name in PROBLEMS for pair in pairs for n in (120, 60)]


def test_a_single_problem_is_not_named():
    study = bai.sweep([bai.Unif(), bai.SH()], PROBLEMS["noisy"], 60, seed=3)
    found = compare(study, (bai.Unif(), bai.SH()))
    assert list(found.index.names) == ["A", "B", "budget"]
    assert list(found.index) == [("Unif", "SH", 60)]


def test_a_tiny_p_value_is_a_bound():
    many_arms = bai.GaussianBandits([0.5] + [0.0] * 63, [0.25] * 64, runs=2000)
    study = bai.sweep([bai.Unif(), bai.SH()], many_arms, 500, seed=3)
    assert study.paired("Unif", "SH").p_value < 1e-9
    assert compare(study, ("Unif", "SH"))["p"].item() == "< 1e-9"


def test_without_a_pair_it_says_what_to_give(played):
    with pytest.raises(ValueError, match=r"name two policies of the table, as in compare\(table"):
        compare(played)


def test_a_policy_that_was_not_played_is_refused(played):
    with pytest.raises(ValueError, match="its policies are all alike, halves, halves, keeps"):
        compare(played, ("halves", "SHVar"))
