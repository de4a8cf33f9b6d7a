# SPDX-License-Identifier: BSD-2-Clause
"""probe on spans of functions: nested calls, and functions that are left in every possible way."""

import shutil

import pytest

from probing import (Probe, alike, binary, counts_by, few, measure, nothing_lost, report_of,
                     rows_by, stream, told)
import tally
from tally import count, flaws, needs_dwarf, scaled

SPANS, CALLS, ARGUMENTS = binary("spans"), binary("calls"), binary("arguments")


def latency(tool, load, function, *args):
    """(the report, calls, the time inside, the time around them) by the trigger's own clock."""
    each = Probe(tool, load, "-x", SPANS, *function.split(), "--latency", *args)
    report = report_of(each.work())
    return report, *each.numbers[0]


@pytest.mark.parametrize("n, threads, depth", ((1, 1, 0), (1, 1, 60), (20, 1, 5), (40, 2, 9)))
def test_recursion(tool, trigger, n, threads, depth):
    """Each call counts once, and its time is between its own measurement and its caller's."""
    report, calls, inner, outer = latency(tool, trigger("spans", "nested", n, threads, depth),
                                          "recursive", "--sum", "$elapsed")
    row, = report["rows"]
    assert row["count"] == calls == n * threads * (depth + 1)
    assert inner <= row["sum"] <= outer
    assert nothing_lost(report)


@needs_dwarf
def test_outer_calls_take_as_long_as_what_they_call(tool, trigger):
    """By depth: the time of each call contains that of the calls below it."""
    report, *_ = latency(tool, trigger("spans", "nested", 30, 2, 6), "recursive", "--sum", "$elapsed",
                         "--min", "$elapsed", "--by", "left")
    rows = rows_by(report, "left")
    assert {left: row["count"] for left, row in rows.items()} == dict.fromkeys(range(7), 60)
    for left in range(1, 7):
        assert rows[left]["sum"] > rows[left - 1]["sum"]
        assert rows[left]["min"] > rows[left - 1]["min"]


@alike
def test_histogram_of_times(tool, trigger):
    report, calls, inner, outer = latency(tool, trigger("spans", "nested", 20, 2, 3), "recursive")
    group, = report["groups"]
    assert (group["count"], report["unit"], report["value"]) == (calls, "ns", "$elapsed")
    assert inner <= group["sum"] <= outer


def test_tail_calls(tool, trigger):
    """first() jumps to second(), which returns for both."""
    n, threads = scaled(400), 2
    report, calls, inner, outer = latency(tool, trigger("spans", "tail", n, threads), "first second",
                                          "--sum", "$elapsed", "--by", "func")
    rows = {name.partition(":")[2]: row for name, row in rows_by(report, "func").items()}
    assert {name: row["count"] for name, row in rows.items()} == {"first": calls, "second": calls}
    assert inner <= rows["second"]["sum"] <= rows["first"]["sum"] <= outer
    report, *_ = latency(tool, trigger("spans", "tail", n, threads), "first second", "--count",
                         "--by", "func,$retval")
    assert {(name.partition(":")[2], ret): n for (name, ret), n in
            counts_by(report, "func", "retval").items()} == \
        {(name, i + 3): threads for name in ("first", "second") for i in range(n)}


def test_left_by_longjmp(tool, trigger):
    """A third of the calls never returns. Later calls do, with their own times."""
    n, threads = scaled(600), 2
    report, calls, inner, outer = latency(tool, trigger("spans", "jump", n, threads), "jumping",
                                          "--sum", "$elapsed", "--by",
                                          "jumped=(u64)$arg1%3")
    rows = rows_by(report, "jumped")
    assert {k: row["count"] for k, row in rows.items()} == \
        {k: threads * len(range(k, n, 3)) for k in (0, 1)}
    assert sum(row["count"] for row in rows.values()) == calls
    assert inner <= sum(row["sum"] for row in rows.values()) <= outer


