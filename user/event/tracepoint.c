// SPDX-License-Identifier: BSD-2-Clause
/* Tracepoints: SYSTEM:NAME, where both may be globs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "event/code_name.h"
#include "event/event.h"
#include "host/syscalls.h"
#include "types/tracefs.h"

static const char *find_colon(const struct event_word *w)
{
	return memchr(w->text, ':', w->len);
}

/* Claims SYSTEM:NAME; FUNC:LINE and MODULE:FUNC+OFF are functions. */
static bool claims(const struct event_context *ctx, const struct event_word *w)
{
	const char *colon = find_colon(w), *end = w->text + w->len, *c;
	bool digits = true;

	(void)ctx;
	if (!colon || colon == w->text || memchr(w->text, '/', w->len))
		return false;
	/* ns::function() and type:.eq.main.T are functions of user programs. */
	if (code_name__is_at(w->text, w->len) || (colon + 1 < end && colon[1] == '.'))
		return false;
	for (c = colon + 1; c < end && *c != ':'; c++) {
		if (*c == '+' || *c == '%')
			return false;
		digits &= *c >= '0' && *c <= '9';
	}
	/* MODULE:FUNC:LINE; modifiers are letters. */
	if (c + 1 < end && c[1] >= '0' && c[1] <= '9')
		return false;
	return c == colon + 1 || !digits;
}

static int parse_modifiers(struct event *e, const struct event_word *w, size_t from,
			   struct complaint *c)
{
	const struct event_modifiers *m = &e->modifiers;
	int err = event__parse_modifiers(e, w, from, c);

	if (!err && m->user && !m->kernel)
		return complain(c, -EINVAL, w->at + from, w->len - from,
				"tracepoints are in the kernel, never in user mode");
	return err;
}

static int parse(struct event *e, const struct event_context *ctx, const struct event_word *w,
		 struct complaint *c)
{
	size_t colon = find_colon(w) - w->text, end = colon + 1;

	(void)ctx;
	while (end < w->len && w->text[end] != ':')
		end++;
	if (end == colon + 1) {
		complain(c, 0, w->at + end, 0, "a tracepoint's name is missing");
		return complain_hint(c, -EINVAL, "SYSTEM:NAME, like sched:sched_switch or sched:*");
	}
	e->system = event_word__copy(w, 0, colon);
	e->tracepoint = event_word__copy(w, colon + 1, end);
	if (!e->system || !e->tracepoint)
		return -ENOMEM;
	return end < w->len ? parse_modifiers(e, w, end + 1, c) : 0;
}

/* Sets the system call number for syscalls:sys_enter_NAME and sys_exit_NAME. */
static void find_syscall(struct event_site *site, const char *name)
{
	int number = -ENOENT;

	if (!strncmp(name, "sys_enter_", 10)) {
		number = syscall_number_of_entry(name + 10);
	} else if (!strncmp(name, "sys_exit_", 9)) {
		number = syscall_number_of_entry(name + 9);
		site->syscall_exit = true;
	}
	site->syscall = number < 0 ? -1 : number;
}

/* True for tracepoints in kernel code; ftrace's own events are not. */
static bool is_raw(const char *system)
{
	static const char *const made[] = {
		"ftrace", "syscalls", "kprobes", "uprobes", "synthetic", "eprobes",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(made); i++)
		if (!strcmp(system, made[i]))
			return false;
	return true;
}

static int add_site(struct event_sites *sites, const struct event *e, int tracefs,
		    const struct tracepoint_name *t)
{
	struct event_site *site;
	char name[512];
	u32 id;
	int err;

	err = tracepoint__id(tracefs, t->system, t->name, &id);
	if (err == -ENOENT)
		return 0;       /* ftrace:function and others, usable only by ftrace */
	if (err)
		return err;
	snprintf(name, sizeof(name), "%s:%s", t->system, t->name);
	site = event_sites__add(sites, e, name);
	if (!site)
		return -ENOMEM;
	site->tracepoint_id = id;
	site->is_raw = is_raw(t->system);
	if (!strcmp(t->system, "syscalls"))
		find_syscall(site, t->name);
	return 0;
}

/* Returns the nearest to text among the names (if by_name) or the systems. */
static const char *near_name(const struct tracepoints *t, const char *text, bool by_name)
{
	const char **names = calloc(t->n ?: 1, sizeof(*names));
	const char *found;
	size_t i;

	if (!names)
		return NULL;
	for (i = 0; i < t->n; i++)
		names[i] = by_name ? t->tracepoint[i].name : t->tracepoint[i].system;
	found = nearest(text, names, t->n);
	free(names);
	return found;
}

