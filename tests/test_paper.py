"""The published points, and the command that redraws the paper's figures."""

import subprocess
import sys

import matplotlib
import pandas as pd
import pytest

import bai
from bai.book import paper

matplotlib.use("Agg")


def test_published_points_cover_the_four_figures_of_the_paper():
    points = paper.published()
    assert points.groupby("figure").size().to_dict() == {2: 42, 3: 63, 5: 35, 6: 35}
    assert set(points["policy"]) == {policy.name for policy in paper.policies()}
    assert points["mistake_rate"].between(0, 1).all()
    assert (points["reading_error"] > 0).all()
    for figure, (_, sizes, budgets) in paper.FIGURES.items():
        rows = points[points["figure"] == figure]
        assert sorted(rows["n_arms"].unique()) == sizes
        assert sorted(rows["budget"].unique()) == budgets


def test_a_replayed_figure_is_the_sweep_it_stands_for():
    table = paper.replay_figure(3, runs=30, seed=2)
    row = table[(table["policy"] == "GapE-V") & (table["n_arms"] == 40)].iloc[0]
    out = bai.simulate(bai.GapEV(scaling="paper"), bai.synthetic(40, 30, seed=2), 5000, seed=2)
    assert row["mistakes"] == out.mistakes.sum()
    assert len(table) == 63


def test_the_command_writes_pictures_and_tables(tmp_path, capsys):
    paper.main([str(tmp_path / "out"), "--runs", "4"])
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == [f"figure_{n}{ending}" for n in (2, 3, 5, 6) for ending in (".csv", ".png", ".svg")]
    assert len(pd.read_csv(tmp_path / "out" / "figure_2.csv")) == 42
    assert len(pd.read_csv(tmp_path / "out" / "figure_6.csv")) == 35
    said = capsys.readouterr().out
    assert "figure_5" in said
    pulls = 7 * 4 * (21_000 + 9 * 5000 + 2 * 15_000)  # algorithms, runs, budgets of the four figures
    assert f"{pulls / 1e6:.1f} million pulls in " in said


def test_the_command_refuses_what_it_cannot_do_in_one_sentence(tmp_path):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SystemExit, match=r"^error: .*taken"):
        paper.main([str(tmp_path / "taken")])
    command = [sys.executable, "-m", "bai.book.paper", str(tmp_path), "--runs", "0"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.startswith("error: ")
    assert "runs is 0" in run.stderr
    assert "Traceback" not in run.stderr


def test_figures_5_and_6_are_played_on_movies():
    for figure, n_arms in ((5, 64), (6, 128)):
        table = paper.replay_figure(figure, runs=20, seed=3, best_arm="quiet")
        assert (table["n_arms"] == n_arms).all()
        row = table[(table["policy"] == "SHVar") & (table["budget"] == 2000)].iloc[0]
        movies = bai.movielens(n_arms, 20, seed=3, best_arm="quiet")
        assert row["mistakes"] == bai.simulate(bai.SHVar(), movies, 2000, seed=3).mistakes.sum()


def test_only_figures_with_mistake_rates_can_be_replayed():
    with pytest.raises(ValueError, match="figure is 4; it must be 2, 3, 5 or 6"):
        paper.replay_figure(4)
