// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/control.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "calls/syscall/names.h"

/* include/linux/socket.h: struct cmsghdr; each one is aligned to 8 bytes. */
struct control_header {
	u64 length;             /* length of the header and its data */
	int level, type;
};

/* include/uapi/asm-generic/socket.h, with the values of x86 and arm64. */
enum {
	CONTROL_RIGHTS = 1,
	CONTROL_CREDENTIALS = 2,
	CONTROL_TIMESTAMP = 29,
	CONTROL_TIMESTAMPNS = 35,
};

static void put_numbers(FILE *f, const u8 *data, size_t n, bool cut)
{
	int number;
	size_t i;

	for (i = 0; i + sizeof(number) <= n; i += sizeof(number)) {
		memcpy(&number, data + i, sizeof(number));
		fprintf(f, "%s%d", i ? ", " : ", cmsg_data=[", number);
	}
	if (i)
		fputs(cut ? ", ...]" : "]", f);
}

static void put_credentials(FILE *f, const u8 *data, size_t n)
{
	u32 id[3];

	if (n < sizeof(id))
		return;
	memcpy(id, data, sizeof(id));
	fprintf(f, ", cmsg_data={pid=%d, uid=%u, gid=%u}", (int)id[0], id[1], id[2]);
}

static void put_time(FILE *f, const u8 *data, size_t n, const char *fraction)
{
	s64 time[2];

	if (n < sizeof(time))
		return;
	memcpy(time, data, sizeof(time));
	fprintf(f, ", cmsg_data={tv_sec=%lld, %s=%lld}", time[0], fraction, time[1]);
}

static void put_packet_info(FILE *f, const u8 *data, size_t n)
{
	char local[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN];
	struct in_pktinfo info;

	if (n < sizeof(info))
		return;
	memcpy(&info, data, sizeof(info));
	inet_ntop(AF_INET, &info.ipi_spec_dst, local, sizeof(local));
	inet_ntop(AF_INET, &info.ipi_addr, to, sizeof(to));
	fprintf(f, ", cmsg_data={ipi_ifindex=%d, ipi_spec_dst=inet_addr(\"%s\"), "
		"ipi_addr=inet_addr(\"%s\")}", info.ipi_ifindex, local, to);
}

static void put_of_socket(FILE *f, int type, const u8 *data, size_t n, bool cut)
{
	switch (type) {
	case CONTROL_RIGHTS:
		put_numbers(f, data, n, cut);
		break;
	case CONTROL_CREDENTIALS:
		put_credentials(f, data, n);
		break;
	case CONTROL_TIMESTAMP:
		put_time(f, data, n, "tv_usec");
		break;
	case CONTROL_TIMESTAMPNS:
		put_time(f, data, n, "tv_nsec");
		break;
	}
}

static void put_data(FILE *f, const struct control_header *h, const u8 *data, size_t n)
{
	if (h->level == SOL_SOCKET)
		put_of_socket(f, h->type, data, n, h->length > sizeof(*h) + n);
	else if (h->level == SOL_IP && h->type == IP_PKTINFO)
		put_packet_info(f, data, n);
	else if (h->level == SOL_IP && h->type == IP_TTL)
		put_numbers(f, data, n < sizeof(int) ? n : sizeof(int), false);
}

static void put_one(FILE *f, const struct control_header *h, const u8 *data, size_t n)
{
	fprintf(f, "{cmsg_len=%llu, cmsg_level=", h->length);
	value_names__put(f, &level_names, (u32)h->level);
	fputs(", cmsg_type=", f);
	if (h->level == SOL_SOCKET)
		value_names__put(f, &socket_control_types, (u32)h->type);
	else if (h->level == SOL_IP)
		value_names__put(f, &ip_control_types, (u32)h->type);
	else
		fprintf(f, "%#x", h->type);
	put_data(f, h, data, n);
	fputc('}', f);
}

bool control__put(FILE *f, const struct trace_chunk *c)
{
	size_t at = 0, end = c ? c->bytes : 0, left;
	struct control_header h;

	if (end < sizeof(h))
		return false;
	fputc('[', f);
	for (; at + sizeof(h) <= end; at += (h.length + 7) & ~7ULL) {
		memcpy(&h, c->data + at, sizeof(h));
		left = end - at;
		fputs(at ? ", " : "", f);
		if (h.length < sizeof(h)) {
			put_one(f, &h, NULL, 0);
			break;
		}
		if (h.length < left)
			left = h.length;
		put_one(f, &h, c->data + at + sizeof(h), left - sizeof(h));
		if (h.length >= end - at) {
			at = end;
			break;
		}
	}
	fputs(at < end || c->flags & TRACE_CHUNK_CUT ? ", ...]" : "]", f);
	return true;
}
