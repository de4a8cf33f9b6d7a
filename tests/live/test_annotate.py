# SPDX-License-Identifier: BSD-2-Clause
"""profile --annotate: samples by instruction, for code that is known to the byte.

objdump is the oracle for instructions, and the trigger programs are that for the places of samples: hotspot
spends its time between two symbols, faults has one instruction that writes to new memory.
"""

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

import tally
from tally import BUILD, GUEST, flaws, needs_dwarf, scaled, steady, within

CPU = 1
HZ = 997
MS = 1500 if GUEST else 400
HOTSPOT = BUILD / "triggers" / "hotspot"
KCORE = Path("/proc/kcore")


@pytest.fixture(autouse=True)
def needs_capstone(request):
    if not tally.takes_code_apart() and request.function is not test_without_capstone:
        pytest.skip("built without capstone")


@pytest.mark.skipif(tally.takes_code_apart(), reason="of a build without capstone")
def test_without_capstone(profile, trigger):
    """Samples are shown by their place, with the reason why there is no more."""
    load = trigger(HOTSPOT, MS, CPU)
    tracer = profile("-F", HZ, "-p", load.pid, "--annotate", "hot")
    load.go()
    load.done()
    function = only(tracer.stop().report)
    assert function["value"] > 0 and "built without capstone" in str(function), function


@pytest.fixture
def profile(tool):
    def start(*args, **kwargs):
        return tool("--json", *args, tool="profile", **kwargs)

    return start


def symbols(path):
    lines = subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines if len(line.split()) == 3}


def annotated(profile, trigger, *args, sym="hot", path=HOTSPOT, before_stop=None, ms=MS):
    """The report on a new load, and the load."""
    load = trigger(path, ms, CPU, *args)
    tracer = profile("-F", HZ, "-p", load.pid, "--annotate", sym)
    load.go()
    load.done()
    if before_stop:
        before_stop(load)
    return tracer.stop().report, load


def only(report):
    assert len(report["functions"]) == 1, report
    return report["functions"][0]


def mostly_in_loop(function):
    """hot() spends its time in the loop: 999,999 of 1,000,000 rounds; one of some hundred samples may be elsewhere.
    (An emulated CPU is interrupted only at the start of a translated block: before the loop, this is
    the start of the function.)"""
    at = symbols(HOTSPOT)
    values = {i["offset"] + at["hot"]: i["value"] for i in function["instructions"] if i["value"]}
    assert all(at["hot"] <= a < at["hot_end"] for a in values), values
    inside = sum(n for a, n in values.items() if at["hot_loop"] <= a < at["hot_loop_end"] or (GUEST and a == at["hot"]))
    return inside >= 0.97 * sum(values.values()) > 0


# --- instructions, compared with objdump's -------------------------------------------------------------

