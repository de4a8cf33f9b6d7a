// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events of the PMUs in sysfs: PMU/TERM,TERM=NUMBER/, where a term is an event of the PMU, a field
 * of its configuration, or a general term; and PMU events by their bare name.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "event/event.h"
#include "event/pmu_terms.h"
#include "event/sysfs.h"

/* Offsets in the word of the parts of PMU/terms/modifiers, or of EVENT:modifiers without a PMU. */
struct spec {
	size_t pmu_len;
	size_t terms, terms_end;
	size_t modifiers;       /* the word's length if it has none */
	bool is_bare;
	bool is_closed;         /* has the second slash */
};

/* --- the word ------------------------------------------------------------------------------- */

static void split(struct spec *s, const struct event_word *w)
{
	const char *slash = memchr(w->text, '/', w->len), *close;

	*s = (struct spec){ .is_bare = !slash, .is_closed = true };
	if (s->is_bare) {
		event_word__base(w, &s->terms_end);
		s->modifiers = s->terms_end < w->len ? s->terms_end + 1 : w->len;
		return;
	}
	s->pmu_len = slash - w->text;
	s->terms = s->pmu_len + 1;
	close = memchr(slash + 1, '/', w->len - s->terms);
	s->is_closed = close;
	s->terms_end = close ? (size_t)(close - w->text) : w->len;
	s->modifiers = close ? s->terms_end + 1 : w->len;
}

/* Finds the PMUs of the spec. */
static int find_pmus(struct pmus *found, const struct event_context *ctx,
		     const struct event_word *w, const struct spec *s)
{
	char *name;
	int err;

	*found = (struct pmus){};
	name = event_word__copy(w, 0, s->is_bare ? s->terms_end : s->pmu_len);
	if (!name)
		return -ENOMEM;
	if (s->is_bare)
		err = pmus__find_event(found, ctx, name);
	else
		err = pmus__find(found, ctx, name);
	free(name);
	return err;
}

static bool pmu_exists(const struct event_context *ctx, const struct event_word *w,
		       const struct spec *s)
{
	struct pmus found;
	bool exists;

	if (find_pmus(&found, ctx, w, s))
		return false;
	exists = found.n;
	pmus__free(&found);
	return exists;
}

/* True if only modifiers, with or without a colon, follow the second slash. */
static bool ends_like_pmu(const struct event_word *w, size_t from)
{
	size_t i;

	for (i = from; i < w->len; i++)
		if (!isalpha((unsigned char)w->text[i]) && !(i == from && w->text[i] == ':'))
			return false;
	return true;
}

static bool pmu__claims(const struct event_context *ctx, const struct event_word *w)
{
	struct spec s;
	size_t len;

	split(&s, w);
	if (s.is_bare)
		return event_word__base(w, &len) && pmu_exists(ctx, w, &s);
	if (!s.pmu_len || strchr(".~", w->text[0]) || memchr(w->text, ':', s.pmu_len))
		return false;
	if (s.is_closed && ends_like_pmu(w, s.modifiers))
		return true;
	/* Paths contain slashes too, and a colon before the function. */
	return (s.is_closed || !memchr(w->text, ':', w->len)) && pmu_exists(ctx, w, &s);
}

/* --- complaints ----------------------------------------------------------------------------- */

static int no_memory(const struct event_word *w, struct complaint *c)
{
	return complain(c, -ENOMEM, w->at, w->len, "no memory");
}

static int no_pmu(const struct event_context *ctx, const struct event_word *w,
		  const struct spec *s, struct complaint *c)
{
	int err = complain(c, -EINVAL, w->at, s->pmu_len, "this machine has no PMU '%.*s'",
			   (int)(s->pmu_len < 100 ? s->pmu_len : 100), w->text);
	struct pmu_names names = {};
	struct pmus all;
	const char *near = NULL;
	char *name = event_word__copy(w, 0, s->pmu_len);
	size_t i;

	if (!name || pmus__find(&all, ctx, NULL)) {
		free(name);
		return err;
	}
	names.name = calloc(all.n ?: 1, sizeof(*names.name));
	for (i = 0; names.name && i < all.n; i++)
		names.name[names.n++] = all.pmu[i].name;
	if (names.n)
		near = nearest(name, (const char *const *)names.name, names.n);
	if (near)
		complain_hint(c, 0, "did you mean %s? ", near);
	complain_names(c, "there are ", &names);
	free(names.name);
	pmus__free(&all);
	free(name);
	return err;
}

/* --- parse ------------------------------------------------------------------------------------ */

