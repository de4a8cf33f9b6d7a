/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmicrohttpd, for --listen alone. It brings nine more libraries with it (GnuTLS and what that is
 * made of), whose loading would make every start of every tool some 3 ms longer, and a tool is to
 * run on hosts that have none of them: so it is loaded when it is needed. Static builds have it
 * linked in.
 */
#ifndef TALLY_RUN_MICROHTTPD_H
#define TALLY_RUN_MICROHTTPD_H

#ifdef HAVE_MICROHTTPD

#define MHD_NO_DEPRECATION      /* later releases have other names beside these */
#include <microhttpd.h>

#define MICROHTTPD_FUNCTIONS(F)                                                                    \
	F(start_daemon)                                                                            \
	F(stop_daemon)                                                                             \
	F(run)                                                                                     \
	F(get_timeout)                                                                             \
	F(get_daemon_info)                                                                         \
	F(get_connection_info)                                                                     \
	F(lookup_connection_value)                                                                 \
	F(create_response_from_buffer)                                                             \
	F(add_response_header)                                                                     \
	F(queue_response)                                                                          \
	F(destroy_response)

#define MICROHTTPD_MEMBER(name) __typeof__(MHD_##name) *name;
struct microhttpd {
	MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
};
#undef MICROHTTPD_MEMBER

/* Its functions; NULL after saying that it is not on this machine. It stays loaded. */
const struct microhttpd *microhttpd__load(void);

#else

/* ISO C wants a declaration in every file. */
struct microhttpd;

#endif /* HAVE_MICROHTTPD */

#endif /* TALLY_RUN_MICROHTTPD_H */
