// SPDX-License-Identifier: BSD-2-Clause
#include "types/tracefs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/whole_file.h"

/* Far above the size of any format file: the longest known have 30 kB. */
#define FORMAT_MAX (4 << 20)

/* --- the file system ------------------------------------------------------------------------- */

/* Opens the events directory below a tracefs mount point. Returns a descriptor or a negative errno. */
static int open_mounted(const char *path)
{
	struct statfs fs;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstatfs(fd, &fs) && fs.f_type == TRACEFS_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/* The mount is detached and has no path; the kernel removes it when the last descriptor is closed. */
int open_private(const char *type, const char *directory)
{
	int fs, mount = -1, fd = -1, err;

	fs = fsopen(type, FSOPEN_CLOEXEC);
	if (fs < 0)
		return -errno;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (mount >= 0)
		fd = openat(mount, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	if (mount >= 0)
		close(mount);
	close(fs);
	return err ?: fd;
}

static const char *const places[] = {
	"/sys/kernel/tracing/events",
	"/sys/kernel/debug/tracing/events",
};

bool tracefs__is_mounted(void)
{
	size_t i;
	int fd = -1;

	for (i = 0; i < ARRAY_SIZE(places) && fd < 0; i++)
		fd = open_mounted(places[i]);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int tracefs__open(void)
{
	bool forbidden = false;
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		fd = open_mounted(places[i]);
		if (fd >= 0)
			return fd;
		forbidden |= fd == -EACCES || fd == -EPERM;
	}
	fd = open_private("tracefs", "events");
	if (fd >= 0)
		return fd;
	return forbidden || fd == -EACCES || fd == -EPERM ? -EPERM : -ENOENT;
}

/* True for a valid name. Names come from the user and are used in paths. */
static bool is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) <= NAME_MAX;
}

static int open_file(int tracefs, const char *system, const char *name, const char *file)
{
	char path[2 * NAME_MAX + 16];
	int fd;

	if (!is_name(system) || !is_name(name))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s/%s", system, name, file);
	fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == EACCES ? -EPERM : -errno;
}

/* --- listing tracepoints --------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	const struct tracepoint_name *x = a, *y = b;
	int order = strcmp(x->system, y->system);

	if (order || !x->name || !y->name)
		return order;
	return strcmp(x->name, y->name);
}

static int add_name(struct tracepoints *t, const char *system, const char *name)
{
	struct tracepoint_name new;

	if (ARRAY_ROOM(t->tracepoint, t->n))
		return -ENOMEM;
	new.system = strdup(system);
	new.name = name ? strdup(name) : NULL;
	if (!new.system || (name && !new.name)) {
		free(new.system);
		free(new.name);
		return -ENOMEM;
	}
	t->tracepoint[t->n++] = new;
	return 0;
}

/* Adds the directories in at/path whose names match. If system is NULL, the directories are systems. */
static int add_directories(struct tracepoints *t, int at, const char *path, const char *system,
			   const char *glob)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct dirent *e;
	DIR *dir;

	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (errno = 0, e = readdir(dir))) {
		if (e->d_type != DT_DIR || *e->d_name == '.')
			continue;
		if (glob && fnmatch(glob, e->d_name, 0))
			continue;
		err = add_name(t, system ?: e->d_name, system ? e->d_name : NULL);
	}
	if (!err)
		err = -errno;
	closedir(dir);
	return err;
}

static int find_systems(struct tracepoints *found, int tracefs, const char *glob)
{
	struct tracepoints t = {};
	int err = add_directories(&t, tracefs, ".", NULL, glob);

	if (err) {
		tracepoints__free(&t);
		return err;
	}
	if (t.n)
		qsort(t.tracepoint, t.n, sizeof(*t.tracepoint), compare_names);
	*found = t;
	return 0;
}

int tracepoints__systems(struct tracepoints *found, int tracefs)
{
	return find_systems(found, tracefs, NULL);
}

