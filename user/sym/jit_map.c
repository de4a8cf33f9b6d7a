// SPDX-License-Identifier: BSD-2-Clause
#include "sym/jit_map.h"

#include <errno.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/regular.h"
#include "sym/mappings.h"
#include "sym/root.h"

/*
 * --- text --------------------------------------------------------------------------------------
 */

/* A runtime writes about 100,000 lines; a file of the shortest possible lines would have 10 million. */
#define MAX_PIECES (2U << 20)

struct piece {
	u64 start;
	u32 size;
	u32 line;               /* a larger number is newer */
	u32 name, len;          /* position in the text */
};

struct pieces {
	struct piece *piece;
	size_t n;
};

/* Parses a hex number of at most 64 bits, followed by a blank. Returns the rest, or NULL. */
static const char *take_hex(const char *at, const char *end, u64 *out)
{
	const char *first;
	u64 value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (first = at; at < end && *at != ' '; at++) {
		u32 digit = *at - '0';

		if (digit > 9) {
			digit = (*at | 0x20) - 'a';
			if (digit > 5)
				return NULL;
			digit += 10;
		}
		if (value >> 60)
			return NULL;
		value = value << 4 | digit;
	}
	if (at == first || at == end)
		return NULL;
	while (at < end && *at == ' ')
		at++;
	*out = value;
	return at;
}

static bool parse_piece(struct piece *p, const char *text, const char *at, const char *end)
{
	u64 size, ignored;

	at = take_hex(at, end, &p->start);
	at = at ? take_hex(at, end, &size) : NULL;
	if (!at || !size || size > UINT32_MAX || __builtin_add_overflow(p->start, size, &ignored))
		return false;
	if (end > at && end[-1] == '\r')
		end--;
	p->size = size;
	p->name = at - text;
	p->len = strnlen(at, end - at);
	return p->len > 0;
}

static int add_piece(struct pieces *all, const struct piece *p)
{
	return ARRAY_APPEND(all->piece, all->n, *p);
}

/* Returns the start of the last MAX_PIECES lines. */
static const char *last_lines(const char *text, size_t size)
{
	const char *at = text + size;
	size_t n = 0;

	/* Not memrchr(): the sanitizers' version scans the whole range each time. */
	while (at > text && n <= MAX_PIECES)
		n += *--at == '\n';
	return n > MAX_PIECES ? at + 1 : text;
}

static int find_pieces(struct pieces *all, const char *text, size_t size)
{
	const char *at = last_lines(text, size), *end;
	struct piece p = {};
	int err = 0;

	while (!err && at < text + size) {
		end = memchr(at, '\n', text + size - at);
		if (!end)
			break;                  /* this line is still being written */
		if (parse_piece(&p, text, at, end))
			err = add_piece(all, &p);
		p.line++;
		at = end + 1;
	}
	return err;
}

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->line < y->line ? -1 : 1;
}

/* Removes overlaps: newer pieces have overwritten older ones. */
static void drop_replaced(struct pieces *all)
{
	struct piece *p = all->piece;
	size_t i, n = 0;

	for (i = 0; i < all->n; i++) {
		while (n && p[n - 1].start + p[n - 1].size > p[i].start &&
		       p[n - 1].line < p[i].line)
			n--;
		if (!n || p[n - 1].start + p[n - 1].size <= p[i].start)
			p[n++] = p[i];
	}
	all->n = n;
}

static int make_table(struct symbol_table *t, const struct pieces *all, const char *text)
{
	struct symbol_entry *entry;
	size_t i, at = 0, size = 0;
	char *names;

	for (i = 0; i < all->n; i++)
		size += all->piece[i].len + 1;
	entry = malloc((all->n ?: 1) * sizeof(*entry));
	names = malloc(size ?: 1);
	if (!entry || !names) {
		free(entry);
		free(names);
		return -ENOMEM;
	}
	for (i = 0; i < all->n; i++) {
		const struct piece *p = &all->piece[i];

		entry[i] = (struct symbol_entry){ .start = p->start, .size = p->size, .name = at };
		memcpy(names + at, text + p->name, p->len);
		names[at + p->len] = 0;
		at += p->len + 1;
	}
	return symbol_table__adopt(t, entry, all->n, names, size);
}

int jit_map__parse(struct symbol_table *t, const char *text, size_t size)
{
	struct pieces all = {};
	int err;

	err = find_pieces(&all, text, size);
	if (!err) {
		if (all.n)
			qsort(all.piece, all.n, sizeof(*all.piece), by_start);
		drop_replaced(&all);
		err = make_table(t, &all, text);
	}
	free(all.piece);
	return err;
}

/*
 * --- the file ----------------------------------------------------------------------------------
 */

void jit_map__init(struct jit_map *j)
{
	memset(j, 0, sizeof(*j));
	j->fd = -1;
}

void jit_map__free(struct jit_map *j)
{
	if (j->fd >= 0)
		close(j->fd);
	symbol_table__free(&j->table);
	jit_map__init(j);
}

/*
 * True if the file was surely written earlier. File times are up to one timer tick (10 ms) late, and some file
 * systems round them to one or two seconds.
 */
