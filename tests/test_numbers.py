"""Every number in the prose is printed by a cell of its section, or says where it comes from."""

import pytest
from prose_numbers import COUNTED, NOT_CHECKED, ROOT, Page, numbers_in, readable, stated

from bai.book import leaderboard

NOTEBOOKS = ["index", *sorted(f"chapters/{path.stem}" for path in (ROOT / "chapters").glob("*.ipynb"))]
TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
TEXTS += sorted(p.relative_to(ROOT).as_posix() for p in [*ROOT.glob("chapters/*.md"), *ROOT.glob("reference/*.md")])
NOT_YET: set[str] = set()  # pages whose numbers have no source yet
PAGES = [name for name in [*NOTEBOOKS, *TEXTS] if name not in NOT_YET]


@pytest.mark.parametrize("name", [*NOTEBOOKS, *TEXTS])
def test_every_number_in_the_prose_has_its_source(name):
    found = Page.read(name).problems()
    if name in NOT_YET:
        assert found, f"the numbers of {name} have their sources: take it off the list"
    else:
        assert "\n".join(found) == ""


def test_of_100_small_changes_of_checked_numbers_at_least_95_are_noticed():
    """Each number that is tied to an output, to code or to a list is moved by up to three units of its last digit."""
    checked = [item for name in PAGES for item in Page.read(name).stated if item.declared not in NOT_CHECKED]
    moved = [moved for item in checked for units in (-3, -2, -1, 1, 2, 3) if (moved := item.moved(units))]
    unnoticed = [item for item in moved if item.holds()]
    assert len(unnoticed) <= 0.05 * len(moved), "\n".join(item.place for item in unnoticed)


def test_every_kind_of_count_occurs_in_the_book():
    """A count that no page states any more needs no pattern."""
    prose = [text for name in [*NOTEBOOKS, *TEXTS] for _, _, text in Page.read(name).parts]
    assert [pattern.pattern for pattern in COUNTED if not any(map(pattern.search, prose))] == []


# --- what the check notices, on small pages --------------------------------------------------------------


def text(source, **numbers):
    return {"cell_type": "markdown", "metadata": {"numbers": numbers} if numbers else {}, "source": source}


def code(source, printed="", table="", caption="", alt="", **numbers):
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    outputs += [{"output_type": "execute_result", "data": {"text/html": table, "text/plain": "..."}}] if table else []
    shown = {"mystnb": {"figure": {"caption": caption}, "image": {"alt": alt}}, "numbers": numbers}
    return {"cell_type": "code", "metadata": shown, "source": source, "outputs": outputs}


def problems(*cells, declared=None):
    return Page("page", list(cells), declared).problems()


PRINTED = code("rate(runs=5000)", "SH errs in 0.034123 of 4,998 runs, p = 1.5e-79\n")


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("SH errs in 0.0341 of the runs.", "SH errs in 0.0351 of the runs."),
        ("SH errs in .0341 of the runs.", "SH errs in .0351 of the runs."),
        ("SH errs in 3.41 % of the runs.", "SH errs in 3.51 % of the runs."),
        ("It errs in 3.41\\,\\% or 3.41 per cent.", "It errs in 3.41\\,\\% or 3.43 per cent."),
        ("There were 4,998 runs.", "There were 4,997 runs."),
        ("There were $4{,}998$ runs.", "There were $4{,}988$ runs."),
        ("There were about 5,000 runs.", "There were about 6,000 runs."),
        ("The rate is about 0.03.", "The rate is about 0.04."),
        ("It is $1.5 \\times 10^{-79}$.", "It is $1.5 \\times 10^{-78}$."),
        ("It is $1.5 \\cdot 10^{-79}$.", "It is $1.6 \\cdot 10^{-79}$."),
        ("It is 1.5e-79.", "It is 2.5e-79."),
        ("All 5,000 runs, as in the code.", "All 5,001 runs, as in the code."),
    ],
)
def test_a_number_must_be_printed_or_written_in_its_section(right, wrong):
    assert problems(text(right), PRINTED) == []
    (problem,) = problems(text(wrong), PRINTED)
    assert "nearest number in its section" in problem


def test_a_problem_names_page_cell_number_sentence_and_nearest_output():
    (problem,) = problems(PRINTED, text("First. SH errs in 0.0351 of the runs. Last."))
    expected = (
        "page, cell 1: '0.0351' in 'SH errs in 0.0351 of the runs.': the nearest number in its section is 0.034123"
    )
    assert problem == expected


