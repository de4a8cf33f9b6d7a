# SPDX-License-Identifier: BSD-2-Clause
"""probe on block requests, with the filters that people type for them."""

import os
import re
import subprocess

import pytest

import disks
import tracefs
from disks import DURABLE, READ, Work
from probing import alike, report_of
from tally import GUEST, Blurred, flaws, steady

ISSUE, COMPLETE = "block:block_rq_issue", "block:block_rq_complete"
SIZE, N = 1 << 16, 8

# Filters as people type them, and the number of requests of issue() that match: dd reads 128 sectors at a time.
FILTERS = (
    ("nr_sector > 200", 0), ("nr_sector >= 100", N), ("rwbs == \"WS\"", 0), ("rwbs ~ \"*W*\"", 0),
    ("rwbs ~ \"R*\"", N), ("bytes < 100", 0), ("bytes >= 64K", N), ("dev == 0x800000", 0),
    ("dev == 8:0", 0), ("nr_sector == 128 && rwbs == \"R\" || rwbs == \"RS\"", N),
)

# Others of the same kind, on events that have the fields.
OTHERS = (
    ("syscalls:sys_enter_read", "count < 10"), ("syscalls:sys_exit_read", "ret < 0"),
    ("syscalls:sys_enter_openat", "flags == 0x400000 || flags == 0x402000"),
    ("syscalls:sys_enter_openat", "flags & 0x40"),
    ("syscalls:sys_enter_write size=count skc_state=fd", "size > 0 && skc_state != 1"),
    ("syscalls:sys_enter_write size=count state=fd", "(size >= 40 && size <= 400) && state != 1"),
    ("syscalls:sys_enter_write size=count state=fd", "(size <= 40 || size >= 400) && state != 1"),
)


@alike
@pytest.mark.parametrize("filter, _", FILTERS)
def test_filters_compile_as_typed(run, filter, _):
    assert run("-n", ISSUE, "--filter", filter, tool="probe").code == 0


@alike
@pytest.mark.parametrize("event, filter", OTHERS)
def test_filters_of_other_events_compile_as_typed(run, event, filter):
    assert run("-n", event, "--count", "--filter", filter, tool="probe").code == 0


# --- real requests -------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def file():
    """A file on a disk, or None: a guest's root is on no disk of its own."""
    path = "/var/tmp/tally-test-blocks"
    try:
        subprocess.run(["dd", "if=/dev/urandom", f"of={path}", f"bs={SIZE}", f"count={N}", "conv=fsync"],
                       check=True, stderr=subprocess.DEVNULL)
        subprocess.run(["dd", f"if={path}", "of=/dev/null", f"bs={SIZE}", "iflag=direct"], check=True,
                       stderr=subprocess.DEVNULL)
        device = os.stat(path).st_dev
        yield path if os.major(device) else None
    except subprocess.CalledProcessError:
        yield None
    finally:
        os.unlink(path)


def reads(path):
    """A command that reads a file with O_DIRECT, 128 sectors at a time."""
    return "dd", f"if={path}", "of=/dev/null", f"bs={SIZE}", "iflag=direct", "status=none"


def issue(run, path, *args):
    """probe's report on reads(). The program runs once before: its own pages are then in memory."""
    subprocess.run(reads(path), check=True)
    return report_of(run("--json", *args, "--", *reads(path), tool="probe"))


@pytest.fixture
def disk(file):
    if not file or GUEST:
        pytest.skip("no file here is on a disk")
    return file


def test_filters_select(run, disk):
    for filter, n in FILTERS:
        report = issue(run, disk, ISSUE, "--filter", filter, "--sum", "nr_sector")
        assert sum(row["sum"] for row in report["rows"]) == n * 128, filter


def test_keys_of_requests(run, disk):
    report = issue(run, disk, ISSUE, "--sum", "bytes", "--by", "rwbs,comm", "--filter", "rwbs ~ \"R*\"")
    assert {(r["rwbs"][0], r["comm"]): r["sum"] for r in report["rows"]} == {("R", "dd"): SIZE * N}


