#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Keeps the options of the manual pages equal to those of the tools (make man-options):

  docs/man/options.py [--check]         of build/tally, or of $TALLY_BUILD/tally

The names of options and their values come from --help, which prints the tools' rows (user/cli/option_row.h). An entry
of a page is one or more options and, indented below them, longer text, which is kept as it is. The script writes three
things: the names at the head of each entry; an entry with the text of --help for each option without longer text; and
a list of the options that are the same on another page. The last two follow a marker at the end of OPTIONS. To say more
about an option, write an entry above the marker: any name of the option and the text below it.

--check changes nothing, prints what is wrong and exits with 1.
"""
import collections
import csv
import functools
import io
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "man"
MARKER = "; The rest of this section is written by `make man-options`."
# tally(1) says that all tools have these.
EVERYWHERE = {"--help", "--usage", "--version"}
LONGEST_LINE = 116
TAB = 8

NAME = r"\*--?[A-Za-z0-9?-]+\*"
VALUE = r"(?:[=\[][^ ;]*| [_*][^ ;]*[_*])?"
# *-p*, *--pid*=_PID_,... and more such lines, with the text below them.
HEAD = rf"{NAME}{VALUE}(?:(?:[,;] |\+\+\n){NAME}{VALUE})*"
ENTRY = re.compile(rf"^({HEAD})\n(?=\t)", re.M)
# Begins like an entry, and has text below it like one.
LIKE_ENTRY = re.compile(r"^(\*-[^\n]*)\n(?=\t)", re.M)


class Wrong(Exception):
    """A page that a maintainer has to correct."""


class Option(collections.namedtuple("Option", "names value text")):
    """names: ("-p", "--pid"); value: as in --help, "=PID,.."."""

    @property
    def key(self):
        return self.names[-1]

    def head(self):
        return ", ".join(f"*{name}*" for name in self.names) + marked_value(self.value)

    def entry(self):
        """--help may list words alone: text, json, csv."""
        text = f"One of {self.text}" if re.match("[a-z]+, ", self.text) else self.text[:1].upper() + self.text[1:]
        lines = in_lines(marked_text(text, self.value) + ".", LONGEST_LINE - TAB)
        return "\n\t".join([self.head(), *lines])


def marked_value(value):
    """=PID,.. as =_PID_,...; words in lower case are to be typed as they are."""
    value = re.sub(r"\.\.+$", "...", value)
    return re.sub(r"[A-Z]+|[a-z]+", lambda word: f"_{word[0]}_" if word[0].isupper() else f"*{word[0]}*", value)


def marked_text(text, value):
    """The text of --help with its options in bold, and the value by its name in italics."""
    text = re.sub(r"([\\*_#~`])", r"\\\1", text)
    text = re.sub(r"(?<![\w'-])(--?[A-Za-z][a-z-]*)", r"*\1*", text)
    for name in re.findall("[A-Z]+", value):
        text = re.sub(rf"\b{name}\b", f"_{name}_", text)
    return text


@functools.cache
def tally():
    return pathlib.Path(os.environ.get("TALLY_BUILD", ROOT / "build")) / "tally"


def said(*words):
    env = {**os.environ, "ARGP_HELP_FMT": "rmargin=2000"}
    return subprocess.run([tally(), *words], capture_output=True, text=True, check=True, env=env).stdout


def options(text):
    """The options in the output of --help, by key. An entry is one line, or two if its head is long."""
    found = {}
    for head, text in re.findall(r"^ {2,6}(-\S(?:.*?\S)??)(?: {3,}|\n {20,}| {2}(?=\S))(\S.*)$", text, re.M):
        names = [re.fullmatch(r"(--?[\w?-]+)(.*)", part).groups() for part in re.split(", ", head)]
        option = Option(tuple(name for name, _ in names), names[-1][1], text.strip())
        found[option.key] = option
    return found


@functools.cache
def tools():
    """{tool: its options}"""
    names = [row["tool"] for row in csv.DictReader(io.StringIO(said("--csv")))]
    return {"tally": options(said("--help")), **{name: options(said(name, "--help")) for name in names}}


@functools.cache
def usual():
    """{key: the option as most tools have it}"""
    seen = collections.defaultdict(collections.Counter)
    for each in tools().values():
        for option in each.values():
            seen[option.key][option] += 1
    return {key: counted.most_common(1)[0][0] for key, counted in seen.items()}


def known_on(tool):
    """The options that the page of a tool may describe."""
    return usual() if tool == "tally" else tools()[tool]


@functools.cache
def homes():
    """{page that others refer to: the options it describes}. An option of several of these pages is in the first."""
    found = {}
    for tool in ("tally", "profile", "offcputime", "runqlat", "biolatency"):
        page = (PAGES / f"{tool}.1.scd").read_text().partition(MARKER)[0]
        known = known_on(tool)
        elsewhere = {key for each in found.values() for key in each}
        found[tool] = {key: known[key] for key in rewrite(page, tool, known)[1] - elsewhere}
    return found


def named(head, known, where):
    """The options at the head of an entry, each once, by any of its names."""
    by_name = {name: option for option in known.values() for name in option.names} | known
    names = re.findall(rf"\*({NAME[2:-2]})\*", head)
    if missing := [name for name in names if name not in by_name]:
        raise Wrong(f"{where}: no option {', '.join(missing)}, in the entry {head}")
    return list(dict.fromkeys(by_name[name] for name in names))


def head_of(found):
    """Several options share a line unless one of them has two names."""
    apart = len(found) > 1 and any(len(option.names) > 1 for option in found)
    return ("++\n" if apart else ", ").join(option.head() for option in found)


def section(page):
    """(begin, end) of OPTIONS."""
    found = re.search(r"^# OPTIONS.*?\n(.*?)(?=^# |\Z)", page, re.M | re.S)
    return found.span(1) if found else None


def rewrite(page, where, known):
    """The page with its heads as they are in --help, and the options it describes by hand."""
    described = []

    def replace(match):
        found = named(match[1], known, where)
        described.extend(option.key for option in found)
        return head_of(found) + "\n"

    begin, end = section(page)
    if odd := [line for line in LIKE_ENTRY.findall(page[begin:end]) if not re.fullmatch(HEAD, line.split("++")[0])]:
        raise Wrong(f"{where}: not a list of options: {odd[0]}")
    page = ENTRY.sub(replace, page)
    if twice := [key for key, n in collections.Counter(described).items() if n > 1]:
        raise Wrong(f"{where}: {', '.join(twice)}: described twice")
    return page, set(described)


def in_lines(text, most=LONGEST_LINE):
    return textwrap.wrap(text, most, break_long_words=False, break_on_hyphens=False)


def generated(rest, tool):
    """The part from the marker on: entries, and a list of the options that are the same on other pages."""
    shared = {home: [option for option in rest if same.get(option.key) == option] for home, same in homes().items()
              if home != tool}
    elsewhere = {option for each in shared.values() for option in each}
    listed = [f"*{home}*(1) for " + ", ".join(f"*{option.names[0]}*" for option in each)
              for home, each in shared.items() if each]
    parts = [option.entry() for option in rest if option not in elsewhere]
    if listed:
        parts.append("\n".join(in_lines(f"See {'; '.join(listed)}.")))
    return "\n\n".join([MARKER] + parts) if parts else ""


def name_of(tool):
    """Answers of tally itself have pages called tally-NAME."""
    return tool if (PAGES / f"{tool}.1.scd").exists() else f"tally-{tool}"


def composed(tool):
    """The page of a tool as it should be, from what was written by hand."""
    where = f"{name_of(tool)}.1.scd"
    if not (PAGES / where).exists():
        raise Wrong(f"{where}: there is no such page")
    return rewritten((PAGES / where).read_text(), tool, where)


def rewritten(page, tool, where):
    if not section(page):
        raise Wrong(f"{where}: no section OPTIONS")
    begin, end = section(page)
    by_hand, _, _ = page[begin:end].partition(MARKER)
    page, described = rewrite(page[:begin] + by_hand + page[end:], where, known_on(tool))
    rest = [option for key, option in tools()[tool].items() if key not in described | EVERYWHERE]
    begin, end = section(page)
    parts = [page[begin:end].strip("\n"), generated(rest, tool)]
    return page[:begin] + "\n" + "\n\n".join(part for part in parts if part) + "\n\n" + page[end:]


def fault_of(tool, write):
    """The fault of a tool's page, or None. write: whether to write the page anew."""
    path = PAGES / f"{name_of(tool)}.1.scd"
    try:
        page = composed(tool)
    except Wrong as fault:
        return str(fault)
    if page == path.read_text():
        return None
    if write:
        path.write_text(page)
        return None
    return f"{path.name}: differs from --help; `make man-options` writes its options anew"


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__.strip())
    faults = [fault for tool in tools() if (fault := fault_of(tool, not check))]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
