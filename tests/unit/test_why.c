// SPDX-License-Identifier: BSD-2-Clause
/* calls/why/cause.c */
#include "calls/why/cause.h"
#include "host/syscalls.h"
#include "unit.h"

static u32 slot_of(const char *name)
{
	u32 slot;

	for (slot = 0; slot < TRACE_SLOTS; slot++) {
		const char *is = syscall_name(slot / SYSCALL_NUMBERS, slot % SYSCALL_NUMBERS);

		if (is && !strcmp(is, name))
			return slot;
	}
	return WHY_ANYWHERE;
}

static enum why_cause cause(enum why_phase phase, u32 slot, enum why_kind kind)
{
	const struct why_key key = { .phase = phase, .slot = slot, .kind = kind };

	return why_cause_of(&key);
}

static void test_each_phase_has_a_cause(void **state)
{
	u32 phase, kind;

	(void)state;
	for (phase = 0; phase < WHY_PHASES; phase++)
		for (kind = 0; kind < WHY_KINDS; kind++) {
			enum why_cause c = cause(phase, WHY_ANYWHERE, kind);

			assert_true(c < WHY_CAUSES && why_causes[c].name);
			assert_int_equal(c == CAUSE_UNKNOWN, phase == WHY_UNKNOWN);
		}
	assert_int_equal(cause(WHY_PHASES, WHY_ANYWHERE, KIND_NONE), CAUSE_UNKNOWN);
}

static void test_sleeps_by_call_before_file(void **state)
{
	(void)state;
	assert_int_equal(cause(WHY_SLEEP, slot_of("futex"), KIND_NONE), CAUSE_FUTEX);
	assert_int_equal(cause(WHY_SLEEP, slot_of("flock"), KIND_FILE), CAUSE_FILE_LOCK);
	assert_int_equal(cause(WHY_SLEEP, slot_of("accept4"), KIND_TCP), CAUSE_ACCEPT);
	assert_int_equal(cause(WHY_SLEEP, slot_of("read"), KIND_TCP), CAUSE_SOCKET);
	assert_int_equal(cause(WHY_SLEEP, slot_of("read"), KIND_PIPE), CAUSE_PIPE);
	assert_int_equal(cause(WHY_SLEEP, slot_of("read"), KIND_NONE), CAUSE_OTHER);
	assert_int_equal(cause(WHY_SLEEP, WHY_KERNEL_THREAD, KIND_NONE), CAUSE_KERNEL_THREAD);
	assert_int_equal(cause(WHY_SLEEP, WHY_NO_CALL, KIND_NONE), CAUSE_OTHER);
}

static void test_uninterruptible(void **state)
{
	(void)state;
	assert_int_equal(cause(WHY_DISK, slot_of("clone"), KIND_NONE), CAUSE_CHILD);
	assert_int_equal(cause(WHY_DISK, slot_of("read"), KIND_FILE), CAUSE_FILE_SYSTEM);
	assert_int_equal(cause(WHY_DISK, slot_of("read"), KIND_PIPE), CAUSE_UNINTERRUPTIBLE);
	assert_int_equal(cause(WHY_DISK, WHY_NO_CALL, KIND_NONE), CAUSE_UNINTERRUPTIBLE);
	assert_int_equal(cause(WHY_IO, slot_of("read"), KIND_PIPE), CAUSE_DISK);
	assert_int_equal(cause(WHY_LOCK, slot_of("futex"), KIND_NONE), CAUSE_FUTEX);
	assert_int_equal(cause(WHY_LOCK, slot_of("read"), KIND_FILE), CAUSE_KERNEL_LOCK);
}

/* Waits for work have no command that shows more. */
static void test_idle_causes_lead_nowhere(void **state)
{
	u32 c;

	(void)state;
	for (c = 0; c < WHY_CAUSES; c++)
		assert_int_equal(!why_causes[c].next, why_causes[c].state == STATE_IDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_phase_has_a_cause),
		cmocka_unit_test(test_sleeps_by_call_before_file),
		cmocka_unit_test(test_uninterruptible),
		cmocka_unit_test(test_idle_causes_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
