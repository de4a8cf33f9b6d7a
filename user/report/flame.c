// SPDX-License-Identifier: BSD-2-Clause
/*
 * A flame graph as a standalone SVG file, or as part of a page: callers below, callees above. The width of a frame is
 * proportional to its share. The graph is readable without its script, which adds zoom and search.
 *
 * Frames too narrow to draw are merged, per caller, into one grey block whose title gives their number. The threshold
 * is chosen so that the file stays small.
 *
 * A file of several events has one drawing per event, one below the other; its script shows one at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg/wide.h"
#include "report/flame.h"
#include "report/flame_script.h"
#include "report/imprint.h"
#include "report/incomplete.h"
#include "report/stack_events.h"
#include "report/text.h"
#include "report/tree.h"
#include "report/xml.h"

#define WIDE 1200
#define LEFT 10
#define PLOT (WIDE - 2 * LEFT)
#define ROW 17
#define ABOVE 64                /* title, search */
#define TITLES 44               /* titles, within ABOVE */
#define BELOW 34                /* figures of the selected frame */
#define GAP 0.4                 /* between frames */
#define LETTER 6.6              /* approximate letter width at 11 px */
#define LONGEST_NAME 400        /* longest frame name, in bytes */

#define MOST_BYTES 1700000      /* approximate limit for all frames */
#define FRAME_BYTES 125         /* approximate size of a frame without its name */
#define SHADES 4

const char flame_style[] =
	"svg{background:#fff;font:11px monospace}"
	"text{pointer-events:none;fill:#111}"
	".h{font-size:15px}.q,.said,.found{font-size:12px}"
	".plot g{cursor:pointer}.plot g:hover rect,.selected rect{stroke:#000;stroke-width:1.2}"
	".u0{fill:#f3a35c}.u1{fill:#efb366}.u2{fill:#eb9250}.u3{fill:#f0c070}"
	".k0{fill:#7fb2e5}.k1{fill:#8fbde9}.k2{fill:#72a6dd}.k3{fill:#9cc7ea}"
	".j0{fill:#86c98a}.j1{fill:#94d197}.j2{fill:#79be7e}.j3{fill:#a2d8a1}"
	".i0{fill:#c7a3e0}.i1{fill:#d1b3e6}.i2{fill:#bb93d8}.i3{fill:#dbc3ec}"
	".p0{fill:#e8d35a}.p1{fill:#efdc6e}.p2{fill:#dfc84a}.p3{fill:#f4e48a}"
	".x0{fill:#6fc3bb}.x1{fill:#83cdc5}.x2{fill:#5db6ae}.x3{fill:#9ad8d1}"
	".y0{fill:#9d9bdc}.y1{fill:#aba9e2}.y2{fill:#8f8dd4}.y3{fill:#bbb9ea}"
	".n0,.n1,.n2,.n3{fill:#c9c9d2}.m{fill:#dcdce2}"
	".r0{fill:#fbd9d3}.r1{fill:#f5b0a3}.r2{fill:#ec8069}.r3{fill:#dc4a38}"
	".b0{fill:#d6e4f7}.b1{fill:#a9c8ef}.b2{fill:#76a6e2}.b3{fill:#4180d0}"
	".below rect{opacity:.45}.hit rect{fill:#d6409f}.js{display:none}"
	".reset{cursor:pointer}.reset text{fill:#0645ad}"
	"input{font:12px monospace;width:240px;height:18px;box-sizing:border-box;border:1px solid "
	"#888}"
	"input.bad{border:2px solid #c00}";

struct picture {
	FILE *file;
	const char *host;       /* NULL if unknown */
	const struct report *report;
	const struct report_stacks *stacks;
	char *unit, *value;     /* escaped for markup: recordings are untrusted */
	struct stack_labels labels;
	struct call_tree tree;
	u64 least;              /* smallest total of a frame that is drawn */
	size_t tiny;            /* number of frames below least */
	u64 gone;               /* comparison: earlier total of stacks that no longer occur */
	double farthest;        /* comparison: largest change of a share */
	u32 deepest;            /* deepest level drawn */
	/* nodes before this one are below an off-CPU note; NULL if there is no note */
	const struct call_node *off_cpu_end;
	bool within;            /* part of a page, which provides the style, the script and the heading */
	u32 y;                  /* top of the drawing, in a file of several events */
	u32 high;               /* height of the drawing, once drawn */
	size_t most_bytes;
};

