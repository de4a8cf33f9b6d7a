# SPDX-License-Identifier: BSD-2-Clause
"""profile: CPU time by stack, against programs whose time and call chains are known.

Samples hit functions by chance, but their number is fixed: a busy CPU is sampled HZ times a second. An emulated guest
loses many samples; shares and chains are the same there.
"""

import math
import os
import re
import signal
import subprocess
import time

import pytest

import tally
from tally import GUEST, steady, within

CPU = 1
HZ = 499
MS = 1500 if GUEST else 1000


@pytest.fixture
def profile(tool):
    def start(*args, **kwargs):
        return tool("--json", *args, tool="profile", **kwargs)

    return start


def names(stack):
    return [frame["name"] for frame in stack["frames"]]


def of(report, **key):
    """The stacks whose key has these members."""
    return [s for s in report["stacks"]
            if all(s["key"].get(name) == value for name, value in key.items())]


def value(stacks, name=None):
    """The number of samples, in all or with a frame of that name."""
    return sum(s["value"] for s in stacks if name is None or name in names(s))


def deviation(n, share):
    return math.sqrt(n * share * (1 - share))


def work(load):
    """Lets a trigger do its work. Returns the CPU time it has used in all, in seconds."""
    load.go()
    return sum(load.done()) / 1e6


def work_and_wait(load):
    """work(), and the seconds that the trigger has waited for its CPU."""
    before = tally.books(load.pid).delay_ns
    return work(load), (tally.books(load.pid).delay_ns - before) / 1e9


def check_samples(n, report, used, waited, hz):
    """HZ samples for each second of CPU time. A task alone on a CPU gets all of its samples; on a shared CPU, which
    task a sample hits and whose samples are missed is random."""
    due, part = hz * used, used / (used + waited)
    near = 0.03 * due + 3 + 4 * deviation(due / part, part)
    within(n - near <= due <= n + report["lost"]["missed"] + near, n, used, waited, report["lost"])


# --- shares and totals -----------------------------------------------------------------------------

@pytest.mark.parametrize("scope", ("-p", "-t", "--comm", "-C"))
def test_shares(profile, trigger, scope):
    """70, 20 and 10 % of the time, within four standard deviations."""
    def trial():
        load = trigger("shares", MS, CPU, comm="seventy-twenty")
        what = {"-p": load.pid, "-t": load.pid, "--comm": "seventy-tw*", "-C": CPU}[scope]
        tracer = profile("-F", HZ, scope, what)
        used, waited = work_and_wait(load)
        report = tracer.stop().report
        stacks = of(report, comm="seventy-twenty")
        n = value(stacks)
        functions = [value(stacks, name) for name in ("seventy", "twenty", "ten")]
        if scope in ("-p", "-t"):
            assert len(of(report)) == len(stacks) and n == report["events"]
        if not GUEST:
            check_samples(n, report, used, waited, HZ)
        # Some samples are in the clock's code, which does not show whose loop called it.
        rest = n - sum(functions)
        within(rest <= (0.3 if GUEST else 0.1) * n, n, functions)
        for found, share in zip(functions, (0.7, 0.2, 0.1)):
            within(abs(found - share * n) <= 4 * deviation(n, share) + rest, found, n, functions)

    steady(trial)


@pytest.mark.skipif(bool(GUEST), reason="an emulated CPU is held up all the time")
@pytest.mark.parametrize("hz", (99, 999))
def test_totals(profile, trigger, hz):
    """HZ times the CPU time of the kernel's own accounting."""
    def trial():
        load = trigger("shares", 2000 if hz == 99 else 1000, CPU)
        tracer = profile("-F", hz, "-p", load.pid, "-C", CPU)   # samples that the other CPU misses are not its own
        used, waited = work_and_wait(load)
        report = tracer.stop().report
        check_samples(report["events"], report, used, waited, hz)
        within(report["events"] >= 0.9 * used * hz, used, waited, report["events"], report["lost"])

    steady(trial)


