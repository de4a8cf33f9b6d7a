# SPDX-License-Identifier: BSD-2-Clause
"""reclaim: stalls for lack of memory against the kernel's own trace of the same run, in a tracefs instance, and against
the cgroup's count of OOM kills; sleeps above memory.high against the cgroup's pressure."""

import contextlib
import functools
import os
import re
import time
from collections import Counter, namedtuple
from pathlib import Path
from types import SimpleNamespace

import pytest

import cgroups
import tally
from probing import told
from snooping import exact
from tally import flaws, wait_until
from test_every_tool import attaches_to_functions
from tracefs import Instance

pytestmark = pytest.mark.exclusive

LIMIT = 8 << 20
PAGE = 4096

KINDS = {"mm_vmscan_direct_reclaim_end": "direct", "mm_vmscan_memcg_reclaim_end": "memcg",
         "mm_vmscan_memcg_softlimit_reclaim_end": "softlimit", "mm_vmscan_node_reclaim_end": "node",
         "mm_compaction_end": "compact", "mm_vmscan_kswapd_sleep": "kswapd"}

Stalls = namedtuple("Stalls", "count pages")


@pytest.fixture
def reclaim(tool):
    return functools.partial(tool, "--json", tool="reclaim")


class Trace(Instance):
    """The ends of stalls in the kernel's trace, from the creation of this object on."""

    def __init__(self):
        super().__init__()
        for name in (*KINDS, "mark_victim"):
            for file in self.path.glob(f"events/*/{name}/enable"):
                file.write_text("1")

    def stalls(self):
        """{(tid, kind): Stalls}"""
        count, pages = Counter(), Counter()
        for tid, name, rest in re.findall(r"^.*-(\d+) +\[\d+\] .*?: (\w+): (.*)$", self.stop(), re.M):
            if name == "mark_victim":
                count[int(re.search(r"pid=(\d+)", rest)[1]), "oom"] += 1
                continue
            key = int(tid), KINDS[name]
            count[key] += 1
            freed = re.search(r"nr_reclaimed=(\d+)", rest)
            pages[key] += int(freed[1]) if freed else 0
        return {key: Stalls(n, pages[key]) for key, n in count.items()}


@pytest.fixture
def trace(ends):
    def start():
        each = Trace()
        ends.callback(each.close)
        return each

    return start


@pytest.fixture
def limited(cgroup):
    """A cgroup with this memory limit, v1 or v2."""

    def make(name, size=LIMIT):
        found = {h.name: h for h in cgroups.hierarchies()}
        if "memory" in found:
            group = cgroup(found["memory"], name)
            (group.path / "memory.limit_in_bytes").write_text(str(size))
            return group
        v2 = found.get("v2")
        if not v2 or "memory" not in (v2.mount / "cgroup.controllers").read_text().split():
            pytest.skip("no memory controller here")
        group = cgroup(v2, name)
        for path in reversed(group.path.parents):
            if path.is_relative_to(v2.mount):
                (path / "cgroup.subtree_control").write_text("+memory")
        (group.path / "memory.max").write_text(str(size))
        return group

    return make


def rows_of(report):
    """{(tid, kind): Stalls} of a report by tid. Only losses that exact() handles are allowed."""
    lost = {reason for reason, n in flaws(report).items() if n}
    if lost == {"recursion"}:
        raise tally.Blurred
    assert not lost, report
    return {(row["tid"], row["kind"]): Stalls(row["count"], row["pages"] or 0) for row in report["rows"]}


def only(stalls, *tids):
    return {key: value for key, value in stalls.items() if key[0] in tids}


def kills(group):
    for name in ("memory.events", "memory.oom_control"):
        with contextlib.suppress(FileNotFoundError):
            return int(re.search(r"^oom_kill (\d+)", (group.path / name).read_text(), re.M)[1])
    return None