static bool is_older(const struct stat *st, s64 than_ns)
{
	s64 written_ns = st->st_mtim.tv_sec * (s64)NSEC_PER_SEC + st->st_mtim.tv_nsec;
	s64 slack_ns = st->st_mtim.tv_nsec ? 20 * NSEC_PER_MSEC : 2 * NSEC_PER_SEC;

	return written_ns + slack_ns < than_ns;
}

int jit_map__open(struct jit_map *j, u32 pid)
{
	struct process_self self;
	struct stat st;
	s64 began_ns;
	char path[32];
	int err, fd;

	err = process_self__read(&self, pid);
	if (err)
		return err;
	err = process_began(pid, &began_ns);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", self.pid);
	fd = root__open(pid, path, RESOLVE_NO_SYMLINKS, &st);
	if (fd < 0)
		return fd;
	if ((st.st_uid && st.st_uid != self.uid) || st.st_nlink != 1)
		err = -EPERM;
	else if (j->fd >= 0 && st.st_dev == j->dev && st.st_ino == j->inode)
		err = -EEXIST;
	else if (is_older(&st, began_ns))
		err = j->err = -ESTALE;
	if (err) {
		close(fd);
		return err == -EEXIST ? 0 : err;
	}
	if (j->fd >= 0)
		close(j->fd);
	j->fd = fd;
	j->dev = st.st_dev;
	j->inode = st.st_ino;
	j->size = 0;
	return 0;
}

/* Reads at most size bytes, starting at an offset. */
static ssize_t read_from(int fd, u64 offset, char *text, size_t size)
{
	size_t at = 0;
	ssize_t n = 1;

	while (n > 0 && at < size) {
		n = pread(fd, text + at, size - at, offset + at);
		if (n > 0)
			at += n;
	}
	return n < 0 ? -errno : (ssize_t)at;
}

struct part {
	u64 offset;
	size_t size;
};

struct head {
	u64 entries, names_size, is_cut;
};

/* Callback of confined_work; the file is descriptor 0. */
static void read_map(struct answer *to, void *arg)
{
	const struct part *part = arg;
	struct symbol_table t = {};
	char *text = malloc(part->size ?: 1), *at = text;
	ssize_t n = text ? read_from(0, part->offset, text, part->size) : -ENOMEM;
	struct head head = {};

	if (n > 0 && part->offset) {
		at = memchr(text, '\n', n) ?: text + n;        /* the first line of this part is incomplete */
		n -= at - text;
	}
	if (n < 0 || jit_map__parse(&t, at, n))
		_exit(1);
	head.entries = t.n;
	head.names_size = t.names_size;
	head.is_cut = part->offset || last_lines(at, n) > at;
	answer__put(to, &head, sizeof(head));
	answer__put(to, t.entry, t.n * sizeof(*t.entry));
	answer__put(to, t.names, t.names_size);
	/* The child exits now, so nothing needs freeing. */
}

/* Parses the answer, which is untrusted. */
static int take_map(struct symbol_table *t, bool *is_cut, const char *answer, size_t size)
{
	struct symbol_entry *entry;
	struct head head;
	char *names;

	if (size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, answer, sizeof(head));
	answer += sizeof(head);
	size -= sizeof(head);
	if (head.entries > size / sizeof(*entry) ||
	    head.names_size != size - head.entries * sizeof(*entry))
		return -EBADMSG;
	size = head.entries * sizeof(*entry);
	entry = malloc(size ?: 1);
	names = malloc(head.names_size ?: 1);
	if (!entry || !names) {
		free(entry);
		free(names);
		return -ENOMEM;
	}
	memcpy(entry, answer, size);
	memcpy(names, answer + size, head.names_size);
	*is_cut = head.is_cut;
	return symbol_table__adopt(t, entry, head.entries, names, head.names_size);
}

int jit_map__read(struct jit_map *j, struct allowance *allowance)
{
	struct symbol_table new;
	struct part part;
	struct stat st;
	bool is_cut;
	void *answer;
	size_t n;
	int err;

	if (j->fd < 0 || stat_known(j->fd, &st) || (u64)st.st_size == j->size)
		return 0;
	part.size = st.st_size < JIT_MAP_MAX ? st.st_size : JIT_MAP_MAX;
	part.offset = st.st_size - part.size;
	err = confined__run(read_map, &part, &j->fd, 1, allowance, &answer, &n);
	if (err) {
		j->err = err;
		return err == -ENOMEM ? err : 0;
	}
	err = take_map(&new, &is_cut, answer, n);
	free(answer);
	if (err)
		return err == -ENOMEM ? err : 0;
	/*
	 * The new table replaces the old one, so credit its memory to the allowance. The memory of all tables is
	 * limited elsewhere.
	 */
	allowance->spent_bytes -= n < allowance->spent_bytes ? n : allowance->spent_bytes;
	j->err = is_cut ? -EFBIG : 0;
	symbol_table__free(&j->table);
	j->table = new;
	j->size = st.st_size;
	return 0;
}

const char *jit_map__why(int err)
{
	if (err == -ESTALE)
		return "older than the process: not used";
	return err == -EFBIG ? "too large: its oldest names are left out" : confined__why(err);
}
