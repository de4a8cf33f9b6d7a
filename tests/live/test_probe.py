# SPDX-License-Identifier: BSD-2-Clause
"""probe, and filters: values of fields against what a trigger has asked for."""

import pytest

from tally import by_key, count, scaled

ENTER, EXIT = "syscalls:sys_enter_pread64", "syscalls:sys_exit_pread64"


def probe(tool, load, event, expr, *args):
    """What probe says of an event of a load: the report, with the load's work between."""
    tracer = tool("--json", "-e", event, "--hist", expr, "-p", load.pid, *args, tool="probe")
    load.go()
    load.done()
    result = tracer.stop()
    assert result.code == 0, result
    return result.report


def values(report):
    """{value: count} of buckets that hold one value each (below 32 they do), or their first."""
    return {first: n for group in report["groups"] for first, _, n in group["buckets"]}


SIZES = (scaled(400), 0, scaled(800), 1, scaled(1600), 7, scaled(240), 31, scaled(80), 512)


def wanted(sizes, keep=lambda size: True):
    return {size: n for n, size in zip(sizes[::2], sizes[1::2]) if keep(size)}


def test_sizes_of_reads(tool, trigger):
    report = probe(tool, trigger("reads", *SIZES), ENTER, "count")
    assert values(report) == wanted(SIZES)
    group, = report["groups"]
    assert group["sum"] == sum(size * n for size, n in wanted(SIZES).items())
    assert (group["min"], group["max"], report["unit"]) == (0, 512, "count")
    assert not any(report["lost"].values())


def test_results_of_reads(tool, trigger):
    """A file of 100 bytes: more are not to be had. A failure is negative: not in the histogram."""
    failed = scaled(240)
    report = probe(tool, trigger("reads", *SIZES, failed, -1), EXIT, "ret")
    got = wanted(SIZES)
    got[100 // 4 * 4] = got.pop(512)       # the bucket of 100 begins there
    assert values(report) == got
    assert report["groups"][0]["max"] == 100
    assert report["lost"].pop("negative") == failed
    assert not any(report["lost"].values())


@pytest.mark.parametrize("filter, keep", (
    ("count == 7", lambda n: n == 7),
    ("count != 7", lambda n: n != 7),
    ("count < 7", lambda n: n < 7),
    ("count >= 7 && count <= 31", lambda n: 7 <= n <= 31),
    ("(count <= 1 || count >= 512) && count != 1", lambda n: n in (0, 512)),
    ("!(count > 1)", lambda n: n <= 1),
    ("count & 0x200", lambda n: n & 512),
    ("(count & 6) == 6", lambda n: n & 6 == 6),
    ("count", lambda n: n),
    ("count >= 0x1f", lambda n: n >= 31),
    ("1K > count && count > 0o7", lambda n: 7 < n < 1024),
    ("count * 2 + 1 == 63", lambda n: n == 31),
    ("count / 2 == 3", lambda n: n // 2 == 3),
    ("comm == \"reads\" && count > 1", lambda n: n > 1),
    ("comm ~ \"r[ae]*s\" && count > 1", lambda n: n > 1),
    ("comm !~ \"*ead*\"", lambda n: False),
    ("pos == 0 && count < 2", lambda n: n < 2),
), ids=lambda v: v if isinstance(v, str) else "")
def test_filters(tool, trigger, filter, keep):
    left = wanted(SIZES, keep)
    report = probe(tool, trigger("reads", *SIZES), ENTER, "count", "--filter", filter)
    assert values(report) == left
    assert report["filtered"] >= sum(SIZES[::2]) - sum(left.values())

    load = trigger("reads", *SIZES)
    tracers = [tool("--json", "-e", ENTER, "--filter", filter, "-p", load.pid, *by, tool="stat")
               for by in ((), ("--by", "pid"))]
    load.go()
    load.done()
    for tracer in tracers:
        rows = tracer.stop().report["rows"]
        assert sum(row["count"] for row in rows) == sum(left.values())


@pytest.mark.parametrize("expr, value", (
    ("count + 1", lambda n: n + 1), ("count * 3 % 8", lambda n: n * 3 % 8),
    ("count >> 1", lambda n: n >> 1), ("count & 3", lambda n: n & 3), ("count > 1", lambda n: n > 1),
    ("7", lambda n: 7), ("(u8)count", lambda n: n & 255),
))
def test_expressions(tool, trigger, expr, value):
    sizes = SIZES[:8]                       # whose values are all exact
    report = probe(tool, trigger("reads", *sizes), ENTER, expr)
    sums = {}
    for size, n in wanted(sizes).items():
        sums[int(value(size))] = sums.get(int(value(size)), 0) + n
    group, = report["groups"]
    assert group["count"] == sum(sums.values())
    assert group["sum"] == sum(v * n for v, n in sums.items())
    assert (group["min"], group["max"]) == (min(sums), max(sums))


def test_keys(tool, trigger):
    loads = [trigger("reads", scaled(160), 7, comm="first"),
             trigger("reads", scaled(320), 9, comm="second")]
    tracer = tool("--json", "-e", ENTER, "--hist", "count", "--by", "comm",
                  "-p", ",".join(str(load.pid) for load in loads), tool="probe")
    for load in loads:
        load.go()
        load.done()
    groups = by_key(tracer.stop().report, "comm")
    assert {comm: (g["count"], g["sum"]) for comm, g in groups.items()} == \
        {"first": (scaled(160), 7 * scaled(160)), "second": (scaled(320), 9 * scaled(320))}


def test_others_still_see_the_event(tool, trigger):
    """A program that says 0 would hide the event from everybody's perf counters."""
    load = trigger("reads", scaled(160), 7)
    common = tool("--json", "-e", EXIT, "--filter", f"common_pid == {load.pid}", tool="stat")
    compiled = tool("--json", "-e", EXIT, "--filter", "ret == 0", "-p", load.pid, tool="stat")
    load.go()
    load.done()
    assert compiled.stop().report["rows"][0]["count"] == 0
    report = common.stop().report
    assert report["rows"][0]["count"] == scaled(160)
    assert report["source"] == "the kernel's counters"


def test_of_a_command(run):
    result = run("--json", "-e", "syscalls:sys_enter_getppid,syscalls:sys_enter_exit_group",
                 "--hist", "7", "--", "true", tool="probe")
    assert count(result.report["groups"]) == 1


@pytest.mark.parametrize("args, code, said", (
    ((), 2, "no event"),
    (("-e", ENTER), 2, "--hist"),
    (("-e", ENTER, "--hist", "coutn"), 2, "did you mean count"),
    (("-e", ENTER, "--hist", "count +"), 2, "missing at the end"),
    (("-e", ENTER, "--hist", "count", "--filter", "count => 1"), 2, "did you mean '>='"),
    (("-e", ENTER, "--hist", "count", "--filter", "zz == 1"), 2, "no field 'zz'"),
    (("-e", "cs", "--hist", "1"), 4, "is no tracepoint"),
    (("-e", "sched:sched_wakeup", "--hist", "pid"), 4, "another task"),
    (("-e", "sched:sched_swich", "--hist", "1"), 1, "sched_switch"),
))
def test_what_cannot_be_is_said(run, args, code, said):
    result = run(*args, tool="probe")
    assert (result.code, result.text) == (code, "")
    assert said in result.stderr


def test_explain(run):
    result = run("-n", "-e", ENTER, "--hist", "count", tool="probe")
    assert result.code == 0 and "on_tracepoint" in result.text
