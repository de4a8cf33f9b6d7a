/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmicrohttpd, used only by --listen. It is loaded on demand, because it pulls in nine more
 * libraries (GnuTLS and its dependencies): they would add about 3 ms to the start of every tool, and
 * tools must run on hosts without them. Static builds link it in.
 */
#ifndef TALLY_RUN_MICROHTTPD_H
#define TALLY_RUN_MICROHTTPD_H

#ifdef HAVE_MICROHTTPD

#define MHD_NO_DEPRECATION      /* later releases deprecate names used here */
#include <microhttpd.h>

#define MICROHTTPD_FUNCTIONS(F)                                                                    \
	F(start_daemon)                                                                            \
	F(stop_daemon)                                                                             \
	F(run)                                                                                     \
	F(get_timeout)                                                                             \
	F(get_daemon_info)                                                                         \
	F(get_connection_info)                                                                     \
	F(lookup_connection_value)                                                                 \
	F(suspend_connection)                                                                      \
	F(resume_connection)                                                                       \
	F(create_response_from_buffer)                                                             \
	F(create_response_from_fd)                                                                 \
	F(add_response_header)                                                                     \
	F(queue_response)                                                                          \
	F(destroy_response)

#define MICROHTTPD_MEMBER(name) __typeof__(MHD_##name) *name;
struct microhttpd {
	MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
};
#undef MICROHTTPD_MEMBER

/*
 * Returns the functions, or NULL after reporting that the library is not installed. The library
 * remains loaded.
 */
const struct microhttpd *microhttpd__load(void);

#else

/* ISO C forbids an empty translation unit. */
struct microhttpd;

#endif /* HAVE_MICROHTTPD */

#endif /* TALLY_RUN_MICROHTTPD_H */
