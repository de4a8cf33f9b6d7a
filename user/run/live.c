// SPDX-License-Identifier: BSD-2-Clause
#include "run/live.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/arrange.h"
#include "report/screen.h"
#include "report/terminal.h"
#include "report/text.h"

#define MOST_KEYS 64
#define HELP_LINES 8
#define HEAD_TEXTS 6
#define PANE_LINES 12           /* smaller panes show too little: in that case, some are not shown */

static const char help[] =
	"q      quit and print the last report\n"
	"s      sort by the next column\n"
	"r      reverse the order\n"
	"n, b   show the next or the previous rows\n"
	"p      pause the screen; the measurement continues, interval by interval\n"
	"space  end the interval now and show it\n"
	"h, ?   show or hide this help\n";
static const char help_of_several[] = "tab    put the next measurement on top; s, r, n and b apply to it\n";

/* The part of the screen that shows a measurement. */
struct pane {
	const struct cli *cli;  /* of the measurement; identifies the pane */
	struct report report;   /* on the screen, in its order */
	char *head[HEAD_TEXTS]; /* copies of its texts, since the next report may replace the originals */
	bool has_report;        /* the report can be shown again, in another order or size */
	char *text;             /* the text of a report that cannot be shown again */
	bool milliseconds, timestamps, brief;   /* see struct writer */
	char *name;             /* sort column; NULL: in the tool's order */
	bool reversed;
	size_t first;           /* row on top of the pane */
};

struct live {
	struct screen screen;
	const struct cli *cli;
	struct pane *pane;      /* in the order of their first reports */
	size_t n, top;          /* top: index of the uppermost pane */
	bool paused, has_help;
};

int live__new(struct live **live, const struct cli *cli)
{
	struct live *l;
	int err = screen__check();

	if (err)
		return err;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->cli = cli;
	err = screen__init(&l->screen, !cli->command);
	if (err)
		live__free(l);
	else
		*live = l;
	return err;
}

static void forget(struct pane *p)
{
	size_t i;

	report__free(&p->report);
	for (i = 0; i < HEAD_TEXTS; i++) {
		free(p->head[i]);
		p->head[i] = NULL;
	}
}

void live__free(struct live *l)
{
	size_t i;

	if (!l)
		return;
	screen__free(&l->screen);
	for (i = 0; i < l->n; i++) {
		forget(&l->pane[i]);
		free(l->pane[i].name);
		free(l->pane[i].text);
	}
	free(l->pane);
	free(l);
}

static struct pane *find(struct live *l, const struct cli *cli)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->pane[i].cli == cli)
			return &l->pane[i];
	return NULL;
}

static struct pane *find_or_add(struct live *l, const struct cli *cli)
{
	struct pane *p = find(l, cli);

	if (p)
		return p;
	if (ARRAY_ROOM(l->pane, l->n))
		return NULL;
	l->pane[l->n] = (struct pane){ .cli = cli };
	return &l->pane[l->n++];
}

/* Returns the pane that keys apply to, or NULL if its report cannot be shown again. */
static struct pane *on_top(const struct live *l)
{
	return l->n && l->pane[l->top].has_report ? &l->pane[l->top] : NULL;
}

/*
 * --- what is shown -----------------------------------------------------------------------------
 */

/* Writes the sort order, in the words of the table's headings. */
static int put_order(const struct live *l, FILE *f)
{
	const struct pane *p = on_top(l);
	char *heading;

	if (!p || !arrange__column(&p->report, 0))
		return 0;
	heading = text_heading(p->name ?: "as usual");
	if (!heading)
		return -ENOMEM;
	fprintf(f, "  s sorts: %s%s  r reverses", heading, p->reversed ? ", reversed" : "");
	free(heading);
	return 0;
}

static int put_keys(const struct live *l, FILE *f)
{
	const struct terminal t = terminal__of_output();
	int err;

	if (!l->screen.has_keys) {
		fputs(l->cli->command ? "Ctrl-C ends; the command has the keyboard" : "Ctrl-C ends", f);
		return 0;
	}
	if (l->paused)
		fprintf(f, "%sPAUSED%s  p resumes  q quits", terminal_style(&t, STYLE_ALARM),
			terminal_style(&t, STYLE_PLAIN));
	else
		fputs("q quits  p pauses", f);
	if (l->n > 1)
		fputs("  tab next", f);
	err = put_order(l, f);
	fputs("  h help", f);
	return err;
}

/* Formats the lines below the report, without the last newline. */
static char *lines_below(const struct live *l)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int err;

	if (!f)
		return NULL;
	if (l->has_help)
		fprintf(f, "%s%s", l->n > 1 ? help_of_several : "", help);
	err = put_keys(l, f);
	if (!fclose(f) && !err)
		return text;
	free(text);
	return NULL;
}

