# SPDX-License-Identifier: BSD-2-Clause
"""Programs whose debug information is in other files (-gsplit-dwarf), which are not read: it is said, and what
helps."""

import shutil
import subprocess

import pytest

from probing import compile_trigger, stream
from tally import ROOT, Trigger, needs_dwarf

SOURCE = ROOT / "tests/triggers/arguments.c"
FLAGS = ("-O1", "-g", "-D_GNU_SOURCE", "-w")
SAID = "has split debug information (-gsplit-dwarf); .dwo and .dwp files are not read"
HINT = "build it with -g -gno-split-dwarf"

pytestmark = [pytest.mark.exact, needs_dwarf]


@pytest.fixture(scope="module", params=("4", "5"))
def split(request, tmp_path_factory):
    """A program all of whose debug information is elsewhere."""
    return compile_trigger(tmp_path_factory.mktemp("split"), SOURCE, *FLAGS, "-gsplit-dwarf",
                           f"-gdwarf-{request.param}", name="split")


@pytest.mark.parametrize("args", (
    ("many a",), ("many%return a",), ("many", "--by", "a"), ("many", "--filter", "b < 0"),
    ("of_pair ((struct pair *)arg1)->left",), ("many:3",), ("many;sink*",), ("many@arguments.c",), ("pair_of",),
))
def test_it_is_said(run, split, args):
    result = run("-n", "-x", split, *args, tool="probe")
    assert result.code in (1, 2) and HINT in result.stderr, result
    assert f"{split} {SAID}" in result.stderr.replace(", which has", " has"), result


def test_in_lists(run, split):
    result = run("--lines", "many", "-x", split, tool="list")
    assert result.code == 1 and SAID in result.stderr and HINT in result.stderr, result


def test_what_needs_none_works(tool, ends, run, split):
    load = Trigger(split, 3)
    ends.callback(load.close)
    got, _ = stream(tool, load, "-x", split, "many%return first=$arg1 $retval")
    assert got == [{"first": i, "retval": 3 - i} for i in range(3)]
    result = run("-n", "-x", split, "mny", tool="probe")
    assert "did you mean many?" in result.stderr and SAID not in result.stderr, result


def test_a_program_of_both_kinds(run, tmp_path):
    """Only what is not known is explained so."""
    plain = tmp_path / "plain.c"
    plain.write_text("__attribute__((noinline)) long plain(long count) { return count + 1; }\n")
    for source, *more in ((plain,), (SOURCE, "-gsplit-dwarf")):
        subprocess.run(["gcc", *FLAGS, *more, "-c", source, "-o", tmp_path / f"{source.stem}.o"], check=True)
    both = tmp_path / "both"
    subprocess.run(["gcc", tmp_path / "plain.o", tmp_path / "arguments.o", "-pthread", "-o", both], check=True)
    assert run("-n", "-x", both, "plain count", tool="probe").code == 0
    result = run("-n", "-x", both, "plain cuont", tool="probe")
    assert "did you mean count?" in result.stderr and SAID not in result.stderr, result
    assert SAID in run("-n", "-x", both, "many a", tool="probe").stderr


@pytest.mark.skipif(not shutil.which("clang"), reason="there is no clang")
def test_addresses_in_a_section_of_their_own_are_no_other_file(run, tmp_path):
    path = compile_trigger(tmp_path, SOURCE, *FLAGS, "-gdwarf-5", compiler="clang")
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    assert ".debug_addr" in sections
    assert run("-n", "-x", path, "many a", tool="probe").code == 0
    assert SAID not in run("-n", "-x", path, "many zz", tool="probe").stderr


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A program whose debug information is compressed with zstd; skipped where libelf can read it."""
    directory = tmp_path_factory.mktemp("packed")
    plain, program = (compile_trigger(directory, SOURCE, *FLAGS, name=name) for name in ("plain", "packed"))
    done = subprocess.run(["objcopy", "--compress-debug-sections=zstd", plain, program], capture_output=True)
    if done.returncode:
        pytest.skip("this objcopy knows no zstd")
    version = subprocess.run(["pkg-config", "--modversion", "libelf"], capture_output=True, text=True).stdout.strip()
    if tuple(map(int, version.split("."))) >= (0, 189):
        pytest.skip(f"libelf {version} may read it")
    return program


@pytest.mark.parametrize("name, args", (
    ("probe", ("-n", "many a")), ("probe", ("-n", "many:3")), ("probe", ("-n", "many@arguments.c")),
    ("probe", ("-n", "of_pair ((struct pair *)$arg1)->left",)), ("list", ("--lines=many",)), ("list", ("--vars=many",)),
), ids=str)
def test_compressed_with_zstd(run, packed, name, args):
    """libdw takes such sections for missing: the report said that the program had no such variable, line, function."""
    result = run("-x", packed, *args, tool=name)
    assert result.code in (1, 2), result
    assert "debug information compressed with zstd" in result.stderr, result
    assert "objcopy --decompress-debug-sections" in result.stderr, result


def test_what_needs_none_works_with_zstd(tool, ends, packed):
    load = Trigger(packed, 3)
    ends.callback(load.close)
    got, _ = stream(tool, load, "-x", packed, "many%return first=$arg1 $retval")
    assert got == [{"first": i, "retval": 3 - i} for i in range(3)]
