# SPDX-License-Identifier: BSD-2-Clause
"""User stacks of a whole machine are whole: those of programs that have just begun, of a compiler, of many processes,
of Debian's programs."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from filing import in_namespace
from probing import binary
from stackcounting import losses, names, value
from tally import BUILD, GUEST, ROOT, Tool, children, once, steady, wait_until, within
from test_unwind import CHAINS, DEPTH, DWARF, GETPPID, N, chains_of

TRIES, RUNS = 10, 20

# The goal from the third report (second) on. Until then the tables of running files are read: some 0.1 to 0.3 s for a
# compiler's, ten times that while other work keeps all CPUs busy.
MOST_PERCENT = 2
SKIPPED, JUDGED = 2, 3


@pytest.fixture
def copied(directory):
    """The command of the trigger, with copies of its files."""
    linked = subprocess.run(["ldd", binary("frameless")], check=True, capture_output=True, text=True).stdout
    libraries = re.findall(r"(/\S+) \(0x", linked)
    loader = next(path for path in libraries if "/ld" in path)
    for path in (*libraries, binary("frameless")):
        shutil.copy(path, directory)
    return [directory / Path(loader).name, "--library-path", directory, directory / "frameless", str(N), "0",
            str(DEPTH)]


def run(command):
    subprocess.run(command, input=b"\n", stdout=subprocess.DEVNULL, check=True)


def reports_so_far(tracer):
    fd = tracer.out.fileno()
    return [
        json.loads(line)
        for line in os.pread(fd, os.fstat(fd).st_size, 0).splitlines(keepends=True)
        if line.endswith(b"\n")
    ]


def asking(report):
    """Stacks of the copied trigger, whose processes have the name of the dynamic linker."""
    return [s for s in report["stacks"] if s["key"]["comm"].startswith("ld-") and "ask" in names(s)]


@pytest.mark.everywhere
def test_from_the_first_instruction(ends, copied):
    """Processes that live for a few milliseconds, of a program that the tool has seen before: all of their stacks are
    whole, and each call counts. Their mappings are found in the kernel at the first stack."""
    tracer = Tool("--json", "-U", *DWARF, GETPPID, "--by", "comm", "1", tool="stackcount")
    ends.callback(tracer.close)
    tracer.ready()
    # The first process has files new to the tool, and emulated CPUs take a while to read them.
    for _ in range(TRIES):
        seen = tracer.lines()
        run(copied)
        tracer.await_lines(2)
        ours = [s for report in reports_so_far(tracer)[seen:] for s in asking(report)]
        if ours and all(names(s)[0] == "_start" for s in ours):
            break
    seen = tracer.lines()
    for _ in range(RUNS):
        run(copied)
    tracer.await_lines(2)
    result = tracer.stop()
    assert result.code == 0, result
    found = {}
    for report in result.reports[seen:]:
        assert not losses(report), report
        for path, n in chains_of({"stacks": asking(report)}).items():
            found[path] = found.get(path, 0) + n
    assert found == {path: n * RUNS for path, n in CHAINS.items()}, found


LOADER = next(Path("/").glob("lib*/ld-linux-*.so.*"))


def copied_loader(place):
    """A command that begins in the dynamic linker's own code, which keeps no frame pointers."""
    place.mkdir()
    return shutil.copy(LOADER, place / "ld-copy"), "/bin/true"


def calls_of(text):
    """The stacks of the command's brk(2), in order, by names and modules; empty for calls of other processes."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [[(f["name"], f["module"]) for f in line["frames"]] for line in lines if line.get("comm") == "ld-copy"]


def traced(command, *before):
    """The calls of a command whose files have been read before it begins."""
    result = subprocess.run([*before, BUILD / "trace", "--json", "-g", "-e", "brk", "--", *command],
                            stdout=subprocess.PIPE, check=True, text=True)
    found = calls_of(result.stdout)
    assert found and len(found[0]) > 2 and all(name != "[incomplete]" for stack in found for name, _ in stack), found
    return found


@pytest.mark.everywhere
def test_guessed_stacks_are_marked(ends, directory):
    """The first calls of a program new to the tool: it has no tables for its code yet, and frame pointers leave out
    callers. Each such stack is marked, even if it reached the outermost function."""
    expected = traced(copied_loader(directory / "known"))
    tracer = Tool("--json", "-g", "-e", "brk", tool="trace")
    ends.callback(tracer.close)
    tracer.ready()
    subprocess.run(copied_loader(directory / "new"), check=True)
    result = tracer.stop()
    assert result.code == 0, result
    found = calls_of(result.text)
    assert len(found) == len(expected), result
    for stack, whole in zip(found, expected):
        assert stack == whole or ("[incomplete]", None) in stack, (stack, whole)


@pytest.mark.everywhere
@pytest.mark.parametrize("starts", (
    lambda *command: ("sh", "-c", f"true && {' '.join(map(str, command))}; true"),
    lambda *command: ("env", "NAME=value", *command),
), ids=("sh", "env"))
def test_programs_that_a_command_names(directory, starts):
    """Programs named in an argument or in a shell's command are read before they run."""
    expected = traced(copied_loader(directory / "known"))
    assert traced(starts(*copied_loader(directory / "new"))) == expected


