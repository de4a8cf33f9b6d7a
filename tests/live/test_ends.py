# SPDX-License-Identifier: BSD-2-Clause
"""
Probes on a program's code do not change its behaviour: none is inside of an instruction, and ends of functions are
seen without a changed return address, so that exceptions pass. All ends are seen, or the number of missed ones is
reported.
"""

import json
import os
import re
import shutil
import subprocess

import pytest

import tally
from probing import Probe, alike, binary, instructions, measure, nothing_lost, report_of, rows_by
from stackcounting import names, value
from tally import Trigger, needs_dwarf, scaled, takes_code_apart

THROWS, ARGUMENTS = binary("throws"), binary("arguments")
N = scaled(100)

# By name: the number of calls, and how many of them are left without a return.
CALLED = {
    "thrower": (2 * N, 2 * (N // 2)), "middle": (N, N // 2), "cleaner": (N, N // 2), "jumper": (N, N // 2),
    "deep": (1010, 0), "handing": (N, 0), "handed": (N + N // 8 + (N % 8 > 3) + 5, 0), "choosing": (N, 0),
    "split": (N, 0),
}


@pytest.fixture(autouse=True)
def needs_capstone(request):
    if not takes_code_apart() and request.function is not test_without_capstone:
        pytest.skip("built without capstone")


@pytest.mark.skipif(takes_code_apart(), reason="of a build without capstone")
@pytest.mark.parametrize("tool_of", ("probe", "stat", "stackcount"))
def test_without_capstone(run, tool_of):
    """Probes that need disassembly are refused, with the reason; others are not."""
    event = ["-e"] if tool_of == "stat" else []
    begins, size = instructions(THROWS, "middle")
    inside = next(offset for offset in range(1, size) if offset not in begins)
    for spot in f"middle+{inside}", "middle%return":
        result = run("-x", THROWS, *event, spot, "--", str(THROWS), "10", tool=tool_of)
        assert result.code == 125 and "built without capstone" in result.stderr, (spot, result)
    assert run("-n", "-x", THROWS, *event, "middle", tool=tool_of).code == 0


def plain(trigger):
    """The program's own numbers when nothing traces it."""
    load = trigger("throws", N)
    load.go()
    return load.done()


def watched(tool, trigger, *args):
    """The report on such a program, whose results must not change."""
    probe = Probe(tool, trigger("throws", N), "-x", THROWS, *args)
    report = report_of(probe.work())
    assert probe.numbers == [plain(trigger)]
    return report


# --- ends ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", CALLED)
def test_returns(tool, trigger, name):
    """Each is counted once, however deep, and the program continues as if it were alone."""
    report = watched(tool, trigger, f"{name}%return", "--count")
    calls, left = CALLED[name]
    assert [row["count"] for row in report["rows"]] == [calls - left]
    assert nothing_lost(report)


@pytest.mark.parametrize("name", CALLED)
def test_latency(tool, trigger, name):
    """Calls that end have a time; those left without a return are reported."""
    report = watched(tool, trigger, name, "--latency", "--count")
    calls, left = CALLED[name]
    lost = report["lost"].pop("unwound")
    assert nothing_lost(report)
    assert [row["count"] for row in report["rows"]] == [calls - left]
    # The last one is known to be left only once another call takes its frame, or its thread ends.
    assert max(left - 1, 0) <= lost <= left


def test_all_are_told_of_a_program_that_ends(run):
    result = run("--json", "-x", THROWS, "middle", "--latency", "--count", "--", "sh", "-c",
                 f"{THROWS} {N} > /dev/null", tool="probe")
    report = report_of(result)
    assert report["rows"][0]["count"] == N - N // 2 and report["lost"]["unwound"] == N // 2


def test_results(tool, trigger):
    report = measure(tool, trigger("throws", N), "-x", THROWS, "middle", "--latency", "--sum", "$retval")
    assert report["rows"][0]["sum"] == sum(i + 1 for i in range(0, N, 2))


def test_results_behind_a_jump(tool, trigger):
    """handing() ends by jumping to handed(), whose result it returns; %return alone does not follow."""
    loads = [trigger("throws", N) for _ in range(2)]
    report = measure(tool, loads[0], "-x", THROWS, "handing", "--latency", "--sum", "$retval")
    assert nothing_lost(report)
    assert (report["rows"][0]["count"], report["rows"][0]["sum"]) == (N, sum(i + 4 for i in range(N)))
    report = measure(tool, loads[1], "-x", THROWS, "handing%return", "--sum", "$retval")
    assert report["rows"] == [] and report["lost"]["no_result"] == N


def test_several_functions_end_at_one_place(tool, trigger):
    """Both handing() and handed() return by the latter's instruction, once for each call."""
    report = measure(tool, trigger("throws", N), "-x", THROWS, "handing", "handed", "--latency", "--count")
    counts = {name: row["count"] for name, row in rows_by(report, "event").items()}
    assert counts == {"handing": N, "handed": CALLED["handed"][0]}
    assert nothing_lost(report)


def test_stacks_at_ends(tool, trigger):
    """The program survives them, and the caller is the innermost frame."""
    load = trigger("throws", N)
    tracer = tool("--json", "-x", THROWS, "middle%return", "-p", load.pid, tool="stackcount")
    load.go()
    numbers = load.done()
    (report,) = [json.loads(line) for line in tracer.stop().text.splitlines()]
    assert value(report["stacks"]) == N - N // 2
    assert all(names(each)[-1] == "main" for each in report["stacks"]), report
    assert [numbers] == [plain(trigger)]


# --- instructions --------------------------------------------------------------------------------

@alike
@pytest.mark.parametrize("path, name", ((THROWS, "choosing"), (THROWS, "middle"), (ARGUMENTS, "many")),
                         ids=lambda value: getattr(value, "name", value))
def test_every_offset(run, path, name):
    """Each offset is the start of an instruction, or is refused, and the message names the nearest ones."""
    begins, size = instructions(path, name)
    for offset in range(1, size):
        result = run("-n", "-x", path, f"{name}+{offset}", "--count", tool="probe")
        if offset in begins:
            assert result.code == 0, (offset, result)
            continue
        before = max(b for b in begins if b < offset)
        behind = min([b for b in begins if b > offset] + [size])
        assert result.code == 1, (offset, result)
        assert "no instruction begins at" in result.stderr and f"{name}+{before} and +{behind}" in result.stderr


@pytest.mark.parametrize("tool_of", ("probe", "stat", "stackcount"))
def test_the_middle_of_an_instruction(run, trigger, tool_of):
    """No tool puts a probe there, and the program's results do not change."""
    begins, size = instructions(THROWS, "middle")
    inside = next(offset for offset in range(1, size) if offset not in begins)
    event = ["-e"] if tool_of == "stat" else []
    result = run("-x", THROWS, *event, f"middle+{inside}", "--", str(THROWS), "10", tool=tool_of)
    assert result.code == 125 and "no instruction begins at" in result.stderr, result


def test_every_instruction(tool, trigger):
    """A probe on each instruction changes nothing."""
    probes = [f"{name}+{offset}" for name in ("middle", "choosing")
              for offset in sorted(instructions(THROWS, name)[0])]
    report = watched(tool, trigger, *probes, "--count")
    counts = {name: row["count"] for name, row in rows_by(report, "event").items()}
    assert counts["middle+0"] == N and counts["choosing+0"] == N


# --- 32 bits, other mount namespaces -------------------------------------------------------------

@tally.needs_32_bit_programs
@pytest.mark.parametrize("name, calls", (("work", 100), ("deep", 101), ("malloc", 100)))
def test_32_bits(tool, trigger, name, calls):
    for event, *option in ((name, "--latency"), (f"{name}%return",)):
        report = measure(tool, trigger("leaks32"), "-x", binary("leaks32"), event, *option, "--count")
        assert [row["count"] for row in report["rows"]] == [calls] and nothing_lost(report)


@tally.needs_32_bit_programs
@pytest.mark.parametrize("name, value, total", (
    ("work", "$arg1", sum(range(100))), ("work", "$stack1", sum(range(100))), ("deep", "$arg1", sum(range(101))),
    ("calloc", "$arg1 * 100 + $arg2", 5 * (700 + 11)), ("posix_memalign", "$arg3", 3 * 64)))
def test_arguments_of_32_bits(tool, trigger, name, value, total):
    """They are on the stack, 4 bytes each, and not in the registers of 64-bit programs."""
    for option in ((), ("--latency",)):
        report = measure(tool, trigger("leaks32"), "-x", binary("leaks32"), name, *option, "--sum", value)
        assert report["rows"][0]["sum"] == total and nothing_lost(report)


@needs_dwarf
@tally.needs_32_bit_programs
def test_results_of_32_bits(tool, trigger, run):
    report = measure(tool, trigger("leaks32"), "-x", binary("leaks32"), "work%return", "--sum", "$retval")
    assert report["rows"][0]["sum"] == 3 * sum(range(100)) and nothing_lost(report)
    # By name they would be looked for in the places of 64-bit programs.
    refused = run("-x", binary("leaks32"), "work", "--sum", "i", "-d", "0.1", tool="probe")
    assert refused.code == 2 and "by number" in refused.stderr, refused


@pytest.mark.parametrize("how", ("libc", "libc.so.6"))
def test_a_library_of_its_own(tool, ends, tmp_path, how):
    """Its name means the file that the process has mapped, as in a container, and not ours."""
    ours = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf8") if "/libc.so.6" in line)
    theirs = tmp_path / "libc.so.6"
    shutil.copy(ours, theirs)
    load = Trigger(
        "throws", N, command=("unshare", "-m", "sh", "-c", f"mount --bind {theirs} {ours}; exec \"$@\"", "-")
    )
    ends.callback(load.close)
    everyone = tool("--json", "-x", how, "longjmp", "--count", tool="probe")
    report = measure(tool, load, "-x", how, "longjmp", "--count")
    assert [row["count"] for row in report["rows"]] == [N // 2]
    # Without -p it is ours, and the report says that there are others; this machine may have more of them.
    note = re.search(r"processes with another file of that name are not traced \((\d+)\): use -p",
                     report_of(everyone.stop())["source"])
    assert int(note[1]) >= 1 and "not traced" not in report["source"]


LONG_INSTRUCTIONS = """
long middle(long n)
{
#ifdef SHIFTED
	__asm__ volatile(".byte 0x0f, 0x1f, 0x00");
#endif
	__asm__ volatile("movabsq $0x1122334455667788, %%rax" : : : "rax");
	__asm__ volatile("movabsq $0x1122334455667788, %%rax" : : : "rax");
	return n + 1;
}

int main(int argc, char **argv)
{
	return middle(argc) != argc + 1;
}
"""


@needs_dwarf
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="each instruction is as long as the others there")
def test_lines_of_another_build(run, tmp_path):
    """A program with the debug information of one that is three bytes longer: its line is inside of an instruction."""
    source = tmp_path / "long.c"
    source.write_text(LONG_INSTRUCTIONS)
    for name, flags in (("built", ()), ("other", ("-DSHIFTED",))):
        subprocess.run(["gcc", "-O1", "-gdwarf-4", "-fno-inline", *flags, source, "-o", tmp_path / name], check=True)
    sections = [f".debug_{each}" for each in ("line", "info", "abbrev", "str")]
    for each in sections:
        subprocess.run(["objcopy", "-O", "binary", "--only-section", each, "--set-section-flags", f"{each}=alloc",
                        tmp_path / "other", tmp_path / each], check=True)
    subprocess.run(["objcopy", *(arg for each in sections for arg in ("--update-section", f"{each}={tmp_path / each}")),
                    tmp_path / "built", tmp_path / "mixed"], check=True)
    lines = LONG_INSTRUCTIONS.splitlines()
    second = [i for i, line in enumerate(lines) if "movabsq" in line][1] - lines.index("long middle(long n)")
    right = run("-n", "-x", tmp_path / "built", f"middle:{second}", tool="probe")
    assert right.code == 0, right
    wrong = run("-n", "-x", tmp_path / "mixed", f"middle:{second}", tool="probe")
    assert wrong.code and "is inside an instruction" in wrong.stderr, wrong
    assert "the debug information belongs to another build" in wrong.stderr, wrong
    # The program itself is unchanged.
    assert subprocess.run([tmp_path / "mixed"], check=False).returncode == 0
