# SPDX-License-Identifier: BSD-2-Clause
"""Options on the manual pages: those of the tools, each once, as docs/man/options.py writes them."""
import collections
import functools
import re
import subprocess
import sys

import pytest

from sources import BUILD, ROOT

sys.path.insert(1, str(ROOT / "docs" / "man"))

import options

LIST = re.compile(r"\*[a-z]+\*\(1\)\s+for\s+(\*-[^.;]*)")
NAME = re.compile(r"\*(--?[A-Za-z0-9?-]+)\*")


def text_of(tool):
    return (options.PAGES / f"{options.name_of(tool)}.1.scd").read_text()


@functools.cache
def answered(tool):
    """The options that completion offers: long names, and letters of options without one."""
    asked = subprocess.run([BUILD / "tally", "--complete", tool, "-"], capture_output=True, text=True, check=True)
    return {line.split("\t")[0] for line in asked.stdout.splitlines()}


def places(tool, text):
    """{option: the number of entries and lists that name it}; by its long name, if it has one."""
    long = {option.names[0]: option.key for option in options.tools()[tool].values() if option.names[0][1] != "-"}
    found = [{long.get(name, name) for name in NAME.findall(place)}
             for place in options.ENTRY.findall(text) + LIST.findall(text.partition(options.MARKER)[2])]
    return collections.Counter(name for names in found for name in names)


TOOLS = sorted(set(options.tools()) - {"tally"})


@pytest.mark.parametrize("tool", ["tally", *TOOLS])
def test_pages_are_as_written(tool):
    """`make man-options` would change nothing."""
    assert options.composed(tool) == text_of(tool), "make man-options"


@pytest.mark.parametrize("tool", TOOLS)
def test_each_option_is_on_its_page_once(tool):
    """The options of completion, which does not read --help. Pages have no others."""
    found = places(tool, text_of(tool))
    assert found.keys() | options.EVERYWHERE == answered(tool)
    assert not [name for name, n in found.items() if n > 1]


def test_every_page_is_held():
    assert {path.name for path in options.PAGES.glob("*.scd")} == \
        {f"{options.name_of(tool)}.1.scd" for tool in ["tally", *TOOLS]}


# --- faults ----------------------------------------------------------------------------------------

def rewritten(text):
    return options.rewritten(text, "opensnoop", "page")


def test_an_option_without_entry_gets_one():
    text = text_of("opensnoop")
    without = re.sub(r"^\*--min\*=_TIME_\n(?:\t[^\n]*\n)+\n", "", text, flags=re.M)
    assert without != text and "*--min*=_TIME_\n\t" in rewritten(without).partition(options.MARKER)[2]


def test_longer_text_is_kept_and_the_name_corrected():
    text = text_of("opensnoop")
    assert rewritten(text.replace("*--min*=_TIME_\n", "*--min* _N_\n")) == text
    longer = text.replace("*--min*=_TIME_\n\t", "*--min*=_TIME_\n\tBy hand. ")
    assert rewritten(longer) == longer != text


def test_other_text_below_the_marker_is_lost():
    text = text_of("opensnoop")
    changed = text.replace(options.MARKER, options.MARKER + "\n\n*--by-hand*\n\tText.")
    assert rewritten(changed) == text != changed


@pytest.mark.parametrize("entry, fault", (
    ("*--no-such-option*", "no option --no-such-option"), ("*--min*", "--min: described twice"),
    ("*-d*, *--duration*", None), ("*--min* of some time", "not a list of options"),
))
def test_wrong_entries_are_refused(entry, fault):
    text = text_of("opensnoop").replace("# OPTIONS\n", f"# OPTIONS\n\n{entry}\n\tText.\n")
    if fault:
        with pytest.raises(options.Wrong, match=fault):
            rewritten(text)
    else:
        assert "*-d*, *--duration*=_SECONDS_\n\tText.\n" in rewritten(text)


@pytest.mark.parametrize("line, head, text", (
    ("  -p, --pid=PID,..           These: 'a*'", "*-p*, *--pid*=_PID_,...", "\tThese: 'a\\*'."),
    ("      --off[=WHAT]           With -p: not WHAT", "*--off*[=_WHAT_]", "\tWith *-p*: not _WHAT_."),
    ("      --listen=[ADDRESS:]PORT   to listen", "*--listen*=[_ADDRESS_:]_PORT_", "\tTo listen."),
    ("  -e SET                     text, json", "*-e* _SET_", "\tOne of text, json."),
    ("      --detach-on=execve     Stop", "*--detach-on*=*execve*", "\tStop."),
))
def test_lines_of_help(line, head, text):
    option, = options.options(line + "\n").values()
    assert option.entry() == f"{head}\n{text}"
