# SPDX-License-Identifier: BSD-2-Clause
"""Files of unprivileged users, made to hang or to bloat a root process that reads them: a run
ends when it should, in bounded memory, reports the files that it could not read, and handles signals meanwhile."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import hostile
import tally
from tally import BUILD, NOBODY, once, steady, wait_until, within

pytestmark = once

# The seconds that base/confined.h allows a run for files of users, and a moment for everything else at its end.
ALLOWANCE, MOMENT = 10, 4
MB = 1 << 10                            # in KB, like ru_maxrss
# Twice the answers that fit into the allowance (as received, and as stored), and a run.
MEMORY = 2 * 256 * MB + 200 * MB


@pytest.fixture(scope="module")
def directory():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def files(directory):
    """{name: path}, all of them of an unprivileged user."""
    made = {make.__name__: make(directory, make.__name__)
            for make in hostile.IN_SYMBOLS + hostile.IN_DEBUG_INFORMATION}
    for path in directory.iterdir():
        os.chown(path, NOBODY, NOBODY)
    return made


@pytest.fixture
def running():
    """Starts programs as that user, and ends them."""
    started = []

    def run(*args):
        process = subprocess.Popen([str(a) for a in args], user=NOBODY, group=NOBODY, extra_groups=[])
        started.append(process)
        return process

    yield run
    for process in started:
        tally.end_process(process)


# A process begins with its parent's maximum of memory (ru_maxrss, kernel/exec.c): this parent is small.
SMALL_PARENT = """
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    file.write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status) & 0xff)
"""


def run_tool(tool, *args):
    """Returns the exit status, outputs, seconds, and the maximum memory of the tool or a child of its, in KB."""
    with (tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err,
          tempfile.NamedTemporaryFile("r") as most):
        began = time.monotonic()
        code = subprocess.run([sys.executable, "-c", SMALL_PARENT, most.name, BUILD / tool, *[str(a) for a in args]],
                              stdout=out, stderr=err, stdin=subprocess.DEVNULL).returncode
        seconds = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        return tally.Result(code, out.read(), err.read()), seconds, int(most.read())


def test_a_profile_ends_and_says_what_it_could_not_read(files, running):
    """The measurement has its requested length, and the report comes when the allowance is used
    up at the latest. The time of everything else on a machine as busy as this one is measured, too."""
    usual = [running(files["fifo_as_debug_file"]) for _ in range(4)]
    _, before, _ = run_tool("profile", "-a", "-d", 1, "--json")
    for process in usual:
        tally.end_process(process)
    for name in "huge_debug_file", "names_in_names", "one_long_name", "packed_symbols":
        running(files[name])
    result, seconds, memory = run_tool("profile", "-a", "-d", 1, "--json")
    report = result.report
    assert result.code == 0, result
    assert 1 <= report["duration_ns"] / 1e9 < 1 + before
    assert seconds < 2 * before + ALLOWANCE + MOMENT
    assert memory < MEMORY
    assert "names missing from" in report["note"]
    assert "huge_debug_file (took too long)" in report["note"]


def test_names_of_those_that_can_be_read(files, running):
    """A symbol table of one long name costs only that name, and the ordinary names are there."""
    running(files["fifo_as_shared_debug_file"])
    shared = running(files["one_long_name"])
    result, seconds, memory = run_tool("profile", "-p", shared.pid, "-d", 0.5, "--json")
    assert result.code == 0, result
    assert memory < 200 * MB
    assert "one_long_name (some names are too long)" in result.report["note"]


# Seconds: 100 ms, and the time to end and to write. A busy machine may take longer: steady().
HEARD = 0.1 + 0.4


def stopped(tool):
    """The time that the tool took to end after SIGINT, and its result; none of its processes is left."""
    began = time.monotonic()
    result = tool.stop()
    took = time.monotonic() - began
    assert not tally.children(tool.pid)
    tool.close()
    return took, result


@pytest.mark.parametrize("late", [0.3, 1.0])
def test_a_signal_is_heard_while_names_are_read(files, running, late):
    """SIGINT after the measurement: the report comes at once, without the names not read by then."""
    process = running(files["huge_debug_file"])

    def trial():
        tool = tally.Tool("-p", process.pid, "-d", 0.2, "--json", tool="profile")
        tool.ready()
        time.sleep(0.2 + late)
        assert tool.process.poll() is None, tool.result()
        took, result = stopped(tool)
        assert result.code == 0, result
        assert "huge_debug_file (interrupted)" in result.report["note"]
        within(took < HEARD, took)

    steady(trial)


@pytest.mark.parametrize("tool, args", [
    ("probe", ["-x", "FILE", "main"]),
    ("stat", ["-x", "FILE", "-e", "main"]),
    ("stackcount", ["-x", "FILE", "main"]),
    ("list", ["-x", "FILE", "--functions", "*"]),
    ("list", ["-x", "FILE", "--lines", "main"]),
    ("memleak", ["-x", "FILE", "-d", "10"]),
])
def test_a_signal_is_heard_before_the_run(files, tool, args):
    """While the tool computes the CRC of 8 TB."""
    path = str(files["huge_debug_file"])

    def trial():
        started = tally.Tool(*[path if a == "FILE" else a for a in args], tool=tool, ready=False)
        wait_until(lambda: tally.children(started.pid) or started.process.poll() is not None,
                   "a process that reads")
        time.sleep(0.5)
        assert started.process.poll() is None, started.result()
        took, result = stopped(started)
        assert result.code != 0
        within(took < HEARD, took)

    steady(trial)


@pytest.mark.parametrize("name", [make.__name__ for make in hostile.IN_SYMBOLS +
                                  hostile.IN_DEBUG_INFORMATION])
def test_a_file_that_is_asked_for(files, name):
    """Root names the file, and the tool takes its maximum time at most; it needs no more memory than eight
    times the size of the file on disk, plus the allowance of each reader."""
    path = files[name]
    disk = 512 * sum(os.stat(p).st_blocks for p in path.parent.glob(f"{name}*")) / 1024
    for args in ["--functions", "*"], ["--lines", "main"], ["--vars", "spin"]:
        result, seconds, memory = run_tool("list", "-x", path, *args)
        assert result.code >= 0, (args, result)
        assert seconds < 65, (args, seconds)
        assert memory < 300 * MB + 9 * disk, (args, memory, disk)


def test_the_ends_of_a_function(directory):
    """Whether an exception may pass through it depends on the libraries in the file's dynamic section."""
    path = hostile.huge_dynamic_section(directory, "huge_dynamic_section")
    os.chown(path, NOBODY, NOBODY)
    for tool, args in ("probe", ["spin%return"]), ("probe", ["spin", "--latency"]), ("stat", ["-e", "spin%return"]):
        result, seconds, memory = run_tool(tool, "-x", path, *args, "-d", 0.2)
        assert result.code >= 0 and seconds < 65, (tool, args, result, seconds)
        assert memory < 300 * MB, (tool, args, memory, result)


