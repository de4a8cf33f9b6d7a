# SPDX-License-Identifier: BSD-2-Clause
"""How runs begin and end if something is missing: open files, system calls, capabilities, disk space,
the command itself. They end when they should, they say why, and they destroy nothing."""

import contextlib
import errno
import itertools
import os
import resource
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

import tally
import tracefs
from test_every_tool import NEEDED, names
from tally import BUILD, PATIENCE, once, wait_until

pytestmark = once

# Arguments for a short and quiet run of each tool.
LINES = {name: NEEDED.get(name, ()) for name in names()} | {
    "fsdist": (), "kvmstat": (), "stat": ("-a", "-e", "sched:sched_switch"),
}

# Tools that answer without measuring.
ANSWERS = {"tally": (), "doctor": ("doctor",), "help": ("help", "runqlat"), "list": ("list", "sched:*"),
           "bench": ("bench",)}

SHORT = ("-d", "0.1")

# The range and the step of the limits to try: triage is fifteen tools. In the gate, other tools try every fifth limit:
# neighbours in the list begin one apart, so that some of them try each limit.
GATE = bool(os.environ.get("TALLY_GATE"))
STEP = 5 if GATE else 1
LIMITS = {"triage": (4, 600, 28)} | {
    name: (4 + n % STEP, 200, STEP) for n, name in enumerate(sorted(LINES)) if name != "triage"
}


def run_limited(name, *args, files=None, command=(), **kwargs):
    """Runs a tool in a process of its own; returns Result, and how long it took."""
    def limit():
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    began = time.monotonic()
    ran = subprocess.run([*map(str, command), BUILD / name, *map(str, args)], preexec_fn=limit,
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False, **kwargs)
    return tally.Result(ran.returncode, ran.stdout, ran.stderr), time.monotonic() - began


def skip_if_not_here(name, code):
    """Skips the test if this kernel cannot run the tool, which ended with that status."""
    if code == 4 and run_limited(name, *SHORT, *LINES[name])[0].code == 4:
        pytest.skip("not on this kernel")


# --- open files ----------------------------------------------------------------------------------

@pytest.mark.parametrize("name", LINES)
def test_too_few_open_files(name):
    """From the lowest limit with which the program can be loaded, messages name the limit, until there is a report.
    Without the capability to raise it."""
    drop = ("setpriv", "--bounding-set", "-sys_resource")
    for files in range(*LIMITS[name]):
        result, _ = run_limited(name, *SHORT, *LINES[name], files=files, command=drop)
        if result.code == 0:
            break
        if result.code == 4 and "ulimit" not in result.stderr:
            assert run_limited(name, *SHORT, *LINES[name])[0].code == 4, (files, result)
            pytest.skip("not on this kernel")
        if "error while loading shared libraries" in result.stderr:
            continue
        assert result.code == 1 and "ulimit -n" in result.stderr, (files, result)
        assert f"limit of this process is {files}\n" in result.stderr, (files, result)
    assert result.code == 0, result