/*
 * --- text --------------------------------------------------------------------------------------
 */

/* Returns the length of the longest prefix of text that has at most limit bytes and splits no UTF-8 sequence. */
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

static u32 above(const struct picture *p)
{
	return p->within ? ABOVE - TITLES : ABOVE;
}

static u32 y_of(const struct picture *p, u32 depth)
{
	return above(p) + (p->deepest - depth) * ROW;
}

static u32 shade(const char *name)
{
	u32 hash = 5381;

	for (; *name; name++)
		hash = hash * 33 ^ (unsigned char)*name;
	return (hash ^ hash >> 7 ^ hash >> 14) % SHADES;
}

/* Returns the growth of a frame's share. */
static double change(const struct picture *p, const struct call_node *node)
{
	double after = p->stacks->total ? (double)node->total / p->stacks->total : 0;

	return after - (p->stacks->before ? (double)node->before / p->stacks->before : 0);
}

static void put_before(const struct picture *p, const struct call_node *node)
{
	char number[UNITS_SPACE];

	fprintf(p->file, "\nbefore: %s %s, %.2f%%; %+.2f points",
		format_count(number, node->before), p->unit,
		p->stacks->before ? 100.0 * node->before / p->stacks->before : 0,
		100 * change(p, node));
}

/* node: NULL for a block of several frames. */
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
		p->unit, 100.0 * value / p->stacks->total);
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

/* Colours growth red and shrinkage blue; larger changes get stronger colours. */
static void set_class_of_change(const struct picture *p, const struct call_node *node, char *class)
{
	double d = change(p, node), of = p->farthest > 0 ? (d < 0 ? -d : d) / p->farthest : 0;

	if (of < 1.0 / 16)
		return;
	class[0] = d > 0 ? 'r' : 'b';
	class[1] = '0' + (of < 0.25 ? 0 : of < 0.5 ? 1 : of < 0.75 ? 2 : 3);
}

/* Off-CPU frames have a palette of their own: one colour for the kernel, one for the rest. */
static char letter_of(struct picture *p, const struct call_node *node)
{
	static const char kinds[FRAME_KINDS] = {
		[FRAME_USER] = 'u', [FRAME_KERNEL] = 'k', [FRAME_JIT] = 'j', [FRAME_INLINED] = 'i',
		[FRAME_NOTE] = 'n', [FRAME_PYTHON] = 'p',
	};
	enum frame_kind kind = call_node__kind(node, p->stacks);

	if (node->frame < p->stacks->nframes && report_frame__is_off_cpu(&p->stacks->frame[node->frame]))
		p->off_cpu_end = node + node->span;
	if (node >= p->off_cpu_end || kind == FRAME_NOTE)
		return kinds[kind];
	return kind == FRAME_KERNEL ? 'y' : 'x';
}

static void put_frame(struct picture *p, const struct call_node *node, u64 at)
{
	const char *name = node->depth ? call_node__label(node, &p->labels) : "all";
	char class[4] = "n0";

	if (p->stacks->compared) {
		set_class_of_change(p, node, class);
	} else if (node->depth) {
		class[0] = letter_of(p, node);
		class[1] = '0' + shade(name);
	}
	put_box(p, class, name, node, node->depth, at, node->total);
}

