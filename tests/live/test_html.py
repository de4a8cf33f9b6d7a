# SPDX-License-Identifier: BSD-2-Clause
"""--format html: a page with the figures of the JSON of the same recording, which loads nothing, and to which
hostile names are just text. tests/browser/page.js tests it in a browser."""

import contextlib
import html.parser
import json
import os
import re
import sqlite3
import stat

import pytest

import tally

HOSTILE = (b"<script>x()//", b"\"'><svg/onl=", b"]]>\x1b[2J&lt;", b"\xff\xfe\xe2\x80\xae<b>", b"javascript:x()")
LINES = ("syscount -e getppid --by tid,comm", "runqlat --by comm", "schedlat --by pid", "exitsnoop",
         "stackcount syscalls:sys_enter_getppid --by comm", "offcputime", "futexstat --by pid")
MOST_ROWS = 150
ENDLESS = {"meta", "link"}


class Page(html.parser.HTMLParser):
    """Elements in the order of the text, and the rows of tables by section."""

    def __init__(self, text):
        super().__init__()
        self.text = text
        self.elements = []
        self.open = []
        self.section = None
        self.headings = {}
        self.tables = {}
        self.cell = None
        self.said = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements.append((tag, attrs))
        if tag not in ENDLESS:
            self.open.append(tag)
        if tag == "section":
            self.section = attrs["id"]
            self.tables[self.section] = []
        elif tag == "table" and self.section:
            self.tables[self.section].append(
                {"class": attrs["class"] if "class" in attrs else "", "names": [], "rows": []}
            )
        elif tag == "tr" and self.section:
            self.tables[self.section][-1]["rows"].append([])
        elif tag in ("td", "th") and self.section:
            self.cell = {
                "v": attrs.get("data-v"),
                "name": attrs.get("data-name"),
                "title": attrs.get("title"),
                "text": "",
            }

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-4:], self.getpos())
        self.open.pop()
        if tag in ("td", "th") and self.cell is not None:
            table = self.tables[self.section][-1]
            if self.cell["name"] is not None:
                table["names"].append(self.cell["name"])
            table["rows"][-1].append(self.cell)
            self.cell = None
        elif tag == "section":
            self.section = None

    def handle_data(self, data):
        self.said.append(data)
        if self.cell is not None:
            self.cell["text"] += data
        if self.open and self.open[-1] == "code" and self.open[-2:-1] == ["h2"]:
            self.headings[data] = self.section


def page_of(run, *args, tool, path):
    result = run(*args, "-o", str(path), tool=tool)
    assert result.code == 0 and not result.stdout, result
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    return Page(path.read_text(encoding="utf-8"))


def check_inert(page):
    """Nothing is loaded, and nothing but the one script runs, whatever the names."""
    policy = next(
        a["content"] for tag, a in page.elements if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy).group(1)
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    assert [a for tag, a in page.elements if tag == "script"] == [{"nonce": nonce}]
    assert [a for tag, a in page.elements if tag == "style"] == [{"nonce": nonce}]
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids)), "an id is given twice"
    for tag, attrs in page.elements:
        assert tag not in ("b", "iframe", "object", "img", "base", "form", "foreignobject", "animate", "set", "use") \
            or tag == "foreignobject" and attrs.get("class") == "js", (tag, attrs)
        for name, value in attrs.items():
            assert not name.startswith("on") and name not in ("src", "style", "action", "xlink:href"), (tag, attrs)
            if name == "href":
                assert re.fullmatch(r"#[a-z]+\d*|data:,", value), value
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufffd]", page.text.replace("\t", "")
    ), "a control"


def exact(cell):
    if cell["v"] is None:
        return cell["text"]
    return float(cell["v"]) if re.search(r"[.e]", cell["v"]) else int(cell["v"])


def expected(value):
    return "" if value is None else value


def check_table(table, rows, names=None):
    """The first rows of JSON, each figure exactly."""
    body = [row for row in table["rows"] if row and row[0]["name"] is None]
    assert len(body) == min(len(rows), MOST_ROWS), (len(body), len(rows))
    for row, wanted in zip(body, rows):
        figures = {name: exact(cell) for name, cell in zip(table["names"], row)}
        for name, figure in figures.items():
            assert figure == pytest.approx(expected(wanted[name]), rel=1e-15) if isinstance(wanted[name], float) \
                else figure == expected(wanted[name]), (name, figure, wanted)
    return len(body)


def objects(result):
    assert result.code == 0, result
    return [json.loads(line) for line in result.text.splitlines()]


def flat(group):
    return {**group["key"], **{k: v for k, v in group.items() if k not in ("key", "buckets")}, "total": group["sum"],
            "p99.9": group["p999"]}


