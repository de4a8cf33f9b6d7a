// SPDX-License-Identifier: BSD-2-Clause
/* /dev/kmsg: each read returns one record. */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine/vitals/vital.h"

/* Maximum number of records per interval. The remaining ones are read in the next interval. */
#define MOST_RECORDS 65536

void vital_reader__skip_messages(struct vital_reader *v)
{
	if (v->messages_fd >= 0)
		lseek(v->messages_fd, 0, SEEK_END);
}

/* If the kernel has overwritten unread records, a read fails once with EPIPE. Their number is unknown. */
static void take_records(struct vital_reader *v)
{
	char record[8192];
	ssize_t n;
	u32 i;

	for (i = 0; i < MOST_RECORDS; i++) {
		n = read(v->messages_fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			v->messages_lost++;
		if (n < 0 && errno != EPIPE && errno != EINTR)
			return;
		if (n <= 0)
			continue;
		record[n] = 0;
		v->message[vital_message__parse(record)]++;
	}
}

int vital_messages__read(struct vital_reader *v, struct readings *r)
{
	struct reading one = { .vital = VITAL_MESSAGES, .at_ns = monotonic_ns() };
	int err = 0;
	u32 i;

	if (v->messages_fd < 0)
		return 0;
	take_records(v);
	for (i = MESSAGE_OTHER + 1; i < MESSAGES && !err; i++) {
		one.value = v->message[i];
		err = readings__add(r, &one, vital_message_names[i]);
	}
	one.vital = VITAL_MESSAGES_LOST;
	one.value = v->messages_lost;
	return err ?: readings__add(r, &one, NULL);
}
