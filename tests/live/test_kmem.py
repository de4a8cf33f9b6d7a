# SPDX-License-Identifier: BSD-2-Clause
"""kmem compared with the kernel's own trace of the same tracepoints, and with pipes, for each of which
the kernel allocates two objects in alloc_pipe_info()."""

import functools
import os
import re
from collections import Counter, defaultdict

import pytest

import tally
from filing import after
from tracefs import Instance, tracing

pytestmark = [pytest.mark.exact, pytest.mark.exclusive]

MERGED = tally.KERNEL >= (6, 1)


@pytest.fixture
def kmem(tool):
    return functools.partial(tool, "--json", tool="kmem")


@pytest.fixture
def record(ends):
    """Records tracepoints in its own trace instance: record({"kmalloc": filter, ...}); returns its lines."""
    trace = Instance()
    ends.callback(trace.close)
    (trace.path / "buffer_size_kb").write_text("4096")

    def start(events):
        for name, condition in events.items():
            trace.enable(f"kmem/{name}", condition)

    def lines():
        return [line for line in trace.stop().splitlines() if not line.startswith("#")]

    return start, lines


def exact(test):
    """Repeats a test if the kernel skipped a program that an interrupt would have run inside
    another run of it, and the tool reported it: the figures may differ by that."""

    @functools.wraps(test)
    def judged(*args, **kwargs):
        def trial():
            skipped.clear()
            try:
                test(*args, **kwargs)
            except AssertionError as error:
                if skipped:
                    raise tally.Blurred from error
                raise

        tally.steady(trial)

    return judged


skipped = []


def rows_of(report):
    if report["lost"]["recursion"]:
        skipped.append(report["lost"]["recursion"])
    others = {reason: n for reason, n in tally.flaws(report).items() if reason != "recursion"}
    assert not any(others.values()), others
    return report["rows"]


def only(rows, **wanted):
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


# --- compared with the kernel's record -----------------------------------------------------------

LINE = re.compile(r" (\w+): call_site=(.*?)\+0x\w+/0x\w+( \[\w+\])? ")
ALLOCATIONS = {"kmalloc", "kmem_cache_alloc", "kmalloc_node", "kmem_cache_alloc_node"}


def recorded(lines):
    """By caller: allocations, bytes requested and allocated, frees."""
    found = defaultdict(lambda: [0, 0, 0, 0])
    for line in lines:
        event, caller, module = LINE.search(line).groups()
        row = found[caller + (module or "")]
        if event in ALLOCATIONS:
            row[0] += 1
            row[1] += int(re.search(r"bytes_req=(\d+)", line)[1])
            row[2] += int(re.search(r"bytes_alloc=(\d+)", line)[1])
        else:
            row[3] += 1
    return {caller: tuple(row) for caller, row in found.items()}


@exact
def test_each_caller_as_the_kernel_records_it(kmem, trigger, record):
    load = trigger("pipes", 100, 60)
    start, lines = record
    mine = f"common_pid == {load.pid}"
    events = [name for name in (*sorted(ALLOCATIONS), "kmem_cache_free")
              if (tracing() / "events/kmem" / name).exists()]
    tracer = kmem("-p", load.pid)
    start({**{name: mine for name in events}, "kfree": f"{mine} && ptr > 16"})
    load.go()
    load.done()
    load.settle()
    wanted = recorded(lines())
    rows = rows_of(tracer.stop().report)
    assert wanted == {row["caller"]: (row["allocs"], row["requested"], row["allocated"],
                                      row["frees"]) for row in rows}
    assert wanted["alloc_pipe_info"][0] == 200


@exact
def test_pages_as_the_kernel_records_them(kmem, trigger, record):
    load = trigger("faults", tally.scaled(2000), 1, 0)
    start, lines = record
    mine = " || ".join(f"common_pid == {tid}" for tid in load.tids())
    tracer = kmem("--pages", "-p", load.pid)
    start({"mm_page_alloc": mine, "mm_page_free": mine})
    load.go()
    load.done()
    load.settle()
    wanted = Counter((event, int(order)) for event, order in
                     re.findall(r" (mm_page_\w+): .*? order=(\d+)", "\n".join(lines())))
    rows = rows_of(tracer.stop().report)
    found = Counter()
    for row in rows:
        found["mm_page_alloc", row["order"]] = row["allocs"]
        found["mm_page_free", row["order"]] = row["frees"]
        assert row["allocated"] == row["allocs"] * 4096 << row["order"]
    assert +found == wanted
    assert sum(wanted.values())


# --- known allocations ---------------------------------------------------------------------------

def pipe_info(rows):
    row, = only(rows, caller="alloc_pipe_info")
    return row


@exact
def test_objects_followed_to_their_frees(kmem, trigger):
    load = trigger("pipes", 100, 60)
    row = pipe_info(rows_of(after(kmem("--follow", "-p", load.pid), load).report))
    assert (row["allocs"], row["frees"], row["unseen"]) == (200, 120, 0)
    assert row["freed"] * 200 == row["allocated"] * 120
    assert row["wasted"] == row["allocated"] - row["requested"]