int tracepoints__find(struct tracepoints *found, int tracefs, const char *system, const char *name)
{
	struct tracepoints systems, t = {};
	size_t i;
	int err;

	err = find_systems(&systems, tracefs, system);
	if (err)
		return err;
	for (i = 0; i < systems.n && !err; i++) {
		const char *each = systems.tracepoint[i].system;

		err = add_directories(&t, tracefs, each, each, name);
		if (err == -ENOENT)     /* a module has just been unloaded */
			err = 0;
	}
	tracepoints__free(&systems);
	if (err) {
		tracepoints__free(&t);
		return err;
	}
	if (t.n)
		qsort(t.tracepoint, t.n, sizeof(*t.tracepoint), compare_names);
	*found = t;
	return 0;
}

void tracepoints__free(struct tracepoints *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		free(t->tracepoint[i].system);
		free(t->tracepoint[i].name);
	}
	free(t->tracepoint);
	*t = (struct tracepoints){};
}

int tracepoint__id(int tracefs, const char *system, const char *name, u32 *id)
{
	int fd = open_file(tracefs, system, name, "id"), err;
	unsigned long n;
	char *text, *end;

	if (fd < 0)
		return fd;
	err = whole_file__read(fd, FORMAT_MAX, &text, NULL);
	close(fd);
	if (err)
		return err;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text) || (*end && *end != '\n') || n > UINT32_MAX)
		err = -EINVAL;
	else
		*id = n;
	free(text);
	return err;
}

/* --- formats --------------------------------------------------------------------------------- */

/* A part of the text, not NUL-terminated. */
struct span {
	const char *at;
	size_t len;
};

static struct span trimmed(struct span s)
{
	while (s.len && isspace((unsigned char)*s.at)) {
		s.at++;
		s.len--;
	}
	while (s.len && isspace((unsigned char)s.at[s.len - 1]))
		s.len--;
	return s;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Removes a word from the front. */
static bool take_word(struct span *s, const char *word)
{
	size_t n = strlen(word);

	if (s->len < n || memcmp(s->at, word, n) || (s->len > n && is_word(s->at[n])))
		return false;
	*s = trimmed((struct span){ s->at + n, s->len - n });
	return true;
}

/*
 * Removes the bounds [..]..[..] from the end. Sets *product to the product of their numbers, or to 0 if one is not a
 * number (names that the kernel does not replace: TASK_COMM_LEN before 5.17, sizeof(struct sockaddr_in6)).
 */
static bool take_bounds(struct span *s, u64 *product)
{
	bool any = false;

	for (*product = 1; s->len && s->at[s->len - 1] == ']'; any = true) {
		size_t open = s->len - 1;
		u64 n = 0;
		char *end;

		while (open && s->at[open] != '[')
			open--;
		if (s->at[open] != '[')
			return any;
		if (isdigit((unsigned char)s->at[open + 1]))
			n = strtoull(s->at + open + 1, &end, 0);
		if (n > UINT32_MAX || (n && end != s->at + s->len - 1))
			n = 0;
		if (__builtin_mul_overflow(*product, n, product))
			*product = 0;
		*s = trimmed((struct span){ s->at, open });
	}
	return any;
}

/* Returns the size of element types that occur in arrays with symbolic bounds, or 0 for others. */
static u32 size_of_type(const char *type)
{
	static const struct {
		const char *name;
		u32 size;
	} types[] = {
		{ "char", 1 },           { "signed char", 1 },    { "unsigned char", 1 },
		{ "u8", 1 },             { "__u8", 1 },           { "s8", 1 },
		{ "uint8_t", 1 },        { "int8_t", 1 },         { "bool", 1 },
		{ "short", 2 },          { "unsigned short", 2 }, { "u16", 2 },
		{ "__u16", 2 },          { "__be16", 2 },         { "uint16_t", 2 },
		{ "int", 4 },            { "unsigned int", 4 },   { "unsigned", 4 },
		{ "u32", 4 },            { "__u32", 4 },          { "__be32", 4 },
		{ "s32", 4 },            { "uint32_t", 4 },       { "int32_t", 4 },
		{ "u64", 8 },            { "__u64", 8 },          { "__be64", 8 },
		{ "s64", 8 },            { "uint64_t", 8 },       { "unsigned long long", 8 },
		{ "long", sizeof(long) }, { "unsigned long", sizeof(long) },
	};
	size_t i;

	if (!strncmp(type, "const ", 6))
		type += 6;
	if (*type && type[strlen(type) - 1] == '*')
		return sizeof(void *);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(type, types[i].name))
			return types[i].size;
	return 0;
}