@pytest.mark.parametrize(
    "heading", ["## Next", "### Next", "```{exercise} easy: next\n```", "```{exercise-start} next\n```"]
)
def test_outputs_of_another_section_do_not_count(heading):
    assert problems(PRINTED, text("It is 0.0341.")) == []
    assert problems(PRINTED, text(f"{heading}\n\nIt is 0.0341.")) != []
    assert problems(text(f"It is 0.0341.\n\n{heading}\n"), PRINTED) != []
    assert problems(PRINTED, text(f"{heading}\n\nIt is 0.0341.", **{"0.0341": "page: SH errs"})) == []
    assert problems(PRINTED, text(f"{heading}\n\nIt is 0.0341.", **{"0.0341": "page: SR errs"})) != []


def test_captions_and_alt_texts_are_prose():
    assert problems(PRINTED, code("plot()", caption="The rate is 0.0341.", alt="A line at 0.0341.")) == []
    assert len(problems(PRINTED, code("plot()", caption="The rate is 0.0351.", alt="A line at 0.0361."))) == 2


def test_numbers_of_tables_count_and_a_line_is_a_row():
    rows = "<tr><th rowspan='2'>SH</th><td>1000</td><td>0.512</td></tr><tr><td>2000</td><td>0.388</td></tr>"
    table = code("show()", table=f"<table><tr><th>policy</th></tr>{rows}<tr><th>SR</th><td>0.251</td></tr></table>")
    assert problems(table, text("SH falls from 0.51 to 0.39.", **{"0.51": "page: SH", "0.39": "page: SH  2000"})) == []
    assert len(problems(table, text("SR falls to 0.51.", **{"0.51": "page: SR"}))) == 1


def test_a_number_between_its_neighbours_must_name_its_line():
    crowd = code("show()", "SH 0.51\nSR 0.52\nUnif 0.53\n")
    (problem,) = problems(crowd, text("SR is at 0.52."))
    assert "declare the line that prints it" in problem
    assert problems(crowd, text("SR is at 0.52.", **{"0.52": "page: SR"})) == []
    assert len(problems(crowd, text("SR is at 0.53.", **{"0.53": "page: SR"}))) == 1


def test_one_or_two_digits_are_no_rounding_unless_the_prose_or_a_declaration_says_so():
    assert len(problems(PRINTED, text("The rate is 0.03 or 0.034."))) == 2
    assert problems(PRINTED, text("The rate is 0.034.", **{"0.034": "page: SH"})) == []
    assert problems(PRINTED, text("The rate is near 0.03.")) == []


def test_small_whole_numbers_pass_unless_they_count_or_are_percentages():
    assert problems(text("The two arms take 12 pulls each; ten is fewer than eleven.")) == []
    assert len(problems(text("It wins in 10 of 15 cases."))) == 2
    assert len(problems(text("It wins in ten of the fifteen cases."))) == 2
    assert len(problems(text("It wins in 7 % of the cases and 5 per cent of the rest."))) == 2
    assert len(problems(text("Thirteen arms."))) == 1


def test_a_sign_counts():
    printed = code("show()", "difference -0.08742\n")
    assert problems(printed, text("The difference is $-0.0874$, less by 0.0874.")) == []
    assert len(problems(code("show()", "difference 0.08742\n"), text("The difference is $-0.0874$."))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "## 13. Heading\n",
        "(sec-44)=\n# Title",
        "`simulate(64)` and {numref}`fig-44` and {cite:p}`audibert10best`",
        "```\n44 lines\n```",
        "```{code-block}\n44 lines\n```",
        "```{note}\n:width: 44\n```",
        "[here](https://example.org/44) <!-- 44 -->",
        "$$ x $$ (eq-44)",
        "Bars are 95 % intervals, the 95% confidence level.",
        "Section 5.1, Figures 2 and 13, Theorem 14, Python 3.11, CC BY 4.0, UAI 2023, Wilson (1927)",
        "$\\mu_{44}$ and $x_{13}$",
    ],
)
def test_what_is_no_prose_states_no_numbers(source):
    assert stated(readable(source)) == []


def test_directives_theorems_and_formulas_are_prose():
    theorem = "````{prf:theorem} Name\n:label: thm-44\n\nIt is at most $\\exp(-n / 144)$.\n````"
    assert [number.text for number in stated(readable(theorem))] == ["144"]
    assert [number.value for number in numbers_in("3.4 billion, 10^{-3}, twenty-two, 1e5")] == [3.4e9, 1e-3, 22, 1e5]


def test_percentages_share_their_sign():
    assert [(n.value, n.percent) for n in stated("5.5 to 6.8 %")] == [(5.5, True), (6.8, True)]


