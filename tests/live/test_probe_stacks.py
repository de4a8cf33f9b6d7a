# SPDX-License-Identifier: BSD-2-Clause
"""probe --stream -g: the stack below each line, for known call chains, beside the arguments of the same call."""

import collections
import re
import shlex

import pytest

import tally
from probing import Probe, nothing_lost, told
from stackcounting import CHAINS, from_work
from tally import once, without_styles

pytestmark = pytest.mark.everywhere

N, DEPTH = 7, 6
LEFT, RIGHT = ("left", "target"), ("right", "middle", "target")


@pytest.fixture
def chains(trigger):
    return trigger("chains", N, 0, DEPTH)


def seen(result):
    """How often there was a line of an event with such values and such a stack behind work(), outermost first."""
    lines, (report,) = told(result)
    assert len(lines) == report["events"] and nothing_lost(report), result
    found = collections.Counter()
    for line in lines:
        frames = [frame for frame in reversed(line["frames"]) if frame["module"] != "[kernel]"]
        found[line.get("event"), *line["values"].values(), from_work({"frames": frames})] += 1
    return found


def test_arguments_and_stacks(tool, chains):
    """A function with a frame, one without any, and a system call, in one stream; entries and returns."""
    probe = Probe(tool, chains, *CHAINS, "-g", "target v=$arg1", "bare v=$arg1", "OVER=target%return 0",
                  "syscalls:sys_enter_getppid 0")
    found = seen(probe.work())
    wanted = collections.Counter(
        {
            ("target", 1000, RIGHT): 2 * N,
            ("OVER", 0, RIGHT[:-1]): 2 * N,
            ("OVER", 0, LEFT[:-1]): N,
            ("syscalls:sys_enter_getppid", 0, ("left", "ask")): N,
        }
    )
    for v in range(1, N + 1):
        wanted["target", v, LEFT] += 1
        wanted["bare", v, ("left", "bare")] += 1
    assert found == wanted


@pytest.mark.parametrize("part, depth", (("-K", None), ("-U", None), (None, None), (None, 2)))
def test_parts(tool, chains, part, depth):
    """The kernel's part, the program's, or both; of a system call both are known."""
    more = [*filter(None, [part]), *(["--max-depth", depth] if depth else [])]
    lines, _ = told(Probe(tool, chains, "-g", *more, "syscalls:sys_enter_getppid 0").work())
    assert len(lines) == N
    for line in lines:
        modules = [frame["module"] for frame in line["frames"]]
        assert ("[kernel]" in modules) == (part != "-U") and ("chains" in modules) == (part != "-K" and not depth), line
        assert not depth or len(modules) == depth


def test_latency(tool, chains):
    """The stack is that of the function's end, in its caller."""
    found = Probe(tool, chains, *CHAINS, "-g", "--stream", "--latency", "target v=$arg1").work()
    assert collections.Counter(key[1:] for key in seen(found)) == collections.Counter(
        [(1000, RIGHT[:-1]), *((v, LEFT[:-1]) for v in range(1, N + 1))])


@once
@pytest.mark.parametrize("columns", (80, 200))
def test_below_each_line(columns):
    """On a terminal, too: columns with a heading, and the frames indented."""
    text = without_styles(
        tally.at_terminal(
            *map(str, CHAINS),
            "-g",
            "target v=$arg1",
            "--",
            *map(str, (CHAINS[1], 2, 0, 1)),
            tool="probe",
            columns=columns
        )
    )
    blocks = re.split(r"^(?=\d\d:)", text.split("\n\n")[0], flags=re.M)
    assert (
        blocks[0].split() == ["time", "comm", "tid", *(["CPU"] if columns > 80 else []), "v"] or "time" in blocks[0]
    ), text
    assert len(blocks) == 1 + 6 and all(" " * 8 + "target (chains)\n" in block for block in blocks[1:]), text
    assert max(map(len, text.splitlines())) <= columns


@once
def test_a_stack_needs_a_line(run):
    for args, said in ((("sched:sched_switch", "-g"), "use --stream, or stackcount to count or sum by stack"),
                       (("sched:sched_switch prev_pid", "-U"), "stack options need -g"),
                       (("sched:sched_switch prev_pid", "-g", "--max-depth", "0"), "from 1 to")):
        result = run(*args, tool="probe")
        assert result.code == 2 and said in result.stderr, result


STREAMS = ("exitsnoop", "biosnoop", "runqslower")


@once
@pytest.mark.parametrize("name", STREAMS)
def test_other_streams_say_what_to_type(run, name):
    """And that line is right."""
    said = run("-g", tool=name)
    (line,) = re.findall("as in: ([^;\n]*)", said.stderr)
    tool, *args = shlex.split(line)
    result = run(*args, "-n", tool=tool)
    assert said.code == 2 and result.code == 0, (said, result)
