// SPDX-License-Identifier: BSD-2-Clause
#include "probe/plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numbers.h"
#include "event/typed.h"
#include "event/user_binary.h"
#include "expr/fields.h"
#include "report/diag.h"
#include "probe/asked.h"
#include "probe/saved.h"
#include "probe/sides.h"

#define ALIASES_DEEP 8          /* nesting limit of aliases */

/*
 * --- events ------------------------------------------------------------------------------------
 */

/* Keeps a text until probe_plan__free(). If out of memory, frees the text and returns NULL. */
static char *keep(struct probe_plan *p, char *text)
{
	if (text && !ARRAY_APPEND(p->made, p->nmade, text))
		return text;
	free(text);
	return NULL;
}

/* Adds the events in a text to a side. */
static int take_events(struct probe_plan *p, struct probe_side *s, const char *text,
		       size_t definition)
{
	size_t i, n = s->events.n;
	int err = events__take(&s->events, &s->text, &p->request->context, text);

	if (err)
		return err;
	/* Events added in another way have no definition yet, so the capacity is unknown. */
	if (array__grow(&s->definition, 0, s->events.n, sizeof(*s->definition)))
		return -ENOMEM;
	for (i = n; i < s->events.n; i++)
		s->definition[i] = definition;
	return 0;
}

/* Adds the returns of functions as end events. */
static int take_returns(struct probe_plan *p)
{
	struct probe_side *begin = &p->side[PROBE_BEGIN], *end = &p->side[PROBE_END];
	struct complaint c = {};
	size_t i;
	int err = 0;

	for (i = 0; i < begin->events.n && !err; i++) {
		const struct event *e = &begin->events.event[i];
		char *text;

		if ((e->type != EVENT_KERNEL_FUNCTION && e->type != EVENT_USER_FUNCTION) ||
		    e->function.is_return || e->function.offset ||
		    event_function__has_line(&e->function)) {
			complain(&c, 0, e->at, e->len, "%s the time a function takes, from its entry to "
				 "its return", p->request->bare ? "the measured value is" : "--latency is");
			complain_hint(&c, 0, "for other events, use `probe` with --from and --to");
			diag_complaint(NULL, begin->text[i], &c);
			return -EINVAL;
		}
		text = keep(p, asprintf(&text, "%s%%return", e->name) < 0 ? NULL : text);
		err = text ? take_events(p, end, text, begin->definition[i]) : -ENOMEM;
	}
	for (i = 0; i < end->events.n; i++)
		end->events.event[i].function.has_entry = true;
	for (i = 0; i < end->events.n && p->request->bare; i++)
		begin->events.event[i].function.is_call = end->events.event[i].function.is_call = true;
	return err;
}

static int parse_definitions(struct probe_plan *p)
{
	const struct probe_request *r = p->request;
	struct complaint c = {};
	char *argument = NULL;
	size_t i;
	int err;

	p->definition = calloc(r->ntyped ?: 1, sizeof(*p->definition));
	if (!p->definition)
		return -ENOMEM;
	for (i = 0; i < r->ntyped; i++) {
		err = probe_definition__parse(&p->definition[i], r->typed[i], &c, &argument);
		if (err) {
			diag_complaint(NULL, argument ?: r->typed[i], &c);
			free(argument);
			return err;
		}
		p->ndefinitions++;
		err = take_events(p, &p->side[r->latency ? PROBE_BEGIN : PROBE_END],
				  p->definition[i].event, i);
		if (err)
			return err;
	}
	return r->latency ? take_returns(p) : 0;
}

static int take_events_of_spans(struct probe_plan *p)
{
	const struct probe_request *r = p->request;
	int err;

	if (!r->from)
		return 0;
	err = take_events(p, &p->side[PROBE_BEGIN], r->from, 0);
	return err ?: take_events(p, &p->side[PROBE_END], r->to, 0);
}