@pytest.mark.everywhere
def test_the_reason_is_told(run, directory):
    """If many stacks are incomplete, the report says why: the tables of programs that a script starts are not known."""
    told = 0
    for n in range(TRIES):
        loader, program = copied_loader(directory / str(n))
        script = directory / f"{n}.sh"
        script.write_text(f"{loader} {program}\n" * 3)
        result = run("-v", "raw_syscalls:sys_enter", "-U", "--", "sh", script, tool="stackcount")
        assert result.code == 0, result
        total = int(re.search(r"\d+ of (\d+) with \[incomplete\] stacks", result.stderr)[1])
        late = re.search(r"(\d+) of them in code of files whose tables were not read yet: (\S+)", result.stderr)
        note = re.search(r"(\d+) % by \[incomplete\] stacks, as unwind tables were not read yet \((\S+?)[,)]",
                         result.text)
        assert bool(note) == bool(late and int(late[1]) * 10 >= total), result
        if note:
            assert int(note[1]) == round(100 * int(late[1]) / total) and note[2] == late[2], result
            told += 1
        if told == 2:
            break
    assert told or GUEST, "all tables were read in time"


@pytest.mark.everywhere
@pytest.mark.skipif("overlay" not in Path("/proc/filesystems").read_text(), reason="no overlay file system here")
def test_first_stacks_on_an_overlay(directory):
    """As in a container, where the kernel has another device for a mapping than stat(2)."""
    expected = traced(copied_loader(directory / "plain"))
    place = directory / "scratch"
    place.mkdir()
    mounted = in_namespace(f"mount -t tmpfs none {place}; cd {place}; mkdir l u w m; cp {LOADER} l/ld-copy; "
                           f"mount -t overlay none -o lowerdir=l,upperdir=u,workdir=w m")
    assert traced((place / "m" / "ld-copy", "/bin/true"), *mounted) == expected


class Load:
    """Runs a shell command again and again, with processes of its own, until it is closed, or the tests are killed."""

    def __init__(self, command, directory):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "sh", "-c", f"while :; do {command}; done"],
            cwd=directory,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def incomplete(report, group):
    """(incomplete samples, all samples) of the processes with these names, or of all (None)."""
    ours = [stack for stack in report["stacks"] if group is None or stack["key"]["comm"] in group]
    broken = [stack for stack in ours if "[incomplete]" in names(stack)]
    return value(broken), value(ours)


def check_share(start, group, least=100, has_begun=lambda load: True):
    """Checks the share of incomplete stacks in samples of the programs in group, while the load that start() begins is
    running."""

    def trial():
        load = start()
        try:
            wait_until(lambda: has_begun(load), "the load begins")
            result = subprocess.run([BUILD / "profile", "--json", "-v", "-U", "1", str(SKIPPED + JUDGED)], check=True,
                                    capture_output=True, text=True)
        finally:
            load.close()
        reports = [json.loads(line) for line in result.stdout.splitlines()]
        # Reasons are exact: each report has as many as there are incomplete stacks.
        told = re.findall(r"(\d+) of (\d+) with \[incomplete\] stacks", result.stderr)
        reasons = sum(map(int, re.findall(r"(\d+) of them (?:in|due to) ", result.stderr)))
        everybody = [incomplete(report, None) for report in reports]
        assert [(int(n), int(of)) for n, of in told] == everybody, result.stderr
        assert reasons == sum(n for n, _ in everybody), result.stderr
        broken, total = (sum(figures) for figures in zip(*(incomplete(report, group) for report in reports[SKIPPED:])))
        within(total >= least, f"{total} samples only")
        why = [line for line in result.stderr.splitlines() if "incomplete" in line or "of them" in line]
        within(100 * broken <= MOST_PERCENT * total, f"{broken} of {total} are incomplete", *why)

    steady(trial)


@pytest.mark.exclusive
@once
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no compiler")
def test_compiler(directory):
    """Each file is compiled by programs that live for a tenth of a second: cc, cc1, as."""
    source = ROOT / "user" / "unwind" / "cfa.c"
    command = (
        f"cc -D_GNU_SOURCE -O2 -iquote {ROOT}/user -iquote {ROOT} -c {source} -o cfa.o && cc -shared -o cfa.so cfa.o"
    )
    check_share(lambda: Load(command, directory), {"cc", "gcc", "cc1", "as", "collect2", "ld", "sh"})


