// SPDX-License-Identifier: BSD-2-Clause
/* The text of one event: its parts, modifiers and function name. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "event/event.h"

char *event_word__copy(const struct event_word *w, size_t from, size_t to)
{
	return strndup(w->text + from, to - from);
}

size_t event_word__find(const struct event_word *w, size_t from, const char *stop)
{
	size_t i;

	for (i = from; i < w->len; i++)
		if (w->text[i] && strchr(stop, w->text[i]))
			break;
	return i;
}

int event_word__number(const struct event_word *w, size_t from, size_t to, u64 *value)
{
	char *text;
	int err;

	/* K, M and G are suffixes of sizes only. */
	if (from >= to || !isxdigit((unsigned char)w->text[to - 1]))
		return -EINVAL;
	text = event_word__copy(w, from, to);
	if (!text)
		return -ENOMEM;
	err = parse_u64(text, value);
	free(text);
	return err;
}

bool event_word__base(const struct event_word *w, size_t *len)
{
	const char *colon = memchr(w->text, ':', w->len);
	size_t i;

	*len = colon ? (size_t)(colon - w->text) : w->len;
	if (memchr(w->text, '-', *len))
		return true;    /* only counters are spelled like that */
	for (i = *len; i < w->len; i++)
		if (isdigit((unsigned char)w->text[i]) || strchr("_.+%*?[", w->text[i]))
			return false;
	return true;
}

/* --- modifiers ------------------------------------------------------------------------------ */

/* True if the letter applies to this type of event. Only CPU events have guest, host and precision. */
static bool modifier_applies(enum event_type type, char letter)
{
	switch (type) {
	case EVENT_HARDWARE:
	case EVENT_RAW:
		return true;
	case EVENT_SOFTWARE:
	case EVENT_BREAKPOINT:
	case EVENT_TRACEPOINT:
		return letter == 'u' || letter == 'k';
	default:
		return false;
	}
}

static int bad_modifier(const struct event *e, size_t at, char letter, struct complaint *c)
{
	int err;

	if (strchr("ukhGHp", letter) && letter) {
		err = complain(c, -EINVAL, at, 1,
			       "the modifier '%c' does not apply to a %s event", letter,
			       event_type_name(e->type));
		if (e->type > EVENT_TRACEPOINT)
			return complain_hint(c, err, "functions and probes take no modifiers");
		return complain_hint(c, err, "these take u (user mode) and k (kernel mode)");
	}
	if (strchr("PSDIWeb", letter) && letter)
		err = complain(c, -EINVAL, at, 1, "perf's modifier '%c' is not supported", letter);
	else
		err = complain(c, -EINVAL, at, 1, "unknown modifier '%c'", letter);
	return complain_hint(c, err, "the modifiers are u (user mode), k (kernel), h (hypervisor), "
				     "G (guests), H (host), p (precise; pp, ppp more so)");
}

/* Adds one letter to m. */
static void add_modifier(struct event_modifiers *m, char letter)
{
	m->user |= letter == 'u';
	m->kernel |= letter == 'k';
	m->hypervisor |= letter == 'h';
	m->guest |= letter == 'G';
	m->host |= letter == 'H';
	m->precise += letter == 'p';
}

/* Several letters of a kind combine: uk is user mode and kernel. */
static void apply_modifiers(struct perf_event_attr *attr, const struct event_modifiers *m)
{
	bool modes = m->user || m->kernel || m->hypervisor;
	bool guests = m->guest || m->host;

	attr->exclude_user = modes && !m->user;
	attr->exclude_kernel = modes && !m->kernel;
	attr->exclude_hv = modes && !m->hypervisor;
	attr->exclude_guest = guests && !m->guest;
	attr->exclude_host = guests && !m->host;
	attr->precise_ip = m->precise;
}

int event__parse_modifiers(struct event *e, const struct event_word *w, size_t from,
			   struct complaint *c)
{
	struct event_modifiers m = e->modifiers;
	u32 times;
	char letter;
	size_t i, k;