@needs_dwarf
def test_threads_that_exit_inside(tool, trigger):
    """Their calls have no end, and take nobody else's."""
    n = scaled(200)
    report, calls, *_ = latency(tool, trigger("spans", "exit", n, 1), "leaving", "--count", "--by", "i")
    assert counts_by(report, "i") == {i: 1 for i in range(0, n, 2)}
    assert calls == len(range(0, n, 2))
    assert report["lost"].pop("unwound") == n - calls and nothing_lost(report)


@needs_dwarf
def test_thread_ids_that_are_used_again(tool, trigger):
    """The second thread's begin is filtered: its end must not find the begin of the first."""
    n = scaled(40)
    for filter, counted in (("i == 1", 0), ("i == 2", n), ("i < 9", n)):
        tracer = tool("--json", "-x", SPANS, "staying", "--latency", "--count", "--filter", filter,
                      tool="probe")
        load = trigger("spans", "reuse", n, 1)
        load.go()
        load.done()
        report = report_of(tracer.stop())
        assert count(report["rows"]) == counted, filter
        assert report["filtered"] == n - counted, filter


@needs_dwarf
def test_arguments_and_results_of_one_call(tool, trigger):
    """Arguments, result and latency on one line."""
    got, report = stream(tool, trigger("arguments", 10), "-x", ARGUMENTS, "many a b c ret=$retval",
                         "--latency")
    assert [{**v} for v in got] == [{"a": i, "b": -i, "c": "text", "ret": 3 - i} for i in range(10)]
    lines, _ = told(Probe(tool, trigger("arguments", 10), "-x", ARGUMENTS, "many a", "--latency").work())
    assert all(line["elapsed_ns"] > 0 for line in lines)


@needs_dwarf
@alike
def test_an_argument_that_is_called_as_what_it_is(tool, trigger):
    """An argument with a type after it keeps its own name in the output."""
    got, _ = stream(tool, trigger("arguments", 3), "-x", ARGUMENTS, "many a:u8 b:x16 second=b r=$retval", "--latency")
    assert got == [{"a": i, "b": hex(-i & 0xffff), "second": -i, "r": 3 - i} for i in range(3)]


@needs_dwarf
@pytest.mark.parametrize("filter, keep", few((
    ("b < -2", lambda i: i > 2), ("$retval < 0", lambda i: i > 3),
    ("b < -2 && $retval >= -1", lambda i: 2 < i <= 4),
    ("$elapsed > 0 && a == 5", lambda i: i == 5), ("$elapsed > 1h", lambda i: False),
    ("c ~ \"t*\" && $elapsed < 1h && $retval == 3", lambda i: i == 0),
    ("b < -7 || $retval > 1", lambda i: i > 7 or i < 2),
    ("$elapsed > 1h || a == 5 || b == -6", lambda i: i in (5, 6)),
    ("(c ~ \"t*\" && a == 3) || $retval == -4 || comm == \"nobody\"", lambda i: i in (3, 7)),
    ("a + $retval == 3 && ($retval == b + 3 || $elapsed == 0) && !(d > 6 || $retval == 0)",
     lambda i: i <= 6 and i != 3),
    ("b > $retval - 10 && (u64)f >> 40 == 1 && a > $retval", lambda i: i >= 2),
)))
def test_filters_on_both_sides(tool, trigger, directory, filter, keep):
    # Calls in the processes of other tests would be filtered, too.
    own = shutil.copy(ARGUMENTS, directory)
    report = measure(tool, trigger(own, 10), "-x", own, "many", "--latency", "--count",
                     "--filter", filter, "--by", "a,$retval")
    assert set(rows_by(report, "a", "retval")) == {(i, 3 - i) for i in range(10) if keep(i)}
    assert report["filtered"] == 10 - count(report["rows"])


