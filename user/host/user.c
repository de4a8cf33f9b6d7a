// SPDX-License-Identifier: BSD-2-Clause
#include "host/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers.h"

static const char *name_in(const struct passwd *pw)
{
	return pw->pw_name;
}

static const char *home_in(const struct passwd *pw)
{
	return pw->pw_dir;
}

#ifdef TALLY_STATIC

/*
 * Finds the passwd entry of a name, or of *uid if name is NULL. Sets *uid, and *taken to a copy of what take() picks.
 */
static int find(const char *name, u32 *uid, const char *(*take)(const struct passwd *pw), char **taken)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *pw;
	int err = -ENOENT;

	if (!f)
		return -errno;
	while (err && (pw = fgetpwent(f))) {
		if (name ? strcmp(pw->pw_name, name) : pw->pw_uid != *uid)
			continue;
		*uid = pw->pw_uid;
		*taken = strdup(take(pw));
		err = *taken ? 0 : -ENOMEM;
	}
	fclose(f);
	return err;
}

static bool has_member(const struct group *gr, const char *name)
{
	char **member;

	for (member = gr->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

static int set_groups(const char *name, gid_t gid)
{
	gid_t groups[256] = { gid };
	FILE *f = fopen("/etc/group", "re");
	struct group *gr;
	size_t n = 1;

	while (f && n < ARRAY_SIZE(groups) && (gr = fgetgrent(f)))
		if (has_member(gr, name))
			groups[n++] = gr->gr_gid;
	if (f)
		fclose(f);
	return setgroups(n, groups) ? -errno : 0;
}

#else

static int find(const char *name, u32 *uid, const char *(*take)(const struct passwd *pw), char **taken)
{
	struct passwd pw, *found = NULL;
	char buf[4096];
	int err;

	err = name ? getpwnam_r(name, &pw, buf, sizeof(buf), &found) :
		     getpwuid_r(*uid, &pw, buf, sizeof(buf), &found);
	if (err || !found)
		return -ENOENT;
	*uid = pw.pw_uid;
	*taken = strdup(take(&pw));
	return *taken ? 0 : -ENOMEM;
}

static int set_groups(const char *name, gid_t gid)
{
	return initgroups(name, gid) ? -errno : 0;
}

#endif

int user_id(const char *text, u32 *uid)
{
	char *name = NULL;
	u64 number;
	u32 id = 0;

	if (!parse_u64_between(text, 0, UINT32_MAX - 1, &number)) {
		*uid = number;
		return 0;
	}
	if (find(text, &id, name_in, &name))
		return -ENOENT;
	free(name);
	*uid = id;
	return 0;
}

char *user_name(u32 uid)
{
	char *name = NULL;

	return find(NULL, &uid, name_in, &name) ? NULL : name;
}

char *user_home(u32 uid)
{
	char *home = NULL;

	return find(NULL, &uid, home_in, &home) ? NULL : home;
}

int user_become(u32 uid, u32 gid)
{
	char *name = user_name(uid);
	gid_t only = gid;
	int err;

	err = name ? set_groups(name, gid) : setgroups(1, &only) ? -errno : 0;
	free(name);
	if (!err && (setresgid(gid, gid, gid) || setresuid(uid, uid, uid)))
		err = -errno;
	return err;
}