static int check_site(const struct probe_plan *p, const struct probe_side *s,
		      const struct event_site *site)
{
	const char *text = s->text[site->event - s->events.event];
	struct complaint c = {};

	if (site->event->type < EVENT_TRACEPOINT) {
		complain(&c, 0, site->event->at, site->event->len,
			 "%s is a counter and has no values", site->name);
		complain_hint(&c, 0, "`stat -e %s` counts it", site->name);
		diag_complaint(NULL, text, &c);
		return -EOPNOTSUPP;
	}
	if (!p->request->is_scoped || !tracepoint_has_task(site->name))
		return 0;
	complain(&c, 0, site->event->at, site->event->len,
		 "%s describes a task other than the current one and does not give its process, user and cgroup",
		 site->name);
	complain_hint(&c, 0, "use a --filter on its fields (comm, pid) instead");
	diag_complaint(NULL, text, &c);
	return -EOPNOTSUPP;
}

/*
 * --- tracepoints by their record, or by their arguments ----------------------------------------
 */

/* The names that a plan's expressions use at a tracepoint. */
struct named {
	const struct place *place;      /* has the format and the arguments */
	bool perhaps;                   /* the arguments are not known yet */
	bool field, argument;           /* found a name that is only a field, or only an argument */
};

static void look_at_names(struct named *n, const struct probe_plan *p, const struct expr *e)
{
	struct place named = *n->place;
	u64 number;

	if (!e)
		return;
	named.alias = p->alias;
	named.naliases = p->naliases;
	if (e->op == EXPR_SPECIAL) {
		n->argument |= !strncmp(e->text, "arg", 3) && !parse_u64(e->text + 3, &number);
	} else if (e->op == EXPR_NAME && !place__stands_for_other(&named, e)) {
		bool field = field__find(n->place->format, e->text);
		bool argument = n->perhaps ? !place__is_known_everywhere(e->text) :
					     place__find(n->place, e->text) != NULL;

		n->field |= field && !argument && !n->perhaps && !place__is_known_everywhere(e->text);
		n->argument |= argument && !field;
	}
	look_at_names(n, p, e->left);
	look_at_names(n, p, e->right);
}

static void look_at_list(struct named *n, const struct probe_plan *p, const struct probe_argument *a,
			 size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		look_at_names(n, p, a[i].expr);
}

/*
 * True if the names select the arguments of the tracepoint, not its record. The name of a field
 * selects the record. Names of arguments select the arguments if no name is a field's. Names that
 * are known everywhere, such as pid, count as fields only if the record is read.
 */
static bool asks_for_arguments(void *arg, const struct place *place, bool perhaps)
{
	const struct probe_plan *p = arg;
	struct named n = { .place = place, .perhaps = perhaps };
	size_t i;

	for (i = 0; i < p->ndefinitions; i++)
		look_at_list(&n, p, p->definition[i].argument, p->definition[i].n);
	look_at_list(&n, p, p->key, p->nkeys);
	look_at_list(&n, p, p->match, p->nmatches);
	look_at_list(&n, p, p->value, p->nvalues);
	look_at_names(&n, p, p->filter);
	return n.argument && !n.field;
}

static int resolve(struct probe_plan *p, struct probe_side *s)
{
	struct complaint c = {};
	size_t which = 0, i;
	int err;

	if (!s->events.n)
		return 0;
	err = events__resolve(&s->sites, &s->events, &p->request->context, &c, &which);
	if (err)
		diag_complaint(NULL, s->text[which], &c);
	for (i = 0; i < s->sites.n && !err; i++)
		err = check_site(p, s, &s->sites.site[i]);
	if (err)
		return err;
	s->slot = calloc(s->sites.n ?: 1, sizeof(*s->slot));
	for (i = 0; i < s->sites.n && s->slot; i++)
		s->slot[i] = i;
	if (p->request->bare)
		return s->slot ? 0 : -ENOMEM;
	s->own = calloc(s->sites.n ?: 1, sizeof(*s->own));
	s->code = calloc(s->sites.n ?: 1, sizeof(*s->code));
	if (!s->own || !s->code || !s->slot)
		return -ENOMEM;
	for (i = 0; i < s->sites.n; i++) {
		s->code[i].by_record = s->sites.site[i].tracepoint_id &&
			!site_place__needs_arguments(&s->sites.site[i], asks_for_arguments, p, &p->known);
	}
	return 0;
}

