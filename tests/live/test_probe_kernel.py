# SPDX-License-Identifier: BSD-2-Clause
"""probe on functions of the kernel: arguments and members against what it says of them itself."""

import fcntl
import os
import socket
import struct
from pathlib import Path

import pytest

from probing import counts_by, nothing_lost, report_of, rows_by, stream_of, watch
from tally import Tool, count


def can_probe():
    tool = Tool("-n", "vfs_read", ready=False, tool="probe")
    try:
        return tool.wait().code == 0
    finally:
        tool.close()


pytestmark = [pytest.mark.exact,
              pytest.mark.skipif(not can_probe(), reason="this kernel lets nobody probe its functions")]

OWN = ("-p", str(os.getpid()))
SIZES = (1, 100, 1000)


def bring_up_loopback():
    with socket.socket() as s:
        request = struct.pack("16sh", b"lo", 0x41)      # IFF_UP, IFF_RUNNING
        fcntl.ioctl(s, 0x8914, request)                 # SIOCSIFFLAGS


class Connection:
    """Both ends of a connection by TCP, what is sent through it known."""

    def __init__(self):
        bring_up_loopback()
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            self.port = listener.getsockname()[1]
            self.sender = socket.socket()
            self.sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 20000)
            self.sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.sender.connect(("127.0.0.1", self.port))
            self.receiver, _ = listener.accept()

    def send(self):
        for size in SIZES:
            self.sender.send(b"x" * size)

    def close(self):
        self.sender.close()
        self.receiver.close()


@pytest.fixture
def connection(ends):
    each = Connection()
    ends.callback(each.close)
    return each


def test_arguments_at_a_return(ends, connection):
    """They are those of the call that returns, which has sent all of it; by fexit where there is one, and by a return
    probe."""
    command = "tcp_sendmsg%return size sk->sk_sndbuf last=$arg3 ret=$retval"
    results = watch(ends, [(command, *OWN), (command + " at=$stack", *OWN),
                           (command, "--filter", "size > 10 && $retval < 1000", *OWN)], connection.send)
    sndbuf = connection.sender.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    for result, sizes in zip(results, (SIZES, SIZES, SIZES[1:2])):
        got, report = stream_of(result)
        assert [(each["size"], each["sk_sndbuf"], each["last"], each["ret"]) for each in got] == \
            [(size, sndbuf, size, size) for size in sizes]
        assert nothing_lost(report) and "; arguments saved by " in report["source"]


def test_members_of_a_socket(ends, connection):
    """As getsockopt() and getsockname() have them; a bit-field and an enumerator's name among them."""
    command = ("tcp_sendmsg size sk->__sk_common.skc_state port=sk->__sk_common.skc_num "
               "family=sk->__sk_common.skc_family sk->sk_sndbuf reuse=sk->__sk_common.skc_reuse "
               "to=sk->__sk_common.skc_dport $arg3 cast=((struct sock *)$arg1)->sk_sndbuf "
               "flags=msg->msg_flags")
    wanted = [("size > 0", 3), ("size > 0 && skc_state != 1", 0),
              ("skc_state == TCP_ESTABLISHED && size >= 100", 2),
              ("(size >= 40 && size <= 400) && skc_state == 1", 1),
              ("(size <= 40 || size >= 400) && skc_state != 1", 0)]
    results = watch(ends, [(command, *OWN, "--filter", text) for text, _ in wanted], connection.send)
    sender = connection.sender
    values = {
        "skc_state": 1, "port": sender.getsockname()[1], "family": socket.AF_INET,
        "sk_sndbuf": sender.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF), "reuse": 1,
        "to": socket.htons(connection.port), "flags": 0,
    }
    values["cast"] = values["sk_sndbuf"]
    got, report = stream_of(results[0])
    assert got == [{**values, "size": n, "arg3": n} for n in SIZES] and nothing_lost(report)
    for result, (text, n) in zip(results, wanted):
        report = stream_of(result)[1]
        assert (report["events"], report["filtered"]) == (n, 3 - n), text