def test_a_command_is_given_the_limit_that_the_tool_was_given(run):
    """Even if tools raise their own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
    try:
        result = run("-d", "5", "-o", "/dev/null/no", "--", "true")
        assert result.code == 125
        result = run("--json", "-r", "2", "-e", "sched:sched_switch", "--", "sh", "-c",
                     "ulimit -n >&2", tool="stat")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert result.code == 0 and result.stderr == "40\n40\n", result


# --- system calls --------------------------------------------------------------------------------

# System calls that a run needs, or that it has to do without where a container forbids them.
CALLS = {
    "clones": (56, 57, 58, 435),
    "epoll_create1": (291,),
    "epoll_ctl": (233,),
    "memfd_create": (319,),
    "openat2": (437,),
    "perf_event_open": (298,),
    "pidfd_open": (434,),
    "pipes": (22, 293),
    "prlimit64": (302,),
    "signalfd4": (289,),
    "timerfd_create": (283,),
    "timerfd_settime": (286,),
    "sockets": (41, 53),
}

CALLING = ("runqlat", "timehist", "memleak", "profile", "probe", "stat")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are x86's")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", CALLING)
def test_a_system_call_that_is_not_there(name, call):
    """The run ends in time. If it fails, it says why; it blames the limit of open files only if
    that is the cause. In the gate, half of the tools meet each error with a process, and half with a
    command."""
    numbers = ",".join(map(str, CALLS[call]))
    scopes = (("-p", os.getpid()), ("--", "true"))
    errors = (errno.EPERM if call == "openat2" else errno.ENOSYS, errno.EMFILE)
    if (CALLING.index(name) + list(CALLS).index(call)) % 2:
        scopes = scopes[::-1]
    for error, more in zip(errors, scopes) if GATE else itertools.product(errors, scopes):
        result, took = run_limited(
            name, "-d", "0.1", *(arg for arg in LINES[name] if arg != "-a"), *more,
            command=(BUILD / "triggers/denied", error, numbers))
        assert took < PATIENCE and result.code in (0, 125 if "--" in more else 1, 4), (error, more, took, result)
        assert result.code == 0 or result.stderr.strip(), (error, more, result)
        assert not (error == errno.EMFILE and result.code == 4), (more, result)
        assert "ulimit" not in result.stderr or error == errno.EMFILE, (error, more, result)


BUSY = """
#include <time.h>

__attribute__((noinline)) void at_work(void)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (!t.tv_sec && t.tv_nsec < 300000000);
}

int main(void)
{
	at_work();
	return 0;
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are x86's")
@pytest.mark.parametrize("root", ("own", "another"))
@pytest.mark.parametrize("error", (errno.EPERM, errno.ENOSYS))
def test_names_without_openat2(directory, root, error):
    """Seccomp filters of older container runtimes refuse it. Names are found below the tool's own root; for other roots
    the report says why there are none."""
    (directory / "busy.c").write_text(BUSY)
    subprocess.run(["gcc", "-static", "-o", directory / "busy", directory / "busy.c"], check=True)
    command = (directory / "busy",) if root == "own" else ("chroot", directory, "/busy")
    result, _ = run_limited("profile", "-U", "--json", "-F", "999", "--", *command,
                            command=(BUILD / "triggers/denied", error, CALLS["openat2"][0]))
    report = result.report
    names = {frame["name"] for stack in report["stacks"] for frame in stack["frames"]}
    if root == "own":
        assert "at_work" in names, report
    else:
        assert "at_work" not in names, "another root was followed without openat2(): change the test"
        assert "busy (openat2() is refused)" in report["note"], report


# --- the report ----------------------------------------------------------------------------------

# Reasons for a run to end before its first report.
WRONG = {
    "pid": ("-p", "4194303"), "cgroup": ("-G", "/no/such/group"), "command": ("--", "/no/such/command"),
    "option": ("--sort", "nonsense"), "number": ("-d", "x"),
}

FILES = {"json": ("--json",), "text": (), "metrics": ("--format", "openmetrics")}


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ("runqlat", "stat", "timehist", "probe", "execsnoop", "profile"))
def test_the_last_report_outlives_a_run_that_does_not_begin(run, tmp_path, name, wrong, form):
    if form == "metrics" and name in ("timehist", "profile"):
        pytest.skip("has no place there")
    file = tmp_path / "report"
    file.write_text("the last one\n")
    result = run(*FILES[form], "-o", file, "-d", "0.1", *LINES[name][bool(name == "stat"):], *WRONG[wrong], tool=name)
    assert result.code in ((127,) if wrong == "command" else (1, 2)) and result.stderr, result
    assert file.read_text() == "the last one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("args", (("-e", "no:such"), ("-e", "sched:sched_switch", "--filter", "nonsense >")))
