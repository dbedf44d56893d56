"""Typesets the formulas of docstrings, which are written so that they can be read in a terminal: λ_i = n σ_i²/Σ_j σ_j².

A formula is a run of words with Greek letters, indices or powers, and what stands between them.
"""

import re
import unicodedata

GREEK = {chr(code): unicodedata.name(chr(code)).split()[-1] for code in range(0x3B1, 0x3CA) if code != 0x3C2}
TEX = {letter: f"\\{name.lower().replace('lamda', 'lambda')} " for letter, name in GREEK.items()}
TEX |= {
    "Δ": "\\Delta ",
    "Σ": "\\sum ",
    "Φ": "\\Phi ",
    "Λ": "\\Lambda ",
    "Γ": "\\Gamma ",
    "Θ": "\\Theta ",
    "Π": "\\prod ",
}
TEX |= {"²": "^2", "³": "^3", "≤": "\\le ", "≥": "\\ge ", "∞": "\\infty ", "·": "\\cdot ", "×": "\\times ", "−": "-"}
TEX |= {"≈": "\\approx ", "√": "\\surd ", "∈": "\\in "}
TEX |= {chr(0x2080 + digit): f"_{digit}" for digit in range(10)} | {"Ψ": "\\Psi ", "χ": "\\chi "}
WORDS = ("log", "exp", "max", "min", "sqrt", "argmax", "argmin")
NAMED = "|".join(WORDS)
MARK = re.compile(rf"[Α-Ωα-ω²³√⌊⌈₀-₉]|\u0302|(?<![\w`.])(?:[A-Za-z]|{NAMED})_(?:[a-z0-9]|max|min|\{{.*\}})(?![\w(])")
OPERATORS = re.compile(r"[-+=<>≤≥≈*/·×−∈]+")


def tex(formula):
    """A formula as TeX."""
    formula = re.sub("(\\w)\u0302", r"\\hat{\1}", unicodedata.normalize("NFD", formula))
    formula = "".join(TEX.get(letter, letter) for letter in formula)
    formula = re.sub(r"([_^])\(([^()]*)\)", r"\1{\2}", formula)
    formula = re.sub(r"_(max|min)\b", r"_{\\\1}", formula)
    formula = re.sub(rf"(?<!\\)(?<![A-Za-z])({NAMED})(?![A-Za-z])", r"\\operatorname{\1}", formula)
    return formula.replace("<=", "\\le ").replace(">=", "\\ge ").replace("*", "\\cdot ").replace("%", "\\%").strip()


def balanced(text):
    """Whether every bracket that opens closes again."""
    while (shorter := re.sub(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}", "", text)) != text:
        text = shorter
    return not re.search(r"[()\[\]{}]", text)


def bare(word):
    """A word without the punctuation at its end, and that."""
    end = re.search(r"[.,;:]*$", word).start()
    return word[:end], word[end:]


def belongs(word):
    """Whether a word can be part of a formula: letters stand alone, or are the name of a function."""
    letters = re.sub(rf"(?<![A-Za-z])(?:{NAMED})(?![A-Za-z])", " ", bare(word)[0])
    return bool(MARK.search(word)) or not re.search(r"[A-Za-z]{2}|[`'\"]|^[aAI]$", letters)


def runs(words):
    """Split words into runs that may be formulas, which end at punctuation, and single words that are not."""
    place = 0
    while place < len(words):
        stop = place + 1
        if belongs(words[place]):
            while stop < len(words) and belongs(words[stop]) and not bare(words[stop - 1])[1]:
                stop += 1
        yield words[place:stop]
        place = stop


def typeset(text):
    """A paragraph of reStructuredText with its formulas marked up."""
    if "`" in text:  # what is marked up already stays
        return "".join(part if "`" in part else typeset(part) for part in re.split(r"((?::\w+:)?`+[^`]+`+)", text))
    if not MARK.search(text):
        return text
    found = []
    for run in runs(text.split()):
        start, stop = 0, len(run)
        while stop > 1 and OPERATORS.fullmatch(run[stop - 1]):
            stop -= 1
        while start < stop - 1 and OPERATORS.fullmatch(run[start]):
            start += 1
        part, end = bare(" ".join(run[start:stop]))
        if MARK.search(part) and balanced(part):
            run = [*run[:start], f":math:`{tex(part)}`{end}", *run[stop:]]
        found += run
    spaces = re.fullmatch(r"( *).*?( *)", text, re.S)
    return spaces[1] + " ".join(found) + spaces[2]


def paragraphs(lines):
    """Lines with those that continue a paragraph joined to its first."""
    joined, code = [], False
    for line in lines:
        text = line.lstrip()
        indent = line[: len(line) - len(text)]
        code = text.startswith((">>>", "..")) or (code and bool(text))
        before = joined[-1] if joined else None
        if text and before and before[1] and before[0] == indent and not before[2] and text[0] not in "-*:.>":
            joined[-1] = (indent, f"{before[1]} {text}", False)
        else:
            joined.append((indent, text, code))
    return joined


def typeset_docstring(app, what, name, obj, options, lines):
    lines[:] = [indent + (text if code else typeset(text)) for indent, text, code in paragraphs(lines)]


def setup(app):
    app.connect("autodoc-process-docstring", typeset_docstring, priority=900)  # after napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
