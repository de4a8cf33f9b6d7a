// SPDX-License-Identifier: BSD-2-Clause
#include "net/drop.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types/btf.h"
#include "types/kernel_btf.h"

/* Reasons of subsystems carry enum skb_drop_reason_subsys in their upper half. */
#define SUBSYSTEM_SHIFT 16

/* More than any kernel has. Enumerators above this are masks, not reasons. */
#define MOST_NAMES 4096

/*
 * --- reasons -----------------------------------------------------------------------------------
 */

static const char *after(const char *prefix, const char *name)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) ? NULL : name + n;
}

/* Collects the enumerators that begin with a prefix, indexed by value. */
static int take_names(const struct enum_values *e, const char *prefix, char ***name, u32 *n)
{
	const char *rest;
	size_t i;

	*name = calloc(MOST_NAMES, sizeof(**name));
	if (!*name)
		return -ENOMEM;
	for (i = 0; i < e->n; i++) {
		rest = after(prefix, e->value[i].name);
		if (!rest || e->value[i].value >= MOST_NAMES - 1 || !strcmp(rest, "MAX") || (*name)[e->value[i].value])
			continue;
		(*name)[e->value[i].value] = strdup(rest);
		if (!(*name)[e->value[i].value])
			return -ENOMEM;
		if (e->value[i].value >= *n)
			*n = e->value[i].value + 1;
	}
	return 0;
}

/* Reads the enumerators of a kernel enum; *e stays empty if the kernel has no such enum. */
static int read_enum(const struct btf *btf, const char *type, struct enum_values *e)
{
	const struct btf_type *t;
	u32 id;

	for (id = 1; (t = btf__type_by_id(btf, id)); id++)
		/* An enum without values is a forward declaration. */
		if (btf_is_any_enum(t) && btf_vlen(t) && !strcmp(btf__name_by_offset(btf, t->name_off), type))
			return enum_values__read(e, btf, id);
	return 0;
}

/* Names each number below n, and n itself, which stands for the reasons of subsystems. */
static int complete_names(struct drop_reasons *r)
{
	u32 i;

	for (i = 0; r->n && i < r->n; i++)
		if (!r->name[i] && asprintf(&r->name[i], "reason-%u", i) < 0)
			return -ENOMEM;
	if (r->n)
		r->name[r->n] = strdup("of a subsystem");
	return !r->n || r->name[r->n] ? 0 : -ENOMEM;
}

static u32 number_of(const struct enum_values *e, const char *name)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (!strcmp(e->value[i].name, name))
			return e->value[i].value;
	return UINT32_MAX;
}

int drop_reasons__read(struct drop_reasons *r)
{
	static const char *const name[] = { "skb_drop_reason", "skb_drop_reason_subsys" };
	struct enum_values reasons = {}, subsystems = {};
	struct btf *btf = kernel_btf__enums(name, ARRAY_SIZE(name));
	int err;

	if (!btf)
		return errno == ENOMEM || errno == EPERM ? -errno : errno == EACCES ? -EPERM : -ENOENT;
	err = read_enum(btf, name[0], &reasons);
	if (!err)
		err = read_enum(btf, name[1], &subsystems);
	if (!err)
		err = take_names(&reasons, "SKB_DROP_REASON_", &r->name, &r->n);
	if (!err)
		err = complete_names(r);
	if (!err)
		err = take_names(&subsystems, "SKB_DROP_REASON_SUBSYS_", &r->subsystem, &r->nsubsystems);
	r->consumed = number_of(&reasons, "SKB_CONSUMED");
	enum_values__free(&reasons);
	enum_values__free(&subsystems);
	btf__free(btf);
	return err;
}

void drop_reasons__free(struct drop_reasons *r)
{
	u32 i;

	for (i = 0; r->n && i <= r->n; i++)
		free(r->name[i]);
	for (i = 0; i < r->nsubsystems; i++)
		free(r->subsystem[i]);
	free(r->name);
	free(r->subsystem);
	*r = (struct drop_reasons){};
}

const char *drop_reason_name(const struct drop_reasons *r, u32 reason, char text[DROP_TEXT_SPACE])
{
	u32 whose = reason >> SUBSYSTEM_SHIFT, number = reason & ((1U << SUBSYSTEM_SHIFT) - 1);

	if (reason < r->n)
		return r->name[reason];
	if (whose && whose < r->nsubsystems && r->subsystem[whose])
		snprintf(text, DROP_TEXT_SPACE, "%s:%u", r->subsystem[whose], number);
	else
		snprintf(text, DROP_TEXT_SPACE, "reason-%u", reason);
	return text;
}

/*
 * --- packets -----------------------------------------------------------------------------------
 */

static const char *ip_protocol(u8 protocol)
{
	switch (protocol) {
	case IPPROTO_ICMP:
		return "icmp";
	case IPPROTO_IGMP:
		return "igmp";
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_GRE:
		return "gre";
	case IPPROTO_ESP:
		return "esp";
	case IPPROTO_ICMPV6:
		return "icmp";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_UDPLITE:
		return "udplite";
	default:
		return NULL;
	}
}

const char *drop_protocol_name(__u16 ethertype, u8 protocol, char text[DROP_TEXT_SPACE])
{
	const char *six = ethertype == ETH_P_IPV6 ? "6" : "";
	const char *name = ip_protocol(protocol);

	switch (ethertype) {
	case 0:
		return "none";
	case ETH_P_ARP:
		return "arp";
	case ETH_P_IP:
	case ETH_P_IPV6:
		if (name)
			snprintf(text, DROP_TEXT_SPACE, "%s%s", name, six);
		else
			snprintf(text, DROP_TEXT_SPACE, "ip%s-%u", six, protocol);
		return text;
	default:
		snprintf(text, DROP_TEXT_SPACE, "0x%04x", ethertype);
		return text;
	}
}

/*
 * --- places ------------------------------------------------------------------------------------
 */

/* A call may be the last instruction of its function, so the lookup uses the address before. */
const char *drop_location_name(struct symbols *s, u64 location, char text[DROP_TEXT_SPACE])
{
	struct symbol symbol = {};
	bool module;

	if (!s || !location || symbols__kernel(s, location - 1, &symbol) || !symbol.name) {
		snprintf(text, DROP_TEXT_SPACE, "0x%llx", location);
		return text;
	}
	module = symbol.module && *symbol.module != '[';
	snprintf(text, DROP_TEXT_SPACE, "%s+0x%llx%s%s%s", symbol.name, symbol.offset + 1, module ? " [" : "",
		 module ? symbol.module : "", module ? "]" : "");
	return text;
}
