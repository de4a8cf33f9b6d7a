# SPDX-License-Identifier: BSD-2-Clause
"""An option of one name takes the same kind of value in every tool, and a number alone is in one unit."""

import json
import re
import subprocess

import pytest

from tally import BUILD

# One kind under two names of its value, or lists of one and of several.
SAME = {"BINARY": "FILE", "NAME": "WORD", "TYPE": "WORD", "KEY": "WORD", "cpu": "WORD", "COL": "WORD"}

# Options with two kinds, and the reason: (option, tool) has another kind than the rest.
OTHERS = {
    ("count", "profile"): "as perf: -c N",
    ("count", "stackcount"): "as perf: -c N",
    ("from", "probe"): "an event; of show and triage a time",
    ("from", "why"): "an event, as of probe",
    ("to", "probe"): "an event",
    ("to", "why"): "an event",
    ("hist", "probe"): "the value",
    ("max", "probe"): "the value",
    ("min", "probe"): "the value",
    ("lines", "list"): "of a function; of stacks frames by line",
    ("summary", "timehist"): "as perf sched: --summary, or alone",
}


def tools():
    listed = subprocess.run([BUILD / "tally", "--json"], stdout=subprocess.PIPE, check=True)
    return [row["tool"] for row in json.loads(listed.stdout)["rows"]]


def help_of(tool):
    return subprocess.run([BUILD / "tally", tool, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout


def options(text):
    """(name, its value as --help calls it, the description) of each option."""
    found = re.finditer(r"^ {2,6}(?:-\S, )? *--([\w-]+)(\[?=\S+)?\s+(.*(?:\n {20,}.*)*)", text, re.M)
    return [(m[1], m[2] or "", " ".join(m[3].split())) for m in found]


def kind(value):
    word = value.strip("[]=").removesuffix("...").rstrip(".,")
    return SAME.get(word, word)


@pytest.fixture(scope="module")
def kinds():
    """By option, a set of tools for each kind of value."""
    found = {}
    for tool in tools():
        for name, value, _ in options(help_of(tool)):
            if (name, tool) not in OTHERS:
                found.setdefault(name, {}).setdefault(kind(value), []).append(tool)
    assert len(found) > 100
    return found


def test_one_kind(kinds):
    assert {name: each for name, each in kinds.items() if len(each) > 1} == {}


def test_others_are_there():
    """An exception that is none any more leaves the list."""
    for name, tool in OTHERS:
        assert name in [each for each, _, _ in options(help_of(tool))]


def test_one_unit():
    """--help says it of each time."""
    units = {}
    for tool in tools():
        for name, value, text in options(help_of(tool)):
            if found := re.search(r"(\w+) without a unit|number alone is in (\w+)", text):
                units.setdefault(name, {}).setdefault(found[1] or found[2], []).append(tool)
            elif name == "min" and value == "=TIME":
                pytest.fail(f"{tool} --{name} has no unit")
    assert {"min", "max", "older", "keep"} <= set(units)
    assert {name: each for name, each in units.items() if len(each) > 1} == {}


# Tools that serve figures with these arguments only.
SERVES_WITH = {
    **dict.fromkeys(("profile", "offcputime", "wakeuptime", "offwaketime"), ("--by", "sym")),
    "stackcount": ("--by", "sym", "sched:sched_switch"), "probe": ("sched:sched_switch",),
    "trace": ("--summary",), "tcpretrans": ("--count",), "dnssnoop": ("--count",), "run": ("runqlat",),
    "funcgraph": ("schedule",),
}


def test_tools_with_listen_serve_figures(run):
    """No tool has the option in its help and refuses it whatever else is typed."""
    having = [tool for tool in tools() if "listen" in {name for name, _, _ in options(help_of(tool))}]
    assert len(having) > 30
    for tool in having:
        result = run("--listen", "9435", "-n", *SERVES_WITH.get(tool, ()), tool=tool)
        # 4: not on this kernel
        assert result.code in (0, 4), (tool, result)
