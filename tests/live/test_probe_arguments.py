# SPDX-License-Identifier: BSD-2-Clause
"""probe on the arguments of tracepoints and the data they point to: members of kernel structures that nothing else
reaches, against what this process has done itself."""

import os
import signal
import subprocess
import time

import pytest

from probing import counts_by, nothing_lost, report_of, rows_by, stream_of, watch
from tally import Tool

pytestmark = pytest.mark.exact

FORK, SIGNAL, EXEC = "sched:sched_process_fork", "signal:signal_generate", "sched:sched_process_exec"
OWN = ("-p", str(os.getpid()))
N = 5


def comm():
    with open("/proc/self/comm") as f:
        return f.read().strip()


def fork():
    """The pid of a child that exits at once."""
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def details(event):
    """{part: {name: row}} of an event, from list -v."""
    tool = Tool("--json", "-v", event, ready=False, tool="list")
    try:
        found = {}
        for row in tool.wait().reports[0]["rows"]:
            found.setdefault(row["part"], {})[row["name"]] = row
        return found
    finally:
        tool.close()


def test_members_of_tasks(ends):
    """Compared with fork()'s results, and with the record of the same events."""
    children = []
    arguments, named, record, filtered = watch(ends, [(*each, *OWN) for each in (
        (FORK + " parent=$arg1->pid child=$arg2->pid leader=$arg1->group_leader->pid name=$arg2->comm "
         "cast=((struct task_struct *)$arg1)->tgid pid",),
        (FORK, "--by", "a=$arg1->tgid,b=arg2->real_parent->pid"),
        (FORK + " parent_pid child_pid",),
        (FORK, "--sum", "$arg2->pid - $arg1->pid", "--filter",
         f"$arg2->pid > 0 && $arg1->comm == \"{comm()}\" && $arg1->pid != $arg2->pid"),
    )], lambda: children.extend(fork() for _ in range(N)))
    pid = os.getpid()
    got, report = stream_of(arguments)
    assert got == [{"parent": pid, "child": child, "leader": pid, "name": comm(), "cast": pid, "pid": pid}
                   for child in children]
    assert nothing_lost(report) and report["source"] == "raw tracepoint (1)"
    assert counts_by(report_of(named), "a", "b") == {(pid, pid): N}
    got, report = stream_of(record)
    assert [each["child_pid"] for each in got] == children and report["source"] == "perf tracepoint (1)"
    row, = report_of(filtered)["rows"]
    assert (row["count"], row["sum"]) == (N, sum(children) - N * pid)


def test_numbers_have_their_width_and_sign(ends):
    """The signal's number is an int; a signal that is ignored by default has the result 1."""
    child = subprocess.Popen(["sleep", "600"])
    ends.callback(child.wait)
    ends.callback(child.kill)
    to_child = f"$arg3->pid == {child.pid}"
    by, value, none = watch(ends, [(*each, *OWN) for each in (
        (SIGNAL, "--by", "sig=$arg1,code=$arg2->si_code,from=pid,result=$arg5", "--filter", to_child),
        (SIGNAL, "--min", "-$arg1", "--max", "-$arg1", "--filter", f"$arg1 == 23 && {to_child}"),
        (SIGNAL, "--filter", f"$arg1 < 0 && {to_child}"),
    )], lambda: [child.send_signal(each) for each in (signal.SIGURG, signal.SIGURG, signal.SIGWINCH)])
    pid = os.getpid()
    assert counts_by(report_of(by), "sig", "code", "from", "result") == {(23, 0, pid, 1): 2, (28, 0, pid, 1): 1}
    row, = report_of(value)["rows"]
    assert (row["count"], row["min"], row["max"]) == (2, -23, -23)
    assert report_of(none)["events"] == 0 and report_of(none)["filtered"] >= 3


def test_a_program_that_begins(tool):
    """Text behind a pointer, and numbers, from a structure that no record shows."""
    result = tool("--json", EXEC + " $arg3->filename $arg3->argc old=$arg2", "--", "/bin/true", "a", "b",
                  tool="probe", ready=False).wait()
    got, report = stream_of(result)
    assert [(each["filename"], each["argc"]) for each in got] == [("/bin/true", 3)] and nothing_lost(report)
    assert got[0]["old"] > 0