def test_declarations_are_checked():
    eight, prose = code("x = 44", "0.25\n"), "A level of 0.05."
    assert problems(text(prose, **{"0.05": "definition"})) == []
    assert problems(text(prose, **{"0.05": "paper"})) == []
    assert problems(text(prose, **{"0.05": "= 1 / 20"})) == []
    assert len(problems(text(prose, **{"0.05": "= 1 / 30"}))) == 1
    assert problems(code("show()", "SR 0.25\n"), text(prose, **{"0.05": "= printed('SR {}') / 5"})) == []
    assert len(problems(code("show()", "SR 0.35\n"), text(prose, **{"0.05": "= printed('SR {}') / 5"}))) == 1
    assert problems(eight, text("## Next\n44 arms", **{"44": "code"})) == []
    assert len(problems(eight, text("## Next\n45 arms", **{"45": "code"}))) == 1
    assert len(problems(text(prose, **{"0.05": "chapters/conclusions: no such line"}))) == 1
    with pytest.raises(ValueError, match="no page of the book"):
        problems(text(prose, **{"0.05": "chapters/nowhere"}))
    with pytest.raises(ValueError, match="one number as the prose writes it"):
        problems(text(prose, **{"level": "definition"}))


def test_a_template_says_where_in_a_line_the_number_stands():
    rates = code("show()", "rates of SH: 0.512 0.388 0.251\nrates of SR: 0.511 0.387 0.252\n")
    assert problems(rates, text("It is at 0.51.", **{"0.51": "page: rates of SH: {}"})) == []
    assert problems(rates, text("It is at 0.39.", **{"0.39": "page: rates of SH: ... {}"})) == []
    assert len(problems(rates, text("It is at 0.51.", **{"0.51": "page: rates of SH: ... {}"}))) == 1


def test_a_list_of_sources_goes_by_the_order_of_the_text():
    rates = code("show()", "SH: 0.512\nSR: 0.387\n")
    assert problems(rates, text("From 0.5 to 0.4.", **{"0.5": "page: SH: {}", "0.4": "page: SR: {}"})) == []
    both = {"0.5": ["page: SH: {}", "page: SR: {}"]}
    assert len(problems(rates, text("From 0.5 to 0.5.", **both))) == 1
    assert len(problems(rates, text("From 0.5 to 0.5.", **{"0.5": ["page: SH: {}"]}))) == 2
    assert len(problems(rates, text("It is at 0.5.", **both))) == 1


def test_code_may_be_named_by_what_stands_before_the_number():
    cell = code("n_arms, runs = 16, 5_000\nplay(n_arms=17)")
    assert problems(cell, text("## Next\n16 arms", **{"16": "code: n_arms, runs ="})) == []
    assert len(problems(cell, text("## Next\n17 arms", **{"17": "code: n_arms, runs ="}))) == 1
    assert problems(cell, text("## Next\n17 arms", **{"17": "code: n_arms"})) == []


def test_a_bound_lies_above_or_below_a_printed_number_by_less_than_its_last_digit():
    printed = code("show()", "budget 407.39, chance 1.04e-92\n")
    bounds = "More than 400, less than $10^{-91}$, at most 500."
    sources = {"400": "below page: budget", "10^{-91}": "above page: chance", "500": "above page: budget"}
    assert problems(printed, text(bounds, **sources)) == []
    assert len(problems(printed, text("More than 300.", **{"300": "below page: budget"}))) == 1
    assert len(problems(printed, text("At most 600.", **{"600": "above page: budget"}))) == 1
    assert len(problems(printed, text("More than 400.", **{"400": "above page: budget"}))) == 1


def test_declarations_that_are_not_needed_are_problems():
    assert len(problems(text("No number.", **{"0.05": "definition"}))) == 1
    assert len(problems(PRINTED, text("It is 0.0341."), declared={"0.0341": "page"})) == 1
    assert problems(PRINTED, text("## Next\nIt is 0.0341."), declared={"0.0341": "page"}) == []


def test_counts_of_the_books_own_lists_need_no_declaration():
    n = len(leaderboard.FAMILIES)
    assert problems(text(f"We play on {n} kinds of problems.")) == []
    (problem,) = problems(text(f"We play on {n - 1} kinds of problems."))
    assert "leaderboard.FAMILIES" in problem


def test_a_markdown_file_declares_in_a_comment():
    source = 'Four minutes, 44 arms. <!-- numbers: {"44": "definition"} -->'
    assert Page.of_markdown("a.md", source).problems() == []
    assert len(Page.of_markdown("a.md", source.replace("44 arms", "45 arms")).problems()) == 2
