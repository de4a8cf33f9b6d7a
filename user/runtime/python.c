// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/python.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agg/variable.h"
#include "base/array.h"
#include "base/regular.h"
#include "report/diag.h"
#include "runtime/python_code.h"
#include "runtime/python_file.h"
#include "sym/elf_symbols.h"
#include "sym/mappings.h"

/* Exceeds the number on any host; further files are ignored. */
#define MOST_FILES 256

/*
 * Limit on code objects with names at a time, since a process can create code endlessly. Each string is kept once,
 * until the end.
 */
#define MOST_CODES (1U << 20)
#define MOST_TEXT_BYTES (64U << 20)
#define MOST_LINE_BYTES (128U << 20)

/* A file with an interpreter's name. */
struct python_known_file {
	dev_t dev;
	ino_t inode;
	struct timespec changed;
	int err;                        /* from python_file__read() */
	struct python_file found;
};

struct python_known_code {
	u32 number;
	u32 pid;
	u64 at_ns;
	const char *name, *file;        /* NULL if unknown */
	u32 first_line;
	u32 nlines;
	u8 *lines;
	enum python_lines line_table;
	bool is_object;                 /* PYTHON_OBJECTS */
	u64 runs, runs_end;             /* see struct python_process */
};

/* --- processes --------------------------------------------------------------------------------- */

static bool same_file(const struct python_known_file *f, const struct stat *st)
{
	return f->dev == st->st_dev && f->inode == st->st_ino && f->changed.tv_sec == st->st_ctim.tv_sec &&
	       f->changed.tv_nsec == st->st_ctim.tv_nsec;
}

/* Returns NULL if out of memory, or if there are too many files. */
static const struct python_known_file *find_file(struct python *p, int fd)
{
	struct python_known_file *f = p->file;
	struct stat st;

	if (stat_known(fd, &st))
		return NULL;
	for (; f < p->file + p->nfiles; f++)
		if (same_file(f, &st))
			return f;
	if (p->nfiles == MOST_FILES)
		return NULL;
	if (ARRAY_ROOM(p->file, p->nfiles))
		return NULL;
	f = &p->file[p->nfiles++];
	*f = (struct python_known_file){ .dev = st.st_dev, .inode = st.st_ino, .changed = st.st_ctim };
	f->err = python_file__read(&f->found, fd, &p->allowance);
	return f;
}

/*
 * Sets *bias to the difference between the mapped addresses of a file and its own. The file is mapped at `start` from
 * `offset`.
 */
static int find_bias(const struct python_file *f, const struct symbols_code *code, u64 *bias)
{
	const struct elf_symbols file = {
		.segment = (struct elf_segment *)f->segment,
		.nsegments = f->nsegments,
	};
	u64 address;
	int err = elf_symbols__mapped_address(&file, code->offset, &address);

	if (!err)
		*bias = code->start - address;
	return err;
}

static int put_process(struct python *p, const struct python_file *f, u64 bias)
{
	struct process_stamp stamp;
	struct python_process process = {
		.runtime = f->runtime + bias, .code_type = f->code_type + bias,
		.text_type = f->text_type + bias, .bytes_type = f->bytes_type + bias,
		.runs = f->runs + bias, .runs_end = f->runs_end + bias,
		.layout = f->layout,
	};

	if (symbols__stamp(p->symbols, p->pid, &stamp))
		return 0;
	process.code = stamp.code;
	process.stack = stamp.stack;
	if (!p->codes) {
		p->process = process;
		p->has_process = true;
		return 1;
	}
	if (bpf_map_update_elem(p->processes_fd, &p->pid, &process, BPF_ANY))
		p->refused++;
	else
		__atomic_store_n(p->processes_known, 1, __ATOMIC_RELEASE);
	return 1;
}

