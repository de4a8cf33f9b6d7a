// SPDX-License-Identifier: BSD-2-Clause
#include "host/container.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"

/* A component of a path, not NUL-terminated. */
struct part {
	const char *text;
	size_t n;
};

/* Returns the next component. Its n is 0 at the end. */
static struct part next_part(const char **path)
{
	struct part p;

	*path += strspn(*path, "/");
	p = (struct part){ *path, strcspn(*path, "/") };
	*path += p.n;
	return p;
}

static bool begins(const struct part *p, const char *text)
{
	size_t n = strlen(text);

	return p->n >= n && !memcmp(p->text, text, n);
}

static bool is(const struct part *p, const char *text)
{
	return p->n == strlen(text) && begins(p, text);
}

/* Strips prefix and suffix. Returns false, with *p unchanged, if one of them is missing or nothing would be left. */
static bool strip(struct part *p, const char *prefix, const char *suffix)
{
	size_t before = strlen(prefix), after = strlen(suffix);

	if (p->n <= before + after || !begins(p, prefix) || memcmp(p->text + p->n - after, suffix, after))
		return false;
	p->text += before;
	p->n -= before + after;
	return true;
}

static bool consists_of(const struct part *p, const char *characters)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!strchr(characters, p->text[i]))
			return false;
	return true;
}

/* Copies a component. Returns false if it is longer than a component can be. */
static bool put(char to[CONTAINER_NAME_SIZE], const struct part *p)
{
	if (p->n >= CONTAINER_NAME_SIZE)
		return false;
	memcpy(to, p->text, p->n);
	to[p->n] = 0;
	return true;
}

/*
 * --- containers --------------------------------------------------------------------------------
 */

#define DIGITS "0123456789abcdef"

static bool is_id(const struct part *p)
{
	return p->n == CONTAINER_ID_LEN && consists_of(p, DIGITS);
}

/* With systemd each container has a scope unit; without it, the names lack ".scope". */
static const struct {
	const char *prefix;
	enum container_runtime runtime;
} prefixes[] = {
	{ "docker-", CONTAINER_DOCKER },
	{ "libpod-payload-", CONTAINER_PODMAN },        /* --cgroups=split, as of Quadlet */
	{ "libpod-", CONTAINER_PODMAN },
	{ "cri-containerd-", CONTAINER_CONTAINERD },
	{ "nerdctl-", CONTAINER_CONTAINERD },
	{ "crio-", CONTAINER_CRIO },
};

/* libpod-conmon-ID and crio-conmon-ID are monitors outside the container, so conmon-ID is not accepted as an id. */
static bool find_prefixed(struct container *c, const struct part *p)
{
	struct part id;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		id = *p;
		if (!strip(&id, prefixes[i].prefix, ".scope") && !strip(&id, prefixes[i].prefix, ""))
			continue;
		c->runtime = prefixes[i].runtime;
		return is_id(&id) && put(c->id, &id);
	}
	return false;
}

/*
 * Accepts an id alone, or SLICE:RUNTIME:ID. Runtimes that are configured to use systemd, but do not, create such
 * directories.
 */
static bool find_bare(struct container *c, const struct part *p, const struct part *before)
{
	struct part id = *p;
	const char *colon = memrchr(p->text, ':', p->n);

	if (colon)
		id = (struct part){ colon + 1, p->n - (colon + 1 - p->text) };
	c->runtime = is(before, "docker") ? CONTAINER_DOCKER : CONTAINER_UNKNOWN;
	return is_id(&id) && put(c->id, &id);
}

/* True if the name begins with a letter or digit. Other names could be confused with "-" or "(removed, id 1)". */
static bool has_name(const struct container *c)
{
	return isalnum((unsigned char)c->id[0]);
}

/* Finds lxc.payload.NAME (since 4.0), lxc.payload/NAME or lxc/NAME (before). lxc.monitor is outside. */
static bool find_lxc(struct container *c, const struct part *p, const struct part *before)
{
	struct part name = *p;

	if (!strip(&name, "lxc.payload.", "") && !is(before, "lxc") && !is(before, "lxc.payload"))
		return false;
	c->runtime = CONTAINER_LXC;
	return put(c->id, &name) && has_name(c);
}

static int digit(char c)
{
	const char *found = c ? strchr(DIGITS, c) : NULL;

	return found ? found - DIGITS : -1;
}