static bool is_named_return(const struct event_site *end, const struct event_site *begin)
{
	size_t len = strlen(begin->name);

	return !strncmp(begin->name, end->name, len) && !strcmp(end->name + len, "%return");
}

/* True if `end` belongs to the function of `begin`. Both sides list the events in the same order. */
static bool is_end_of(const struct probe_plan *p, size_t end, size_t begin)
{
	const struct probe_side *b = &p->side[PROBE_BEGIN], *e = &p->side[PROBE_END];
	const struct event_site *from = &b->sites.site[begin], *to = &e->sites.site[end];

	if (from->event - b->events.event != to->event - e->events.event)
		return false;
	if (from->event->type != EVENT_USER_FUNCTION)
		return from->address == to->address && is_named_return(to, from);
	return !from->is_inlined && from->function == to->function && !strcmp(from->path, to->path);
}

/* If the kernel hides addresses, functions with the same name are in the same order on both sides. */
static bool is_next_end_of(const struct probe_plan *p, const bool *has_end, size_t end, size_t begin)
{
	const struct event_sites *begins = &p->side[PROBE_BEGIN].sites;

	return begin < begins->n && is_end_of(p, end, begin) &&
	       (begins->site[begin].event->type == EVENT_USER_FUNCTION || !has_end[begin]);
}

/* Gives each end the number of its begin. Returns the name of an end without a begin, or NULL. */
static const char *number_ends(struct probe_plan *p, bool *has_end)
{
	const struct probe_side *b = &p->side[PROBE_BEGIN], *e = &p->side[PROBE_END];
	const char *alone = NULL;
	size_t i, k;

	for (i = 0, k = 0; i < e->sites.n; i++) {
		/* The ends of a function are adjacent, so try the begin of the previous end first. */
		if (!is_next_end_of(p, has_end, i, k) && !is_next_end_of(p, has_end, i, ++k))
			for (k = 0; k < b->sites.n && !is_next_end_of(p, has_end, i, k); k++)
				;
		if (k < b->sites.n) {
			has_end[k] = true;
			e->slot[i] = k;
		} else {
			alone = alone ?: e->sites.site[i].name;
		}
	}
	return alone;
}

/* Removes begins that match globs and have no end. Returns their number. */
static size_t drop_endless(struct probe_side *b, const bool *has_end)
{
	size_t before = b->sites.n, i;

	for (i = before; i--;)
		if (!has_end[i] && event_is_glob(b->sites.site[i].event->function.name) &&
		    !b->sites.site[i].is_named)
			event_sites__remove(&b->sites, i);
	return before - b->sites.n;
}

static const char *find_alone(struct probe_plan *p, bool *has_end)
{
	struct probe_side *b = &p->side[PROBE_BEGIN];
	const char *alone = number_ends(p, has_end);
	size_t i;

	if (alone)
		return alone;
	if (drop_endless(b, has_end)) {
		memset(has_end, 0, b->sites.n);
		number_ends(p, has_end);
	}
	for (i = 0; i < b->sites.n; i++)
		if (!has_end[i] && (!p->request->bare || b->sites.site[i].is_inlined))
			return b->sites.site[i].name;
	return NULL;
}

/* Checks that both sides are complete. The entry and the ends of a function share the entry's number. */
static int check_pairs(struct probe_plan *p)
{
	bool *has_end = calloc(p->side[PROBE_BEGIN].sites.n ?: 1, sizeof(*has_end));
	const char *alone;

	if (!has_end)
		return -ENOMEM;
	alone = find_alone(p, has_end);
	free(has_end);
	if (!alone)
		return 0;
	diag_error("%s has no return of its own to measure", alone);
	return -EOPNOTSUPP;
}

