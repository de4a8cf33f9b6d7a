# SPDX-License-Identifier: BSD-2-Clause
"""triage: each fault made is found, with the figures of the tools that triage runs; whole incidents are in
tests/incidents."""

import itertools
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import tally
from tally import BUILD, once

pytestmark = pytest.mark.exclusive

ROOT = Path(__file__).resolve().parents[2]
# Names of metrics with values, each with one unit, end with these.
UNITS = {"found", "per_second", "bytes_per_second", "cpus", "tasks", "ratio", "seconds"}
LEVELS = ("problem", "notice", "fine", None)


def page(result):
    assert result.code == 0, result
    found, = [json.loads(line) for line in result.text.splitlines()]
    return found


def check_page(found):
    assert set(found) == {
        "tool",
        "kernel",
        "cpus",
        "start_ns",
        "start",
        "duration_ns",
        "top",
        "findings",
        "looked_at",
        "nearest",
        "losses",
        "estimated",
        "absent",
        "cost",
    }, found
    for rule in found["findings"] + found["looked_at"]:
        assert rule["level"] in LEVELS and isinstance(rule["rule"], str), rule
        assert (rule["value"] is None) == (rule["level"] is None) == (rule["duration_ns"] is None), rule
    for rule in found["findings"]:
        limit = rule[rule["level"]]
        assert rule["value"] >= limit and rule["sentence"] and rule["evidence"], rule
        assert "?" not in rule["sentence"] and "{" not in rule["sentence"] + rule["next"], rule
    # A notice comes before a problem only if a problem names the same program: it is the cause.
    for rule, later in itertools.combinations(found["findings"], 2):
        assert LEVELS.index(rule["level"]) <= LEVELS.index(later["level"]) or any(
            each["level"] == "problem" and each["evidence"][0]["row"].get("comm") == rule["evidence"][0]["row"]["comm"]
            for each in found["findings"]), (rule, later)
    assert all(rule["level"] in ("fine", None) for rule in found["looked_at"])
    check_nearest(found)
    check_top(found["top"])
    return {rule["rule"]: rule for rule in found["findings"]}


def check_nearest(found):
    """By their share of the limit: figures of rules that found nothing, and the largest below it of those that did."""
    fine = {rule["rule"]: rule for rule in found["looked_at"]}
    fired = {rule["rule"]: rule for rule in found["findings"]}
    shares = [near["share"] for near in found["nearest"]]
    assert len(shares) <= 3 and shares == sorted(shares, reverse=True), shares
    for near in found["nearest"]:
        rule = fine.get(near["rule"]) or fired[near["rule"]]
        assert near["share"] == pytest.approx(near["value"] / (rule["notice"] or rule["problem"])), (near, rule)
        if near["rule"] in fine:
            assert near["value"] == rule["value"], (near, rule)
        else:
            assert near["value"] < min(each["value"] for each in rule["evidence"]), (near, rule)
        assert 0.05 <= near["share"] < 1 and near["next"] and "{" not in near["next"], near


def check_top(top):
    assert set(top) == {"lines", "figures"}, top
    assert 0 < len(top["lines"]) <= 8 and all(set(line) == {"line", "text"} for line in top["lines"]), top
    for figure in top["figures"]:
        assert set(figure) == {"figure", "tool", "value", "unit", "evidence"}, figure
        assert (figure["value"] is None) == (not figure["evidence"]), figure


