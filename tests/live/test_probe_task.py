# SPDX-License-Identifier: BSD-2-Clause
"""probe with $task, the structure of the current task: on tracepoints, system calls and in programs, against /proc and
the data of this process itself."""

import os
import threading
from pathlib import Path

import pytest

from probing import binary, counts_by, measure, nothing_lost, report_of, watch
from tally import scaled

pytestmark = pytest.mark.exact

ENTER = "syscalls:sys_enter_pread64"
N = scaled(40)


def status(pid, name):
    """A line of /proc/PID/status."""
    text = Path(f"/proc/{pid}/status").read_text()
    return next(line.split(None, 1)[1] for line in text.splitlines() if line.startswith(name + ":"))


def test_who_runs(tool, trigger):
    """A program that reads: its parent is this process."""
    load = trigger("reads", N, 7)
    group = int(status(load.pid, "Gid").split()[1])
    report = measure(tool, load, ENTER, "--by",
                     "$task->tgid,parent=$task->real_parent->tgid,leader=$task->group_leader->pid,name=$task->comm,"
                     "of=$task->real_parent->comm,gid=$task->cred->egid.val", "--filter",
                     f"$task->pid == pid && $task->real_parent->tgid == {os.getpid()} && $task->comm == \"reads\"")
    own = Path("/proc/self/comm").read_text().strip()
    assert counts_by(report, "tgid", "parent", "leader", "name", "of", "gid") == \
        {(load.pid, os.getpid(), load.pid, "reads", own, group): N}
    assert nothing_lost(report)


def test_threads(ends):
    """The threads share a leader and the memory, but each is a task of its own."""
    def work():
        def read():
            with open("/proc/self/exe", "rb") as f:
                for _ in range(N):
                    os.pread(f.fileno(), 11, 0)
            found.append(threading.get_native_id())

        threads = [threading.Thread(target=read) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    found = []
    ids, memory = watch(ends, [(ENTER, "--by", by, "-p", str(os.getpid()), "--filter", "count == 11") for by in (
        "t=$task->pid,leader=$task->group_leader->pid,threads=$task->signal->nr_threads > 1", "$task->mm")], work)
    assert counts_by(report_of(ids), "t", "leader", "threads") == {(tid, os.getpid(), 1): N for tid in found}
    assert list(counts_by(report_of(memory), "mm").values()) == [3 * N]


def test_a_program(tool, trigger):
    """In a program's function, its pointers lead to its own memory and those of $task to the kernel's, even in one
    expression."""
    load = trigger("arguments", N)
    group = Path(f"/proc/{load.pid}/cgroup").read_text().splitlines()[-1].split("/")[-1]
    report = measure(
        tool,
        load,
        "-x",
        binary("arguments"),
        "many",
        "--by",
        "$task->real_parent->tgid,own=$arg3:string,$task->group_leader->comm",
        "--filter",
        "$task->tgid == pid && $task->comm ~ \"arg*\" && $arg3:string == \"text\" && $task->tgid > $arg1:s32"
        f" && $task->cgroups->dfl_cgrp->kn->name:string == \"{group}\"",
    )
    row, = report["rows"]
    assert (row["count"], row["tgid"], row["own"], row["comm"]) == (N, os.getpid(), "text", "arguments")
    assert nothing_lost(report)


def test_a_programs_numbers_lead_to_its_own_memory(tool, trigger):
    """The result of a computation is no kernel pointer."""
    load = trigger("arguments", N)
    report = measure(tool, load, "-x", binary("arguments"), "many", "--by", "+0((u64)$task + 8)")
    assert (report["events"], report["lost"].pop("read_fault")) == (0, N) and nothing_lost(report)


def test_what_cannot_be_read_is_lost(tool, trigger):
    """A task that waits for no vfork() has a NULL pointer here."""
    load = trigger("reads", N, 7)
    report = measure(tool, load, ENTER, "--by", "$task->vfork_done->done")
    assert (report["events"], report["lost"].pop("read_fault")) == (0, N) and nothing_lost(report)


def test_calls(tool, trigger):
    """From the begin of a call to its end, $task is the task that began it."""
    load = trigger("reads", N, 7)
    report = measure(tool, load, "--from", ENTER, "--to", "syscalls:sys_exit_pread64", "--match", "tid", "--by",
                     "$task->tgid", "--filter", "$task->pid > 1 && ret > 0")
    group, = report["groups"]
    assert (group["count"], group["key"]["tgid"]) == (N, load.pid) and nothing_lost(report)


WRONG = (
    ("$task->nope", "struct task_struct has no member 'nope'"),
    ("$task.pid", "this is not a structure in memory; use -> for members of a pointer"),
    ("*$task + 1", "this is struct task_struct, not a number"),
    ("$tasks", "unknown variable $tasks"),
)


@pytest.mark.parametrize("expression, wanted", WRONG)
def test_wrong(tool, expression, wanted):
    result = tool(ENTER, "--by", expression, tool="probe", ready=False).wait()
    assert result.code == 2 and wanted in result.stderr, result
