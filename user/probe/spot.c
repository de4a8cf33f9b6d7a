// SPDX-License-Identifier: BSD-2-Clause
#include "probe/spot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diag.h"
#include "probe/saved.h"
#include "probe/sides.h"

size_t probe_side__first_of_event(const struct probe_side *s, size_t i)
{
	while (i && s->sites.site[i - 1].event == s->sites.site[i].event)
		i--;
	return i;
}

/* Names that the probe itself defines precede those of other probes. */
static int add_aliases(struct spot *spot, const struct probe_plan *p, size_t definition)
{
	size_t i, first = 0, n = 0;

	spot->alias = calloc(2 * p->naliases + 1, sizeof(*spot->alias));
	if (!spot->alias)
		return -ENOMEM;
	for (i = 0; i < definition && i < p->ndefinitions; i++)
		first += p->definition[i].n;
	for (i = 0; definition < p->ndefinitions && i < p->definition[definition].n; i++)
		spot->alias[n++] = p->alias[first + i];
	for (i = 0; i < p->naliases; i++)
		spot->alias[n++] = p->alias[i];
	spot->place.alias = spot->alias;
	spot->place.naliases = n;
	return 0;
}

static bool is_given_before(const struct probe_definition *d, size_t before, const char *name)
{
	size_t i;

	for (i = 0; i < before; i++)
		if (d->argument[i].is_named && !strcmp(d->argument[i].name, name))
			return true;
	return false;
}

/*
 * Returns the first name in e that the event itself has, and that is only given to something else after argument i;
 * NULL if there is none.
 */
static const char *ambiguous_name(const struct place *p, const struct probe_definition *d, size_t i,
				  const struct expr *e)
{
	if (!e)
		return NULL;
	if (e->op == EXPR_NAME)
		return place__stands_for_other(p, e) && place__has_itself(p, e->text) &&
				       !is_given_before(d, i, e->text) ? e->text : NULL;
	return ambiguous_name(p, d, i, e->left) ?: ambiguous_name(p, d, i, e->right);
}

/* In `f x=n n=p->n`, where f has an argument n, x is ambiguous. In `f n=p->n x=n`, x is the member, as in filters. */
static int check_names(const struct spot *spot, const struct probe_plan *p, size_t definition)
{
	const struct probe_definition *d = definition < p->ndefinitions ? &p->definition[definition] : NULL;
	const char *name;
	size_t i;

	for (i = 0; d && i < d->n; i++) {
		name = ambiguous_name(&spot->place, d, i, d->argument[i].expr);
		if (!name)
			continue;
		diag_error("'%s=%s': %s has its own '%s', and the name is also given to something else",
			   d->argument[i].name,
			   d->argument[i].text, spot->place.event, name);
		diag_hint("rename the other one, as in %s_=..., or put it first if you mean it", name);
		return -EINVAL;
	}
	return 0;
}

void spot__free(struct spot *spot)
{
	site_place__free(&spot->place, &spot->format);
	free(spot->alias);
	*spot = (struct spot){};
}

static int make_place(struct spot *spot, struct probe_plan *p, const struct probe_side *s, size_t i)
{
	/* Before probe_plan__choose(), assume registers: only the names matter then. */
	enum attach_way way = s->attachments.way ? s->attachments.way[i] : ATTACH_KPROBE;

	*spot = (struct spot){};
	return site_place__make(&spot->place, &spot->format, &s->sites.site[i], way, &p->known);
}

/* Adds the arguments that a return needs, as declared at the entry. */
static int add_saved(struct spot *end, struct probe_plan *p, size_t i)
{
	struct spot begin;
	int err = make_place(&begin, p, &p->side[PROBE_BEGIN], p->side[PROBE_END].slot[i]);

	if (!err)
		err = probe_saved__add_to_end(&end->place, &begin.place, p);
	spot__free(&begin);
	return err;
}

int spot__make(struct spot *spot, struct probe_plan *p, enum probe_side_name side, size_t i)
{
	struct probe_side *s = &p->side[side];
	const struct event_site *site = &s->sites.site[i];
	int err = make_place(spot, p, s, i);

	/* Entries save the arguments themselves, so aliases do not apply. */
	if (!err && !(p->returns && side == PROBE_BEGIN))
		err = add_aliases(spot, p, s->definition[site->event - s->events.event]);
	if (!err && check_names(spot, p, s->definition[site->event - s->events.event])) {
		spot__free(spot);
		return -EINVAL;
	}
	if (!err && side == PROBE_END)
		err = side__add_kept(&spot->place, p);
	if (!err && p->returns && side == PROBE_END)
		err = add_saved(spot, p, i);
	else if (!err && p->returns)
		probe_saved__prepare_begin(&spot->place, p);
	if (err) {
		diag_error("cannot read the fields of %s: %s", site->name, strerror(-err));
		spot__free(spot);
		return err;
	}
	spot->place.hierarchy = p->hierarchy;
	spot->place.has_goroutine &= probe_plan__is_by_goroutine(p);
	spot->place.is_end = p->spans && !p->returns && side == PROBE_END;
	spot->place.by_site = p->by_site;
	spot->place.number = p->calls && side == PROBE_END ?
				     probe_side__first_of_event(&p->side[PROBE_BEGIN], s->slot[i]) :
				     probe_side__first_of_event(s, i);
	return 0;
}