def beside(script, *args):
    """The findings of triage while a program works, between the two lines that it prints, its pid, and its last
    line."""
    command = [sys.executable, "-c", script, *map(str, args)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as load:
        load.stdout.readline()
        tracer = tally.Tool("--json", tool="triage")
        try:
            tracer.ready()
            load.stdin.write("\n")
            load.stdin.flush()
            last = load.stdout.readline()
            found = page(tracer.stop())
        finally:
            tracer.close()
            load.stdin.close()
    check_page(found)
    return found, load.pid, last


def look(run, seconds=3):
    return page(run("--json", "-d", str(seconds), tool="triage"))


def test_every_rule_is_looked_at(run):
    found = look(run, 1)
    check_page(found)
    rules = [rule["rule"] for rule in found["findings"] + found["looked_at"]]
    listed = json.loads(run("--rules", "--json", tool="triage").text)["rows"]
    assert sorted(rules) == sorted(row["rule"] for row in listed) and len(set(rules)) == len(rules)
    assert {row["tool"] for row in listed if row["rule"] in
            [r["rule"] for r in found["looked_at"] if r["level"] is None]} <= set(found["absent"])
    if not tally.GUEST:
        assert not found["absent"], found


def test_databases_are_looked_at_where_they_are(run, tool, trigger):
    """Their line costs two programs at each context switch of the machine, so it runs only where there are some."""

    def measurements():
        return int(re.search(r"; (\d+) measurements", run("-d", "0.2", tool="triage").text)[1])

    if any(path.read_text(errors="replace").startswith("postgres") for path in Path("/proc").glob("[0-9]*/comm")):
        pytest.skip("a process is called postgres")
    without = measurements()
    triage = tool("--json", tool="triage")
    trigger("spin", 1, 1, 0, comm="postgres-15")
    result = triage.stop()
    locks, = [rule for rule in page(result)["looked_at"] if rule["rule"] == "database-locks"]
    assert locks["level"] is None and "postgres started after triage" in result.stderr, result
    assert measurements() == without + 1


IN_D = """
import ctypes, os, platform, signal, time
CLONE_VFORK, clone = 0x4000, {"x86_64": 56}.get(platform.machine(), 220)
# As vfork(), but memory is not shared: the parent stands in state D until the child has ended.
for _ in range(40):
    if ctypes.CDLL(None).syscall(clone, CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        time.sleep(0.1)
        os._exit(0)
    os.wait()
"""


def test_symbols_are_read_for_pages_only(tool, tmp_path):
    """Findings have no names of kernel functions, but stacks of a page do. Other triages may run beside this one."""
    def symbols_opened(*args):
        files = tool("--json", "--comm", "triage", tool="opensnoop")
        with subprocess.Popen([sys.executable, "-c", IN_D]) as load:
            triage = tool(*args, "-d", "2", tool="triage", ready=False)
            result = triage.wait()
            load.wait()
        assert result.code == 0
        lines = map(json.loads, files.stop().text.splitlines())
        return any(line["pid"] == triage.pid and line["values"]["path"] == "/proc/kallsyms" for line in lines
                   if "values" in line)

    page_path = tmp_path / "page.html"
    assert symbols_opened("-o", page_path) and "kernel_clone" in page_path.read_text()
    assert not symbols_opened("--json") and not symbols_opened()


def test_its_cost_is_told(run):
    cost = look(run, 1)["cost"]
    assert cost["programs_ns"] > 0 and cost["process_ns"] > 0 and cost["start_ns"] > 0 and cost["map_bytes"] > 0, cost


@once
def test_its_cost_is_estimated_from_slices(run, ends):
    """The kernel's statistics are on for 25 ms of each second, and show as much of a steady load as the whole second
    does. Emulated CPUs do not keep these times."""
    load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stderr=subprocess.DEVNULL)
    ends.callback(load.wait)
    ends.callback(load.kill)

    def trial():
        whole = page(run("--json", "--overhead", "-d", "3", tool="triage"))
        part = look(run)
        measured = part["cost"]["measured_ns"] / part["duration_ns"]
        shares = [each["cost"]["programs_ns"] / each["duration_ns"] for each in (whole, part)]
        assert "measured_ns" not in whole["cost"]
        # Allows a quarter of a slice, and a tenth of a second for the thread that waits for a CPU.
        tally.within(0.02 < measured < 0.125 and 0.5 < shares[1] / shares[0] < 2, measured, shares)

    tally.steady(trial)


def test_crashes(run):
    """An exact number: the kernel counts crashes, without a clock."""
    def crash():
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", "kill -SEGV $$"], os.environ)
        os.waitpid(pid, 0)

    tracer = tally.Tool("--json", tool="triage")
    try:
        tracer.ready()
        for _ in range(7):
            crash()
        found = page(tracer.stop())
    finally:
        tracer.close()
    rule = check_page(found)["crash"]
    assert rule["level"] == "problem", rule
    mine = [each for each in rule["evidence"] if each["row"]["comm"] == "sh" and each["row"]["signal"] == "SIGSEGV"]
    assert sum(each["value"] for each in mine) == 7, rule