/* Returns a span as a string, with runs of blanks collapsed, or NULL if out of memory. */
static char *copy_span(struct span s)
{
	char *text = malloc(s.len + 1), *out = text;
	size_t i;

	if (!text)
		return NULL;
	for (i = 0; i < s.len; i++)
		if (!isspace((unsigned char)s.at[i]) || !i || !isspace((unsigned char)s.at[i - 1]))
			*out++ = isspace((unsigned char)s.at[i]) ? ' ' : s.at[i];
	*out = 0;
	return text;
}

/* Takes the name from inside "void (*NAME)(int)". */
static bool take_function_pointer(struct span *s, struct span *name)
{
	const char *open = memmem(s->at, s->len, "(*", 2), *close;

	if (!open)
		return false;
	close = memchr(open, ')', s->at + s->len - open);
	if (!close)
		return false;
	*name = trimmed((struct span){ open + 2, close - open - 2 });
	*s = (struct span){ "void *", 6 };
	return name->len;
}

/* Parses the declaration between "field:" and the first ";": "__data_loc char[] name", "u8 a[6]". */
static int parse_declaration(struct tracepoint_field *f, struct span s, u64 *bound)
{
	struct span name, digits;
	u64 unused;

	s = trimmed(s);
	f->is_dynamic = take_word(&s, "__data_loc");
	if (!f->is_dynamic)
		f->is_relative = take_word(&s, "__rel_loc");
	if (!take_function_pointer(&s, &name)) {
		/* A bit-field's width follows the name. */
		digits = s;
		while (digits.len && isdigit((unsigned char)digits.at[digits.len - 1]))
			digits.len--;
		digits = trimmed(digits);
		if (digits.len && digits.at[digits.len - 1] == ':')
			s = trimmed((struct span){ s.at, digits.len - 1 });
		if (!take_bounds(&s, bound))
			*bound = UINT64_MAX;
		name = (struct span){ s.at + s.len, 0 };
		while (name.at > s.at && is_word(name.at[-1])) {
			name.at--;
			name.len++;
		}
		s = trimmed((struct span){ s.at, s.len - name.len });
		take_bounds(&s, &unused);       /* char[] name */
	}
	if (!name.len || !s.len)
		return -EINVAL;
	f->name = copy_span(name);
	f->type = copy_span(s);
	return f->name && f->type ? 0 : -ENOMEM;
}

/* Parses "label:NUMBER;", which may be anywhere in the rest of a field's line. */
static int parse_number(struct span line, const char *label, u32 *out)
{
	const char *at = memmem(line.at, line.len, label, strlen(label));
	unsigned long long n;
	char *end;

	if (!at)
		return -ENOENT;
	at += strlen(label);
	if (!isdigit((unsigned char)*at))
		return -EINVAL;
	errno = 0;
	n = strtoull(at, &end, 10);
	if (errno || n > UINT32_MAX || *end != ';')
		return -EINVAL;
	*out = n;
	return 0;
}

/* bound is the product of the bounds, 0 if they are not numbers, or UINT64_MAX if there are none. */
static u32 count_elements(const struct tracepoint_field *f, u64 bound)
{
	u32 each;

	if (bound == UINT64_MAX || f->is_dynamic || f->is_relative || !f->size)
		return 0;
	if (bound && bound <= f->size && f->size % bound == 0)
		return bound;
	each = size_of_type(f->type);
	/* Treat an array with symbolic bounds and an unknown element type as one element. */
	return each && f->size % each == 0 ? f->size / each : 1;
}