/* An open node on the path from the root to the current node. */
struct level {
	u64 at;                 /* start of its next child, in samples from the left */
	u64 tiny_value;         /* total of the children that are not drawn */
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

static int put_frames(struct picture *p)
{
	struct level *level = calloc(p->tree.depth + 2, sizeof(*level));
	u32 depth = 0, d;
	size_t i;

	if (!level)
		return -ENOMEM;
	put_frame(p, &p->tree.node[0], 0);
	for (i = 1; i < p->tree.n;) {
		const struct call_node *node = &p->tree.node[i];

		/* Draw the tiny-frame blocks of the levels that end here. */
		for (; depth >= node->depth; depth--)
			put_tiny(p, &level[depth], depth);
		d = node->depth;
		if (!node->total) {             /* the stack no longer occurs: see measure() */
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

/*
 * Returns the approximate size, in bytes, of all frames of at least p->least. Also counts the smaller frames and finds
 * the height.
 */
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
			/* The block of tiny frames is one level high. */
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

/* Writes the total: "1,204 samples", or a time in a fitting unit. */
static void put_total(const struct picture *p)
{
	const u64 total = p->stacks->total;
	char number[UNITS_SPACE];

	if (p->stacks->unit && !strcmp(p->stacks->unit, "ns"))
		fputs(format_value(number, total, UNIT_NS, false), p->file);
	else
		fprintf(p->file, "%s %s", format_count(number, total), p->unit);
}

/* Writes the heading: the measured figure and its total. */
static void put_summary(const struct picture *p)
{
	const struct report *r = p->report;
	char when[REPORT_NOTE_SPACE], number[UNITS_SPACE];
	FILE *f = p->file;

	fprintf(f, "%s, ", p->value);
	put_total(p);
	fprintf(f, "%s, ", report__when(r, when));
	text_put_lost(f, &r->counters);
	put_incomplete(f, p->stacks, 0);
	if (p->tiny)
		fprintf(f, ", %s tiny frames merged", format_count(number, p->tiny));
	fputs("; ", f);
	put_xml_escaped(f, r->source ?: "");
}

/* Writes the legend of a comparison: the meaning of width, red and blue, and the total that is not drawn. */
static void put_comparison(const struct picture *p)
{
	const struct report_stacks *s = p->stacks;
	char number[UNITS_SPACE];

	fputs("widths show after; red: a larger share than before, blue: a smaller share; ", p->file);
	fprintf(p->file, "only in before, not drawn: %s %s, %.2f%% of before",
		format_count(number, p->gone), p->unit,
		s->before ? 100.0 * p->gone / s->before : 0);
	put_incomplete(p->file, s, 0);
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
	fprintf(p->file, "%s, ", p->value);
	put_total(p);
	if (p->stacks->callee_first)
		fputs(", callers above", p->file);
	put_incomplete(p->file, p->stacks, 0);
	if (r->left_out_by) {
		fprintf(p->file, ", %.1f%% left out by ",
			r->left_out ? 100.0 * r->left_out / (r->left_out + r->chosen) : 0);
		put_xml_escaped(p->file, r->left_out_by);
	}
	if (p->tiny)
		fprintf(p->file, ", %s tiny frames merged", format_count(number, p->tiny));
}

/* Writes the head of a standalone file. */
static void put_file_head(const struct picture *p, u32 high)
{
	const struct report *r = p->report;
	bool compared = p->stacks->compared;
	FILE *f = p->file;

	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 "
		"0 %d %u\">\n<title>",
		WIDE, high, WIDE, high);
	put_title(p);
	fprintf(f, "</title>\n<style>%s</style>\n<text class=\"%c\" x=\"%d\" y=\"22\">", flame_style,
		compared ? 'q' : 'h', LEFT);
	put_xml_escaped(f, (compared ? r->source : r->command) ?: r->tool);
	fprintf(f, "</text>\n<text class=\"q\" x=\"%d\" y=\"40\">", LEFT);
	if (compared)
		put_comparison(p);
	else
		put_summary(p);
	fprintf(f, "</text>\n<text class=\"q\" x=\"%d\" y=\"%d\" text-anchor=\"end\">", WIDE - 110, ABOVE - 6);
	put_imprint(f, p->host, r);
	fputs("</text>\n", f);
}

static void put_part_head(const struct picture *p, u32 high)
{
	fputs("<svg ", p->file);
	if (p->y)
		fprintf(p->file, "class=\"part\" y=\"%u\" ", p->y);
	fprintf(p->file, "width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" tabindex=\"0\" role=\"group\" aria-label=\"",
		WIDE, high, WIDE, high);
	fputs("flame graph of ", p->file);
	put_title(p);
	fputs("\">\n", p->file);
}

static void put_head(struct picture *p)
{
	u32 high = above(p) + (p->deepest + 1) * ROW + BELOW, top = above(p) - (ABOVE - TITLES);
	FILE *f = p->file;

	p->high = high;
	if (p->within)
		put_part_head(p, high);
	else
		put_file_head(p, high);
	fprintf(f,
		"<foreignObject class=\"js\" x=\"%d\" y=\"%u\" width=\"250\" "
		"height=\"20\">"
		"<input xmlns=\"http://www.w3.org/1999/xhtml\"%s type=\"search\" aria-label=\"search the flame graph\" "
		"placeholder=\"search: regular expression (/)\"/></foreignObject>\n"
		"<text%s class=\"found\" x=\"%d\" y=\"%u\"/>\n"
		"<g%s class=\"reset js\"><rect x=\"%d\" y=\"%u\" width=\"90\" height=\"16\" "
		"fill=\"#fff\"/>"
		"<text x=\"%d\" y=\"%u\">reset (Esc)</text></g>\n",
		LEFT, top, p->within ? "" : " id=\"box\"", p->within ? "" : " id=\"found\"", LEFT + 260, top + 14,
		p->within ? "" : " id=\"reset\"", WIDE - 100, top + 2, WIDE - 90, top + 14);
	fprintf(f, "<text%s class=\"said\" x=\"%d\" y=\"%u\"/>\n", p->within ? "" : " id=\"said\"", LEFT, high - 12);
	fprintf(f, "<g%s class=\"plot\" data-left=\"%d\" data-wide=\"%d\" data-row=\"%d\">\n",
		p->within ? "" : " id=\"plot\"", LEFT, PLOT, ROW);
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
	/* The initial threshold is a tenth of a pixel. */
	p->least = p->stacks->total / (10 * PLOT) ?: 1;
	while (measure(p) > p->most_bytes)
		p->least += p->least / 4 ?: 1;
	put_head(p);
	err = p->stacks->total ? put_frames(p) : 0;
	fputs("</g>\n", p->file);
	if (!p->stacks->total)
		fprintf(p->file, "<text x=\"%d\" y=\"%u\">no %s</text>\n", LEFT, above(p) + 12,
			p->unit);
	else if (!p->within)
		fprintf(p->file, "<script><![CDATA[\n%sflame(document.documentElement, document);\n]]></script>\n",
			flame_script);
	fputs("</svg>\n", p->file);
	return err;
}

static char *marked_up(const char *text)
{
	char *out = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&out, &n);

	if (!f)
		return NULL;
	put_xml_escaped(f, text);
	if (!fclose(f))
		return out;
	free(out);
	return NULL;
}

static int draw_stacks(struct picture *p)
{
	int err = stack_labels__make(&p->labels, p->stacks, LABELS_DRAWN);

	p->unit = marked_up(p->stacks->unit ?: "");
	p->value = marked_up(p->report->value ?: "");
	if (!p->unit || !p->value)
		err = -ENOMEM;
	if (!err)
		err = call_tree__make(&p->tree, p->stacks, &p->labels);
	if (!err)
		err = draw(p);
	call_tree__free(&p->tree);
	stack_labels__free(&p->labels);
	free(p->unit);
	free(p->value);
	return err;
}

/*
 * --- several events ----------------------------------------------------------------------------
 */

#define SWITCH 40               /* height of the title and the switch */
#define SWITCH_STYLE \
	".switch{cursor:pointer}.switch rect{fill:#e8e8ee;stroke:#888}.switch.shown rect{fill:#fff;stroke:#000}"

struct part {
	char *text;             /* the drawing */
	size_t n;
	u32 high;
};

/* Draws one event into memory. */
static int draw_part(struct part *part, const struct report *r, size_t event, u32 y)
{
	struct report one;
	struct picture p = { .y = y, .within = true, .most_bytes = MOST_BYTES / r->stacks->nevents };
	int err = stack_events__one(&one, r, event);

	p.file = err ? NULL : open_memstream(&part->text, &part->n);
	p.report = &one;
	p.stacks = one.stacks;
	if (!err)
		err = p.file ? draw_stacks(&p) : -ENOMEM;
	if (p.file && fclose(p.file) && !err)
		err = -ENOMEM;
	part->high = p.high;
	stack_events__free(&one);
	return err;
}

/* Writes the head of the file: the command, and a button and a heading for each event. */
static void put_several_head(FILE *f, const char *host, const struct report *r, u32 high)
{
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n<title>",
		WIDE, high, WIDE, high);
	put_xml_escaped(f, r->command ?: r->tool);
	fprintf(f, "</title>\n<style>%s" SWITCH_STYLE "</style>\n<text class=\"h\" x=\"%d\" y=\"22\">", flame_style,
		LEFT);
	put_xml_escaped(f, r->command ?: r->tool);
	fprintf(f, "</text>\n<text class=\"q\" x=\"%d\" y=\"%d\">", LEFT, SWITCH);
	put_xml_escaped(f, r->source ?: "");
	fputs(", ", f);
	text_put_lost(f, &r->counters);
	fprintf(f, "</text>\n<text class=\"q\" x=\"%d\" y=\"22\" text-anchor=\"end\">", WIDE - LEFT);
	put_imprint(f, host, r);
	fputs("</text>\n", f);
}

/* Writes a label such as "cs: 1,204 events" above the drawing; the script turns it into a button. */
static void put_switch(FILE *f, const struct report_stacks *s, size_t event, u32 y)
{
	const struct report_event *e = &s->event[event];
	char number[UNITS_SPACE];

	fprintf(f,
		"<g class=\"switch\"><rect x=\"%d\" y=\"%u\" width=\"400\" height=\"18\"/><text class=\"q\" x=\"%d\" y=\"%u\">",
		LEFT, y, LEFT + 6, y + 13);
	put_xml_escaped(f, e->name);
	fprintf(f, ": %s ", format_count(number, e->total));
	put_xml_escaped(f, e->unit);
	put_incomplete(f, s, event);
	fputs("</text></g>\n", f);
}

#define HEADING 24              /* height of a drawing's heading */

static int write_several(FILE *f, const char *host, const struct report *r)
{
	const struct report_stacks *s = r->stacks;
	struct part part[REPORT_MOST_EVENTS] = {};
	u32 y = SWITCH + 10, high = y;
	size_t i;
	int err = s->nevents > REPORT_MOST_EVENTS ? -EINVAL : 0;

	for (i = 0; i < s->nevents && !err; i++) {
		err = draw_part(&part[i], r, i, high + HEADING);
		high += HEADING + part[i].high;
	}
	if (!err)
		put_several_head(f, host, r, high);
	for (i = 0; i < s->nevents && !err; i++) {
		put_switch(f, s, i, y);
		fwrite(part[i].text, 1, part[i].n, f);
		y += HEADING + part[i].high;
	}
	if (!err)
		fprintf(f, "<script><![CDATA[\n%s%s\n]]></script>\n</svg>\n", flame_script, flame_switch_script);
	for (i = 0; i < s->nevents; i++)
		free(part[i].text);
	return err;
}

int write_flame(struct writer *w, const struct report *r)
{
	struct picture p = { .file = w->file, .host = w->host, .report = r, .stacks = r->stacks,
			     .most_bytes = MOST_BYTES };

	return r->stacks->nevents ? write_several(w->file, w->host, r) : draw_stacks(&p);
}

static int put_each(FILE *f, const struct report *r, size_t most_bytes)
{
	struct report one;
	size_t i;
	int err = 0;

	for (i = 0; i < r->stacks->nevents && !err; i++) {
		err = stack_events__one(&one, r, i);
		if (!err) {
			fputs("<h4>", f);
			put_xml_escaped(f, one.value);
			put_incomplete(f, one.stacks, 0);
			fputs("</h4>\n", f);
			err = put_flame(f, &one, most_bytes / r->stacks->nevents);
		}
		stack_events__free(&one);
	}
	return err;
}

int put_flame(FILE *f, const struct report *r, size_t most_bytes)
{
	struct picture p = { .file = f, .report = r, .stacks = r->stacks, .most_bytes = most_bytes, .within = true };

	return r->stacks->nevents ? put_each(f, r, most_bytes) : draw_stacks(&p);
}

void put_flame_script(FILE *f)
{
	fputs(flame_script, f);
}
