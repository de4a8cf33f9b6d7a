# SPDX-License-Identifier: BSD-2-Clause
"""typed_lines.txt: lines typed for other tracers run as the lines they mean, or are refused with a line to type
instead."""

import re
import shlex
from pathlib import Path

import pytest

from tally import once

pytestmark = once

FILE = Path(__file__).with_name("typed_lines.txt")


# Lines behind this have a test for each kind of answer, those before it a test each.
TOGETHER = "# --- the other options of the manual pages"


def typed_lines(text):
    lines = (line.strip() for line in text.splitlines())
    return [re.split(" (->|=>|>>|~>) ", line) for line in lines if line and not line.startswith("#")]


def pytest_generate_tests(metafunc):
    if "typed" in metafunc.fixturenames:
        lines = typed_lines(FILE.read_text().partition(TOGETHER)[0])
        metafunc.parametrize("typed, how, meant", lines, ids=[line[0] for line in lines])


def of_this_machine(line):
    """DISK stands for a disk, FS for the type of a mounted file system."""
    disk = min(each.name for each in Path("/sys/block").iterdir())
    types = [line.split(" - ")[1].split()[0] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return re.sub(r"DISK\b", disk, re.sub(r"\bFS\b", "tmpfs" if "tmpfs" in types else types[-1], line))


def check_typed(run, typed, how, meant, directory):
    """-n does nothing, -v prints the line that is meant."""
    typed, meant = (of_this_machine(line) if re.search(r"DISK|\bFS\b", line) else line for line in (typed, meant))
    tool, *args = shlex.split(typed)
    result = run(tool, "-n", "-v", *args, tool="tally", cwd=directory)
    if meant == "--help":
        assert result.code == 0 and result.text.startswith(f"Usage: {tool}"), result
    elif how == ">>":
        assert result.code in (0, 1) and f"meant as: {meant}\n" in result.stderr, result
    elif how == "~>":
        assert result.code in (0, 1) and f"warning: {meant}" in result.stderr, result
    elif how == "=>":
        assert result.code == 2 and meant in result.stderr, result
        said = [line for line in result.stderr.splitlines() if "meant as" not in line]
        assert 1 <= len(said) <= 2 and all(len(line) <= 130 for line in said), result
    else:
        tool, *args = shlex.split(meant)
        assert f"meant as: {' '.join([tool, '-n', '-v', *args])}\n" in result.stderr, result


def test_typed(run, typed, how, meant, directory):
    check_typed(run, typed, how, meant, directory)


@pytest.mark.parametrize("wanted, least", (("->", 120), ("=>", 100), ("~>", 8)))
def test_other_options(run, wanted, least, directory):
    """The manual pages of strace, perf and bcc, option by option: taken, refused with what to type, or warned of."""
    lines = [line for line in typed_lines("#" + FILE.read_text().partition(TOGETHER)[2]) if line[1] == wanted]
    assert len(lines) >= least
    for typed, how, meant in lines:
        check_typed(run, typed, how, meant, directory)


def named_lines():
    """The lines that refusals name, without those that have a placeholder, such as FILE, and without pipes."""
    said = "; ".join(meant for _, how, meant in typed_lines(FILE.read_text()) if how == "=>")
    lines = {line.split("|")[0].strip() for line in re.findall("tally ([a-z]+ [^;]*)", said)}
    lines = {re.split(", (?=[a-z]+ |each|what|on )", line)[0] for line in lines}
    return sorted(line for line in lines if not re.search(r"\b[A-Z]{2,}\b", line) and line.count("'") % 2 == 0)


def test_the_lines_that_are_named(run, directory):
    lines = named_lines()
    assert len(lines) >= 20
    for line in lines:
        tool, *args = shlex.split(line)
        result = run(tool, *args, "--help" if tool == "list" else "-n", tool="tally", cwd=directory)
        assert result.code in (0, 1, 4) or "no event" in result.stderr, result


@pytest.mark.parametrize("option, ours", (("--details", ("-v",)), ("-d", ())))
def test_a_list_as_perf_has_it(run, option, ours):
    """perf's --details is -v, and its -d asks for descriptions, which list always shows. list has no -n."""
    shown, meant = (run(*options, "sched:sched_switch", tool="list") for options in ((option,), ours))
    assert shown.code == 0 and shown.text == meant.text, shown


def test_what_is_not_plain_is_said(run):
    """A message about a number that is no interval, and one about another tool that runs instead."""
    assert "5000 is taken as the minimum time" in run("-n", "5000", tool="runqslower").stderr
    said = run("-n", "-e", "sched:sched_switch", "--filter", "prev_state == 1", tool="profile").stderr
    assert "need stackcount: running it instead" in said


def test_a_command_is_run_without_dashes(run, directory):
    """It is the same run, and all options after the program are its own."""
    out = directory / "out"
    result = run("-o", out, "-e", "cs", "echo", "-e", "x", tool="stat")
    assert result.code == 0 and result.text == "x\n", result
    assert "context-switches" in out.read_text() or "cs" in out.read_text()


@pytest.mark.parametrize("option", ("-h", "-ah", "--help"))
def test_help(run, option):
    result = run(option)
    assert result.code == 0 and result.text.startswith("Usage: runqlat"), result


def test_the_table_is_large_enough():
    """The table has at least 150 lines of perf, 60 of bcc and libbpf-tools, 40 of strace."""
    text = FILE.read_text()
    perf, rest = text.split("# --- strace")
    strace, bcc = rest.split("# --- bcc")
    sizes = [len(re.findall("^[a-z].* (?:->|=>|>>) ", part, re.M)) for part in (perf, bcc, strace)]
    assert sizes[0] >= 150 and sizes[1] >= 60 and sizes[2] >= 40, sizes


def test_most_lines_of_peers_run():
    """At least 95 of 100 lines mean something here."""
    peers = re.findall("^[a-z].* (->|=>|>>) ", FILE.read_text().split("# --- abbreviations")[0], re.M)
    assert peers.count("=>") <= len(peers) / 20, (peers.count("=>"), len(peers))


@pytest.mark.parametrize("bccs, here", (
    ('do_sys_openat2 "%s", arg2', ["do_sys_openat2 +0($arg2):string"]),
    ('vfs_read (arg3 > 20000) "read %d bytes of %%", arg3', ["vfs_read $arg3", "--filter", "$arg3 > 20000"]),
    ('c:malloc "size = %d", arg1', ["-x", "libc", "malloc $arg1"]),
    ('r:c:open (retval < 0) "%d", retval', ["-x", "libc", "open%return $retval", "--filter", "$retval < 0"]),
    ('p:c:open (arg2 == 1) "%s %lx", arg1@user, arg2',
     ["-x", "libc", "open +0($arg1):ustring $arg2", "--filter", "$arg2 == 1"]),
    ('t:sched:sched_switch "%s", args->prev_comm', ["sched:sched_switch prev_comm"]),
    ('hello "%d", world', None), ('c:x\'y "%d", arg1', None), ('f "%d", arg1, arg2', None), ("hello", None),
))
def test_probes_of_bccs_trace(run, bccs, here):
    """The answer is a line of probe, which probe accepts."""
    result = run(bccs, tool="trace")
    assert result.code == 2, result
    if here is None:
        assert "is not an interval" in result.stderr, result
        return
    line = result.stderr.strip().partition("; use: tally probe ")[2]
    assert shlex.split(line) == here, result
    taken = run("-n", *here, tool="probe")
    assert taken.code in (0, 4) or "no event" in taken.stderr, taken
