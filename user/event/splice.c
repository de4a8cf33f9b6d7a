// SPDX-License-Identifier: BSD-2-Clause
#include "event/splice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/diag.h"

#define LOG_SIZE (256 << 10)

int splice__begin(struct splice *s, const struct bpf_insn *insn, size_t n)
{
	*s = (struct splice){ malloc(n * sizeof(*insn)), n };
	if (!s->insn)
		return -ENOMEM;
	memcpy(s->insn, insn, n * sizeof(*insn));
	return 0;
}

void splice__free(struct splice *s)
{
	free(s->insn);
	*s = (struct splice){};
}

static bool is_mark(const struct bpf_insn *insn, int mark)
{
	return insn->code == (BPF_ALU64 | BPF_MOV | BPF_K) && insn->imm == mark;
}

static bool is_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

/* Finds the range of the function that contains the instruction at index `at`. */
static void find_function(const struct splice *s, size_t at, size_t *from, size_t *to)
{
	size_t i;

	*from = 0;
	*to = s->n;
	for (i = 0; i < s->n; i++) {
		size_t begin = i + 1 + s->insn[i].imm;

		if (!is_call(&s->insn[i]))
			continue;
		if (begin <= at && begin > *from)
			*from = begin;
		if (begin > at && begin < *to)
			*to = begin;
	}
}

/* Returns the new position of instruction i after [from, to) is replaced by len instructions. */
static size_t moved(size_t i, size_t from, size_t to, size_t len)
{
	return i >= to ? i - (to - from) + len : i;
}

int splice__put_body(struct splice *s, int mark, const struct bpf_insn *insn, size_t n)
{
	size_t at, from, to, i, k;
	struct bpf_insn *out;

	for (at = 0; at < s->n && !is_mark(&s->insn[at], mark); at++)
		;
	if (at == s->n)
		return 0;
	find_function(s, at, &from, &to);
	out = malloc((s->n - (to - from) + n) * sizeof(*out));
	if (!out)
		return -ENOMEM;
	for (i = 0; i < s->n; i++) {
		if (i >= from && i < to)
			continue;
		k = moved(i, from, to, n);
		out[k] = s->insn[i];
		if (is_call(&s->insn[i]))
			out[k].imm = moved(i + 1 + s->insn[i].imm, from, to, n) - k - 1;
	}
	memcpy(out + from, insn, n * sizeof(*out));
	free(s->insn);
	*s = (struct splice){ out, s->n - (to - from) + n };
	return 0;
}

bool splice__has(const struct splice *s, size_t from, size_t to, int mark)
{
	size_t i;

	for (i = from; i < to; i++)
		if (is_mark(&s->insn[i], mark))
			return true;
	return false;
}

size_t splice__function_end(const struct splice *s, size_t at)
{
	size_t from, to;

	find_function(s, at, &from, &to);
	return to;
}

void splice__put_number(struct splice *s, int mark, u32 number)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (is_mark(&s->insn[i], mark))
			s->insn[i].imm = number;
}

void splice__explain(const struct splice *s, enum bpf_prog_type type,
		     const struct bpf_prog_load_opts *opts)
{
	struct bpf_prog_load_opts again = *opts;
	char *log = malloc(LOG_SIZE), *line, *next;
	int fd;

	if (!log)
		return;
	log[0] = 0;
	again.log_buf = log;
	again.log_size = LOG_SIZE;
	again.log_level = 1;
	fd = bpf_prog_load(type, NULL, "Dual BSD/GPL", s->insn, s->n, &again);
	if (fd >= 0)
		close(fd);
	for (line = log; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		diag_detail("verifier: %s", line);
	}
	free(log);
}