def test_what_cannot_be_read_is_lost(ends):
    """No task waits for a vfork(), so the pointer is NULL."""
    by, other = watch(ends, [(FORK, "--by", "$arg1->vfork_done->done", *OWN), (FORK, "--by", "$arg1->pid", *OWN)],
                      lambda: [fork() for _ in range(N)])
    report = report_of(by)
    assert (report["events"], report["lost"].pop("read_fault")) == (0, N) and nothing_lost(report)
    assert report_of(other)["events"] == N


def test_between_two_tracepoints(ends):
    """From the creation of a task to its exit; scope and key are taken at the begin, where the current task is the
    parent."""
    def work():
        for _ in range(N):
            fork()
        time.sleep(0.05)

    command = ("--from", "task:task_newtask", "--to", "sched:sched_process_exit", "--match", "$arg1->pid",
               "--by", "pid", "--filter", "$arg1->tgid == $arg1->pid", *OWN)
    report = report_of(watch(ends, [command], work)[0])
    group, = report["groups"]
    assert (group["key"]["pid"], group["count"]) == (os.getpid(), N)
    assert report["source"] == "raw tracepoint (1) to raw tracepoint (1)" and nothing_lost(report)


def test_names(ends):
    """Arguments have the names that list shows, where the kernel has them; a name that is a field, too, is the
    field."""
    shown = details(FORK)["argument"]
    assert [row["note"].split(";")[0] for row in shown.values()] == ["$arg1", "$arg2"]
    if "$arg1" in shown:
        pytest.skip("BTF has no names of arguments here")
    assert list(shown) == ["parent", "child"] and {row["type"] for row in shown.values()} == {"struct task_struct *"}
    children = []
    names, alias = watch(ends, [(*each, *OWN) for each in (
        (FORK, "--by", "parent->pid,child->pid"),
        (FORK + " child_pid=child->pid", "--by", "child_pid"),
    )], lambda: children.extend(fork() for _ in range(N)))
    assert counts_by(report_of(names), "pid", "child->pid") == {(os.getpid(), each): 1 for each in children}
    assert report_of(alias)["source"] == "raw tracepoint (1)"
    assert set(rows_by(report_of(alias), "child_pid")) == set(children)


def test_stacks(ends):
    """A child's pid is larger or, where pids wrap around, smaller: one of both differences is lost."""
    tools = [Tool("--json", FORK, "--filter", f"$arg1->tgid == {os.getpid()}", "--sum", difference, tool="stackcount")
             for difference in ("$arg2->pid - $arg1->pid", "$arg1->pid - $arg2->pid")]
    for tool in tools:
        ends.callback(tool.close)
    for tool in tools:
        tool.ready()
    pid, children = os.getpid(), [fork() for _ in range(N)]
    for tool, sign in zip(tools, (1, -1)):
        values = [sign * (child - pid) for child in children]
        summed = [each for each in values if each >= 0]
        report = tool.stop().reports[0]
        assert sum(stack["value"] for stack in report["stacks"]) == sum(summed)
        assert report["events"] == len(summed) and report["lost"].pop("negative") == N - len(summed)
        assert nothing_lost(report)


WRONG = (
    ((FORK, "--by", "child_pid,$arg1->pid"),
     "--by: arguments of a tracepoint cannot be combined with fields of its record"),
    ((FORK, "--by", "$arg1->nope"), "struct task_struct has no member 'nope'"),
    ((FORK, "--by", "$arg7"), f"{FORK} has 2 arguments"),
    ((FORK, "--by", "nope->pid"), f"{FORK} has no field 'nope'"),
    ((FORK, "--by", "$retval,$arg1"), "a tracepoint has no result"),
    ((FORK, "--by", "%di,$arg1"), "registers are not available here"),
    (("syscalls:sys_enter_read", "--by", "$arg1"), "a tracepoint has named fields, not arguments"),
)


@pytest.mark.parametrize("command, wanted", WRONG)
def test_wrong(tool, command, wanted):
    result = tool(*command, tool="probe", ready=False).wait()
    assert result.code == 2 and wanted in result.stderr, result