/* Undoes systemd-escape(1): \xNN is one byte. Names of machines have no slash. */
static bool unescape(char *text)
{
	char *to = text, *start = text;
	int high, low;

	for (; *text; text++) {
		if (*text != '\\') {
			*to++ = *text;
			continue;
		}
		high = text[1] == 'x' ? digit(text[2]) : -1;
		low = high >= 0 ? digit(text[3]) : -1;
		if (low < 0 || !(high | low))
			return false;
		*to++ = high << 4 | low;
		text += 3;
	}
	*to = 0;
	return !strchr(start, '/');
}

/* systemd-nspawn registers a scope; machinectl start runs it as a service. */
static bool find_machine(struct container *c, const struct part *p)
{
	struct part name = *p;

	if (!strip(&name, "machine-", ".scope") && !strip(&name, "systemd-nspawn@", ".service"))
		return false;
	c->runtime = CONTAINER_MACHINE;
	return put(c->id, &name) && unescape(c->id) && has_name(c);
}

/* Finds podUID or, with systemd, kubepods-burstable-podUID.slice, in which '_' replaces each '-' of the UID. */
static bool find_pod(struct container *c, const struct part *p)
{
	struct part uid = *p;
	size_t i;

	if (strip(&uid, "", ".slice")) {
		for (i = uid.n; i >= 4 && memcmp(uid.text + i - 4, "-pod", 4); i--)
			;
		if (i < 4)
			return false;
		uid.text += i - 3;
		uid.n -= i - 3;
	}
	c->runtime = CONTAINER_POD;
	if (!begins(&uid, "pod") || !put(c->id, &uid))
		return false;
	strip(&uid, "pod", "");
	if (uid.n < 32 || uid.n > 36 || !consists_of(&uid, DIGITS "-_"))
		return false;
	for (i = 0; c->id[i]; i++)
		if (c->id[i] == '_')
			c->id[i] = '-';
	return true;
}

/* True for kubepods, kubepods.slice and kubelet-kubepods-burstable.slice (kind). */
static bool is_of_pods(const struct part *p)
{
	return memmem(p->text, p->n, "kubepods", strlen("kubepods"));
}

/* systemd puts all processes of a user below user-UID.slice. */
static void note_user(struct container *c, const struct part *p)
{
	char digits[16];
	struct part uid = *p;
	u64 number;

	if (!strip(&uid, "user-", ".slice") || uid.n >= sizeof(digits) || !consists_of(&uid, "0123456789"))
		return;
	memcpy(digits, uid.text, uid.n);
	digits[uid.n] = 0;
	if (parse_u64_between(digits, 1, UINT32_MAX - 1, &number))
		return;         /* root's containers belong to the system */
	c->has_user = true;
	c->uid = number;
}

bool container__find(struct container *c, const char *path)
{
	struct container seen = {}, next = {};
	struct part before = {}, p;
	bool in_pods = false, found = false;

	for (p = next_part(&path); p.n; before = p, p = next_part(&path)) {
		if (!found)
			note_user(&next, &p);
		if (find_prefixed(&next, &p) || find_bare(&next, &p, &before) ||
		    find_lxc(&next, &p, &before) || find_machine(&next, &p) ||
		    (in_pods && find_pod(&next, &p))) {
			/* A pod does not count as an outer container. */
			if (found && seen.runtime != CONTAINER_POD)
				snprintf(next.outer, sizeof(next.outer), "%.*s", container__shown(&seen), seen.id);
			seen = next;
			found = true;
		}
		in_pods |= is_of_pods(&p);
	}
	if (found)
		*c = seen;
	return found;
}

int container__shown(const struct container *c)
{
	return c->runtime <= CONTAINER_UNKNOWN ? CONTAINER_SHORT_LEN : CONTAINER_NAME_SIZE;
}

/*
 * --- units -------------------------------------------------------------------------------------
 */

/* Characters of unit names, systemd.unit(5). */
#define UNIT_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@"

static bool is_unit(const struct part *p, const char *suffix)
{
	struct part name = *p;

	return strip(&name, "", suffix) && consists_of(&name, UNIT_CHARACTERS);
}

/* True for the types of units that have processes. */
static bool is_running_unit(const struct part *p)
{
	static const char *const suffixes[] = { ".service", ".scope", ".socket", ".mount", ".swap" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (is_unit(p, suffixes[i]))
			return true;
	return false;
}

bool unit__find(char text[CONTAINER_NAME_SIZE], const char *path)
{
	struct part unit = {}, slice = {}, p;

	for (p = next_part(&path); p.n; p = next_part(&path)) {
		/* systemd prepends '_' to names that clash with files of the cgroup (cg_escape()). */
		strip(&p, "_", "");
		if (is_running_unit(&p))
			unit = p;
		else if (is_unit(&p, ".slice"))
			slice = p;
	}
	if (!unit.n)
		unit = slice;
	return unit.n && put(text, &unit);
}
