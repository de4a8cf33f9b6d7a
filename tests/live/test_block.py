# SPDX-License-Identifier: BSD-2-Clause
"""biolatency, biosnoop, biotop, bitesize and biopattern on loop devices, compared with the trigger's
requests, /sys/block/DISK/stat and /proc/PID/io."""

import functools
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import cgroups
import disks
from disks import CACHED, DISCARD, DURABLE, FLUSH, READ, WRITE, Work
from objects import objects_of
from probing import nothing_lost, told
from snooping import exact
from tally import GUEST, KERNEL, Blurred, by_key, flaws, let_work, once, pvm_guest, scaled, steady, wait_until, within

NAMES = {READ: "read", WRITE: "write", FLUSH: "flush", DISCARD: "discard"}

# Kernels before block_io_start have one source less.
SOURCES = ("start", "getrq") if KERNEL >= (6, 5) else ("getrq",)

# 5.10 submits direct reads without REQ_SYNC, as its own tracepoints show; 6.1 sets it.
READ_FLAGS, READ_RWBS = ("Sync", "RS") if KERNEL >= (5, 11) else ("none", "R")

WORKS = (
    Work(READ, 40, 4096, 0, 4096), Work(READ, 20, 16384, 1 << 20, 65536),
    Work(WRITE, 30, 8192, 2 << 20, 8192), Work(FLUSH, 5), Work(DISCARD, 3, 65536, 4 << 20, 65536),
    Work(WRITE, 1, 512, 8 << 20), Work(FLUSH, 1), Work(READ, 3, 4096, 1 << 20, -4096),
)


@pytest.fixture
def disk(ends, directory):
    return disks.loop(ends, directory)


@pytest.fixture
def load(trigger, disk):
    """A trigger that will do this work on the disk."""

    def start(*works, on=disk, **kwargs):
        started = trigger("disk", *disks.arguments(on, works), **kwargs)
        started.disk = on
        return started

    return start


def work(load):
    """Returns the ns that the work took."""
    load.go()
    elapsed, failed = load.done()
    assert not failed
    load.disk.rest()
    return elapsed


def sound(report):
    """
    Nothing was lost, and no request counts as in flight when all have ended. Since 7.0 programs on tracepoints can
    be preempted; the kernel then skips them for others and counts that, and no figures need agree. Guests of PVM
    hide completions that interrupt a thread of process 1.
    """
    if KERNEL >= (7, 0) and report["lost"]["recursion"]:
        raise Blurred
    if pvm_guest() and (report["lost"]["no_end"] or "in flight" in report.get("note", "")):
        raise Blurred
    assert nothing_lost(report), {reason: n for reason, n in flaws(report).items() if n}
    assert "in flight" not in report.get("note", ""), report["note"]
    return report


def lines_of(result):
    lines, (report,) = told(result)
    sound(report)
    assert len(lines) == report["events"]
    return lines


def op_of(line):
    """The operation, from rwbs as in the kernel's own events: F in front is PREFLUSH or FLUSH."""
    rwbs = line["values"]["rwbs"]
    return FLUSH if rwbs[0] == "F" else {"R": READ, "W": WRITE, "D": DISCARD}[rwbs[0]]


def rows_of(report, *names):
    return {tuple(row[name] for name in names): row for row in sound(report)["rows"]}


def io_of(pid):
    text = Path(f"/proc/{pid}/io").read_text()
    return {name: int(n) for name, n in re.findall(r"(\w+): (\d+)", text)}


# --- exactly the trigger's requests --------------------------------------------------------------

