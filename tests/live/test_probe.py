# SPDX-License-Identifier: BSD-2-Clause
"""probe on tracepoints: values, filters, keys and sums against the calls of a trigger."""

import csv
import json
import os
import re

import pytest

import cgroups
from probing import (Probe, alike, counts_by, few, measure, measure_each, nothing_lost, report_of,
                     rows_by, stream, stream_of, told)
from snooping import PREEMPTIBLE, exact
from tally import KERNEL, NOBODY, Blurred, by_key, count, scaled

ENTER, EXIT = "syscalls:sys_enter_pread64", "syscalls:sys_exit_pread64"
SIZES = (scaled(400), 0, scaled(800), 1, scaled(1600), 7, scaled(240), 31, scaled(80), 512)
PREAD = 17


def values(report):
    """{value: count} of buckets that hold one value each (those below 32 do), else of their first values."""
    return {first: n for group in report["groups"] for first, _, n in group["buckets"]}


def wanted(sizes, keep=lambda size: True):
    return {size: n for n, size in zip(sizes[::2], sizes[1::2]) if keep(size)}


def only_row(report):
    row, = report["rows"]
    return row


# --- what is kept of an event --------------------------------------------------------------------

def test_sizes_of_reads(tool, trigger):
    report = measure(tool, trigger("reads", *SIZES), ENTER, "--hist", "count")
    assert values(report) == wanted(SIZES)
    group, = report["groups"]
    assert group["sum"] == sum(size * n for size, n in wanted(SIZES).items())
    assert (group["min"], group["max"], report["unit"]) == (0, 512, "count")
    assert nothing_lost(report)


