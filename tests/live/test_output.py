# SPDX-License-Identifier: BSD-2-Clause
"""Output of the tools: its contents, its destination, and what happens when the other end of a pipe goes away."""

import csv
import io
import os
import re
import signal
import stat
import subprocess
import time

import pytest

import tally
from accounts import exactly, tool_by_the_books, work  # noqa: F401
from tally import by_key, flaws, once, scaled

# --- names of files that say what is in them ---------------------------------------------------------

# Long enough to get a sample for sure.
WORK = "ls > /dev/null; i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"
SVG, PPROF = "<svg", b"\x1f\x8b"
NAMED = (
    ("runqlat", "x.json", '{"tool":"runqlat"'),
    ("runqlat", "x.csv", "start_ns,"),
    ("runqlat", "x.svg", SVG),
    ("runqlat", "x.txt", "runqlat: "),
    ("syscount", "x.json", '{"tool":"syscount"'),
    ("execsnoop", "x.json", '{"'),
    ("profile", "x.svg", SVG),
    ("profile", "x.json", '{"tool":"profile"'),
    ("profile", "x.folded", ";"),
    ("profile", "x.pb.gz", PPROF),
    ("profile", "x.speedscope.json", '{"$schema"'),
    ("stackcount", "x.svg", SVG),
    ("timechart", "x.svg", SVG),
    ("profile", "x.tree", "profile: "),
)
NOT_NAMED = (
    (("runqlat", "--json"), "x.csv", '{"tool":"runqlat"'),
    (("runqlat", "--format", "text"), "x.json", "runqlat: "),
    (("profile", "--format", "tree"), "x.svg", "profile: "),
    (("profile", "--format", "svg"), "x", SVG),
    (("runqlat", "--format", "svg"), "x", SVG),
    (("profile", "--csv"), "x.svg", "start_ns,"),
)


@once
@pytest.mark.parametrize("line, name, begins", (*(((tool,), *rest) for tool, *rest in NAMED), *NOT_NAMED), ids=str)
def test_the_name_says_the_format(run, directory, line, name, begins):
    """The file's name sets the format, unless --format is given."""
    tool, *options = line
    event = ["sched:sched_switch"] if tool == "stackcount" else []
    result = run(*event, *options, "-o", directory / name, "--", "sh", "-c", WORK, tool=tool)
    assert result.code == 0 and not result.text, result
    content = (directory / name).read_bytes()
    if begins == SVG:
        assert b"<svg" in content[:300], content[:300]
    elif begins == ";":
        assert all(re.fullmatch(rb".*;.* \d+", line) for line in content.splitlines()), content[:300]
    else:
        assert content.startswith(begins if begins == PPROF else begins.encode()), content[:300]


@once
@pytest.mark.parametrize("line", (("filetop",), ("execsnoop",), ("lockstat",), ("profile", "--by", "sym"), ("runqlat", "--table")), ids=" ".join)
def test_no_picture_by_its_name(run, directory, line):
    result = run(*line[1:], "-o", directory / "x.svg", tool=line[0])
    assert result.code == 2 and "no picture" in result.stderr and not (directory / "x.svg").exists(), result


@once
@pytest.mark.parametrize("line", (
    ("profile",), ("profile", "-e", "cpu-clock", "-e", "cs"), ("runqlat",), ("timechart",)), ids=" ".join)
def test_a_picture_says_where_and_when(run, directory, line):
    path = directory / "x.svg"
    days = {time.strftime("%Y-%m-%d")}
    assert run(*line[1:], "-d", "0.2", "-o", path, tool=line[0]).code == 0
    days.add(time.strftime("%Y-%m-%d"))
    text = path.read_text()
    where = f"{os.uname().nodename}, kernel {os.uname().release}"
    assert where in text and any(day in text for day in days), text[:2000]


# --- names that mean harm ------------------------------------------------------------------------