static int complain_about_name(const struct event *e, int tracefs, struct complaint *c)
{
	struct tracepoints near = {};
	const char *name = NULL;

	complain(c, 0, e->at + strlen(e->system) + 1, strlen(e->tracepoint),
		 "no tracepoint '%s' in %s", e->tracepoint, e->system);
	if (!tracepoints__find(&near, tracefs, e->system, NULL))
		name = near_name(&near, e->tracepoint, true);
	if (name)
		complain_hint(c, 0, "did you mean %s:%s?", e->system, name);
	else
		complain_hint(c, 0, "`list '%s:*'` shows them", e->system);
	tracepoints__free(&near);
	return -ENOENT;
}

static int complain_about_system(const struct event *e, int tracefs, struct complaint *c)
{
	struct tracepoints near = {};
	const char *name = NULL;

	/* A glob matches names of any system, so it does not show which is meant. */
	bool is_name = !strpbrk(e->tracepoint, "*?[");

	complain(c, 0, e->at, strlen(e->system), "no tracepoint system '%s'", e->system);
	if (is_name && !tracepoints__find(&near, tracefs, NULL, e->tracepoint) && near.n)
		complain_hint(c, 0, "did you mean %s:%s?", near.tracepoint[0].system,
			      near.tracepoint[0].name);
	else if (!tracepoints__systems(&near, tracefs) &&
		 (name = near_name(&near, e->system, false)))
		complain_hint(c, 0, "did you mean %s:%s?", name, e->tracepoint);
	else
		complain_hint(c, 0, "`list --summary` shows the systems");
	tracepoints__free(&near);
	return -ENOENT;
}

/* Tries ext4:ext4_sync_fs, which is not a tracepoint, as a function of a module. */
static int resolve_as_function(struct event_sites *sites, const struct event *e,
			       const struct event_context *ctx)
{
	struct event function = *e;
	struct complaint ignored;
	size_t before = sites->n, i;
	int err;

	function.type = EVENT_KERNEL_FUNCTION;
	function.function = (struct event_function){ .name = e->tracepoint, .module = e->system };
	err = event_kernel_function.resolve(sites, &function, ctx, &ignored);
	for (i = before; i < sites->n; i++)
		sites->site[i].event = e;
	return err;
}

static int resolve(struct event_sites *sites, const struct event *e,
		   const struct event_context *ctx, struct complaint *c)
{
	u32 most = ctx->max_sites ?: EVENT_MAX_SITES;
	struct tracepoints found = {}, system = {};
	int tracefs = tracefs__open(), err;
	size_t i;

	if (tracefs < 0) {
		complain(c, 0, e->at, e->len, tracefs == -EPERM ?
			 "cannot read tracepoints: no permission for tracefs" :
			 "this kernel has no tracefs, which tracepoint names need");
		return complain_hint(c, tracefs == -EPERM ? -EPERM : -EOPNOTSUPP,
				     "run as root; `tally doctor` shows what is missing");
	}
	err = tracepoints__find(&found, tracefs, e->system, e->tracepoint);
	if (!err && found.n > most) {
		complain(c, 0, e->at, e->len, "'%s' matches %zu tracepoints", e->name, found.n);
		err = complain_hint(c, -E2BIG, "at most %u at once; use a narrower pattern", most);
	}
	for (i = 0; i < found.n && !err; i++)
		err = add_site(sites, e, tracefs, &found.tracepoint[i]);
	if (!err && !found.n) {
		err = tracepoints__find(&system, tracefs, e->system, NULL);
		if (!err && resolve_as_function(sites, e, ctx))
			err = system.n ? complain_about_name(e, tracefs, c) :
					 complain_about_system(e, tracefs, c);
	}
	if (err && err != -ENOENT && err != -E2BIG)
		complain(c, 0, e->at, e->len, "cannot read tracepoints: %s", strerror(-err));
	tracepoints__free(&found);
	tracepoints__free(&system);
	close(tracefs);
	return err;
}

int event_site__read_format(struct tracepoint_format *format, const struct event_site *site,
			    int tracefs)
{
	const char *colon = strchr(site->name, ':');
	char *system;
	int err;

	if (!site->tracepoint_id || !colon)
		return -EINVAL;
	system = strndup(site->name, colon - site->name);
	if (!system)
		return -ENOMEM;
	err = tracepoint_format__read(format, tracefs, system, colon + 1);
	free(system);
	return err;
}

static int list(const struct event_context *ctx, event_visit visit, void *arg)
{
	int tracefs = tracefs__open(), err;
	struct tracepoints all = {};
	char name[512];
	size_t i;

	(void)ctx;
	if (tracefs < 0)
		return tracefs;
	err = tracepoints__find(&all, tracefs, NULL, NULL);
	for (i = 0; i < all.n && !err; i++) {
		snprintf(name, sizeof(name), "%s:%s", all.tracepoint[i].system,
			 all.tracepoint[i].name);
		err = visit(arg, name, "");
	}
	tracepoints__free(&all);
	close(tracefs);
	return err;
}

const struct event_source event_tracepoint = {
	.type = EVENT_TRACEPOINT,
	.name = "tracepoint",
	.claims = claims,
	.parse = parse,
	.resolve = resolve,
	.list = list,
};
