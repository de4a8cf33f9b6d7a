# SPDX-License-Identifier: BSD-2-Clause
"""User stacks of snap, against known chains of functions, and against gdb's backtraces of real programs."""

import os
import platform
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import fuse
import tally
from tally import GUEST, once

RESTING = tally.BUILD / "triggers" / "resting"
CALLS = ("nap", "futex", "poll", "read")
PLACES = (*CALLS, *(f"with_{call}" for call in CALLS), "sorting", "handling", "growing", "aligned", "large", "deep")
# The functions of the trigger, outermost first.
CHAINS = {
    **{call: ["start", "outer", "inner", "rest"] for call in CALLS},
    **{f"with_{call}": ["start", "with_outer", "with_inner", "with_rest"] for call in CALLS},
    "sorting": ["start", "sorting", "compare", "rest"],
    "handling": ["start", "handling", "on_signal", "rest"],
    **{place: ["start", place, "rest"] for place in ("growing", "aligned", "large")},
    "deep": ["start", *["deep"] * 200, "rest"],
}
ASTRAY = ("low", "nowhere", "denied", "high", "around", "endless", "chain")
ON_X86 = platform.machine() == "x86_64"


@pytest.fixture
def look(run):
    """{tid: frames, outermost first} of a picture, and its report."""

    def stacks(pid, *args, strict=True):
        result = run("--json", "-g", "--by", "tid", "-p", pid, *(("--strict",) if strict else ()), *args, tool="snap")
        assert result.code == 0, result
        report = result.report
        assert all(stack["value"] == 1 for stack in report["stacks"]), report
        return {stack["key"]["tid"]: stack["frames"] for stack in report["stacks"]}, report

    return stacks


def names(frames):
    return [frame["name"] for frame in frames]


def of_module(frames, module):
    return [frame["name"] for frame in frames if frame["module"] == module]


@pytest.mark.everywhere
def test_known_chains(trigger, look):
    """With and without frame pointers, from a signal handler, through the C library; and no thread runs for it."""
    load = trigger("resting")
    tids = dict(zip(PLACES, load.numbers))
    before = tally.history(load.pid)
    user, _ = look(load.pid, "-U", "--max-depth", "127", strict=False)
    both, _ = look(load.pid, strict=False)
    assert tally.history(load.pid) == before
    for place, chain in CHAINS.items():
        found = names(user[tids[place]])
        own = of_module(user[tids[place]], "resting")
        if place == "deep":
            assert found[0] == "[deeper]" and set(own) == {"deep", "rest"} and len(found) == 128, found
        else:
            assert [name for name in own if name != "crew__member"] == chain, (place, found)
            assert "[incomplete]" not in found, (place, found)
        kernel = [frame["name"] for frame in both[tids[place]] if frame["module"] == "[kernel]"]
        said = Path(f"/proc/{load.pid}/task/{tids[place]}/stack").read_text().splitlines()
        assert len(kernel) == len(said), (place, kernel, said)
        assert names(both[tids[place]])[:-len(kernel)] == found


def test_all_of_it(trigger, look):
    """If no stack is deep, nothing is missing, even by --strict."""
    load = trigger("standing")
    user, report = look(load.pid, "-U")
    assert "note" not in report and len(user) == 10, report
    assert all("[incomplete]" not in names(frames) for frames in user.values()), user


def test_parts(trigger, look):
    """-K and -U are parts of the stacks shown without them; --max-depth applies to each part."""
    load = trigger("standing")
    both, kernel, user = (look(load.pid, *args)[0] for args in ((), ("-K",), ("-U",)))
    assert set(both) == set(kernel) == set(user)
    for tid, frames in both.items():
        assert names(frames) == names(user[tid]) + names(kernel[tid])
    cut, report = look(load.pid, "--max-depth", "2", strict=False)
    for tid, frames in cut.items():
        assert [name for name in names(frames) if name != "[deeper]"] == names(user[tid])[-2:] + names(kernel[tid])[-2:]
    assert report["inexact"]["truncated"] == len(cut), report


def test_frame_pointers(trigger, look):
    """Without tables, only code with frame pointers is followed."""
    load = trigger("resting")
    tids = dict(zip(PLACES, load.numbers))
    found, _ = look(load.pid, "-U", "--call-graph", "fp", strict=False)
    assert of_module(found[tids["with_futex"]], "resting")[-2:] == ["with_outer", "with_inner"]
    assert "outer" not in names(found[tids["futex"]])


def test_pictures(trigger, run):
    """A thread that has not run since has the stack of the last picture."""
    load = trigger("resting")
    result = run("--json", "-g", "-I", "50", "--reports", "4", "-p", load.pid, tool="snap")
    first, *others = [[(names(stack["frames"]), stack["value"]) for stack in report["stacks"]]
                      for report in result.reports]
    assert len(others) == 3 and all(other == first for other in others), result