def test_results_of_reads(tool, trigger):
    """The file has 100 bytes, and no read returns more. Failures are negative: the histogram leaves them out."""
    failed = scaled(240)
    report = measure(tool, trigger("reads", *SIZES, failed, -1), EXIT, "--hist", "ret")
    got = wanted(SIZES)
    got[100 // 4 * 4] = got.pop(512)       # the bucket of 100 begins there
    assert values(report) == got
    assert (report["groups"][0]["min"], report["groups"][0]["max"]) == (0, 100)
    assert report["lost"].pop("negative") == failed
    assert nothing_lost(report)


@pytest.mark.parametrize("form", few((("-e", ENTER), (ENTER,), (ENTER, "--count"), ("N=" + ENTER,))))
def test_counts(tool, trigger, form):
    report = measure(tool, trigger("reads", *SIZES), *form)
    name = "N" if form[0].startswith("N=") else ENTER
    assert report["rows"] == [{"event": name, "count": sum(SIZES[::2])}]
    assert nothing_lost(report)


def test_names_of_errors(tool, trigger):
    """EBADF for a file that is not open; a result that is no error stays a number, with the width of the result."""
    report = measure(tool, trigger("reads", 3, 7, 2, -1), EXIT, "--by", "ret:errno")
    assert counts_by(report, "ret") == {"7": 3, "EBADF": 2} and nothing_lost(report)
    got, report = stream(tool, trigger("reads", 1, -1), f"{EXIT} ret:errno low=((u32)ret):errno large=(ret*1000):errno",
                         "--filter", "ret:errno == -9")
    assert got == [{"ret": "EBADF", "low": "EBADF", "large": "-9000"}] and nothing_lost(report)


def test_sums_with_negative_values(tool, trigger):
    failed = scaled(240)
    report = measure(tool, trigger("reads", *SIZES, failed, -1), EXIT, "--sum", "ret", "--avg",
                     "ret", "--min", "ret", "--max", "ret")
    results = [min(size, 100) for n, size in zip(SIZES[::2], SIZES[1::2]) for _ in range(n)]
    results += [-9] * failed                # EBADF
    row = only_row(report)
    assert (row["count"], row["sum"], row["min"], row["max"]) == \
        (len(results), sum(results), -9, 100)
    assert row["avg"] == pytest.approx(sum(results) / len(results))
    assert nothing_lost(report)


@alike
def test_all_negative(tool, trigger):
    n = scaled(80)
    row = only_row(measure(tool, trigger("reads", n, -1), EXIT, "--max", "ret", "--sum", "ret"))
    assert (row["max"], row["sum"], row["count"]) == (-9, -9 * n, n)


def text_of(tool, load, *args):
    tracer = tool(EXIT, *args, "-p", load.pid, tool="probe")
    load.go()
    load.done()
    return tracer.stop().text


@alike
@pytest.mark.parametrize("value", (2 ** 64 - 9, -(2 ** 63 - 9)))
def test_text_has_all_digits_of_large_sums(tool, trigger, value):
    n = scaled(80)
    text = text_of(tool, trigger("reads", n, 5), "--sum", str(value), "--avg", str(value))
    row, = (line.split() for line in text.splitlines() if line.startswith(EXIT))
    assert row[1:] == [f"{n}", f"{n * value:,}", f"{value}.00"], text


@alike
@pytest.mark.parametrize("value, options", (
    (2 ** 63 - 9, ("--hist", str(2 ** 63 - 9))),
    (-(2 ** 63 - 9), ("--hist", f"0-{2 ** 63 - 9}", "--buckets", "1")),
))
def test_text_has_all_digits_of_large_averages(tool, trigger, value, options):
    n = scaled(80)
    text = text_of(tool, trigger("reads", n, 5), *options)
    assert f"  avg {value}.00  " in text and f"  total {n * value:,}\n" in text, text


def test_csv_has_all_digits_of_large_sums(tool, trigger):
    n = scaled(80)
    text = text_of(tool, trigger("reads", n, 5), "--csv", "--sum", str(2 ** 64 - 9))
    row, = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    assert int(row["sum"]) == n * (2 ** 64 - 9)


BOUNDS = (
    # On a bound, below the first, above the last.
    (("--lhist", "0:10:5"), {(None, -1): -1, (0, 4): 0, (5, 9): 5, (10, None): 10}),
    (("--lhist", "-10:1:10"), {(-10, -1): -9, (0, 0): 0, (1, None): 1}),
    (("--buckets", "1 7 31"), {(None, 0): 0, (1, 6): 1, (7, 30): 7, (31, None): 31}),
    (("--buckets", "-8,1K"), {(None, -9): -9, (-8, 1023): 1}),
    (("--buckets", "100"), {(None, 99): 99, (100, None): 100}),
    (("--pow", "2"), {(None, -1): -9, (0, 0): 0, (1, 1): 1, (2, 3): 3, (4, 7): 4, (64, 127): 64}),
    (("--pow", "10"), {(1, 9): 9, (10, 99): 10, (100, 999): 100}),
)


@pytest.mark.parametrize("option, buckets", few(BOUNDS))
def test_bounds(tool, trigger, option, buckets):
    """Each bucket's value occurs as many times as the bucket's number in the row."""
    sizes, results = [], {}
    for i, (bucket, value) in enumerate(buckets.items(), 1):
        sizes += [i, -1 if value < 0 else value]
        results[bucket] = (i, -9 if value < 0 else value)
    report = measure(tool, trigger("reads", *sizes), EXIT + " ret", *option)
    group, = report["groups"]
    assert {(a, b): n for a, b, n in group["buckets"]} == {b: n for b, (n, _) in results.items()}
    assert group["sum"] == sum(n * value for n, value in results.values())
    assert group["min"] == min(value for _, value in results.values())
    assert group["max"] == max(value for _, value in results.values())
    assert nothing_lost(report)


def test_stream(tool, trigger):
    got, report = stream(tool, trigger("reads", 3, 7, 2, 5), f"{ENTER} count twice=count*2 fd:s32")
    assert [(v["count"], v["twice"]) for v in got] == [(7, 14)] * 3 + [(5, 10)] * 2
    assert all(v["fd"] > 2 for v in got) and nothing_lost(report)


@alike
def test_stream_is_the_default_with_arguments_alone(tool, trigger):
    report = measure(tool, trigger("reads", 3, 7), f"{ENTER} count", "--count")
    assert only_row(report)["count"] == 3
    report = measure(tool, trigger("reads", 3, 7), f"{ENTER} count", "--by", "count")
    assert counts_by(report, "key.count") == {7: 3}     # its column is called count, too
    report = measure(tool, trigger("reads", 3, 7), f"{ENTER} count", "--sum")
    assert only_row(report)["sum"] == 21


def test_all_fields_where_none_are_named(tool, trigger):
    """Without names, a stream has the record's own fields, and not those common to all records. A buffer is an address,
    as it is not filled yet."""
    got, _ = stream(tool, trigger("reads", 3, 7), ENTER, "--stream")
    assert [list(each) for each in got] == [["fd", "buf", "count", "pos"]] * 3 and all(
        each["count"] == 7 for each in got
    ), got
    assert all(re.fullmatch("0x[0-9a-f]+", each["buf"]) for each in got), got


def test_fields_of_several_events_in_one_stream(run, directory):
    """Each line has the fields of its own event, with names for numbers; lines are in order of time."""
    result = run(
        "--json",
        "sched:sched_process_e*",
        "syscalls:sys_enter_exit_group code=error_code",
        "irq:softirq_raise",
        "syscalls:sys_enter_openat filename",
        "--stream",
        "--",
        "sh",
        "-c",
        "cat /dev/null; exit 5",
        tool="probe",
    )
    lines = [json.loads(line) for line in result.text.splitlines()]
    lines = [line for line in lines if "event" in line]
    assert [line["time_ns"] for line in lines] == sorted(line["time_ns"] for line in lines)
    fields = {"sched:sched_process_exec": ["filename", "pid", "old_pid"], "syscalls:sys_enter_exit_group": ["code"],
              "syscalls:sys_enter_openat": ["filename"], "irq:softirq_raise": ["vec"]}
    for line in lines:
        if line["event"] == "sched:sched_process_exit":
            assert list(line["values"])[:3] == ["comm", "pid", "prio"] and line["values"]["pid"] == line["tid"], line
        else:
            assert list(line["values"]) == fields[line["event"]], line
        assert line["event"] != "irq:softirq_raise" or line["values"]["vec"].isupper(), line
    execs = [line["values"]["filename"] for line in lines if line["event"] == "sched:sched_process_exec"]
    assert [os.path.basename(each) for each in execs] == ["sh", "cat"], execs
    assert [line["values"]["code"] for line in lines if line["event"] == "syscalls:sys_enter_exit_group"] == [0, 5]
    opened = [line["values"]["filename"] for line in lines if line["event"] == "syscalls:sys_enter_openat"]
    assert "/dev/null" in opened


def test_a_template_of_events_with_different_fields(run):
    """A field that an event does not have is a dash."""
    result = run(
        "sched:sched_process_exec old_pid",
        "sched:sched_process_exit prio",
        "--template",
        "{event} {old_pid} {prio}",
        "--",
        "true",
        tool="probe",
    )
    lines = result.text.splitlines()
    assert re.fullmatch(r"sched:sched_process_exec \d+ -", lines[0]) and re.fullmatch(
        r"sched:sched_process_exit - \d+", lines[1]
    ), result


TEMPLATES = (
    ("{count}", "7"), ("{comm}:{count} {{x}}", "reads:7 {x}"), ("[{pid}]", "[PID]"),
    ("{event}", ENTER), ("no names", "no names"),
)


@alike
def test_templates(tool, trigger):
    load = trigger("reads", 3, 7)
    tracers = [tool(f"{ENTER} count", "--template", template, "-p", load.pid, tool="probe")
               for template, _ in TEMPLATES]
    load.go()
    load.done()
    for (template, line), tracer in zip(TEMPLATES, tracers):
        result = tracer.stop()
        assert result.code == 0, result
        assert result.text.splitlines() == [line.replace("PID", str(load.pid))] * 3, template
        assert re.search(r"^events 3  ", result.stderr, re.M), result


@alike
def test_lines_of_text(tool, trigger):
    load = trigger("reads", 2, 7)
    tracer = tool(f"{ENTER} count pos", "-p", load.pid, tool="probe")
    load.go()
    load.done()
    result = tracer.stop()
    lines = result.text.splitlines()
    line = rf"\d\d:\d\d:\d\d\.\d{{6}} reads +{load.pid} +\d+  count=7 pos=0"
    assert len(lines) == 2 and all(re.fullmatch(line, text) for text in lines), lines
    # Calls of other processes are filtered.
    assert re.search(r"^events 2  filtered [\d,]+  lost 0$", result.stderr, re.MULTILINE), result


def test_every_event_is_shown_or_lost(tool, trigger):
    """Events come faster than lines are written: those that the buffer has no room for are counted."""
    n = scaled(100000)
    got, report = stream(tool, trigger("reads", n, 7), f"{ENTER} count")
    assert len(got) + report["lost"].pop("ring_full") == n
    assert nothing_lost(report) and got.count({"count": 7}) == len(got)


@alike
def test_csv_of_a_stream(tool, trigger):
    load = trigger("reads", 2, 7)
    tracer = tool(f"{ENTER} count c=comm", "-p", load.pid, "--csv", tool="probe")
    load.go()
    load.done()
    lines = tracer.stop().text.splitlines()
    assert lines[0] == "time_ns,comm,pid,tid,cpu,count,c"
    assert [line.split(",")[5:] for line in lines[1:3]] == [["7", "reads"]] * 2


# --- filters -------------------------------------------------------------------------------------

FILTERS = few((
    ("count == 7", lambda n: n == 7),
    ("count != 7", lambda n: n != 7),
    ("count < 10", lambda n: n < 10),
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
    ("count == 0x400000 || count == 0x402000 || count == 7", lambda n: n == 7),
    ("(s32)fd < 0", lambda n: False),
    ("count - 100000 > -99999", lambda n: n > 1),
))


def test_filters(ends, trigger):
    reports = measure_each(ends, trigger("reads", *SIZES),
                           [(ENTER, "--hist", "count", "--filter", text) for text, _ in FILTERS])
    for (text, keep), report in zip(FILTERS, reports):
        left = wanted(SIZES, keep)
        assert values(report) == left, text
        assert report["filtered"] >= sum(SIZES[::2]) - sum(left.values()), text


@alike
@pytest.mark.parametrize("filter, keep", FILTERS[::4], ids=lambda v: v if type(v) is str else "")
def test_filters_of_stat_are_the_same(tool, trigger, filter, keep):
    load = trigger("reads", *SIZES)
    tracers = [tool("--json", "-e", ENTER, "--filter", filter, "-p", load.pid, *by, tool="stat")
               for by in ((), ("--by", "pid"))]
    load.go()
    load.done()
    for tracer in tracers:
        rows = json.loads(tracer.stop().text)["rows"]
        assert sum(row["count"] for row in rows) == sum(wanted(SIZES, keep).values())


FILTERS_ON_RESULTS = few((
    ("ret < 0", 5), ("ret >= 0", 3), ("ret == -9", 5), ("ret > 0xffff", 0), ("-ret == 9", 5),
    ("ret * ret == 81", 5), ("(u64)ret > 100", 5), ("(u8)ret == 247", 5), ("ret + 9 == 0", 5),
    ("ret != -9", 3), ("ret <= -9", 5), ("ret < -9", 0), ("~ret == 8", 5), ("!ret", 1),
))


def test_filters_on_signed_values(ends, trigger):
    reports = measure_each(ends, trigger("reads", 5, -1, 2, 7, 1, 0),
                           [(EXIT, "--filter", text) for text, _ in FILTERS_ON_RESULTS])
    for (text, n), report in zip(FILTERS_ON_RESULTS, reports):
        assert count(report["rows"]) == n, text


EXPRESSIONS = few((
    ("count + 1", lambda n: n + 1), ("count * 3 % 8", lambda n: n * 3 % 8),
    ("count >> 1", lambda n: n >> 1), ("count & 3", lambda n: n & 3),
    ("count > 1", lambda n: n > 1), ("7", lambda n: 7), ("(u8)count", lambda n: n & 255),
    ("count ^ 5", lambda n: n ^ 5), ("count | 8", lambda n: n | 8),
    ("count << 2", lambda n: n << 2),
    ("count:u8", lambda n: n & 255), ("!count", lambda n: not n),
    ("count > 1 && count < 9", lambda n: 1 < n < 9),
))


def test_expressions(ends, trigger):
    sizes = SIZES[:8]                       # exact values only
    reports = measure_each(ends, trigger("reads", *sizes),
                           [(ENTER, "--hist", text) for text, _ in EXPRESSIONS])
    for (text, value), report in zip(EXPRESSIONS, reports):
        found = [(int(value(size)), n) for size, n in wanted(sizes).items()]
        group, = report["groups"]
        assert group["count"] == sum(n for _, n in found), text
        assert group["sum"] == sum(v * n for v, n in found), text
        assert (group["min"], group["max"]) == (min(found)[0], max(found)[0]), text


SIGNED = (
    ("count - 100", lambda n: n - 100), ("-count", lambda n: -n), ("~count", lambda n: ~n),
    ("(s8)count", lambda n: (n & 255) - (n & 128) * 2), ("5 - count", lambda n: 5 - n),
)


@alike
def test_signed_expressions(ends, trigger):
    sizes = (3, 0, 2, 1, 4, 129, 1, 255, 2, 512)
    reports = measure_each(ends, trigger("reads", *sizes), [
        (ENTER, *(part for what in ("--sum", "--min", "--max") for part in (what, f"(s64)({text})")))
        for text, _ in SIGNED])
    for (text, value), report in zip(SIGNED, reports):
        found = [value(size) for n, size in zip(sizes[::2], sizes[1::2]) for _ in range(n)]
        row = only_row(report)
        assert (row["sum"], row["min"], row["max"]) == (sum(found), min(found), max(found)), text


# --- keys ----------------------------------------------------------------------------------------

def judge(report):
    """Two programs run at once: since 7.0 the kernel skips one while the other is preempted, and counts that."""
    if KERNEL >= (7, 0) and report["lost"]["recursion"]:
        raise Blurred


@exact
def test_one_key(tool, trigger):
    loads = [trigger("reads", scaled(160), 7, comm="first"),
             trigger("reads", scaled(320), 9, comm="second")]
    report = measure(tool, loads, ENTER, "--hist", "count", "--by", "comm")
    judge(report)
    groups = by_key(report, "comm")
    assert {comm: (g["count"], g["sum"]) for comm, g in groups.items()} == \
        {"first": (scaled(160), 7 * scaled(160)), "second": (scaled(320), 9 * scaled(320))}


@exact
def test_several_keys(tool, trigger):
    loads = [trigger("reads", 3, 7, 2, 0, comm="first"), trigger("reads", 5, 7, comm="second")]
    report = measure(tool, loads, ENTER, "--by", "comm,count,half=count/2")
    judge(report)
    assert counts_by(report, "comm", "key.count", "half") == \
        {("first", 7, 3): 3, ("first", 0, 0): 2, ("second", 7, 3): 5}
    assert nothing_lost(report)


def test_signed_key(tool, trigger):
    report = measure(tool, trigger("reads", 3, -1, 2, 7, 4, 0), EXIT, "--by", "ret")
    assert counts_by(report, "ret") == {-9: 3, 7: 2, 0: 4}


@pytest.mark.parametrize("option", (("-P",), ("-L",), ("--by", "pid"), ("--by", "tid")))
@exact
def test_by_task(tool, trigger, option):
    load = trigger("syscalls", 2, f"{PREAD}:{scaled(80)}:7", comm="worker")
    report = measure(tool, load, ENTER, *option)
    rows = {(row.get("tid"), row.get("pid")): (row["comm"], row["count"]) for row in report["rows"]}
    # If a thread is preempted as it begins a program, the kernel skips the other thread's programs, and counts them.
    skipped = report["lost"]["recursion"] if PREEMPTIBLE else 0
    assert sum(n for _, n in rows.values()) + skipped == 2 * scaled(80)
    if skipped:
        raise Blurred
    if option in (("-P",), ("--by", "pid")):
        assert rows == {(None, load.pid): ("worker", 2 * scaled(80))}
    else:
        assert {tid: n for (tid, _), (_, n) in rows.items()} == \
            {tid: scaled(80) for tid in load.numbers}


def test_by_pid_namespace(tool, trigger):
    """Processes in a pid namespace of their own and in that of the tests, by their inodes in /proc."""
    loads = [trigger("reads", 5, 7),
             trigger("reads", 9, 7, command=("unshare", "--fork", "--pid", "--kill-child"), forks=True)]
    inodes = [os.stat(f"/proc/{load.pid}/ns/pid").st_ino for load in loads]
    assert inodes[0] == os.stat("/proc/self/ns/pid").st_ino != inodes[1]
    report = measure(tool, loads, ENTER, "--by", "pidns")
    assert counts_by(report, "pidns") == dict(zip(inodes, (5, 9)))
    lines, _ = told(Probe(tool, trigger("reads", 3, 7), f"{ENTER} pidns user=$task->cred->uid.val").work())
    assert {line["values"]["pidns"] for line in lines} == {inodes[0]}


def test_by_user_and_cgroup(tool, trigger, cgroup):
    unified = [h for h in cgroups.hierarchies() if h.name == "v2"]
    own = cgroup(unified[0], "probe") if unified else None
    load = trigger("reads", 5, 7, user=NOBODY)
    if own:
        own.add(load.pid)
    row = only_row(measure(tool, load, ENTER, "--by", "uid,cgroup" if own else "uid"))
    assert (row["uid"], row["count"]) == (NOBODY, 5)
    if own and cgroups.default_hierarchy().name == "v2":
        assert row["cgroup"] == own.name


def test_on_two_cpus_at_once(tool, trigger):
    """Each CPU has its own figures; together they have all calls."""
    n = scaled(8000)
    loads = [trigger("reads", n, size, command=("taskset", "-c", str(cpu)))
             for cpu, size in ((0, 7), (1, 9))]
    report = measure(tool, loads, ENTER, "--sum", "count", "--min", "count", "--max", "count",
                     "--by", "cpu")
    rows = rows_by(report, "cpu")
    assert {cpu: (r["count"], r["sum"], r["min"], r["max"]) for cpu, r in rows.items()} == \
        {0: (n, 7 * n, 7, 7), 1: (n, 9 * n, 9, 9)}

    loads = [trigger("reads", n, size, command=("taskset", "-c", str(cpu)))
             for cpu, size in ((0, 7), (1, 9))]
    report = measure(tool, loads, ENTER, "--hist", "count")
    assert values(report) == {7: n, 9: n}
    assert nothing_lost(report)


def test_texts_of_the_kernel(run):
    """An array in a record: the name of a new task."""
    result = run("--json", "task:task_newtask", "--by", "c=comm", "--filter", "comm == \"sh\"", "--",
                 "sh", "-c", "true & true & wait", tool="probe")
    assert counts_by(report_of(result), "c") == {"sh": 2}


@alike
def test_top_and_sort(tool, trigger):
    sizes = (5, 1, 3, 9, 8, 4)
    report = measure(tool, trigger("reads", *sizes), ENTER, "--by", "n=count", "--top", "2")
    assert report["hidden"] == 1
    assert [(row["n"], row["count"]) for row in report["rows"]] == [(4, 8), (1, 5)]
    report = measure(tool, trigger("reads", *sizes), ENTER, "--by", "n=count", "--sort", "key")
    assert [row["n"] for row in report["rows"]] == [1, 4, 9]
    report = measure(tool, trigger("reads", *sizes), ENTER, "--by", "n=count", "--sum", "count",
                     "--sort", "sum")
    assert [row["sum"] for row in report["rows"]] == [32, 27, 5]
    report = measure(tool, trigger("reads", *sizes), ENTER, "--by", "n=count", "--hist", "count",
                     "--sort", "max", "--top", "1")
    assert report["groups"][0]["key"] == {"n": 9}


def test_too_many_keys_are_counted(tool, trigger):
    """Events that find no room in the map are counted: with them, the sum is right."""
    n = scaled(2000)
    sizes = [part for size in range(n) for part in (1, size)]
    for what in (("--count",), ("--sum", "1"), ("--hist", "1")):
        report = measure(tool, trigger("reads", *sizes), ENTER, *what, "--by", "n=count",
                         "--max-keys", "8")
        assert report["lost"]["map_full"] > 0
        assert report["events"] + report["lost"]["map_full"] == n
        assert len(report.get("rows", report.get("groups"))) == report["events"]


# --- several probes, names, intervals ------------------------------------------------------------

@alike
@pytest.mark.parametrize("form", few((
    (ENTER, EXIT), ("-e", ENTER, "-e", EXIT), ("-e", f"{ENTER},{EXIT}"), (f"{ENTER},{EXIT}",),
    (ENTER, "-e", EXIT), ("syscalls:sys_e*_pread64",),
)))
def test_several_probes(tool, trigger, form):
    report = measure(tool, trigger("reads", *SIZES), *form)
    n = sum(SIZES[::2])
    if "*" in form[0]:
        assert sum(row["count"] for row in report["rows"]) == 2 * n
    else:
        assert counts_by(report, "event") == {ENTER: n, EXIT: n}


@alike
def test_all_system_calls(tool, trigger):
    """One program per direction, not some seven hundred perf events."""
    report = measure(tool, trigger("reads", *SIZES), "syscalls:sys_*", "--by", "func")
    counts = counts_by(report, "func")
    assert counts[ENTER] == counts[EXIT] == sum(SIZES[::2])
    assert report["events"] == sum(counts.values())
    assert "perf" not in report["source"] and "raw tracepoints" in report["source"]


@alike
def test_several_probes_with_keys_and_values(tool, trigger):
    probes = (f"IN={ENTER} n=count", f"OUT={EXIT} n=ret")
    report = measure(tool, trigger("reads", 3, 7, 2, 512), *probes, "--sum", "n", "--by", "func,n")
    assert {(r["func"], r["n"]): r["sum"] for r in report["rows"]} == \
        {(ENTER, 7): 21, (ENTER, 512): 1024, (EXIT, 7): 21, (EXIT, 100): 200}
    report = measure(tool, trigger("reads", 3, 7, 2, 512), *probes, "--hist", "n")
    assert {g["key"]["event"]: g["sum"] for g in report["groups"]} == {"IN": 1045, "OUT": 221}
    report = measure(tool, trigger("reads", 3, 7, 2, 512), *probes, "--max", "n")
    assert {r["event"]: r["max"] for r in report["rows"]} == {"IN": 512, "OUT": 100}


@alike
def test_names_in_filters_and_keys(tool, trigger):
    report = measure(tool, trigger("reads", 3, 7, 2, 5, 4, 1), f"{ENTER} size=count big=size>4",
                     "--filter", "big && size != 9", "--by", "size,big", "--sum", "size+big")
    assert {(r["size"], r["big"]): r["sum"] for r in report["rows"]} == {(7, 1): 24, (5, 1): 12}


@pytest.mark.parametrize("what", few(((), ("--by", "comm"), ("--hist", "count"), ("--sum", "count"),
                                      ("--sum", "count", "--by", "n=count"))))
def test_intervals_add_up_to_the_whole(tool, trigger, what):
    n = scaled(160000)
    load = trigger("reads", n, 7)
    tracer = tool("--json", ENTER, *what, "-I", 30, "-p", load.pid, tool="probe")
    load.go()
    load.done()
    tracer.await_lines(2)
    _, reports = told(tracer.stop())
    found = [each for r in reports for each in r.get("rows", r.get("groups"))]
    assert len(reports) > 1
    assert sum(each["count"] for each in found) == n
    assert sum(report["events"] for report in reports) == n
    if "count" in what:
        assert sum(each["sum"] for each in found) == 7 * n
    assert all(nothing_lost(report) for report in reports)


@alike
def test_minimum_and_maximum_are_those_of_an_interval(tool, trigger):
    loads = [trigger("reads", 10, size) for size in (3, 500, 20)]
    tracer = tool("--json", ENTER, "--min", "count", "--max", "count", "-I", 100, "-p",
                  ",".join(str(load.pid) for load in loads), tool="probe")
    for load in loads:
        load.go()
        load.done()
        tracer.await_lines(2)
    _, reports = told(tracer.stop())
    found = {}
    for row in (row for report in reports for row in report["rows"]):
        assert row["min"] == row["max"], reports
        found[row["min"]] = found.get(row["min"], 0) + row["count"]
    # In this order; an interval may end in the middle of a load.
    assert list(found.items()) == [(3, 10), (500, 10), (20, 10)], reports


@pytest.mark.parametrize("by", ((), ("--by", "k=count & 1023")))
def test_all_figures_of_an_interval_are_of_the_same_events(tool, trigger, by):
    """
    One thread asks for more and more, and another one goes on from there after a report: the number of events of a key
    in an interval determines their values. Reading many keys takes a while, in which more events come.
    """
    sizes = range(1000, 1000 + 3 * scaled(40000), 3)
    half = len(sizes) // 2
    loads = [trigger("reads", *(word for size in part for word in (2, size))) for part in (sizes[:half], sizes[half:])]
    asked = {}
    for size in sizes:
        asked.setdefault(size & 1023 if by else None, []).extend((size, size))
    figures = (word for name in ("sum", "avg", "min", "max") for word in ("--" + name, "count"))
    tracer = tool("--json", ENTER, *figures, *by, "-I", 10, "-p",
                  ",".join(str(load.pid) for load in loads), tool="probe")
    for load in loads:
        load.go()
        load.done()
        tracer.await_lines(2)
    _, reports = told(tracer.stop())
    assert all(nothing_lost(report) for report in reports)
    rows = [row for report in reports for row in report["rows"]]
    assert len(rows) > 1
    for row in rows:
        key = row.get("k", row.get("key.k"))
        here, asked[key] = asked[key][:row["count"]], asked[key][row["count"]:]
        assert (row["count"], row["sum"], row["min"], row["max"]) == \
            (len(here), sum(here), here[0], here[-1])
        assert row["avg"] == pytest.approx(sum(here) / len(here), abs=0.01)     # two decimals
    assert not any(asked.values())


# --- spans of system calls -----------------------------------------------------------------------

def test_from_a_call_to_its_return(tool, trigger):
    load = trigger("syscalls", 2, f"{PREAD}:{scaled(80)}:7")
    spans = ("--from", ENTER, "--to", EXIT, "--match", "tid")
    report = measure(tool, load, *spans)
    assert (count(report["groups"]), report["unit"], report["value"]) == \
        (2 * scaled(80), "ns", "$elapsed")
    assert nothing_lost(report)
    report = measure(tool, trigger("reads", 3, 7, 2, 512, 4, -1), *spans, "--count", "--by",
                     "count,ret")
    assert counts_by(report, "key.count", "ret") == {(7, 7): 3, (512, 100): 2, (1, -9): 4}


@alike
def test_filters_on_both_sides(tool, trigger):
    spans = ("--from", ENTER, "--to", EXIT, "--match", "tid", "--count")
    for filter, n in (("count == 7", 3), ("ret == 100", 2), ("count == 512 && ret == 100", 2),
                      ("count == 7 && ret == 100", 0), ("$elapsed > 0 && count == 512", 2),
                      ("$elapsed > 1h && count == 512", 0), ("ret < 0 || $elapsed < 1h", 9)):
        report = measure(tool, trigger("reads", 3, 7, 2, 512, 4, -1), *spans, "--filter", filter)
        assert count(report["rows"]) == n, filter
        assert report["filtered"] >= 9 - n


def test_names_of_files_from_begin_to_end(run):
    """Text from the begin, result from the end."""
    event = "syscalls:sys_{}_openat"
    result = run("--json", "--from", event.format("enter"), "--to", event.format("exit"),
                 "--match", "tid", "--by", "filename:string,ok=ret >= 0", "--count", "--",
                 "cat", "/etc/hostname", "/nowhere at\tall", tool="probe")
    report = json.loads(result.text.splitlines()[-1])       # after the command's own output
    found = counts_by(report, "filename", "ok")
    assert found["/etc/hostname", 1] == 1 and found["/nowhere at\\x09all", 0] == 1


def test_stream_of_files(run):
    result = run("--json", "syscalls:sys_enter_openat filename flags:x64", "--", "sh", "-c",
                 "true </etc/hostname", tool="probe")
    got, _ = stream_of(result)
    assert {"filename": "/etc/hostname", "flags": "0x0"} in got


# --- the rest ------------------------------------------------------------------------------------

def test_others_still_see_the_event(tool, trigger):
    """A program that returns 0 would hide the event from everybody's perf counters."""
    load = trigger("reads", scaled(160), 7)
    common = tool("--json", "-e", EXIT, "--filter", f"common_pid == {load.pid}", tool="stat")
    compiled = tool("--json", EXIT, "--filter", "ret == 0", "-p", load.pid, tool="probe")
    load.go()
    load.done()
    assert count(report_of(compiled.stop())["rows"]) == 0
    report = json.loads(common.stop().text)
    assert report["rows"][0]["count"] == scaled(160)
    assert report["source"] == "the kernel's counters"


def test_of_a_command(run):
    result = run("--json", "-e", "syscalls:sys_enter_getppid,syscalls:sys_enter_exit_group",
                 "--hist", "7", "--", "true", tool="probe")
    assert count(report_of(result)["groups"]) == 1


def test_blocks_of_dd(run):
    """Reads of dd, and those of the process that starts it."""
    n = scaled(10000)
    result = run("--json", "syscalls:sys_enter_read", "--hist", "count", "--", "dd", "if=/dev/zero",
                 "of=/dev/null", "bs=4096", f"count={n}", "status=none", tool="probe")
    buckets = {first: n for first, _, n in report_of(result)["groups"][0]["buckets"]}
    assert buckets[4096] >= n and buckets[4096] < n + 10


@alike
def test_no_hits_are_explained(run):
    result = run(ENTER, "--filter", "count == 987654", "--", "true", tool="probe")
    assert result.code == 0 and "events 0" in result.text
    result = run("syscalls:sys_enter_swapoff", "--", "true", tool="probe")
    assert "no event happened in that time" in result.text


@alike
@pytest.mark.parametrize("verbose", (False, True))
def test_explain(run, verbose):
    result = run("-n", *(["-v"] if verbose else []), ENTER, "--hist", "count", "--filter", "count > 9",
                 tool="probe")
    program = "on_syscall_enter" if KERNEL < (7, 0) else "on_tracepoint"
    assert result.code == 0 and program in result.text, result
    assert ("r6 = r1" in result.text) == verbose


@alike
def test_strict(tool, trigger):
    load = trigger("reads", 3, -1)
    tracer = tool("--json", EXIT, "--hist", "ret", "--strict", "-p", load.pid, tool="probe")
    load.go()
    load.done()
    assert tracer.stop().code == 3