def test_nor_does_a_wrong_event_end_it(run, tmp_path, args):
    file = tmp_path / "report"
    file.write_text("the last one\n")
    assert run("-o", file, *args, "-d", "0.1", tool="stat").code in (1, 2)
    assert file.read_text() == "the last one\n" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("wrong", ("pid", "command"))
def test_the_last_recording_outlives_it_too(run, tmp_path, wrong):
    file = tmp_path / "schedule"
    assert run("--record", file, "-d", "0.2", tool="timehist").code == 0
    recorded = file.read_bytes()
    assert recorded and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run("--record", file, "-d", "0.1", *WRONG[wrong], tool="timehist").code == (127 if wrong == "command" else 1)
    assert file.read_bytes() == recorded and len(list(tmp_path.iterdir())) == 1


def test_the_report_takes_the_name_with_its_first_line(tool, tmp_path):
    """Until then the old report is there. Afterwards the same file grows."""
    file = tmp_path / "report"
    file.write_text("the last one\n")
    file.chmod(0o644)
    tracer = tool("--json", "-o", file, "-I", "500")
    assert file.read_text() == "the last one\n"
    wait_until(lambda: file.read_text() != "the last one\n", "the first report")
    inode = file.stat().st_ino
    wait_until(lambda: len(file.read_text().splitlines()) >= 3, "more reports")
    assert tracer.stop().code == 0
    assert file.stat().st_ino == inode and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(list(tmp_path.iterdir())) == 1
    assert len(tally.Result(0, file.read_bytes(), b"").reports) >= 3


def test_neither_name_is_written_through_a_link(run, tmp_path):
    target, file = tmp_path / "target", tmp_path / "report"
    target.write_text("mine")
    file.symlink_to(target)
    assert run("-o", file, "-d", "0.1").code == 1
    file.unlink()
    # The temporary name of the report, by a process with a known pid.
    line = f'ln -s {target} {tmp_path}/.report.$$.tally; exec {BUILD}/runqlat -o {file} -d 0.1'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 0
    assert target.read_text() == "mine" and file.read_text().startswith("runqlat")
    assert {path.name for path in tmp_path.iterdir()} == {"target", "report"}


