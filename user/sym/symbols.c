// SPDX-License-Identifier: BSD-2-Clause
#include "sym/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/opener.h"
#include "sym/code.h"
#include "sym/root.h"
#include "sym/state.h"

#define NOW UINT64_MAX

/*
 * --- lookup ------------------------------------------------------------------------------------
 */

static const char *name_near(struct symbols *s, const char *name)
{
	char *text;
	const char *kept;

	if (asprintf(&text, "near %s", name) < 0)
		return NULL;
	kept = symbols__intern(s, text);
	free(text);
	return kept;
}

static const char *intern_cut(struct symbols *s, const char *name)
{
	char *cut = symbol_name__cut(name);
	const char *kept = cut ? symbols__intern(s, cut) : NULL;

	free(cut);
	return kept;
}

/* Looks up an address in a table, and fills in the name, if any. */
static int name_it(struct symbols *s, struct symbol_table *t, u64 address, struct symbol *found)
{
	u32 i = symbol_table__find(t, address);

	if (i == SYMBOL_NONE)
		return 0;
	found->name = symbol_table__shown(t, i, &s->demangler);
	found->offset = address - t->entry[i].start;
	found->size = t->entry[i].size;
	if (found->name && t->entry[i].is_near && found->offset)
		found->name = name_near(s, found->name);
	return found->name ? 0 : -ENOMEM;
}

static int name_in_file(struct symbols *s, struct mapped_file *f, u64 offset, struct symbol *found)
{
	u64 address;
	int err;

	err = symbols__read_file(s, f);
	if (err || !f->is_elf || elf_symbols__address(&f->symbols, offset, &address))
		return err;
	found->module_offset = address;
	return name_it(s, &f->symbols.table, address, found);
}

static int name_in_jit_map(struct symbols *s, struct process *p, u64 address,
			   struct symbol *found)
{
	const char *name;
	u32 i;

	if (p->jit_due && jit_map__read(&p->jit, &s->allowance))
		return -ENOMEM;
	p->jit_due = p->jit.err == -EINTR;
	s->jit_err = s->jit_err ?: p->jit.err;
	symbols__count_kept(s, p);
	i = symbol_table__find(&p->jit.table, address);
	if (i == SYMBOL_NONE)
		return 0;
	/* The table is replaced when the map grows, but returned names must stay valid. */
	name = intern_cut(s, symbol_table__name(&p->jit.table, i));
	if (!name)
		return -ENOMEM;
	found->name = name;
	found->offset = address - p->jit.table.entry[i].start;
	found->size = p->jit.table.entry[i].size;
	found->module = "[JIT]";
	found->path = NULL;
	found->kind = SYMBOL_JIT;
	return 0;
}

static struct mapping *find_mapping(const struct process *p, u64 address, u64 at_ns)
{
	return p ? (struct mapping *)process__find_mapping(p, address, at_ns) : NULL;
}

/*
 * True for code that the process generated: anonymous, or in a file without a path that is not an ELF file.
 * Excludes the kernel's special mappings, such as [uprobes].
 */
static bool is_generated(const struct mapping *m)
{
	return m->executable && !m->path && !(m->file && m->file->is_elf) &&
	       (m->module[0] != '[' || !strncmp(m->module, "[anon", 5));
}

int symbols__user_at(struct symbols *s, u32 pid, u64 at_ns, u64 address, struct symbol *found)
{
	struct process *p = symbols__find_process_at(s, pid, at_ns);
	struct mapping *m = find_mapping(p, address, at_ns);
	u64 offset;
	int err = 0;

	memset(found, 0, sizeof(*found));
	if (m && m->unopened)
		err = symbols__open_told(s, pid, m);
	if (!m || err)
		return err;
	offset = address - m->start + (m->path || m->file ? m->offset : 0);
	found->module = m->module;
	found->path = m->path;
	found->kind = m->kind;
	found->is_mixed = m->is_mixed;
	found->mark = m->file ? &m->file->mark : NULL;
	found->module_offset = offset;
	if (m->file)
		err = name_in_file(s, m->file, offset, found);
	if (!err && !found->name && !(m->file && m->file->is_elf))
		err = name_in_jit_map(s, p, address, found);
	found->is_generated = !err && !found->name && is_generated(m);
	return err;
}

