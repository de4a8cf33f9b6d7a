# SPDX-License-Identifier: BSD-2-Clause
"""Heat maps: their rows, columns and lines, compared with reports of the same events; and how they
are drawn on each output."""

import os
import pty
import re
import signal
import struct
import termios
import fcntl
import xml.etree.ElementTree as ET

import pytest

import tally
from tally import Blurred, once, steady, within

SVG = "{http://www.w3.org/2000/svg}"
READS = (300, 16, 7, 4096, 40, 70000)    # pairs: the number of reads, and their size
PREAD = ("syscalls:sys_enter_pread64", "--hist", "count")

SCALE = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "": 1}


def rows_of(text):
    """The rows of each heat map: [[(lowest value, cells, events)]], the highest first."""
    maps, rows = [], None
    for line in text.splitlines():
        if re.fullmatch(r" *\S+(?: \S+)? \+-+\+ events", line):
            maps.append(rows := [])
        elif rows is not None and (m := re.fullmatch(
                r" *([\d.,]+) ?(\w*) \|(.*)\|(?: ([\d,]+))?", line)):
            value = float(m[1].replace(",", "")) * SCALE[m[2]]
            rows.append((value, m[3], int((m[4] or "0").replace(",", ""))))
        elif rows is not None and "count " in line:
            rows = None
    return maps


def figures(text, name):
    return [int(n.replace(",", "")) for n in re.findall(name + r" ([\d,]+)", text)]


def expected(rows, buckets):
    """The expected number of events of each row; a row's printed value has three digits."""
    lowest = sorted(value for value, *_ in rows)
    wanted = dict.fromkeys(lowest, 0)
    for first, _, n in buckets:
        wanted[[v for v in lowest if v * 0.99 <= first][-1]] += n
    return wanted


def check_rows(text, group):
    (rows,) = rows_of(text)
    assert {value: n for value, _, n in rows} == expected(rows, group["buckets"])
    for _, cells, n in rows:
        assert bool(cells.strip()) == bool(n)
    assert len({len(cells) for _, cells, _ in rows}) == 1


def test_two_bands_and_the_rest_of_it(tool, trigger):
    """Each value is in its row and in no other; the same events as in a report of the same run."""
    load = trigger("reads", *READS)
    heat, json = (tool(*PREAD, "-p", load.pid, *args, tool="probe")
                  for args in (("--heat",), ("--json",)))
    load.go()
    load.done()
    text, report = heat.stop().text, json.stop().report
    check_rows(text, report["groups"][0])
    (rows,) = rows_of(text)
    assert sorted(n for _, _, n in rows if n) == sorted(READS[::2])
    assert figures(text, "events") == figures(text, "count") == [sum(READS[::2])]


def test_sleeps_of_two_lengths(tool, trigger):
    """Naps of 1 ms and of 60 ms make two bands. A nap may be longer than requested, never shorter; how
    much longer depends on who else wants the CPU."""

    def trial():
        loads = [trigger("sleepers", 2, n, us, -1) for n, us in ((50, 1000), (5, 60000))]
        heat = tool("--from", "syscalls:sys_enter_clock_nanosleep", "--to",
                    "syscalls:sys_exit_clock_nanosleep", "--match", "tid", "--heat", "-p",
                    ",".join(str(load.pid) for load in loads), tool="probe")
        tally.let_work(loads)
        text = heat.stop().text
        (rows,) = rows_of(text)
        if figures(text, "lost") != [0]:
            raise Blurred
        assert sum(n for *_, n in rows) == 2 * 50 + 2 * 5, text
        assert figures(text, "events") == [110]
        assert not [value for value, _, n in rows if n and value < 0.5e6]
        long = sum(n for value, _, n in rows if value > 30e6)
        assert long >= 10
        within(long == 10, text)

    steady(trial)


def test_live_lines_and_the_picture_behind_them(tool, trigger):
    """Each line is an interval; they add up to the heat map, and that to all events."""
    load = trigger("reads", *READS)
    heat = tool(*PREAD, "-p", load.pid, "--heat", "-I", 50, tool="probe")
    heat.await_lines(2)
    load.go()
    load.done()
    heat.await_lines(2)
    text = heat.stop().text
    lines = re.findall(r"^\d\d:\d\d:\d\d\.\d{3} \|(.*)\| +([\d,]+)", text, re.M)
    assert sum(int(n.replace(",", "")) for _, n in lines) == sum(READS[::2])
    assert all(bool(cells.strip()) == (n != "0") for cells, n in lines)
    assert "share of a line's events" in text
    assert sum(n for *_, n in rows_of(text)[0]) == sum(READS[::2])