/* Skips rows of the table, but not its totals. */
static void skip_rows(struct report *view, size_t n)
{
	view->row += n;
	view->nrows -= n;
	view->hidden += n;
}

/* Omits the source and the notes, which are printed below the last report. */
static int render(const struct live *l, const struct pane *p, const struct report *r, size_t lines, char **text)
{
	struct report view;
	struct writer w = {
		.format = FORMAT_TEXT, .terminal = terminal__of_output(), .milliseconds = p->milliseconds,
		.timestamps = p->timestamps, .brief = p->brief,
	};
	struct report_row *rows;
	size_t n;
	int err = arrange__view(&view, r, p->cli->live_top);

	if (err)
		return err;
	rows = view.row;
	skip_rows(&view, p->first);
	w.more = l->screen.has_keys ? "n next, b back" : NULL;
	view.source = view.caveat = view.no_table = NULL;
	w.terminal.rows = lines;
	w.file = open_memstream(text, &n);
	err = w.file ? write_text(&w, &view) : -ENOMEM;
	if (w.file && fclose(w.file) && !err)
		err = -ENOMEM;
	free(rows);
	return err;
}

/* Writes at most `most` lines of the text. Returns the number of lines written. */
static size_t put_lines(FILE *f, const char *text, size_t most)
{
	size_t n = 0, len;

	for (; *text && n < most; text += len + (text[len] == '\n'), n++) {
		len = strcspn(text, "\n");
		if (n + 1 == most && text[len] && text[len + 1])
			fputs("...\n", f);
		else
			fprintf(f, "%.*s\n", (int)len, text);
	}
	return n;
}

static int put_pane(const struct live *l, const struct pane *p, FILE *f, size_t lines, size_t *left)
{
	char *text = NULL;
	int err;

	if (!p->has_report) {
		*left -= put_lines(f, p->text ?: "", lines);
		return 0;
	}
	err = render(l, p, &p->report, lines, &text);
	if (!err)
		*left -= put_lines(f, text, lines);
	free(text);
	return err;
}

static size_t lines_for_panes(const struct live *l)
{
	size_t lines = terminal__of_output().rows, below = 1 + (l->has_help ? HELP_LINES : 0);

	return lines > below + PANE_LINES ? lines - below : PANE_LINES;
}

/*
 * Writes panes one below the other, beginning with the top one. Each gets an equal share of the lines that the panes
 * before it left.
 */
static int put_panes(const struct live *l, FILE *f)
{
	size_t left = lines_for_panes(l), shown = left / PANE_LINES, i;
	int err = 0;

	if (shown > l->n)
		shown = l->n;
	for (i = 0; i < shown && !err; i++) {
		if (i) {
			fputc('\n', f);
			left--;
		}
		err = put_pane(l, &l->pane[(l->top + i) % l->n], f, left / (shown - i), &left);
	}
	return err;
}

/* Writes all panes. A single pane has the whole screen, which cuts it to size. */
static int put_all(const struct live *l, FILE *f)
{
	const struct pane *p = l->pane;
	struct terminal t = terminal__of_output();
	size_t lines = l->has_help && t.rows > HELP_LINES ? t.rows - HELP_LINES : t.rows;
	char *text = NULL;
	int err = 0;

	if (l->n > 1)
		return put_panes(l, f);
	if (l->n && p->has_report)
		err = render(l, p, &p->report, lines, &text);
	if (!err)
		fputs(text ?: l->n && p->text ? p->text : "waiting for the first report\n", f);
	free(text);
	return err;
}

static int draw(struct live *l)
{
	char *text = NULL, *below;
	size_t n;
	FILE *f;
	int err;

	if (!screen__open(&l->screen))
		return 0;
	below = lines_below(l);
	f = open_memstream(&text, &n);
	err = below && f ? put_all(l, f) : -ENOMEM;
	if (f && fclose(f))
		err = -ENOMEM;
	if (!err)
		screen__show(&l->screen, text, below);
	free(text);
	free(below);
	return err;
}

/* Copies the texts, because the report remains on the screen while the next one is made. */
static int copy_head(struct pane *p)
{
	struct report *r = &p->report;
	const char **text[HEAD_TEXTS] = { &r->source, &r->caveat, &r->value, &r->metric, &r->nothing,
						&r->left_out_by };
	size_t i;

	for (i = 0; i < HEAD_TEXTS; i++) {
		p->head[i] = *text[i] ? strdup(*text[i]) : NULL;
		if (*text[i] && !p->head[i])
			return -ENOMEM;
		*text[i] = p->head[i];
	}
	return 0;
}

