// SPDX-License-Identifier: BSD-2-Clause
/* Functions of the kernel and its modules: NAME, NAME+OFFSET, NAME%return, MODULE:NAME, globs. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "event/event.h"
#include "host/features.h"
#include "report/diag.h"
#include "sym/kallsyms.h"

/*
 * Functions that globs skip; a function named in full is still probed. They run inside every probe,
 * or so often within probes that the kernel skips the probe or counts it against itself, or they
 * are not called like functions. The kernel refuses the really dangerous ones itself
 * (NOKPROBE_SYMBOL, notrace).
 */
static const char *const denied[] = {
	"*bpf*", "perf_*", "__perf_*", "ftrace_*", "__ftrace_*", "trace_*", "__trace_*",
	"ring_buffer_*", "rb_*", "kprobe*", "__kprobe*", "*kprobe_*", "uprobe*", "rethook_*",
	"fprobe_*", "arch_ftrace*", "preempt_*", "__preempt*", "migrate_*able", "rcu_*", "__rcu_*",
	"*_rcu", "srcu_*", "__srcu*", "_raw_spin_*", "_raw_read_*", "_raw_write_*", "queued_spin_*",
	"native_queued_*", "__pv_*", "lockdep_*", "lock_acquire*", "lock_release*", "__cfi_*",
	"__pfx_*", "*.cold", "*.cold.*", "__SCT__*", "__SCK__*", "__traceiter_*", "__probestub_*",
	"__bpf_trace_*", "event_*_trigger*", "stack_trace_*", "unwind_*", "__unwind_*", "copy_from_*_nofault",
	"*_nmi", "nmi_*", "do_int3*", "exc_*", "asm_*", "__entry_text*", "idle_cpu",
};

static bool is_denied(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(denied); i++)
		if (!fnmatch(denied[i], name, 0))
			return true;
	return false;
}

static bool is_glob(const char *name)
{
	return strpbrk(name, "*?[");
}

static bool claims(const struct event_context *ctx, const struct event_word *w)
{
	(void)ctx, (void)w;
	return true;            /* the last source: claims all other words */
}

static int parse(struct event *e, const struct event_context *ctx, const struct event_word *w,
		 struct complaint *c)
{
	(void)ctx;
	return event__parse_function(e, w, 0, true, c);
}

struct names {
	const char **name;
	size_t n;
};