def intervals(path):
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        return db.execute("SELECT count(*) FROM interval").fetchone()[0]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recording of some intervals with hostile names."""
    path = tmp_path_factory.mktemp("html") / "recording"
    recorder = tally.Tool("-o", str(path), *LINES, "0.2", tool="record")
    recorder.ready()
    loads = [tally.Trigger("syscalls", 2, "110:2000", comm=name) for name in HOSTILE]
    for load in loads:
        load.go()
    for load in loads:
        load.done()
        load.close()
    tally.wait_until(lambda: intervals(path) >= 3, "nothing was recorded")
    assert recorder.stop().code == 0
    recorder.close()
    return path


def test_the_page_has_the_figures_of_json(run, recording, tmp_path):
    """Page and JSON of one recording: rows, histograms, stacks and single events, and no other files."""
    for line in LINES:
        found = objects(run(str(recording), line, "--json", tool="show"))
        report, = [r for r in found if "duration_ns" in r]
        lines = [r for r in found if "duration_ns" not in r]
        page = page_of(run, str(recording), line, tool="show", path=tmp_path / "one.html")
        check_inert(page)
        tables = page.tables[page.headings[line]]
        data = [t for t in tables if t["class"].startswith("data")]
        if lines:
            body = [row for row in data[0]["rows"] if row[0]["name"] is None]
            assert len(body) == min(len(lines), 100)
            for row, wanted in zip(body, lines):
                assert (
                    int(row[0]["v"]) == wanted["time_ns"]
                    and row[1]["text"] == wanted["comm"]
                    and int(row[2]["v"]) == wanted["pid"]
                )
        elif report.get("groups"):
            assert check_table(data[0], [flat(g) for g in report["groups"]])
            group = report["groups"][0]
            rows = [row for row in tables[1]["rows"][1:] if row[0]["text"] != "…"]
            assert sum(int(row[1]["v"]) for row in rows) == group["count"], "the bars are all values"
            assert "p50" in " ".join(row[4]["text"] for row in rows)
        elif report.get("rows"):
            assert check_table(data[0], report["rows"])
        elif report.get("stacks"):
            total = sum(s["value"] for s in report["stacks"])
            assert re.search(rf">all\n{total:,} ", page.text), "the flame graph is of all stacks"
        else:
            assert not report["events"] or line.startswith("futexstat"), report
    whole = page_of(run, str(recording), "all", tool="show", path=tmp_path / "all.html")
    check_inert(whole)
    assert set(LINES) <= set(whole.headings)
    assert whole.text.count('class="plot"') == 2, "two flame graphs in a page"
    assert all(f'href="#{section}"' in whole.text for section in whole.headings.values())
    assert os.uname().nodename in whole.text and os.uname().release in whole.text
    assert "heat map of runqlat" in whole.text, "a recording has intervals"
    for name in (r"&lt;script&gt;x()//", r"]]&gt;\x1b[2J&amp;lt;", r"\xff\xfe\xe2\x80\xae&lt;b&gt;"):
        assert name in whole.text, name


def test_findings_of_a_recording(run, recording, tmp_path):
    """The same rules, levels, sentences, figures and commands as in JSON."""
    report, = objects(run(str(recording), "--from", "-1h", "--json", tool="triage"))
    page = page_of(run, str(recording), "--from", "-1h", tool="triage", path=tmp_path / "page.html")
    check_inert(page)
    found = [(a["data-rule"], a["class"]) for tag, a in page.elements if tag == "article"]
    assert found == [(f["rule"], f"finding {f['level']}") for f in report["findings"]]
    said = "".join(page.said)
    for finding in report["findings"]:
        assert finding["sentence"] in said
        assert finding["next"] is None or f"tally {finding['next']}" in said
        for key in finding["evidence"]:
            assert f'data-v="{key["value"]:.17g}"' in page.text, key
    looked = next(t for t in page.tables["p1"] if t["class"] == "data")
    assert [row[0]["text"] for row in looked["rows"][1:]] == [
        r["rule"] for r in report["looked_at"] if r["value"] is not None
    ]
    assert set(LINES) <= set(page.headings)


def test_a_page_of_what_happens_now(run, tmp_path):
    """triage, run, a single tool with intervals, and one with only -o."""
    page = page_of(run, "-d", "1", "--format", "html", tool="triage", path=tmp_path / "a.html")
    check_inert(page)
    assert len(page.headings) >= 10 and "cost" in page.text and len(page.text) < 3_000_000
    page = page_of(run, "0.2", "3", tool="runqlat", path=tmp_path / "b.html")
    check_inert(page)
    assert page.text.count('class="interval"') == 3 and "heat map of runqlat" in page.text
    page = page_of(run, "profile -F 99", "runqlat", "-d", "0.5", tool="run", path=tmp_path / "c.html")
    check_inert(page)
    assert list(page.headings) == ["profile -F 99", "runqlat"]


def test_intervals_that_have_no_room_are_counted(run, tmp_path):
    page = page_of(run, "-p", str(os.getpid()), "0.01", "40", tool="syscount", path=tmp_path / "a.html")
    assert page.text.count('class="interval"') == 30
    assert "30 of 40 intervals are on this page" in page.text


@pytest.mark.parametrize("tool, args, word", (
    ("runqlat", ("--format", "html", "--", "true"), "-o page.html"),
    ("timechart", ("--format", "html", "-d", "0.1"), "chart.svg"),
    ("runqlat", ("--listen", "9435", "--format", "html"), "OpenMetrics"),
))
def test_where_there_is_no_page(run, tool, args, word):
    result = run(*args, tool=tool)
    assert result.code == 2 and word in result.stderr and not result.stdout, result


def test_what_would_be_measured_is_text(run, tmp_path):
    result = run("-n", "-d", "1", "--format", "html", tool="triage")
    assert result.code == 0 and "schedlat" in result.text and "<" not in result.text.split("\n")[0], result
