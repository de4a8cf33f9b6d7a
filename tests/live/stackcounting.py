# SPDX-License-Identifier: BSD-2-Clause
"""Helpers shared by the tests of stackcount: several runs on the same work, and stacks by their names."""

import copy
import json
import signal

import schema
from probing import binary
from tally import Tool, flaws

CHAINS = ("-x", binary("chains"))


def check(report):
    """Checks a report against the schema. If there are more events than columns, events have separate stacks."""
    report = copy.deepcopy(report)
    for stack in report["stacks"] if "event_totals" not in report else ():
        if "event" in stack["key"]:
            stack["key"]["comm"] = f"{stack['key'].pop('event')} {stack['key'].get('comm')}"
    schema.check(report)


def names(stack):
    return tuple(frame["name"] for frame in stack["frames"])


def value(stacks):
    return sum(stack["value"] for stack in stacks)


def of(report, **key):
    """The stacks whose key has these members."""
    return [s for s in report["stacks"] if all(s["key"].get(name) == value for name, value in key.items())]


def from_work(stack, whole=True):
    """The frames called from work(). A whole stack begins where its thread does, although the C library on the way has
    no frame pointers. With the whole machine traced, a program's first stacks may come before its unwind tables."""
    frames = names(stack)
    at = frames.index("work")
    if whole:
        assert "[incomplete]" not in frames and at <= 4, frames
        assert frames[at - 1] == "crew__member" or (frames[0], frames[at - 1]) == ("_start", "main"), frames
    return frames[at + 1:]


def counts(stacks, whole=True):
    """{frames called from work(): value}"""
    found = {}
    for stack in stacks:
        frames = from_work(stack, whole)
        found[frames] = found.get(frames, 0) + stack["value"]
    return found


def losses(report):
    """Losses except those by recursion: programs do not run on a CPU while another run's maps are written there, and
    the kernel does not say whose events it skipped. Exact counts show that they were not ours."""
    return {reason: n for reason, n in flaws(report).items() if n and reason != "recursion"}


def observe(ends, load, commands, work=None, form=("--json",)):
    """Results of several runs on the same work, which attach at the same time: that is mostly waiting."""
    tracers = []
    for args in commands:
        tracers.append(Tool(*form, *args, *(("-p", load.pid) if load else ()), tool="stackcount"))
        ends.callback(tracers[-1].close)
    for tracer in tracers:
        tracer.ready()
    if work:
        work()
    else:
        load.go()
        load.done()
    for tracer in tracers:
        tracer.process.send_signal(signal.SIGINT)
    return [tracer.wait() for tracer in tracers]


def reports_of(results):
    """The only report of each result, checked."""
    found = []
    for result in results:
        assert result.code == 0, result
        (report,) = parsed(result)
        found.append(report)
    return found


def parsed(result):
    """All reports of a run, checked."""
    found = [json.loads(line) for line in result.text.splitlines()]
    for report in found:
        check(report)
    return found


def ask_of(stack):
    """Whether the user part ends like that of the system calls of chains."""
    frames = names(stack)
    return "ask" in frames and frames[frames.index("ask") - 2:][:3] == ("work", "left", "ask")


def can_count(event):
    tool = Tool("-n", event, ready=False, tool="stackcount")
    try:
        return tool.wait().code == 0
    finally:
        tool.close()