/* True if both are the same instruction of a function or a USDT probe. */
static bool is_same_place(const struct event_site *a, const struct event_site *b)
{
	if (a->tracepoint_id || b->tracepoint_id || a->is_return != b->is_return || !a->path != !b->path)
		return false;
	if (a->path)
		return a->file_offset == b->file_offset && !strcmp(a->path, b->path);
	return a->address || b->address ? a->address == b->address : !strcmp(a->name, b->name);
}

/*
 * Programs at a tracepoint run in the order in which they were attached, ends first. A tracepoint that is both the
 * end of a span and the begin of the next measures the time in between. Functions and USDT probes run the newest
 * program first, and no kernel guarantees any order.
 */
static int check_places(const struct probe_plan *p)
{
	const struct event_sites *begins = &p->side[PROBE_BEGIN].sites, *ends = &p->side[PROBE_END].sites;
	size_t i, k;

	for (i = 0; i < begins->n; i++)
		for (k = 0; k < ends->n; k++) {
			if (!is_same_place(&begins->site[i], &ends->site[k]))
				continue;
			diag_error("%s cannot be both a begin and an end; only a tracepoint can", begins->site[i].name);
			if (event_site__is_at_entry(&begins->site[i]))
				diag_hint("--from %s%%return measures the time from each call to the next",
					  begins->site[i].event->name);
			return -EINVAL;
		}
	return 0;
}

size_t probe_plan__nevents(const struct probe_plan *p)
{
	return p->side[p->calls ? PROBE_BEGIN : PROBE_END].sites.n;
}

/*
 * --- expressions of options --------------------------------------------------------------------
 */

static int parse_list(struct probe_argument **list, size_t *n, const char *option, const char *text)
{
	struct complaint c = {};
	char *part = NULL;
	int err;

	if (!text || !*text)
		return 0;
	err = probe_arguments__parse(list, n, text, &c, &part);
	if (err)
		diag_complaint(option, part ?: text, &c);
	free(part);
	return err;
}

static int parse_filter(struct probe_plan *p)
{
	struct complaint c = {};
	int err;

	if (!p->request->filter)
		return 0;
	err = expr__parse(&p->filter, p->request->filter, &c);
	if (err)
		diag_complaint("--filter", p->request->filter, &c);
	return err;
}

static bool mentions(const struct expr *e, const char *name)
{
	return (e->op == EXPR_NAME && !strcmp(e->text, name)) || (e->left && mentions(e->left, name)) ||
	       (e->right && mentions(e->right, name));
}

/* True if a name in e is defined by itself, directly or indirectly. The alias "size" for size:u32 does not count. */
static bool goes_round(const struct probe_plan *p, const struct expr *e, int depth)
{
	const struct expr *just;
	size_t i;

	if (depth > ALIASES_DEEP)
		return true;
	for (i = 0; e->op == EXPR_NAME && i < p->naliases; i++) {
		if (strcmp(p->alias[i].name, e->text) || p->alias[i].is_off)
			continue;
		for (just = p->alias[i].expr; just->op == EXPR_TYPED || just->op == EXPR_CAST;
		     just = just->left)
			;
		return (just->op != EXPR_NAME || strcmp(just->text, e->text)) &&
		       goes_round(p, p->alias[i].expr, depth + 1);
	}
	return (e->left && goes_round(p, e->left, depth)) ||
	       (e->right && goes_round(p, e->right, depth));
}

static int check_aliases(struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < p->naliases; i++) {
		if (p->alias[i].is_off || !goes_round(p, p->alias[i].expr, 0))
			continue;
		if (!p->alias[i].is_given) {
			p->alias[i].is_off = true;
			continue;
		}
		diag_error("'%s' is defined by an expression that contains it", p->alias[i].name);
		return -EINVAL;
	}
	return 0;
}

