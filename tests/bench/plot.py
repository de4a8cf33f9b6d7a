# SPDX-License-Identifier: BSD-2-Clause
"""Draws the cost by number of keys and of sites as one SVG picture (docs/performance.md)."""
import math
import statistics

import probing

WIDTH, HEIGHT, MARGIN = 380, 230, 52
OURS, THEIRS = "#1f6fb4", "#c2571a"
STYLE = ("text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}"
         ".line{fill:none;stroke-width:2}")


def median_cost(rounds, name):
    """ns per hit above the empty program."""
    return statistics.median(probing.per_event(r[name], "hits") -
                             probing.per_event(r["empty"], "hits") for r in rounds)


def median_start(rounds, name):
    return 1000 * statistics.median(r[name]["start"] for r in rounds)


def points(results, name, figure):
    return [(n, figure(rounds, name)) for n, rounds in results.items() if name in rounds[0]]


class Axes:
    """The axes of one panel, both logarithmic over whole decades."""

    def __init__(self, left, series):
        values = [max(1, y) for _, line in series for _, y in line]
        self.left, self.xs = left, [x for x, _ in series[0][1]]
        self.low = math.floor(math.log10(min(values)))
        self.high = max(self.low + 1, math.ceil(math.log10(max(values))))

    def x(self, n):
        return self.left + WIDTH * math.log10(n / self.xs[0]) / math.log10(self.xs[-1] / self.xs[0])

    def y(self, value):
        share = (math.log10(max(1, value)) - self.low) / (self.high - self.low)
        return MARGIN + HEIGHT * (1 - share)

    def draw(self):
        for power in range(self.low, self.high + 1):
            y = self.y(10 ** power)
            yield f'<path class="grid" d="M{self.left} {y:.1f}h{WIDTH}"/>'
            yield (f'<text x="{self.left - 6}" y="{y + 4:.1f}" '
                   f'text-anchor="end">{10 ** power:,}</text>')
        for n in self.xs:
            yield (f'<text x="{self.x(n):.1f}" y="{MARGIN + HEIGHT + 18}" '
                   f'text-anchor="middle">{n:,}</text>')


def panel(left, title, below, series):
    """series: (name, points)."""
    axes = Axes(left, series)
    yield f'<text class="title" x="{left}" y="{MARGIN - 26}">{title}</text>'
    yield from axes.draw()
    yield (f'<text x="{left + WIDTH / 2}" y="{MARGIN + HEIGHT + 38}" '
           f'text-anchor="middle">{below}</text>')
    for i, (name, line) in enumerate(series):
        color = (OURS, THEIRS)[i]
        path = " ".join(f"{axes.x(n):.1f},{axes.y(y):.1f}" for n, y in line)
        yield f'<polyline class="line" stroke="{color}" points="{path}"/>'
        for n, y in line:
            yield (f'<circle cx="{axes.x(n):.1f}" cy="{axes.y(y):.1f}" r="3" fill="{color}">'
                   f"<title>{name}, {n:,}: {y:,.0f}</title></circle>")
        yield (f'<path stroke="{color}" stroke-width="2" d="M{left + 90 * i} {MARGIN - 12}h18"/>'
               f'<text x="{left + 90 * i + 22}" y="{MARGIN - 8}">{name}</text>')


def series(results, name, figure):
    both = [("tally", points(results, name, figure)),
            ("bpftrace", points(results, f"{name}-bpftrace", figure))]
    return [(label, line) for label, line in both if line]


def draw(raw, path):
    """raw: what probing.measure_all() returned."""
    step = WIDTH + MARGIN + 30
    panels = (
        ("ns per event, by the number of keys", "distinct keys",
         series(raw["keys"], "keys", median_cost)),
        ("ns per event, by the number of sites", "functions counted",
         series(raw["sites"], "sites", median_cost)),
        ("ms until attached, by the number of sites", "functions counted",
         series(raw["sites"], "sites", median_start)))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {step * len(panels) + 10} '
             f'{HEIGHT + MARGIN + 50}">', f"<style>{STYLE}</style>",
             '<rect width="100%" height="100%" fill="#fff"/>']
    for i, (title, below, lines_of) in enumerate(panels):
        lines += panel(MARGIN + 10 + step * i, title, below, lines_of)
    with open(path, "w") as f:
        f.write("\n".join(lines + ["</svg>", ""]))
