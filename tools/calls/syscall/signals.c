// SPDX-License-Identifier: BSD-2-Clause
#include "calls/syscall/signals.h"

#include <signal.h>
#include <string.h>

#include "calls/syscall/constants.h"
#include "calls/syscall/names.h"
#include "calls/syscall/text.h"

/* include/uapi/asm-generic/siginfo.h, the layout of 64-bit programs: the first 32 bytes. */
struct kernel_siginfo {
	int signal, error, code, pad;
	union {
		struct {
			int pid;
			u32 uid;
			union {
				u64 value;
				int status;
			};
		};
		struct {
			int timer, overrun;
			u64 timer_value;
		};
		u64 address;
	};
};

struct kernel_sigevent {
	u64 value;
	int signal, notify, tid, pad;
};

void sigset__put(FILE *f, u64 set)
{
	bool inverted = __builtin_popcountll(set) > 32, first = true;
	const char *name;
	int i;

	if (inverted)
		set = ~set;
	fputs(inverted ? "~[" : "[", f);
	for (i = 1; i <= 64; i++) {
		if (!(set >> (i - 1) & 1))
			continue;
		name = i == SIGIO ? "IO" : i < 32 ? sigabbrev_np(i) : NULL;
		if (!first)
			fputc(' ', f);
		first = false;
		constant__begin(f, CONSTANT_DECIMAL, i);
		if (name)
			fputs(name, f);
		else if (i == 32)
			fputs("RTMIN", f);
		else
			fprintf(f, "RT_%d", i - 32);
		constant__end(f);
	}
	fputc(']', f);
}

static bool is_of_cpu(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

static void put_value(FILE *f, u64 value)
{
	fprintf(f, ", si_int=%d, si_ptr=", (int)value);
	pointer__put(f, value);
}

static void put_sender(FILE *f, const struct kernel_siginfo *s)
{
	fprintf(f, ", si_pid=%d, si_uid=%u", s->pid, s->uid);
}

static void put_child(FILE *f, const struct kernel_siginfo *s)
{
	put_sender(f, s);
	fputs(", si_status=", f);
	if (s->code == CLD_EXITED)
		fprintf(f, "%d", s->status);
	else
		signal_name__put(f, (u32)s->status);
}

static void put_by_code(FILE *f, const struct kernel_siginfo *s)
{
	switch (s->code) {
	case SI_USER:
	case SI_TKILL:
		put_sender(f, s);
		break;
	case SI_QUEUE:
	case SI_MESGQ:
		put_sender(f, s);
		put_value(f, s->value);
		break;
	case SI_TIMER:
		fprintf(f, ", si_timerid=%#x, si_overrun=%d", s->timer, s->overrun);
		put_value(f, s->timer_value);
		break;
	default:
		break;
	}
}

void siginfo__put(FILE *f, const void *data)
{
	const struct kernel_siginfo *s = data;
	bool child = s->signal == SIGCHLD && s->code > 0 && s->code != SI_KERNEL;

	if (!s->signal) {
		fputs("{}", f);
		return;
	}
	fputs("{si_signo=", f);
	signal_name__put(f, (u32)s->signal);
	fputs(", si_code=", f);
	value_names__put(f, child ? &child_codes : &signal_codes, (u32)s->code);
	if (child) {
		put_child(f, s);
	} else if (is_of_cpu(s->signal) && s->code > 0) {
		fputs(", si_addr=", f);
		pointer__put(f, s->address);
	} else {
		put_by_code(f, s);
	}
	fputc('}', f);
}

void sigevent__put(FILE *f, const void *data)
{
	const struct kernel_sigevent *e = data;

	fputc('{', f);
	if (e->value) {
		fprintf(f, "sigev_value={sival_int=%d, sival_ptr=", (int)e->value);
		pointer__put(f, e->value);
		fputs("}, ", f);
	}
	fputs("sigev_signo=", f);
	signal_name__put(f, (u32)e->signal);
	fputs(", sigev_notify=", f);
	value_names__put(f, &signal_notifications, (u32)e->notify);
	if (e->notify == SIGEV_THREAD_ID)
		fprintf(f, ", sigev_notify_thread_id=%d", e->tid);
	fputc('}', f);
}

void sigstack__put(FILE *f, const void *data)
{
	const stack_t *s = data;

	fputs("{ss_sp=", f);
	pointer__put(f, (u64)s->ss_sp);
	fputs(", ss_flags=", f);
	value_names__put(f, &stack_flags, (u32)s->ss_flags);
	fprintf(f, ", ss_size=%llu}", (u64)s->ss_size);
}