static int collect_aliases(struct probe_plan *p)
{
	size_t i, k, n = 0;

	for (i = 0; i < p->ndefinitions; i++)
		n += p->definition[i].n;
	p->alias = calloc(n ?: 1, sizeof(*p->alias));
	if (!p->alias)
		return -ENOMEM;
	for (i = 0; i < p->ndefinitions; i++)
		for (k = 0; k < p->definition[i].n; k++) {
			const struct probe_argument *a = &p->definition[i].argument[k];

			p->alias[p->naliases++] = (struct place_alias){ a->name, a->expr, a->is_named,
									!a->is_named && mentions(a->expr, a->name) };
		}
	return check_aliases(p);
}

/* Chooses the value to measure if the user gave none. */
static int choose_value(struct probe_plan *p)
{
	static const struct expr elapsed = {
		.op = EXPR_SPECIAL, .text = (char *)"elapsed", .len = 8};
	const struct probe_request *r = p->request;

	if (r->what == PROBE_COUNT || r->what == PROBE_STREAM)
		return 0;
	if (p->nvalues > 1) {
		diag_error("%s: expected one expression, got %zu", r->option, p->nvalues);
		return -EINVAL;
	}
	if (p->nvalues) {
		p->measured = p->value[0].expr;
		p->measured_text = p->value[0].text;
	} else if (p->naliases == 1 && !p->spans) {
		p->measured = p->alias[0].expr;
		p->measured_text = p->alias[0].name;
	} else if (p->spans) {
		p->measured = &elapsed;
		p->measured_text = "$elapsed";
	} else {
		diag_error("%s needs an expression to measure", r->option);
		diag_hint("as in: %s EXPR; `list -v EVENT` shows fields and arguments", r->option);
		return -EINVAL;
	}
	p->is_time = p->measured->op == EXPR_SPECIAL && !strcmp(p->measured->text, "elapsed");
	return 0;
}

/* True for $retval and $arg1, whose type comes from the function's declaration. */
static bool is_typed_by_function(const char *text)
{
	return !strcmp(text, "retval") ||
	       (!strncmp(text, "arg", 3) && isdigit((unsigned char)text[3]));
}

/* True if the expression contains a name that some events do not know. */
static bool has_own_names(const struct probe_plan *p, const struct expr *e)
{
	size_t i;

	if (!e)
		return false;
	if (e->op == EXPR_SPECIAL)
		return is_typed_by_function(e->text);
	if (e->op != EXPR_NAME)
		return has_own_names(p, e->left) || has_own_names(p, e->right);
	if (place__is_known_everywhere(e->text))
		return false;
	for (i = 0; i < p->naliases; i++)
		if (!strcmp(e->text, p->alias[i].name))
			return false;
	return true;
}

static bool list_has_own_names(const struct probe_plan *p, const struct probe_argument *a, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (has_own_names(p, a[i].expr))
			return true;
	return false;
}

static bool plan_has_own_names(const struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < p->ndefinitions; i++)
		if (p->definition[i].n)
			return true;    /* an argument may be its own alias */
	return list_has_own_names(p, p->key, p->nkeys) ||
	       list_has_own_names(p, p->match, p->nmatches) ||
	       list_has_own_names(p, p->value, p->nvalues) || has_own_names(p, p->filter);
}

/*
 * --- arguments at returns ----------------------------------------------------------------------
 */

static bool only_returns(const struct probe_side *s)
{
	size_t i;

	for (i = 0; i < s->events.n; i++)
		if (!s->events.event[i].function.is_return)
			return false;
	return s->events.n;
}

/* Adds the entries of the functions whose returns are the events, in the same order. Inlined copies have no return. */
static int take_entries(struct probe_plan *p)
{
	struct probe_side *begin = &p->side[PROBE_BEGIN], *end = &p->side[PROBE_END];
	size_t i;
	int err = 0;

	for (i = 0; i < p->ndefinitions && !err; i++)
		err = take_events(p, begin, p->definition[i].event, i);
	for (i = 0; i < begin->events.n; i++) {
		begin->events.event[i].function.is_return = false;
		begin->events.event[i].function.is_call = true;
	}
	for (i = 0; i < end->events.n; i++)
		end->events.event[i].function.has_entry = true;
	return err;
}

