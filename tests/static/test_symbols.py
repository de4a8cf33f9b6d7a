# SPDX-License-Identifier: BSD-2-Clause
"""Calls between files, by link symbols (nm): strata, circles, and functions that no file here may call."""
import functools
import os
import re
import shutil
import subprocess
from collections import defaultdict

import pytest

from sources import BUILD, ROOT, hold
from test_architecture import STRATA

OBJECTS = BUILD / "obj"

# Tools never print, and the library prints in user/report only; the others cannot be used safely.
PRINTS = {"printf", "__printf_chk", "puts", "putchar", "stdout", "vprintf", "__vprintf_chk"}
UNSAFE = {"system", "popen", "gets", "strcpy", "strcat", "sprintf", "tmpnam", "mktemp",
          "__sprintf_chk", "__strcpy_chk", "__strcat_chk"}

needs_objects = pytest.mark.skipif(not OBJECTS.exists(), reason=f"there is no {OBJECTS}: make")
needs_nm = pytest.mark.skipif(not shutil.which("nm"), reason="nm is missing: binutils has it")


def read_symbols(text):
    """nm -A: ({symbol: file that defines it}, {file: symbols that it needs})."""
    defined, needed = {}, defaultdict(set)
    for line in text.splitlines():
        path, _, rest = line.partition(":")
        kind, symbol = rest.split()[-2:]
        if kind in "TDBRVWC":
            defined.setdefault(symbol, path)
        elif kind in "Uvw":
            needed[path].add(symbol)
    return defined, needed


def calls(defined, needed):
    """{file: {file that it needs: a symbol}}"""
    found = {path: {} for path in needed}
    for path, symbols in needed.items():
        for symbol in sorted(symbols):
            if symbol in defined and defined[symbol] != path:
                found[path][defined[symbol]] = symbol
    return found


def level(path):
    """The stratum of a file: tools are above all others."""
    top, folder, *_ = path.split("/")
    return len(STRATA) if top == "tools" else STRATA.index(folder)


def upward(graph):
    return [f"{path} needs {symbol} of {other}" for path in graph for other, symbol in graph[path].items()
            if level(other) > level(path)]


def circles(graph):
    """Sets of files that all need each other, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in index:
            visit(node)
    return found


def pairs(found):
    """The number of ordered pairs of files that need each other. It rises when two circles become one."""
    return sum(len(circle) * (len(circle) - 1) for circle in found)


def outdated(root, objects):
    """Sources below root whose object is missing or older: figures would be those of another tree."""
    for path in sorted(path for tree in ("user", "tools") for path in (root / tree).rglob("*.c")):
        made = objects / path.relative_to(root).with_suffix(".o")
        if not made.exists() or made.stat().st_mtime < path.stat().st_mtime:
            yield path.relative_to(root)


@functools.cache
def built():
    old = [str(path) for path in outdated(ROOT, OBJECTS)]
    assert not old, f"make: the objects are missing, or older than {' '.join(old)}"
    sources = [path.relative_to(ROOT) for tree in ("user", "tools") for path in (ROOT / tree).rglob("*.c")]
    paths = sorted(str(path.with_suffix(".o")) for path in sources)
    text = subprocess.run(["nm", "-A", *paths], cwd=OBJECTS, capture_output=True, text=True, check=True).stdout
    return read_symbols(re.sub(r"\.o:", ".c:", text))


@needs_objects
@needs_nm
def test_strata():
    found = upward(calls(*built()))
    hold("upward_calls", len(found), found)


@needs_objects
@needs_nm
def test_circles():
    found = circles(calls(*built()))
    hold("circles", len(found), found)
    hold("files_in_circles", sum(map(len, found)), found)
    hold("pairs_in_circles", pairs(found), found)


@needs_objects
@needs_nm
def test_tools_do_not_print():
    _, needed = built()
    found = [f"{path} needs {symbol}" for path in needed for symbol in needed[path] & PRINTS
             if not path.startswith("user/report/")]
    hold("prints_outside_report", len(found), found)


@needs_objects
@needs_nm
def test_unsafe_functions():
    _, needed = built()
    found = [f"{path} needs {symbol}" for path in needed for symbol in needed[path] & UNSAFE]
    hold("unsafe_functions", len(found), found)


def test_faults_are_found():
    low, high = STRATA[0], STRATA[-1]
    text = f"user/{low}/a.c:0000000000000000 T a\nuser/{low}/a.c:                 U b\n" \
           f"user/{high}/b.c:0000000000000000 T b\nuser/{high}/b.c:                 U a\n" \
           f"user/{high}/b.c:                 U puts\n"
    defined, needed = read_symbols(text)
    graph = calls(defined, needed)
    assert upward(graph) == [f"user/{low}/a.c needs b of user/{high}/b.c"]
    assert circles(graph) == [[f"user/{low}/a.c", f"user/{high}/b.c"]]
    assert needed[f"user/{high}/b.c"] & PRINTS
    apart = {"a": "b", "b": "a", "c": "d", "d": "c"}
    assert pairs(circles(apart)) == 4 and pairs(circles({**apart, "b": "ac", "d": "ca"})) == 12
    del graph[f"user/{low}/a.c"][f"user/{high}/b.c"]
    assert not upward(graph) and not circles(graph)


def test_old_objects_are_found(tmp_path):
    source, made = tmp_path / "user/a.c", tmp_path / "obj/user/a.o"
    for path in source, made:
        path.parent.mkdir(parents=True)
    source.touch()
    assert list(outdated(tmp_path, tmp_path / "obj")) == [source.relative_to(tmp_path)]
    made.touch()
    assert not list(outdated(tmp_path, tmp_path / "obj"))
    os.utime(made, (1, 1))
    assert list(outdated(tmp_path, tmp_path / "obj")) == [source.relative_to(tmp_path)]