@exact
def test_objects_followed_over_intervals(kmem, trigger):
    """The sums that an object was counted in are removed long before it is freed."""
    load = trigger("pipes", 100, 100)
    tracer = kmem("--follow", "-p", load.pid, "--max-keys", 150, "-I", 20)
    rows = [row for report in after(tracer, load).reports for row in report["rows"]]
    found = only(rows, caller="alloc_pipe_info")
    assert [sum(row[name] for row in found) for name in ("allocs", "frees", "unseen")] == [200, 200, 0]
    assert sum(row["freed"] for row in found) == sum(row["allocated"] for row in found)


@exact
@pytest.mark.skipif(os.cpu_count() < 2, reason="objects are freed on another CPU")
def test_frees_on_another_cpu(kmem, trigger):
    load = trigger("pipes", 100, 100, "move")
    row = pipe_info(rows_of(after(kmem("--follow", "-p", load.pid), load).report))
    assert (row["frees"], row["other_cpu"]) == (200, 200)


@exact
def test_outstanding(kmem, trigger):
    """The objects outstanding at the end of each interval, not those allocated in it."""
    load = trigger("pipes", 100, 60)
    tracer = kmem("--leak", "-p", load.pid, "0.2")
    load.go()
    load.done()
    tracer.await_lines(3)
    for rows in [rows_of(report) for report in tracer.stop().reports][-2:]:
        row = pipe_info(rows)
        assert row["count"] == 80
        assert 0 < row["oldest"]


def makes_pipes(names):
    """Below it, the allocator may allocate for itself (a new slab's accounts), and so may an interrupt."""
    return "alloc_pipe_info" in names and not re.search("slab|asm_sysvec_|asm_common_interrupt|irq", names)


@exact
def test_outstanding_by_stack(tool, kmem, trigger):
    load = trigger("pipes", 100, 60)
    options = ("--leak", "-g", "-K", "-p", load.pid)
    stacks = tool(*options, "--count", "--format", "json", tool="kmem")
    table = kmem(*options, "--format", "table")
    load.go()
    load.done()
    load.settle()
    report, tabled = stacks.stop().report, table.stop().report
    rows_of({**report, "rows": []})
    pipes = [s["value"] for s in report["stacks"]
             if makes_pipes(" ".join(frame["name"] or "" for frame in s["frames"]))]
    assert sum(pipes) == 80, report
    assert sum(r["count"] for r in rows_of(tabled) if makes_pipes(r["stack"])) == 80, tabled


@exact
def test_by_size_and_by_task(kmem, trigger):
    load = trigger("pipes", 100, 0, comm="plumber")
    tracers = [kmem("--by", by, "-p", load.pid) for by in ("size", "caller,size", "pid,comm")]
    load.go()
    load.done()
    load.settle()
    by_size, both, by_task = (rows_of(tracer.stop().report) for tracer in tracers)
    for row in by_size:
        same = [each for each in both if each["size"] == row["size"]]
        assert row["allocs"] == sum(each["allocs"] for each in same)
        assert row["requested"] == row["allocs"] * (row["size"] or 0)
    task, = by_task
    assert (task["pid"], task["comm"]) == (load.pid, "plumber")
    assert task["allocs"] == sum(row["allocs"] for row in both)


@exact
def test_by_cache(kmem, run, trigger):
    if not MERGED:
        found = run("--by", "cache", "-d", "0.1", tool="kmem")
        assert found.code == 4 and "do not report the cache" in found.stderr, found
        return
    load = trigger("pipes", 100, 100)
    rows = rows_of(after(kmem("--by", "cache", "-p", load.pid), load).report)
    files, = only(rows, cache="filp")
    assert files["allocs"] == 200
    kmallocs = [row for row in rows if row["cache"].startswith("kmalloc-")]
    assert sum(row["allocs"] for row in kmallocs) >= 200
    for row in kmallocs:
        number, kilo = re.fullmatch(r"kmalloc-(\d+)(k?)", row["cache"]).groups()
        assert row["allocated"] == row["allocs"] * int(number) * (1024 if kilo else 1)


def test_wrong_usage(run):
    for wrong in (("--by", "order"), ("--pages", "--by", "caller"), ("-g",), ("--older", "1s"),
                  ("--leak", "--count"), ("--max-live", "x"), ("--sort", "pid")):
        assert run(*wrong, tool="kmem").code == 2, wrong


def test_full_map(kmem, trigger):
    load = trigger("pipes", 100, 0)
    result = after(kmem("--leak", "--max-live", 50, "--strict", "-p", load.pid), load)
    assert result.code == 3
    assert result.report["events"] <= 50
    assert result.report["lost"]["map_full"] >= 150


@pytest.mark.parametrize("args, raise_", ((("--leak",), "--max-live"), (("--follow",), "--max-keys or --max-live")),
                         ids=("leak", "follow"))
def test_what_makes_room(tool, trigger, args, raise_):
    load = trigger("pipes", 100, 0)
    text = after(tool(*args, "--max-live", 50, "-p", load.pid, tool="kmem"), load).text
    assert f" map_full: no room for new keys; raise {raise_}\n" in text, text
