/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLite, used only by recordings. It is loaded on demand: tools must run on hosts without it, and it
 * must not slow their start. Static builds link it in.
 * https://www.sqlite.org/c3ref/intro.html
 */
#ifndef TALLY_RECORD_SQLITE_H
#define TALLY_RECORD_SQLITE_H

#ifdef HAVE_SQLITE

#include <sqlite3.h>

#define SQLITE_FUNCTIONS(F)                                                                                       \
	F(open_v2)                                                                                                \
	F(close_v2)                                                                                               \
	F(exec)                                                                                                   \
	F(prepare_v2)                                                                                             \
	F(step)                                                                                                   \
	F(reset)                                                                                                  \
	F(finalize)                                                                                               \
	F(bind_int64)                                                                                             \
	F(bind_double)                                                                                            \
	F(bind_text)                                                                                              \
	F(bind_null)                                                                                              \
	F(column_int64)                                                                                           \
	F(column_double)                                                                                          \
	F(column_text)                                                                                            \
	F(column_type)                                                                                            \
	F(last_insert_rowid)                                                                                      \
	F(busy_timeout)                                                                                           \
	F(get_autocommit)                                                                                         \
	F(errmsg)                                                                                                 \
	F(system_errno)                                                                                           \
	F(db_filename)                                                                                            \
	F(vfs_find)                                                                                               \
	F(vfs_register)                                                                                           \
	F(db_config)                                                                                              \
	F(limit)

#define SQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;
struct sqlite {
	SQLITE_FUNCTIONS(SQLITE_MEMBER)
};
#undef SQLITE_MEMBER

/*
 * Returns the functions, or NULL after reporting that the library is not installed. The library
 * remains loaded.
 */
const struct sqlite *sqlite__load(void);

#endif /* HAVE_SQLITE */

#endif /* TALLY_RECORD_SQLITE_H */