static void stay_within(struct pane *p)
{
	size_t rows = arrange__rows(&p->report, p->cli->live_top);

	if (p->first >= rows)
		p->first = rows ? rows - 1 : 0;
}

/*
 * Keeps a report for the screen. Reports with stacks are kept as text, because their frames are borrowed and change
 * with the next report.
 */
static int keep(struct live *l, struct pane *p, struct report *r)
{
	char *text = NULL;
	int err = 0;

	p->has_report = !r->stacks && !r->listings;
	if (!p->has_report)
		err = render(l, p, r, lines_for_panes(l), &text);
	free(p->text);
	p->text = text;
	forget(p);
	if (!p->has_report)
		return err;
	arrange__sort(r, p->name, p->reversed);
	p->report = *r;
	memset(r, 0, sizeof(*r));
	stay_within(p);
	return copy_head(p);
}

int live__show(struct live *l, const struct cli *cli, const struct writer *w, struct report *r)
{
	struct pane *p = find_or_add(l, cli);
	int err;

	if (!p)
		return -ENOMEM;
	if (l->paused && (p->has_report || p->text))
		return 0;
	p->milliseconds = w->milliseconds;
	p->timestamps = w->timestamps;
	p->brief = w->brief;
	err = keep(l, p, r);
	return err ?: draw(l);
}

void live__begin(struct live *l)
{
	if (draw(l))
		return;         /* no memory: the first report says so */
}

const struct report *live__leave(struct live *l, const struct cli *cli, struct report *last)
{
	const struct pane *p = find(l, cli);

	live__end(l);
	if (last && p)
		arrange__sort(last, p->name, p->reversed);
	return p && p->has_report ? &p->report : NULL;
}

void live__end(struct live *l)
{
	screen__close(&l->screen);
}

/*
 * --- keys --------------------------------------------------------------------------------------
 */

int live__fd(const struct live *l)
{
	return l && l->screen.has_keys ? 0 : -1;
}

/* Sorts by the column after the current one, or by the first. */
static void sort_by_next(struct pane *p)
{
	const char *next = arrange__column(&p->report, 0), *column;
	size_t i;

	for (i = 0; p->name && (column = arrange__column(&p->report, i)); i++)
		if (!strcmp(column, p->name)) {
			next = arrange__column(&p->report, i + 1) ?: next;
			break;
		}
	free(p->name);
	p->name = next ? strdup(next) : NULL;
	arrange__sort(&p->report, p->name, p->reversed);
}

static void reverse(struct pane *p)
{
	p->reversed = !p->reversed;
	arrange__sort(&p->report, p->name, p->name ? p->reversed : true);
}

/* Moves by half a screen, at most to the last row. */
static void page(struct pane *p, bool back)
{
	size_t step = terminal__of_output().rows / 2;

	if (back)
		p->first -= p->first < step ? p->first : step;
	else
		p->first += step;
	stay_within(p);
}

/* Applies a key to the top pane. */
static void arrange_pane(struct pane *p, char key)
{
	if (!p)
		return;
	if (key == 's')
		sort_by_next(p);
	else if (key == 'r')
		reverse(p);
	else
		page(p, key == 'b');
}

static enum live_request take_key(struct live *l, char key)
{
	switch (key) {
	case 'q':
		return LIVE_QUIT;
	case 's':
	case 'r':
	case 'n':
	case 'b':
		arrange_pane(on_top(l), key);
		return LIVE_NOTHING;
	case '\t':
		l->top = l->n ? (l->top + 1) % l->n : 0;
		return LIVE_NOTHING;
	case 'p':
		l->paused = !l->paused;
		return LIVE_NOTHING;
	case 'h':
	case '?':
		l->has_help = !l->has_help;
		return LIVE_NOTHING;
	case ' ':
		return l->paused ? LIVE_NOTHING : LIVE_NOW;
	default:
		return LIVE_NOTHING;
	}
}

enum live_request live__take_keys(struct live *l)
{
	enum live_request all = LIVE_NOTHING, one;
	char keys[MOST_KEYS];
	ssize_t n = screen__read(&l->screen, keys, sizeof(keys)), i;

	if (n < 0)
		return LIVE_QUIT;
	for (i = 0; i < n; i++) {
		one = take_key(l, keys[i]);
		if (one > all)
			all = one;
	}
	if (n && all == LIVE_NOTHING && draw(l))
		return LIVE_QUIT;
	return all;
}

void live__take_signal(struct live *l, int sign)
{
	if (sign == SIGTSTP)
		screen__stop(&l->screen);
	else if (sign == SIGCONT)
		screen__again(&l->screen);
	if (draw(l))
		return;         /* no memory: the next report says so */
}