@needs_dwarf
@alike
def test_value_of_the_begin(tool, trigger):
    """Sums of an argument of calls chosen by their results."""
    report = measure(tool, trigger("arguments", 10), "-x", ARGUMENTS, "many", "--latency", "--sum", "b",
                     "--min", "b", "--filter", "$retval <= 0")
    row, = report["rows"]
    assert (row["count"], row["sum"], row["min"]) == (7, -sum(range(3, 10)), -9)


@needs_dwarf
def test_a_begin_that_cannot_be_read_is_lost_once(tool, trigger):
    load = trigger("arguments", 0, "one", "@null", "two")
    report = measure(tool, load, "-x", ARGUMENTS, "read_text", "--latency", "--count", "--by", "text")
    assert counts_by(report, "text") == {"one": 1, "two": 1}
    assert report["lost"]["read_fault"] == 1
    assert report["events"] + report["filtered"] + sum(report["lost"].values()) == 3


# --- any two events ------------------------------------------------------------------------------

PAIRS = ("-x", SPANS, "--from", "opened", "--to", "closed", "--match", "id,thread")


@needs_dwarf
def test_pairs_by_two_numbers(tool, trigger):
    """Opened in one order and closed in the other, each end finds its own begin."""
    n, threads = scaled(400), 2
    report = measure(tool, trigger("spans", "pairs", n, threads), *PAIRS, "--count", "--by", "id,thread")
    assert counts_by(report, "id", "thread") == {(i, t): 1 for i in range(n) for t in range(threads)}
    assert nothing_lost(report)


@needs_dwarf
def test_many_pairs_under_way(tool, trigger):
    """Pairs beyond the room in the map are lost; the report names the option that makes room, and it does."""
    n, room = 70000, 65536
    report = measure(tool, trigger("spans", "pairs", n, 1), *PAIRS, "--count")
    assert count(report["rows"]) == room and report["lost"]["map_full"] == n - room, report
    report = measure(tool, trigger("spans", "pairs", n, 1), *PAIRS, "--count", "--max-keys", n)
    assert count(report["rows"]) == n and nothing_lost(report), report


@needs_dwarf
@alike
def test_pairs_filtered(tool, trigger):
    n = 20
    report = measure(tool, trigger("spans", "pairs", n, 2), *PAIRS, "--count", "--filter",
                     "id >= 15 && thread == 1 && $elapsed > 0")
    assert count(report["rows"]) == 5 and report["filtered"] == 2 * n - 5


@needs_dwarf
@alike
def test_pairs_filtered_by_either(tool, trigger):
    """A value that only the first event has is kept for the second one, after the key."""
    report = measure(tool, trigger("spans", "pairs", 20, 2), *PAIRS, "--count", "--by", "id,comm", "--filter",
                     "(id >= 15 && thread == 1) || $elapsed > 1h || id == 3")
    assert counts_by(report, "id") == {3: 2, **{i: 1 for i in range(15, 20)}}
    assert report["filtered"] == 40 - 7


@needs_dwarf
@alike
def test_too_much_to_keep(run):
    many = " || ".join(f"a + $retval == {i}" for i in range(9))
    result = run("-x", ARGUMENTS, "many", "--latency", "--filter", many, tool="probe")
    assert result.code == 2 and "at most 8 values can be kept" in result.stderr, result


@needs_dwarf
@alike
def test_pairs_by_arguments_of_the_machine(tool, trigger):
    report = measure(tool, trigger("spans", "pairs", 10, 2), "-x", SPANS, "--from", "opened", "--to",
                     "closed", "--match", "$arg1:s32,$arg2", "--sum", "id", "--by", "t=$arg2")
    assert {t: (r["count"], r["sum"]) for t, r in rows_by(report, "t").items()} == \
        {t: (10, 45) for t in (0, 1)}


@needs_dwarf
@alike
def test_times_of_pairs_rise(tool, trigger):
    """The first pair opened is the last one closed."""
    report = measure(tool, trigger("spans", "pairs", 30, 1), *PAIRS, "--max", "$elapsed", "--by", "id")
    times = {i: row["max"] for i, row in rows_by(report, "id").items()}
    assert sorted(times.values(), reverse=True) == [times[i] for i in range(30)]


