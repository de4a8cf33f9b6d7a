// SPDX-License-Identifier: BSD-2-Clause
#include "event/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/numbers.h"

#include "bpf/lib/scope.h"

#define DEVICES "/sys/bus/event_source/devices"
#define UNCORE "uncore_"
#define FILE_MAX 4096   /* a sysfs file is at most one page */

/* --- files ---------------------------------------------------------------------------------- */

/* True if name is not a path. */
static bool is_plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) <= NAME_MAX;
}

static bool file_path(char path[2 * NAME_MAX], const char *folder, const char *name)
{
	if (!is_plain(name))
		return false;
	snprintf(path, 2 * NAME_MAX, "%s%s%s", folder ?: "", folder ? "/" : "", name);
	return true;
}

char *pmu__read(const struct pmu *p, const char *folder, const char *name)
{
	char path[2 * NAME_MAX], text[FILE_MAX + 1];
	ssize_t n;
	int fd, err;

	if (!file_path(path, folder, name)) {
		errno = ENOENT;
		return NULL;
	}
	fd = openat(p->fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	n = read(fd, text, FILE_MAX);
	err = errno;
	close(fd);
	if (n < 0) {
		errno = err;
		return NULL;
	}
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = 0;
	return strdup(text);
}

bool pmu__has(const struct pmu *p, const char *folder, const char *name)
{
	char path[2 * NAME_MAX];
	struct stat st;

	return file_path(path, folder, name) && !fstatat(p->fd, path, &st, 0) &&
	       S_ISREG(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct pmu_names *names, const char *name)
{
	if (ARRAY_ROOM(names->name, names->n))
		return -ENOMEM;
	names->name[names->n] = strdup(name);
	if (!names->name[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

/* True for files like NAME.unit, which describe the event NAME. */
static bool describes_another(const char *name)
{
	static const char *const ends[] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	size_t i, len = strlen(name), end;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		end = strlen(ends[i]);
		if (len > end && !strcmp(name + len - end, ends[i]))
			return true;
	}
	return false;
}

/* Takes ownership of fd. */
static int list_folder(struct pmu_names *names, int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir)))
		if (is_plain(entry->d_name) && !describes_another(entry->d_name))
			err = add_name(names, entry->d_name);
	closedir(dir);
	if (err)
		pmu_names__free(names);
	else if (names->n)
		qsort(names->name, names->n, sizeof(*names->name), by_name);
	return err;
}

int pmu__names(struct pmu_names *names, const struct pmu *p, const char *folder)
{
	int fd = openat(p->fd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*names = (struct pmu_names){};
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return list_folder(names, fd);
}

void pmu_names__free(struct pmu_names *names)
{
	while (names->n)
		free(names->name[--names->n]);
	free(names->name);
	*names = (struct pmu_names){};
}

/* --- PMUs ----------------------------------------------------------------------------------- */

static void pmu__free(struct pmu *p)
{
	close(p->fd);
	free(p->name);
}

void pmus__free(struct pmus *pmus)
{
	while (pmus->n)
		pmu__free(&pmus->pmu[--pmus->n]);
	free(pmus->pmu);
	*pmus = (struct pmus){};
}

/* Takes ownership of p. Skips a PMU without a number: it has just been removed. */
static int add_pmu(struct pmus *pmus, struct pmu *p)
{
	char *text = pmu__read(p, NULL, "type");
	u64 type;
	int err;

	if (!text || parse_u64_between(text, 0, UINT32_MAX, &type)) {
		free(text);
		pmu__free(p);
		return 0;
	}
	free(text);
	p->type = type;
	err = ARRAY_APPEND(pmus->pmu, pmus->n, *p);
	if (err)
		pmu__free(p);
	return err;
}

/* Returns the length of a name without its trailing number: 10 for "uncore_imc_0", 3 for "cpu". */
static size_t stem_len(const char *name)
{
	size_t len = strlen(name), stem = len;

	while (stem && isdigit((unsigned char)name[stem - 1]))
		stem--;
	if (!stem || stem == len)
		return len;
	return name[stem - 1] == '_' && stem > 1 ? stem - 1 : stem;
}

static const char *without_uncore(const char *name)
{
	return strncmp(name, UNCORE, strlen(UNCORE)) ? name : name + strlen(UNCORE);
}

/* True if name means this PMU, although their names differ. */
static bool is_meant(const char *pmu, const char *name)
{
	size_t len = strlen(name);
	const char *names[] = { pmu, without_uncore(pmu) };
	bool glob = strpbrk(name, "*?["), meant = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && !meant; i++) {
		if (glob)
			meant = !fnmatch(name, names[i], 0);
		else if (!strncmp(names[i], name, len))
			meant = !names[i][len] || stem_len(names[i]) == len;
	}
	return meant;
}

bool pmu__is_sibling(const struct pmu *a, const struct pmu *b)
{
	size_t len = stem_len(a->name);

	return len == stem_len(b->name) && !memcmp(a->name, b->name, len);
}

static bool has_name(const struct pmu_names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

static int open_pmu(struct pmus *found, int devices, const char *name)
{
	struct pmu p = { .fd = openat(devices, name, O_PATH | O_DIRECTORY | O_CLOEXEC) };

	if (p.fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;     /* it was removed */
	p.name = strdup(name);
	if (!p.name) {
		close(p.fd);
		return -ENOMEM;
	}
	return add_pmu(found, &p);
}

int pmus__find(struct pmus *found, const struct event_context *ctx, const char *name)
{
	struct pmu_names all = {};
	int devices, err;
	size_t i;
	bool exact;

	*found = (struct pmus){};
	devices = open(ctx->pmus ?: DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (devices < 0)
		return errno == ENOENT ? 0 : -errno;
	err = list_folder(&all, dup(devices));
	exact = name && has_name(&all, name);
	for (i = 0; i < all.n && !err; i++)
		if (!name || (exact ? !strcmp(all.name[i], name) : is_meant(all.name[i], name)))
			err = open_pmu(found, devices, all.name[i]);
	pmu_names__free(&all);
	close(devices);
	if (err)
		pmus__free(found);
	return err;
}

int pmus__find_event(struct pmus *found, const struct event_context *ctx, const char *event)
{
	int err = pmus__find(found, ctx, NULL);
	size_t i, n = 0;

	for (i = 0; i < found->n; i++) {
		if (pmu__has(&found->pmu[i], "events", event))
			found->pmu[n++] = found->pmu[i];
		else
			pmu__free(&found->pmu[i]);
	}
	found->n = n;
	return err;
}

bool pmu__is_core(const struct pmu *p)
{
	return !strcmp(p->name, "cpu") || pmu__has(p, NULL, "cpus");
}

int pmu__cpus(const struct pmu *p, u64 **cpus)
{
	char *text = pmu__read(p, NULL, "cpumask") ?: pmu__read(p, NULL, "cpus");
	u64 *set;
	int err;

	*cpus = NULL;
	if (!text)
		return errno == ENOENT ? 0 : -errno;
	set = calloc(SCOPE_MAX_CPUS / 64, sizeof(*set));
	err = set ? 0 : -ENOMEM;
	/* A PMU without online CPUs has an empty mask. */
	if (!err && *text)
		err = parse_cpu_list(text, set, SCOPE_MAX_CPUS / 64);
	free(text);
	if (err)
		free(set);
	else
		*cpus = set;
	return err;
}

/* --- fields --------------------------------------------------------------------------------- */

int pmu_field__parse(struct pmu_field *f, const char *text)
{
	struct pmu_field field = {};
	int err;

	if (strncmp(text, "config", 6))
		return -EINVAL;
	text += 6;
	if (*text >= '1' && *text <= '3')
		field.word = *text++ - '0';
	if (*text++ != ':')
		return -EINVAL;
	err = parse_cpu_list(text, &field.bits, 1);     /* bit lists have the syntax of CPU lists */
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	*f = field;
	return 0;
}

u64 pmu_field__max(const struct pmu_field *f)
{
	u32 n = __builtin_popcountll(f->bits);

	return n == 64 ? UINT64_MAX : (1ULL << n) - 1;
}

u64 pmu_field__pack(const struct pmu_field *f, u64 word, u64 value)
{
	u64 rest;

	word &= ~f->bits;
	for (rest = f->bits; rest; rest &= rest - 1, value >>= 1)
		if (value & 1)
			word |= rest & -rest;
	return word;
}
