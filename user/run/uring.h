/* SPDX-License-Identifier: BSD-2-Clause */
/* Prepares programs on the tracepoints of io_uring (bpf/lib/uring.bpf.h). */
#ifndef TALLY_RUN_URING_H
#define TALLY_RUN_URING_H

#include <bpf/libbpf.h>

#include "bpf/lib/uring.h"

/*
 * Writes the layout of this kernel to the constant "layout", and turns on those of the opened object's programs that
 * the kernel has a tracepoint for: on io_uring_submit_req or io_uring_submit_sqe, io_uring_req_failed,
 * io_uring_complete, io_uring_poll_arm, io_uring_queue_async_work, io_uring_cqe_overflow. Returns 0, or a negative
 * errno with all of them off:
 *
 *   -ENODATA     the kernel has no BTF: all of them are on, so that loading fails and explains it
 *   -ENOENT      it has no io_uring
 *   -EOPNOTSUPP  its tracepoints do not name the request (5.10 before 5.10.162, to 5.13)
 */
int uring__prepare(struct bpf_object *obj, struct uring_layout *layout);

#endif /* TALLY_RUN_URING_H */