def test_values_and_keys(ends, connection):
    total, hist, keys, ret, registers, named = watch(ends, [(*command, *OWN) for command in (
        ("tcp_sendmsg", "--sum", "size", "--min", "size", "--max", "size"),
        ("tcp_sendmsg size", "--hist"),
        ("tcp_sendmsg", "--by", "size,skc_num=sk->__sk_common.skc_num,comm,func"),
        ("tcp_sendmsg%return $retval", "--hist"),
        ("tcp_sendmsg", "--sum", "%dx", "--by", "%edx"),
        ("S=tcp_sendmsg", "--latency", "--count", "--by", "size,r=$retval", "--filter",
         "size > 1 && $retval > 1 && $elapsed > 0"),
    )], connection.send)
    row, = report_of(total)["rows"]
    assert (row["count"], row["sum"], row["min"], row["max"]) == (3, 1101, 1, 1000)
    for result in (hist, ret):
        group, = report_of(result)["groups"]
        assert (group["count"], group["sum"], group["min"], group["max"]) == (3, 1101, 1, 1000)
    port = connection.sender.getsockname()[1]
    comm = Path("/proc/self/comm").read_text().strip()
    assert counts_by(report_of(keys), "size", "skc_num", "comm", "func") == \
        {(n, port, comm, "tcp_sendmsg"): 1 for n in SIZES}
    assert "kprobe" in report_of(registers)["source"]
    assert sum(r["sum"] for r in report_of(registers)["rows"]) == 1101
    assert counts_by(report_of(named), "size", "r") == {(100, 100): 1, (1000, 1000): 1}


def test_what_cannot_be_read_is_lost(ends, connection):
    """A zero is not taken for what a pointer that is none leads to."""
    commands = (("--sum", "((struct sock *)0)->sk_sndbuf"),
                ("--count", "--by", "((struct sock *)8)->sk_sndbuf"),
                ("--count", "--filter", "((struct sock *)0)->sk_sndbuf == 0"),
                ("--hist", "+8(%bx - %bx)"))
    results = watch(ends, [("tcp_sendmsg", *args, *OWN) for args in commands], connection.send)
    for result in results:
        report = report_of(result)
        assert (report["events"], report["lost"].pop("read_fault")) == (0, 3) and nothing_lost(report)


# --- files ---------------------------------------------------------------------------------------

@pytest.fixture
def file(directory):
    path = directory / "ten"
    path.write_bytes(b"0123456789")
    return path


def test_reads(ends, file):
    """Sizes, positions, flags and results of reads; names of addresses; globals."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOATIME)
    ends.callback(os.close, descriptor)

    def work():
        for size, at in ((7, 0), (7, 5), (4000, 3), (7, 9)):
            os.pread(descriptor, size, at)

    of_file = "file->f_flags & 0x40000"                 # O_NOATIME, on x86
    args, results, spans, globbed, globals_, symbols = watch(ends, [(*command, *OWN) for command in (
        ("vfs_read count at=*pos flags=(file->f_flags & 0x40000):x64", "--filter", of_file),
        ("vfs_read", "--latency", "--count", "--by", "n=count,$retval", "--filter", of_file),
        ("vfs_read", "__x64_sys_pread64", "--latency", "--sum", "$elapsed", "--by", "func", "--filter",
         "$retval > 0 && $retval < 8"),
        ("vfs_rea*", "--by", "func"),
        ("vfs_read", "--min", "@overflowuid:s32", "--max", "@overflowuid:s32"),
        ("vfs_read", "--by", "at=%ip:symbol", "--filter", of_file),
    )], work)
    got, report = stream_of(args)
    assert [(v["count"], v["at"], v["flags"]) for v in got] == \
        [(7, 0, "0x40000"), (7, 5, "0x40000"), (4000, 3, "0x40000"), (7, 9, "0x40000")]
    assert counts_by(report_of(results), "n", "retval") == \
        {(7, 7): 1, (7, 5): 1, (4000, 7): 1, (7, 1): 1}
    rows = rows_by(report_of(spans), "func")
    assert rows["vfs_read"]["count"] >= rows["__x64_sys_pread64"]["count"] == 4
    assert counts_by(report_of(globbed), "func")["vfs_read"] >= 4
    row, = report_of(symbols)["rows"]
    assert row["at"].partition("+")[0] == "vfs_read" and row["count"] == 4
    row, = report_of(globals_)["rows"]
    known = int(Path("/proc/sys/kernel/overflowuid").read_text())
    assert (row["min"], row["max"]) == (known, known)


def test_names_of_files(ends, file):
    """A program's text, and a member of the kernel's structure, as open() has been told."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW

    def work():
        os.close(os.open(file, flags))
        with pytest.raises(FileNotFoundError):
            os.open(f"{file}\x1b[0m", flags)

    stream, keys, compared = watch(ends, [(*command, *OWN) for command in (
        ("do_sys_openat2 filename how->flags", "--filter", "filename ~ \"*/ten*\""),
        ("do_sys_openat2", "--latency", "--count", "--by", "filename:string,ok=$retval >= 0", "--filter",
         "filename ~ \"*/ten*\""),
        ("do_sys_openat2", "--filter", f"filename == \"{file}\""),
    )], work)
    got, _ = stream_of(stream)
    large = 0o100000                                    # added by the system call itself
    assert got == [{"filename": str(file), "flags": flags | large},
                   {"filename": f"{file}\\x1b[0m", "flags": flags | large}]
    assert counts_by(report_of(keys), "filename", "ok") == {(str(file), 1): 1, (f"{file}\\x1b[0m", 0): 1}
    assert count(report_of(compared)["rows"]) == 1


