# SPDX-License-Identifier: BSD-2-Clause
"""stackcount on functions of the kernel: exact counts by call chains that system calls are known to take."""

import fcntl
import os
import socket
import struct

import pytest

from stackcounting import ask_of, can_count, losses, names, observe, of, reports_of, value
from tally import KERNEL, beside, scaled

pytestmark = [beside, pytest.mark.exact,
              pytest.mark.skipif(not can_count("vfs_read"), reason="this kernel lets nobody probe its functions")]

OWN = ("-p", str(os.getpid()))
READS, PREADS = 30, 20
SIZE = 12345                    # no other read asks for so much
THESE = f"count == {SIZE}"


@pytest.fixture
def zero(ends):
    fd = os.open("/dev/zero", os.O_RDONLY | os.O_CLOEXEC)
    ends.callback(os.close, fd)
    return fd


def kernel_part(stack):
    return tuple(f["name"] for f in stack["frames"] if f["module"] == "[kernel]")


def by_caller(report):
    """{caller: value} of stacks whose innermost frame is the function probed."""
    found = {}
    for stack in report["stacks"]:
        caller = kernel_part(stack)[-2]
        found[caller] = found.get(caller, 0) + stack["value"]
    return found


def test_counts_and_callers(ends, zero):
    """read() and pread() come to vfs_read() by two ways: each counted exactly, and told apart by its caller."""
    def work():
        for _ in range(READS):
            os.read(zero, SIZE)
        for _ in range(PREADS):
            os.pread(zero, SIZE, 0)

    wanted = [
        (("--filter", THESE), READS + PREADS),
        (("--filter", THESE, "--caller", "ksys_*"), None),
        (("--filter", f"{THESE} && $caller !~ \"ksys_*\""), None),
        (("--filter", f"{THESE} || pid == 0", "--caller", "ksys_read", "-K", "--sum", "count"), SIZE * READS),
    ]
    reports = reports_of(observe(ends, None, [("vfs_read", *OWN, *args) for args, _ in wanted], work))
    for (args, total), report in zip(wanted, reports):
        assert total is None or value(report["stacks"]) == total, (args, report)
        assert not losses(report), args
        for stack in report["stacks"]:
            assert kernel_part(stack)[-1] == "vfs_read" and "do_syscall_64" in names(stack), stack
    whole, like, unlike, summed = map(by_caller, reports)
    assert {**like, **unlike} == whole and not set(like) & set(unlike), reports
    assert all(name.startswith("ksys_") for name in like), like
    assert not any(name.startswith("ksys_") for name in unlike), unlike
    assert summed == {"ksys_read": SIZE * READS} and whole.pop("ksys_read") == READS, reports
    assert sum(whole.values()) == PREADS and all("pread64" in name for name in whole), reports[0]
    for stack in reports[3]["stacks"]:
        assert {f["module"] for f in stack["frames"]} == {"[kernel]"}, stack


def test_a_command(run):
    result = run("vfs_read", "--json", "-K", "--filter", THESE, "--",
                 "dd", "if=/dev/zero", "of=/dev/null", f"bs={SIZE}", "count=25", "status=none", tool="stackcount")
    report = result.report
    assert report["events"] == 25 and by_caller(report) == {"ksys_read": 25}, result


def connection(ends):
    """The sending end of one by TCP."""
    with socket.socket() as listener:
        # IFF_UP, IFF_RUNNING by SIOCSIFFLAGS: a guest's loopback may be down.
        fcntl.ioctl(listener, 0x8914, struct.pack("16sh", b"lo", 0x41))
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        sender = socket.create_connection(listener.getsockname())
        ends.callback(sender.close)
        receiver, _ = listener.accept()
        ends.callback(receiver.close)
    return sender


def test_many_callers(ends):
    """A glob of some hundred functions, and all others: they sum up to the total."""
    sender = connection(ends)

    def work():
        for _ in range(40):
            sender.send(b"x" * 100)

    tcp, others = reports_of(observe(ends, None, [("release_sock", "-K", *OWN, *args) for args in (
        ("--caller", "tcp_*"), ("--filter", '$caller !~ "tcp_*"'))], work))
    assert by_caller(tcp)["tcp_sendmsg"] == 40 and tcp["filtered"] >= others["events"], tcp
    assert all(name.startswith("tcp_") for name in by_caller(tcp)), tcp
    assert not any(name.startswith("tcp_") for name in by_caller(others)), others
    assert others["filtered"] >= tcp["events"] and not losses(tcp) and not losses(others), others


def test_two_cpus(ends, trigger):
    """By name, with the whole way from the program to the function."""
    n = scaled(8000)
    load = trigger("chains", n, 2, 1)
    total, by_cpu = reports_of(observe(ends, load, [("__x64_sys_getppid", *by) for by in ((), ("--by", "cpu"))]))
    for report, stacks, due in ((total, total["stacks"], 2 * n), (by_cpu, of(by_cpu, cpu=0), n),
                                (by_cpu, of(by_cpu, cpu=1), n)):
        assert value(stacks) == due and not losses(report), report
        assert all(ask_of(stack) for stack in stacks), report
        assert {kernel_part(stack)[-1] for stack in stacks} == {"__x64_sys_getppid"}, report


def test_returns_and_several(ends, zero):
    """A function and its return are two events: the innermost frame at the return is the caller."""
    def work():
        for _ in range(READS):
            os.read(zero, SIZE)

    report, = reports_of(observe(ends, None, [("vfs_read", "vfs_read%return", "-K", *OWN)], work))
    calls, returns = of(report, event="vfs_read"), of(report, event="vfs_read%return")
    assert value(calls) >= READS and value(returns) >= READS, report
    # Before, the kernel cannot look behind a return address that it has replaced itself.
    if KERNEL >= (5, 15):
        calls = [s for s in calls if kernel_part(s)[-2] == "ksys_read"]
        returns = [s for s in returns if kernel_part(s)[-1] == "ksys_read"]
        assert value(returns) == value(calls) >= READS, report


def test_a_function_that_the_kernel_has_under_another_name(run):
    """kmem_cache_alloc() is kmem_cache_alloc_noprof() from 6.10 on: it is found, and said."""
    with open("/proc/kallsyms") as symbols:
        there = {line.split()[2] for line in symbols}
    for tool in ("stackcount", "probe"):
        result = run("--json", "kmem_cache_alloc", "--", "sh", "-c", "ls / >/dev/null", tool=tool)
        assert result.code == 0, result
        source, events = result.report["source"], result.report["events"]
        assert events > 0, result
        if "kmem_cache_alloc" in there:
            assert "here" not in source
        else:
            assert "kmem_cache_alloc is kmem_cache_alloc_noprof here" in source, source
    result = run("kmem_cache_alloc_nothing", "-d", "0.1", tool="stackcount")
    assert result.code == 1 and "no event 'kmem_cache_alloc_nothing'" in result.stderr, result