const char *symbols__unread(const struct symbols *s, size_t *at, const char **why)
{
	const struct mapped_file *f;
	size_t i = 0;

	STAILQ_FOREACH(f, &s->unread, next) {
		if (i++ < *at || !f->err)
			continue;
		*at = i;
		*why = f->err == -E2BIG ? "some names are too long" : confined__why(f->err);
		return f->path ?: "[vdso]";
	}
	if (!s->jit_err || *at == SIZE_MAX)
		return NULL;
	*at = SIZE_MAX;
	*why = jit_map__why(s->jit_err);
	return "perf-PID.map";
}

int symbols__user(struct symbols *s, u32 pid, u64 address, struct symbol *found)
{
	return symbols__user_at(s, pid, NOW, address, found);
}

struct symbols_bounds symbols__bounds(const struct symbols *s)
{
	return (struct symbols_bounds){ s->skipped, s->forgotten, s->cut, s->unnamed };
}

/*
 * --- code --------------------------------------------------------------------------------------
 */

void symbols__want_code(struct symbols *s)
{
	s->keeps_code = true;
}

int symbols__user_file(struct symbols *s, u32 pid, u64 address)
{
	const struct process *p = symbols__find_process(s, pid);
	const struct mapping *m = find_mapping(p, address, NOW);

	return m && m->file && m->file->code_fd >= 0 ? m->file->code_fd : -ENOENT;
}

static bool is_32_bit(const struct mapping *m)
{
	return m->file && m->file->is_elf && m->file->symbols.machine == EM_386;
}

bool symbols__user_is_32_bit(struct symbols *s, u32 pid, u64 address)
{
	const struct process *p = symbols__find_process(s, pid);
	const struct mapping *m = find_mapping(p, address, NOW);
	size_t i;

	for (i = 0; p && p->code && !(m && m->file && m->file->is_elf) && i < p->code->n; i++) {
		m = &p->code->mapping[i];
		if (m->file && symbols__read_file(s, m->file))
			return false;
	}
	return m && is_32_bit(m);
}

/* True if this is still the process that was seen, not another program or a process that reuses the PID. */
static bool is_there(const struct process *p)
{
	struct process_stamp now;

	return !process_stamp__read(&now, p->pid) && process__is_same(&now, &p->stamp);
}

ssize_t symbols__user_code(struct symbols *s, u32 pid, u64 address, void *to, size_t size)
{
	const struct process *p = symbols__find_process(s, pid);
	const struct mapping *m = find_mapping(p, address, NOW);
	int err;

	if (!m)
		return -ENOENT;
	if (size > m->end - address)
		size = m->end - address;
	if (m->file && m->file->code_fd >= 0) {
		return opener__read(m->file->code_fd, address - m->start + m->offset, to, size);
	}
	if (!is_there(p))
		return -ESRCH;
	err = symbols__read_memory(pid, address, to, size);
	return err ?: (ssize_t)size;
}

int symbols__stamp(const struct symbols *s, u32 pid, struct process_stamp *stamp)
{
	const struct process *p = symbols__find_process(s, pid);

	/* Processes known only from records have no stamp. */
	if (!p || !p->stamp.start_time)
		return -ESRCH;
	*stamp = p->stamp;
	return 0;
}

int symbols__each_code(struct symbols *s, u32 pid, code_visit visit, void *arg)
{
	const struct process *p = symbols__find_process(s, pid);
	size_t i;
	int err = 0;

	if (!p)
		return -ESRCH;
	for (i = 0; p->code && i < p->code->n && !err; i++) {
		struct mapping *m = &p->code->mapping[i];
		struct symbols_code code = {
			.start = m->start,
			.end = m->end,
			.offset = m->kind == SYMBOL_VDSO ? 0 : m->offset,
			.module = m->module,
		};

		if (!m->executable)
			continue;
		if (m->unopened)
			err = symbols__open_now(s, pid, m);
		code.mark = m->file ? &m->file->mark : NULL;
		if (!err)
			err = visit(arg, &code);
	}
	return err;
}