	if (from >= w->len)
		return complain(c, -EINVAL, w->at + w->len - 1, 1,
				"modifiers are missing after the colon");
	m.precise = 0;
	for (i = from; i < w->len; i++) {
		letter = w->text[i];
		if (!letter || !strchr("ukhGHp", letter) || !modifier_applies(e->type, letter))
			return bad_modifier(e, w->at + i, letter, c);
		for (k = from, times = 0; k < i; k++)
			times += w->text[k] == letter;
		if (times == (letter == 'p' ? 3 : 1))
			return complain(c, -EINVAL, w->at + i, 1,
					letter == 'p' ? "ppp is the highest precision"
						      : "the modifier '%c' is given twice", letter);
		add_modifier(&m, letter);
	}
	if (m.precise < e->modifiers.precise)
		m.precise = e->modifiers.precise;
	m.at = w->at + from;
	m.len = w->len - from;
	e->modifiers = m;
	if (e->type <= EVENT_BREAKPOINT)
		apply_modifiers(&e->attr, &m);
	return 0;
}

/* --- functions ------------------------------------------------------------------------------ */

static bool in_function_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* Checks that bytes from..to are a function name. Allows globs and sets if `glob`. */
static int check_function_name(const struct event_word *w, size_t from, size_t to, bool glob,
			       struct complaint *c)
{
	bool in_set = false;
	size_t i;
	char ch;

	if (from == to)
		return complain(c, -EINVAL, w->at + from, from < w->len,
				"a function name is missing here");
	if (isdigit((unsigned char)w->text[from]))
		return complain(c, -EINVAL, w->at + from, to - from,
				"a function name cannot begin with a digit");
	for (i = from; i < to; i++) {
		ch = w->text[i];
		if (in_function_name(ch) || (glob && strchr("*?[", ch) && ch)) {
			in_set |= ch == '[';
			continue;
		}
		if (in_set && strchr("]!^-", ch) && ch) {
			in_set &= ch != ']';
			continue;
		}
		if (ch == '@')
			return complain_hint(c, complain(c, -EINVAL, w->at + i, to - i,
				"a source file cannot follow a kernel function"),
				"without it, all functions with that name are selected");
		return complain(c, -EINVAL, w->at + i, 1, "'%.1s' is not allowed in function names",
				w->text + i);
	}
	return 0;
}

int event__parse_place(struct event_function *f, const struct event_word *w, size_t from,
		       struct complaint *c)
{
	size_t n = w->len - from;
	u64 value;

	if (!n)
		return 0;
	if (w->text[from] == '%') {
		if (n != 7 || memcmp(w->text + from, "%return", 7))
			return complain_hint(c, complain(c, -EINVAL, w->at + from, n,
				"only %%return can follow a '%%'"),
				"FUNCTION%%return is the return");
		f->is_return = true;
		return 0;
	}
	if (memchr(w->text + from, '%', n))
		return complain(c, -EINVAL, w->at + from, n,
				"a return takes no offset or line");
	if (event_word__number(w, from + 1, w->len, &value))
		return complain(c, -EINVAL, w->at + from + 1, n - 1, w->text[from] == '+'
			? "an offset in bytes (12 or 0xc) must follow the '+'"
			: "a line number must follow the function");
	if (value > UINT32_MAX)
		return complain(c, -EINVAL, w->at + from + 1, n - 1,
				"the number is too large for a function");
	if (w->text[from] == '+')
		f->offset = value;
	else
		f->line = value;
	return 0;
}

int event__parse_function(struct event *e, const struct event_word *w, size_t from, bool modules,
			  struct complaint *c)
{
	size_t end = event_word__find(w, from, ":+%");
	int err;

	if (modules && end + 1 < w->len && w->text[end] == ':' &&
	    !isdigit((unsigned char)w->text[end + 1])) {
		err = check_function_name(w, from, end, false, c);
		if (err)
			return err;
		e->function.module = event_word__copy(w, from, end);
		if (!e->function.module)
			return complain(c, -ENOMEM, w->at, w->len, "no memory");
		from = end + 1;
		end = event_word__find(w, from, ":+%");
	}
	err = check_function_name(w, from, end, true, c);
	if (err)
		return err;
	e->function.name = event_word__copy(w, from, end);
	if (!e->function.name)
		return complain(c, -ENOMEM, w->at, w->len, "no memory");
	return event__parse_place(&e->function, w, end, c);
}