@needs_dwarf
def test_unmatched_ends_are_known(tool, trigger):
    """With everything in view, an end without a begin is a loss, and a begin without an end is not."""
    load = trigger("spans", "pairs", 5, 1)
    tracer = tool("--json", "-x", SPANS, "--from", "opened", "--to", "closed", "--match",
                  "id+100*(id > 2)", "--count", tool="probe")
    load.go()
    load.done()
    assert count(report_of(tracer.stop())["rows"]) == 5
    load = trigger("spans", "pairs", 5, 1)
    tracer = tool("--json", "-x", SPANS, "--from", "closed", "--to", "opened", "--match", "id",
                  "--count", tool="probe")
    load.go()
    load.done()
    report = report_of(tracer.stop())
    assert count(report["rows"]) == 0 and report["lost"]["unmatched"] == 5


@pytest.mark.everywhere
def test_from_a_system_call_to_the_next_of_its_kind(tool, trigger):
    """Each is the end of a span and the begin of the next one: with a poll of a millisecond in every span."""
    n = scaled(60)
    load = trigger("slowly", n, 1, 40)
    event = "syscalls:sys_enter_poll"
    each = Probe(tool, load, "--from", event, "--to", event, "--match", "tid", "--hist", "$elapsed")
    report = report_of(each.work())
    group, = report["groups"]
    assert group["count"] == n // 2 - 1 and group["min"] >= 1_000_000, group
    # The naps between the first poll and the last one are in spans.
    assert group["sum"] >= sum(i % 5 == 4 for i in range(1, n - 1 - n % 2)) * 40_000_000, group


@pytest.mark.everywhere
def test_from_a_tracepoint_to_the_next(run):
    """The same by the records of a tracepoint: five processes begin 50 ms after one another."""
    event = "sched:sched_process_fork"
    report = run("--json", "--from", event, "--to", event, "--match", "parent_pid", "--hist", "$elapsed", "--",
                 "sh", "-c", "for i in 1 2 3 4 5; do /bin/sleep 0.05; done", tool="probe").report
    group, = report["groups"]
    assert group["count"] == 4 and group["min"] >= 50_000_000, group


@pytest.mark.parametrize("which", (("-x", SPANS, "--from", "first", "--to", "second,first"),
                                   ("-x", binary("usdt"), *2 * ("--from", "sdt_tally_test:plain"))))
def test_a_place_that_is_a_begin_and_an_end(run, which):
    """No kernel says which program runs first."""
    *rest, last, name = which
    which = *rest, last.replace("--from", "--to"), name
    result = run(*which, "--match", "tid", "--count", "-d", "1", tool="probe")
    assert result.code == 2 and "cannot be both a begin and an end" in result.stderr, result


@pytest.mark.parametrize("cpu", (0, 1))
def test_on_one_cpu(tool, trigger, cpu):
    """Calls on CPUs other than that of -C are filtered, not lost."""
    load = trigger("spans", "nested", 20, 1, 3, command=("taskset", "-c", "1"))
    tracer = tool("--json", "-x", SPANS, "recursive", "--latency", "--count", "-C", cpu, tool="probe")
    load.go()
    load.done()
    report = tracer.stop().report
    assert report["events"] == (80 if cpu else 0), report
    assert report["filtered"] >= (0 if cpu else 80), report
    assert nothing_lost(report)


@pytest.mark.exclusive
def test_the_tools_own_calls_are_no_losses(tool):
    """Only the tool calls this function, once per report."""
    tracer = tool("--json", "-x", tally.BUILD / "tally", "writer__write", "--latency", "--count", "-I", 50,
                  tool="probe")
    tracer.await_lines(4)
    reports = tracer.stop().reports
    assert not any(report["events"] or any(flaws(report).values()) for report in reports), reports
    assert sum(report["filtered"] for report in reports) >= 3, reports