@exact
def test_oom(reclaim, limited, trigger, trace):
    """A process needs more memory than its cgroup has: as many stalls and freed pages as in the kernel's trace, and one
    victim. The same by line, and by process."""
    group = limited("oom")
    load = trigger("pages", 0, 0, 4 * LIMIT // PAGE, 0, 0, 0, 0, comm="fat")
    group.add(load.pid)
    by_tid, by_line, others = reclaim("--by", "tid"), reclaim("--min", 0), reclaim("-p", os.getpid())
    kernel = trace()
    load.go()
    load.process.wait(tally.PATIENCE)
    traced = only(kernel.stalls(), load.pid)
    report = by_tid.stop().report
    rows = only(rows_of(report), load.pid)
    assert rows == traced and rows[load.pid, "memcg"].count and rows[load.pid, "oom"].count == 1
    assert {row["comm"] for row in report["rows"] if row["tid"] == load.pid} == {"fat"}
    assert kills(group) in (1, None)
    for row in report["rows"]:
        if row["kind"] == "oom":
            assert row["total"] is None
        else:
            assert 0 < row["avg"] <= row["p99"] <= row["max"] <= row["total"] or not row["count"], row
    lines, (whole,) = told(by_line.stop())
    if whole["lost"]["recursion"]:
        raise tally.Blurred
    mine = [line for line in lines if line["tid"] == load.pid]
    assert Counter(line["values"]["kind"] for line in mine) == {kind: n.count for (_, kind), n in rows.items()}
    assert sum(line["values"]["pages"] or 0 for line in mine) == sum(n.pages for n in rows.values())
    (killed,) = (line for line in mine if line["values"]["kind"] == "oom")
    assert (killed["comm"], killed["values"]["for_comm"], killed["values"]["for_pid"]) == ("fat", "fat", load.pid)
    assert load.pid not in {row["pid"] for row in others.stop().report["rows"]}


@exact
def test_scope(reclaim, limited, trigger):
    """Stalls of the process, by its pid and by its name, and nobody else's."""
    group = limited("scope")
    load = trigger("pages", 0, 0, 2 * LIMIT // PAGE, 0, 0, 0, 0, comm="fat")
    group.add(load.pid)
    mine = [reclaim(*scope, "--by", "tid") for scope in (("-p", load.pid), ("--comm", "fat"))]
    others = reclaim("--comm", "thin", "--by", "tid")
    load.go()
    load.process.wait(tally.PATIENCE)
    mine = [rows_of(tracer.stop().report) for tracer in mine]
    assert mine[0] == mine[1] and {tid for tid, _ in mine[0]} == {load.pid} and mine[0][load.pid, "oom"].count == 1
    other = others.stop().report
    assert not other["rows"] and other["filtered"] >= sum(n.count for n in mine[0].values())


@tally.once
@exact
def test_pages(reclaim, limited, trigger, trace, tmp_path):
    """Page cache of a cgroup is reclaimed for more page cache."""
    group = limited("cache")
    load = trigger("pages", 0, 0, 0, 0, 0, 4 * LIMIT // PAGE, 0, tmp_path / "file")
    group.add(load.pid)
    tracer = reclaim("--by", "tid")
    kernel = trace()
    load.go()
    load.done()
    load.settle()
    traced = only(kernel.stalls(), load.pid)
    rows = only(rows_of(tracer.stop().report), load.pid)
    if not traced:
        pytest.skip("this directory is not on a disk")
    assert rows == traced and rows[load.pid, "memcg"].pages >= 2 * LIMIT // PAGE


# --- memory.high ---------------------------------------------------------------------------------

@pytest.fixture
def high(cgroup):
    """A cgroup with this memory.high, on a kernel whose functions programs can be attached to."""
    if not attaches_to_functions():
        pytest.skip("no fentry")
    v2 = {h.name: h for h in cgroups.hierarchies()}.get("v2")
    if not v2 or "memory" not in (v2.mount / "cgroup.controllers").read_text().split():
        pytest.skip("memory.high is of v2")
    group = cgroup(v2, "high")
    for path in reversed(group.path.parents):
        if path.is_relative_to(v2.mount):
            (path / "cgroup.subtree_control").write_text("+memory")
    (group.path / "memory.high").write_text(str(LIMIT))
    if not (group.path / "memory.pressure").exists():
        pytest.skip("no pressure stall information")
    return group


def pressure_ns(group):
    """How long any of its tasks was stalled for memory."""
    return int(re.search(r"^some .*total=(\d+)", (group.path / "memory.pressure").read_text(), re.M)[1]) * 1000


def times_high(group):
    return int(re.search(r"^high (\d+)", (group.path / "memory.events").read_text(), re.M)[1])


def anonymous(trigger, group, pages):
    """A load in the cgroup that writes to so many pages, on one CPU: pressure of several CPUs is weighted."""
    load = trigger("pages", 0, 0, pages, 0, 0, 0, 0, comm="high")
    group.add(load.pid)
    os.sched_setaffinity(load.pid, {min(os.sched_getaffinity(0))})
    return load


class Books:
    """The kernel's figures of a load at rest, and of its cgroup."""

    def __init__(self, load, group):
        load.settle()
        self.ran = tally.cpu_ns(load.pid)
        self.waited = tally.books(load.pid).delay_ns
        self.pressure = pressure_ns(group)
        self.times = times_high(group)
        self.clock = time.monotonic_ns()
        # As the clock of the pressure, it is not slewed to agree with a server's.
        self.raw = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)

    def __sub__(self, before):
        return SimpleNamespace(**{name: value - getattr(before, name) for name, value in vars(self).items()})


@pytest.mark.everywhere
@exact
def test_high(reclaim, high, trigger):
    """Sleeps above memory.high. The cgroup's pressure also has the reclaim before each sleep, in which the load runs or
    waits for a CPU, as it does for nothing else."""
    load = anonymous(trigger, high, LIMIT // PAGE + 224)
    by_tid, by_line, others = reclaim("--by", "tid"), reclaim("--min", 0), reclaim("-p", os.getpid())
    before = Books(load, high)
    load.go()
    load.done()
    books = Books(load, high) - before
    report = by_tid.stop().report
    stalls = rows_of(report)
    rows = {row["kind"]: row for row in report["rows"] if row["tid"] == load.pid}
    row, total = rows["high"], rows["high"]["total"]
    assert row["pages"] is None and row["unfinished"] is None and row["comm"] == "high"
    assert stalls[load.pid, "memcg"].count == books.times >= row["count"] > 0
    assert 0 < row["avg"] <= row["p99"] <= row["max"] <= total
    # The pressure is in whole us.
    slack = 1000 + abs(books.raw - books.clock)
    assert books.pressure - books.ran - books.waited - slack <= total, (rows, books)
    assert total + rows["memcg"]["total"] <= books.pressure + slack, (rows, books)
    assert total <= books.clock - books.ran, (rows, books)
    lines, (whole,) = told(by_line.stop())
    if whole["lost"]["recursion"]:
        raise tally.Blurred
    mine = [line["values"] for line in lines if line["tid"] == load.pid and line["values"]["kind"] == "high"]
    assert len(mine) == row["count"] and all(each["pages"] is None for each in mine)
    assert load.pid not in {each["pid"] for each in others.stop().report["rows"]}


@pytest.mark.everywhere
@exact
def test_a_kill_ends_a_sleep(reclaim, high, trigger):
    """Until then it is unfinished. Another run that begins and ends meanwhile changes nothing, although the kernel then
    skips programs at the ends of the functions in which the load sleeps."""
    full = anonymous(trigger, high, LIMIT // PAGE // 2)
    full.go()
    full.done()
    # So far above it each sleep is as long as the kernel allows: 2 seconds.
    (high.path / "memory.high").write_text(str(LIMIT // 8))
    load = anonymous(trigger, high, LIMIT // PAGE)
    tracer, short = reclaim("--by", "tid"), reclaim("--by", "tid")
    load.go()
    wait_until(lambda: tally.state(load.pid) == "D", "the load to sleep")
    first = {row["kind"]: row for row in short.stop().report["rows"] if row["tid"] == load.pid}["high"]
    load.process.kill()
    load.process.wait(tally.PATIENCE)
    report = tracer.stop().report
    rows_of(report)
    whole = {row["kind"]: row for row in report["rows"] if row["tid"] == load.pid}["high"]
    assert whole["unfinished"] is None and first["unfinished"] > 0
    assert whole["count"] >= first["count"] + 1 and whole["total"] > first["total"] + first["unfinished"]


def test_high_is_not_measured(reclaim):
    """Without fentry the report says so."""
    note = reclaim("-p", os.getpid()).stop().report.get("note") or ""
    assert ("memory.high" in note) == (not attaches_to_functions()), note


@exact
def test_compaction(reclaim, trace):
    """Compaction of all zones, on request."""
    order = Path("/proc/sys/vm/compact_memory")
    if not order.exists():
        pytest.skip("a kernel without compaction")
    tracer, kernel = reclaim("--by", "tid", "-p", os.getpid()), trace()
    order.write_text("1")
    traced = only(kernel.stalls(), os.getpid())
    rows = rows_of(tracer.stop().report)
    assert rows == traced and rows[os.getpid(), "compact"].count


@pytest.mark.skipif(not tally.GUEST, reason="disturbs the whole machine")
@exact
def test_kswapd(reclaim, trace):
    """A stall of kswapd lasts from its first look until it sleeps again; an unfinished one is reported, too."""
    setting = Path("/proc/sys/vm/min_free_kbytes")
    before = setting.read_text()
    free = int(re.search(r"MemFree:\s+(\d+)", Path("/proc/meminfo").read_text())[1])
    tracer, kernel = reclaim("--by", "tid", "-I", 200), trace()
    try:
        # The watermarks are at 1, 1.25 and 1.5 times this value: kswapd has work, and no other task has.
        setting.write_text(str(int(free / 1.15)))
        seen = b"x" * (32 << 20)
        tracer.await_lines(3)
    finally:
        setting.write_text(before)
    del seen
    wait_until(lambda: all(tally.state(pid) == "S" for pid in kswapds()), "kswapd to sleep")
    tracer.await_lines(3)
    traced = kernel.stalls()
    reports = tracer.stop().reports
    found = Counter()
    for report in reports:
        for key, n in rows_of(report).items():
            found[key] += n.count
    assert {key: n for key, n in found.items() if key[1] == "kswapd" and n} == {
        key: n.count for key, n in traced.items() if key[1] == "kswapd"}
    assert any(row["kind"] == "kswapd" for report in reports for row in report["rows"])


def kswapds():
    return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/comm")
            if path.read_text().startswith("kswapd")]


@tally.once
def test_usage(run):
    for args, words in ((("--min", "soon"), "10ms"), (("--sort", "colour"), "unfinished"),
                        (("--min", "1", "--by", "comm"), "--by"), (("--template", "{pid}"), "--min"),
                        (("--by", "colour"), "kind")):
        result = run(*args, tool="reclaim")
        assert result.code == 2 and words in result.stderr, result
    result = run("-n", tool="reclaim")
    assert result.code == 0 and "mm_vmscan_memcg_reclaim_end" in result.text
