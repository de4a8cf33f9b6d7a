# SPDX-License-Identifier: BSD-2-Clause
"""Output on a terminal: nothing is wider than the screen, figures are short, and omissions are named."""

import os
import re

import pytest

import tally
from tally import once, without_styles

pytestmark = once

# A table with many columns, one with paths, histograms, trees, long notes.
TOOLS = (
    ("syscount", "--latency"),
    ("filetop",),
    ("schedlat",),
    ("faults",),
    ("runqlat", "--by", "comm", "--top", "2"),
    ("profile",),
    ("offcputime",),
    ("cachestat", "--by", "comm"),
    ("softirqs",),
    ("fsdist", "--top", "1"),
)


@pytest.mark.parametrize("columns", (80, 120, 200))
@pytest.mark.parametrize("line", TOOLS, ids=" ".join)
def test_nothing_is_wider_than_the_terminal(line, columns):
    tool, *options = line
    text = tally.at_terminal(*options, "-d", 0.3, columns=columns, rows=24, tool=tool)
    lines = without_styles(text).splitlines()
    assert lines[0].startswith(f"{tool}: ") and "source: " not in text and "kernel" not in lines[0]
    assert "\x1b[1m" in text, "headings stand out"
    assert not [each for each in lines if len(each) > columns], text


def test_details_are_for_who_asks():
    """One line has the subject of the measurement; the kernel and the source are for -v, and for pipes."""
    brief, full = (
        without_styles(tally.at_terminal(*more, "-d", 0.2, columns=80, tool="syscount")) for more in ((), ("-v",))
    )
    assert re.match(r"syscount: .* during \S+ ms, \d+ CPUs\n\n", brief), brief
    assert f", kernel {os.uname().release}" in re.sub(r"\n  ", " ", full) and "source: tp_btf/sys_exit" in full, full


@pytest.mark.parametrize("line, said", (
    (("stackcount", "-c", 3, "sched:sched_switch"), "one of every 3 on a CPU"),
    (("profile", "-e", "page-faults", "-c", 10), "one sample per 10 events on each CPU"),
    (("profile", "-e", "cs/period=1/,page-faults/period=7/"), "one sample per 7 events on each CPU"),
    (("profile", "-e", "cs", "-c", 1), None), (("stackcount", "sched:sched_switch"), None),
), ids=str)
def test_estimates_are_told_to_everybody(line, said):
    tool, *options = line
    text = " ".join(without_styles(tally.at_terminal(*map(str, options), "-d", 0.2, columns=80, tool=tool)).split())
    assert said in text if said else "source: " not in text, text


@pytest.mark.parametrize("env", ({"NO_COLOR": "1"}, {"TERM": "dumb"}), ids=str)
def test_no_colours(env):
    assert "\x1b" not in tally.at_terminal("-d", 0.2, tool="syscount", env=env)


def test_a_pipe_gets_all(run):
    """Names as in JSON, all columns, all digits, no styles, whatever COLUMNS is."""
    result = run("--", "wc", __file__, tool="filetop", env={**os.environ, "COLUMNS": "40"})
    assert "\x1b" not in result.text and "not shown:" not in result.text
    (heading,) = [line for line in result.text.splitlines() if line.startswith("dev ")]
    assert heading.split() == [
        "dev",
        "inode",
        "reads",
        "writes",
        "read_bytes",
        "write_bytes",
        "read_time",
        "write_time",
        "failed",
        "path",
    ]


# A connection, processes, an argument list and a file name longer than any line, a missing file.
LOAD = """
import os, socket, subprocess
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
other, _ = listener.accept()
client.close(), other.close()
subprocess.run(["true", *["argument"] * 40])
for name in ("/etc/passwd", "/nowhere/" + "n" * 250):
    try:
        open(name).close()
    except OSError:
        pass
"""


