// SPDX-License-Identifier: BSD-2-Clause
/* kmem: kernel allocations by task, and those not freed. See bpf/memory/kmem.bpf.c. */
#include <errno.h>
#include <string.h>

#include "agg/elements.h"
#include "agg/loss.h"
#include "base/clock.h"
#include "cli/order.h"
#include "host/host.h"
#include "types/kernel_btf.h"
#include "memory/kmem_keys.h"
#include "memory/outstanding.h"
#include "report/column.h"
#include "report/diag.h"
#include "run/measurement.h"
#include "run/sum_table.h"
#include "stack/options.h"
#include "tools.h"

#include "bpf/memory/kmem.h"
#include "kmem.skel.h"

SKELETON(kmem);

/* Elements per key: one for each CPU on which it is seen. */
#define CPUS_PER_KEY 4

/* 30 MB. */
#define DEFAULT_MAX_LIVE 131072

/* Space for stacks, 35 MB, or twice as much with intervals. */
#define DEFAULT_STACKS 32768

#define USUAL_ORDER "allocated"

#define BY_SLAB (BY_CALLER | BY_CACHE | BY_SIZE)
#define BY_PAGES (BY_ORDER | BY_MIGRATETYPE)

struct kmem {
	bool pages, follow, leak, with_stacks;
	u64 max_live;
	struct stack_options options;
	struct kmem_bpf *bpf;
	struct kmem_keys keys;
	struct loss_counters losses_before;
	struct stacks stacks;
	struct outstanding outstanding;
};

/*
 * --- options -----------------------------------------------------------------------------------
 */

static int check_parts(const struct kmem *k, const struct cli *cli)
{
	if (k->pages && cli->by & BY_SLAB) {
		diag_error("--by caller, --by cache and --by size cannot be combined with --pages");
		diag_hint("--pages --leak -g shows them by stack");
		return -EINVAL;
	}
	if (!k->pages && cli->by & BY_PAGES) {
		diag_error("--by order and --by migratetype need --pages");
		return -EINVAL;
	}
	return 0;
}

static int check_stacks(struct kmem *k, struct cli *cli)
{
	if (k->with_stacks && !k->leak) {
		diag_error("-g needs --leak");
		diag_hint("`stackcount kmem:kmalloc` counts all allocations by stack");
		return -EINVAL;
	}
	if (k->with_stacks)
		return stack_options__check(&k->options, &k->stacks, cli, 0);
	if (k->outstanding.by_count) {
		diag_error("--count needs --leak -g");
		return -EINVAL;
	}
	return stack_options__check_none(&k->options, cli);
}

static int check(void *context, struct cli *cli)
{
	struct kmem *k = context;

	if (check_parts(k, cli) || check_stacks(k, cli))
		return -EINVAL;
	if (k->outstanding.older_ns && !k->leak) {
		diag_error("--older needs --leak");
		return -EINVAL;
	}
	if (k->with_stacks)
		k->outstanding.stacks = &k->stacks;
	if (!cli->by && !k->with_stacks)
		cli->by = k->pages ? BY_ORDER : BY_CALLER;
	if (k->leak && cli->order && !strcmp(cli->order, USUAL_ORDER))
		cli->order = "bytes";
	k->keys.by = cli->by;
	return 0;
}

/*
 * --- allocations and frees ---------------------------------------------------------------------
 */

/*
 * Traits of a table. OF_PAGES: sums of pages, of which nothing is wasted. FOLLOWED: frees are those of the row's
 * objects.
 */
enum { OF_PAGES = 1, FOLLOWED = 2 };

#define OF(member) SUM(struct kmem_sums, member)

