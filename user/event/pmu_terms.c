// SPDX-License-Identifier: BSD-2-Clause
#include "event/pmu_terms.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/numbers.h"
#include "event/hardware_names.h"

#define TERMS 64
#define CONFIG_WORDS 4

/* Kinds of terms, in the order in which they are applied: explicit terms override those of an event. */
enum term_kind {
	TERM_EVENT,             /* an event in events/ */
	TERM_GENERIC,           /* the kernel's names: cycles, L1-dcache-loads */
	TERM_RAW,               /* r003c */
	TERM_CONFIG,            /* config= config1= ... */
	TERM_FIELD,             /* a field in format/ */
	TERM_PERIOD,
	TERM_NAME,
	TERM_KINDS,
};

struct term {
	enum term_kind kind;
	char *name;
	size_t from, name_end, to;      /* offsets in the word; the value begins at name_end + 1 */
	bool has_value;
};

struct terms {
	struct term term[TERMS];
	size_t n;
};

/* --- complaints ----------------------------------------------------------------------------- */

static int no_memory(const struct event_word *w, struct complaint *c)
{
	return complain(c, -ENOMEM, w->at, w->len, "no memory");
}

/* Appends as many names to the hint as fit, separated by commas. */
void complain_names(struct complaint *c, const char *title, const struct pmu_names *names)
{
	size_t used = strlen(c->hint), i;

	for (i = 0; i < names->n; i++) {
		if (used + strlen(names->name[i]) + strlen(title) + 8 > sizeof(c->hint)) {
			snprintf(c->hint + used, sizeof(c->hint) - used, ", ...");
			return;
		}
		used += snprintf(c->hint + used, sizeof(c->hint) - used, "%s%s",
				 i ? ", " : title, names->name[i]);
	}
}

/* True for perf's sampling terms, which are options in tally. */
static bool is_term_of_perf(const char *name)
{
	static const char *const terms[] = {
		"percore", "metric-id", "freq", "branch_type", "time", "call-graph", "stack-size",
		"inherit", "no-inherit", "max-stack", "nr", "overwrite", "no-overwrite",
		"driver-config", "aux-output", "aux-action", "aux-sample-size", "cpu",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(terms); i++)
		if (!strcmp(name, terms[i]))
			return true;
	return false;
}

/* Suggests the PMU's nearest name, and lists all. */
static void hint_terms(const struct pmu *p, const char *name, struct complaint *c)
{
	struct pmu_names events, fields;
	const char *near;
	u32 best = UINT32_MAX, distance;
	const char *meant = NULL;

	if (pmu__names(&events, p, "events"))
		return;
	if (pmu__names(&fields, p, "format")) {
		pmu_names__free(&events);
		return;
	}
	near = events.n ? nearest(name, (const char *const *)events.name, events.n) : NULL;
	if (near) {
		best = edit_distance(name, near);
		meant = near;
	}
	near = fields.n ? nearest(name, (const char *const *)fields.name, fields.n) : NULL;
	distance = near ? edit_distance(name, near) : UINT32_MAX;
	meant = distance < best ? near : meant;
	if (meant)
		complain_hint(c, 0, "did you mean %s? ", meant);
	complain_names(c, "fields: ", &fields);
	complain_names(c, fields.n ? "; events: " : "events: ", &events);
	pmu_names__free(&events);
	pmu_names__free(&fields);
}

static int unknown_term(const struct pmu *p, const struct event_word *w, const struct term *t,
			struct complaint *c)
{
	size_t at = w->at + t->from, len = t->name_end - t->from;
	int err;

	if (is_term_of_perf(t->name))
		return complain_hint(c, complain(c, -EINVAL, at, len,
			"perf's term '%s' is not supported", t->name),
			"use options to set sampling and inheritance");
	err = complain(c, -EINVAL, at, len, "the PMU %s has no event or field '%.100s'",
		       p->name, t->name);
	hint_terms(p, t->name, c);
	return err;
}

/* The PMU's own description of an event is invalid. */
static int bad_event(const struct pmu *p, const struct event_word *w, const struct term *t,
		     const char *text, struct complaint *c)
{
	return complain(c, -EINVAL, w->at + t->from, t->name_end - t->from,
			"the PMU %s describes its event '%.60s' as '%.60s', which is not valid",
			p->name, t->name, text);
}