@pytest.mark.parametrize("columns", (80, 120, 200))
@pytest.mark.parametrize("tool", ("execsnoop", "opensnoop", "exitsnoop", "signals", "connsnoop", "tcplife"))
def test_streams_have_columns(run, tool, columns):
    """As many lines with a time as there were events, below headings, with all the data that a pipe gets."""
    text = without_styles(tally.at_terminal("--", "/usr/bin/python3", "-c", LOAD, columns=columns, rows=24, tool=tool))
    stream, _, report = text.partition(f"{tool}: ")
    lines = stream.splitlines()
    assert re.match("time +comm +tid( +cpu)? ", lines[0]) and not [each for each in lines if len(each) > columns], text
    (events,) = re.findall(r"^events ([\d,]+)", report, re.M)
    assert len([each for each in lines if re.match(r"[\d:]{8}\.\d{3}", each)]) == int(events.replace(",", "")) > 0, text
    if tool == "opensnoop":
        assert "n" * 250 in re.sub(r"\s", "", stream)
    if tool == "execsnoop":
        assert "argument" * 40 in re.sub(r"\s", "", stream)


@pytest.mark.parametrize("columns", (80, 120, 200))
def test_streams_of_a_run_have_columns(columns):
    """As many lines as there were events of each tool, below its own heading; a table of the same run is no wider."""
    lines = ("execsnoop", "opensnoop", "exitsnoop", "filetop")
    text = without_styles(
        tally.at_terminal(*lines, "--", "/usr/bin/python3", "-c", LOAD, columns=columns, rows=24, tool="run")
    )
    stream, _, report = text.partition("execsnoop: ")
    assert not [each for each in text.splitlines() if len(each) > columns], text
    assert "n" * 250 in re.sub(r"\s", "", stream) and "argument" * 40 in re.sub(r"\s", "", stream)
    shown = re.findall(r"^(\w+ +)?[\d:]{8}\.\d{3}", stream, re.M)
    first = {"": stream.count("\n") and sum(not name for name in shown)}
    for tool in lines[:3]:
        (events,) = re.findall(rf"^{tool}: .*?^events ([\d,]+)", text, re.M | re.S)
        named = sum(name.strip() == tool for name in shown)
        first[tool] = int(events.replace(",", "")) - named
        assert re.search(rf"^{tool} +time +comm +tid ", stream, re.M) or not named, text
    # Lines before those of a second tool need no name: all are of the first.
    assert (
        sorted(first.values())[:2] == [0, 0] and sorted(first.values())[2] == sorted(first.values())[3] == first[""]
    ), text


def test_a_stream_beside_reports():
    """A single stream has no names of tools; a heading follows each report."""
    text = without_styles(
        tally.at_terminal(
            "execsnoop", "runqlat", 0.2, "--", "sh", "-c", "for i in 1 2 3 4 5; do sleep 0.2; done", tool="run"
        )
    )
    assert not re.search(r"^execsnoop +[\d:]{8}", text, re.M)
    for part in re.split(r"^(?=\w+: .* during )", text, flags=re.M):
        events = re.search(r"^[\d:]{8}\.\d{3}", part, re.M)
        assert not events or re.search(r"^time +comm", part[:events.start()], re.M), part


# Six programs that sleep, wait for a CPU afterwards, and make system calls: more keys than the number of histograms
# shown.
MANY = (
    "sh",
    "-c",
    "d=$(mktemp -d); for n in one two three four five six; do ln -s /bin/sleep $d/$n; $d/$n .001; done; rm -r $d",
)
HISTOGRAMS = (("runqlat",), ("cpudist",), ("fsdist",), ("probe", "syscalls:sys_enter_read", "--hist", "count"))


@pytest.mark.parametrize("columns", (80, 120, 200))
@pytest.mark.parametrize("line", HISTOGRAMS, ids=" ".join)
def test_many_keys_are_a_table(line, columns):
    """Counts, averages and the tail fit at each width; the line below says how to get histograms."""
    tool, *options = line
    text = without_styles(tally.at_terminal(*options, "--by", "comm", "--", *MANY, columns=columns, tool=tool))
    lines = text.splitlines()
    assert not [each for each in lines if len(each) > columns], text
    (titles,) = [at for at, each in enumerate(lines) if " count  " in each]
    heading = lines[titles].split()
    assert (
        heading[heading.index("count") :] == ["count", "total", "avg", "p50", "p90", "p99", "max"] or columns == 80
    ), text
    assert {"count", "avg", "p99", "max"} <= set(heading) and "share" not in text, text
    end = lines[titles].index(" count  ") + len(" count")
    rows = lines[
        titles + 1 : next(at for at, each in enumerate(lines) if "shows histograms" in each or "not shown" in each)
    ]
    counts = [int(row[:end].split()[-1].replace(",", "")) for row in rows]
    (events,) = re.findall(r"^events ([\d,]+)", text, re.M)
    assert len(rows) > 5 and rows[-1].startswith("total "), text
    assert sum(counts[:-1]) == counts[-1] == int(events.replace(",", "")), text
    assert ("--no-table" if tool == "probe" else "--hist") + " shows histograms" in text