@pytest.mark.exclusive
@pytest.mark.skipif(bool(GUEST), reason="an emulated CPU is held up all the time")
@pytest.mark.parametrize("hz", (99, 999))
def test_totals_with_idle(profile, trigger, hz):
    """HZ times the elapsed time on each CPU, busy or not; without --idle, that number less the samples of the idle
    tasks, within the random error. The tool filters only its own samples and reads no tables here: the two runs do not
    begin at the same moment, and would have different amounts to read."""
    def trial():
        load = trigger("shares", 10_000, CPU)       # longer than both runs, wherever they begin
        load.go()
        tracers = [profile("-F", hz, "-d", 2 if hz == 99 else 1, "--by", "tid", "--call-graph", "fp", *idle)
                   for idle in (("--idle",), ())]
        every, busy = (tracer.wait().report for tracer in tracers)
        tally.end_process(load.process)
        due = hz * os.cpu_count() * every["duration_ns"] / 1e9
        taken, of_busy = (report["events"] + report["filtered"] for report in (every, busy))
        total = taken + every["lost"]["missed"]
        within(abs(total - due) <= 0.03 * due + 2 * os.cpu_count(), total, due, every["lost"])
        asleep = value(of(every, tid=0))
        share = asleep / max(1, taken)
        within(abs(of_busy - (taken - asleep)) <= 5 * deviation(due, share) + 0.03 * due + 3,
               of_busy, taken, asleep)
        assert value(of(busy, tid=0)) == 0, busy

    steady(trial)


def test_one_of_two_equal_loads(profile, trigger):
    loads = [trigger("shares", MS, -1) for _ in range(2)]
    tracer = profile("-F", HZ, "-p", loads[0].pid, "--by", "pid")
    for load in loads:
        load.go()
    for load in loads:
        load.done()
    report = tracer.stop().report
    assert {s["key"]["pid"] for s in report["stacks"]} == {loads[0].pid}, report
    assert report["filtered"] > 0 and value(report["stacks"], "seventy") > 0, report


def test_intervals_are_differences(profile, trigger):
    def trial():
        load = trigger("shares", MS, CPU)
        tracer = profile("-F", HZ, "-p", load.pid, "-I", 100)
        used = work(load)
        reports = tracer.stop().reports
        for report in reports:
            assert value(report["stacks"]) == report["events"], report
        busy = [report["events"] for report in reports if report["events"]]
        # In a guest the first report, which reads the symbols, takes longer than all the work.
        within(len(reports) >= (2 if GUEST else 5) and len(busy) >= (1 if GUEST else 3), busy)
        within(sum(busy) <= 1.05 * used * HZ + 5, used, busy)
        # No interval repeats the samples of the last one. (Those that came while the first report was made belong to
        # the second.)
        within(GUEST or max(busy, default=0) <= 0.6 * sum(busy) or len(busy) < 5, busy)

    steady(trial)


def test_nothing_runs(run):
    """Idle CPUs take no samples and miss none; with --idle they take samples like others."""
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        report = run("--json", "-p", sleeper.pid, "-d", 0.3, tool="profile").report
        assert report["events"] == 0 and report["stacks"] == [], report
        report = run("--json", "-d", 0.5, "--idle", "-F", 199, tool="profile").report
        assert report["events"] >= value(of(report, comm="swapper/0")), report
    finally:
        tally.end_process(sleeper)


# --- stacks ----------------------------------------------------------------------------------------

DEPTH = 20


def chains(load, tracer):
    load.go()
    load.done()
    return tracer.stop().report


def is_whole(stack, depth=DEPTH):
    """From main to bottom and its callees: the clock takes a fifth of bottom's time on some machines."""
    frames = names(stack)
    chain = ["main", "begin", *["down"] * depth, "bottom"]
    return "main" in frames and frames[frames.index("main"):][:len(chain)] == chain and frames[0] != "[incomplete]"