def objdump(path, function):
    """{address: (size, mnemonic, operands, name of the stub it leads to or None)} of a function's bytes."""
    start = int(function["addr"], 16)
    said = subprocess.run(["objdump", "-d", "-w", f"--start-address={start}",
                           f"--stop-address={start + function['size']}", path],
                          check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        parts = line.split("\t")
        if len(parts) < 3 or not re.fullmatch(r" *[0-9a-f]+:", parts[0]):
            continue
        text = re.sub(r"\s*(#|<).*", "", parts[2]).strip()
        words = re.match(r"((?:(?:data16|cs|ds|lock|rep|repz|repnz|notrack|bnd) )*\S*)\s*(.*)", text)
        stub = re.search(r"<([^*]\S*@plt)>", parts[2])      # "*ABS*+0x9c840@plt": a function without a name
        found[int(parts[0].strip(" :"), 16)] = len(parts[1].split()), words[1], words[2], stub and stub[1]
    return found


# Two names of one instruction; the last is capstone's before 5 for a movq of a vector register.
SAME = {("xchg", "nop"), ("movabs", "movabsq"), ("movq", "movd")}


def is_same(theirs, ours):
    """Compares mnemonics without the suffix for the operand size and without prefixes that mean nothing."""
    theirs = re.sub(r"^((data16|cs) )+|^repz (?=ret)", "", theirs)
    return theirs == ours or theirs == ours[:-1] and ours[-1] in "bwlq" or (theirs, ours) in SAME


def plain(operands):
    """Operands in a common form: numbers by their low 16 bits, since -1 may be 0xffff or more, and without
    implied segments."""
    text = re.sub(r"\s|%[cde]s:", "", operands)
    text = re.sub(r"(?<![\w%])-?(0x[0-9a-f]+|\d+)", lambda n: str(int(n[0], 0) & 0xffff), text)
    return re.sub(r",1(?=\))|(?<![\w%])0(?=\()|^\$1,(?=[^,]*$)", "", text)


def check_instructions(function, path):
    """Each instruction has the place, the size and the text of objdump's."""
    theirs = objdump(path, function)
    ours = {int(i["addr"], 16): i for i in function["instructions"]}
    assert {at: i["size"] for at, i in ours.items()} == {at: i[0] for at, i in theirs.items()}, function["name"]
    for at, (_, mnemonic, operands, stub) in theirs.items():
        i = ours[at]
        assert stub is None or i["target"]["name"] == stub, (stub, i)
        if i["mnemonic"] == ".byte":
            assert mnemonic.startswith(("v", "k", "(bad)", "rex")), (mnemonic, i)
            continue
        assert is_same(mnemonic, i["mnemonic"]), (mnemonic, i)
        if mnemonic.split()[-1] == "xchg" and i["mnemonic"] == "nop":
            continue
        if re.fullmatch("[0-9a-f]+", operands):     # of a jump or call
            assert i["target"] and int(i["target"]["addr"], 16) == int(operands, 16), (operands, i)
        elif mnemonic == "xchg":
            assert sorted(plain(operands).split(",")) == sorted(plain(i["operands"]).split(",")), (operands, i)
        else:
            assert plain(operands) == plain(i["operands"]), (operands, i)


def test_instructions(profile, trigger):
    """All functions of the trigger that have samples, and those of the C library."""
    report, _ = annotated(profile, trigger, sym="*")
    functions = [f for f in report["functions"] if f["module"] in ("hotspot", "libc.so.6")]
    assert "hot" in {f["name"] for f in functions}, report
    libc = re.search(r"\S+/libc\.so\.6", Path("/proc/self/maps").read_text())[0]
    for function in functions:
        check_instructions(function, HOTSPOT if function["module"] == "hotspot" else libc)


HOTSPOT32 = BUILD / "triggers" / "hotspot32"


@tally.needs_32_bit_programs
def test_instructions_of_a_32_bit_program(profile, trigger):
    """A 64-bit program would decode the same bytes differently."""
    load = trigger(HOTSPOT32)
    tracer = profile("-F", HZ, "-p", load.pid, "--annotate", "hot")
    load.go()
    load.done()
    function = only(tracer.stop().report)
    check_instructions(function, HOTSPOT32)
    assert [i["mnemonic"] for i in function["instructions"]][4:9] == ["incl", "incl", "decl", "addl", "decl"]
    assert sum(i["value"] for i in function["instructions"][4:10]) > 0.9 * function["value"] > 0


@tally.once
def test_instructions_of_many(run):
    """The code of a busy interpreter and its libraries."""
    work = ("import hashlib, json, re, zlib\n"
            "for i in range(150): json.dumps(list(range(2000))); re.findall('a+b|c', 'aaabbbc' * 500);"
            " hashlib.sha256(b'x' * 100000); zlib.compress(b'xyz' * 30000)")
    result = run("--json", "--annotate", "*", "-F", 1999, "--", "/usr/bin/python3", "-c", work, tool="profile")
    functions = [f for f in result.report["functions"] if not f["why"]]
    paths = {}
    for folder in ("/usr/bin", "/lib64", "/usr/lib/x86_64-linux-gnu", *Path("/usr/lib").glob("python3*/lib-dynload")):
        for path in Path(folder).iterdir():
            paths.setdefault(path.name, path)
    assert len(functions) > 10, result
    for function in functions:
        if function["module"] != "[vdso]":
            check_instructions(function, paths[function["module"]])


# --- places of samples ---------------------------------------------------------------------------------

def test_loop(profile, trigger):
    """Nearly all samples are in the loop. On a real CPU, most wait for the division: they are at it
    (AMD), or at the next instruction (Intel)."""
    report, _ = annotated(profile, trigger)
    function, at = only(report), symbols(HOTSPOT)
    assert function["name"] == "hot" and function["module"] == "hotspot" and int(function["addr"], 16) == at["hot"]
    assert function["size"] == at["hot_end"] - at["hot"] and function["why"] is None
    check_instructions(function, HOTSPOT)
    assert mostly_in_loop(function), function
    assert all(i["size"] for i in function["instructions"]), function
    assert function["value"] >= 0.9 * report["events"], report
    assert "the next instruction when the timer fired" in report["note"], report
    if not GUEST:
        names = [i["mnemonic"] for i in function["instructions"]]
        division = names.index("divl")
        waiting = function["instructions"][division:division + 2]
        assert sum(i["value"] for i in waiting) > 0.6 * function["value"], function


def test_as_many_as_the_table_has(profile, trigger):
    """Two tools with a timer each sample one load equally often, and find hot() equally often."""
    def trial():
        load = trigger("hotspot", MS, CPU)
        tracers = [profile("-F", HZ, "-p", load.pid, *how) for how in (("--annotate", "hot"), ("--by", "sym"))]
        load.go()
        load.done()
        instructions, table = (tracer.stop().report for tracer in tracers)
        rows = {row["sym"]: row["samples"] for row in table["rows"]}
        lost = instructions["lost"]["missed"] + table["lost"]["missed"]
        found = only(instructions)["value"]
        within(abs(found - rows["hot"]) <= 0.03 * rows["hot"] + 3 + lost, found, rows, lost)

    steady(trial)


def test_faults(profile, trigger):
    """Each fault of touch() is at its only instruction that writes to new memory."""
    load = trigger("faults", scaled(500), 2, 0)
    tracer = profile("-e", "page-faults", "-c", 1, "-p", load.pid, "--annotate", "touch")
    load.go()
    load.done()
    report = tracer.stop().report
    function = only(report)
    check_instructions(function, BUILD / "triggers" / "faults")
    hot = [i for i in function["instructions"] if i["value"]]
    lost = sum(flaws(report).values())
    assert len(hot) == 1 and 2 * scaled(500) - lost <= hot[0]["value"] <= 2 * scaled(500), report
    assert hot[0]["mnemonic"] == "movb" and hot[0]["operands"].startswith("$1, "), hot
    assert report["note"].endswith("the instruction that faulted"), report


@needs_dwarf
def test_source(run):
    """Each instruction's line is that of addr2line(1); the store that faults is on its line of the source."""
    faults = BUILD / "triggers" / "faults"
    run_it = ("-e", "page-faults", "-c", 1, "--annotate", "touch", "--", faults, 100, 1, 0)
    result = run("--json", *run_it, tool="profile")
    report = next(json.loads(line) for line in result.text.splitlines() if line.startswith("{"))
    instructions = only(report)["instructions"]
    said = subprocess.run(["addr2line", "-e", faults, *(i["addr"] for i in instructions)], check=True,
                          capture_output=True, text=True).stdout.splitlines()
    for i, place in zip(instructions, said, strict=True):
        file, line = re.sub(r" \(discriminator.*", "", place).rsplit(":", 1)
        assert line in ("0", "?") or (Path(i["file"]).name, i["line"]) == (Path(file).name, int(line)), (i, place)
    source = (tally.ROOT / "tests/triggers/faults.c").read_text().splitlines()
    store = source.index("\t\tarea[k * PAGE] = 1;") + 1
    assert {i["line"] for i in instructions if i["value"]} == {store}, instructions
    assert re.search(rf"^ +faults\.c:{store}  +area\[k \* PAGE\] = 1;$", run(*run_it, tool="profile").text, re.M)


def test_intervals_are_differences(profile, trigger):
    load = trigger("hotspot", MS, CPU)
    tracer = profile("-F", HZ, "-p", load.pid, "--annotate", "hot", "-I", 100)
    load.go()
    load.done()
    reports = tracer.stop().reports
    values = [only(report)["value"] for report in reports if report["functions"]]
    assert len(values) >= (1 if GUEST else 2), reports
    # Some intervals of 100 samples each, and not 100, 200, 300, ...
    assert sum(values) <= 1.05 * HZ * (MS / 1000 + 0.1) + 10, values


# --- files, and code without one -----------------------------------------------------------------------------

@pytest.fixture
def binary(directory):
    """hotspot as a file of the test's own."""
    path = directory / "own"
    path.write_bytes(HOTSPOT.read_bytes())
    path.chmod(0o755)
    return path


def test_deleted_file(profile, trigger, binary):
    """The file has gone and, at the time of the report, so has the process."""
    load = trigger(str(binary), MS, CPU)
    tracer = profile("-F", HZ, "-p", load.pid, "--annotate", "hot")
    binary.unlink()
    load.go()
    load.done()
    load.close()
    function = only(tracer.wait().report)
    assert function["module"] == "own", function
    check_instructions(function, HOTSPOT)


def test_stripped_file(profile, trigger, binary, directory):
    """Without symbols there is no such function; with a separate debug file there is."""
    debug, linked = directory / "own.debug", directory / "linked"
    subprocess.run(["objcopy", "--only-keep-debug", "--remove-section=.note.gnu.build-id", binary, debug], check=True)
    subprocess.run(["strip", "--remove-section=.note.gnu.build-id", binary], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", binary, linked], check=True)
    report, _ = annotated(profile, trigger, path=str(binary))
    assert report["functions"] == [] and report["events"] > 0, report
    report, _ = annotated(profile, trigger, path=str(linked))
    check_instructions(only(report), HOTSPOT)


HOSTILE = "jit \x1b[31m\u202e;<b>"


def test_jit(profile, trigger):
    """Code without a file is read from the process while it lives, whatever its name."""
    report, load = annotated(profile, trigger, HOSTILE, sym="jit*")
    function, at = only(report), symbols(HOTSPOT)
    assert function["module"] == "[JIT]" and function["why"] is None, function
    assert function["name"].startswith("jit \\x1b[31m") and "\u202e" not in function["name"], function
    start = int(function["addr"], 16)
    here = dict(function, addr=hex(at["hot"]))
    moved = [dict(i, addr=hex(int(i["addr"], 16) - start + at["hot"])) for i in function["instructions"]]
    for i in moved:
        if i["target"]:
            i["target"] = dict(i["target"], addr=hex(int(i["target"]["addr"], 16) - start + at["hot"]))
    check_instructions(dict(here, instructions=moved), HOTSPOT)
    assert mostly_in_loop(function), function


def test_jit_that_has_gone(profile, trigger):
    """The places of samples are still known if the profiler got a CPU while the process lived: the names of such code
    are read from it."""
    def trial():
        load = trigger("hotspot", MS, CPU, "jitted")
        tracer = profile("-F", HZ, "-p", load.pid, "--annotate", "jitted")
        load.go()
        load.done()
        load.close()
        report = tracer.wait().report
        within(report["functions"], report)
        function = only(report)
        assert "the process has exited" in function["why"] and mostly_in_loop(function), function
        assert all(i["value"] and not i["size"] for i in function["instructions"]), function

    steady(trial)


# --- the kernel ----------------------------------------------------------------------------------------------

def test_kernel(profile, trigger):
    """Every sample is at an instruction, and every call leads to the start of a function: code that was
    disassembled from a wrong place would fail both."""
    load = trigger("reads", scaled(400000), 100)
    tracer = profile("-F", HZ, "-p", load.pid, "--annotate", "*")
    load.go()
    load.done()
    report = tracer.stop().report
    functions = [f for f in report["functions"] if f["module"] == "[kernel]"]
    assert functions, report
    if not KCORE.exists():
        assert all("/proc/kcore" in f["why"] for f in functions), functions
        return
    calls = 0
    for function in functions:
        assert function["why"] is None, function
        assert all(i["size"] for i in function["instructions"]), function
        for i in function["instructions"]:
            if i["mnemonic"].startswith("call") and i["target"] and not i["operands"].startswith("*"):
                assert i["target"]["name"] and i["target"]["offset"] == 0, (function["name"], i)
                calls += 1
    assert calls, functions


# --- selection and output ---------------------------------------------------------------------------------------

def test_names(tool, trigger):
    """If a function has no samples, the tool names those that have, or a similar name."""
    load = trigger("hotspot", MS, CPU)
    asked = "no_such_function", "hott"
    tracers = [tool("-F", HZ, "-p", load.pid, "--annotate", name, tool="profile") for name in asked]
    load.go()
    load.done()
    for name, tracer in zip(asked, tracers):
        result = tracer.stop()
        assert result.code == 0 and f"'{name}'" in result.stderr and "they are in hot " in result.stderr, result
        assert ("did you mean 'hot'?" in result.stderr) == (name == "hott"), result


def test_several(profile, trigger):
    """Two processes of one file share a function; those of two files have one each."""
    loads = [trigger("hotspot", MS, CPU), trigger("hotspot", MS, 0)]
    tracer = profile("-F", HZ, "-p", f"{loads[0].pid},{loads[1].pid}", "--annotate", "ho?")
    tally.let_work(loads)
    assert only(tracer.stop().report)["value"] > 0


def test_text(run):
    result = run("-F", HZ, "--annotate", "hot", "--", HOTSPOT, 300, -1, tool="profile")
    text = result.text
    assert re.search(r"^hot  \(.*/hotspot\)  at 0x[0-9a-f]+, \d+ bytes$", text, re.M), result
    assert re.search(r"^[\d,]+ of [\d,]+ samples in all, [\d.]+%$", text, re.M), result
    assert re.search(r"^ {19,}\.\.\. \d+ without samples$", text, re.M), result
    assert re.search(r"^ {19,}\+0x[0-9a-f]+  ret", text, re.M), result
    # Neighbours of samples are shown, the rest is folded. (An emulated CPU is interrupted only at the start of a loop.)
    assert GUEST or re.search(r"^ .*  divl +%ecx$", text, re.M), result
    assert "\033" not in text and "events " in text, result
    shares = [float(share) for share in re.findall(r"^ +([\d.]+)% +[\d,]+ +\+0x", text, re.M)]
    assert abs(sum(shares) - 100) < 0.5, result


@tally.once
@pytest.mark.parametrize("no_colour", (None, "1"))
def test_colour(no_colour):
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env["TERM"] = "xterm-256color"
    if no_colour:
        env["NO_COLOR"] = no_colour
    pid, fd = pty.fork()
    if not pid:
        args = ["profile", "-F", str(HZ), "--annotate", "hot", "--", str(HOTSPOT), "200", "-1"]
        os.execve(BUILD / "profile", args, env)
    written = b""
    os.write(fd, b"\n\n")
    while True:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        written += more
    assert os.waitpid(pid, 0)[1] == 0, written
    assert b"samples in all" in written, written
    assert (b"\033[" in written) == (no_colour is None), written


def test_csv(run):
    result = run("-F", HZ, "--csv", "--annotate", "hot", "--", HOTSPOT, 300, -1, tool="profile")
    lines = [line for line in result.text.splitlines() if line.count(",") > 5]
    titles = lines[0].split(",")
    assert titles[2:5] == ["function", "module", "offset"] and titles[-1] == "samples", result
    assert all(line.split(",")[2:4] == ["hot", "hotspot"] for line in lines[1:]) and len(lines) > 40, result
    assert sum(int(line.rsplit(",", 1)[1]) for line in lines[1:]) > 0, result


@pytest.mark.parametrize("args", (("--live",), ("-K",), ("--by", "pid"), ("-P",), ("--callee",), ("--max-depth", 3),
                                  ("--format", "flame"), ("--format", "table"), ("--frames", "x")))
def test_wrong_usage(run, args):
    result = run("--annotate", "hot", *args, tool="profile")
    assert result.code == 2 and "--annotate" in result.stderr and not result.stdout, result


def test_tracepoint(run):
    result = run("--annotate", "schedule", "-e", "sched:sched_switch", "-d", 0.1, tool="profile")
    assert result.code != 0 and "tracepoint" in result.stderr and not result.stdout, result