@pytest.mark.parametrize("line", HISTOGRAMS, ids=" ".join)
def test_histograms_of_many_keys(run, line):
    """They are shown on request, with --top if few are left, and in a pipe, where a table is shown on request."""
    tool, *options = line
    histograms = "--no-table" if tool == "probe" else "--hist"
    for more in ((histograms,), ("--top", 4)):
        text = without_styles(tally.at_terminal(*options, "--by", "comm", *more, "--", *MANY, tool=tool))
        assert text.count(" share\n") > 3 and "shows histograms" not in text, text
    text = run(*options, "--by", "comm", "--", *MANY, tool=tool).text
    assert text.count(" share\n") > 5 and "p90  " not in text.split("\n\n")[0]
    table = run(*options, "--by", "comm", "--table", "--", *MANY, tool=tool).text
    assert " share\n" not in table and re.search(
        r"^(op +)?comm .*count +total +avg +p50 +p90 +p99 +max$", table, re.M
    ), table


def test_two_forms_are_refused(run):
    for tool, args, said in (("runqlat", ("--hist",), "--table and --hist cannot be combined"),
                             ("runqlat", ("--heat",), "--heat and --table cannot be combined"),
                             ("probe", ("sched:sched_switch", "--hist", "prev_pid", "--no-table"),
                              "--table and --no-table cannot be combined"),
                             ("probe", ("sched:sched_switch", "--hist", "prev_pid", "--pow", "10"),
                              "--table needs percentiles, and --pow has none"),
                             ("probe", ("sched:sched_switch", "--stream"), "single events"),
                             ("netlat", ("--napi",), "--napi cannot be combined with --table, "),
                             ("lockstat", ("-g",), "-g cannot be combined with --hist, --table or --sort")):
        result = run("--table", *args, tool=tool)
        assert result.code == 2 and said in result.stderr and not result.stdout, result


def test_rows_end_with_the_terminal():
    """There is always a total, and the number of rows not shown; --top N shows N rows."""
    def rows(text):
        return [
            line for line in without_styles(text).splitlines() if re.match(r"[a-z_0-9]+ +[\d,]+ +[\d,]+( |$)", line)
        ]

    command = ("--", "sh", "-c", "exec > /dev/null; ls -l / | sort; date; id")
    text = tally.at_terminal(*command, rows=20, tool="syscount")
    (hidden,) = re.findall(r"not shown: (\d+) rows \(--top N\)", without_styles(text))
    assert len(rows(text)) == 11 and rows(text)[-1].startswith("total"), text
    text = tally.at_terminal("--top", 12, *command, rows=20, tool="syscount")
    assert len(rows(text)) == 12 + 1 and rows(text)[-1].startswith("total"), text
    assert int(hidden) > 0
    text = tally.at_terminal("syscount --top 12", "schedlat", *command, rows=20, tool="run")
    assert len(rows(text.split("schedlat: ")[0])) == 12 + 1, text


@pytest.mark.parametrize("line", (("timehist",), ("triage",)), ids=" ".join)
def test_lines_that_tools_write_themselves_fit(line):
    """Only where names are short: a task's name is never cut."""
    tool, *options = line
    lines = without_styles(tally.at_terminal(*options, "-d", 0.2, columns=80, rows=24, tool=tool)).splitlines()
    wide = [each for each in lines if len(each) > 80 and not re.search(r"[^ ]\[\d+(/\d+)?\]", each)]
    assert len(lines) > 5 and not wide, wide