static const struct column columns[] = {
	COUNTER("allocs", OF(allocs), FIELD_NUMBER),
	COUNTER("requested", OF(requested), FIELD_SIZE, .machine_when = OF_PAGES),
	COUNTER("allocated", OF(allocated), FIELD_SIZE),
	COUNTER("wasted", OF(allocated), FIELD_SIZE, .minus = OF(requested), .machine_when = OF_PAGES),
	PERCENT("wasted_percent", "wasted", "allocated", 1, .machine_when = OF_PAGES),
	COUNTER("failed", OF(failed), FIELD_NUMBER, .rare = true),
	COUNTER("frees", OF(frees), FIELD_NUMBER),
	COUNTER("freed", OF(freed), FIELD_SIZE, .when = FOLLOWED, .help = "with --follow"),
	COUNTER("other_cpu", OF(elsewhere), FIELD_NUMBER, .when = FOLLOWED, .help = "with --follow"),
	COUNTER("unseen", OF(unseen), FIELD_NUMBER, .when = FOLLOWED, .help = "with --follow"),
	ADDED_BY_TOOL("bytes", ROLE_GAUGE, .help = "default with --leak"),
	ADDED_BY_TOOL("count", ROLE_GAUGE, .help = "with --leak"),
	ADDED_BY_TOOL("oldest", ROLE_GAUGE, .help = "with --leak"),
	{},
};

/* A map element, summed over the CPUs of its key. */
struct kmem_element {
	struct kmem_key key;
	struct kmem_sums sums;
};

static int add_sums_key(struct sum_table_report *t, struct report_row *row, const void *element)
{
	const struct kmem_element *e = element;
	struct kmem *k = t->own;

	return kmem_key__add(&k->keys, &e->key, e->sums.name, row);
}

static void as_shown(void *keys, void *key)
{
	kmem_key__as_shown(keys, key);
}

static int make_as_shown(void *own, struct sum_set *set)
{
	struct kmem *k = own;

	sum_set__regroup(set, as_shown, &k->keys);
	return 0;
}

static const struct sum_table_spec table = {
	.layout = {
		.key_size = sizeof(struct kmem_key), .value_size = sizeof(struct kmem_sums),
		.writer_at = offsetof(struct kmem_key, writer),
		.nsums = offsetof(struct kmem_sums, name_stamp) / sizeof(u64), .named = true,
	},
	.task_at = SUM_NO_TASK, .events = OF(allocs) | OF(failed) | OF(frees),
	.add_key = add_sums_key, .adjust = make_as_shown,
};

/*
 * --- outstanding allocations -------------------------------------------------------------------
 */

static int add_key(void *keys, const void *key, const char *name, struct report_row *row)
{
	return kmem_key__add(keys, key, name, row);
}

static int read_live(struct kmem *k)
{
	struct elements e = { .key_size = sizeof(u64), .value_size = sizeof(struct kmem_live) };
	int err = outstanding__begin(&k->outstanding) ?: elements__read(&e, bpf_map__fd(k->bpf->maps.live));
	u64 now = monotonic_ns();
	size_t i;

	for (i = 0; i < e.n && !err; i++) {
		struct kmem_live l;

		memcpy(&l, elements__value(&e, i), sizeof(l));
		l.key.writer = 0;
		kmem_key__as_shown(&k->keys, &l.key);
		err = outstanding__add(&k->outstanding, &l.key, l.name, &l.item, now);
	}
	if (!err)
		outstanding__end(&k->outstanding);
	elements__free(&e);
	return err;
}

static int report_leak(struct kmem *k, const struct cli *cli, struct report *r)
{
	int err;

	if (k->with_stacks)
		err = stacks__read_losses(&k->stacks, r) ?: stacks__watch(&k->stacks);
	else
		err = loss__since(&r->counters, &k->losses_before, bpf_map__fd(k->bpf->maps.losses), k->bpf->obj);
	if (!err)
		err = read_live(k);
	if (err)
		return err;
	if (k->with_stacks && !k->options.table)
		return outstanding__report_stacks(&k->outstanding, r, cli->top);
	return outstanding__report_rows(&k->outstanding, r, cli->order, table_rows(cli));
}

