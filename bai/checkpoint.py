"""What a study has played so far, in a file that survives whatever ends the study.

The file is an SQLite database. A block of runs is added in one transaction, so after Ctrl-C, SIGKILL, a full disk or
a power cut the file holds every block that was reported and no half of one. SQLite comes with Python, other programs
can read the file while the study writes, and adding a block costs the same after a million blocks. (A Parquet file
cannot be added to: each save would write all of it again.)

A file belongs to one study. It names the study, and each block carries a checksum that starts from that name, so
what belongs elsewhere or was changed is noticed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

MARK = 0x62616931  # SQLite's application_id of our files: "bai1"
FORMAT = 1

SCHEMA = """
    CREATE TABLE study (description TEXT NOT NULL);
    CREATE TABLE blocks (
        cell INTEGER, block INTEGER, runs INTEGER, mistakes INTEGER, seconds REAL, checksum INTEGER,
        PRIMARY KEY (cell, block)
    ) WITHOUT ROWID;
"""

Row = tuple[int, int, int, int, float]  # cell, block, runs, mistakes, seconds


class Checkpoint:
    """An open file of a study; made if it does not exist.

    Parameters
    ----------
    path : path-like
    study : dict, optional
        What the study is, ready for JSON. A file of another study is refused. Without it the file must exist.
    """

    def __init__(self, path: str | os.PathLike, study: dict | None = None):
        try:
            self.path = Path(path)
        except TypeError:
            raise ValueError(f"checkpoint is {path!r}; it must be the name of a file") from None
        exists = self.path.exists()
        if study is None and not exists:
            raise ValueError(f"checkpoint is '{self.path}', but there is no such file; start the study first")
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise ValueError(f"checkpoint is '{self.path}'; it must be a file in a folder that exists")
        with self._explained():
            self.connection = sqlite3.connect(self.path, timeout=60)
        try:
            with self._explained():
                if study is not None and self._is_empty():
                    self._begin(study)
                self.study = self._read_study()
                if study is not None:
                    self._compare(study)
                self._rows = self._read_rows()
        except BaseException:
            self.connection.close()
            raise

    @contextmanager
    def _explained(self):
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OSError(
                f"checkpoint '{self.path}' cannot be used now ({error}); what it holds is safe: make room, or give "
                "access to the file, and make the same call again"
            ) from error
        except (sqlite3.DatabaseError, json.JSONDecodeError, UnicodeDecodeError) as error:
            self._refuse(error)

    def _refuse(self, reason) -> None:
        raise ValueError(
            f"checkpoint '{self.path}' is damaged or is not a checkpoint ({reason}); "
            "restore it from a copy, or give the name of a new file"
        ) from None

    def _is_empty(self) -> bool:
        return self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0

    def _begin(self, study: dict) -> None:
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

    def _read_study(self) -> dict:
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

    def _compare(self, study: dict) -> None:
        for key, value in study.items():
            theirs = self.study.get(key)
            if theirs == value:
                continue
            if isinstance(value, dict) and isinstance(theirs, dict) and list(theirs) == list(value):
                name = next(name for name in value if theirs[name] != value[name])
                raise ValueError(
                    f"checkpoint '{self.path}' belongs to another study: its problem {name!r} has other arms than the "
                    "one given here; give the problem of that study, or the name of a new file"
                )
            there, here = (list(v) if isinstance(v, dict) else v for v in (theirs, value))
            raise ValueError(
                f"checkpoint '{self.path}' belongs to another study: {key} there {there}, here {here}; "
                "repeat that study's call, or give the name of a new file"
            )

    def _checksum(self, row: Row) -> int:
        return zlib.crc32(repr(row).encode(), self._start)

    def _read_rows(self) -> np.ndarray:
        rows = self.connection.execute("SELECT * FROM blocks ORDER BY cell, block").fetchall()
        for *row, checksum in rows:
            if self._checksum(tuple(row)) != checksum:
                self._refuse(f"block {row[1]} has a wrong checksum")
        return np.array(rows, dtype=float).reshape(-1, 6)[:, :5]

    def blocks(self, cell: int) -> np.ndarray:
        """Return the blocks of one cell that the file held when it was opened: block, runs, mistakes, seconds."""
        return self._rows[self._rows[:, 0] == cell, 1:]

    def record(self, rows: Iterable[Row]) -> None:
        """Add blocks, all or none of them."""
        rows = [(*row, self._checksum(row)) for row in rows]
        with self._explained(), self.connection:
            self.connection.executemany("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?)", rows)

    def count(self) -> int:
        """Return the number of blocks in the file."""
        return self.connection.execute("SELECT count(*) FROM blocks").fetchone()[0]

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def totals(path: str | os.PathLike) -> tuple[dict, np.ndarray]:
    """Return what the study of a file is, and runs, mistakes and seconds of each of its cells so far."""
    with closing(Checkpoint(path)) as checkpoint:
        study, rows = checkpoint.study, checkpoint._rows
    cells = len(study["policies"]) * len(study["problems"]) * len(study["budgets"])
    sums = [np.bincount(rows[:, 0].astype(int), rows[:, column], minlength=cells) for column in (2, 3, 4)]
    return study, np.array(sums)
