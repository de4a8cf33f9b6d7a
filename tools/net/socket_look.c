// SPDX-License-Identifier: BSD-2-Clause
#include "net/socket_look.h"

#include <bpf/bpf.h>
#include <string.h>

#include "agg/elements.h"
#include "base/clock.h"

static int look_at_some(const struct socket_look_spec *spec, const struct elements *all, size_t i, size_t n)
{
	struct socket_look *look = spec->look;
	size_t j;
	u64 now;
	int err;

	memcpy(look->socket, elements__key(all, i), n * sizeof(look->socket[0]));
	for (j = 0; j < n; j++)
		memcpy(&look->since_ns[j], elements__value(all, i + j), sizeof(look->since_ns[0]));
	look->n = n;
	err = bpf_prog_test_run_opts(bpf_program__fd(spec->program), NULL);
	now = monotonic_ns();
	for (j = 0; j < n && !err; j++)
		if (look->is_shown[j])
			err = spec->take(spec->context, elements__value(all, i + j), j, now);
	return err;
}

int socket_look__all(const struct socket_look_spec *spec)
{
	struct elements all = { .key_size = sizeof(u64), .value_size = bpf_map__value_size(spec->map) };
	int err = elements__read(&all, bpf_map__fd(spec->map));
	size_t i, some;

	for (i = 0; i < all.n && !err; i += some) {
		some = all.n - i < SOCKET_LOOK_MOST ? all.n - i : SOCKET_LOOK_MOST;
		err = look_at_some(spec, &all, i, some);
	}
	elements__free(&all);
	return err;
}
