// SPDX-License-Identifier: BSD-2-Clause
/* Hardware breakpoints on accesses to an address: mem:ADDRESS[/LENGTH][:rwx]. */
#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "event/event.h"
#include "host/features.h"
#include "sym/kallsyms.h"
#include "types/binary.h"

#define PREFIX 4        /* length of "mem:" */

static bool breakpoint__claims(const struct event_context *ctx, const struct event_word *w)
{
	(void)ctx;
	return w->len >= PREFIX && !memcmp(w->text, "mem:", PREFIX);
}

static bool in_symbol(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* Parses SYMBOL[+OFFSET], bytes from..to. */
static int parse_symbol(struct event *e, const struct event_word *w, size_t from, size_t to,
			struct complaint *c)
{
	const char *plus = memchr(w->text + from, '+', to - from);
	size_t end = plus ? (size_t)(plus - w->text) : to, i;
	u64 offset;

	if (end == from)
		return complain(c, -EINVAL, w->at + from, 1, "a symbol is missing before the '+'");
	for (i = from; i < end; i++)
		if (!in_symbol(w->text[i]))
			return complain(c, -EINVAL, w->at + i, 1, "'%.1s' is not allowed in symbol names",
					w->text + i);
	if (plus) {
		if (event_word__number(w, end + 1, to, &offset))
			return complain(c, -EINVAL, w->at + end + 1, to - end - 1,
					"an offset in bytes (12 or 0xc) must follow the '+'");
		e->attr.bp_addr = offset;
	}
	e->symbol = event_word__copy(w, from, end);
	return e->symbol ? 0 : complain(c, -ENOMEM, w->at, w->len, "no memory");
}

/* Parses ADDRESS or SYMBOL[+OFFSET] after the prefix; sets *end to its end. */
static int parse_address(struct event *e, const struct event_word *w, size_t *end,
			 struct complaint *c)
{
	size_t from = PREFIX;
	u64 address;
	int err;

	*end = event_word__find(w, from, "/:");
	if (*end == from)
		return complain(c, -EINVAL, w->at + from, from < w->len,
				"expected an address or a symbol");
	if (!isdigit((unsigned char)w->text[from]))
		return parse_symbol(e, w, from, *end, c);
	err = event_word__number(w, from, *end, &address);
	if (err == -ERANGE)
		return complain(c, -EINVAL, w->at + from, *end - from,
				"addresses have at most 64 bits");
	if (err)
		return complain_hint(c, complain(c, -EINVAL, w->at + from, *end - from,
			"this is neither an address nor a symbol"),
			"addresses are hexadecimal with 0x, or decimal");
	e->attr.bp_addr = address;
	return 0;
}

/* Parses "/LENGTH" at *end, and moves *end past it. */
static int parse_length(struct event *e, const struct event_word *w, size_t *end,
			struct complaint *c)
{
	size_t from = *end + 1;
	u64 length;

	if (*end == w->len || w->text[*end] != '/')
		return 0;
	*end = event_word__find(w, from, ":/");
	if (event_word__number(w, from, *end, &length) ||
	    (length != 1 && length != 2 && length != 4 && length != 8))
		return complain(c, -EINVAL, w->at + from, *end - from,
				"the length must be 1, 2, 4 or 8");
	e->attr.bp_len = length;
	return 0;
}

/* Parses the letters r w x at *end, and moves *end past them. */
static int parse_access(struct event *e, const struct event_word *w, size_t *end,
			struct complaint *c)
{
	static const char letters[] = "rwx";
	static const u32 bits[] = { HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_X };
	const char *letter;
	u32 bit;

	for (; *end < w->len && w->text[*end]; ++*end) {
		letter = strchr(letters, w->text[*end]);
		if (!letter)
			break;
		bit = bits[letter - letters];
		if (e->attr.bp_type & bit)
			return complain(c, -EINVAL, w->at + *end, 1, "'%c' is given twice",
					*letter);
		e->attr.bp_type |= bit;
	}
	return 0;
}

/* Applies perf's defaults, and refuses what no CPU can watch. The address is at bytes PREFIX..address. */
static int complete(struct event *e, const struct event_word *w, size_t address,
		    struct complaint *c)
{
	struct perf_event_attr *a = &e->attr;

	if (!a->bp_type)
		a->bp_type = HW_BREAKPOINT_RW;
	if ((a->bp_type & HW_BREAKPOINT_X) && a->bp_type != HW_BREAKPOINT_X)
		return complain_hint(c, complain(c, -EINVAL, w->at, w->len,
			"a breakpoint watches either accesses (r, w) or execution (x)"),
			"use two events");
	if (a->bp_type == HW_BREAKPOINT_X && a->bp_len && a->bp_len != sizeof(long))
		return complain(c, -EINVAL, w->at + address + 1, 1,
				"an execution breakpoint needs the length %zu", sizeof(long));
	if (!a->bp_len)
		a->bp_len = a->bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	if (a->bp_type != HW_BREAKPOINT_X && !e->symbol && a->bp_addr % a->bp_len)
		return complain_hint(c, complain(c, -EINVAL, w->at + PREFIX, address - PREFIX,
			"the address is not a multiple of the length, %llu", a->bp_len),
			"the length follows the address: mem:%.*s/1", (int)(address - PREFIX),
			w->text + PREFIX);
	return 0;
}

static int breakpoint__parse(struct event *e, const struct event_context *ctx,
			     const struct event_word *w, struct complaint *c)
{
	size_t end, address;
	int err;

	(void)ctx;
	e->attr.type = PERF_TYPE_BREAKPOINT;
	err = parse_address(e, w, &end, c);
	address = end;
	if (!err)
		err = parse_length(e, w, &end, c);
	if (!err && end < w->len && w->text[end] == '/')
		return complain(c, -EINVAL, w->at + end, 1, "only access and modifiers can follow");
	if (!err && end < w->len && ++end == w->len)
		return complain(c, -EINVAL, w->at + end - 1, 1,
				"expected r, w or x after the colon");
	if (!err)
		err = parse_access(e, w, &end, c);
	if (!err && end < w->len && w->text[end] == ':')
		end++;
	else if (!err && end < w->len && !strchr("ukhGHpPSDIWeb", w->text[end]))
		return complain_hint(c, complain(c, -EINVAL, w->at + end, 1,
			"unknown access '%.1s'", w->text + end),
			"accesses are r (read), w (write) and x (execute)");
	if (!err && (end < w->len || w->text[w->len - 1] == ':'))
		err = event__parse_modifiers(e, w, end, c);
	return err ?: complete(e, w, address, c);
}

static int no_symbol(const struct event *e, int err, struct complaint *c)
{
	size_t len = strlen(e->symbol);

	if (err == -ENOENT)
		complain(c, err, e->at + PREFIX, len, "%s has no symbol '%s'",
			 e->binary ?: "the kernel", e->symbol);
	if (err == -ENOENT && !e->binary)
		complain_hint(c, err, "kernels without CONFIG_KALLSYMS_ALL list functions only; -x selects a binary "
				      "instead");
	if (err == -ENOENT)
		return err;
	if (err == -EPERM && !e->binary)
		return complain_hint(c, complain(c, err, e->at + PREFIX, len,
			"the kernel hides its addresses"),
			"needs CAP_SYSLOG, and kernel.kptr_restrict below 2");
	return complain(c, err, e->at + PREFIX, len, "cannot read the symbols of %s: %s",
			e->binary ?: "the kernel", strerror(-err));
}

/* Looks up the symbol in the kernel, or in the binary of -x. */
static int find_symbol(const struct event *e, u64 *address, struct complaint *c)
{
	bool is_relative = false;
	int err;

	if (e->binary)
		err = binary__symbol(e->binary, e->symbol, address, &is_relative);
	else
		err = kernel_symbol(e->symbol, address);
	if (err)
		return no_symbol(e, err, c);
	if (is_relative)
		return complain_hint(c, complain(c, -EOPNOTSUPP, e->at + PREFIX, strlen(e->symbol),
			"%s is loaded at a different address each time, so '%s' has no fixed address",
			e->binary, e->symbol),
			"give the address in the running process: its start in /proc/PID/maps plus 0x%llx", *address);
	return 0;
}

static int breakpoint__resolve(struct event_sites *sites, const struct event *e,
			       const struct event_context *ctx, struct complaint *c)
{
	u64 address = 0;
	struct event_site *s;
	int err;

	/* Do not test events of a recorded machine on this one. */
	if (!ctx->pmus && feature__probe(FEATURE_BREAKPOINTS) == FEATURE_MISSING)
		return complain_hint(c, complain(c, -EOPNOTSUPP, e->at, e->len,
			"breakpoints do not work on this machine: a test breakpoint counted nothing"),
			"virtual machines may lack them; perf would count 0 here");
	if (e->symbol) {
		err = find_symbol(e, &address, c);
		if (err)
			return err;
	}
	s = event_sites__add_counter(sites, e, e->name);
	if (!s)
		return complain(c, -ENOMEM, 0, 0, "no memory");
	s->attr.bp_addr += address;
	if (s->attr.bp_type != HW_BREAKPOINT_X && s->attr.bp_addr % s->attr.bp_len)
		return complain(c, -EINVAL, e->at + PREFIX, e->len - PREFIX,
				"the address 0x%llx is not a multiple of the length, %llu",
				s->attr.bp_addr, s->attr.bp_len);
	return 0;
}

static int breakpoint__list(const struct event_context *ctx, event_visit visit, void *arg)
{
	(void)ctx;
	return visit(arg, "mem:ADDRESS[/LENGTH][:rwx]",
		     "reads, writes or execution of 1, 2, 4 or 8 bytes at an address or a symbol");
}

const struct event_source event_breakpoint = {
	.type = EVENT_BREAKPOINT,
	.name = "breakpoint",
	.claims = breakpoint__claims,
	.parse = breakpoint__parse,
	.resolve = breakpoint__resolve,
	.list = breakpoint__list,
};
