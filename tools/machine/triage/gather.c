// SPDX-License-Identifier: BSD-2-Clause
#include "machine/triage/gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/triage/rules.h"
#include "machine/triage/top.h"

int gathered__begin(struct gathered *g)
{
	g->triage = triage__new(triage_rules, triage_rule_count);
	g->top = triage__new(triage_figures, triage_figure_count);
	return g->triage && g->top ? 0 : -ENOMEM;
}

void gathered__free(struct gathered *g)
{
	triage__free(g->triage);
	triage__free(g->top);
}

void gathered__leave_out(struct gathered *g, u32 pid)
{
	triage__leave_out(g->triage, pid);
	triage__leave_out(g->top, pid);
}

/* Finds or adds the name of a tool. Returns its index, or -1 if there is no room. */
static int index_of(struct gathered *g, const char *tool)
{
	size_t i;

	for (i = 0; i < g->ntools; i++)
		if (!strcmp(g->tool[i], tool))
			return i;
	if (g->ntools == RUN_MOST)
		return -1;
	snprintf(g->tool[g->ntools], sizeof(g->tool[0]), "%s", tool);
	return g->ntools++;
}

static struct triage_loss *loss_of(struct gathered *g, const char *tool)
{
	size_t i;

	for (i = 0; i < g->nlosses; i++)
		if (g->loss[i].tool == tool)
			return &g->loss[i];
	if (g->nlosses == RUN_MOST)
		return NULL;
	g->loss[g->nlosses] = (struct triage_loss){ .tool = tool };
	return &g->loss[g->nlosses++];
}

static void take_losses(struct gathered *g, const char *tool, const struct report *r)
{
	struct triage_loss *l;

	if (!r->measured_ns && (!(r->has_events || r->has_losses) || loss__is_none(&r->counters)))
		return;
	l = loss_of(g, tool);
	if (!l)
		return;
	if (r->measured_ns) {
		l->duration_ns += r->duration_ns;
		l->measured_ns += r->measured_ns;
	}
	l->events += r->events;
	l->lost += loss__of(&r->counters, LOSS_LOST);
	l->inexact += loss__of(&r->counters, LOSS_INEXACT);
}

int gathered__take(struct gathered *g, const struct report *r)
{
	int index = index_of(g, r->tool);

	if (index >= 0)
		take_losses(g, g->tool[index], r);
	if (r->cpus > 0)
		g->cpus = r->cpus;
	return triage__take(g->triage, r) ?: triage__take(g->top, r);
}

void gathered__end(struct gathered *g, u64 start_ns, u64 duration_ns)
{
	if (!g->duration_ns)
		g->start_ns = start_ns;
	g->duration_ns += duration_ns;
}

int gathered__write(struct gathered *g, struct triage_page *p, int cpus, struct writer *w)
{
	struct triage_finding *finding = triage__findings(g->triage, cpus), *figure = triage__findings(g->top, cpus);
	int err = -ENOMEM;

	p->finding = finding;
	p->n = triage_rule_count;
	p->top = (struct triage_top){ triage_top_lines, triage_top_line_count, figure, triage_figure_count };
	if (finding && figure)
		err = triage_page__write(p, w);
	free(finding);
	free(figure);
	return err;
}

void gathered__reset(struct gathered *g)
{
	triage__reset(g->triage);
	triage__reset(g->top);
	g->nlosses = 0;
}