@pytest.mark.parametrize("source", SOURCES)
def test_each_request(tool, load, disk, source):
    """Line by line: who, what, where, how large; in the order of completion, which is that of the
    trigger's calls. A worker of the loop device completes them."""
    each = load(*WORKS, comm="asks")
    tracer = tool("--json", "--source", source, "-p", each.pid, tool="biosnoop")
    books, io = disk.books(), io_of(each.pid)
    elapsed = work(each)
    books, io_after = disk.growth(books), io_of(each.pid)
    lines = lines_of(tracer.stop())
    wanted = disks.requests(WORKS)
    found = [(op_of(line), line["values"]["sector"], line["values"]["bytes"]) for line in lines]
    assert found == wanted
    for line in lines:
        assert (line["comm"], line["pid"], line["tid"]) == ("asks", each.pid, each.pid)
        assert (line["values"]["disk"], line["values"]["result"]) == (disk.name, "ok")
    total = sum(line["values"]["queue"] + line["values"]["device"] for line in lines)
    assert 0 < total <= elapsed
    bytes_of = Counter()
    for op, _, size in wanted:
        bytes_of[op] += size
    n = Counter(op for op, _, _ in wanted)
    assert (books.read.n, books.read.bytes) == (n[READ], bytes_of[READ])
    # A request that asks for a flush is a write without bytes in the kernel's books.
    assert (books.write.n, books.write.bytes) == (n[WRITE] + n[FLUSH], bytes_of[WRITE])
    assert (books.discard.n, books.discard.bytes) == (n[DISCARD], bytes_of[DISCARD])
    assert books.flush.n == n[FLUSH]
    assert io_after["read_bytes"] - io["read_bytes"] == bytes_of[READ]
    assert io_after["write_bytes"] - io["write_bytes"] == bytes_of[WRITE]


@pytest.mark.parametrize("source", SOURCES)
def test_sums_and_histograms(tool, load, disk, source):
    """The same requests in four tools at once."""
    def trial():
        each = load(*WORKS)
        start = functools.partial(tool, "--json", "--source", source, "-p", each.pid)
        tracers = [start("--by", "op,disk", tool="biotop"),
                   start("--by", "op,disk", "--of", "total", tool="biolatency"),
                   start("--by", "op,comm", tool="bitesize"), start(tool="biopattern")]
        books = disk.books()
        elapsed = work(each)
        books = disk.growth(books)
        top, latency, size, pattern = (tracer.stop() for tracer in tracers)
        wanted = disks.requests(WORKS)
        sizes = {op: Counter(bytes for each, _, bytes in wanted if each == op) for op in NAMES}
        counts = {op: sum(sizes[op].values()) for op in NAMES}
        sums = {op: sum(n * bytes for bytes, n in sizes[op].items()) for op in NAMES}

        rows = rows_of(top.reports[0], "disk", "op")
        assert {key: (row["requests"], row["bytes"]) for key, row in rows.items()} == {
            (disk.name, name): (counts[op], sums[op]) for op, name in NAMES.items()}
        assert all(not row["errors"] and not row["requeued"] for row in rows.values())
        assert all(row["max"] >= row["avg"] >= row["queue"] + row["device"] - 1 for row in
                   rows.values())
        assert sum(row["time"] for row in rows.values()) <= elapsed

        groups = by_key(latency.report, "disk", "op")
        assert {key: group["count"] for key, group in groups.items()} == {
            (disk.name, name): counts[op] for op, name in NAMES.items()}
        # The kernel's time begins when it allocates the request, and ends when it has completed it. Since 6.9
        # a task that plugs its requests reads the clock once for many: one that ends in that task ends too early. This
        # shows where CPUs stand still, in guests.
        for op in (READ, DISCARD) if KERNEL < (6, 9) or not GUEST else ():
            within(groups[disk.name, NAMES[op]]["sum"] < (getattr(books, NAMES[op]).ms + 1) * 10**6, groups, books)

        groups = by_key(size.report, "op", "comm")
        assert size.report["unit"] == "bytes"
        assert {key: (group["count"], group["sum"]) for key, group in groups.items()} == {
            (NAMES[op], "disk"): (counts[op], sums[op]) for op in (READ, WRITE, DISCARD)}
        for (op, _), group in groups.items():
            expected = sizes[next(each for each in NAMES if NAMES[each] == op)]
            for first, last, n in group["buckets"]:
                assert n == sum(expected[bytes] for bytes in expected if first <= bytes <= last)

        assert {key: (row["sequential"], row["random"], row["sequential_bytes"], row["random_bytes"])
                for key, row in rows_of(pattern.reports[0], "disk", "op").items()} == {
            (disk.name, NAMES[op]): n for op, n in order_of(wanted).items()}

    steady(trial)