KILLER = """
import os, signal, subprocess, sys
open('/proc/self/comm', 'w').write('killer')
children = [subprocess.Popen(['sleep', '60']) for _ in range(5)]
print(flush=True)
sys.stdin.readline()
for child, number in zip(children, [signal.SIGTERM] * 3 + [signal.SIGKILL] * 2):
    child.send_signal(number)
    child.wait()
own = os.fork()
if not own:
    signal.pause()
os.kill(own, signal.SIGTERM)
os.waitpid(own, 0)
print(flush=True)
sys.stdin.readline()
"""


def test_who_ends_others():
    """Each signal counts for its sender, except one to a process of the same name. The ends are no finding."""
    found, pid, _ = beside(KILLER)
    rule = check_page(found)["killed"]
    mine = {each["row"]["signal"]: (each["value"], each["row"]["comm"]) for each in rule["evidence"]
            if each["row"]["sender_pid"] == pid and each["row"]["sender_comm"] == "killer"}
    assert mine == {"SIGTERM": (3, "sleep"), "SIGKILL": (2, "sleep")} and rule["level"] == "notice", rule
    assert re.fullmatch(r"\S+ \(pid \d+\) sends SIG(TERM|KILL) to .*, (once|[\d,]+ times)", rule["sentence"]), rule


def test_refused_connections(run):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    tracer = tally.Tool("--json", tool="triage")
    try:
        tracer.ready()
        for _ in range(12):
            with socket.socket() as s, pytest.raises(ConnectionRefusedError):
                s.connect(("127.0.0.1", port))
        found = page(tracer.stop())
    finally:
        tracer.close()
    rule = check_page(found)["failed-connects"]
    each = next(each for each in rule["evidence"] if each["row"]["remote"] == f"127.0.0.1:{port}")
    assert each["value"] == 12 and each["row"]["error"] == "ECONNREFUSED" and rule["level"] == "problem", rule


SEEKER = """
import os, sys
open('/proc/self/comm', 'w').write('seeker')
print(flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[1])):
    os.path.exists('/nowhere/at/all')
print(flush=True)
sys.stdin.readline()
"""


def test_files_that_are_not_there():
    """The rate is that of exactly these calls, unless it is an estimate; the sentence names the program, and the next
    command."""
    calls = 20000
    found, _, _ = beside(SEEKER, calls)
    rule = check_page(found).get("not-found")
    if tally.GUEST and not rule:
        pytest.skip("an emulated machine was too slow for a rate that is worth a word")
    mine = next(each for each in rule["evidence"] if each["row"]["comm"] == "seeker")
    assert rule["duration_ns"] <= found["duration_ns"]
    told = mine["value"] * rule["duration_ns"] / 1e9
    # The rate of so many calls is estimated from a slice, which the load may outlive.
    if any(each["tool"] == "syscount" for each in found["estimated"]):
        assert calls / 3 < told < 3 * calls, (found["duration_ns"], rule)
    else:
        assert round(told, 3) == calls, (found["duration_ns"], rule)
    assert rule["sentence"].startswith("seeker looks for files"), rule
    called = mine["row"]["syscall"]
    assert rule["next"] == f"trace --failed -e {called} --comm seeker -d 1", rule


@once
def test_a_terminal_that_has_ended():
    """A reader of such a terminal gets EIO, as from a broken disk: worth a notice, and no problem."""
    times = 200
    script = (
        "import contextlib, os, sys\nopen('/proc/self/comm', 'w').write('terminals')\nprint(flush=True)\n"
        f"sys.stdin.readline()\nfor _ in range({times}):\n    ends = os.openpty()\n    os.close(ends[1])\n"
        "    with contextlib.suppress(OSError):\n        os.read(ends[0], 1)\n    os.close(ends[0])\nprint(flush=True)\n"
        "sys.stdin.readline()\n"
    )
    rules = check_page(beside(script)[0])
    mine = {name: each["value"] for name in ("read-error", "io-error") if name in rules
            for each in rules[name]["evidence"] if each["row"]["comm"] == "terminals"}
    assert mine == {"read-error": times} and rules["read-error"]["level"] == "notice", rules


# Grows by a quarter of a megabyte every 50 ms, uses half of a CPU, and prints its CPU time.
UNSUSPECTED = """
import mmap, sys, time
open('/proc/self/comm', 'w').write('unsuspected')
print(flush=True)
sys.stdin.readline()
kept = []
for _ in range(80):
    began = time.process_time()
    end = time.monotonic() + 0.05
    kept.append(mmap.mmap(-1, 1 << 18, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for at in range(0, 1 << 18, mmap.PAGESIZE):
        kept[-1][at] = 1
    while time.process_time() - began < 0.025 and time.monotonic() < end:
        pass
    time.sleep(max(0, end - time.monotonic()))
print(time.process_time(), flush=True)
sys.stdin.readline()
"""