static void forget_sites(struct probe_side *s)
{
	event_sites__free(&s->sites);
	free(s->own);
	free(s->code);
	free(s->slot);
	s->own = NULL;
	s->code = NULL;
	s->slot = NULL;
}

/* Turns returns into spans if arguments have to be saved. */
static int save_arguments(struct probe_plan *p)
{
	int err;

	if (p->spans || p->request->bare || !p->known.want_dwarf || !only_returns(&p->side[PROBE_END]))
		return 0;
	err = probe_asked__find(p);
	if (err || !p->nsaved)
		return err;
	p->spans = p->calls = p->returns = true;
	err = take_entries(p);
	forget_sites(&p->side[PROBE_END]);
	if (!err)
		err = resolve(p, &p->side[PROBE_BEGIN]);
	if (!err)
		err = resolve(p, &p->side[PROBE_END]);
	return err ?: check_pairs(p);
}

int probe_plan__init(struct probe_plan *p, const struct probe_request *request)
{
	int err;

	*p = (struct probe_plan){
		.request = request, .spans = request->latency || request->from, .calls = request->latency,
	};
	knowledge__init(&p->known);
	err = parse_definitions(p);
	if (!err)
		err = take_events_of_spans(p);
	if (!err)
		err = parse_list(&p->key, &p->nkeys, "--by", request->by);
	if (!err)
		err = parse_list(&p->match, &p->nmatches, "--match", request->match);
	if (!err)
		err = parse_list(&p->value, &p->nvalues, request->option, request->value);
	if (!err)
		err = parse_filter(p);
	if (!err)
		err = collect_aliases(p);
	if (!err)
		err = choose_value(p);
	if (!err)
		err = resolve(p, &p->side[PROBE_BEGIN]);
	if (!err)
		err = resolve(p, &p->side[PROBE_END]);
	if (!err && request->latency)
		err = check_pairs(p);
	if (!err && request->from)
		err = check_places(p);
	p->known.want_dwarf = plan_has_own_names(p);
	return err ?: save_arguments(p);
}

/* True if the expression needs registers: programs on fentry receive arguments, but no registers. */
static bool needs_registers(const struct expr *e)
{
	if (!e)
		return false;
	return e->op == EXPR_REGISTER ||
	       (e->op == EXPR_SPECIAL &&
		(!strncmp(e->text, "stack", 5) || !strcmp(e->text, "caller"))) ||
	       needs_registers(e->left) || needs_registers(e->right);
}

static bool list_needs_registers(const struct probe_argument *a, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (needs_registers(a[i].expr))
			return true;
	return false;
}

static bool plan_needs_registers(const struct probe_plan *p)
{
	size_t i;

	for (i = 0; i < p->ndefinitions; i++)
		if (list_needs_registers(p->definition[i].argument, p->definition[i].n))
			return true;
	return list_needs_registers(p->key, p->nkeys) ||
	       list_needs_registers(p->match, p->nmatches) ||
	       list_needs_registers(p->value, p->nvalues) || needs_registers(p->filter);
}

int probe_plan__choose(struct probe_plan *p, const struct attach_programs programs[PROBE_SIDES],
		       bool without_fentry)
{
	int side, err = 0;

	for (side = PROBE_BEGIN; side < PROBE_SIDES && !err; side++) {
		struct probe_side *s = &p->side[side];

		s->programs = programs[side];
		if (without_fentry || plan_needs_registers(p))
			s->programs.fentry = s->programs.fexit = NULL;
		attach__release(&s->attachments);
		err = attach__plan(&s->attachments, &s->sites, s->code, &s->programs);
	}
	return err;
}

/*
 * --- attaching ---------------------------------------------------------------------------------
 */

