# SPDX-License-Identifier: BSD-2-Clause
"""Form of the files: blanks, widths, licences; and clang-format, where it applies."""
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sources import ROOT, hold, named, text_of, tracked, walked

WIDTH = 120
CODE = (".c", ".h", ".cc", ".cpp")

# A file has its licence in its first three lines, except files that others read as a whole: data of tests, seeds of the
# fuzzer, a format of Debian's, a dashboard in JSON, lists for git, and the version, which tarballs have.
WITHOUT_LICENCE = ("tests/data/", "tests/fuzz/", "packaging/debian/source/format", "packaging/export/dashboard.json", "LICENSE", ".gitignore",
                   ".gitattributes", "VERSION")

# Files that clang-format 14 leaves unchanged. A new file belongs here.
FORMATTED = Path(__file__).resolve().parent / "formatted"


def untidy(text):
    """(line number, fault) of blanks and line ends."""
    for n, line in enumerate(text.split("\n"), 1):
        if line.endswith("\r"):
            yield n, "carriage return at the end"
        elif line != line.rstrip():
            yield n, "blank at the end"
        elif re.match(r" +\t", line):
            yield n, "blank before a tab"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end"


def test_blanks():
    found = [f"{name}:{n}: {what}" for name in named(*CODE, ".py", ".sh", ".md", ".scd", "Makefile")
             for n, what in untidy(text_of(name))]
    assert not found, "\n".join(found)


def too_wide(text):
    """(line number, columns)"""
    widths = [len(line.expandtabs(8)) for line in text.split("\n")]
    return [(n, width) for n, width in enumerate(widths, 1) if width > WIDTH]


def test_width():
    wide = [f"{name}:{n}: {width} columns" for name in named(*CODE, ".py") for n, width in too_wide(text_of(name))]
    hold("lines_over_120_columns", len(wide), wide)


def reallocs(text):
    """Line numbers of calls of realloc() and reallocarray()."""
    return [n for n, line in enumerate(text.split("\n"), 1) if re.search(r"\brealloc(array)?\((?!\))", line)]


def test_reallocs():
    found = [f"{name}:{n}" for name in named(".c", ".h") if name.startswith(("user/", "tools/"))
             and name != "user/base/array.c" for n in reallocs(text_of(name))]
    hold("reallocs_outside_array", len(found), found)


def licensed(text):
    return "SPDX-License-Identifier:" in "\n".join(text.split("\n")[:3])


def test_licences():
    bare = [name for name in tracked() if not name.startswith(WITHOUT_LICENCE) and not name.endswith((".svg", ".png"))
            and not licensed(text_of(name))]
    hold("files_without_licence", len(bare), bare)


def rewritten(names):
    """The subset of the files that clang-format would change."""
    asked = subprocess.run(["clang-format", "--dry-run", *names], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(re.findall(r"^(\S+?):\d+:\d+: warning: code should be clang-formatted", asked.stderr, re.M))


def formatter():
    if not shutil.which("clang-format"):
        return None
    said = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"version (\d+)", said)[1]


needs_formatter = pytest.mark.skipif(formatter() != "14", reason="the list is clang-format 14's")


@needs_formatter
def test_clang_format():
    names = FORMATTED.read_text().splitlines()[1:]
    assert len(names) > 100
    gone = [name for name in names if not (ROOT / name).exists()]
    assert not gone, f"no longer there: {gone}"
    with ThreadPoolExecutor() as pool:
        found = set().union(*pool.map(rewritten, [names[i::8] for i in range(8)]))
    assert not found, "clang-format -i " + " ".join(sorted(found))


def test_faults_are_found():
    assert [what for _, what in untidy("a \nb\n \tc\nd\r\ne")] == \
        ["blank at the end", "blank before a tab", "carriage return at the end", "no newline at the end"]
    assert not list(untidy("a\n\tb\n"))
    assert too_wide("x" * 120 + "\n\t" + "x" * 113) == [(2, 121)]
    assert reallocs("/* Like realloc(). */\nnot_realloc(a, 1);\na = realloc(b, 2);\nreallocarray(b, n, 2);\n") == [3, 4]
    assert licensed("/* SPDX-License-Identifier: BSD-2-Clause */\n") and not licensed("int x;\n")


@needs_formatter
def test_faults_of_format_are_found(tmp_path):
    good = ROOT / FORMATTED.read_text().splitlines()[1]
    for name, text in (("good.c", good.read_text()), ("bad.c", good.read_text() + "int  planted ;\n")):
        (tmp_path / name).write_text(text)
    shutil.copy(ROOT / ".clang-format", tmp_path)
    assert rewritten([tmp_path / "good.c", tmp_path / "bad.c"]) == {str(tmp_path / "bad.c")}


def test_a_tree_without_git(tmp_path):
    for name in ("user/a.c", ".git/config", "build/a.o", "tests/__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert [name for name in walked(tmp_path) if (tmp_path / name).is_file()] == ["user/a.c"]