def test_who_has_the_largest_figures():
    """No rule is about a leak of 5 MiB a second or about half of a CPU, but the figures have names."""
    def trial():
        found, pid, used = beside(UNSUSPECTED)
        used = float(used)
        mine = {
            rule["rule"]: each["value"] * found["duration_ns"] / 1e9
            for rule in found["findings"] + found["looked_at"]
            for each in rule.get("evidence", ())
            if each["row"].get("pid") == pid and each["row"]["comm"] == "unsuspected"
        }
        # On a machine with other work, another process may have the largest.
        tally.within(0.8 * (20 << 20) <= mine.get("growth", 0) <= 1.2 * (20 << 20), mine)
        tally.within(0.7 * used <= mine.get("busy", 0) <= 1.1 * used, mine, used)
        figures = {figure["figure"]: figure for figure in found["top"]["figures"]}
        grown = {each["row"]["comm"]: each["value"] for each in figures["growing"]["evidence"]}
        tally.within(grown.get("unsuspected") == mine["growth"] / (found["duration_ns"] / 1e9), grown, mine)
        largest = max(grown, key=grown.get)
        memory = next(line["text"] for line in found["top"]["lines"] if line["line"] == "memory")
        assert f"grows: {largest} " in memory and memory.endswith("/s"), memory

    tally.steady(trial)


SPINNER = """
import sys, time
open('/proc/self/comm', 'w').write('top-spinner')
print(flush=True)
sys.stdin.readline()
end = time.monotonic() + 1
while time.monotonic() < end:
    pass
print(flush=True)
sys.stdin.readline()
"""


def test_the_top_of_everything(run):
    """Eight lines come first: their figures are those of the kernel's files, with the names of programs at work."""
    found, _, _ = beside(SPINNER)
    figures = {figure["figure"]: figure for figure in found["top"]["figures"]}
    lines = {line["line"]: line["text"] for line in found["top"]["lines"]}
    assert list(lines) == ["cpu", "programs", "memory", "pressure", "disks", "network", "files", "errors"], lines
    shares = [figures[name]["value"] for name in ("user", "system", "irq", "steal", "idle")]
    # A count of iowait that went back is unknown.
    assert sum(shares) == pytest.approx(100, abs=3), shares
    programs = {each["row"]["comm"]: each["value"] for each in figures["programs"]["evidence"]}
    assert programs.get("top-spinner", 0) > 0.1 / os.cpu_count() and "top-spinner " in lines["programs"], programs
    memory = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    row = figures["memory"]["evidence"][0]["row"]
    assert row["limit"] == int(memory["MemTotal"].split()[0]) * 1024
    assert figures["memory"]["value"] == pytest.approx(100 * row["value"] / row["limit"])
    for each in figures["space"]["evidence"]:
        s = os.statvfs(each["row"]["object"])
        used = s.f_blocks - s.f_bfree
        assert each["value"] == pytest.approx(100 * used / (used + s.f_bavail), abs=5), each
    text = run("-d", "0.2", tool="triage").text.splitlines()
    assert [line.split()[0] for line in text[1:9]] == list(lines) and not text[9], text


def test_the_top_where_no_rule_fires(run, tmp_path):
    """The top replaces the list of rules, which -v prints. Only vitals are measured: a disk may be full."""
    path = tmp_path / "recording"
    assert run("-o", path, "vitals", "0.1", "2", tool="record").code == 0
    found = page(run(path, "--from", "-10m", "--json", tool="triage"))["findings"]
    text = run(path, "--from", "-10m", tool="triage").text
    assert bool(found) != ("no rule fired; the largest figure of each is above" in text.splitlines()), text
    assert "a notice from" not in text and "wrong" not in text, text
    assert "a notice from" in run(path, "--from", "-10m", "-v", tool="triage").text


