"""Scores on disk as they arrive: a file of JSON lines, which survives whatever ends the program.

The first line says what was judged. Every other line is one score: the numbers of the candidate and of the example,
and the score, or null if the judgement failed. Lines are only ever added, so a crash leaves at most the last one
broken, and that one is left out.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TextIO

from . import checks

HEADER = {"file": "bai scores", "version": 1}


class ScoreFile:
    """An open file of scores; made if it does not exist. What it holds already is in `known`."""

    def __init__(self, path: str | os.PathLike[str], labels: list[str], n_examples: int):
        self.path: Path
        self.path, size = checks.file("file", path)
        header = {**HEADER, "candidates": labels, "examples": n_examples}
        self.known: dict[tuple[int, int], float | None] = {}
        if size:
            self._read(header)
        self._file: TextIO = self.path.open("a", encoding="utf-8")
        if not size:
            self._write(header)

    def _read(self, header: dict[str, Any]) -> None:
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.splitlines()
        try:
            found = json.loads(lines[0]) if lines else {}
            entries = [json.loads(line) for line in lines[1:]]
            pairs = {(int(i), int(j)): None if s is None else checks.reward("score", s) for i, j, s in entries}
        except (TypeError, ValueError, RecursionError):
            raise ValueError(f"file is {checks.shown(self.path)}, which is damaged; take a new file") from None
        if found != header:
            raise ValueError(
                f"file is {checks.shown(self.path)}, which has scores of other candidates or examples; repeat the call "
                "that it belongs to, or take a new file"
            )
        shape = len(header["candidates"]), header["examples"]
        if any(not (0 <= i < shape[0] and 0 <= j < shape[1]) for i, j in pairs):
            raise ValueError(f"file is {checks.shown(self.path)}, which is damaged; take a new file")
        self.known = pairs
        if len(whole) < len(text):  # the program ended in the middle of a line
            os.truncate(self.path, len(whole))

    def _write(self, line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def add(self, candidate: int, example: int, score: float | None) -> None:
        """Write a score; it is on the disk when this returns."""
        self.known[candidate, example] = score
        self._write([candidate, example, score])

    def close(self) -> None:
        """Close the file."""
        self._file.close()