def order_of(wanted):
    """The numbers of sequential and random requests and their bytes, for reads and writes; the first one is random."""
    found = {READ: [0] * 4, WRITE: [0] * 4}
    position = None
    for op, sector, size in wanted:
        if op in found:
            at = 0 if sector == position else 1
            found[op][at] += 1
            found[op][at + 2] += size
            position = sector + size // disks.SECTOR
    return {op: tuple(n) for op, n in found.items()}


@pytest.mark.parametrize("source", SOURCES)
def test_merged(tool, load, disk, source):
    """Pages written back one by one become few requests: as many as in the kernel's books, which count
    each request once, and merged ones not at all."""
    # Some kernels, like 5.10, disable merges for loop devices.
    Path(f"/sys/block/{disk.name}/queue/nomerges").write_text("0")
    each = load(Work(CACHED, 512, 4096, 0, 4096), Work(FLUSH, 1))
    tracers = [tool("--json", "--source", source, "--disk", disk.name, *args, tool=name)
               for name, *args in (("biosnoop",), ("biotop", "--by", "op"))]
    books = disk.books()
    work(each)
    books = disk.growth(books)
    lines = lines_of(tracers[0].stop())
    writes = [line["values"]["bytes"] for line in lines if op_of(line) == WRITE]
    assert books.write.merged > 0
    assert (len(writes), sum(writes)) == (books.write.n - 1, 512 * 4096) == (
        books.write.n - 1, books.write.bytes)
    row = rows_of(tracers[1].stop().reports[0], "op")["write",]
    assert (row["requests"], row["bytes"]) == (len(writes), sum(writes))


def test_whoever_submits(tool, load, disk):
    """Tools that do not need submissions do not trace them: they see the same requests from their issue on,
    including merged ones, flushes and requests that complete twice."""
    Path(f"/sys/block/{disk.name}/queue/nomerges").write_text("0")
    each = load(*WORKS, Work(DURABLE, 5, 4096, 0, 4096), Work(CACHED, 64, 4096, 2 << 20, 4096), Work(FLUSH, 1))
    start = functools.partial(tool, "--json", "--disk", disk.name)
    pairs = [(start(*args, tool=name), start(*args, "--source", SOURCES[-1], tool=name))
             for name, *args in (("biolatency", "--by", "disk,op"), ("bitesize",), ("biopattern",))]
    books = disk.books()
    work(each)
    books = disk.growth(books)
    (latency, *_), (size, *_), (pattern, *_) = pairs = [
        [tracer.stop().reports[0] for tracer in pair] for pair in pairs]
    assert all("any submitter" in one["source"] and "(submitter)" in two["source"]
               for one, two in pairs)
    counts, counts_too = ({group["key"]["op"]: group["count"] for group in sound(report)["groups"]}
                          for report in pairs[0])
    assert counts == counts_too
    assert (counts["read"], counts["flush"]) == (books.read.n, books.flush.n)
    sizes, sizes_too = ([(group["key"], group["buckets"], group["sum"]) for group in sound(report)["groups"]]
                        for report in pairs[1])
    assert sizes == sizes_too
    rows, rows_too = (rows_of(report, "disk", "op") for report in pairs[2])
    assert rows == rows_too and len(rows) == 2
    assert latency["events"] == sum(counts.values()) and size["events"] == sum(
        counts.values()) - counts["flush"]
    assert pattern["events"] == counts["read"] + counts["write"]


@pytest.mark.parametrize("source", SOURCES)
def test_split(tool, load, disk, source):
    """Reads and writes that are larger than a request are split."""
    most = int(Path(f"/sys/block/{disk.name}/queue/max_sectors_kb").read_text()) << 10
    each = load(Work(READ, 2, 4 << 20), Work(WRITE, 2, 4 << 20))
    tracer = tool("--json", "--source", source, "-p", each.pid, tool="biosnoop")
    books = disk.books()
    work(each)
    books = disk.growth(books)
    lines = lines_of(tracer.stop())
    for op, kind in ((READ, books.read), (WRITE, books.write)):
        sizes = [line["values"]["bytes"] for line in lines if op_of(line) == op]
        assert (len(sizes), sum(sizes)) == (kind.n, 8 << 20)
        assert max(sizes) <= most
    assert len(lines) >= 2 * (8 << 20) // most