/* --- terms ---------------------------------------------------------------------------------- */

/* Returns config, config1, ..., or NULL if this build's headers lack it. */
static u64 *config_word(struct perf_event_attr *attr, u32 number)
{
	__u64 *const words[CONFIG_WORDS] = {
		&attr->config, &attr->config1, &attr->config2,
#ifdef PERF_ATTR_SIZE_VER8
		&attr->config3,
#else
		NULL,
#endif
	};

	return words[number];
}

/* Returns the number of "config", "config1", ..., or -1 for another name. */
static int config_number(const char *name)
{
	if (strncmp(name, "config", 6))
		return -1;
	if (!name[6])
		return 0;
	return name[6] >= '1' && name[6] <= '3' && !name[7] ? name[6] - '0' : -1;
}

/* Parses an r followed by at most 16 hexadecimal digits. */
static bool parse_raw(const char *name, u64 *value)
{
	size_t len = strlen(name);

	if (name[0] != 'r' || len < 2 || len > 17 ||
	    strspn(name + 1, "0123456789abcdefABCDEF") + 1 != len)
		return false;
	*value = strtoull(name + 1, NULL, 16);
	return true;
}

static int classify(struct term *t, const struct pmu *p, const struct event_word *w,
		    struct complaint *c)
{
	struct perf_event_attr ignored = {};
	u64 value;

	if (!t->has_value && pmu__has(p, "events", t->name))
		t->kind = TERM_EVENT;
	else if (pmu__has(p, "format", t->name))
		t->kind = TERM_FIELD;
	else if (config_number(t->name) >= 0)
		t->kind = TERM_CONFIG;
	else if (!strcmp(t->name, "period"))
		t->kind = TERM_PERIOD;
	else if (!strcmp(t->name, "name"))
		t->kind = TERM_NAME;
	else if (!t->has_value && pmu__is_core(p) && event_hardware_attr(t->name, &ignored))
		t->kind = TERM_GENERIC;
	else if (!t->has_value && pmu__is_core(p) && parse_raw(t->name, &value))
		t->kind = TERM_RAW;
	else if (t->has_value && pmu__has(p, "events", t->name))
		return complain(c, -EINVAL, w->at + t->name_end, t->to - t->name_end,
				"'%s' is an event and takes no value", t->name);
	else
		return unknown_term(p, w, t, c);
	if (!t->has_value && t->kind >= TERM_CONFIG && t->kind != TERM_FIELD)
		return complain(c, -EINVAL, w->at + t->from, t->to - t->from,
				"'%s' needs a value: %s=...", t->name, t->name);
	return 0;
}

/* Checks the characters of a term, bytes from..to, and splits it. */
static int read_term(struct term *t, const struct event_word *w, size_t from, size_t to,
		     struct complaint *c)
{
	size_t i;

	*t = (struct term){ .from = from, .name_end = to, .to = to };
	if (from == to)
		return complain(c, -EINVAL, w->at + from, 1, "a term is missing here");
	for (i = from; i < to && w->text[i] != '='; i++)
		if (!isalnum((unsigned char)w->text[i]) && !strchr("_-.", w->text[i]))
			return complain(c, -EINVAL, w->at + i, 1, "'%.1s' is not allowed in term names",
					w->text + i);
	t->name_end = i;
	t->has_value = i < to;
	if (i == from)
		return complain(c, -EINVAL, w->at + from, 1, "a term name is missing here");
	if (t->has_value && i + 1 == to)
		return complain(c, -EINVAL, w->at + i, 1, "a value is missing after the '='");
	t->name = event_word__copy(w, from, i);
	return t->name ? 0 : no_memory(w, c);
}

/* Complains about a repeated term or a second event. */
static int check_repeated(const struct terms *s, const struct term *t, const struct event_word *w,
			  struct complaint *c)
{
	const struct term *other;

	for (other = s->term; other < t; other++) {
		if (!strcmp(other->name, t->name))
			return complain(c, -EINVAL, w->at + t->from, t->to - t->from,
					"'%s' is given twice", t->name);
		if (other->kind <= TERM_RAW && t->kind <= TERM_RAW)
			return complain_hint(c, complain(c, -EINVAL, w->at + t->from,
				t->to - t->from, "this is a second event, after '%s'", other->name),
				"use two events, in a group if they belong together: {a,b}");
	}
	return 0;
}

