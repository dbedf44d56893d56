"""The stored mutants are errors in the code as it is now; ``tests/mutants/run.py`` asks whether tests notice them."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from mutants.run import PROJECT, mutated, read_mutants

MUTANTS = read_mutants()


def test_every_mutant_changes_exactly_one_place_of_its_file_into_code_that_can_be_read():
    """Two empty lines part the definitions of a file: those around the place are read, the others have not changed."""
    for mutant in MUTANTS:
        assert mutant.new != mutant.old
        text = (PROJECT / mutant.file).read_text()
        before, _, after = text.partition(mutant.old)
        changed = before.rpartition("\n\n\n")[2] + mutant.new + after.partition("\n\n\n")[0]
        assert changed in mutated(text, mutant)
        ast.parse(changed, mutant.why)


def test_a_mutant_whose_text_is_gone_or_occurs_twice_is_out_of_date():
    mutant = MUTANTS[0]._replace(old="x = 1")
    assert mutated("x = 1\n", mutant._replace(new="x = 2")) == "x = 2\n"
    for text in ("", "x = 1\nx = 1\n"):
        with pytest.raises(ValueError, match=r"bai/.* holds 'x = 1' [02] times; .* out of date"):
            mutated(text, mutant)


def test_every_mutant_has_a_description_of_its_own_and_tests_that_exist():
    assert [why for why, times in Counter(mutant.why for mutant in MUTANTS).items() if times > 1] == []
    for _, arguments in {command for mutant in MUTANTS for command in mutant.commands}:
        files = [argument.split("::")[0] for argument in arguments if argument.startswith(("tests/", "bai/"))]
        assert files
        assert all(Path(PROJECT, file).is_file() for file in files)


def test_every_module_that_decides_numbers_has_mutants():
    files = {path.relative_to(PROJECT).as_posix() for path in (PROJECT / "bai").rglob("*.py")}
    lines = {file: len((PROJECT / file).read_text().splitlines()) for file in files}
    mutants = Counter(mutant.file for mutant in MUTANTS)
    assert len(MUTANTS) >= 150
    few = [file for file, length in lines.items() if 100 * mutants[file] < length and "__init__" not in file]
    assert few == []
