# SPDX-License-Identifier: BSD-2-Clause
"""uringstat compared with a program that counts and times its own requests."""

import re
import subprocess

import pytest

import tally
from snooping import exact

N, MS = 20, 5
# The actions of the trigger, in its order: operation, how it was completed, result.
KINDS = (
    ("nop", "direct", "ok"), ("recv", "direct", "ok"), ("read", "direct", "EBADF"), ("recv", "poll", "ok"),
    ("fsync", "worker", "ok"), ("timeout", "direct", "ETIME"), ("op 250", "direct", "EINVAL"),
)

# Whether completions name the request, not only its ring and user_data. Requests that cannot be prepared are also seen.
NAMES_REQUESTS = tally.KERNEL >= (5, 18)
SEEN = KINDS if NAMES_REQUESTS else [kind for kind in KINDS if kind[2] not in ("EBADF", "EINVAL")]


pytestmark = pytest.mark.skipif(not tally.allows_io_uring(), reason="this machine forbids io_uring")


@pytest.fixture
def uringstat(tool):
    return lambda *args: tool("--json", *args, tool="uringstat")


def sums(report, *names):
    found = {}
    for row in report["rows"]:
        key = tuple(row[name] for name in names)
        assert key not in found, report
        found[key] = row
    return found


def whole(report):
    """Nothing was lost, except what exact() handles."""
    lost = {reason for reason, n in tally.flaws(report).items() if n}
    if tally.KERNEL >= (7, 0) and lost == {"recursion"}:
        raise tally.Blurred
    assert not lost, report
    return report


@pytest.mark.everywhere
@exact
def test_each_kind(uringstat, trigger):
    """Exact counts. The trigger's clock reads before the submission and after the completion, so its times are longer;
    the waits of MS are at least that long, except for the rounding of a timer to its tick."""
    load = trigger("uring", N, MS)
    tracer = uringstat("-p", load.pid)
    load.go()
    spent = load.done()
    report = whole(tracer.stop().report)
    found = sums(report, "op", "via", "result")
    for kind, ns in zip(KINDS, spent):
        if kind not in SEEN:
            continue
        row = found.pop(kind)
        assert row["count"] == N and 0 < row["total"] <= ns and row["max"] <= row["total"], (kind, row, ns)
        assert kind[:2] not in (("recv", "poll"), ("timeout", "direct")) or row["total"] >= 0.99 * N * MS * 1e6, row
    assert not found and report["events"] == N * len(SEEN), report


@exact
def test_keys(uringstat, trigger):
    """The sums are the same by any key."""
    loads = [trigger("uring", N, 0, comm=name) for name in ("one", "other")]
    pids = ",".join(str(load.pid) for load in loads)
    tracers = [uringstat("-p", pids, *by) for by in ((), ("--by", "op"), ("--by", "comm"), ("--by", "pid,result"))]
    tally.let_work(loads)
    usual, by_op, by_comm, by_result = (whole(tracer.stop().report) for tracer in tracers)
    total = sum(row["count"] for row in usual["rows"])
    assert total == 2 * N * len(SEEN)
    assert {row["op"] for row in by_op["rows"]} == {op for op, _, _ in SEEN}, by_op
    for report in by_op, by_comm, by_result:
        assert sum(row["count"] for row in report["rows"]) == total, report
    assert {row["comm"]: row["count"] for row in by_comm["rows"]} == {"one": total / 2, "other": total / 2}
    errors = {key: row["count"] for key, row in sums(by_result, "pid", "result").items() if key[1] != "ok"}
    assert errors == {(load.pid, error): N for load in loads for _, _, error in SEEN if error != "ok"}, by_result


def test_scope(uringstat, trigger):
    """Requests of others are filtered, and their completions are not taken for some that began before the run."""
    one, other = trigger("uring", N, 0, comm="one"), trigger("uring", N, 0, comm="other")
    tracer = uringstat("--comm", "one")
    tally.let_work([other])
    tally.let_work([one])
    report = tracer.stop().report
    each = N * len(SEEN)
    assert report["events"] == each and each <= report["filtered"] < 2 * each, report
    assert "begun_before" not in report and ("note" not in report or not NAMES_REQUESTS), report


@pytest.mark.everywhere
@exact
def test_the_same_user_data(uringstat, trigger):
    """Programs may give all requests the same number. Before 5.18 completions have no other."""
    load = trigger("uring", "same", N, 50)
    tracer = uringstat("-p", load.pid)
    tally.let_work([load])
    report = tracer.stop().report
    if NAMES_REQUESTS:
        row, = whole(report)["rows"]
        assert row["count"] == N and row["op"] == "timeout", report
    else:
        assert report["lost"]["no_end"] == N - 1 and report["events"] == 1, report
        assert report["note"] == f"{N - 1} completions of unknown requests", report


def test_requests_in_flight(uringstat, trigger):
    load = trigger("uring", "rests", N)
    tracer = uringstat("-p", load.pid)
    tally.let_work([load])
    report = tracer.stop().report
    assert report["events"] == 0 and report["note"].startswith(f"{N} requests in flight"), report


@pytest.mark.skipif(tally.KERNEL < (5, 19), reason="multishot accept came with 5.19")
def test_multishot(uringstat, trigger):
    load = trigger("uring", "accepts", N)
    tracer = uringstat("-p", load.pid)
    tally.let_work([load])
    report = tracer.stop().report
    assert report["events"] == 0, report
    assert report["note"] == f"1 request in flight; {N} more completions of multishot requests", report


def test_table(run):
    text = run("--", tally.BUILD / "triggers/uring", N, 0, tool="uringstat").text
    assert re.search(r"^op +via +result +count +total +avg +p50 +p99 +max$", text, re.M), text
    assert re.search(rf"^fsync +worker +ok +{N} ", text, re.M), text


def test_names_of_operations():
    """The kernel's own enumeration, as far as it goes."""
    dump = subprocess.run(["bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux"], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"'IORING_OP_(\w+)' val=(\d+)", dump)
    known = re.search(r"ops\[\] = \{(.*?)\};", (tally.ROOT / "tools/calls/uringstat.c").read_text(), re.S)[1]
    names = re.findall(r'"(\w+)"', known)
    kernel = {int(number): name.lower() for name, number in found if name != "LAST"}
    assert kernel and kernel == dict(list(enumerate(names))[:len(kernel)])