static void free_terms(struct terms *s)
{
	while (s->n)
		free(s->term[--s->n].name);
}

/* Reads the terms for one PMU. */
static int read_terms(struct terms *s, const struct pmu *p, const struct event_word *w,
		      size_t from, size_t end, struct complaint *c)
{
	struct term *t;
	size_t to;
	int err = 0;

	if (from == end)
		return 0;
	for (; !err && from <= end; from = to + 1) {
		for (to = from; to < end && w->text[to] != ','; to++)
			;
		if (s->n == TERMS)
			return complain(c, -EINVAL, w->at + from, to - from, "too many terms");
		t = &s->term[s->n];
		err = read_term(t, w, from, to, c);
		if (err)
			return err;
		s->n++;
		err = classify(t, p, w, c);
		if (!err)
			err = check_repeated(s, t, w, c);
	}
	return err;
}

/* --- the resulting attr ----------------------------------------------------------------------- */

/*
 * Sets the named field to a value. Returns -ENOENT if there is no such field, -ERANGE if the value
 * is too large (*max is the limit), -EINVAL if sysfs has an unknown format, or -EOPNOTSUPP for
 * config3.
 */
static int set_field(struct perf_event_attr *attr, const struct pmu *p, const char *name, u64 value,
		     u64 *max)
{
	char *text = pmu__read(p, "format", name);
	struct pmu_field f;
	u64 *word;
	int err = text ? pmu_field__parse(&f, text) : -errno;

	free(text);
	if (err)
		return err;
	word = config_word(attr, f.word);
	if (!word)
		return -EOPNOTSUPP;
	*max = pmu_field__max(&f);
	if (value > *max)
		return -ERANGE;
	*word = pmu_field__pack(&f, *word, value);
	return 0;
}

/* Applies NAME or NAME=VALUE of an event's description in sysfs. */
static int set_from_sysfs(struct perf_event_attr *attr, const struct pmu *p, char *text,
			  const struct terms *s)
{
	char *value = strchr(text, '=');
	u64 number = 1, max, *word;
	size_t i;
	int err;

	if (value)
		*value++ = 0;
	if (value && !strcmp(value, "?")) {
		for (i = 0; i < s->n; i++)
			if (!strcmp(s->term[i].name, text) && s->term[i].has_value)
				return 0;
		return -ENODATA;
	}
	err = value ? parse_u64(value, &number) : 0;
	if (err)
		return -EINVAL;
	if (config_number(text) < 0)
		return set_field(attr, p, text, number, &max);
	word = config_word(attr, config_number(text));
	if (!word)
		return -EOPNOTSUPP;
	*word = number;
	return 0;
}

/* Applies "event=0x3c,umask=0x1" of events/NAME. */
static int apply_event(struct pmu_setting *set, const struct pmu *p, const struct terms *s,
		       const struct term *t, const struct event_word *w, struct complaint *c)
{
	char *text = pmu__read(p, "events", t->name), *copy, *rest, *part;
	int err = text ? 0 : -errno;

	copy = rest = err ? NULL : strdup(text);
	if (!err && !copy)
		err = -ENOMEM;
	while (!err && rest) {
		part = strsep(&rest, ",");
		err = set_from_sysfs(&set->attr, p, part, s);
		if (err == -ENODATA)
			complain_hint(c, complain(c, err, w->at + t->from, t->to - t->from,
				"the event '%.60s' needs a value for '%.60s'", t->name, part),
				"%s/%.60s,%.60s=NUMBER/", p->name, t->name, part);
	}
	if (!err) {
		set->event = strdup(t->name);
		err = set->event ? 0 : -ENOMEM;
	} else if (err == -ENODATA) {
		err = -EINVAL;
	} else if (err != -ENOMEM) {
		err = bad_event(p, w, t, text ?: strerror(-err), c);
	}
	free(copy);
	free(text);
	return err == -ENOMEM ? no_memory(w, c) : err;
}

