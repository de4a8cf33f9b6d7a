// SPDX-License-Identifier: BSD-2-Clause
/*
 * A flame graph as one SVG file that needs nothing else: callers below, what they call above, as
 * wide as their share. It can be read without its script; with it, it zooms and searches.
 *
 * Frames that are too narrow are not drawn by themselves: those of one caller are one grey block,
 * and the title says how many there are. How narrow that is, is set so that the file stays small.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "report/flame_script.h"
#include "report/text.h"
#include "report/tree.h"
#include "report/xml.h"

#define WIDE 1200
#define LEFT 10
#define PLOT (WIDE - 2 * LEFT)
#define ROW 17
#define ABOVE 64                /* title, search */
#define BELOW 34                /* what is said of a frame */
#define GAP 0.4                 /* between frames */
#define LETTER 6.6              /* width of one, about, at 11 px */
#define LONGEST_NAME 400        /* of a frame, in bytes */

#define MOST_BYTES 1700000      /* of all frames together, about */
#define FRAME_BYTES 125         /* of one, beside its name */
#define SHADES 4

static const char style[] =
	"svg{background:#fff;font:11px monospace}"
	"text{pointer-events:none;fill:#111}"
	".h{font-size:15px}.q,#said,#found{font-size:12px}"
	"#plot g{cursor:pointer}#plot g:hover rect,.selected rect{stroke:#000;stroke-width:1.2}"
	".u0{fill:#f3a35c}.u1{fill:#efb366}.u2{fill:#eb9250}.u3{fill:#f0c070}"
	".k0{fill:#7fb2e5}.k1{fill:#8fbde9}.k2{fill:#72a6dd}.k3{fill:#9cc7ea}"
	".j0{fill:#86c98a}.j1{fill:#94d197}.j2{fill:#79be7e}.j3{fill:#a2d8a1}"
	".i0{fill:#c7a3e0}.i1{fill:#d1b3e6}.i2{fill:#bb93d8}.i3{fill:#dbc3ec}"
	".n0,.n1,.n2,.n3{fill:#c9c9d2}.m{fill:#dcdce2}"
	".r0{fill:#fbd9d3}.r1{fill:#f5b0a3}.r2{fill:#ec8069}.r3{fill:#dc4a38}"
	".b0{fill:#d6e4f7}.b1{fill:#a9c8ef}.b2{fill:#76a6e2}.b3{fill:#4180d0}"
	".below rect{opacity:.45}.hit rect{fill:#d6409f}.js{display:none}"
	"#reset{cursor:pointer}#reset text{fill:#0645ad}"
	"input{font:12px monospace;width:240px;height:18px;box-sizing:border-box;border:1px solid "
	"#888}"
	"input.bad{border:2px solid #c00}";

struct picture {
	FILE *file;
	const struct report *report;
	const struct report_stacks *stacks;
	struct stack_labels labels;
	struct call_tree tree;
	u64 least;              /* what a frame must have to be drawn */
	size_t tiny;            /* frames that are not */
	u64 gone;               /* compared: what came before in stacks that are no more */
	double farthest;        /* compared: the largest change of a share */
	u32 deepest;            /* level that is drawn */
};

/*
 * --- text --------------------------------------------------------------------------------------
 */