# Names that a process may give itself, and their expected form in the output.
HOSTILE = {
    b"\x1b[31mred\x1b[0m": r"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07": r"\x1b]0;title\x07",
    b"\x9b31mC1": r"\x9b31mC1",
    "\u009b31mC1".encode(): r"\xc2\x9b31mC1",
    "\u202eevil\u202c".encode(): r"\xe2\x80\xaeevil\xe2\x80\xac",
    "\u2066isolate".encode(): r"\xe2\x81\xa6isolate",
    "zero\u200bwidth".encode(): r"zero\xe2\x80\x8bwidth",
    "\ufeffbom".encode(): r"\xef\xbb\xbfbom",
    "line\u2028sep".encode(): r"line\xe2\x80\xa8sep",
    b"\xff\xfe\x80": r"\xff\xfe\x80",
    b"cut \xe2\x82": r"cut \xe2\x82",
    b"overlong \xc0\xaf": r"overlong \xc0\xaf",
    b"surr \xed\xa0\x80": r"surr \xed\xa0\x80",
    b"new\nline": r"new\x0aline",
    b"\r\rback\b\b": r"\x0d\x0dback\x08\x08",
    b"tab\tand\x7fdel": r"tab\x09and\x7fdel",
    b'"quotes\'`': '"quotes\'`',
    b"a,b;c|d": "a,b;c|d",
    b'","x":1}]}': '","x":1}]}',
    b"back\\slash": r"back\x5cslash",
    b"\\x1b[31m": r"\x5cx1b[31m",
    b"=1+1": "=1+1",
    b" lead trail ": " lead trail ",
    b"": "",
    b"%s%n%d": "%s%n%d",
    "gr\u00fc\u00df \u4f60\u597d".encode(): "gr\u00fc\u00df \u4f60\u597d",
}

FORMATS = {"json": ("--json",), "text": ("--format", "text"), "csv": ("--csv",),
           "semicolons": ("--csv=;",), "spaces": ("--csv= ",), "backslashes": ("--csv=\\",)}


@pytest.fixture(scope="module")
def hostile():
    """{format: Result} of one load whose threads have all the names, and {tid: name}."""
    load = tally.Trigger("names", 20, *HOSTILE)
    tracers = {name: tally.Tool("-p", load.pid, "--by", "tid,comm", *args)
               for name, args in FORMATS.items()}
    try:
        for tracer in tracers.values():
            tracer.ready()
        work(load)
        results = {name: tracer.stop() for name, tracer in tracers.items()}
    finally:
        for each in (load, *tracers.values()):
            each.close()
    return results, dict(zip(load.numbers, HOSTILE))