@pytest.mark.parametrize("source", SOURCES)
def test_durable_writes(tool, load, disk, source):
    """Without FUA in the disk each is a write and a flush, which are one request of the kernel's that
    completes twice. Then the call syncs the disk: one more flush, for an empty request."""
    each = load(Work(DURABLE, 10, 4096, 0, 4096))
    tracer = tool("--json", "--source", source, "-p", each.pid, tool="biosnoop")
    books = disk.books()
    work(each)
    books = disk.growth(books)
    lines = lines_of(tracer.stop())
    assert [op_of(line) for line in lines] == [WRITE, FLUSH, FLUSH] * 10
    assert (books.write.n, books.write.bytes, books.flush.n) == (20, 10 * 4096, 20)
    assert sum(line["values"]["bytes"] for line in lines) == 10 * 4096
    assert {line["comm"] for line in lines} == {"disk"}


@pytest.mark.parametrize("source", SOURCES)
def test_at_once(tool, load, disk, source):
    """Several tasks at the same time: each has its own requests, and their sum is the kernel's count."""
    n = scaled(1000)
    loads = [load(Work(READ, n, 4096, i << 22, 4096), comm=f"asks{i}") for i in range(4)]
    tracer = tool("--json", "--source", source, "--disk", disk.name, "--by", "pid", tool="biotop")
    books = disk.books()
    let_work(loads)
    books = disk.growth(books)
    (report,) = tracer.stop().reports
    found = {(row["pid"], row["comm"]): row["requests"] for row in rows_of(report, "pid").values()}
    assert found == {(each.pid, f"asks{i}"): n for i, each in enumerate(loads)}, report
    assert books.read.n == 4 * n


class Requests:
    """The tracer's own map of requests in progress."""

    def __init__(self, tracer):
        maps = [self.bpftool("show", "id", n) for n in objects_of(tracer.pid)["map"]]
        self.id = next(each["id"] for each in maps if each["name"] == "requests")

    @staticmethod
    def bpftool(*args):
        said = subprocess.run(("/usr/sbin/bpftool", "-j", "map", *map(str, args)), stdout=subprocess.PIPE, check=True)
        return json.loads(said.stdout or "null")

    def now(self):
        """{key: value}, with bytes in bpftool's notation."""
        return {tuple(entry["key"]): entry["value"] for entry in self.bpftool("dump", "id", self.id)
                if isinstance(entry["value"], list)}

    def with_driver(self, disk):
        """Requests of the disk with a time of issue (the second member)."""
        major, minor = map(int, Path(f"/sys/block/{disk.name}/dev").read_text().split(":"))

        def number(value, at, size):
            return int.from_bytes(bytes(int(byte, 16) for byte in value[at:at + size]), sys.byteorder)

        return [(key, value) for key, value in self.now().items()
                if number(value, 8, 8) and number(value, 32, 4) == major << 20 | minor]

    def plant(self, key, value):
        self.bpftool("update", "id", self.id, "key", *key, "value", *value)


@pytest.mark.parametrize("source", SOURCES)
def test_missed_ends(tool, load, disk, source):
    """
    The kernel may run no program at the end of a request. The request's state then remains until its address is used
    again, and is counted as lost. Here the state of a request that has ended is put back.
    """
    n = scaled(10000)
    first, *later = [load(Work(READ, n, 4096, 0, 0)) for _ in range(6)]
    tracer = tool("--json", "--source", source, "--disk", disk.name, "--by", "pid", tool="biotop")
    requests = Requests(tracer)
    before, found = disk.books().read.n, []
    first.go()
    while not found and disk.books().read.n < before + n:
        found = requests.with_driver(disk)
    first.done()
    if not found:
        raise Blurred
    key, value = found[0]
    disk.rest()
    wait_until(lambda: key not in requests.now(), "its end")
    requests.plant(key, value)
    used = {first.pid}
    # Each CPU prefers the tags that it used last, and an address belongs to a tag.
    while key in requests.now():
        if not later:
            raise Blurred
        each = later.pop()
        used.add(each.pid)
        work(each)
    report, = tracer.stop().reports
    lost = report["lost"]["no_end"]
    assert {reason: n for reason, n in flaws(report).items() if n} == {"no_end": lost}
    if lost > 1 and pvm_guest():
        raise Blurred
    assert {row["pid"]: row["requests"] for row in report["rows"]} == {pid: n for pid in used}
    assert lost == 1