static int take_code(void *arg, const struct symbols_code *code)
{
	const struct python_known_file *f;
	struct python *p = arg;
	u64 bias;
	int fd;

	if (!code->module || !strstr(code->module, "python"))
		return 0;
	fd = symbols__open_code(p->symbols, p->pid, code);
	if (fd < 0)
		return 0;
	f = find_file(p, fd);
	close(fd);
	if (f && f->err == -EOPNOTSUPP) {
		p->unsupported++;
		p->version = f->found.version;
		return 1;
	}
	if (!f || f->err || find_bias(&f->found, code, &bias))
		return 0;
	return put_process(p, &f->found, bias);
}

int python__see(struct python *p, u32 pid)
{
	int err;

	if (!p->symbols)
		return 0;
	p->pid = pid;
	p->has_process = false;
	err = symbols__each_code(p->symbols, pid, take_code, p);
	return err == -ENOMEM ? err : 0;
}

const struct python_process *python__process(const struct python *p)
{
	return p->has_process ? &p->process : NULL;
}

/* --- code -------------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Takes ownership of a string, and returns its unique copy. Returns NULL if out of memory, or if text is NULL. */
static const char *intern(struct python *p, char *text)
{
	bool has_room = p->text_bytes < MOST_TEXT_BYTES;
	char **known = !text ? NULL : has_room ? tsearch(text, &p->texts, compare_texts) :
						 tfind(text, &p->texts, compare_texts);

	if (known && *known == text)
		p->text_bytes += strlen(text) + 1;
	else
		free(text);
	return known ? *known : NULL;
}

static bool same_number(const void *array, u32 index, const void *key)
{
	return ((const struct python_known_code *)array)[index].number == *(const u32 *)key;
}

static struct python_known_code *find_code(const struct python *p, u32 number)
{
	s64 known = table__find(&p->by_number, table_hash(0, &number, sizeof(number)), same_number, p->code, &number);

	return known < 0 ? NULL : &p->code[known];
}

/* Returns NULL if out of memory, or if there are too many code objects. */
static struct python_known_code *make_code(struct python *p, u32 number)
{
	struct python_known_code *c = find_code(p, number);

	if (c || p->ncodes == MOST_CODES)
		return c;
	if (ARRAY_ROOM(p->code, p->ncodes))
		return NULL;
	if (table__add(&p->by_number, table_hash(0, &number, sizeof(number)), p->ncodes))
		return NULL;
	c = &p->code[p->ncodes++];
	*c = (struct python_known_code){ .number = number };
	return c;
}

static void drop_lines(struct python *p, struct python_known_code *c)
{
	p->line_bytes -= c->nlines;
	free(c->lines);
	c->lines = NULL;
	c->nlines = 0;
}

/* Without a line table, frames show the first line of the function. */
static void keep_lines(struct python *p, struct python_known_code *c, const u8 *lines, u32 n)
{
	drop_lines(p, c);
	c->lines = n && p->line_bytes < MOST_LINE_BYTES ? malloc(n) : NULL;
	if (!c->lines)
		return;
	memcpy(c->lines, lines, n);
	c->nlines = n;
	p->line_bytes += n;
}

void python__take(struct python *p, const struct python_code *sent)
{
	struct python_known_code *c = make_code(p, sent->number);

	if (!c) {
		p->unkept++;
		return;
	}
	c->pid = sent->pid;
	c->at_ns = sent->at_ns;
	c->name = intern(p, python_text(&sent->name, sent->name_bytes, sizeof(sent->name_bytes)));
	c->file = intern(p, python_text(&sent->file, sent->file_bytes, sizeof(sent->file_bytes)));
	c->first_line = sent->first_line;
	c->line_table = sent->layout.line_table;
	c->is_object = sent->layout.flags & PYTHON_OBJECTS;
	c->runs = sent->runs;
	c->runs_end = sent->runs_end;
	if (!c->name || !c->file)
		p->unkept++;
	keep_lines(p, c, sent->lines, sent->nlines);
}