def test_a_deep_chain_is_exact(profile, trigger):
    load = trigger("deep", DEPTH, MS // 3, 0)
    report = chains(load, profile("-F", HZ, "-p", load.pid))
    whole = [s for s in report["stacks"] if is_whole(s)]
    assert value(whole) == value(report["stacks"], "bottom"), report
    assert whole and value(whole) >= 0.8 * value(report["stacks"], "down"), report
    for frame in whole[0]["frames"][-DEPTH - 3:]:
        assert frame["module"] == "deep", whole[0]


# Programs of other tests run in it, too.
KERNEL = {"[kernel]", "bpf"}


def test_kernel_and_user_parts(profile, trigger):
    """read() of /dev/zero: the whole chain; -K and -U have the same samples, each with one part of the chain."""
    found = {}
    for part in (), ("-K",), ("-U",):
        load = trigger("deep", 3, MS // 3, 1)
        report = chains(load, profile("-F", HZ, "-p", load.pid, *part))
        found[part] = report["stacks"]
        assert value(report["stacks"]) == report["events"] > 0
    both = [s for s in found[()] if "[kernel]" in {f["module"] for f in s["frames"]}]
    assert value(both) >= 0.8 * value(found[()]), found[()]
    deepest = max(both, key=lambda s: s["value"])
    modules = [frame["module"] for frame in deepest["frames"]]
    assert names(deepest)[:2].count("main") <= 1 and "down" in names(deepest), deepest
    first = modules.index("[kernel]")
    assert set(modules[first:]) <= KERNEL and not KERNEL & set(modules[:first]), modules
    for stack in found["-K",]:
        assert names(stack) == ["[user mode]"] or \
            {frame["module"] for frame in stack["frames"]} <= KERNEL, stack
    for stack in found["-U",]:
        assert not KERNEL & {frame["module"] for frame in stack["frames"]}, stack
    assert value(found["-U",], "down") >= 0.8 * value(found["-U",]), found["-U",]


def test_max_depth(profile, trigger):
    load = trigger("deep", 50, MS // 3, 0)
    report = chains(load, profile("-F", HZ, "-p", load.pid, "-U", "--max-depth", 10))
    cut = [s for s in report["stacks"] if "down" in names(s)]
    assert cut, report
    for stack in cut:
        assert names(stack) in (["[deeper]", *["down"] * 9, "bottom"],
                                ["[deeper]", *["down"] * 10]) or len(stack["frames"]) <= 11, stack
    assert report["inexact"]["truncated"] >= 0.8 * value(cut), report


def test_deeper_than_the_kernel_walks(run):
    result = run("--max-depth", 5000, tool="profile")
    assert result.code == 2 and "--max-depth" in result.stderr and "5000" in result.stderr, result


def test_a_process_that_has_gone_has_names(profile, trigger):
    """The child works and exits, and is reported a while later."""
    name = tally.own("gone")
    load = trigger("deep", DEPTH, MS // 3, 2, comm=name)
    tracer = profile("-F", HZ, "--comm", name, "--by", "pid")
    load.go()
    load.done()
    load.close()
    time.sleep(0.3)
    report = tracer.stop().report
    stacks = [s for s in report["stacks"] if s["key"]["pid"] != load.pid]
    assert stacks, report
    whole = [s for s in stacks if names(s)[-DEPTH - 2:] == ["begin", *["down"] * DEPTH, "bottom"]]
    assert value(whole) >= 0.7 * value(stacks), stacks


def test_a_command(run):
    path = tally.BUILD / "triggers" / "shares"
    result = subprocess.run(
        [str(tally.BUILD / "profile"), "--format", "folded", "-F", str(HZ), "--", str(path), "300", "-1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
        timeout=tally.PATIENCE)
    lines = [line for line in result.stdout.decode().splitlines() if line.startswith("shares;")]
    assert any(";main;work;seventy " in line for line in lines), result


# --- formats ---------------------------------------------------------------------------------------

FOLDED = re.compile(r"^(\S.*) (\d+)$")


def end_twice(trigger, tool, args):
    """The same load under two tracers: JSON and another form."""
    load = trigger("shares", MS // 2, CPU)
    tracers = [tool("-F", HZ, "-p", load.pid, *form, tool="profile") for form in (("--json",), args)]
    work(load)
    return [tracer.stop() for tracer in tracers]


def test_folded(trigger, tool):
    as_json, folded = end_twice(trigger, tool, ("--format", "folded"))
    total = 0
    for line in folded.text.splitlines():
        match = FOLDED.match(line)
        assert match, line
        total += int(match[2])
    assert abs(total - as_json.report["events"]) <= 0.1 * total + 5, folded


def test_csv(trigger, tool):
    _, csv = end_twice(trigger, tool, ("--csv",))
    head, *lines = csv.text.splitlines()
    assert head == "start_ns,duration_ns,comm,samples,stack", head
    assert any(";main;work;seventy" in line and ",shares," in line for line in lines), lines


def test_tree(trigger, tool):
    _, tree = end_twice(trigger, tool, ())
    assert re.search(r"^ +[\d.]+% +[\d.]+% +\d+ +seventy$", tree.text, re.M), tree
    assert "source: cpu-clock" in tree.text and re.search(r"^events [\d,]+ ", tree.text, re.M), tree


@pytest.mark.parametrize("by, columns", (
    ("comm,sym", {"comm", "sym"}), ("dso,sym", {"dso", "sym"}), ("comm,dso,sym", {"comm", "dso", "sym"}),
))
def test_tables(trigger, run, tool, by, columns):
    load = trigger("shares", MS // 2, CPU)
    tracer = tool("--json", "-F", HZ, "-p", load.pid, "--by", by, tool="profile")
    work(load)
    report = tracer.stop().report
    assert set(report["rows"][0]) == columns | {"percent", "samples"}, report
    assert report["rows"][0]["sym"] == "seventy", report
    assert abs(sum(row["percent"] for row in report["rows"]) - 100) < 0.01, report
    assert sum(row["samples"] for row in report["rows"]) == report["events"], report


def test_flame(trigger, tool, directory):
    load = trigger("shares", MS // 2, CPU, comm=b"<&\"\x1b;]]>\xff")
    path = directory / "cpu.svg"
    tracer = tool("-F", HZ, "-p", load.pid, "--format", "flame", "-o", path, tool="profile")
    work(load)
    result = tracer.stop()
    assert result.code == 0 and not result.stdout, result
    svg = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert svg.startswith("<?xml") and svg.endswith("</svg>\n")
    assert "<title>seventy\n" in svg and "&lt;&amp;&quot;\\x1b;]]&gt;\\xff" in svg, svg[:2000]


@pytest.mark.parametrize("form", ("--json", "--csv", "folded", "tree"))
def test_hostile_names(trigger, tool, form):
    load = trigger("shares", MS // 3, CPU, comm=b"a;b\n\x1b[2J\"\xff")
    form = (form,) if form.startswith("--") else ("--format", form)
    tracer = tool("-F", HZ, "-p", load.pid, *form, tool="profile")
    work(load)
    result = tracer.stop()
    assert b"\x1b" not in result.stdout and "a" in result.text, result
    if form == ("--format", "folded"):
        assert all(line.startswith("a\\x3bb\\x0a\\x1b[2J\"\\xff;") for line in result.text.splitlines())


def test_top(profile, trigger):
    load = trigger("shares", MS // 2, CPU)
    tracer = profile("-F", HZ, "-p", load.pid, "--top", 1)
    work(load)
    report = tracer.stop().report
    assert len(report["stacks"]) == 1 and report["hidden"] >= 2, report
    assert names(report["stacks"][0])[-1] == "seventy", report
    assert report["stacks"][0]["value"] < report["events"], report


def test_no_room_for_stacks(profile, trigger):
    """Samples without room are counted as lost, and the rest stays right."""
    load = trigger("deep", 3, MS // 2, 1)
    tracer = profile("-F", 1999, "-p", load.pid, "--max-keys", 1)
    load.go()
    load.done()
    result = tracer.stop()
    report = result.report
    assert len(report["stacks"]) == 1 and value(report["stacks"]) == report["events"] > 0, report
    assert report["lost"]["map_full"] > 0 and not report["inexact"]["stacks_full"], report


def test_folded_stacks_say_what_is_lost(tool, trigger):
    """The format has no place for losses, so there is a warning."""
    load = trigger("deep", 3, MS // 2, 1)
    tracer = tool("--format", "folded", "-F", 1999, "-p", load.pid, "--max-keys", 1, tool="profile")
    load.go()
    load.done()
    result = tracer.stop()
    (line,) = result.text.splitlines()
    said = re.search(r"warning: lost: (\d+) map_full: no room for new keys; (\d+) events are included", result.stderr)
    assert said and int(said[1]) > 0 and int(said[2]) == int(line.rsplit(" ", 1)[1]), result


# --- the rest --------------------------------------------------------------------------------------

@pytest.mark.parametrize("args, said", (
    (("-F", "0"), "-F"), (("-F", "9x"), "9x"), (("-K", "-U"), "-K"), (("--format", "png"), "flame"),
    (("--by", "module"), "dso"), (("--by", "comm,"), "''"), (("--max-depth", "0"), "--max-depth"),
    (("--format", "flame", "-o", "/nowhere/x", "1", "3"), "one picture"),
    (("--format", "folded", "--by", "sym"), "table"),
))
def test_wrong_usage(run, args, said):
    result = run(*args, tool="profile")
    assert result.code == 2 and said in result.stderr and not result.stdout, result


def test_explain(run):
    result = run("-n", "-F", 49, "--format", "flame", tool="profile")
    assert result.code == 0 and "49 times a second" in result.text, result


def test_killed_it_leaves_nothing(profile):
    tracer = profile("-F", HZ)
    os.kill(tracer.pid, signal.SIGKILL)
    tracer.process.wait(tally.PATIENCE)
