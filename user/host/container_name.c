// SPDX-License-Identifier: BSD-2-Clause
#include "host/container_name.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/opener.h"
#include "host/user.h"
#include "sym/root.h"

/*
 * --- the child ---------------------------------------------------------------------------------
 */

/* How to search a file, and the container to search for. */
struct question {
	const char *(*find)(const json_t *file, const char *id);
	const char *id;
};

/* Searches config.v2.json of one container: { "ID": "...", "Name": "/web", ... }. */
static const char *find_docker(const json_t *file, const char *id)
{
	const char *its_id = json_string_value(json_object_get(file, "ID"));
	const char *name = json_string_value(json_object_get(file, "Name"));

	if (!its_id || !name || strcmp(its_id, id))
		return NULL;
	return name + (*name == '/');
}

/* Searches containers.json, which lists all containers: [{ "id": "...", "names": ["web"], ... }, ...]. */
static const char *find_podman(const json_t *file, const char *id)
{
	const json_t *each;
	const char *its_id;
	size_t i;

	json_array_foreach(file, i, each) {
		its_id = json_string_value(json_object_get(each, "id"));
		if (its_id && !strcmp(its_id, id))
			return json_string_value(json_array_get(json_object_get(each, "names"), 0));
	}
	return NULL;
}

/* Reads the whole file. Returns NULL if it is empty or too large, or without memory. */
static char *read_all(int fd, size_t *size)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size <= 0 || (u64)st.st_size > CONTAINER_FILE_BYTES)
		return NULL;
	text = malloc(st.st_size);
	for (*size = 0; text && *size < (size_t)st.st_size; *size += n) {
		n = pread(fd, text + *size, st.st_size - *size, *size);
		if (n <= 0)
			break;
	}
	return text;
}

static void tell_name(struct answer *answer, void *arg)
{
	const struct question *q = arg;
	const char *name = NULL;
	size_t size = 0;
	char *text = read_all(0, &size);
	json_t *file = text ? json_loadb(text, size, 0, NULL) : NULL;

	if (file)
		name = q->find(file, q->id);
	if (name)
		answer__put(answer, name, strlen(name));
	json_decref(file);
	free(text);
}

/*
 * --- files -------------------------------------------------------------------------------------
 */

/* Opens a file below a home directory. Users could put links or file systems there that lead elsewhere or hang. */
static int open_below(const char *home, const char *path, struct stat *st)
{
	const struct opener_path what = {
		.root = home, .path = path, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
		.place = opener__place(0, home),
	};

	return opener__open(&what, st);
}

static int open_users(const char *root, u32 uid, const char *path, struct stat *st)
{
	char *home = user_home(uid), *whole = NULL;
	int fd = home && asprintf(&whole, "%s%s/.local/share", root, home) >= 0 ? open_below(whole, path, st) : -ENOENT;

	free(whole);
	free(home);
	return fd;
}

static int open_systems(const char *root, const char *path, struct stat *st)
{
	char *whole = NULL;
	int fd = asprintf(&whole, "%s/var/lib/%s", root, path) < 0 ? -ENOMEM : root__open(0, whole, 0, st);

	free(whole);
	return fd;
}

/* path: below /var/lib, or below a user's ~/.local/share. Returns a descriptor or a negative errno. */
static int open_file(const struct container_files *files, const struct container *c, const char *path)
{
	const char *root = files->root ?: "";
	struct stat st;
	int fd = c->has_user ? open_users(root, c->uid, path, &st) : open_systems(root, path, &st);

	if (fd >= 0 && st.st_uid != (c->has_user ? c->uid : 0)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static bool is_name(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && (!i || !strchr("_.-", text[i])))
			return false;
	return n && n < CONTAINER_NAME_SIZE;
}

static char *name_in(struct container_files *files, const struct container *c, const char *path,
		     const struct question *q)
{
	int fd = open_file(files, c, path);
	void *answer = NULL;
	char *name = NULL;
	size_t n = 0;

	if (fd < 0)
		return NULL;
	/* When it creates the first object, jansson seeds its hash from a file that the child may not open. */
	json_object_seed(0);
	if (!confined__run(tell_name, (void *)q, &fd, 1, &files->allowance, &answer, &n) && is_name(answer, n))
		name = strndup(answer, n);
	free(answer);
	close(fd);
	return name;
}

static char *docker_name(struct container_files *files, const struct container *c)
{
	const struct question q = { find_docker, c->id };
	char path[sizeof("docker/containers//config.v2.json") + CONTAINER_ID_LEN];

	snprintf(path, sizeof(path), "docker/containers/%.*s/config.v2.json", CONTAINER_ID_LEN, c->id);
	return name_in(files, c, path, &q);
}

/* Volatile containers (--rm) are listed in a separate file. */
static char *podman_name(struct container_files *files, const struct container *c)
{
	const struct question q = { find_podman, c->id };

	return name_in(files, c, "containers/storage/overlay-containers/containers.json", &q) ?:
	       name_in(files, c, "containers/storage/overlay-containers/volatile-containers.json", &q);
}

char *container__name(struct container_files *files, const struct container *c)
{
	u64 began_ns = monotonic_ns();
	char *name = NULL;

	if (c->outer[0] || files->spent_ns >= CONTAINER_NAMES_NS)
		return NULL;
	if (c->runtime == CONTAINER_DOCKER || c->runtime == CONTAINER_UNKNOWN)
		name = docker_name(files, c);
	else if (c->runtime == CONTAINER_PODMAN)
		name = podman_name(files, c);
	files->spent_ns += monotonic_ns() - began_ns;
	return name;
}