def test_in_a_pid_namespace():
    """Process ids are those in /proc there; the process that reads for snap is not shown."""
    script = "sleep 1000 & exec \"$0\" snap -g -U --by comm --format folded"
    command = ["unshare", "-pf", "--kill-child", "--mount-proc", "sh", "-c", script, tally.BUILD / "tally"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in result.stdout.splitlines() if not line.startswith("tally")]
    assert len(lines) == 1 and re.search(r"sleep;.*;(clock_)?nanosleep 1$", lines[0]), result
    assert "opener" not in result.stdout, result


def test_formats(trigger, run):
    load = trigger("standing")
    lines = run("-g", "--format", "folded", "-p", load.pid, tool="snap").text.splitlines()
    assert any(re.search(r";start_thread;crew__member;stand;syscall;.*_\[k\]", line) for line in lines), lines
    tree = run("-g", "-p", load.pid, tool="snap").text
    assert "crew__member" in tree and "stand" in tree, tree
    flame = run("-g", "--format", "flame", "-p", load.pid, tool="snap").text
    assert "crew__member" in flame and "<svg" in flame
    chosen = run("-g", "--frames", "^crew__member$", "--format", "folded", "-p", load.pid, tool="snap").text
    assert sum(int(line.split()[-1]) for line in chosen.splitlines()) == 9, chosen


def test_a_new_process_each_time(run, trigger):
    """Processes that appear during a snap have names, too, or the report says that they have none."""
    load = trigger("mayflies", 2000, 0, 0)
    load.go()
    for _ in range(5):
        result = run("--json", "-g", "-a", tool="snap")
        assert result.code == 0, result
    load.done()


def test_threads_that_run(trigger, look):
    """A stack is of one moment: whole, or marked as missing."""
    load = trigger("sleepers", 8, 15000, 100, -1)
    load.go()
    whole = {"nap", "crew__member", "start_thread"}
    seen = ran = 0
    for _ in range(15):
        found, report = look(load.pid, "-U", strict=False)
        for tid, frames in found.items():
            have = set(names(frames))
            if "[ran meanwhile]" in have:
                ran += 1
                assert have == {"[ran meanwhile]"}, frames
            elif tid != load.pid and "nanosleep" in have:
                seen += 1
                assert whole <= have and "[incomplete]" not in have, frames
        missing = sum("[ran meanwhile]" in names(frames) for frames in found.values())
        assert report["inexact"]["incomplete"] == missing, report
        assert not missing or re.search(rf"\b{missing} ran while ", report["note"]), report
    assert ran, "every thread rested for as long as it was looked at"
    load.done()


@pytest.mark.everywhere
def test_stacks_that_nobody_finds(trigger, look):
    load = trigger("astray")
    tids = dict(zip(ASTRAY, load.numbers))
    for graph in ("dwarf", "fp"):
        found, report = look(load.pid, "-U", "--call-graph", graph, strict=False)
        for place in ASTRAY:
            frames = names(found[tids[place]])
            deeper = place == ("chain" if graph == "dwarf" and ON_X86 else "endless" if graph == "fp" else None)
            assert len(frames) == 128 if deeper else frames[0] == "[incomplete]" and len(frames) <= 3, (place, frames)
            assert set(frames) <= {"[deeper]", "[incomplete]", "sleep_at", "[unknown]", None}, (place, frames)
        if ON_X86:
            assert re.search(r"\b[23] have user stacks that could not be read\b", report["note"]), report
        # Its first thread rests like any other.
        assert graph == "fp" or "main" in names(found[load.pid])


