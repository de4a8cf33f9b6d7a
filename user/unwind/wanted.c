// SPDX-License-Identifier: BSD-2-Clause
#include "unwind/wanted.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/file_owner.h"
#include "base/regular.h"

#include "bpf/lib/unwind.h"

void wanted__init(struct wanted_files *w)
{
	memset(w, 0, sizeof(*w));
	TAILQ_INIT(&w->files);
}

void wanted__free(struct wanted_files *w)
{
	struct wanted_file *f;

	while ((f = wanted__take(w, UINT64_MAX, true))) {
		close(f->fd);
		free(f);
	}
}

static void insert(struct wanted_files *w, struct wanted_file *f, bool soon)
{
	if (soon)
		TAILQ_INSERT_HEAD(&w->files, f, next);
	else
		TAILQ_INSERT_TAIL(&w->files, f, next);
}

u32 wanted__add(struct wanted_files *w, int fd, u32 *mark, bool soon)
{
	struct stat st = {};
	u32 payer = file_owner(fd);
	bool room = w->n < WANTED_MOST && (!payer || w->nusers < WANTED_USERS) && !descriptor_is_scarce(fd);
	struct wanted_file *f = room ? malloc(sizeof(*f)) : NULL;

	if (!f) {
		close(fd);
		return 0;
	}
	*f = (struct wanted_file){ .token = ++w->last_token, .fd = fd, .mark = mark };
	f->size = stat_known(fd, &st) ? 0 : st.st_size;
	f->uid = payer;
	insert(w, f, soon);
	w->n++;
	w->nusers += payer != 0;
	return f->token;
}

void wanted__hasten(struct wanted_files *w, u32 token)
{
	struct wanted_file *f;

	TAILQ_FOREACH(f, &w->files, next)
		if (f->token == token)
			break;
	if (!f)
		return;
	TAILQ_REMOVE(&w->files, f, next);
	insert(w, f, true);
}

/* The cost of starting to read a file, in bytes read. */
#define LEAST_BYTES (1 << 20)

/* Returns how often walks missed the file's table, per byte, or 0 if never. */
static double urgency(const struct wanted_files *w, const struct wanted_file *f)
{
	u32 n = w->lacks ? __atomic_load_n(&w->lacks[f->token % UNWIND_LACKS], __ATOMIC_RELAXED) : 0;

	return (double)n / (f->size + LEAST_BYTES);
}

struct wanted_file *wanted__take(struct wanted_files *w, u64 most, bool users)
{
	struct wanted_file *f = NULL, *other;

	TAILQ_FOREACH(other, &w->files, next)
		if (other->size <= most && (users || !other->uid) && (!f || urgency(w, other) > urgency(w, f)))
			f = other;
	if (!f)
		return NULL;
	TAILQ_REMOVE(&w->files, f, next);
	w->n--;
	w->nusers -= f->uid != 0;
	return f;
}