/* Applies a generic event like cycles to this PMU only (since 5.13; before, "cpu" is the only one). */
static int apply_generic(struct pmu_setting *set, const struct pmu *p, const struct terms *s,
			 const struct term *t, const struct event_word *w, struct complaint *c)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->term[i].kind == TERM_FIELD || s->term[i].kind == TERM_CONFIG)
			return complain(c, -EINVAL, w->at + s->term[i].from,
					s->term[i].to - s->term[i].from,
					"'%s' is a generic event and has no fields",
					t->name);
	event_hardware_attr(t->name, &set->attr);
	if (strcmp(p->name, "cpu"))
		set->attr.config |= (u64)p->type << PERF_PMU_TYPE_SHIFT;
	return 0;
}

static int apply_field(struct pmu_setting *set, const struct pmu *p, const struct term *t,
		       u64 value, const struct event_word *w, struct complaint *c)
{
	size_t from = t->has_value ? t->name_end + 1 : t->from;
	u64 max = 0;
	int err = set_field(&set->attr, p, t->name, value, &max);

	if (err == -ERANGE)
		return complain(c, -EINVAL, w->at + from, t->to - from,
				"0x%llx is too large for '%s', at most 0x%llx", value,
				t->name, max);
	if (err == -EOPNOTSUPP)
		return complain(c, -EINVAL, w->at + t->from, t->to - t->from,
				"'%s' is part of config3, which this build does not support", t->name);
	if (err)
		return complain(c, -EINVAL, w->at + t->from, t->to - t->from,
				"the PMU %s has no valid format for '%s'", p->name, t->name);
	return 0;
}

static int apply_config(struct pmu_setting *set, const struct term *t, u64 value,
			const struct event_word *w, struct complaint *c)
{
	u64 *word = config_word(&set->attr, config_number(t->name));

	if (!word)
		return complain(c, -EINVAL, w->at + t->from, t->to - t->from,
				"this build does not support '%s'", t->name);
	*word = value;
	return 0;
}

static int apply_term(struct pmu_setting *set, const struct pmu *p, const struct terms *s,
		      const struct term *t, const struct event_word *w, struct complaint *c)
{
	u64 value = 1;

	if (t->kind == TERM_NAME) {
		set->name = event_word__copy(w, t->name_end + 1, t->to);
		return set->name ? 0 : no_memory(w, c);
	}
	if (t->has_value && event_word__number(w, t->name_end + 1, t->to, &value))
		return complain_hint(c, complain(c, -EINVAL, w->at + t->name_end + 1,
			t->to - t->name_end - 1, "'%s' needs a number of at most 64 bits", t->name),
			"numbers are decimal, or hexadecimal with 0x");
	switch (t->kind) {
	case TERM_EVENT:
		return apply_event(set, p, s, t, w, c);
	case TERM_GENERIC:
		return apply_generic(set, p, s, t, w, c);
	case TERM_RAW:
		parse_raw(t->name, &value);
		set->attr.config = value;
		return 0;
	case TERM_CONFIG:
		return apply_config(set, t, value, w, c);
	case TERM_FIELD:
		return apply_field(set, p, t, value, w, c);
	default:
		set->attr.sample_period = value;
		return 0;
	}
}

void pmu_setting__free(struct pmu_setting *set)
{
	free(set->event);
	free(set->name);
}

int pmu_setting__parse(struct pmu_setting *set, const struct perf_event_attr *attr,
		       const struct pmu *p, const struct event_word *w, size_t from, size_t to,
		       struct complaint *c)
{
	struct pmu_setting new = { .attr = *attr };
	struct terms s = {};
	enum term_kind kind;
	size_t i;
	int err;

	new.attr.type = p->type;
	new.attr.sample_period = 0;
	for (i = 0; i < CONFIG_WORDS; i++)
		if (config_word(&new.attr, i))
			*config_word(&new.attr, i) = 0;
	err = read_terms(&s, p, w, from, to, c);
	for (kind = 0; kind < TERM_KINDS && !err; kind++)
		for (i = 0; i < s.n && !err; i++)
			if (s.term[i].kind == kind)
				err = apply_term(&new, p, &s, &s.term[i], w, c);
	free_terms(&s);
	if (err)
		pmu_setting__free(&new);
	else
		*set = new;
	return err;
}