def test_device_by_node(run, disk):
    device = os.stat(disk).st_dev
    name = os.path.basename(os.readlink(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"))
    for filter in (f"dev == /dev/{name}", f"dev == {os.major(device)}:{os.minor(device)}"):
        report = issue(run, disk, ISSUE, "--filter", filter, "--sum", "nr_sector")
        assert report["rows"][0]["sum"] == N * 128, filter


def test_devices_have_the_name_that_filters_take(run, disk):
    """major:minor, as a key and in a stream."""
    device = os.stat(disk).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    report = issue(run, disk, ISSUE, "--by", "dev", "--filter", f"dev == {wanted}", "--sum", "nr_sector")
    assert [(row["dev"], row["sum"]) for row in report["rows"]] == [(wanted, N * 128)], report
    result = run(
        f"{ISSUE} dev nr_sector",
        "--filter",
        f"dev == {wanted}",
        "--",
        "dd",
        f"if={disk}",
        "of=/dev/null",
        f"bs={SIZE}",
        "iflag=direct",
        "status=none",
        tool="probe",
    )
    # A read from two places on the disk is two requests.
    shown = re.findall(rf" dev={wanted} nr_sector=(\d+)$", result.text, re.MULTILINE)
    assert len(shown) >= N and sum(map(int, shown)) == N * 128, result


def test_latency_of_requests(tool, disk):
    """The most common form of the question. Completions come in whatever context is running then, so none is
    filtered."""
    tracer = tool("--json", "--from", ISSUE, "--to", COMPLETE, "--match", "dev,sector", "--hist",
                  "$elapsed", "--by", "rwbs", tool="probe")
    subprocess.run(["dd", f"if={disk}", "of=/dev/null", f"bs={SIZE}", "iflag=direct", "status=none"],
                   check=True)
    report = report_of(tracer.stop())
    assert (report["unit"], report["value"]) == ("ns", "$elapsed")
    assert sum(g["count"] for g in report["groups"] if g["key"]["rwbs"].startswith("R")) >= N
    assert all(1000 < g["min"] <= g["max"] < 60 * 10**9 for g in report["groups"])


# --- flushes ---------------------------------------------------------------------------------------

EVENT = re.compile(r"block_rq_(issue|complete): (\d+,\d+) (\w+) (?:\d+ )?\(.*?\) (\d+) \+ (\d+)")
PAIR = "--json", "--from", ISSUE, "--to", COMPLETE
# Reads, and writes with a flush before and after them.
WORKS = Work(READ, 10, 4096, 0, 4096), Work(DURABLE, 10, 4096, 1 << 20, 4096)


def pairs(events):
    """(requests matched by device and sector in the kernel's order, ends without a begin, begins without an end)."""
    under_way, found, unmatched, no_end = set(), 0, 0, 0
    for kind, dev, _, sector, _ in events:
        if kind == "issue":
            no_end += (dev, sector) in under_way
            under_way.add((dev, sector))
        elif (dev, sector) in under_way:
            under_way.discard((dev, sector))
            found += 1
        else:
            unmatched += 1
    return found, unmatched, no_end


@pytest.fixture
def flushed(ends, tool, trigger, directory):
    """Reports of probes with these options at the same time, and the kernel's own record; only where there is no other
    disk."""
    if not GUEST:
        pytest.skip("other disks are busy here")

    def trial(*options):
        disk = disks.loop(ends, directory)
        dev = ",".join(str(n) for n in (os.major(os.stat(disk.path).st_rdev), os.minor(os.stat(disk.path).st_rdev)))
        tracers = [tool(*PAIR, *each, tool="probe") for each in options]
        load = trigger("disk", *disks.arguments(disk, WORKS))
        ring = tracefs.Instance()
        try:
            for event in ("issue", "complete"):
                ring.enable(f"block/block_rq_{event}")
            load.go()
            load.done()
            reports = [tracer.stop().report for tracer in tracers]
            events = EVENT.findall(ring.stop())
        finally:
            ring.close()
        if {event[1] for event in events} != {dev}:
            raise Blurred(events)
        return reports, events

    return trial


def test_what_has_no_partner(flushed):
    """By device and sector: begins and ends without partners are counted as such; with a filter on the sectors all have
    partners."""

    def trial():
        (plain, filtered), events = flushed(("--match", "dev,sector", "--count"),
                                            ("--match", "dev,sector", "--count", "--filter", "nr_sector > 0"))
        if plain["lost"]["recursion"] or filtered["lost"]["recursion"]:
            raise Blurred(plain)
        found, unmatched, no_end = pairs(events)
        told = {reason: n for reason, n in flaws(plain).items() if n}
        assert (plain["events"], told) == (found, {"unmatched": unmatched, "no_end": no_end})
        assert unmatched >= no_end > 0
        assert filtered["events"] == sum(event[0] == "issue" and event[4] != "0" for event in events)
        assert not any(flaws(filtered).values())

    steady(trial)


def test_flushes_by_device(flushed):
    def trial():
        (report,), events = flushed(("--match", "dev", "--count", "--filter", 'rwbs == "FF"'))
        if report["lost"]["recursion"]:
            raise Blurred(report)
        assert report["events"] == sum(event[0] == "issue" and event[2] == "FF" for event in events) > 0
        assert not any(flaws(report).values())

    steady(trial)
