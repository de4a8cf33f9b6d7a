// SPDX-License-Identifier: BSD-2-Clause
#include "record/guard.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/numbers.h"
#include "record/pages.h"
#include "report/diag.h"

#ifdef HAVE_SQLITE

/* The longest cells, which are lists of frames and heads of reports with many columns, are well below this limit. */
#define CELL_BYTES (32 << 20)

/*
 * --- owners ------------------------------------------------------------------------------------
 */

/* True for the user or group that ran sudo(8), which can do anything that root can. name: SUDO_UID or SUDO_GID. */
static bool is_of_sudo(const char *name, u64 id)
{
	const char *text = geteuid() ? NULL : getenv(name);
	u64 sudo;

	return text && !parse_u64(text, &sudo) && id == sudo;
}

static bool is_ours(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid() || is_of_sudo("SUDO_UID", st->st_uid);
}

/* True if other users may write. */
static bool others_write(const struct stat *st)
{
	bool group = st->st_mode & S_IWGRP && st->st_gid && st->st_gid != getegid() &&
		     !is_of_sudo("SUDO_GID", st->st_gid);

	return group || st->st_mode & S_IWOTH;
}

/* Checks the directories from / to dir, which has no symbolic links. Sets *shared if others may create files in dir. */
static int check_directories(const char *dir, bool *shared)
{
	char part[PATH_MAX];
	size_t n = strlen(dir), i;
	struct stat st;

	for (i = 1; i <= n; i++) {
		if (i > 1 && i < n && dir[i] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, dir);
		if (lstat(part, &st)) {
			diag_error("'%s': %s", part, strerror(errno));
			return -errno;
		}
		if (!S_ISDIR(st.st_mode) || !is_ours(&st) || (others_write(&st) && !(st.st_mode & S_ISVTX))) {
			diag_error("'%s' is not safe for a recording: other users can replace files in it", part);
			diag_hint("use a directory that only root can write to, or copy the recording into one");
			return -EPERM;
		}
		*shared = others_write(&st);
	}
	return 0;
}

/* Checks an open file. what: "" or the end of its name, for messages. */
static int check_file(const char *path, const char *what, int fd, bool writes)
{
	struct stat st;

	if (fstat(fd, &st)) {
		diag_error("'%s%s': %s", path, what, strerror(errno));
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		diag_error("'%s%s' is not a regular file", path, what);
		return -EEXIST;
	}
	if (!is_ours(&st) || others_write(&st)) {
		if (is_ours(&st))
			diag_error("'%s%s' is writable by other users", path, what);
		else
			diag_error("'%s%s' belongs to another user (uid %u)", path, what, (unsigned)st.st_uid);
		if (!writes && !*what)
			diag_hint("use a copy of your own: cp '%s' NEW.db", path);
		return -EPERM;
	}
	if (writes && st.st_nlink > 1) {
		diag_error("'%s%s' has %lu hard links: a recording has one", path, what, (unsigned long)st.st_nlink);
		return -EPERM;
	}
	return 0;
}

/* Creates an empty file, which SQLite ignores. Without it, SQLite would use a file that another user has created. */
static int make_beside(const char *path, const char *end)
{
	char name[PATH_MAX];
	int fd, err;

	if (snprintf(name, sizeof(name), "%s%s", path, end) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST)
		fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		if (err == -ELOOP)
			diag_error("'%s' is a symbolic link", name);
		else
			diag_error("'%s': %s", name, strerror(-err));
		return err;
	}
	err = check_file(path, end, fd, true);
	close(fd);
	return err;
}

static int open_recording(const char *path, bool writes)
{
	int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (writes ? O_RDWR : O_RDONLY), fd = open(path, flags);

	if (fd < 0 && errno == ENOENT && writes)
		fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	return fd < 0 ? -errno : fd;
}

/*
 * Returns the real path of path, following only our own symbolic link. Refuses links of other users, who choose where
 * they lead.
 */
static char *follow(const char *path)
{
	char *to, *dir, *name, *real_dir;
	struct stat st;

	if (!lstat(path, &st) && S_ISLNK(st.st_mode)) {
		if (!is_ours(&st)) {
			diag_error("'%s' is a symbolic link of another user (uid %u)", path, (unsigned)st.st_uid);
			return NULL;
		}
		to = realpath(path, NULL);
		if (!to)
			diag_error("'%s': %s", path, strerror(errno));
		return to;
	}
	dir = strdup(path);
	name = strdup(path);
	real_dir = dir ? realpath(dirname(dir), NULL) : NULL;
	if (!real_dir || !name ||
	    asprintf(&to, "%s/%s", strcmp(real_dir, "/") ? real_dir : "", basename(name)) < 0) {
		diag_error("'%s': %s", path, strerror(errno));
		to = NULL;
	}
	free(real_dir);
	free(name);
	free(dir);
	return to;
}

/*
 * True if the file has a write-ahead log, or will have one: see bytes 18 and 19 of the header
 * (https://www.sqlite.org/fileformat.html#file_format_version_numbers). An empty file becomes a recording if it is
 * written.
 */
static bool has_log(int fd, bool writes)
{
	static const char magic[16] = "SQLite format 3";
	char header[20];
	ssize_t n = pread(fd, header, sizeof(header), 0);

	if (!n)
		return writes;
	return n == sizeof(header) && !memcmp(header, magic, sizeof(magic)) && header[18] == 2 && header[19] == 2;
}

/* True if the file is complete without a log, and cannot change. dir: directory of the file. */
static bool is_immutable(const char *path, const char *dir)
{
	char log[PATH_MAX];
	struct statvfs fs;

	return !statvfs(dir, &fs) && fs.f_flag & ST_RDONLY &&
	       snprintf(log, sizeof(log), "%s-wal", path) < (int)sizeof(log) && access(log, F_OK);
}