@pytest.mark.exclusive
@once
def test_programs_of_the_distribution(directory):
    """Stripped, and compiled without frame pointers."""
    big = directory / "big"
    big.write_bytes(
        b"".join(b"%d %s\n" % (i * 7919 % 10007, hashlib.md5(b"%d" % i).hexdigest().encode()) for i in range(20000))
    )
    commands = {
        "gzip": "gzip -c big",
        "bzip2": "bzip2 -c big",
        "xz": "xz -0 -c big",
        "sort": "sort big",
        "sha256sum": "sha256sum big",
        "awk": "awk '{ n[$1 % 100] += length($2) } END { print n[7] }' big",
        "grep": "grep -c 'a.*b.*c.*7' big",
        "tar": "tar -c /usr/bin/c* | cat",
        "find": "find /usr/share/doc -name x",
        "sed": "sed s/[0-7]/x/g big",
        "perl": "perl -ne '$n{$1}++ if /(\\w\\w\\d)/' big",
    }
    there = {name: command for name, command in commands.items() if shutil.which(name)}
    assert len(there) >= 5, there
    check_share(lambda: Load("; ".join(there.values()), directory), {*there, "mawk", "gawk", "cat", "sh"})


@pytest.mark.exclusive
@once
@pytest.mark.skipif(not shutil.which("perl"), reason="there is no Perl")
def test_five_hundred_processes(directory):
    """Each with a little work, twice a second."""
    program = "while (1) { select undef, undef, undef, 0.4 + rand 0.2; @a = sort { $a <=> $b } map { rand } 1 .. 4000 }"
    command = f"for i in $(seq 500); do perl -e '{program}' & done; wait"
    check_share(
        lambda: Load(command, directory), {"perl"}, has_begun=lambda load: len(children(load.process.pid)) >= 500
    )


NEEDED = {
    "b.c": "long through_b(long (*f)(void)) { return f() + 1; }\n",
    "a.c": "long through_b(long (*f)(void)); long through_a(long (*f)(void)) { return through_b(f) + 1; }\n",
    "short.c": """
        #include <sys/syscall.h>
        #include <unistd.h>
        long through_a(long (*f)(void));
        static __attribute__((noinline)) long ask(void)
        {
            long result;
            asm volatile("syscall" : "=a"(result) : "0"(SYS_getppid) : "rcx", "r11", "memory");
            return result + 1;
        }
        int main(void)
        {
            for (int i = 0; i < 7; i++)
                if (through_a(ask) < 0)
                    return 1;
            return 0;
        }
        """,
}


@pytest.fixture
def short(directory):
    """A program that lives for a millisecond and needs a library that needs another one. All are new."""
    for name, text in NEEDED.items():
        (directory / name).write_text(text)
    flags = ["cc", "-O2", "-fomit-frame-pointer", "-Wl,-rpath,$ORIGIN", "-L."]
    for command in (["-shared", "-fPIC", "b.c", "-o", "libb.so"], ["-shared", "-fPIC", "a.c", "-lb", "-o", "liba.so"],
                    ["short.c", "-la", "-Wl,--allow-shlib-undefined", "-o", "short"]):
        subprocess.run([*flags, *command], cwd=directory, check=True)
    script = directory / "script"
    script.write_text(f"#!{directory}/short\n")
    script.chmod(0o755)
    return directory


@once
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no compiler")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the program is for x86")
@pytest.mark.parametrize("how", ["path", "name", "link", "script"])
def test_command_that_soon_ends(short, how):
    """All its files are read before it begins: its stacks are whole, and each call counts."""
    (short / "other").mkdir()
    (short / "other" / "link").symlink_to(short / "short")
    command = {
        "path": short / "short",
        "name": "short",
        "link": short / "other" / "link",
        "script": short / "script",
    }[how]
    path = f"{short}:{os.environ['PATH']}" if how == "name" else os.environ["PATH"]
    result = subprocess.run(
        [BUILD / "stackcount", "--json", "-U", GETPPID, "--", command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PATH": path},
    )
    report, = [json.loads(line) for line in result.stdout.splitlines()]
    own = {"short", "liba.so", "libb.so"}
    found = {}
    for stack in report["stacks"]:
        path = tuple(f["name"] for f in stack["frames"] if f["module"] in own or (f["name"] or "").startswith("["))
        found[path] = found.get(path, 0) + stack["value"]
    assert found == {("_start", "main", "through_a", "through_b", "ask"): 7}, report
    assert not losses(report), report
