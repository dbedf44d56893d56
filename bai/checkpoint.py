"""What a study has played so far, in a file that survives whatever ends the study.

The file is an SQLite database. A block of runs is added in one transaction, so after Ctrl-C, SIGKILL, a full disk or
a power cut the file holds every block that was reported and never half of one. SQLite comes with Python, other programs
can read the file while the study writes, and adding a block costs the same after a million blocks. (A Parquet file
cannot be added to: each save would write all of it again.)

A file belongs to one study. It names the study, and each block carries a checksum that starts from that name, so
a block that belongs elsewhere or was changed is noticed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from . import checks

MARK = 0x62616931  # SQLite's application_id of our files: "bai1"
FORMAT = 2

SCHEMA = """
    CREATE TABLE study (description TEXT NOT NULL);
    CREATE TABLE blocks (
        row INTEGER, block INTEGER, runs INTEGER, mistakes BLOB, regret REAL, squares REAL, seconds REAL,
        checksum INTEGER, PRIMARY KEY (row, block)
    ) WITHOUT ROWID;
"""


class BlockResult(NamedTuple):
    """What came of a block of runs."""

    block: int
    runs: int
    mistakes: bytes  # one bit per run
    regret: float  # sum over the runs
    squares: float  # sum of squared regrets
    seconds: float


class Checkpoint:
    """The open file of a study; created if it does not exist.

    Parameters
    ----------
    path : path-like
    study : dict, optional
        What the study is, ready for JSON. A file of another study is refused. Without it the file must exist.
    """

    def __init__(self, path: str | os.PathLike[str], study: dict[str, Any] | None = None):
        self.path: Path
        self.path, size = checks.file("checkpoint", path)
        if study is None and size is None:
            raise ValueError(f"checkpoint is {checks.shown(path)}, but there is no such file; start the study first")
        with self._explained():
            # A file, even if it is called ":memory:".
            self.connection: sqlite3.Connection = sqlite3.connect(self.path.absolute(), timeout=60)
        try:
            with self._explained():
                if study is not None and self._is_empty():
                    self._begin(study)
                self.study: dict[str, Any] = self._read_study()
            if study is not None:
                self._compare(study)
        except BaseException:
            self.connection.close()
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(
                f"checkpoint '{self.path}' cannot be used now ({error}); what it holds is safe: make room, or give "
                "access to the file, and make the same call again"
            ) from error
        except (sqlite3.DatabaseError, json.JSONDecodeError, UnicodeDecodeError) as error:
            self._refuse(error)

    def _refuse(self, reason: Any) -> NoReturn:
        raise ValueError(
            f"checkpoint '{self.path}' is damaged or is not a checkpoint ({reason}); "
            "restore it from a copy, or give the name of a new file"
        ) from None

    def _is_empty(self) -> bool:
        return self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0

    def _begin(self, study: dict[str, Any]) -> None:
        text = json.dumps(study)
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            if not self._is_empty():  # another process was quicker
                return
            for statement in SCHEMA.split(";"):
                self.connection.execute(statement)
            self.connection.execute("INSERT INTO study VALUES (?)", (text,))
            self.connection.execute(f"PRAGMA application_id = {MARK}")
            self.connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _read_study(self) -> dict[str, Any]:
        ask = self.connection.execute
        if ask("PRAGMA application_id").fetchone()[0] != MARK:
            self._refuse("it was made by another program")
        version = ask("PRAGMA user_version").fetchone()[0]
        if version != FORMAT:
            self._refuse(f"its format is {version}, this version of bai reads format {FORMAT}")
        health = ask("PRAGMA quick_check(1)").fetchone()[0]
        if health != "ok":
            self._refuse(health)
        (text,) = ask("SELECT description FROM study").fetchone() or self._refuse("it does not name its study")
        self._start = zlib.crc32(text.encode())
        return json.loads(text)

    def _compare(self, study: dict[str, Any]) -> None:
        for key, value in study.items():
            theirs: Any = self.study.get(key)
            if json.dumps(theirs) == json.dumps(value):  # rows go by number, so the order matters too
                continue
            if key == "problems" and list(theirs) == list(value):
                name = next(name for name in value if theirs[name] != value[name])
                raise ValueError(
                    f"checkpoint '{self.path}' belongs to another study: its problem {name!r} has other arms than the "
                    "one given here; give the problem of that study, or the name of a new file"
                )
            there, here = (list(v) if key == "problems" else v for v in (theirs, value))
            raise ValueError(
                f"checkpoint '{self.path}' belongs to another study: {key} there {there}, here {here}; "
                "repeat that study's call, or give the name of a new file"
            )

    def _checksum(self, values: tuple[Any, ...]) -> int:
        return zlib.crc32(repr(values).encode(), self._start)

    def results(self, row: int) -> dict[int, BlockResult]:
        """Return the blocks of a row of the study's table that are in the file."""
        found: dict[int, BlockResult] = {}
        with self._explained():
            for *values, checksum in self.connection.execute("SELECT * FROM blocks WHERE row = ?", (row,)):
                result = BlockResult(*values[1:])
                if self._checksum((row, *result)) != checksum:
                    self._refuse(f"block {result.block} has a wrong checksum")
                found[result.block] = result
        return found

    def record(self, results: Iterable[tuple[int, BlockResult]]) -> None:
        """Add blocks, each with the number of its row: all or none of them."""
        values = [(row, *result) for row, result in results]
        with self._explained(), self.connection:
            self.connection.executemany(
                "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*entry, self._checksum(entry)) for entry in values],
            )

    def count(self) -> int:
        """Return the number of blocks in the file."""
        return self.connection.execute("SELECT count(*) FROM blocks").fetchone()[0]

    def close(self) -> None:
        """Close the file."""
        self.connection.close()