def test_errors(ends, tool, trigger, directory):
    """A loop device whose file system has no room left."""
    small = directory / "small"
    small.mkdir(exist_ok=True)
    disks.mount(ends, small, "tmpfs", "size=1m")
    disk = disks.loop(ends, small, 8 << 20)
    each = trigger("disk", *disks.arguments(disk, [Work(WRITE, 4, 65536, 0, 1 << 16),
                                                   Work(WRITE, 40, 65536, 1 << 20, 1 << 16)]))
    tracers = [tool("--json", "-p", each.pid, tool=name) for name in ("biosnoop", "biotop")]
    each.go()
    _, failed = each.done()
    disk.rest()
    lines = lines_of(tracers[0].stop())
    assert 0 < failed <= 40
    results = Counter(line["values"]["result"] for line in lines)
    assert results["ok"] == len(lines) - failed and len(results) == 2
    assert next(result for result in results if result != "ok") in ("EIO", "ENOSPC")
    row, = tracers[1].stop().reports[0]["rows"]
    assert (row["requests"], row["errors"]) == (44, failed)


# --- filters, keys, forms ------------------------------------------------------------------------

@pytest.mark.parametrize("name", ("biolatency", "biotop", "bitesize", "biosnoop", "biopattern"))
def test_scope_and_disk(ends, tool, load, disk, directory, name):
    """Requests out of scope, or of another disk, are counted as filtered, once each."""
    (directory / "other").mkdir(exist_ok=True)
    other = disks.loop(ends, directory / "other")
    loads = [load(Work(READ, 10, 4096, 0, 4096)), load(Work(READ, 7, 4096, 0, 4096), on=other)]
    scopes = (("-p", loads[0].pid, "--disk", disk.path), ("-p", loads[0].pid, "--disk", other.name),
              ("-p", loads[1].pid))
    tracers = [tool("--json", *scope, tool=name) for scope in scopes]
    for each in loads:
        work(each)
    reports = [tracer.stop() for tracer in tracers]
    reports = [told(each)[1][0] if name == "biosnoop" else each.reports[0] for each in reports]
    assert [report["events"] for report in reports] == [10, 0, 7]
    assert all(report["filtered"] >= n for report, n in zip(reports, (7, 17, 10)))


def test_keys(tool, load, disk):
    """Flags, names and cgroups of the submitter."""
    each = load(Work(READ, 5, 4096, 0, 4096), comm="sub\x1bmits")
    tracer = tool("--json", "--by", "disk,op,flags,pid,comm,uid", "-p", each.pid, tool="biolatency")
    work(each)
    group, = tracer.stop().report["groups"]
    assert group["key"] == {"disk": disk.name, "op": "read", "flags": READ_FLAGS, "uid": 0, "user": "root",
                            "pid": each.pid, "comm": "sub\\x1bmits"}


def test_cgroup(tool, load, cgroup, disk):
    hierarchy = cgroups.default_hierarchy()
    group = cgroup(hierarchy, "disks")
    each = load(Work(READ, 5, 4096, 0, 4096))
    group.add(each.pid)
    tracers = [tool("--json", *args, "--disk", disk.name, tool="biolatency") for args in (
        ("--by", "cgroup"), ("-G", group.path))]
    work(each)
    by_cgroup, scoped = (tracer.stop().report for tracer in tracers)
    assert {g["key"]["cgroup"]: g["count"] for g in by_cgroup["groups"]} == {group.name: 5}
    assert scoped["events"] == 5