def test_json_is_the_reports_of_the_intervals(tool, trigger):
    load = trigger("reads", *READS)
    heat = tool(*PREAD, "-p", load.pid, "--heat", "--json", "-I", 50, tool="probe")
    load.go()
    load.done()
    heat.await_lines(2)
    reports = heat.stop().reports
    assert len(reports) > 1
    assert sum(g["count"] for r in reports for g in r["groups"]) == sum(READS[::2])


@pytest.mark.parametrize("keys", ((), ("--by", "comm")), ids=("one map", "by comm"))
def test_svg(tool, trigger, tmp_path, keys):
    """Well-formed, whatever the names; the titles of cells add up to all events."""
    names = (b"<b>&\"'\x1b[2J", b"</svg>")
    loads = [trigger("reads", *READS, comm=name) for name in names]
    path = tmp_path / "heat.svg"
    heat = tool(*PREAD, "-p", ",".join(str(load.pid) for load in loads), "--heat", *keys, "-o", path,
                tool="probe")
    tally.let_work(loads)
    assert heat.stop().code == 0
    root = ET.fromstring(path.read_bytes())
    titles = [t.text.split("\n") for t in root.findall(f".//{SVG}rect/{SVG}title")]
    assert sum(int(t[2].split()[0].replace(",", "")) for t in titles) == 2 * sum(READS[::2])
    assert len(titles) >= (6 if keys else 3)
    values = {t[0] for t in titles}
    assert {v.split(" - ")[0] for v in values} == {"16", "4,096", "65,536"}
    said = "".join(root.itertext())
    if keys:
        assert "comm <b>&\"'\\x1b[2J: 347 events" in said and "comm </svg>: 347 events" in said
    assert not root.findall(f".//{SVG}b") and not root.findall(f".//{SVG}script")


def test_empty(run):
    result = run(*PREAD, "--comm", "nobody-has-it", "--heat", "-d", "0.3", tool="probe")
    assert result.code == 0 and "no event " in result.text and "|" not in result.text


# --- at a terminal -------------------------------------------------------------------------------

def at_terminal(columns, env):
    """The heat map of runqlat on a terminal of that width."""
    return tally.at_terminal("--heat", "-d", "0.5", "-I", "100", columns=columns, env=env)


@once
def test_terminal():
    text = at_terminal(100, {})
    assert "\x1b[48;5;" in text
    for line in re.sub(r"\x1b\[[\d;]*m", "", text).splitlines():
        assert len(line) <= 100 or line.startswith("events in")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        text = at_terminal(100, env)
        assert "\x1b" not in text
        assert any(c in text for c in "░▒▓█") == ("TERM" not in env)
    assert "\x1b[48;5;" in at_terminal(60, {"NO_COLOR": ""})       # an empty value counts as unset


@once
def test_pipe_has_no_colours(run):
    env = {**os.environ, "LC_ALL": "C", "COLUMNS": "200"}
    result = run("--heat", "-d", "3", "--", "sleep", "0.5", env=env)
    assert result.code == 0 and "\x1b" not in result.text and result.text.isascii()


@once
@pytest.mark.parametrize("args, tool, says", (
    (("--format", "svg"), "filetop", "needs --heat"),
    (("syscalls:sys_enter_pread64", "--heat", "-d", "0.1"), "probe", "--heat needs a distribution"),
    (("--heat",), "list", "--heat"),
    (("-o", "/nowhere.svg"), "filetop", "no picture"),
))
def test_what_has_no_heat_map(run, args, tool, says):
    result = run(*args, tool=tool)
    assert result.code == 2 and says in result.stderr and not result.text


@once
def test_explain_is_not_drawn(run, tmp_path):
    result = run("--heat", "-n")
    assert result.code == 0 and "+--" not in result.text
    assert "heat map  a column each 1.00 s" in result.text


@once
def test_interrupted(tool):
    """SIGTERM also draws the events so far; the interval is a second."""
    heat = tool("--heat")
    assert "a column is 1.00 s" in heat.stop(signal.SIGTERM).text