static int keep_name(void *arg, const char *name, const char *description)
{
	struct names *names = arg;

	(void)description;
	if (ARRAY_ROOM(names->name, names->n))
		return -ENOMEM;
	names->name[names->n] = strdup(name);
	if (!names->name[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

/* A bare word that is not a function may be a mistyped counter. Suggest counters first, since they are few. */
static void hint_near(const struct event *e, const struct event_context *ctx, struct complaint *c)
{
	static const struct event_source *const sources[] = { &event_hardware, &event_software };
	const char *text = e->function.name, *name = NULL;
	struct kernel_functions all = {};
	struct names names = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (sources[i]->list(ctx, keep_name, &names))
			break;
	if (!e->function.module)
		name = nearest(text, names.name, names.n);
	if (name) {
		complain_hint(c, 0, "did you mean %s?", name);
	} else if (!kernel_functions__find(&all, NULL, e->function.module)) {
		const char **functions = calloc(all.n ?: 1, sizeof(*functions));

		for (i = 0; functions && i < all.n; i++)
			functions[i] = all.function[i].name;
		name = functions ? nearest(text, functions, all.n) : NULL;
		if (name)
			complain_hint(c, 0, "did you mean %s?", name);
		free(functions);
	}
	if (!name)
		complain_hint(c, 0, "`list` shows events, `list --functions` shows functions");
	kernel_functions__free(&all);
	for (i = 0; i < names.n; i++)
		free((char *)names.name[i]);
	free(names.name);
}

/* Returns the position of the function's name in the text: after MODULE:, if present. */
static size_t name_at(const struct event *e)
{
	return e->at + (e->function.module ? strlen(e->function.module) + 1 : 0);
}

static int not_found(const struct event *e, const struct event_context *ctx, struct complaint *c)
{
	const struct event_function *f = &e->function;

	if (f->module)
		complain(c, 0, name_at(e), strlen(f->name), "no function '%s' in module %s", f->name,
			 f->module);
	else if (is_glob(f->name))
		complain(c, 0, name_at(e), strlen(f->name), "no kernel function matches '%s'",
			 f->name);
	else
		complain(c, 0, name_at(e), strlen(f->name), "no event '%s', and no such function",
			 f->name);
	hint_near(e, ctx, c);
	return -ENOENT;
}

bool kernel_functions_can_be_probed(void)
{
	return feature__probe("kprobe") == FEATURE_OK || feature__probe("kprobe.multi") == FEATURE_OK ||
	       feature__probe("fentry") == FEATURE_OK;
}

/* Complains if the functions exist, but this kernel cannot probe them. */
static int check_probes(const struct event *e, struct complaint *c)
{
	if (kernel_functions_can_be_probed())
		return 0;
	complain(c, 0, e->at, e->len, "this kernel does not allow probes on its functions: it has no kprobes and "
				      "refuses fentry");
	return complain_hint(c, -EOPNOTSUPP, "this needs CONFIG_KPROBES; tracepoints and user functions (-x) work "
					     "without it");
}

static int add_site(struct event_sites *sites, const struct event *e,
		    const struct kernel_function *f)
{
	struct event_site *site;
	char name[512];
	int n;

	n = snprintf(name, sizeof(name), "%s%s%s", e->function.module ?: "",
		     e->function.module ? ":" : "", f->name);
	if (e->function.offset && (size_t)n < sizeof(name))
		n += snprintf(name + n, sizeof(name) - n, "+0x%llx", e->function.offset);
	if (e->function.is_return && (size_t)n < sizeof(name))
		snprintf(name + n, sizeof(name) - n, "%%return");
	site = event_sites__add(sites, e, name);
	if (!site)
		return -ENOMEM;
	site->address = f->address ? f->address + e->function.offset : 0;
	site->offset = e->function.offset;
	site->is_return = e->function.is_return;
	site->is_renamed = !is_glob(e->function.name) && strcmp(e->function.name, f->name);
	if (f->module) {
		site->module = strdup(f->module);
		if (!site->module)
			return -ENOMEM;
	}
	return 0;
}

/* Aliases, and a weak symbol next to the strong one, share their code. */
static bool is_alias(const struct kernel_functions *found, size_t i)
{
	return i && found->function[i].address &&
	       found->function[i].address == found->function[i - 1].address;
}

static int add_sites(struct event_sites *sites, const struct event *e,
		     const struct kernel_functions *found, u32 most, struct complaint *c)
{
	const struct event_function *f = &e->function;
	bool glob = is_glob(f->name);
	size_t i, n = 0;
	int err = 0;

	for (i = 0; i < found->n && !err; i++) {
		const struct kernel_function *each = &found->function[i];

		if (is_alias(found, i) || (glob && is_denied(each->name)))
			continue;
		if (++n > most) {
			complain(c, 0, e->at, e->len, "'%s' matches more than %u functions",
				 e->name, most);
			return complain_hint(c, -E2BIG, "use a narrower pattern; `list --functions '%s'` shows them",
					     f->name);
		}
		if (each->size && f->offset >= each->size) {
			complain(c, 0, e->at, e->len, "%s has only %llu bytes", each->name, each->size);
			return -EINVAL;
		}
		err = add_site(sites, e, each);
	}
	if (!err && !n) {
		complain(c, 0, e->at, e->len, "all functions that match '%s' are excluded from globs: probes on them "
					      "would see the tracer itself", f->name);
		return complain_hint(c, -ENOENT, "give a full name to probe it anyway");
	}
	return err;
}

/*
 * True if variant is this kernel's name for the function `name`. Since 6.10 allocators are macros
 * around NAME_noprof() (b951aaff5035, "mm: enable page allocation tagging"). The compiler adds
 * suffixes to functions that it split, or specialized for their callers.
 */
static bool is_variant(const char *variant, const char *name)
{
	static const char *const marks[] = {
		"_noprof", ".constprop.*", ".isra.*", ".part.*",
	};
	size_t n = strlen(name), i;

	if (strncmp(variant, name, n))
		return false;
	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (!fnmatch(marks[i], variant + n, 0))
			return true;
	return false;
}

/* Finds the variant of a function that does not exist under its own name, if there is exactly one. */
static int find_variant(struct kernel_functions *found, const struct event_function *f)
{
	struct kernel_functions like;
	const char *only = NULL;
	char *glob;
	size_t i;
	int err;

	if (asprintf(&glob, "%s[_.]*", f->name) < 0)
		return -ENOMEM;
	err = kernel_functions__find(&like, glob, f->module);
	free(glob);
	if (err)
		return err;
	for (i = 0; i < like.n; i++) {
		if (!is_variant(like.function[i].name, f->name))
			continue;
		if (only && strcmp(only, like.function[i].name))
			break;
		only = like.function[i].name;
	}
	if (only && i == like.n) {
		kernel_functions__free(found);
		err = kernel_functions__find(found, only, f->module);
	}
	kernel_functions__free(&like);
	return err;
}

/* Finds the function by its name, or by this kernel's variant of it. */
static int find(struct kernel_functions *found, const struct event_function *f)
{
	int err = kernel_functions__find(found, f->name, f->module);

	if (!err && !found->n && !is_glob(f->name) && !f->line)
		err = find_variant(found, f);
	return err;
}

bool kernel_has_function(const struct event_word *w)
{
	struct event_function f = { .name = event_word__copy(w, 0, event_word__find(w, 0, "+:%@;")) };
	struct kernel_functions found = {};
	bool has = f.name && !find(&found, &f) && found.n;

	kernel_functions__free(&found);
	free(f.name);
	return has;
}

static int resolve(struct event_sites *sites, const struct event *e,
		   const struct event_context *ctx, struct complaint *c)
{
	const struct event_function *f = &e->function;
	struct kernel_functions found = {};
	int err;

	err = find(&found, f);
	if (err) {
		complain(c, 0, e->at, e->len, "cannot read the kernel's functions: %s", strerror(-err));
		kernel_functions__free(&found);
		return err;
	}
	if (!found.n)
		err = not_found(e, ctx, c);
	if (!err)
		err = check_probes(e, c);
	if (!err && f->line) {
		complain(c, 0, e->at, e->len, "lines of the kernel's source are not supported");
		err = complain_hint(c, -EOPNOTSUPP, "use FUNC+OFFSET");
	}
	/* A glob with few letters nearly always matches some kernel functions. */
	if (!err && ctx->npids && !ctx->binary && is_glob(f->name))
		diag_hint("'%s' matches kernel functions; -x '*' selects functions of the processes of -p", f->name);
	if (!err)
		err = add_sites(sites, e, &found, ctx->max_sites ?: EVENT_MAX_SITES, c);
	kernel_functions__free(&found);
	return err;
}

const struct event_source event_kernel_function = {
	.type = EVENT_KERNEL_FUNCTION,
	.name = "kernel function",
	.claims = claims,
	.parse = parse,
	.resolve = resolve,
};
