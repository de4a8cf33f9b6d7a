# SPDX-License-Identifier: BSD-2-Clause
"""Options for the stacks of profile, stackcount and offcputime: by function, callee first, without the tracer's own
frames. Exact counts on known call chains."""

import re

import pytest

from stackcounting import CHAINS, counts, names, observe, reports_of
from tally import once

N, DEPTH = 7, 6
LEFT, RIGHT = ("left", "target"), ("right", "middle", "target")


@pytest.fixture
def chains(trigger):
    def start(**kwargs):
        return trigger("chains", N, 0, DEPTH, **kwargs)

    return start


# --- by the functions in them ----------------------------------------------------------------------

def test_by_frames(ends, chains):
    """Stacks shown and left out add up to all; a name matches any frame, as with grep -E."""
    wanted = {
        ("--frames", "^middle$"): {RIGHT: 2 * N},
        ("--no-frames", "^middle$"): {LEFT: N},
        ("--frames", "iddl|nothing"): {RIGHT: 2 * N},
        ("--frames", "^(left|right)$", "--no-frames", "^r"): {LEFT: N},
        ("--frames", "^target$"): {LEFT: N, RIGHT: 2 * N},
        ("--frames", "^iddle"): {},
        ("--no-frames", "."): {},
    }
    found = reports_of(observe(ends, chains(), [(*CHAINS, "target", *args) for args in wanted]))
    for args, report in zip(wanted, found):
        assert counts(report["stacks"]) == wanted[args], (args, report)
        assert report["events"] == sum(wanted[args].values()), report
        assert report["left_out"] == 3 * N - report["events"], report


def test_left_out_is_said(ends, chains):
    """Text has the number left out and its share, also if no stack is left; so does a table."""
    texts = text_of(
        ends,
        chains(),
        (
            ("--frames", "^middle$"),
            ("--no-frames", "^work$"),
            ("--frames", "middle", "--format", "table", "--by", "sym"),
        ),
    )
    assert f"left out: {N}, 33.3% of all, by --frames '^middle$'" in texts[0], texts[0]
    assert f"left out: {3 * N}, 100.0% of all, by --no-frames '^work$'" in texts[1], texts[1]
    assert f"left out: {N}, 33.3% of all" in texts[2] and re.search(rf"100\.0 +{2 * N} +target", texts[2]), texts[2]


def text_of(ends, load, options):
    """Reports of target() on one run of the load, as printed."""
    return [result.text for result in observe(ends, load, [(*CHAINS, "target", "-U", *each) for each in options],
                                              form=())]


# --- callee first ----------------------------------------------------------------------------------

def test_callee_first(ends, chains):
    """The first line has all calls of target(); below are its callers, with the share of each."""
    text, = text_of(ends, chains(), (("--callee",),))
    lines = [line.split() for line in text.splitlines()]
    start = next(i for i, line in enumerate(lines) if line[:1] == ["share"])
    tree = lines[start + 1:]
    assert lines[start] == ["share", "events"] and "functions, without" not in text, text
    assert tree[0] == ["100.0%", str(3 * N), "target", "(chains)"], text
    assert tree[1] == ["66.7%", str(2 * N), "middle"] and tree[2] == ["right"] and tree[3] == ["work"], text
    assert ["33.3%", str(N), "left"] in tree, text


@once
def test_callee_picture(ends, chains):
    svg, = text_of(ends, chains(), (("--callee", "--no-frames", "^middle$", "--format", "flame"),))
    title = re.search(r"<title>(.*?)</title>", svg)[1]
    assert "callers above" in title and "66.7% left out by --no-frames '^middle$'" in title, title
    # y falls from the base up: target() is below left().
    y = {name: int(re.search(rf"<title>{name}\n.*?<rect x=\"[0-9.]+\" y=\"(\d+)\"", svg, re.S)[1])
         for name in ("target", "left", "work")}
    assert y["target"] > y["left"] > y["work"], y


# --- the tracer's own ------------------------------------------------------------------------------

@pytest.mark.parametrize("event, by", (("sched:sched_switch", ("__schedule",)),
                                       ("syscalls:sys_enter_getppid", ())))
def test_tracers_own_frames(tool, trigger, event, by):
    """A stack ends at the tracepoint: the kernel's frames between there and the tracer's program, which depend on other
    tracers, are left out."""
    load = trigger("chains", 50, 1, DEPTH)
    tracers = [tool("--json", *args, tool=name) for name, *args in (
        ("stackcount", event, "-p", load.pid), ("profile", "-e", event, "-c", 1, "-p", load.pid),
        ("stackcount", event, "-p", load.pid))]
    load.go()
    load.done()
    own = re.compile("__traceiter_|perf_|trace_call_bpf|bpf_")
    for tracer in tracers:
        stacks = tracer.stop().report["stacks"]
        assert stacks and not any(own.match(str(name)) for s in stacks for name in names(s)), stacks
        inner = {names(s)[-1] for s in stacks}
        assert not by or inner <= {*by, "[stack lost]"}, inner


# --- wrong usage -----------------------------------------------------------------------------------

@once
@pytest.mark.parametrize("args, said", (
    (("--frames", "("), "'(' is not a regular expression"), (("--no-frames", "["), "--no-frames: '['"),
    (("--callee", "--json"), "--callee"), (("--callee", "--format", "folded"), "--callee"),
    (("--callee", "--by", "sym"), "--callee"),
))
@pytest.mark.parametrize("name", ("profile", "offcputime"))
def test_wrong_usage(run, name, args, said):
    result = run(*args, tool=name)
    assert result.code == 2 and said in result.stderr and not result.stdout, result


@once
@pytest.mark.parametrize("name", ["faults", "futexstat", "kmem", "migrations", "netdrop"])
def test_without_stacks(run, name):
    """Tools that take stacks with -g: table formats work without it, and options for stacks do not."""
    for form in ("json", "csv", "openmetrics"):
        assert run("--format", form, "-d", "0.1", tool=name).code == 0
    for option in (
        ("--format", "folded"),
        ("--max-depth", 3),
        ("--lines",),
        ("--call-graph", "dwarf"),
        ("--frames", "x"),
    ):
        result = run(*option, "-d", "0.1", tool=name)
        assert result.code == 2 and "stack options need -g" in result.stderr, result
