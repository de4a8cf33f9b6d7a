# SPDX-License-Identifier: BSD-2-Clause
"""--lines and --inline: frames by source line, and inlined functions as separate frames. Compared exactly for calls
whose lines are marked in the source; and with addr2line, address by address."""

import csv
import functools
import io
import re
import subprocess

import pytest

from probing import binary
from stackcounting import names, observe, reports_of
from tally import ROOT, needs_dwarf, once, scaled

pytestmark = pytest.mark.exact

N = 7
INLINES = ("-x", binary("inlines"), "leaf", "-U")
SOURCE = (ROOT / "tests/triggers/inlines.c").read_text().splitlines()


def line(mark):
    """The number of the line with that mark."""
    found, = (i for i, text in enumerate(SOURCE, 1) if text.endswith(f"/* line: {mark} */"))
    return found


# --- binutils as oracle ----------------------------------------------------------------------------

def addr2line(path, addresses):
    """{address: ((function, line), ...)}, the innermost first. With DWARF 5 its file names are wrong (2.40)."""
    said = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", path, *map(hex, addresses)], capture_output=True,
                          text=True, check=True).stdout.splitlines()
    found, at = {}, 0
    while at < len(said):
        if re.fullmatch("0x[0-9a-f]{16}", said[at]):
            key = int(said[at], 16)
            found[key] = ()
            at += 1
        else:
            number = re.search(r":(\d+)", said[at + 1])
            found[key] += (said[at], int(number[1]) if number else None),
            at += 2
    return found


def symbols(path):
    said = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, _, name in (each.split() for each in said.splitlines())}


@functools.cache
def line_of_leaf():
    """The line of its first instruction: compilers differ in whether that is the line of its name."""
    path = binary("inlines")
    (_, number), = addr2line(path, [symbols(path)["leaf"]])[symbols(path)["leaf"]]
    return number


# --- exactly ---------------------------------------------------------------------------------------

def parts(stack):
    """(name, whether it is inlined, line) of the frames from main() on."""
    found = [(f["name"], f.get("inlined", False), f.get("line")) for f in stack["frames"]]
    return tuple(found[names(stack).index("main"):])


def expected(lines, inlined):
    """{frames: value} of N runs."""
    calls = (("outer", "by middle"), ("middle", "middle"), ("inner", "inner")), (
        ("outer", "by inner"),
        ("inner", "inner"),
    )
    found = {}
    for call in calls:
        frames = [("main", False, line("main")), ("work", False, line("work"))]
        for name, mark in call:
            mark = f"outer {mark}" if name == "outer" else mark
            if name == "outer" or inlined:
                frames.append((name, name != "outer", line(mark)))
        frames.append(("leaf", False, line_of_leaf()))
        key = tuple(frame if lines else (*frame[:2], None) for frame in frames)
        found[key] = found.get(key, 0) + N
    return found


@needs_dwarf
def test_exact_frames(ends, trigger):
    """With both options, with one, and with none: which stacks are separate, which are merged, and where they are."""
    ways = [(lines, inlined) for lines in (True, False) for inlined in (True, False)]
    reports = reports_of(observe(ends, trigger("inlines", N), [
        (*INLINES, *["--lines"] * lines, *["--inline"] * inlined) for lines, inlined in ways]))
    for way, report in zip(ways, reports):
        found = {}
        for stack in report["stacks"]:
            found[parts(stack)] = found.get(parts(stack), 0) + stack["value"]
            for frame in stack["frames"]:
                if frame["module"] == "inlines" and frame["name"] != "_start":   # _start is not C
                    assert ("file" in frame) == ("line" in frame) == way[0], frame
                    # None of these lines is in trigger.h.
                    assert frame.get("file", "/inlines.c").endswith("/inlines.c"), frame
                    assert frame.get("file", "/")[0] == "/", frame
        assert found == expected(*way), (way, report)
        assert len(report["stacks"]) == len(found), report


# --- formats ---------------------------------------------------------------------------------------

