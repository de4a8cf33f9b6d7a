# SPDX-License-Identifier: BSD-2-Clause
"""probe on members of a program's structures, from debug information."""

import subprocess

import pytest

from probing import (alike, binary, compile_trigger, counts_by, measure, measure_each, nothing_lost,
                     stream_of, Probe)
from tally import GUEST, ROOT, Trigger, count, needs_dwarf

pytestmark = pytest.mark.exact

SHAPES = binary("shapes")
SOURCE = ROOT / "tests/triggers/shapes.c"

SEEN = ("seen shape->corner[1].x y=shape->corner[2].y shape->number byte=shape->byte[0] shape->slope "
        "shape->flags shape->odd shape->wide shape->visible shape->colour grid=shape->grid[1][2] "
        "shape->name shape->empty shape->label up=(*shape->up)->number above=(*shape->up)->name")


def shape(i):
    """The values of SEEN in the i-th event."""
    return {"x": i + 1, "y": -i - 2, "number": 0x01020300 + i, "byte": i & 255, "slope": i % 32 - 16,
            "flags": i % 2048, "odd": i & 1, "wide": (1 << 39) + i, "visible": 1 - (i & 1),
            "colour": (0, 7, -3)[i % 3], "grid": 10 * i + 5, "name": f"shape {i:02}", "empty": "",
            "label": ("even", "odd")[i & 1], "up": 0x01020300 + 99, "above": "shape 99"}


def nulls(n):
    return len(range(0, n, 3))


@needs_dwarf
def test_members(tool, trigger):
    """Members of all types. NULL has none: its event is lost, and not zero."""
    n = 36
    got, report = stream_of(Probe(tool, trigger("shapes", n), "-x", SHAPES, SEEN).work())
    assert got == [shape(i) for i in range(n)]
    assert report["lost"].pop("read_fault") == nulls(n) and nothing_lost(report)


@needs_dwarf
def test_keys_values_and_filters(ends, trigger):
    n = 36
    by, total, named, guarded, latency = measure_each(ends, trigger("shapes", n), [
        ("-x", SHAPES, "seen", "--by", "shape->name,shape->slope"),
        ("-x", SHAPES, "seen", "--sum", "shape->slope", "--min", "shape->slope"),
        ("-x", SHAPES, "seen", "--filter", "shape && shape->colour == GREEN"),
        ("-x", SHAPES, "seen", "--filter", "!shape || shape->name == \"shape 07\""),
        ("-x", SHAPES, "seen", "--latency", "--count", "--by", "shape->flags", "--filter",
         "shape && (shape->odd || $retval == 4)"),
    ])
    assert counts_by(by, "name", "slope") == {(f"shape {i:02}", i % 32 - 16): 1 for i in range(n)}
    row, = total["rows"]
    assert (row["count"], row["sum"], row["min"]) == (n, sum(i % 32 - 16 for i in range(n)), -16)
    assert total["lost"]["read_fault"] == nulls(n)
    assert count(named["rows"]) == len(range(1, n, 3)) and nothing_lost(named)
    assert count(guarded["rows"]) == nulls(n) + 1 and nothing_lost(guarded)
    assert set(counts_by(latency, "flags")) == {i for i in range(n) if i & 1 or i == 4}


@needs_dwarf
@alike
def test_histogram(tool, trigger):
    report = measure(tool, trigger("shapes", 32), "-x", SHAPES, "seen", "--hist", "shape->flags")
    group, = report["groups"]
    assert (group["count"], group["sum"], group["min"], group["max"]) == (32, 31 * 16, 0, 31)


FORMS = (("gcc", "-gdwarf-2"), ("gcc", "-gdwarf-3"), ("gcc", "-gdwarf-4"), ("gcc", "-gdwarf-5"),
         ("clang", "-gdwarf-4"), ("clang", "-gdwarf-5"))


@needs_dwarf
@pytest.mark.skipif(bool(GUEST), reason="compilers are slow in an emulated machine")
@pytest.mark.parametrize("compiler, flag", FORMS)
def test_of_compilers(tool, ends, tmp_path, compiler, flag):
    """Each version of DWARF describes the place of a bit-field in its own way."""
    path = compile_trigger(tmp_path, SOURCE, "-D_GNU_SOURCE", "-O1", "-g", "-gstrict-dwarf", flag,
                           compiler=compiler)
    load = Trigger(path, 9)
    ends.callback(load.close)
    got, report = stream_of(Probe(tool, load, "-x", path, SEEN).work())
    assert got == [shape(i) for i in range(9)]


def own_source(directory, name, text, *flags, compiler="gcc"):
    source = directory / name
    source.write_text(text)
    subprocess.run([compiler, "-g", *flags, str(source), "-o", str(directory / "made"), "-I",
                    str(SOURCE.parent), "-D_GNU_SOURCE", "-pthread"], check=True)
    return directory / "made"


CLASSES = """
extern "C" {
#include "trigger.h"
}
struct base { int first; static int shared; };
int base::shared = 1;
struct other { long second; };
class shape : public base, public other {
public:
    virtual ~shape() {}
    char name[8];
    shape &self;
    shape() : self(*this) { strcpy(name, "cpp"); }
};
long __attribute__((noinline)) seen(shape &s, shape *const p) { asm volatile("" : : "r"(&s), "r"(p) : "memory"); return 1; }
int main()
{
    trigger__say("ready");
    trigger__wait();
    for (int i = 0; i < 5; i++) {
        shape s;
        s.first = i;
        s.second = -i;
        seen(s, &s);
    }
    trigger__say("done");
    trigger__end();
}
"""


@needs_dwarf
@pytest.mark.skipif(bool(GUEST), reason="compilers are slow in an emulated machine")
def test_classes(tool, ends, tmp_path):
    """Members of a reference follow a dot or, as behind a pointer, an arrow; inherited members are the class's own."""
    path = own_source(tmp_path, "classes.cc", CLASSES, "-O1", "-fpermissive", "-w", compiler="g++")
    load = Trigger(path)
    ends.callback(load.close)
    got, report = stream_of(Probe(tool, load, "-x", path, "seen s->first p->second s.self->name").work())
    assert got == [{"first": i, "second": -i, "name": "cpp"} for i in range(5)]
    assert nothing_lost(report)


@needs_dwarf
@alike
@pytest.mark.parametrize("args, said, hint", (
    (("seen shape->foo",), "struct shape has no member 'foo'", "it has corner, "),
    (("seen shape->colur",), "struct shape has no member 'colur'", "did you mean colour?"),
    (("seen shape->opaque->x",), "struct unknown", ""),
    (("seen shape->size",), "this is double, not a number", ""),
    (("seen number->x",), "the type behind it is unknown", ""),
    (("seen", "--filter", "shape.number == 1"), "use -> for members of a pointer", ""),
    (("seen &shape->slope",), "a bit-field has no address", ""),
))
def test_mistakes(run, args, said, hint):
    result = run("-n", "-x", SHAPES, *args, tool="probe")
    assert result.code == 2 and said in result.stderr and hint in result.stderr, result