def test_a_library_with_absurd_segments(directory, running):
    """Mapped under the name of the C library, where memleak looks for malloc()."""
    place = directory / "lib"
    place.mkdir()
    path = hostile.absurd_segments(place, "libc.so.6")
    os.chown(path, NOBODY, NOBODY)
    process = running(sys.executable, "-c", f"""
import mmap, sys, time
with open({str(path)!r}, "rb") as f:
    m = mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
time.sleep(1000)""")
    wait_until(lambda: str(path) in Path(f"/proc/{process.pid}/maps").read_text(), "the library")
    for tool, args in (("memleak", ["-p", process.pid, "-d", 1]), ("probe", ["-x", path, "malloc"]),
                       ("profile", ["-p", process.pid, "-d", 1])):
        result, seconds, memory = run_tool(tool, *args)
        assert seconds < 4 + MOMENT, (tool, result)
        assert memory < 350 * MB, (tool, memory)


# Nearly all of its time is in a function of the C library that the library's own symbols do not name.
SORTS = """
#include <stdlib.h>
static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	static int number[1000];

	for (;;) {
		for (int i = 0; i < 1000; i++)
			number[i] = i * 7919 % 1000;
		qsort(number, 1000, sizeof(int), by_value);
	}
}
"""


def names_of(*processes):
    """The names of all frames of these processes, each of which has samples."""
    pids = [process.pid for process in processes]
    result, _, _ = run_tool("profile", "-p", ",".join(map(str, pids)), "-d", 0.5, "--by", "pid", "--json")
    assert result.code == 0, result
    stacks = result.report["stacks"]
    assert {stack["key"]["pid"] for stack in stacks} == set(pids)
    return {frame["name"] for stack in stacks for frame in stack["frames"]}


@pytest.mark.parametrize("owner", (NOBODY, 0), ids=("another's", "root's"))
def test_names_from_a_mount_namespace(directory, running, owner):
    """A debug file of the C library that a user offers in a mount namespace of its own names nobody's frames, not even
    when that user's process is seen first. The same file is used if root owns it, which shows that it is valid."""
    source, program = directory / "sorts.c", directory / "sorts"
    source.write_text(SORTS)
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    forged, place = hostile.forged_debug_file(directory, "forged.debug")
    os.chown(forged, owner, owner)
    attacker = subprocess.Popen(["unshare", "-m", "sh", "-c", f"""
mkdir -p /usr/lib/debug && mount -t tmpfs none /usr/lib/debug && mkdir -p "$(dirname {place})" &&
cp -p {forged} {place} && exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups {program}"""])
    try:
        wait_until(lambda: os.readlink(f"/proc/{attacker.pid}/exe") == str(program), "the attacker")
        alone = names_of(attacker)
        both = names_of(attacker, running(program))
    finally:
        tally.end_process(attacker)
    assert ("forged" in alone) == (owner == 0), alone
    assert owner == 0 or "forged" not in both, both
