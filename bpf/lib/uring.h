/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracepoints of io_uring, which differ between kernels: uring.bpf.h reads them as user/run/uring.h has found out. */
#ifndef TALLY_URING_H
#define TALLY_URING_H

/* Positions of the request among the arguments of tracepoints. */
struct uring_layout {
	__u32 old_submit; /* io_uring_submit_sqe has it; since 6.4 it is io_uring_submit_req (commit a87cb92a5b0a) */
	__u32 submitted;  /* of io_uring_submit_sqe, io_uring_submit_req */
	__u32 queued;	  /* of io_uring_queue_async_work */
	__u32 polled;	  /* of io_uring_poll_arm */
	__u32 refused;	  /* of io_uring_req_failed; 0: the kernel does not have it, or it does not pass the request */
	__u32 completed;  /* enum uring_completed */
};

/* Arguments of io_uring_complete. */
enum uring_completed {
	URING_WITHOUT_REQUEST, /* ring, user_data, res, cflags: before 5.18 */
	URING_WITH_REQUEST,    /* ring, request, user_data, res, cflags, ...: before 6.13 */
	URING_WITH_CQE,	       /* ring, request, cqe */
};

/* The identity of a request: its address, or its ring and user_data if completions do not name the request. */
struct uring_id {
	__u64 ring; /* 0 with an address */
	__u64 id;
};

#endif /* TALLY_URING_H */