def copy_with(directory, section):
    """A trigger with new contents in a section."""
    path, contents = directory / "resting", directory / "section"
    subprocess.run(["objcopy", f"--dump-section={section}={contents}", RESTING, directory / "same"], check=True)
    contents.write_bytes(bytes((i * 151 + i // 7) & 0xff for i in range(contents.stat().st_size)))
    subprocess.run(["objcopy", f"--update-section={section}={contents}", RESTING, path], check=True)
    return path


def test_a_damaged_file(trigger, look, tmp_path):
    """It ends, within its limits, and the C library's part is unchanged."""
    load = trigger(str(copy_with(tmp_path, ".eh_frame")))
    found, _ = look(load.pid, "-U", strict=False)
    frames = names(found[load.numbers[0]])
    assert 2 <= len(frames) <= 128 and "nanosleep" in "".join(filter(None, frames)), frames


# --- the hung ------------------------------------------------------------------------------------

@pytest.mark.skipif(not GUEST, reason="what waits for such a server cannot be ended: in guests only")
def test_memory_that_does_not_answer(trigger, look, ends, tmp_path):
    """Other processes have their stacks."""
    (tmp_path / "pages").write_bytes(bytes(65536))
    mount = fuse.Mount(tmp_path / "pages", "pages")
    ends.callback(mount.close)
    fd = os.open(mount.file, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    load = trigger("astray", mount.file)
    other = trigger("standing")
    mount.hang()
    found, report = look(f"{load.pid},{other.pid}", "-U", strict=False)
    assert names(found[load.numbers[-1]]) == ["[incomplete]", "sleep_at"], found
    assert "could not be read" in report["note"], report
    assert all("crew__member" in names(frames) for tid, frames in found.items()
               if tid in tally.threads(other.pid) and tid != other.pid), found


# --- against gdb ---------------------------------------------------------------------------------

# Frames that are on the stack, innermost first: neither inlined functions nor functions that have jumped to another
# one. An interrupted instruction is shown like a return address, which is behind the call.
WALK = """
import gdb
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, found, signal = gdb.newest_frame(), [], False
    while frame is not None and len(found) < 127:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            found.append((hex(frame.pc() + signal), (frame.name() or "?").replace(" ", "")))
            signal = frame.type() == gdb.SIGTRAMP_FRAME
        frame = frame.older()
    print("STACK", thread.ptid[1] or thread.ptid[0], *(f"{pc}={name}" for pc, name in found))
"""

PROGRAMS = {
    "sleep": ["sleep", "1000"],
    "cat": ["cat"],
    "sh": ["sh", "-c", "sleep 1000; true"],
    "bash": ["bash", "-c", "f() { sleep 1000; true; }; g() { f; true; }; g; true"],
    "python": ["/usr/bin/python3", "-c", "import threading, time\n"
               "for _ in range(3): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
               "sorted([2, 1], key=lambda _: time.sleep(1000))"],
    "perl": ["perl", "-e", "sub f { sleep 1000 } f()"],
    "redis": ["redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", "", "--hz", "1"],
    "nginx": ["nginx", "-p", ".", "-e", "error.log", "-c", "nginx.conf", "-g", "daemon off; master_process off;"],
    "node": ["node", "-e", "setTimeout(() => {}, 1000000)"],
}
NGINX = "pid nginx.pid; events {} http { access_log off; server { listen unix:web.sock; } }"


has_gdb = pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb")


def by_gdb(pid):
    """{tid: [(address, name)]}"""
    options = ["-iex", "set debuginfod enabled off", "-ex", "set backtrace past-main on",
               "-ex", "set backtrace past-entry on", "-ex", f"python exec({WALK!r})"]
    text = subprocess.run(["gdb", "-nx", "-batch", *options, "-p", str(pid)], capture_output=True, text=True,
                          check=False).stdout
    stacks = [line.split()[1:] for line in text.splitlines() if line.startswith("STACK ")]
    return {int(tid): [(int(pc, 16), name) for pc, name in (each.split("=", 1) for each in frames)]
            for tid, *frames in stacks}


def address(frame):
    return int(frame["addr"], 16)


def check_as_gdb(look, pid):
    """Every thread, frame by frame; gdb comes second because it stops them."""
    tally.rest(pid)
    found, _ = look(pid, "-U", "--no-python", strict=False)
    stacks = by_gdb(pid)
    assert stacks and set(stacks) == set(found)
    for tid, frames in stacks.items():
        mine = [(address(frame), frame["name"]) for frame in reversed(found[tid]) if frame["addr"]]
        assert [pc for pc, _ in mine] == [pc for pc, _ in frames], (mine, frames)
        assert "[incomplete]" not in names(found[tid]), (mine, frames)


@once
@has_gdb
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_gdb(look, ends, program, directory):
    if not shutil.which(PROGRAMS[program][0]):
        pytest.skip(f"no {program}")
    (directory / "nginx.conf").write_text(NGINX)
    load = subprocess.Popen(PROGRAMS[program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=directory)
    ends.callback(tally.end_process, load)
    check_as_gdb(look, load.pid)


@once
@has_gdb
@pytest.mark.skipif(not shutil.which("postgres"), reason="no postgres")
def test_postgres_as_gdb(look, ends, directory):
    """All processes of postgres."""
    programs = Path(shutil.which("postgres")).resolve().parent
    shutil.chown(directory, "nobody")
    subprocess.run([programs / "initdb", "-D", "data", "--no-sync", "-A", "trust", "-U", "tally", "--locale", "C"],
                   user="nobody", cwd=directory, check=True, stdout=subprocess.DEVNULL)
    options = ["-k", directory, "-c", "listen_addresses=", "-c", "shared_buffers=16MB"]
    load = subprocess.Popen([programs / "postgres", "-D", "data", *options], user="nobody", cwd=directory,
                            stderr=subprocess.DEVNULL)
    # Its processes end at once, and its shared memory is removed.
    ends.callback(tally.end_process, load, signal.SIGQUIT)
    state = directory / "data" / "postmaster.pid"
    tally.wait_until(lambda: state.exists() and "ready" in state.read_text(), "postgres is ready")
    processes = [load.pid, *tally.children(load.pid)]
    assert len(processes) > 3
    for pid in processes:
        check_as_gdb(look, pid)
