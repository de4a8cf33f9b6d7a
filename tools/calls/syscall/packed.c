// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/packed.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "calls/syscall/constants.h"
#include "host/errno_name.h"

/* include/uapi/asm-generic/hugetlb_encode.h */
#define HUGE_SHIFT 26
#define HUGE_MASK 0x3f

static const char *const file_types[16] = {
	[S_IFSOCK >> 12] = "S_IFSOCK", [S_IFLNK >> 12] = "S_IFLNK", [S_IFREG >> 12] = "S_IFREG",
	[S_IFBLK >> 12] = "S_IFBLK",   [S_IFDIR >> 12] = "S_IFDIR", [S_IFCHR >> 12] = "S_IFCHR",
	[S_IFIFO >> 12] = "S_IFIFO",
};

void file_mode__put(FILE *f, u32 mode)
{
	const char *type = mode >> 16 ? NULL : file_types[mode >> 12 & 15];

	constant__begin(f, CONSTANT_OCTAL, mode);
	if (type)
		fprintf(f, "%s|%#03o", type, mode & 07777);
	else
		fprintf(f, "%#03o", mode);
	constant__end(f);
}

bool is_device_mode(u32 mode)
{
	return S_ISCHR(mode) || S_ISBLK(mode);
}

void protocol__put(FILE *f, u32 family, u32 protocol)
{
	const char *name;

	switch (family) {
	case AF_INET:
	case AF_INET6:
		name = value_names__find(&internet_protocols, protocol);
		break;
	case AF_NETLINK:
		name = value_names__find(&netlink_protocols, protocol);
		break;
	case AF_PACKET:
		name = value_names__find(&ethernet_protocols, ntohs(protocol));
		fputs("htons(", f);
		value_names__put(f, &ethernet_protocols, ntohs(protocol));
		fputc(')', f);
		return;
	default:
		name = NULL;
		break;
	}
	if (name)
		fputs(name, f);
	else
		fprintf(f, "%d", (int)protocol);
}

void quota_command__put(FILE *f, u32 command)
{
	fputs("QCMD(", f);
	value_names__put(f, &quota_commands, command >> 8);
	fputs(", ", f);
	value_names__put(f, &quota_types, command & 0xff);
	fputc(')', f);
}

void mount_flags__put(FILE *f, u64 flags)
{
	if ((flags & 0xffff0000) == 0xc0ed0000) {
		fputs("MS_MGC_VAL|", f);
		flags &= ~0xffff0000ULL;
	}
	value_names__put(f, &mount_flags, flags);
}

void huge_names__put(FILE *f, const struct value_names *names, u64 flags)
{
	u32 huge = flags >> HUGE_SHIFT & HUGE_MASK;
	const char *prefix = names == &map_flags ? "MAP" : "MFD";

	value_names__put(f, names, flags & ~((u64)HUGE_MASK << HUGE_SHIFT));
	if (huge)
		fprintf(f, "|%u<<%s_HUGE_SHIFT", huge, prefix);
}

void io_priority__put(FILE *f, u32 priority)
{
	fputs("IOPRIO_PRIO_VALUE(", f);
	value_names__put(f, &priority_classes, priority >> 13);
	fprintf(f, ", %u)", priority & 0x1fff);
}

void ipc_flags__put(FILE *f, u32 flags)
{
	if (flags & ~0777) {
		value_names__put(f, &ipc_get_flags, flags & ~0777);
		fputc('|', f);
	}
	fprintf(f, "%#03o", flags & 0777);
}

void futex_wake_op__put(FILE *f, u32 op)
{
	fputs("FUTEX_OP(", f);
	/* If the highest bit is set, the operand is a bit number. */
	if (op >> 31)
		fputs("FUTEX_OP_OPARG_SHIFT|", f);
	value_names__put(f, &futex_wake_ops, op >> 28 & 7);
	fprintf(f, ", %u, ", op >> 12 & 0xfff);
	value_names__put(f, &futex_compares, op >> 24 & 15);
	fprintf(f, ", %u)", op & 0xfff);
}

void membership__put(FILE *f, const void *data)
{
	char group[INET_ADDRSTRLEN], interface[INET_ADDRSTRLEN];
	struct ip_mreq m;

	memcpy(&m, data, sizeof(m));
	inet_ntop(AF_INET, &m.imr_multiaddr, group, sizeof(group));
	inet_ntop(AF_INET, &m.imr_interface, interface, sizeof(interface));
	fprintf(f, "{imr_multiaddr=inet_addr(\"%s\"), imr_interface=inet_addr(\"%s\")}", group, interface);
}

bool error_number__put(FILE *f, const void *data)
{
	const char *name;
	int error;

	memcpy(&error, data, sizeof(error));
	name = error > 0 ? errno_name(error) : NULL;
	if (name)
		fprintf(f, "[%s]", name);
	return name;
}