/* The first letters of a text, no more than limit bytes; none is cut in two. */
static size_t head(const char *text, size_t limit)
{
	size_t n = strnlen(text, limit + 1);

	if (n <= limit)
		return n;
	for (n = limit; n && (text[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

/*
 * --- frames ------------------------------------------------------------------------------------
 */

static double width_of(const struct picture *p, u64 value)
{
	return (double)PLOT * value / p->stacks->total;
}

static u32 y_of(const struct picture *p, u32 depth)
{
	return ABOVE + (p->deepest - depth) * ROW;
}

static u32 shade(const char *name)
{
	u32 hash = 5381;

	for (; *name; name++)
		hash = hash * 33 ^ (unsigned char)*name;
	return (hash ^ hash >> 7 ^ hash >> 14) % SHADES;
}

/* By how much the share of a frame has grown. */
static double change(const struct picture *p, const struct call_node *node)
{
	double after = p->stacks->total ? (double)node->total / p->stacks->total : 0;

	return after - (p->stacks->before ? (double)node->before / p->stacks->before : 0);
}

static void put_before(const struct picture *p, const struct call_node *node)
{
	char number[UNITS_SPACE];

	fprintf(p->file, "\nbefore: %s %s, %.2f%%; %+.2f points",
		format_count(number, node->before), p->stacks->unit,
		p->stacks->before ? 100.0 * node->before / p->stacks->before : 0,
		100 * change(p, node));
}

/* node: NULL if it is no single one. */
static void put_box(const struct picture *p, const char *class, const char *name,
		    const struct call_node *node, u32 depth, u64 at, u64 value)
{
	double x = LEFT + width_of(p, at), w = width_of(p, value);
	size_t room = w < 6 ? 0 : (size_t)((w - 6) / LETTER), n = head(name, LONGEST_NAME);
	char number[UNITS_SPACE];
	u32 y = y_of(p, depth);

	fprintf(p->file, "<g class=\"%s\"><title>", class);
	put_xml(p->file, name, n);
	fprintf(p->file, "%s\n%s %s, %.2f%%", name[n] ? ".." : "", format_count(number, value),
		p->stacks->unit, 100.0 * value / p->stacks->total);
	if (p->stacks->compared && node)
		put_before(p, node);
	fprintf(p->file,
		"</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\"/>", x, y,
		w > 1 ? w - GAP : w, ROW - 1);
	if (room >= 3) {
		bool cut = strlen(name) > room;

		fprintf(p->file, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + 12);
		put_xml(p->file, name, cut ? head(name, room - 2) : room);
		fprintf(p->file, "%s</text>", cut ? ".." : "");
	}
	fputs("</g>\n", p->file);
}

/* Red where the share grew, blue where it shrank, the stronger the more. */
static void set_class_of_change(const struct picture *p, const struct call_node *node, char *class)
{
	double d = change(p, node), of = p->farthest > 0 ? (d < 0 ? -d : d) / p->farthest : 0;

	if (of < 1.0 / 16)
		return;
	class[0] = d > 0 ? 'r' : 'b';
	class[1] = '0' + (of < 0.25 ? 0 : of < 0.5 ? 1 : of < 0.75 ? 2 : 3);
}

static void put_frame(const struct picture *p, const struct call_node *node, u64 at)
{
	static const char kinds[FRAME_KINDS] = {
		[FRAME_USER] = 'u', [FRAME_KERNEL] = 'k', [FRAME_JIT] = 'j', [FRAME_INLINED] = 'i',
		[FRAME_NOTE] = 'n',
	};
	const char *name = node->depth ? call_node__label(node, &p->labels) : "all";
	char class[4] = "n0";

	if (p->stacks->compared) {
		set_class_of_change(p, node, class);
	} else if (node->depth) {
		class[0] = kinds[call_node__kind(node, p->stacks)];
		class[1] = '0' + shade(name);
	}
	put_box(p, class, name, node, node->depth, at, node->total);
}

/* What is open on the way from the root to where the walk is. */
struct level {
	u64 at;                 /* where its next child begins, in samples from the left */
	u64 tiny_value;         /* of children that are not drawn */
	size_t tiny;
};

static void put_tiny(const struct picture *p, const struct level *l, u32 depth)
{
	char name[64];

	if (!l->tiny || l->tiny_value < p->least)
		return;
	snprintf(name, sizeof(name), "(%zu tiny %s)", l->tiny, l->tiny == 1 ? "frame" : "frames");
	put_box(p, "m", name, NULL, depth + 1, l->at, l->tiny_value);
}

static int put_frames(const struct picture *p)
{
	struct level *level = calloc(p->tree.depth + 2, sizeof(*level));
	u32 depth = 0, d;
	size_t i;

	if (!level)
		return -ENOMEM;
	put_frame(p, &p->tree.node[0], 0);
	for (i = 1; i < p->tree.n;) {
		const struct call_node *node = &p->tree.node[i];

		/* Whatever is left of the levels that end here. */
		for (; depth >= node->depth; depth--)
			put_tiny(p, &level[depth], depth);
		d = node->depth;
		if (!node->total) {             /* gone: see measure() */
			i += node->span;
			continue;
		}
		if (node->total < p->least) {
			add_saturating(&level[d - 1].tiny_value, node->total);
			level[d - 1].tiny += node->span;
			i += node->span;
			continue;
		}
		put_frame(p, node, level[d - 1].at);
		level[d] = (struct level){ .at = level[d - 1].at };
		level[d - 1].at += node->total;
		depth = d;
		i++;
	}
	for (d = depth + 1; d--;)
		put_tiny(p, &level[d], d);
	free(level);
	return 0;
}

/* Bytes that the frames with at least p->least take; how many others there are, and how high it
 * gets. */
static size_t measure(struct picture *p)
{
	size_t bytes = 0, i, n;

	p->tiny = 0;
	p->gone = 0;
	p->deepest = 1;
	for (i = 1; i < p->tree.n; i++) {
		const struct call_node *node = &p->tree.node[i];

		if (!node->total) {
			p->gone += node->before;
			i += node->span - 1;
			continue;
		}
		if (node->total < p->least) {
			p->tiny += node->span;
			i += node->span - 1;
			/* The block of those is as high as they would be. */
			if (node->depth > p->deepest)
				p->deepest = node->depth;
			continue;
		}
		n = strnlen(call_node__label(node, &p->labels), LONGEST_NAME);
		bytes += FRAME_BYTES + n;
		n = (size_t)(width_of(p, node->total) / LETTER);
		bytes += n < LONGEST_NAME ? n : LONGEST_NAME;
		if (node->depth > p->deepest)
			p->deepest = node->depth;
	}
	return bytes;
}

/*
 * --- the rest ----------------------------------------------------------------------------------
 */

/* What was measured, and how much of it. */
static void put_summary(const struct picture *p)
{
	const struct report *r = p->report;
	char duration[UNITS_SPACE], number[UNITS_SPACE];
	FILE *f = p->file;

	fprintf(f, "%s, %s %s over %s", r->value, format_count(number, p->stacks->total),
		p->stacks->unit, format_value(duration, r->duration_ns, UNIT_NS, false));
	fputs(", ", f);
	text_put_lost(f, &r->counters);
	if (p->tiny)
		fprintf(f, ", %s tiny frames merged", format_count(number, p->tiny));
	fputs("; ", f);
	put_xml_escaped(f, r->source ?: "");
}

/* What is wide, red, blue, and what cannot be seen. */
static void put_comparison(const struct picture *p)
{
	const struct report_stacks *s = p->stacks;
	char number[UNITS_SPACE];

	fputs("as wide as after; red: a larger share than before, blue: a smaller one; ", p->file);
	fprintf(p->file, "gone, and not drawn: %s %s, %.2f%% of before",
		format_count(number, p->gone), s->unit,
		s->before ? 100.0 * p->gone / s->before : 0);
	if (p->tiny)
		fprintf(p->file, "; %s tiny frames merged", format_count(number, p->tiny));
}

static void put_title(const struct picture *p)
{
	const struct report *r = p->report;
	char number[UNITS_SPACE];

	put_xml_escaped(p->file, r->tool);
	fputs(": ", p->file);
	if (p->stacks->compared) {
		put_comparison(p);
		return;
	}
	fprintf(p->file, "%s, %s %s", r->value, format_count(number, p->stacks->total),
		p->stacks->unit);
	if (p->stacks->callee_first)
		fputs(", callers above", p->file);
	if (r->left_out_by) {
		fprintf(p->file, ", %.1f%% left out by ",
			r->left_out ? 100.0 * r->left_out / (r->left_out + r->chosen) : 0);
		put_xml_escaped(p->file, r->left_out_by);
	}
	if (p->tiny)
		fprintf(p->file, ", %s tiny frames merged", format_count(number, p->tiny));
}

static void put_head(const struct picture *p)
{
	u32 high = ABOVE + (p->deepest + 1) * ROW + BELOW;
	const struct report *r = p->report;
	bool compared = p->stacks->compared;
	FILE *f = p->file;

	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 "
		"0 %d %u\">\n<title>",
		WIDE, high, WIDE, high);
	put_title(p);
	fprintf(f, "</title>\n<style>%s</style>\n<text class=\"%c\" x=\"%d\" y=\"22\">", style,
		compared ? 'q' : 'h', LEFT);
	put_xml_escaped(f, (compared ? r->source : r->command) ?: r->tool);
	fprintf(f, "</text>\n<text class=\"q\" x=\"%d\" y=\"40\">", LEFT);
	if (compared)
		put_comparison(p);
	else
		put_summary(p);
	fprintf(f,
		"</text>\n<foreignObject class=\"js\" x=\"%d\" y=\"44\" width=\"250\" "
		"height=\"20\">"
		"<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"box\" type=\"search\" "
		"placeholder=\"search: regular expression (/)\"/></foreignObject>\n"
		"<text id=\"found\" x=\"%d\" y=\"58\"/>\n"
		"<g id=\"reset\" class=\"js\"><rect x=\"%d\" y=\"46\" width=\"90\" height=\"16\" "
		"fill=\"#fff\"/>"
		"<text x=\"%d\" y=\"58\">reset (Esc)</text></g>\n",
		LEFT, LEFT + 260, WIDE - 100, WIDE - 90);
	fprintf(f, "<text id=\"said\" x=\"%d\" y=\"%u\"/>\n", LEFT, high - 12);
	fprintf(f, "<g id=\"plot\" data-left=\"%d\" data-wide=\"%d\" data-row=\"%d\">\n", LEFT,
		PLOT, ROW);
}

static void find_farthest(struct picture *p)
{
	double d;
	size_t i;

	for (i = 1; i < p->tree.n; i++) {
		d = change(p, &p->tree.node[i]);
		d = d < 0 ? -d : d;
		if (p->tree.node[i].total && d > p->farthest)
			p->farthest = d;
	}
}

static int draw(struct picture *p)
{
	int err;

	if (p->stacks->compared)
		find_farthest(p);
	/* A tenth of a pixel at first. */
	p->least = p->stacks->total / (10 * PLOT) ?: 1;
	while (measure(p) > MOST_BYTES)
		p->least += p->least / 4 ?: 1;
	put_head(p);
	err = p->stacks->total ? put_frames(p) : 0;
	fputs("</g>\n", p->file);
	if (p->stacks->total)
		fprintf(p->file, "<script><![CDATA[\n%s]]></script>\n", flame_script);
	else
		fprintf(p->file, "<text x=\"%d\" y=\"%d\">no %s</text>\n", LEFT, ABOVE + 12,
			p->stacks->unit);
	fputs("</svg>\n", p->file);
	return err;
}

int write_flame(struct writer *w, const struct report *r)
{
	struct picture p = { .file = w->file, .report = r, .stacks = r->stacks };
	int err = stack_labels__make(&p.labels, r->stacks, LABELS_DRAWN);

	if (!err)
		err = call_tree__make(&p.tree, r->stacks, &p.labels);
	if (!err)
		err = draw(&p);
	call_tree__free(&p.tree);
	stack_labels__free(&p.labels);
	return err;
}
