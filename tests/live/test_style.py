# SPDX-License-Identifier: BSD-2-Clause
"""The sources keep to the form in CONTRIBUTING.md. No formatter knows it: clang-format takes tables, chains of ?: and
comments behind members apart, whatever its options."""
import pathlib
import re

import pytest

from tally import once

pytestmark = once

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH = 120
SCREEN = 70             # lines of a function
TREES = "user", "tools", "bpf", "tests"
# Long, but one thing: a switch or a table with a row for each system call.
TABLES = {("tools/calls/syscall/decode.c", 105), ("tools/calls/syscall/structs.c", 102)}


def sources(*kinds, trees=TREES):
    return sorted(path for tree in trees for kind in kinds for path in (ROOT / tree).rglob("*" + kind)
                  if not any(part.startswith(".") for part in path.relative_to(ROOT).parts))


def lines(path):
    return enumerate(path.read_text().splitlines(), 1)


def place(path, number):
    return f"{path.relative_to(ROOT)}:{number}"


def ends_in_text(line):
    """Only a string may exceed the width: it stays whole, so that it can be found."""
    kept, width, inside, escaped = "", 0, False, False
    for at, letter in enumerate(line):
        width = (width // 8 + 1) * 8 if letter == "\t" else width + 1
        if width > WIDTH and not inside:
            # Only the end of the string and its call.
            return bool(re.fullmatch(r'[\w")\]},;: ]*', line[at:])) and kept.rstrip(' ,);}').endswith('"')
        kept += letter
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter == '"':
            inside = not inside
    return True


@pytest.mark.parametrize("line, whole", (
    ("\tdiag_error(\"" + 120 * "x" + "\");", True),
    ("\tdiag_error(\"" + 120 * "x" + "\", f(a) +", False),
    ("\t" + 113 * "x", False),
    ("\tf(" + 60 * "x" + ", \"" + 60 * "y" + "\\\"\", 5);", True),
))
def test_what_a_text_is(line, whole):
    assert ends_in_text(line) == whole


def test_width():
    wide = [place(path, number) for path in sources(".c", ".h", ".py", trees=("user", "tools", "bpf"))
            for number, line in lines(path) if len(line.expandtabs(8)) > WIDTH and not ends_in_text(line)]
    assert not wide


def test_first_line_is_the_licence():
    """A script has #! before it."""
    ours = [
        ROOT / "Makefile",
        *sources(".c", ".h", ".cc", ".cpp", ".py", ".sh", ".md", ".S", trees=(*TREES, "docs", "packaging")),
    ]
    without = [
        path for path in ours if not any("SPDX-License-Identifier:" in line for _, line in list(lines(path))[:3])
    ]
    assert not without


def test_blanks():
    """Tabs indent, lines have no trailing blanks, and one empty line separates."""
    wrong = []
    for path in sources(".c", ".h"):
        text = path.read_text()
        wrong += [place(path, number) for number, line in lines(path)
                  if line != line.rstrip() or re.match(r"\t* {8}(?!\s*\\$)", line)]
        if not text.endswith("\n") or text.endswith("\n\n") or "\n\n\n" in text or "\r" in text:
            wrong.append(place(path, "empty lines"))
    assert not wrong


def test_comments():
    """C has block comments, except for the licence."""
    wrong = [place(path, number) for path in sources(".c", ".h", trees=("user", "tools", "bpf"))
             for number, line in lines(path) if re.match(r"\s*//(?! SPDX)", line) or re.search(r"[;{}]\s+// ", line)]
    assert not wrong


def test_braces():
    """A function's brace is on a line of its own, others are not; else follows its brace."""
    wrong = []
    for path in sources(".c", ".h", trees=("user", "tools", "bpf")):
        for number, line in lines(path):
            if re.match(r"\s+(if|for|while|switch|do|else)\b.*[^\s{]\s*\{$", line) and not line.endswith(" {"):
                wrong.append(place(path, number))
            if re.match(r"\s+else\b", line) and re.match(r"\s*\}$", path.read_text().splitlines()[number - 2]):
                wrong.append(place(path, number))
            if re.match(r"(static |)\w[\w \*]*\([^;]*\)\s*\{$", line) and not line.startswith(("struct", "enum", "}")):
                wrong.append(place(path, number))
    assert not wrong


def test_functions_fit_a_screen():
    long = set()
    for path in sources(".c", ".h", trees=("user", "tools", "bpf")):
        begin = None
        for number, line in lines(path):
            if line == "{":
                begin = number
            elif line == "}" and begin:
                if number - begin - 1 > SCREEN:
                    long.add((path.relative_to(ROOT).as_posix(), number - begin - 1))
                begin = None
    assert long <= TABLES