def test_least(tool, load, disk):
    """In the kernel: shorter requests are neither shown nor counted."""
    each = load(Work(WRITE, 20, 4096, 0, 4096), Work(FLUSH, 5))
    tracers = [tool("--json", "--min", least, "-p", each.pid, tool="biosnoop")
               for least in ("0", "300us", "1h")]
    work(each)
    lines = [lines_of(tracer.stop()) for tracer in tracers]
    assert [len(lines[0]), len(lines[2])] == [25, 0]
    assert len(lines[1]) <= 25
    assert all(line["values"]["queue"] + line["values"]["device"] >= 300_000 for line in lines[1])


def test_times_add_up(tool, load, disk):
    """total = queue + device, request by request. Here there is one: the ends in each tool's own clock
    differ by some microseconds."""
    each = load(Work(WRITE, 50, 4096, 0, 4096))
    tracers = [tool("--json", "--of", of, "-p", each.pid, tool="biolatency")
               for of in ("queue", "device", "total")]
    elapsed = work(each)
    queue, device, total = (tracer.stop().report["groups"][0] for tracer in tracers)
    assert queue["count"] == device["count"] == total["count"] == 50
    assert 0 < queue["sum"] < total["sum"] <= elapsed
    assert 0 < device["sum"] < total["sum"]


def test_intervals(tool, load, disk):
    """Reports are differences: nothing twice, nothing missing."""
    each = load(Work(WRITE, 300, 4096, 0, 4096), Work(FLUSH, 20))
    tracer = tool("--json", "-p", each.pid, "-I", 20, tool="biotop")
    work(each)
    reports = tracer.stop().reports
    rows = [row for report in reports for row in report["rows"]]
    assert sum(row["requests"] for row in rows if row["op"] == "write") == 300
    assert sum(row["bytes"] for row in rows) == 300 * 4096
    assert sum(report["events"] for report in reports) == 320
    assert all(row["max"] >= row["avg"] > 0 for row in rows)
    assert {row["comm"] for row in rows} == {"disk"}


def test_forms(run, tool, load):
    each = load(Work(READ, 5, 4096, 0, 4096))
    tracers = [tool("-p", each.pid, "--template", "{rwbs} {bytes} by {comm}", tool="biosnoop"),
               tool("-p", each.pid, tool="biotop"), tool("-p", each.pid, tool="biopattern"),
               tool("-p", each.pid, "--csv", tool="biosnoop")]
    work(each)
    lines, top, pattern, csv = (tracer.stop().text for tracer in tracers)
    assert lines.count(f"{READ_RWBS} 4096 by disk\n") == 5
    assert "requests" in top and "20,480" in top
    assert "random_percent" in pattern
    assert csv.startswith("time_ns,comm,pid,tid,cpu,disk,rwbs,sector,bytes,queue,device,result\n")


@once
def test_usage(run):
    for tool, args, words in (
            ("biolatency", ("--of", "sleep"), "queue, device, total"),
            ("biolatency", ("--disk", "nonsense"), "unknown disk 'nonsense'"),
            ("biolatency", ("--disk", "../block"), "unknown disk '../block'"),
            ("biolatency", ("--source", "x"), "auto, start or getrq"),
            ("biolatency", ("--by", "sector"), "disk, op, flags"),
            ("biosnoop", ("--min", "soon"), "10ms"),
            ("biotop", ("--sort", "size"), "requests, bytes")):
        result = run(*args, tool=tool)
        assert result.code == 2 and words in result.stderr, (tool, args, result)


@pytest.mark.parametrize("name", ("biolatency", "biotop", "bitesize", "biosnoop", "biopattern"))
def test_explain(run, name):
    result = run("-n", tool=name)
    assert result.code == 0 and "on_complete at tp_btf/block_rq_complete" in result.text
    assert ("(submitter)" in result.text) == (name in ("biotop", "biosnoop"))


@once
@pytest.mark.parametrize("args", (("-p", "1"), ("-C", "0"), ("--by", "pid"), ("--by", "op,flags"), ("--by", "cpu"),
                                  ("--of", "queue"), ("--of", "total"), ("--source", SOURCES[0])))
def test_submissions_that_matter(run, args):
    """Options that need data known only at submission."""
    assert "(submitter)" in run("-n", *args, tool="biolatency").text


for each_test in [name for name in globals() if name.startswith("test_")]:
    globals()[each_test] = exact(globals()[each_test])