/* A bare event name must belong to one PMU, or to several PMUs of one kind. */
static int check_bare(const struct pmus *found, const struct event_word *w, const struct spec *s,
		      struct complaint *c)
{
	size_t i;

	for (i = 1; i < found->n; i++)
		if (!pmu__is_sibling(&found->pmu[0], &found->pmu[i]))
			return complain_hint(c, complain(c, -EINVAL, w->at, s->terms_end,
				"'%.*s' is an event of several PMUs", (int)s->terms_end, w->text),
				"write %s/%.*s/ or %s/%.*s/", found->pmu[0].name, (int)s->terms_end,
				w->text, found->pmu[i].name, (int)s->terms_end, w->text);
	return 0;
}

static int parse_modifiers(struct event *e, const struct event_word *w, const struct spec *s,
			   struct complaint *c)
{
	size_t from = s->modifiers;

	if (!s->is_bare && from < w->len && w->text[from] == ':')
		from++;
	if (from < w->len || w->text[w->len - 1] == ':')
		return event__parse_modifiers(e, w, from, c);
	return 0;
}

static int pmu__parse(struct event *e, const struct event_context *ctx, const struct event_word *w,
		      struct complaint *c)
{
	struct pmu_setting set = {};
	struct pmus found;
	struct spec s;
	int err;

	split(&s, w);
	err = find_pmus(&found, ctx, w, &s);
	if (err)
		return complain(c, err, w->at, w->len, "cannot read the PMUs from sysfs");
	if (!found.n) {
		err = no_pmu(ctx, w, &s, c);
		goto out;
	}
	if (!s.is_closed) {
		err = complain(c, -EINVAL, w->at + s.pmu_len, 1, "a closing '/' is missing");
		complain_hint(c, err, "put terms between slashes: %.*s/.../", (int)s.pmu_len,
			      w->text);
		goto out;
	}
	err = s.is_bare ? check_bare(&found, w, &s, c) : 0;
	if (!err)
		err = parse_modifiers(e, w, &s, c);
	if (!err)
		err = pmu_setting__parse(&set, &e->attr, &found.pmu[0], w, s.terms, s.terms_end, c);
	if (err)
		goto out;
	e->attr = set.attr;
	e->pmu = s.is_bare ? strdup(found.pmu[0].name) : event_word__copy(w, 0, s.pmu_len);
	if (!e->pmu)
		err = no_memory(w, c);
out:
	pmu_setting__free(&set);
	pmus__free(&found);
	return err;
}

/* --- sites ------------------------------------------------------------------------------------ */

/* Returns the event's name on one of several PMUs; owned by the caller. */
static char *site_name(const struct event_word *w, const struct spec *s, const struct pmus *found,
		       const struct pmu *p, const struct pmu_setting *set)
{
	char *name = NULL;
	int n;

	if (set->name)
		return strdup(set->name);
	if (s->is_bare && found->n == 1)
		return event_word__copy(w, 0, w->len);
	if (s->is_bare)
		n = asprintf(&name, "%s/%.*s/%.*s", p->name, (int)s->terms_end, w->text,
			     (int)(w->len - s->modifiers), w->text + s->modifiers);
	else
		n = asprintf(&name, "%s%.*s", p->name, (int)(w->len - s->pmu_len),
			     w->text + s->pmu_len);
	return n < 0 ? NULL : name;
}

/* Reads the event's unit and scale factor: events/NAME.unit and .scale. */
static int read_unit(struct event_site *site, const struct pmu *p, const char *event)
{
	char name[256], *text, *end;
	double scale;
	bool ok = true;

	if (!event)
		return 0;
	snprintf(name, sizeof(name), "%.200s.unit", event);
	site->unit = pmu__read(p, "events", name);
	snprintf(name, sizeof(name), "%.200s.scale", event);
	text = pmu__read(p, "events", name);
	if (text) {
		scale = strtod(text, &end);
		ok = end != text && !*end && isfinite(scale) && scale > 0;
		site->scale = ok ? scale : site->scale;
	}
	free(text);
	if (site->unit && !*site->unit) {
		free(site->unit);
		site->unit = NULL;
	}
	return ok ? 0 : -EINVAL;
}

