// SPDX-License-Identifier: BSD-2-Clause
#include "memory/rss.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/numbers.h"

/* "RssAnon:	    1234 kB" */
static bool parse_line(const char *line, u64 bytes[RSS_PARTS])
{
	static const char *const names[RSS_PARTS] = {
		[RSS_ANON] = "RssAnon:", [RSS_FILE] = "RssFile:", [RSS_SHMEM] = "RssShmem:",
	};
	size_t i;

	for (i = 0; i < RSS_PARTS; i++) {
		if (strncmp(line, names[i], strlen(names[i])))
			continue;
		bytes[i] = strtoull(line + strlen(names[i]), NULL, 10) << 10;
		return true;
	}
	return false;
}

/* Returns false if the process is gone, or is a kernel thread. */
static bool read_rss(struct rss *r, u32 pid)
{
	size_t room = 0, found = 0;
	char path[64], *line = NULL;
	FILE *f;

	*r = (struct rss){ .pid = pid };
	if (process_stamp__read(&r->stamp, pid))
		return false;
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (found < RSS_PARTS && getline(&line, &room, f) > 0)
		found += parse_line(line, r->bytes);
	free(line);
	fclose(f);
	return found == RSS_PARTS;
}

static int add(struct rss_set *set, const struct rss *r)
{
	return ARRAY_APPEND(set->rss, set->n, *r);
}

static int compare(const void *a, const void *b)
{
	const struct rss *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int rss_set__read(struct rss_set *set)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;
	struct rss r;
	u64 pid;
	int err = 0;

	*set = (struct rss_set){};
	if (!dir)
		return -errno;
	while (!err && (e = readdir(dir)))
		if (!parse_u64_between(e->d_name, 1, UINT32_MAX, &pid) && read_rss(&r, pid))
			err = add(set, &r);
	closedir(dir);
	if (err)
		rss_set__free(set);
	else if (set->n)
		qsort(set->rss, set->n, sizeof(*set->rss), compare);
	return err;
}

struct rss *rss_set__find(const struct rss_set *set, u32 pid)
{
	const struct rss key = { .pid = pid };

	return set->n ? bsearch(&key, set->rss, set->n, sizeof(key), compare) : NULL;
}

static bool is_same(const struct process_stamp *a, const struct process_stamp *b)
{
	return a->start_time == b->start_time && a->code == b->code && a->stack == b->stack;
}

/* Returns the same process with the same program, or NULL. */
static const struct rss *find_same(const struct rss *now, const struct rss_set *earlier)
{
	const struct rss *then = rss_set__find(earlier, now->pid);

	return then && is_same(&then->stamp, &now->stamp) ? then : NULL;
}

bool rss__growth(const struct rss *now, const struct rss_set *earlier, s64 growth[RSS_PARTS])
{
	const struct rss *then = find_same(now, earlier);
	bool any = false;
	size_t i;

	for (i = 0; i < RSS_PARTS; i++) {
		growth[i] = now->bytes[i] - (then ? then->bytes[i] : 0);
		any |= growth[i] != 0;
	}
	return any;
}

const struct rss *rss__told(const struct rss *now, const struct rss_set *earlier)
{
	const struct rss *then = find_same(now, earlier);

	return then && then->told ? then : NULL;
}

void rss_set__keep_untold(struct rss_set *now, const struct rss_set *earlier)
{
	const struct rss *then;
	size_t i, k;

	for (i = 0; i < now->n; i++) {
		if (now->rss[i].told)
			continue;
		then = find_same(&now->rss[i], earlier);
		for (k = 0; k < RSS_PARTS; k++)
			now->rss[i].bytes[k] = then ? then->bytes[k] : 0;
	}
}

void rss_set__free(struct rss_set *set)
{
	free(set->rss);
	*set = (struct rss_set){};
}