/* Reopens a file that was read and then closed, if it is still mapped. */
int symbols__open_code(struct symbols *s, u32 pid, const struct symbols_code *code)
{
	const struct process *p = symbols__find_process(s, pid);
	const struct mapping *m = find_mapping(p, code->start, NOW);
	struct stat st;
	u64 device;
	int fd;

	if (!m || !m->file)
		return -ENOENT;
	if (m->file->fd >= 0 || m->file->code_fd >= 0) {
		fd = fcntl(m->file->fd >= 0 ? m->file->fd : m->file->code_fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	device = (u64)major(m->file->dev) << 32 | minor(m->file->dev);
	fd = root__open_mapped(pid, m->start, m->end, device, &st);
	if (fd >= 0 && (st.st_ino != m->file->inode || st.st_dev != m->file->dev)) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

/*
 * --- sources -----------------------------------------------------------------------------------
 */

int symbols__want_source(struct symbols *s)
{
#ifdef HAVE_LIBDW
	s->with_source = true;
	return 0;
#else
	(void)s;
	return -EOPNOTSUPP;
#endif
}

int symbols__user_source(struct symbols *s, u32 pid, u64 at_ns, u64 address,
			 const struct source_place **place, size_t *n)
{
	struct process *p = symbols__find_process_at(s, pid, at_ns);
	struct mapping *m = find_mapping(p, address, at_ns);
	struct mapped_file *f;
	int err = 0;

	*n = 0;
	if (m && m->unopened)
		err = symbols__open_told(s, pid, m);
	f = m && m->kind == SYMBOL_USER ? m->file : NULL;
	if (!err && f)
		err = symbols__read_file(s, f);
	if (err || !f || !f->is_elf ||
	    elf_symbols__address(&f->symbols, address - m->start + m->offset, &address))
		return err;
	s->sources.allowance = &s->allowance;
	return sources__ask(&s->sources, &f->source, m->path ?: m->module, address, place, n);
}

const char *symbols__sourceless(const struct symbols *s, size_t *at, int *why)
{
	return sources__sourceless(&s->sources, at, why);
}

/*
 * --- the kernel --------------------------------------------------------------------------------
 */

static int read_kernel(struct symbols *s)
{
	if (s->kernel_read)
		return 0;
	/* Check before reading: the next check finds code that is loaded during the read. */
	loaded_code__has_news(&s->loaded);
	s->looked_ns = monotonic_ns();
	s->kernel_read = true;
	return kernel_symbols__read(&s->kernel) == -ENOMEM ? -ENOMEM : 0;
}

void symbols__leave_kernel(struct symbols *s)
{
	s->kernel_read = s->kernel_left = true;
}

/* Rereads the module tables. On failure, the previous tables remain. */
static int reread_modules(struct symbols *s)
{
	struct kernel_symbols now = {};
	int err = kernel_symbols__read_modules(&now);

	if (err)
		return err == -ENOMEM ? err : 0;
	kernel_symbols__free(&s->before);
	s->before = s->now;
	s->now = now;
	s->kernel_changes++;
	return 0;
}

/* Time between two periodic checks, and the time to wait after a read, as a multiple of the read's duration. */
#define LOOK_NS (100 * NSEC_PER_MSEC)
#define REREAD_FACTOR 10

static int look_again(struct symbols *s)
{
	u64 begin_ns = monotonic_ns();
	int err;

	s->looked_ns = begin_ns;
	if (s->kernel_left || !loaded_code__has_news(&s->loaded))
		return 0;
	err = reread_modules(s);
	s->reread_due_ns = begin_ns + (1 + REREAD_FACTOR) * (monotonic_ns() - begin_ns);
	return err;
}

u64 symbols__kernel_changes(struct symbols *s)
{
	/* If out of memory, the names remain unchanged. */
	if (s->kernel_read)
		look_again(s);
	return s->kernel_changes;
}

static bool covers(const struct kernel_symbols *k, u64 address, u32 *i)
{
	*i = symbol_table__find(&k->table, address);
	return *i != SYMBOL_NONE;
}

/* The kernel itself does not move. An unloaded module or BPF program keeps its names for a while. */
static struct kernel_symbols *find_kernel(struct symbols *s, u64 address, u32 *i)
{
	bool is_there = covers(&s->kernel, address, i);
	u32 later;

	if (!s->now.nmodules || (is_there && kernel_symbols__module(&s->kernel, *i) == s->kernel.module))
		return is_there ? &s->kernel : NULL;
	if (covers(&s->now, address, &later)) {
		*i = later;
		return &s->now;
	}
	if (!s->before.nmodules)
		return is_there ? &s->kernel : NULL;
	return covers(&s->before, address, i) ? &s->before : NULL;
}

/* Module tables are replaced, but returned names must remain valid. */
static int keep_names(struct symbols *s, struct symbol *found)
{
	found->module = symbols__intern(s, found->module);
	found->name = symbols__intern(s, found->name);
	return found->module && found->name ? 0 : -ENOMEM;
}

int symbols__kernel(struct symbols *s, u64 address, struct symbol *found)
{
	const struct kernel_module *module;
	struct kernel_symbols *k;
	int err = read_kernel(s);
	u64 now_ns;
	u32 i;

	memset(found, 0, sizeof(*found));
	now_ns = monotonic_ns();
	if (!err && now_ns - s->looked_ns >= LOOK_NS && now_ns >= s->reread_due_ns)
		err = look_again(s);
	if (err)
		return err;
	k = find_kernel(s, address, &i);
	/* On all supported machines, the kernel has the upper half of the address space. */
	if (!k && !(address >> 63))
		return 0;
	found->kind = SYMBOL_KERNEL;
	found->module = "[kernel]";
	found->module_offset = address;
	if (s->kernel.nmodules && address >= s->kernel.module->base)
		found->module_offset = address - s->kernel.module->base;
	if (!k)
		return 0;
	module = kernel_symbols__module(k, i);
	found->module = module->name;
	found->module_offset = address - module->base;
	err = name_it(s, &k->table, address, found);
	return err || k == &s->kernel ? err : keep_names(s, found);
}

int symbols__kernel_source(struct symbols *s, u64 address, const struct source_place **place,
			   size_t *n)
{
	(void)s, (void)address, (void)place;
	*n = 0;
	return 0;
}

/*
 * --- setup and teardown ------------------------------------------------------------------------
 */

int symbols__new(struct symbols **s)
{
	struct symbols *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	TAILQ_INIT(&new->seen);
	STAILQ_INIT(&new->unread);
	TAILQ_INIT(&new->over);
	demangler__init(&new->demangler);
	sources__init(&new->sources);
	*s = new;
	return 0;
}

static void free_file(void *file)
{
	mapped_file__free(file);
}

static void free_nothing(void *node)
{
	(void)node;
}

void symbols__free(struct symbols *s)
{
	struct process *p;
	size_t i;

	if (!s)
		return;
	while ((p = TAILQ_FIRST(&s->seen))) {
		TAILQ_REMOVE(&s->seen, p, order);
		symbols__free_process(s, p);
	}
	while ((p = TAILQ_FIRST(&s->over))) {
		TAILQ_REMOVE(&s->over, p, order);
		symbols__free_process(s, p);
	}
	sources__free(&s->sources);
	tdestroy(s->processes, free_nothing);
	tdestroy(s->told_files, free);
	tdestroy(s->files, free_file);
	symbols__free_texts(s);
	for (i = 0; i < s->nvdsos; i++) {
		mapped_file__free(s->vdso[i].file);
		free(s->vdso[i].image);
	}
	kernel_symbols__free(&s->kernel);
	kernel_symbols__free(&s->now);
	kernel_symbols__free(&s->before);
	demangler__end(&s->demangler);
	free(s);
}