static int take_record(void *ctx, void *data, size_t size)
{
	const struct python_code *sent = data;

	if (size >= offsetof(struct python_code, lines) && sent->nlines <= size - offsetof(struct python_code, lines))
		python__take(ctx, sent);
	return 0;
}

int python__read(struct python *p)
{
	int n = p->codes ? ring_buffer__consume(p->codes) : 0;

	return n < 0 ? n : 0;
}

void python__forget_over(struct python *p, u64 before_ns)
{
	u32 n = 0, i;

	for (i = 0; i < p->ncodes; i++) {
		struct python_known_code *c = &p->code[i];

		if (symbols__is_over(p->symbols, c->pid, c->at_ns, before_ns))
			drop_lines(p, c);
		else
			p->code[n++] = *c;
	}
	if (n == p->ncodes)
		return;
	p->ncodes = n;
	table__free(&p->by_number);
	p->by_number = (struct table){};
	/* If out of memory for the index, missing entries have no names. */
	for (i = 0; i < n; i++)
		table__add(&p->by_number, table_hash(0, &p->code[i].number, sizeof(p->code[i].number)), i);
}

int python__epoll_fd(const struct python *p)
{
	return ring_buffer__epoll_fd(p->codes);
}

void python__find(struct python *p, u64 word, struct python_frame *found)
{
	const struct python_known_code *c = find_code(p, python_code_of(word));
	u32 instruction = python_instruction_of(word);
	const char *slash;

	*found = (struct python_frame){};
	if (!c || !c->name || !c->file)
		return;
	slash = strrchr(c->file, '/');
	*found = (struct python_frame){
		.name = c->name, .file = c->file, .module = slash ? slash + 1 : c->file,
		.first_line = c->first_line,
	};
	if (instruction != PYTHON_NO_INSTRUCTION)
		found->line = python_line(c->line_table, c->lines, c->nlines, c->first_line, instruction);
}

bool python__is_object(const struct python *p, u64 word, u64 *runs, u64 *runs_end)
{
	const struct python_known_code *c = find_code(p, python_code_of(word));

	if (!c || !c->is_object)
		return false;
	*runs = c->runs;
	*runs_end = c->runs_end;
	return true;
}

/* --- the run ----------------------------------------------------------------------------------- */

int python__begin(struct python *p, const struct bpf_object *obj, struct symbols *symbols)
{
	int codes_fd = bpf_object__find_map_fd_by_name(obj, "python_codes");

	*p = (struct python){ .symbols = symbols };
	p->processes_fd = bpf_object__find_map_fd_by_name(obj, "python_processes");
	p->processes_known = object_variable(obj, ".bss", "python_processes_known");
	if (codes_fd < 0 || p->processes_fd < 0 || !p->processes_known)
		return -ENOENT;
	p->codes = ring_buffer__new(codes_fd, take_record, p, NULL);
	return p->codes ? 0 : -errno;
}

void python__begin_apart(struct python *p, struct symbols *symbols)
{
	*p = (struct python){ .symbols = symbols };
}

static const char *describe_version(u32 version, char *text, size_t size)
{
	if (!version)
		return "before 3.9";
	snprintf(text, size, "%u.%u", version >> 24, version >> 16 & 0xff);
	return text;
}

void python__end(struct python *p)
{
	char version[32];
	u32 i;

	if (p->unsupported)
		diag_warn("Python %s: the location of its frames is unknown; they are shown as frames of the "
			  "interpreter",
			  describe_version(p->version, version, sizeof(version)));
	if (p->unkept)
		diag_warn("no room for the names of %llu more Python functions", p->unkept);
	if (p->refused)
		diag_warn("no room for %llu more Python processes: their frames are shown as frames of the interpreter",
			  p->refused);
	ring_buffer__free(p->codes);
	for (i = 0; i < p->ncodes; i++)
		free(p->code[i].lines);
	free(p->code);
	table__free(&p->by_number);
	free(p->file);
	tdestroy(p->texts, free);
	*p = (struct python){};
}