@needs_dwarf
@once
def test_formats(ends, trigger):
    """As text, folded (in flamegraph.pl's format), as a picture, as CSV, and as a table."""
    forms = ((), ("--format", "folded"), ("--format", "flame"), ("--csv",), ("--callee",), ("--by", "sym"))
    outer, inner = (f"inlines.c:{line(mark)}" for mark in ("outer by inner", "inner"))
    leaf = f"inlines.c:{line_of_leaf()}"
    tree, folded, svg, table, callee, rows = (r.text for r in observe(ends, trigger("inlines", N), [
        (*INLINES, "--lines", "--inline", *form) for form in forms], form=()))
    assert re.search(rf" {N} +outer {outer}\n +inner {inner} \(inlined\)\n", tree), tree
    ends_in = f"outer {outer};inner {inner}_[i];leaf {leaf} {N}"
    assert sum(each.endswith(ends_in) for each in folded.splitlines()) == 1, folded
    assert re.search(rf'<g class="i\d"><title>inner {inner} \(inlined\)\n{N} events, 50.00%', svg), svg[:4000]
    assert re.search(rf'<g class="u\d"><title>outer {outer}\n', svg), svg[:4000]
    assert any(each["stack"].endswith(ends_in.rpartition(" ")[0]) and int(each["events"]) == N
               for each in csv.DictReader(io.StringIO(table))), table
    assert re.search(rf"leaf {leaf}[^\n]*\n[^\n]* inner {inner} \(inlined\)\n", callee), callee
    assert re.search(rf"100\.0 +{2 * N} +leaf +{leaf}\n", rows), rows


@needs_dwarf
@once
def test_by_frames(ends, trigger):
    """--frames can select by inlined functions."""
    with_it, without = reports_of(observe(ends, trigger("inlines", N), [
        (*INLINES, "--inline", "--frames", "^middle$"), (*INLINES, "--frames", "^middle$")]))
    assert with_it["events"] == with_it["left_out"] == N, with_it
    assert without["events"] == 0 and without["left_out"] == 2 * N, without


# --- other tools, and files without debug information ----------------------------------------------

@needs_dwarf
def test_like_addr2line(tool, trigger):
    """Every sampled address has all functions that are inlined there."""
    load = trigger("inlines", scaled(100_000_000))
    tracer = tool("--json", "-U", "--lines", "--inline", "-F", 999, "-p", load.pid, tool="profile")
    load.go()
    load.done()
    report = tracer.stop().report
    start, groups = symbols(binary("inlines")), {}
    for stack in report["stacks"]:
        frames = stack["frames"]
        for i, frame in enumerate(frames):
            if frame.get("inlined") or frame["module"] != "inlines" or frame["offset"] is None:
                continue
            more = frames[i + 1:]
            behind = next((k for k, f in enumerate(more) if not f.get("inlined")), len(more))
            # The address of a caller is its return address.
            address = start[frame["name"]] + frame["offset"] - (behind < len(more))
            groups[address] = tuple((f["name"], f.get("line")) for f in reversed(frames[i:i + 1 + behind]))
    assert any(len(group) > 1 for group in groups.values()), report
    assert groups == addr2line(binary("inlines"), groups)


@needs_dwarf
@pytest.mark.parametrize("strip, said", (((), False), (("-g",), True)))
def test_no_debug_information(ends, trigger, tmp_path, strip, said):
    """The note says it once, and the rest is as without the options. Files that have it are not named."""
    path = tmp_path / "program"
    subprocess.run(["objcopy", *strip, binary("inlines"), path], check=True)
    report, = reports_of(observe(ends, trigger(path, N), [("-x", path, "leaf", "-U", "--lines", "--inline")]))
    assert ("program" in report.get("note", "")) == said, report
    assert not said or report["note"].startswith("without debug information: "), report
    found = {parts(stack): stack["value"] for stack in report["stacks"]}
    if said:
        assert found == {tuple((name, False, None) for name in ("main", "work", "outer", "leaf")): 2 * N}, report
    else:
        assert found == expected(True, True), report


@once
@pytest.mark.parametrize("name", ("profile", "offcputime", "stackcount", "wakeuptime", "offwaketime", "migrations"))
def test_all_stack_tools_have_them(run, name):
    result = run("--help", tool=name)
    assert result.code == 0 and "--lines" in result.text and "--inline" in result.text, result


@once
def test_wrong_usage(run):
    result = run("--lines", "-d", 0.1, tool="migrations")
    assert result.code == 2 and "-g" in result.stderr, result
