# SPDX-License-Identifier: BSD-2-Clause
"""Addresses of programs by name in probe's streams: the name of the code that was there at the time, or the address."""

import re
import subprocess

import pytest

import tally
from probing import binary, compile_trigger, stream, stream_of
from tally import ROOT, needs_dwarf, scaled

HANDLERS = binary("handlers")
SOURCE = ROOT / "tests/triggers/handlers.c"

pytestmark = pytest.mark.exact


def addresses(path):
    """{symbol: address} of a program, before relocation."""
    listed = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    return {name: int(address, 16) for address, _, name in (line.split() for line in listed.splitlines())}


# Arguments of take(), in the order of the calls; &number is an address in that file.
NAMES = ["first", "second+0x1", "getppid", "(handlers)", "0x0", "0x1"]


def without_address(values):
    return {name: re.sub(r"^0x[0-9a-f]{3,}(\(\w+\))?$", lambda found: found[1] or "", value)
            for name, value in values.items()}


@needs_dwarf
def test_names(tool, trigger):
    """Arguments by name and number, members, values saved until the return; static functions, functions of other files,
    and addresses of no function."""
    n = scaled(30)
    got, report = stream(tool, trigger("handlers", n), "-x", HANDLERS,
                         "take handler:symbol operations->open:symbol close=operations->close:symbol u=arg1:usymbol")
    assert [without_address(each) for each in got] == \
        [{"handler": name, "open": "first", "close": "hidden", "u": name} for name in NAMES] * n
    got, _ = stream(tool, trigger("handlers", n), "-x", HANDLERS, "take%return arg1:symbol")
    assert [without_address(each)["arg1"] for each in got] == NAMES * n
    got, _ = stream(tool, trigger("handlers", n), "-x", HANDLERS, "take handler:symbol", "--latency")
    assert [without_address(each)["handler"] for each in got] == NAMES * n


def test_handlers_in_system_calls(tool, trigger):
    """An address of the program in an event of the kernel, and an address of the kernel in one of the program."""
    got, _ = stream(tool, trigger("handlers", 1), "syscalls:sys_enter_rt_sigaction act->sa_handler:usymbol", "--filter",
                    "sig == 10")
    assert got == [{"sa_handler": "on_signal"}]
    got, _ = stream(tool, trigger("handlers", 1), "-x", HANDLERS,
                    "take class=$task->sched_class:symbol", "--filter", "arg1 == 0")
    assert re.fullmatch(r"\w+_sched_class(\.\w+)?|0x[0-9a-f]+", got[0]["class"])


@needs_dwarf
def test_a_process_that_is_gone(run):
    """The process has ended when its first event is read: the kernel had reported its mappings."""
    result = run("--json", "-x", HANDLERS, "take arg1:symbol", "--filter", "$arg1 > 9", "--", "sh", "-c",
                 f"echo | {HANDLERS} 1 > /dev/null", tool="probe")
    got, report = stream_of(result)
    assert [each["arg1"] for each in got if each["arg1"][0] != "0"][:3] == NAMES[:3], got


@pytest.fixture(scope="module")
def swapped(tmp_path_factory):
    """Two programs at the same addresses, with two functions swapped."""
    folder = tmp_path_factory.mktemp("handlers")
    flags = ("-O2", "-g", "-no-pie", "-fno-pie", "-fno-toplevel-reorder", "-D_GNU_SOURCE", "-w")
    made = [compile_trigger(folder, SOURCE, *flags, *more, name=name)
            for name, more in (("plain", ()), ("swapped", ("-DSWAPPED",)))]
    one, other = (addresses(path) for path in made)
    assert (one["first"], one["second"]) == (other["second"], other["first"])
    return made


@pytest.mark.parametrize("which", (0, 1))
def test_a_process_that_becomes_another_program(run, swapped, which):
    """Its addresses have the names of the first program's functions, though others are there when they are read."""
    n = 20
    first, then = swapped[which], swapped[1 - which]
    result = run("--json", "-x", first, "take arg1:symbol", "--filter", "$arg1 > 9", "--", "sh", "-c",
                 f"echo | exec {first} {n} {then} > /dev/null", tool="probe")
    got, report = stream_of(result)
    names = [each["arg1"] for each in got if each["arg1"] in ("first", "second+0x1")]
    assert names == ["first", "second+0x1"] * n, got
    assert {without_address(each)["arg1"] for each in got} <= {"first", "second+0x1", "getppid", "", f"({first.name})"}


@pytest.mark.parametrize("which", (0, 1))
def test_one_that_ran_before(tool, ends, swapped, which):
    """If it has executed another program before it was first seen, addresses are shown."""
    load = tally.Trigger(swapped[which], 1, swapped[1 - which])
    ends.callback(load.close)
    tracer = tool(
        "--json", "-x", swapped[which], "take arg1:symbol", "--filter", "$arg1 > 9", "-p", load.pid, tool="probe"
    )
    load.go()
    load.hear("ready")
    load.go()
    load.done()
    got, _ = stream_of(tracer.stop())
    own = addresses(swapped[which])
    for each, (name, offset) in zip(got, (("first", 0), ("second", 1))):
        assert each["arg1"] in (name + "+0x1" * offset, hex(own[name] + offset)), got


KEY = "in a process, whose name depends on the process and the time: it cannot be a key"


@pytest.mark.parametrize("args, said", (
    (("take", "--by", "arg1:symbol"), KEY),
    (("take", "--hist", "arg2", "--by", "arg1:usymbol"), KEY),
    (("take", "--filter", 'arg1:symbol == "first"'), "only kernel functions can be named here"),
    (("--from", "take", "--to", "first", "--match", "pid", "--stream", "--by", "arg1:symbol"),
     "an address in the first event's process needs tid in --match; the second may be in another process"),
))
def test_refused(run, args, said):
    result = run("-x", HANDLERS, *args, tool="probe")
    assert result.code == 2 and said in result.stderr, result