def test_whole_structures(ends, file):
    """By their members, as open() has been told; a key of them; one of a task, enumerators and bit-fields in it."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    said = "{.flags=%d, .mode=0, .resolve=0}" % (flags | 0o100000)
    ours = ("--filter", f"filename == \"{file}\"")

    def work():
        for _ in range(3):
            os.close(os.open(file, flags))

    stream, keys, cast, task = watch(ends, [(*command, *OWN) for command in (
        ("do_sys_openat2 *how", *ours),
        ("do_sys_openat2", "--by", "*how", *ours),
        ("do_sys_openat2", "--latency", "--count", "--by", "h=*(struct open_how *)$arg3", *ours),
        ("do_sys_openat2 id=$task->cred->euid alone=$task->cred->euid.val whole=*$task", *ours),
    )], work)
    got, report = stream_of(stream)
    assert got == [{"*how": said}] * 3 and nothing_lost(report)
    assert counts_by(report_of(keys), "*how") == {said: 3}
    assert counts_by(report_of(cast), "h") == {said: 3}
    got, report = stream_of(task)
    assert len(got) == 3 and nothing_lost(report)
    for line in got:
        assert line["id"] == "{.val=%d}" % line["alone"]
        assert line["whole"].startswith("{") and line["whole"].endswith(("...", "...}"))


def test_members_of_a_new_task(ends):
    """An array of characters, its elements, and pointers to other structures."""
    children = []

    def work():
        children.append(os.fork())
        if not children[0]:
            os._exit(0)
        os.waitpid(children[0], 0)

    own = Path("/proc/self/comm").read_text().strip()
    stream, cast = watch(ends, [(*command, *OWN) for command in (
        ("wake_up_new_task name=p->comm p->pid first=p->comm[0] parent=p->real_parent->tgid", ),
        ("wake_up_new_task", "--by", "((struct task_struct *)$arg1)->comm,p->pid"),
    )], work)
    got, _ = stream_of(stream)
    assert got == [{"name": own, "pid": children[0], "first": ord(own[0]), "parent": os.getpid()}]
    row, = report_of(cast)["rows"]
    assert (row["comm"], row["pid"]) == (own, children[0])


def test_functions_of_modules(run):
    """By the module's name, where one is loaded that has some."""
    for line in Path("/proc/modules").read_text().splitlines():
        result = run("-n", f"{line.split()[0]}:*", "--by", "func", tool="probe")
        if result.code == 0:
            assert line.split()[0] in result.text
            return
    pytest.skip("no module that is loaded has functions to probe")


@pytest.mark.parametrize("args, said", (
    (("tcp_sendmsg sk->sk_nope",), "struct sock has no member 'sk_nope'"),
    (("tcp_sendmsg sizze",), "did you mean size?"),
    (("tcp_sendmsg,tcp_sendmsg%return size",), "arguments are lost when the function returns"),
    (("tcp_sendmsg $arg99",), "tcp_sendmsg has 3 arguments"),
    (("tcp_sendmesg",), "did you mean tcp_sendmsg?"),
    (("tcp_sendmsg", "--sum", "sk->__sk_common"), "no number"),
    (("tcp_sendmsg", "--sum", "size->x"), "this is not a pointer but"),
    (("tcp_sendmsg", "--sum", "@no_such_symbol"), "the kernel has no symbol 'no_such_symbol'"),
    (("tcp_sendmsg", "--sum", "&sk->__sk_common.skc_reuse"), "a bit-field has no address"),
    (("tcp_sendmsg", "--sum", "((struct nope *)sk)->x"), "unknown type 'struct nope *'"),
    (("tcp_sendmsg", "--filter", "sk->__sk_common.skc_state == TCP_ESTABLISHD"), "TCP_ESTABLISHD"),
    (("tcp_sendmsg", "--sum", "sk + 1"), "cannot add to or subtract from a pointer"),
))
def test_what_cannot_be_is_said(run, args, said):
    result = run("-n", *args, tool="probe")
    assert result.code in (1, 2, 4) and said in result.stderr, result