static int report(struct measurement *m, struct report *r)
{
	struct kmem *k = m->own;

	r->source = k->pages ? "raw tracepoints mm_page_alloc and mm_page_free" :
			       "raw tracepoints kmalloc, kmem_cache_alloc, kfree, kmem_cache_free";
	r->room_by = k->leak ? "--max-live" : k->follow ? "--max-keys or --max-live" : NULL;
	r->has_events = true;
	if (!k->leak) {
		r->value = k->pages ? "kernel pages" : "kernel memory";
		m->table.traits = (k->pages ? OF_PAGES : 0) | (k->follow ? FOLLOWED : 0);
		return sum_table__report(m, NULL, r);
	}
	r->value = "allocated in the run, not freed yet";
	k->outstanding.nothing = "no outstanding allocations in scope";
	if (!k->pages)
		r->caveat = "bulk frees (by kfree_rcu() and networking) have no tracepoint: their memory counts as "
			    "outstanding until its address is reused";
	return report_leak(k, m->cli, r);
}

/*
 * --- the hooks ---------------------------------------------------------------------------------
 */

/* The layout of the tracepoints' arguments, from kernel BTF, which is read once. */
static int choose_layout(struct kmem *k)
{
	bool has_node = kernel_btf_arguments("btf_trace_kmalloc_node") > 0;
	int n = kernel_btf_arguments("btf_trace_kmalloc");

	if (n < 0) {
		if (host__check_types())
			return -EOPNOTSUPP;
		diag_error("kernel BTF does not describe the tracepoint kmalloc: %s",
			   strerror(-n));
		return -EOPNOTSUPP;
	}
	k->bpf->rodata->layout = !has_node ? KMEM_MERGED : n > 6 ? KMEM_BOTH_CACHES : KMEM_PLAIN;
	bpf_program__set_autoload(k->bpf->progs.on_kmalloc_node, has_node && !k->pages);
	bpf_program__set_autoload(k->bpf->progs.on_cache_alloc_node, has_node && !k->pages);
	if (k->bpf->rodata->layout != KMEM_PLAIN || !(k->keys.by & BY_CACHE))
		return 0;
	diag_error("--by cache: the tracepoints of this kernel do not report the cache");
	diag_hint("it needs Linux 6.0; use --by size or --by caller");
	return -EOPNOTSUPP;
}

static void choose_programs(struct kmem *k)
{
	bpf_program__set_autoload(k->bpf->progs.on_kmalloc, !k->pages);
	bpf_program__set_autoload(k->bpf->progs.on_cache_alloc, !k->pages);
	bpf_program__set_autoload(k->bpf->progs.on_kfree, !k->pages);
	bpf_program__set_autoload(k->bpf->progs.on_cache_free, !k->pages);
	bpf_program__set_autoload(k->bpf->progs.on_page_alloc, k->pages);
	bpf_program__set_autoload(k->bpf->progs.on_page_free, k->pages);
}

/* Preallocates hashes, because no program may allocate memory: see bpf/memory/kmem.bpf.c. */
static int preallocate(struct bpf_object *obj)
{
	struct bpf_map *map;
	int err = 0;

	bpf_object__for_each_map(map, obj)
		if (!err && bpf_map__type(map) == BPF_MAP_TYPE_HASH)
			err = bpf_map__set_map_flags(map, 0);
	return err;
}

static int prepare_scope(struct kmem *k, struct measurement *m)
{
	struct kmem_bpf__rodata *c = k->bpf->rodata;

	if (!k->with_stacks) {
		c->by = k->keys.by;
		return stacks__leave_out(k->bpf->obj);
	}
	c->take = stack_options__take(&k->options, &k->stacks);
	return stacks__prepare(&k->stacks, m, k->bpf->obj, NULL,
			       m->cli->asked_keys ?: DEFAULT_STACKS);
}

static int open_skeleton(struct measurement *m)
{
	u64 cpus = m->run->host.cpus_online < CPUS_PER_KEY ? m->run->host.cpus_online : CPUS_PER_KEY;
	struct kmem *k = m->own;
	int err;

	k->bpf = m->bpf;
	k->keys.names.cgroups = m->cgroups;
	k->bpf->rodata->follow = k->follow;
	choose_programs(k);
	err = k->pages ? 0 : choose_layout(k);
	if (k->pages) {
		bpf_program__set_autoload(k->bpf->progs.on_kmalloc_node, false);
		bpf_program__set_autoload(k->bpf->progs.on_cache_alloc_node, false);
	}
	if (!err)
		err = prepare_scope(k, m);
	if (!err)
		err = bpf_map__set_max_entries(k->bpf->maps.sums, cpus * m->cli->max_keys);
	if (!err && k->follow)
		err = bpf_map__set_max_entries(k->bpf->maps.live, k->max_live);
	return err ?: preallocate(k->bpf->obj);
}

