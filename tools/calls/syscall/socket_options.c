// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "calls/syscall/decode.h"
#include "calls/syscall/layouts.h"
#include "calls/syscall/packed.h"
#include "calls/syscall/text.h"

void socket_option__put(FILE *f, u32 level, u32 option, const struct value_names *first)
{
	static const struct {
		u32 level;
		const struct value_names *names;
	} levels[] = {
		{ SOL_SOCKET, &socket_options }, { IPPROTO_IP, &ip_options },
		{ IPPROTO_IPV6, &ipv6_options }, { IPPROTO_TCP, &tcp_options },
		{ IPPROTO_UDP, &udp_options },	 { 263 /* SOL_PACKET */, &packet_options },
		{ 270 /* SOL_NETLINK */, &netlink_options },
	};
	size_t i;

	if (level == SOL_SOCKET && first && value_names__find(first, option)) {
		value_names__put(f, first, option);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		if (levels[i].level == level) {
			value_names__put(f, levels[i].names, option);
			return;
		}
	}
	fprintf(f, option ? "%#x" : "%x", option);
}

/*
 * Values of options, by level and option: strings, and structs identified by their size. All other
 * values are one number, or bytes.
 */
static bool is_text_option(u32 level, u32 option)
{
	return (level == SOL_SOCKET && (option == SO_BINDTODEVICE || option == SO_PEERSEC)) ||
	       (level == IPPROTO_TCP && (option == TCP_CONGESTION || option == TCP_ULP));
}

/* The type or family of a socket: a number that has a name. */
static bool put_socket_kind(FILE *f, u32 option, const struct trace_chunk *c)
{
	u32 kind;

	if ((option != SO_TYPE && option != SO_DOMAIN) || c->bytes != sizeof(kind))
		return false;
	memcpy(&kind, c->data, sizeof(kind));
	fputc('[', f);
	value_names__put(f, option == SO_TYPE ? &socket_types : &socket_families, kind);
	fputc(']', f);
	return true;
}

static bool put_socket_struct(FILE *f, u32 level, u32 option, const struct trace_chunk *c)
{
	struct ucred who;
	struct linger linger;
	struct timeval time;

	if (level == IPPROTO_IP && c->bytes == 8 &&
	    (option == IP_ADD_MEMBERSHIP || option == IP_DROP_MEMBERSHIP)) {
		membership__put(f, c->data);
		return true;
	}
	if (level == IPPROTO_TCP && option == TCP_INFO)
		return layouts__put(f, STRUCT_TCP_INFO, c->data, c->bytes);
	if (level != SOL_SOCKET)
		return false;
	if (put_socket_kind(f, option, c))
		return true;
	if (option == SO_ERROR && c->bytes == sizeof(int) && error_number__put(f, c->data))
		return true;
	if ((option == SO_ATTACH_FILTER || option == SO_ATTACH_REUSEPORT_CBPF) && c->bytes == 16)
		return layouts__put(f, STRUCT_FILTER, c->data, c->bytes);
	if (option == SO_LINGER && c->bytes == sizeof(linger)) {
		memcpy(&linger, c->data, sizeof(linger));
		fprintf(f, "{l_onoff=%d, l_linger=%d}", linger.l_onoff, linger.l_linger);
	} else if (option == SO_PEERCRED && c->bytes == sizeof(who)) {
		memcpy(&who, c->data, sizeof(who));
		fprintf(f, "{pid=%d, uid=%u, gid=%u}", who.pid, who.uid, who.gid);
	} else if ((option == SO_RCVTIMEO || option == SO_SNDTIMEO) && c->bytes == sizeof(time)) {
		memcpy(&time, c->data, sizeof(time));
		struct__put(f, STRUCT_TIMEVAL, (const char *)&time);
	} else {
		return false;
	}
	return true;
}

void socket_value__put(FILE *f, u32 level, u32 option, const struct trace_chunk *c)
{
	int number;

	if (is_text_option(level, option)) {
		quoted__put(f, c->data, strnlen((const char *)c->data, c->bytes));
	} else if (put_socket_struct(f, level, option, c)) {
		return;
	} else if (c->bytes == sizeof(number)) {
		memcpy(&number, c->data, sizeof(number));
		fprintf(f, "[%d]", number);
	} else {
		quoted_chunk__put(f, c);
	}
}