@once
def test_where_to_look_if_no_rule_says_so(run, tmp_path):
    """Both pages of a recording have the figures nearest to a limit, and the next command."""
    path = tmp_path / "recording"
    assert run("-o", path, "-d", "1", "schedlat --by pid --totals", "faults --by pid", tool="record").code == 0
    found = page(run(path, "--from", "-10m", "--json", tool="triage"))
    check_page(found)
    lines = run(path, "--from", "-10m", tool="triage").text.splitlines()
    for near in found["nearest"]:
        told = [n for n, line in enumerate(lines) if line.startswith(f"{near['rule']}: ")]
        if any(finding["level"] == "problem" for finding in found["findings"]):
            assert not told, lines
            continue
        share = f"{near['rule']}: {100 * near['share']:.0f} % of the limit of "
        assert len(told) == 1 and lines[told[0]].startswith(share), lines
        assert lines[told[0] + 2] == f"    next: tally {near['next']}", lines


@once
def test_names_stand_beside_figures(run):
    """In text, even if nothing is wrong: the busiest process has a name and a number."""
    ran = run("-d", "1", "-v", tool="triage")
    rows = [line for line in ran.text.splitlines() if re.match(r"(switches|cpu-hog|busy) ", line)]
    assert ran.code == 0 and rows and all(re.search(r" schedlat +\S", row) for row in rows), ran


def test_hostile_names_are_inert(run):
    """A process may have any name: no byte of it reaches the terminal, and the shell sees one word."""
    script = ("import os, signal\n"
              "open('/proc/self/comm', 'wb').write(b'\\x1b[2J;id $(id)\\n')\n"
              "os.kill(os.getpid(), signal.SIGSEGV)\n")
    tracer = tally.Tool(tool="triage")
    try:
        tracer.ready()
        subprocess.run([sys.executable, "-c", script], check=False)
        ran = tracer.stop()
    finally:
        tracer.close()
    assert ran.code == 0 and "[2J;id" in ran.text, ran
    assert all(c == "\n" or c.isprintable() for c in ran.text), ran


@once
def test_next_commands_are_command_lines(run):
    """Suggested commands are valid: -n only parses and loads."""
    text = (ROOT / "tools/machine/triage/rules.c").read_text()
    lines = re.findall(r'\.next = "([^"]+)"', text)
    assert len(lines) >= 20
    values = {"comm": "sh", "pid": str(os.getpid()), "syscall": "read", "cgroup": "/", "signal": "SIGTERM",
              "object": "/"}
    for line in sorted(set(lines)):
        words = line.format(**values).split()
        ran = run(*words[1:], "-n", tool=words[0])
        assert ran.code == 0, (line, ran)


@once
def test_text(run):
    ran = run("-d", "1", "-v", tool="triage")
    assert ran.code == 0 and ran.text.startswith("triage: 1.0 s from "), ran
    assert re.search(r"^fine +largest +a notice from +of +largest of$", ran.text, re.MULTILINE), ran
    assert not re.search(r" $", ran.text, re.MULTILINE), ran
    assert "overhead: programs " in ran.text, ran


@once
def test_intervals_and_tables(run):
    ran = run("--json", "1", "2", tool="triage")
    pages = [json.loads(line) for line in ran.text.splitlines()]
    assert ran.code == 0 and len(pages) == 2, ran
    for each in pages:
        check_page(each)
        assert 0.9e9 < each["duration_ns"], each
    rows = run("--csv", "-d", "1", tool="triage")
    rules = json.loads(run("--rules", "--json", tool="triage").text)["rows"]
    assert rows.code == 0 and len(rows.text.splitlines()) == len(rules) + 1 and not rows.stderr, rows
    metrics = run("--format", "openmetrics", "-d", "1", tool="triage")
    values = [line for line in metrics.text.splitlines() if line.startswith("tally_triage_value_")]
    assert metrics.code == 0 and len(values) == len(rules) and "unit=" not in metrics.text, metrics
    assert {line.split("{")[0].removeprefix("tally_triage_value_") for line in values} <= UNITS, metrics


@once
def test_rules_are_those_of_the_page(run):
    """docs/triage.md lists them with their reasons."""
    text = (ROOT / "docs" / "triage.md").read_text()
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("| `")]
    listed = json.loads(run("--rules", "--json", tool="triage").text)["rows"]
    assert [[f"`{row['rule']}`", row["tool"], row["notice"], row["problem"], row["because"]] for row in listed] == rows


@once
def test_wrong_usage(run):
    ran = run("-p", "1", tool="triage")
    assert ran.code == 2 and not ran.stdout, ran
