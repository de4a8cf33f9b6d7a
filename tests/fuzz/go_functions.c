// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer's entry: whatever a file says is its table of Go functions is read, and what comes of it is what the header
 * promises. */
#include <stdlib.h>
#include <string.h>

#include "types/go_functions.h"

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct seen {
	const struct go_table *table;
	u64 n;
};

static int look(void *arg, const struct go_function *f)
{
	struct seen *seen = arg;
	const u8 *at = (const u8 *)f->name;

	require(f->start != f->end && f->len && f->kind <= GO_FOREIGN);
	require(at >= seen->table->bytes && at + f->len < seen->table->bytes + seen->table->size);
	require(!memchr(f->name, 0, f->len) && !f->name[f->len]);
	require(++seen->n <= seen->table->n);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct go_table t;
	struct seen seen = { &t, 0 };

	if (!go_table__open(&t, data, size))
		require(!go_table__each(&t, look, &seen));
	return 0;
}
