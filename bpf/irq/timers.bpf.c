// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Run time of timer functions, or their latency: timer wheel (struct timer_list) and high-resolution timers (struct
 * hrtimer). A timer's function may free or restart the timer, so only its address is used at the end.
 */
#include "span.bpf.h"

const volatile u64 jiffy_ns = 0;        /* 1 / CONFIG_HZ */

static __always_inline u64 hrtimer_kind(const struct hrtimer *timer)
{
	return timer->is_soft ? TIMER_HIGH_SOFT : TIMER_HIGH;
}

static __always_inline int timer_ended(u64 token)
{
	struct span_what what = {};
	struct span span;

	if (!span_end(token, &span))
		return 0;
	what.id = span.id;
	what.kind = span.kind;
	span_add(&what, bpf_ktime_get_ns() - span.start_ns);
	return 0;
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(on_timer_entry, struct timer_list *timer)
{
	span_begin((u64)timer, (u64)timer->function, TIMER_WHEEL);
	return 0;
}

SEC("tp_btf/timer_expire_exit")
int BPF_PROG(on_timer_exit, struct timer_list *timer)
{
	return timer_ended((u64)timer);
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_hrtimer_entry, struct hrtimer *timer)
{
	span_begin((u64)timer, (u64)timer->function, hrtimer_kind(timer));
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_hrtimer_exit, struct hrtimer *timer)
{
	return timer_ended((u64)timer);
}

/*
 * The expiry time is read without the lock, which is released before the function is called. If the timer has already
 * been restarted, the time is in the future.
 */
static __always_inline int timer_is_late(const struct span_what *what, s64 late_ns)
{
	if (late_ns >= 0)
		span_add(what, late_ns);
	else
		count_lost(LOSS_NEGATIVE);
	return 0;
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(on_late_timer, struct timer_list *timer)
{
	struct span_what what = { .id = (u64)timer->function, .kind = TIMER_WHEEL };

	return timer_is_late(&what, (s64)(bpf_jiffies64() - timer->expires) * (s64)jiffy_ns);
}

/* Latency after the earliest expiry time, in the clock of bpf_ktime_get_ns(). */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_late_hrtimer, struct hrtimer *timer)
{
	struct span_what what = { .id = (u64)timer->function, .kind = hrtimer_kind(timer) };
	s64 due = timer->_softexpires - timer->base->offset;

	return timer_is_late(&what, (s64)bpf_ktime_get_ns() - due);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