static int parse_field(struct tracepoint_field *f, struct span line, bool is_first_block)
{
	const char *end = memchr(line.at, ';', line.len);
	u64 bound = UINT64_MAX;
	struct span rest;
	u32 is_signed = 0;
	int err;

	if (!end)
		return -EINVAL;
	rest = (struct span){ end, line.at + line.len - end };
	err = parse_declaration(f, (struct span){ line.at, end - line.at }, &bound);
	if (!err)
		err = parse_number(rest, "offset:", &f->offset);
	if (!err)
		err = parse_number(rest, "size:", &f->size);
	if (err)
		return err == -ENOENT ? -EINVAL : err;
	err = parse_number(rest, "signed:", &is_signed);
	if (err && err != -ENOENT)
		return err;
	f->is_signed = is_signed;
	f->is_common = is_first_block && !strncmp(f->name, "common_", 7);
	f->elements = count_elements(f, bound);
	return 0;
}

static int add_field(struct tracepoint_format *f, struct span line, bool is_first_block)
{
	if (ARRAY_ROOM(f->field, f->nfields))
		return -ENOMEM;
	f->field[f->nfields] = (struct tracepoint_field){};
	return parse_field(&f->field[f->nfields++], line, is_first_block);
}

static bool take_label(struct span *line, const char *label)
{
	size_t n = strlen(label);

	if (line->len < n || memcmp(line->at, label, n))
		return false;
	*line = (struct span){ line->at + n, line->len - n };
	return true;
}

static int parse_id(u32 *id, struct span line)
{
	unsigned long n;
	char *end;

	line = trimmed(line);
	if (!line.len || !isdigit((unsigned char)*line.at))
		return -EINVAL;
	errno = 0;
	n = strtoul(line.at, &end, 10);
	if (errno || n > UINT32_MAX || end != line.at + line.len)
		return -EINVAL;
	*id = n;
	return 0;
}

int tracepoint_format__parse(struct tracepoint_format *out, const char *text)
{
	struct tracepoint_format f = {};
	bool have_id = false, is_first_block = true;
	const char *next;
	int err = 0;

	for (; *text && !err && !f.print; text = *next ? next + 1 : next) {
		struct span line;

		next = strchrnul(text, '\n');
		line = trimmed((struct span){ text, next - text });
		if (take_label(&line, "field:")) {
			err = add_field(&f, line, is_first_block);
		} else if (take_label(&line, "ID:")) {
			err = parse_id(&f.id, line);
			have_id = true;
		} else if (take_label(&line, "print fmt:")) {
			/* The last part of the file, whose string may contain a newline. */
			line = trimmed((struct span){ line.at, strlen(line.at) });
			f.print = strndup(line.at, line.len);
			err = f.print ? 0 : -ENOMEM;
		} else if (!line.len && f.nfields) {
			is_first_block = false;
		}
	}
	if (!err && !f.print) {
		f.print = strdup("");
		err = f.print ? 0 : -ENOMEM;
	}
	if (!err && !have_id)
		err = -EINVAL;
	if (err)
		tracepoint_format__free(&f);
	else
		*out = f;
	return err;
}

int tracepoint_format__read(struct tracepoint_format *f, int tracefs, const char *system,
			    const char *name)
{
	int fd = open_file(tracefs, system, name, "format"), err;
	char *text;

	if (fd < 0)
		return fd;
	err = whole_file__read(fd, FORMAT_MAX, &text, NULL);
	close(fd);
	if (err)
		return err;
	err = tracepoint_format__parse(f, text);
	free(text);
	return err;
}

void tracepoint_format__free(struct tracepoint_format *f)
{
	size_t i;

	for (i = 0; i < f->nfields; i++) {
		free(f->field[i].type);
		free(f->field[i].name);
	}
	free(f->field);
	free(f->print);
	*f = (struct tracepoint_format){};
}