static bool uses_fentry(const struct probe_side *s)
{
	size_t i;

	for (i = 0; i < s->sites.n; i++)
		if (s->attachments.way[i] == ATTACH_FENTRY || s->attachments.way[i] == ATTACH_FEXIT)
			return true;
	return false;
}

int probe_plan__attach(struct probe_plan *p)
{
	/* Attach ends first, so that no begin misses its end. */
	static const enum probe_side_name order[] = { PROBE_END, PROBE_BEGIN };
	struct complaint c = {};
	size_t which = 0, i;
	int err;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		struct probe_side *s = &p->side[order[i]];

		if (!s->sites.n)
			continue;
		err = attach__sites(&s->attachments, &s->sites, s->slot, &s->programs, &c, &which);
		if (err && uses_fentry(s)) {
			diag_detail("%s; using kprobes instead", c.what);
			return -EAGAIN;
		}
		if (err) {
			diag_complaint(NULL, s->text[s->sites.site[which].event - s->events.event],
				       &c);
			return err;
		}
	}
	return 0;
}

/* Appends texts like "; kmem_cache_alloc is kmem_cache_alloc_noprof here". */
static void describe_renamed(const struct probe_plan *p, char *text, size_t size)
{
	size_t n = strlen(text), i;
	int side;

	for (side = PROBE_BEGIN; side < PROBE_SIDES; side++) {
		const struct event_sites *sites = &p->side[side].sites;

		for (i = 0; i < sites->n && n < size; i++)
			if (sites->site[i].is_renamed)
				n += snprintf(text + n, size - n, "; %s is %s here",
					      sites->site[i].event->name, sites->site[i].name);
	}
}

void probe_plan__describe(const struct probe_plan *p, char *text, size_t size)
{
	size_t n = 0;

	if (p->spans && !p->returns) {
		attach__describe(&p->side[PROBE_BEGIN].attachments, text, size);
		n = strlen(text);
		n += snprintf(text + n, size - n, " to ");
	}
	if (n < size)
		attach__describe(&p->side[PROBE_END].attachments, text + n, size - n);
	if (p->returns && (n = strlen(text)) < size)
		n += snprintf(text + n, size - n, "; arguments saved by ");
	if (p->returns && n < size)
		attach__describe(&p->side[PROBE_BEGIN].attachments, text + n, size - n);
	n = strlen(text);
	event_sites__describe_lacking(&p->side[PROBE_END].sites, text + n, size - n);
	describe_renamed(p, text, size);
}

static void free_side(struct probe_side *s)
{
	size_t i;
	int k;

	for (i = 0; s->own && i < s->sites.n; i++)
		for (k = 0; k < EVENT_BODIES; k++)
			code__free(&s->own[i].code[k]);
	event_sites__free(&s->sites);
	events__free(&s->events);
	free(s->text);
	free(s->definition);
	free(s->own);
	free(s->code);
	free(s->slot);
}

void probe_plan__free(struct probe_plan *p)
{
	size_t i;

	attach__release_both(&p->side[PROBE_BEGIN].attachments, &p->side[PROBE_END].attachments);
	for (i = 0; i < PROBE_SIDES; i++)
		free_side(&p->side[i]);
	for (i = 0; i < p->ndefinitions; i++)
		probe_definition__free(&p->definition[i]);
	for (i = 0; i < p->nmade; i++)
		free(p->made[i]);
	for (i = 0; i < p->layout.n; i++)
		layout_field__free(&p->layout.field[i]);
	free(p->layout.field);
	free(p->definition);
	free(p->made);
	probe_arguments__free(p->key, p->nkeys);
	probe_arguments__free(p->match, p->nmatches);
	probe_arguments__free(p->value, p->nvalues);
	expr__free(p->filter);
	side__free_filter(p);
	probe_saved__free(p);
	free(p->alias);
	free(p->field);
	free(p->group);
	probe_arguments__free(p->every, p->nevery);
	free(p->names);
	knowledge__release(&p->known);
}
