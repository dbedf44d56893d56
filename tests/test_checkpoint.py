"""The file of a study: it belongs to one study, notices damage, and is safe from other processes that write to it."""

import sqlite3
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing

import pytest

from bai.checkpoint import FORMAT, BlockResult, Checkpoint

STUDY = {"seed": 1, "policies": {"SH": "SH()", "SR": "SR()"}, "budgets": [10, 20], "problems": {"a": [2, "x"]}}


def block(number, runs=500):
    return BlockResult(number, runs, bytes([number % 256]) * 63, 0.5 + number, 0.25, 0.125)


@pytest.fixture
def path(tmp_path):
    with closing(Checkpoint(tmp_path / "study.db", STUDY)) as file:
        file.record([(row, block(number)) for row in (0, 1) for number in (0, 1, 2)])
    return tmp_path / "study.db"


def results(path, row=0, study=None):
    with closing(Checkpoint(path, study)) as file:
        return file.results(row)


def change(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_blocks_come_back_by_row_as_they_were_recorded(path):
    with closing(Checkpoint(path)) as file:
        file.record([(2, block(7))])
        assert file.count() == 7
    assert results(path, 0) == results(path, 1) == {number: block(number) for number in (0, 1, 2)}
    assert results(path, 2) == {7: block(7)}
    assert results(path, 3) == {}


def test_a_block_that_is_played_again_with_more_runs_replaces_the_old_one(path):
    with closing(Checkpoint(path, STUDY)) as file:
        file.record([(0, block(2, runs=7))])
        file.record([(0, block(2, runs=400))])
        assert file.count() == 6
    assert results(path)[2].runs == 400


def test_blocks_of_another_study_are_noticed(path, tmp_path):
    other = tmp_path / "other.db"
    with closing(Checkpoint(other, STUDY | {"seed": 2})) as file:
        file.record([(0, block(5))])
    change(path, f"ATTACH '{other}' AS other", "INSERT INTO blocks SELECT * FROM other.blocks")
    with pytest.raises(ValueError, match="block 5 has a wrong checksum"):
        results(path)


@pytest.mark.parametrize("moved", ["row = 3 WHERE row = 0", "block = 9 WHERE block = 2", "runs = 499 WHERE block = 1"])
def test_blocks_that_were_moved_or_changed_are_noticed(path, moved):
    change(path, f"UPDATE blocks SET {moved}")
    with pytest.raises(ValueError, match="wrong checksum"):
        [results(path, row) for row in (0, 3)]


def test_damage_that_only_sqlite_can_see_is_noticed(path):
    change(path, "CREATE TABLE filler (x)", "INSERT INTO filler VALUES (zeroblob(200000))", "DROP TABLE filler")
    content = bytearray(path.read_bytes())
    assert int.from_bytes(content[36:40], "big") > 10  # pages that are free, as the header counts them
    content[36:40] = (1).to_bytes(4, "big")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"(?s)is damaged .*; restore it from a copy"):
        results(path)


@pytest.mark.parametrize("version", [0, FORMAT - 1, FORMAT + 1])
def test_files_of_older_and_of_newer_formats_are_refused(path, version):
    change(path, f"PRAGMA user_version = {version}")
    with pytest.raises(ValueError, match=f"its format is {version}, .* reads format {FORMAT}"):
        results(path)


@pytest.mark.parametrize("mark", [0, 1, 0x62616932])
def test_files_of_other_programs_are_refused(path, mark):
    change(path, f"PRAGMA application_id = {mark}")
    with pytest.raises(ValueError, match="made by another program"):
        results(path)


@pytest.mark.parametrize("key", ["policies", "budgets", "problems"])
def test_the_same_parts_in_another_order_are_another_study(tmp_path, key):
    study = STUDY | {"problems": {"a": [2, "x"], "b": [3, "y"]}}
    with closing(Checkpoint(tmp_path / "study.db", study)):
        pass
    turned = study[key][::-1] if key == "budgets" else dict(reversed(study[key].items()))
    with pytest.raises(ValueError, match=rf"belongs to another study: {key} there .*, here .*new file"):
        results(tmp_path / "study.db", study=study | {key: turned})
    assert results(tmp_path / "study.db", study=study) == {}


# --- several processes -----------------------------------------------------------------------------------


def write(path, numbers):
    with closing(Checkpoint(path, STUDY)) as file:
        for number in numbers:
            file.record([(0, block(number))])
    return len(numbers)


def test_two_processes_that_write_at_the_same_time_lose_no_block(tmp_path):
    path = tmp_path / "study.db"
    with ProcessPoolExecutor(2) as executor:
        jobs = [executor.submit(write, path, numbers) for numbers in (range(60), range(40, 100))]
        assert [job.result() for job in jobs] == [60, 60]
    assert results(path, study=STUDY) == {number: block(number) for number in range(100)}


def test_a_file_that_another_process_begins_at_the_same_moment_is_shared(tmp_path, monkeypatch):
    path, usual, looks = tmp_path / "study.db", Checkpoint._is_empty, []

    def is_empty(self):
        looks.append(usual(self))
        if len(looks) == 1:  # right after the first look
            write(path, [3])
        return looks[0] if len(looks) == 1 else usual(self)

    monkeypatch.setattr(Checkpoint, "_is_empty", is_empty)
    assert write(path, [4]) == 1
    assert looks[0]
    assert results(path) == {3: block(3), 4: block(4)}


def test_nobody_else_can_write_while_the_tables_are_made(tmp_path, monkeypatch):
    path, usual, refused = tmp_path / "study.db", Checkpoint._is_empty, []

    def is_empty(self):
        if self.connection.in_transaction:
            with closing(sqlite3.connect(path, timeout=0)) as other, pytest.raises(sqlite3.OperationalError) as caught:
                other.execute("BEGIN IMMEDIATE")
            refused.append(str(caught.value))
        return usual(self)

    monkeypatch.setattr(Checkpoint, "_is_empty", is_empty)
    write(path, [1])
    assert refused == ["database is locked"]


def test_a_writer_waits_for_another_one_to_finish(path):
    with closing(Checkpoint(path)) as file, closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = threading.Timer(0.1, other.rollback)
        done.start()
        file.record([(0, block(3))])
        done.join()
    assert 3 in results(path)


def test_a_writer_that_waited_in_vain_says_so_and_can_try_again(path):
    with closing(Checkpoint(path)) as file, closing(sqlite3.connect(path)) as other:
        file.connection.execute("PRAGMA busy_timeout = 1")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match=r"cannot be used now \(database is locked\); what it holds is safe"):
            file.record([(0, block(3)), (0, block(4))])
        other.rollback()
        assert file.count() == 6
        file.record([(0, block(3)), (0, block(4))])
    assert len(results(path)) == 5
