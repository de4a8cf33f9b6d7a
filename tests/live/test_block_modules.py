# SPDX-License-Identifier: BSD-2-Clause
"""The tools for block requests on disks with known properties: null_blk with its latency,
scsi_debug with its errors. In guests, whose kernels have such modules."""

from pathlib import Path

import pytest

import cgroups
import disks
from disks import CACHED, READ, WRITE, Work
from probing import nothing_lost, told
from tally import GUEST, wait_until
from test_block import SOURCES

pytestmark = pytest.mark.skipif(not GUEST, reason="loads modules: in guests only")

MS = 10**6


def start(trigger, disk, *works):
    return trigger("disk", *disks.arguments(disk, works))


def ask(load):
    load.go()
    return load.done()


@pytest.mark.parametrize("source", SOURCES)
def test_known_latency(ends, tool, trigger, source):
    """Completed by a timer, 20 ms after the issue, in the context of any task."""
    disk = disks.null(ends, irqmode=2, completion_nsec=20 * MS, memory_backed=0)
    load = start(trigger, disk, Work(READ, 10, 4096, 0, 4096), Work(WRITE, 5, 4096, 0, 4096))
    scope = ("--json", "--source", source, "-p", load.pid)
    latency = tool(*scope, "--by", "op", tool="biolatency")
    top = tool(*scope, "--by", "comm,disk", tool="biotop")
    snoop = tool(*scope, "--min", "15ms", tool="biosnoop")
    ask(load)
    report = latency.stop().report
    assert nothing_lost(report)
    for group, n in zip(sorted(report["groups"], key=lambda g: g["key"]["op"]), (10, 5)):
        assert group["count"] == n
        assert group["min"] >= 20 * MS
    row, = top.stop().reports[0]["rows"]
    assert (row["comm"], row["disk"], row["requests"]) == ("disk", disk.name, 15)
    assert row["device"] >= 20 * MS
    lines, _ = told(snoop.stop())
    assert len(lines) == 15 and {line["comm"] for line in lines} == {"disk"}


@pytest.mark.parametrize("source", (*SOURCES, "auto"))
def test_in_flight(ends, tool, trigger, source):
    """A request that outlives one run and began before the next is in neither, and both report it."""
    # The kernel itself looks for partitions first: a dozen reads.
    disk = disks.null(ends, irqmode=2, completion_nsec=6_000 * MS, memory_backed=0)
    load = start(trigger, disk, Work(READ, 1, 4096))
    scope = ("--json", "--source", source, "--disk", disk.name)
    first = tool(*scope, tool="biolatency")
    load.go()
    wait_until(lambda: Path(f"/sys/block/{disk.name}/inflight").read_text().split()[0] == "1",
               "the request to be issued")
    report = first.stop().report
    assert report["events"] == 0 and nothing_lost(report)
    assert report["note"].startswith("1 still in flight, not in the figures; ")
    whose = "; --by pid shows by whom" if source == "auto" else f" by disk ({load.pid})"
    assert f"read of {disk.name}{whose}" in report["note"]
    second = tool(*scope, tool="biolatency")
    load.done()
    report = second.stop().report
    assert report["events"] == 0 and nothing_lost(report)
    assert report["note"] == "1 began before the run and ended in it: left out"


def test_writeback(ends, tool, trigger, cgroup):
    """Writeback by a kernel thread is charged to the cgroup that dirtied the pages."""
    hierarchy = cgroups.default_hierarchy()
    if hierarchy.name != "v2":
        pytest.skip("the block layer is not in the hierarchy asked for")
    disk = disks.null(ends, memory_backed=1, size=64)
    group = cgroup(hierarchy, "")
    load = start(trigger, disk, Work(CACHED, 64, 4096, 0, 4096))
    group.add(load.pid)
    vm = Path("/proc/sys/vm")
    for name, value in (("dirty_expire_centisecs", "1"), ("dirty_writeback_centisecs", "10")):
        ends.callback((vm / name).write_text, (vm / name).read_text())
        (vm / name).write_text(value)
    books = disk.books()
    tracer = tool("--json", "--disk", disk.name, "--by", "cgroup,comm,op", tool="bitesize")
    ask(load)
    wait_until(lambda: disk.growth(books).write.bytes == 64 * 4096, "writeback")
    groups = [g for g in tracer.stop().report["groups"] if g["key"]["op"] == "write"]
    assert sum(g["sum"] for g in groups) == 64 * 4096
    assert {g["key"]["cgroup"] for g in groups} == {group.name}
    assert all(g["key"]["comm"].startswith("kworker") for g in groups)


# scsi_debug: reads of ten sectors from this one on fail; sectors before it are good.
BAD = 0x1234


@pytest.fixture(scope="module")
def scsi():
    disks.load("sd_mod")
    return disks.scsi("dev_size_mb=16", "delay=0")


def set_scsi(ends, **values):
    for name, value in values.items():
        path = Path("/sys/bus/pseudo/drivers/scsi_debug") / name
        ends.callback(path.write_text, "0")
        path.write_text(str(value))


@pytest.mark.parametrize("source", SOURCES)
def test_parts_and_errors(ends, tool, trigger, scsi, source):
    """A request with a good part is one request, with an error."""
    set_scsi(ends, opts=2)
    load = start(trigger, scsi, Work(READ, 3, 4096, 0, 4096), Work(READ, 1, 8192, (BAD - 4) * 512))
    tracers = [tool("--json", "--source", source, "-p", load.pid, tool=name)
               for name in ("biosnoop", "biotop")]
    size = tool("--json", "--disk", scsi.name, tool="bitesize")
    _, failed = ask(load)
    lines, report = told(tracers[0].stop())
    found = [(line["values"]["sector"], line["values"]["bytes"], line["values"]["result"])
             for line in lines]
    assert failed == 1 and nothing_lost(report[0])
    assert found == [(0, 4096, "ok"), (8, 4096, "ok"), (16, 4096, "ok"), (BAD - 4, 8192, "ENODATA")]
    row, = tracers[1].stop().reports[0]["rows"]
    assert (row["requests"], row["bytes"], row["errors"]) == (4, 3 * 4096 + 8192, 1)
    group, = size.stop().report["groups"]
    assert (group["count"], group["sum"]) == (4, 3 * 4096 + 8192)


@pytest.mark.parametrize("source", SOURCES)
def test_given_back(ends, tool, trigger, scsi, source):
    """Every fourth command finds the host busy, and is issued again."""
    load = start(trigger, scsi, Work(READ, 40, 4096, 0, 4096))
    tracers = [tool("--json", "--source", source, "-p", load.pid, "--by", "op", tool="biotop"),
               tool("--json", "--source", source, "-p", load.pid, tool="biopattern"),
               tool("--json", "--disk", scsi.name, tool="biopattern"),
               tool("--json", "--disk", scsi.name, tool="biolatency")]
    set_scsi(ends, every_nth=4, opts=0x8000)
    ask(load)
    report, *patterns, latency = (tracer.stop().reports[0] for tracer in tracers)
    row, = report["rows"]
    assert (row["requests"], row["bytes"], row["errors"]) == (40, 40 * 4096, 0)
    assert row["requeued"] >= 8
    for pattern in patterns:
        row, = pattern["rows"]
        assert (row["sequential"], row["random"]) == (39, 1)
    assert latency["events"] == 40 and nothing_lost(latency)
