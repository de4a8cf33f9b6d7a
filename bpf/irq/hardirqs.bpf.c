// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Time spent in interrupt handlers, with interrupts off: each call of a device's handler, by IRQ and name of the action
 * (several actions may share an IRQ), and interrupts without an IRQ number (timer, IPIs) by vector.
 */
#include "span.bpf.h"

const volatile bool has_names = false;          /* only count names that match the glob */
const volatile struct scope_glob names = {};

static __always_inline bool is_wanted(const char name[SPAN_NAME_LEN])
{
	u32 s = names.start;
	int i;

	if (!has_names)
		return true;
	for (i = 0; i < SPAN_NAME_LEN && name[i]; i++) {
		s = ((s & names.accepts[(u8)name[i]]) << 1) | (s & names.stars);
		s |= (s & names.stars) << 1;
	}
	return s & names.final;
}

static __always_inline void add(const struct span_what *what, u64 start_ns)
{
	u64 ns = bpf_ktime_get_ns() - start_ns;

	if (is_wanted(what->name))
		span_add(what, ns);
	else
		count_filtered();
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_handler_entry, int irq, struct irqaction *action)
{
	span_begin((u64)action, 0, 0);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_handler_exit, int irq, struct irqaction *action)
{
	struct span_what what = { .id = irq };
	struct span span;

	if (!span_end((u64)action, &span))
		return 0;
	if (action->name)
		bpf_probe_read_kernel_str(what.name, sizeof(what.name), action->name);
	add(&what, span.start_ns);
	return 0;
}

/* Nested interrupts never have the same line, so the id identifies the end. */
#define ON_VECTOR(tracepoint, line)                                                                \
	SEC("tp_btf/" #tracepoint "_entry")                                                        \
	int BPF_PROG(on_##tracepoint##_entry)                                                      \
	{                                                                                          \
		span_begin(SPAN_VECTOR | line, 0, 0);                                              \
		return 0;                                                                          \
	}                                                                                          \
	SEC("tp_btf/" #tracepoint "_exit")                                                         \
	int BPF_PROG(on_##tracepoint##_exit)                                                       \
	{                                                                                          \
		struct span_what what = { .id = SPAN_VECTOR | line, .name = #tracepoint };         \
		struct span span;                                                                  \
                                                                                                   \
		if (span_end(SPAN_VECTOR | line, &span))                                           \
			add(&what, span.start_ns);                                                 \
		return 0;                                                                          \
	}

ON_VECTOR(local_timer, LINE_LOC)
ON_VECTOR(reschedule, LINE_RES)
ON_VECTOR(call_function, LINE_CAL)
ON_VECTOR(call_function_single, LINE_CAL)
ON_VECTOR(irq_work, LINE_IWI)
ON_VECTOR(x86_platform_ipi, LINE_PLT)
ON_VECTOR(thermal_apic, LINE_TRM)
ON_VECTOR(threshold_apic, LINE_THR)
ON_VECTOR(deferred_error_apic, LINE_DFR)
ON_VECTOR(spurious_apic, LINE_SPU)
ON_VECTOR(error_apic, LINE_ERR)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