@pytest.mark.parametrize("form", FORMATS)
def test_no_byte_steers_a_terminal(hostile, form):
    """Valid UTF-8 without control characters except the newline, and nothing invisible, in every format."""
    result = hostile[0][form]
    assert result.code == 0, result
    text = result.stdout.decode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    assert not re.search("[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)


def test_hostile_names_in_json(hostile):
    results, names = hostile
    groups = by_key(results["json"].report, "tid")
    for tid, name in names.items():
        assert groups[tid]["key"]["comm"] == HOSTILE[name]


@pytest.mark.parametrize("form", ("csv", "semicolons", "spaces", "backslashes"))
def test_hostile_names_in_csv(hostile, form):
    results, names = hostile
    separator = {"csv": ",", "semicolons": ";", "spaces": " ", "backslashes": "\\"}[form]
    rows = csv.DictReader(io.StringIO(results[form].text), delimiter=separator, strict=True)
    found = {int(row["tid"]): row for row in rows}
    for tid, name in names.items():
        assert found[tid]["comm"] == HOSTILE[name]
        assert None not in found[tid] and None not in found[tid].values()
        assert int(found[tid]["count"]) > 0


def test_hostile_names_in_text(hostile):
    results, names = hostile
    lines = results["text"].text.split("\n")
    for tid, name in names.items():
        assert f"tid {tid}  comm {HOSTILE[name]}" in lines


@once
def test_hostile_names_in_diagnostics(run):
    result = run("--pid", b"\x1b[31m\xff\n1")
    assert result.code == 2
    assert r"\x1b[31m\xff\x0a1" in result.stderr
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", result.stderr)


# --- formats -------------------------------------------------------------------------------------

def test_formats_say_the_same(tool, trigger):
    """CSV holds JSON's figures, row by row."""
    load = trigger("sleepers", 3, scaled(50), 100, -1)
    scope = ("-p", load.pid, "--by", "tid", "--sort", "key")
    tracers = [tool(*scope, *form) for form in (("--json",), ("--csv",), ("--format", "csv"))]
    work(load)
    json, *tables = (tracer.stop() for tracer in tracers)
    groups = json.report["groups"]
    for table in tables:
        rows = list(csv.DictReader(io.StringIO(table.text), strict=True))
        assert len(rows) == len(groups)
        for row, group in zip(rows, groups):
            for name in ("count", "sum", "min", "avg", "max", "p50", "p90", "p99", "p999"):
                assert int(row[name]) == group[name]
            assert {name: row[name] for name in group["key"]} == {
                name: str(value) for name, value in group["key"].items()}


def test_csv_has_one_header_however_many_reports(run):
    rows = list(csv.reader(io.StringIO(run("--csv", 0.05, 3).text), strict=True))
    assert rows[0][:2] == ["start_ns", "duration_ns"]
    assert not any("start_ns" in row for row in rows[1:])
    assert len({len(row) for row in rows}) == 1
    assert all(cell.isdigit() for row in rows[1:] for cell in row)


def rows_of(text):
    """The rows of a histogram in a text report: [(from, to, count)]; a single value has no "to"."""
    row = r"^ *([\d.]+ \S+)(?: - ([\d.]+ \S+))? +([\d,]+) +[\d.]+%  \|#*$"
    return re.findall(row, text, re.M)


def test_text(tool, trigger):

    def trial():
        load = trigger("sleepers", 3, scaled(50), 100, -1)
        tracers = [tool("-p", load.pid, *form) for form in ((), ("--json",))]
        w = work(load)
        text, json = (tracer.stop() for tracer in tracers)
        report = json.report
        lines = text.text.splitlines()
        assert lines[0].startswith("runqlat: wait for a CPU during ")
        assert f"kernel {report['kernel']}" in lines[0]
        assert f"source: {report['source']}" in lines
        events = report["events"]
        assert sum(int(n.replace(",", "")) for _, _, n in rows_of(text.text)) == events
        assert re.search(rf"^  count {events:,}  min .*  avg .*  max .*  total .*$", text.text,
                         re.M)
        assert re.search(r"^  p50 .*  p90 .*  p99 .*  p99.9 .*$", text.text, re.M)
        assert re.search(rf"^events {events:,}  filtered [\d,]+  lost ", text.text, re.M)
        assert max(len(line) for line in lines
                   if "source:" not in line and "note:" not in line) <= 100
        w.blurred = any(flaws(report).values())
        assert w.blurred or text.text.endswith("  lost 0\n")
        return w

    exactly(trial)


def test_text_of_nothing(run, trigger):
    load = trigger("sleepers", 1, 1, 1, -1)
    result = run("-p", load.pid, "-d", 0.05)
    assert result.code == 0
    assert not rows_of(result.text)
    assert re.search(r"^events 0  filtered [\d,]+  lost 0$", result.text, re.M)


def test_milliseconds(tool, trigger):
    """-m: every time in ms."""
    load = trigger("spin", 3, 30, 0)
    tracer = tool("-p", load.pid, "-m")
    work(load)
    text = tracer.stop().text
    body = text.split("\n\n", 1)[1].replace("wait for a CPU", "")
    assert rows_of(text)
    assert set(re.findall(r"[\d.]+ (ns|us|ms|s)\b", body)) == {"ms"}


@once
def test_timestamps(run):
    """-T: the time of day before each report."""
    stamp = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  runqlat: wait for a CPU during "
    assert len(re.findall(stamp, run("-T", 0.05, 3).text, re.M)) == 3
    assert not re.findall(stamp, run(0.05, 3).text, re.M)


# --- files ---------------------------------------------------------------------------------------

LINE = r"\d\d:\d\d:\d\d\.\d{6} .*"
MISSING = ("--", "cat", "/nonexistent")
# The lines of these tools are known; those of the others depend on what else happens.
SHOWN = (("execsnoop", *MISSING), ("exitsnoop", *MISSING), ("opensnoop", *MISSING), ("trace", "-e", "openat", *MISSING),
         ("probe", "syscalls:sys_enter_openat", "--stream", *MISSING))
OTHERS = (*((name,) for name in ("biosnoop", "connsnoop", "filelife", "fileslower", "runqslower", "signals", "tcplife",
                                 "tcpretrans")), ("reclaim", "--min", "0"))


@once
@pytest.mark.parametrize("args", (*SHOWN, *((*line, "-d", "0.1") for line in OTHERS)), ids=lambda args: args[0])
def test_a_pipe_gets_lines_and_no_report(run, args):
    """A pipe gets no heading and no figures, which awk, sort and uniq would take for data."""
    name, *options = args
    result = run(*options, tool=name)
    if result.code == 4:
        pytest.skip(f"this kernel cannot: {result.stderr}")
    assert result.code == (1 if args in SHOWN else 0), result
    assert all(re.fullmatch(LINE, line) for line in result.text.splitlines()), result
    assert re.search(rf"^{name}: ", result.stderr, re.MULTILINE), result
    assert re.search(r"^events [\d,]+  ", result.stderr, re.MULTILINE), result
    assert result.text or args not in SHOWN, result


def check_only_lines(result, name):
    assert result.code == 0 and result.text, result
    assert not re.search(r"^(events |source: |\w+: )", result.text, re.MULTILINE), result
    assert re.search(rf"^{name}: .* during ", result.stderr, re.MULTILINE), result
    assert re.search(r"^events [\d,]+  ", result.stderr, re.MULTILINE), result


@once
def test_a_pipe_gets_recorded_lines_and_no_report(run, directory):
    path = directory / "recording"
    assert run("-o", path, "opensnoop", "syscount", *MISSING, tool="record").code == 1
    result = run(path, "opensnoop", tool="show")
    check_only_lines(result, "opensnoop")
    assert all(re.fullmatch(LINE, line) for line in result.text.splitlines()), result
    # Figures are reports.
    result = run(path, "all", tool="show")
    assert "\nsyscount: " in result.text and "opensnoop: " not in result.text, result
    run(path, "opensnoop", "-o", directory / "lines", tool="show")
    assert re.search(r"^events [\d,]+  ", (directory / "lines").read_text(), re.MULTILINE)


@once
@pytest.mark.parametrize("name", ("timehist", "schedmap"))
def test_a_pipe_gets_switches_and_no_report(run, directory, name):
    check_only_lines(run("-d", 0.1, tool=name), name)
    path = directory / "switches"
    assert run("--record", path, "-d", 0.1, tool=name).code == 0
    check_only_lines(run("--read", path, tool=name), name)


@once
def test_a_table_of_switches_is_a_report(run):
    result = run("--summary", "-d", 0.1, tool="timehist")
    assert re.search(r"^events [\d,]+  ", result.text, re.MULTILINE), result


@once
def test_in_a_run_of_several_reports_of_others_stay(run):
    """Lines have a report on standard error; figures are reports."""
    result = run("opensnoop", "syscount", *MISSING, tool="run").of_command(1)
    assert "opensnoop: " in result.stderr and "syscount: " not in result.stderr, result
    assert "opensnoop: " not in result.text and "\nsyscount: " in result.text, result
    result = run("opensnoop --template '{path}'", "execsnoop", *MISSING, tool="run").of_command(1)
    assert all(re.fullmatch(f"/\\S+|{LINE}", line) for line in result.text.splitlines()), result


@once
def test_a_file_of_lines_has_its_report(run, directory):
    """The file is read later, when what was on standard error is gone."""
    result = run("-o", directory / "lines", *MISSING, tool="opensnoop").of_command(1)
    assert "events " not in result.stderr, result
    assert re.search(r"^events [\d,]+  ", (directory / "lines").read_text(), re.MULTILINE)


@once
def test_output_file_is_private(run, directory):
    out = directory / "report"
    mask = os.umask(0)
    try:
        result = run("--json", "-d", 0.05, "-o", out)
    finally:
        os.umask(mask)
    assert result.code == 0 and result.stdout == b"", result
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert tally.Result(0, out.read_bytes(), b"").report["events"] >= 0


@once
def test_output_file_is_made_anew(run, directory):
    """An old file is replaced, not written to: readers that have it open, or another link to it, see no change."""
    out, other = directory / "report", directory / "other name"
    out.write_text("old")
    out.chmod(0o666)
    os.link(out, other)
    assert run("--json", "-d", 0.05, "-o", out).code == 0
    assert other.read_text() == "old"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert tally.Result(0, out.read_bytes(), b"").report["events"] >= 0


def takes_nameless_files(path):
    try:
        os.close(os.open(path, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


@once
@pytest.mark.parametrize("line", (
    ("timechart", "chart.svg"), ("biolatency", "--heat", "heat.svg"), ("runqlat", "x.json"), ("runqlat", "x.html"),
    ("runqlat", "--append", "x.txt"), ("profile", "x.pb.gz"), ("syscount", "--format", "openmetrics", "x"),
    ("run", "x", "runqlat", "biolatency"),
), ids=" ".join)
def test_an_explanation_writes_no_file(run, directory, line):
    """-n says what a run would do. The file of -o is one that it would write."""
    name, *options = line
    lines = [options.pop() for _ in range(2)] if name == "run" else []
    path = directory / options.pop()
    for before in ([], [path]):
        if before:
            path.write_bytes(b"kept")
        result = run("-n", *options, "-o", path, *lines, tool=name)
        assert result.code == 0 and result.stdout and not result.stderr, result
        assert list(directory.iterdir()) == before
    assert path.read_bytes() == b"kept"
    result = run("-n", *options, "-o", directory / "none" / "x", *lines, tool=name)
    assert result.code == 1 and "No such file" in result.stderr, result


@once
def test_nothing_is_left_by_sigkill(tool, directory):
    """An unfinished report has no name, where the file system supports O_TMPFILE."""
    if not takes_nameless_files(directory):
        pytest.skip("no O_TMPFILE here")
    out = directory / "report"
    tracer = tool("--json", "-o", out)
    time.sleep(0.05)        # this test's own waits are in the report
    assert not os.listdir(directory)
    tracer.stop(signal.SIGKILL)
    assert not os.listdir(directory)
    out.write_text("old")
    tracer = tool("--json", "-I", 20, "-o", out)
    tally.wait_until(lambda: out.read_text() != "old", "a report")
    tracer.stop(signal.SIGKILL)
    assert os.listdir(directory) == ["report"]


@once
@pytest.mark.parametrize("target", ("there", "not there"))
def test_output_never_goes_through_a_link(run, directory, target):
    path = directory / target
    if target == "there":
        path.write_text("precious")
    (directory / "link").symlink_to(path)
    result = run("--json", "-d", 0.05, "-o", directory / "link")
    assert result.code == 1 and "not a regular file" in result.stderr, result
    assert (directory / "link").is_symlink()
    assert path.exists() == (target == "there")
    assert target != "there" or path.read_text() == "precious"


@once
@pytest.mark.parametrize("what", ("directory", "fifo", "device", "no directory", "empty"))
def test_output_to_what_is_no_file(run, directory, what):
    path = {"directory": directory / "d", "fifo": directory / "f", "device": "/dev/null",
            "no directory": directory / "none/report", "empty": ""}[what]
    if what == "directory":
        path.mkdir()
    if what == "fifo":
        os.mkfifo(path)
    result = run("-d", 0.05, "-o", path)
    assert result.code == 1, result
    assert result.stdout == b"" and len(result.stderr.splitlines()) == 1, result
    assert result.stderr.startswith("runqlat: -o: ")


# --- the end -------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
                         ids=lambda s: s.name)
@pytest.mark.parametrize("form", ("json", "text"))
def test_signals_ask_for_the_report(tool, how, form):
    tracer = tool("--format", form, "-a")
    time.sleep(0.01)        # this test's own next wait
    result = tracer.stop(how)
    assert result.code == 0 and result.stderr == "", result
    assert result.stdout.endswith(b"\n")
    if form == "json":
        assert result.report["groups"]


def test_signals_while_programs_are_loaded(tool):
    """A signal at any time ends the tool: with a report if it had begun, at once if not."""
    for _ in range(5):
        tracer = tool("--json", "-a", ready=False)
        tracer.process.send_signal(signal.SIGTERM)
        result = tracer.wait()
        assert result.code in (0, -signal.SIGTERM), result
        assert "\n" not in result.text.rstrip("\n")


@pytest.mark.parametrize("form", ("json", "text", "csv"))
def test_a_reader_that_goes_away_is_no_error(tool, form):
    """As in: runqlat 0.05 | head -1"""
    with tally.Pipe() as pipe:
        tracer = tool("--format", form, "-a", 0.05, stdout=pipe.write_end)
        pipe.close_write_end()
        assert pipe.reader.readline()
    result = tracer.wait()
    assert result.code == 0 and result.stderr == "", result


def test_head(directory):
    """The same, through a shell."""
    line = subprocess.run(["sh", "-c", f"{tally.BUILD}/runqlat --json 0.05 | head -n 1"],
                          stdout=subprocess.PIPE, timeout=tally.PATIENCE, check=True).stdout
    assert tally.Result(0, line, b"").report["tool"] == "runqlat"


@once
def test_a_closed_standard_output_is_said(run):
    result = run("--json", "-d", 0.05, preexec_fn=lambda: os.close(1))
    assert result.code == 1, result
    assert "cannot write" in result.stderr


@once
def test_a_full_disk_is_said(tool):
    with open("/dev/full", "wb") as full:
        result = tool("--json", "-d", 0.05, stdout=full).wait()
    assert result.code == 1, result
    assert "No space left on device" in result.stderr


TABLES = ("tcpretrans --count", "dnssnoop --count", "reclaim", "netdrop", "trace --summary -e getpid",
          "probe --count syscalls:sys_enter_getpid")


@pytest.mark.parametrize("line", TABLES)
def test_tables_go_into_pipes(line):
    """A pipe gets lines without reports. A table of a tool that can also print lines is a report, and goes there."""
    name, *args = line.split()
    ran = subprocess.run([tally.BUILD / name, *args, "-d", "0.1"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith(f"{name}: "), ran