def test_a_full_disk_is_told():
    """Each tool and answer, in each format, ends with a message and status 1."""
    with open("/dev/full", "w") as full:
        for name, args in ANSWERS.items():
            ran = subprocess.run([BUILD / "tally", *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            assert ran.returncode == 1 and "No space left" in ran.stderr, (name, ran)


@contextlib.contextmanager
def programs_and_connects():
    """Starts programs, and ends TCP sessions, as events for tools that print a line for each."""
    ended = threading.Event()

    def go_on():
        with socket.create_server(("127.0.0.1", 0)) as server:
            while not ended.wait(0.01):
                subprocess.run(["true"], check=True)
                with socket.create_connection(server.getsockname()):
                    server.accept()[0].close()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", LINES)
def test_a_full_disk_is_told_by_each_tool(name):
    for form in ((), ("--json",)):
        with open("/dev/full", "w") as full, programs_and_connects():
            ran = subprocess.run([BUILD / name, *SHORT, *form, *LINES[name]], stdin=subprocess.DEVNULL,
                                 stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
        skip_if_not_here(name, ran.returncode)
        # If stdout is no terminal, a tool of lines writes its summary to stderr: without an event there is no line.
        if not form and "\nevents 0  " in ran.stderr:
            assert ran.returncode == 0, ran
        else:
            assert ran.returncode == 1 and "cannot write the report" in ran.stderr, (form, ran)


# --- the command ---------------------------------------------------------------------------------

def forked_command(tool):
    """The command's pid before its exec, or None. The process that opens files has the tool's name, too, at first; once
    it sleeps, it has its own."""
    asleep = [pid for pid in tally.children(tool) if tally.state(pid) == "S"]
    return next((pid for pid in asleep if pid in tally.children(tool)), None)


@pytest.mark.parametrize("name", ("runqlat", "stat", "timehist", "profile", "probe", "trace"))
def test_a_command_killed_before_it_starts(name):
    """It waits for the tool to be ready; the tool, which is stopped meanwhile, finds it gone."""
    args = [arg for arg in LINES[name] if arg != "-a"]
    ready, write_end = os.pipe()
    process = subprocess.Popen([BUILD / name, "--ready-fd", str(write_end), *args, "--", "true"], pass_fds=(write_end,),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(write_end)
    try:
        command = wait_until(lambda: forked_command(process.pid), "the command is forked")
        os.kill(command, signal.SIGKILL)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        os.close(ready)
        tally.end_process(process)
    assert process.returncode == 125, (out, err)
    assert b"'true' was killed by signal 9 before it was started" in err


# --- capabilities --------------------------------------------------------------------------------

def test_memleak_names_the_capability(tmp_path):
    """With CAP_BPF and CAP_PERFMON only: either they suffice on this kernel, or the message names what is missing."""
    fd = os.open(BUILD / "memleak", os.O_RDONLY)
    ran = subprocess.run(
        ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", "+bpf,+perfmon",
         "--ambient-caps", "+bpf,+perfmon", f"/proc/self/fd/{fd}", "memleak", "-d", "0.1"],
        pass_fds=(fd,), capture_output=True, text=True, check=False)
    os.close(fd)
    assert ran.returncode == 0 or (ran.returncode == 4 and "missing capability CAP_SYS_ADMIN" in ran.stderr), ran


# --- installed files -----------------------------------------------------------------------------

def test_nothing_stands_before_a_program_that_every_system_has(tmp_path):
    """Not even for a user whose path has /usr/local/bin first."""
    subprocess.run(["make", "-s", "install", f"DESTDIR={tmp_path}", "PREFIX=/usr/local", f"BUILD={BUILD}"],
                   cwd=tally.ROOT, check=True, stdout=subprocess.DEVNULL)
    installed = {path.name for path in (tmp_path / "usr/local/bin").iterdir()}
    assert {"tally", "runqlat"} <= installed and not {"stat", "trace"} & installed
    common = set(subprocess.run(["bash", "-c", "compgen -b; compgen -k"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout.split())
    listed = subprocess.run(["dpkg-query", "-W", "-f", "${Essential} ${Package}\n"], stdout=subprocess.PIPE,
                            text=True, check=False).stdout.splitlines() if os.path.exists("/usr/bin/dpkg-query") else []
    for package in (line.split()[1] for line in listed if line.startswith("yes ")):
        files = subprocess.run(["dpkg-query", "-L", package], stdout=subprocess.PIPE, text=True, check=True).stdout
        common |= {os.path.basename(file) for file in files.split() if "/bin/" in file or "/sbin/" in file}
    assert not installed & common
    pages = {path.name for path in (tmp_path / "usr/local/share/man/man1").iterdir()}
    assert "stat.1" not in pages and "tally-stat.1" in pages


def test_doctor_without_a_mounted_tracefs():
    """doctor works around it: names and fields are not lost."""
    line = (f"umount -l /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug 2>/dev/null; "
            f"{BUILD}/tally doctor --csv; {BUILD}/list -v sched:sched_switch")
    ran = subprocess.run(["unshare", "-m", "sh", "-c", line], stdout=subprocess.PIPE, text=True, check=True)
    assert [row for row in ran.stdout.splitlines() if row.startswith("ok,tracefs,")], ran.stdout
    assert "prev_comm" in ran.stdout


@pytest.mark.parametrize("joined", (False, True))
def test_a_binary_without_functions_of_it(run, joined):
    args = ("-x/bin/sh", "-e", "sched:sched_switch") if joined else ("-x", "/bin/sh")
    result = run(*args, "-a", "-d", "0.1", tool="stat")
    assert result.code == 2 and "`list --functions -x /bin/sh` shows functions" in result.stderr, result
    assert not result.text


@pytest.mark.parametrize("separator", (",", ";"))
def test_a_separator_is_no_binary(run, separator):
    """As in perf."""
    for args in (("-x", separator), (f"-x{separator}", "-e", "sched:sched_switch")):
        result = run(*args, "-a", "-d", "0.1", tool="stat")
        assert result.code == 0 and result.text.startswith(f"start_ns{separator}duration_ns{separator}"), result


# --- events that others have made ----------------------------------------------------------------

def test_an_event_made_by_a_tracer_is_said_to_be_one(run, ends):
    """Programs of tracepoints may be refused for it: then the message says what to do instead; otherwise -e
    counts it."""
    control = tracefs.tracing() / "uprobe_events"
    if not control.exists():
        pytest.skip("this kernel has no uprobe_events")
    binary = os.path.realpath("/bin/true")
    with open(binary, "rb") as file:
        entry = int.from_bytes(file.read(32)[24:32], "little")

    def tell(line):     # like >>, since the file is not seekable
        fd = os.open(control, os.O_WRONLY | os.O_APPEND)
        os.write(fd, line.encode())
        os.close(fd)

    tell(f"p:tally_test/made {binary}:{entry:#x}\n")
    ends.callback(tell, "-:tally_test/made\n")
    for args in (("-e", "tally_test:made", "-a", "--by", "comm"), ("-e", "tally_test:made", "--", "true")):
        result = run("--json", "-d", "0.1", *args, tool="stat")
        if result.code == 0:
            assert "--" not in args or result.report["rows"][0]["count"] == 1, result
        else:
            assert result.code == (125 if "--" in args else 4) and "made by a tracer" in result.stderr, result


# --- things that every machine has ---------------------------------------------------------------

def run_where(line, *words):
    """Runs the tool in a mount namespace of its own, after that command line."""
    ran = subprocess.run(["unshare", "-m", "sh", "-c", line + '; exec "$@"', "sh", *map(str, words)],
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    return tally.Result(ran.returncode, ran.stdout, ran.stderr)


# These tools load no programs that need types.
TYPELESS = {"bpftop", "cputhrottle", "vitals"}


@pytest.mark.parametrize("name", LINES)
def test_a_kernel_without_types(name, tmp_path):
    """The message says what is missing, instead of libbpf's error."""
    result = run_where(f"mount --bind {tmp_path} /sys/kernel/btf; mount --bind {tmp_path} /boot", BUILD / name,
                       *SHORT, *LINES[name])
    if name in TYPELESS:
        assert result.code == 0, result
        return
    if "/sys/kernel/btf/vmlinux" not in result.stderr:
        skip_if_not_here(name, result.code)
    assert result.code == 4 and "/sys/kernel/btf/vmlinux: No such file or directory" in result.stderr, result
    assert "CONFIG_DEBUG_INFO_BTF" in result.stderr and "No such process" not in result.stderr, result


@pytest.mark.parametrize("args", ((), ("--", "/bin/true"), ("--format", "openmetrics")))
def test_no_dev_null(args):
    """The tool has nothing to read from it, and does not blame the limit of open files."""
    result = run_where("mount -t tmpfs none /dev", BUILD / "runqlat", *SHORT, *args)
    assert result.code == 0 and not result.stderr and result.stdout, result


def test_no_dev_null_for_what_goes_nowhere(tmp_path):
    result = run_where("mount -t tmpfs none /dev", BUILD / "runqlat", *SHORT, "--format", "openmetrics",
                       "-o", tmp_path / "metrics")
    assert result.code == 1 and "/dev/null: No such file or directory" in result.stderr, result


@pytest.mark.parametrize("name", ("runqlat", "stat", "profile", "doctor", "bench"))
def test_no_sysfs(name):
    result = run_where("mount -t tmpfs none /sys", *((BUILD / "tally", name) if name in ANSWERS else
                                                     (BUILD / name, *SHORT, *LINES[name])))
    assert result.code == 1 and "/sys/devices/system/cpu/possible: No such file or directory" in result.stderr, result