static int watch(struct measurement *m)
{
	struct kmem *k = m->own;

	return stacks__watch(&k->stacks);
}

static int attach(struct measurement *m)
{
	struct kmem *k = m->own;
	int err = symbols__new(&k->keys.symbols);

	if (err)
		return err;
	if (!k->with_stacks)
		return measurement__attach(m);
	err = stacks__begin(&k->stacks, m);
	m->watch = watch;
	return err ?: measurement__attach_programs(m);
}

static void kmem__free(struct kmem *k)
{
	outstanding__free(&k->outstanding);
	stacks__free(&k->stacks);
	kmem_keys__free(&k->keys);
}

static void init(void *own)
{
	struct kmem *k = own;

	*k = (struct kmem){
		.max_live = DEFAULT_MAX_LIVE, .options = STACK_OPTIONS,
		.outstanding = { .key_size = sizeof(struct kmem_key), .add_key = add_key },
	};
	k->outstanding.context = &k->keys;
	k->stacks.at_tracepoints = true;
}

static void release(void *own)
{
	struct kmem *k = own;

	kmem__free(k);
}

static const struct option_row rows[] = {
	HEADING("Shown:", 1),
	{ "pages", 0, NULL, ROW_FLAG, "Pages instead of slab objects", 1, FIELD(struct kmem, pages) },
	{ "follow", 0, NULL, ROW_FLAG, "Follow objects: frees count in the row that allocated them", 1,
	  FIELD(struct kmem, follow) },
	{ "leak", 0, NULL, ROW_FLAG, "Only memory allocated in the run and not freed", 1,
	  FIELD(struct kmem, leak), ALSO(struct kmem, follow) },
	ALIAS("outstanding", 1),
	{ "stacks", 'g', NULL, ROW_FLAG, "live memory by stack", 1, FIELD(struct kmem, with_stacks) },
	{ "older", 0, "TIME", ROW_TIME, "only memory at least this old", 1,
	  FIELD(struct kmem, outstanding.older_ns), .unit_ns = NSEC_PER_SEC },
	{ "count", 0, NULL, ROW_FLAG, "Stacks by count instead of bytes", 1,
	  FIELD(struct kmem, outstanding.by_count) },
	{ "max-live", 0, "N", ROW_COUNT, "Follow N objects at once (default 128K, in 30 MB)", 1,
	  FIELD(struct kmem, max_live), .least = 1, .most = 1 << 26, .wanted = "a number from 1 to 64M" },
	INCLUDE(struct kmem, options, stack_option_rows),
	{},
};

static const char *const key_names[] = { "caller", "cache", "size", "order", "migratetype" };
static const struct own_parts parts = {
	.name = key_names, .n = ARRAY_SIZE(key_names),
	.text = "caller, cache, size, order, migratetype",
};

static const struct tool_spec spec = {
	.name = "kmem",
	.cli = {
		.groups = CLI_SCOPE | CLI_TIME | CLI_KEYS | CLI_TOP | CLI_OUTPUT | CLI_LIVE | CLI_RUN |
			  CLI_COMMAND | CLI_ORDER,
		.usual_stacks = DEFAULT_STACKS,
		.doc = "Kernel allocations by caller, cache, size or task: memory wasted, and memory not freed.",
		.rows = rows,
		.own_parts = &parts, .columns = columns, .order = USUAL_ORDER,
	},
	.own_size = sizeof(struct kmem), .skeleton = &kmem_skeleton, .table = &table,
	.init = init, .check = check, .open = open_skeleton, .attach = attach, .report = report,
	.source = "raw tracepoints of kmem", .free = release,
};

TOOL_MEASURING(kmem, spec, AREA_MEMORY,
	       "kernel allocations by caller or cache; memory not freed");