/* Encodes path as a URI (https://www.sqlite.org/uri.html): any character may be written as its code. */
static char *uri_of(const char *path, bool immutable)
{
	char *uri = malloc(3 * strlen(path) + sizeof("file:?immutable=1")), *to;

	if (!uri)
		return NULL;
	for (to = stpcpy(uri, "file:"); *path; path++)
		if (*path == '/' || isalnum((unsigned char)*path))
			*to++ = *path;
		else
			to += snprintf(to, 4, "%%%02x", (unsigned char)*path);
	stpcpy(to, immutable ? "?immutable=1" : "");
	return uri;
}

/*
 * A byte that SQLite does not lock: SQLite locks bytes at 1 GiB and above (https://www.sqlite.org/lockingv3.html). The
 * lock belongs to the descriptor, so SQLite does not release it together with its own. On a file system without locks,
 * this lock does not work either.
 */
#define WRITER_BYTE (1LL << 62)

/*
 * A process just forked by a recorder has the recorder's descriptor for a moment, even if the recorder is killed then.
 */
#define WRITER_TRIES 30
#define WRITER_TRY_US 10000

/* Fills an empty file. The caller must hold the writer lock. */
static int begin_if_empty(const char *path, int fd)
{
	struct stat st;
	int err = fstat(fd, &st) ? -errno : st.st_size ? 0 : pages__begin(fd);

	if (err == -EFBIG)
		diag_error("'%s': file size limit reached (ulimit -f)", path);
	else if (err)
		diag_error("'%s': %s", path, strerror(-err));
	return err;
}

static int keep_writers_out(const char *path, int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITER_BYTE, .l_len = 1 };
	int i;

	for (i = 0; i < WRITER_TRIES; i++) {
		if (!fcntl(fd, F_OFD_SETLK, &lock) || (errno != EAGAIN && errno != EACCES))
			return 0;
		usleep(WRITER_TRY_US);
	}
	diag_error("'%s': another process is recording into it", path);
	return -EBUSY;
}

char *guard__recording(const char *path, bool writes, int *writer_fd)
{
	char *real = follow(path), *dir = real ? strdup(real) : NULL, *uri = NULL;
	bool shared = false, logs = false;
	int fd, err = dir ? check_directories(dirname(dir), &shared) : -ENOMEM;

	if (!err) {
		fd = open_recording(real, writes);
		err = fd < 0 ? fd : check_file(path, "", fd, writes);
		if (fd < 0)
			diag_error("'%s': %s", path, strerror(-err));
		else
			logs = has_log(fd, writes);
		if (!err && writes)
			err = keep_writers_out(path, fd);
		if (fd >= 0 && !err && writes)
			*writer_fd = fd;
		else if (fd >= 0)
			close(fd);
	}
	if (!err) {
		/* A file without a log needs no other files beside it: ignore any that others have created there. */
		bool immutable = (!writes && is_immutable(real, dir)) || (shared && !logs);

		if (shared && !immutable)
			err = make_beside(real, "-wal") ?: make_beside(real, "-shm");
		if (!err && writes)
			err = begin_if_empty(path, *writer_fd);
		if (!err)
			uri = uri_of(real, immutable);
	}
	free(dir);
	free(real);
	return uri;
}

/*
 * --- the VFS -----------------------------------------------------------------------------------
 */

static sqlite3_vfs *usual, guarded;

static bool has_end(const char *name, const char *end)
{
	size_t n = name ? strlen(name) : 0, m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static int open_guarded(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out)
{
	int result;

	(void)vfs;
	if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) {
		file->pMethods = NULL;
		return SQLITE_CANTOPEN;
	}
	result = usual->xOpen(usual, name, file, flags, out);
	if (result == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB)
		pages__check(file);
	return result;
}

static int delete_guarded(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	return has_end(name, "-wal") ? usual->xDelete(usual, name, sync) : SQLITE_OK;
}

static int access_guarded(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)vfs;
	*out = 0;
	return has_end(name, "-journal") ? SQLITE_OK : usual->xAccess(usual, name, flags, out);
}

const char *guard__vfs(const struct sqlite *sql)
{
	if (guarded.zName)
		return guarded.zName;
	usual = sql->vfs_find(NULL);
	if (!usual)
		return NULL;
	guarded = *usual;
	guarded.pNext = NULL;
	guarded.zName = "tally";
	guarded.szOsFile = pages__file_bytes(usual);
	guarded.xOpen = open_guarded;
	guarded.xDelete = delete_guarded;
	guarded.xAccess = access_guarded;
	if (sql->vfs_register(&guarded, 0) != SQLITE_OK)
		guarded.zName = NULL;
	return guarded.zName;
}

/*
 * --- contents ----------------------------------------------------------------------------------
 */

int guard__connection(struct store *s)
{
	static const struct {
		int what, value;
	} settings[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },     { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 }, { SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	};
	size_t i;

	/* An SQLite library older than a setting refuses it. guard__schema() does not depend on the settings. */
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		s->sql->db_config(s->db, settings[i].what, settings[i].value, NULL);
	s->sql->limit(s->db, SQLITE_LIMIT_LENGTH, CELL_BYTES);
	s->sql->limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	return store__exec(s, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY");
}

int guard__schema(struct store *s)
{
	s64 n;
	int err = store__number(s, "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR "
				   "coalesce(rootpage, 0) = 0", &n);

	if (err || !n)
		return err;
	diag_error("'%s' has views, triggers or virtual tables: it was not made by tally record", s->path);
	return -EPROTO;
}

#endif /* HAVE_SQLITE */