static int add_site(struct event_sites *sites, const struct event *e, const struct pmus *found,
		    const struct pmu *p, const struct event_word *w, struct complaint *c)
{
	struct event_site *site;
	struct pmu_setting set;
	struct spec s;
	char *name;
	int err;

	split(&s, w);
	err = pmu_setting__parse(&set, &e->attr, p, w, s.terms, s.terms_end, c);
	if (err)
		return err;
	name = site_name(w, &s, found, p, &set);
	site = name ? event_sites__add_counter(sites, e, name) : NULL;
	free(name);
	if (!site) {
		err = no_memory(w, c);
		goto out;
	}
	site->attr = set.attr;
	site->attr.size = sizeof(site->attr);
	err = read_unit(site, p, set.event);
	if (err)
		complain(c, err, w->at, e->len,
			 "the PMU %s gives '%.60s' a scale that is not a number", p->name, set.event);
	else if ((err = pmu__cpus(p, &site->cpus)))
		complain(c, err, w->at, e->len, "the PMU %s does not list its CPUs",
			 p->name);
out:
	pmu_setting__free(&set);
	return err;
}

static int pmu__resolve(struct event_sites *sites, const struct event *e,
			const struct event_context *ctx, struct complaint *c)
{
	struct event_word w = { e->name, e->at, strlen(e->name) };
	struct pmus found;
	struct spec s;
	size_t i;
	int err;

	split(&s, &w);
	err = find_pmus(&found, ctx, &w, &s);
	if (err)
		return complain(c, err, w.at, w.len, "cannot read the PMUs from sysfs");
	for (i = 0; i < found.n && !err; i++)
		err = add_site(sites, e, &found, &found.pmu[i], &w, c);
	pmus__free(&found);
	return err;
}

int event_sites__add_per_core_pmu(struct event_sites *sites, const struct event *e,
				  const struct event_context *ctx)
{
	struct event_word w = { e->name, e->at, strlen(e->name) };
	struct event_site *site;
	struct pmus all;
	size_t i, cores = 0;
	int err = pmus__find(&all, ctx, NULL);
	struct spec s;

	if (err)
		return err;
	for (i = 0; i < all.n; i++)
		cores += pmu__is_core(&all.pmu[i]);
	if (cores < 2)
		cores = 0;
	split(&s, &w);
	for (i = 0; cores && i < all.n && !err; i++) {
		struct pmu_setting none = {};
		struct pmu *p = &all.pmu[i];
		char *name;

		if (!pmu__is_core(p))
			continue;
		name = site_name(&w, &s, &all, p, &none);
		site = name ? event_sites__add_counter(sites, e, name) : NULL;
		free(name);
		if (!site) {
			err = -ENOMEM;
			break;
		}
		if (e->attr.type == PERF_TYPE_RAW)
			site->attr.type = p->type;
		else
			site->attr.config |= (u64)p->type << PERF_PMU_TYPE_SHIFT;
		err = pmu__cpus(p, &site->cpus);
	}
	pmus__free(&all);
	return err ?: (int)cores;
}

/* --- list ------------------------------------------------------------------------------------- */

/* Describes an event, e.g. "event=0x02 of the PMU power, in 2.3e-10 Joules". */
static int list_event(const struct pmu *p, const char *event, event_visit visit, void *arg)
{
	char *text = pmu__read(p, "events", event), name[512], description[512];
	struct event_site site = { .scale = 1 };
	int n, err;

	read_unit(&site, p, event);
	snprintf(name, sizeof(name), "%s/%s/", p->name, event);
	n = snprintf(description, sizeof(description), "%.200s of the PMU %s", text ?: "event",
		     p->name);
	if (n > 0 && site.unit && site.scale != 1)
		snprintf(description + n, sizeof(description) - n, ", in units of %g %.60s",
			 site.scale, site.unit);
	else if (n > 0 && site.unit)
		snprintf(description + n, sizeof(description) - n, ", in %.60s", site.unit);
	err = visit(arg, name, description);
	free(site.unit);
	free(text);
	return err;
}

static int pmu__list(const struct event_context *ctx, event_visit visit, void *arg)
{
	struct pmu_names events;
	struct pmus all;
	size_t i, k;
	int err = pmus__find(&all, ctx, NULL);

	if (err)
		return err;
	for (i = 0; i < all.n && !err; i++) {
		err = pmu__names(&events, &all.pmu[i], "events");
		for (k = 0; k < events.n && !err; k++)
			err = list_event(&all.pmu[i], events.name[k], visit, arg);
		pmu_names__free(&events);
	}
	pmus__free(&all);
	return err;
}

const struct event_source event_pmu = {
	.type = EVENT_RAW,
	.name = "PMU",
	.claims = pmu__claims,
	.parse = pmu__parse,
	.resolve = pmu__resolve,
	.list = pmu__list,
};
