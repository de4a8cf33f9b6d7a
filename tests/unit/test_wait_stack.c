// SPDX-License-Identifier: BSD-2-Clause
/* Stacks as /proc/PID/stack shows them, of threads that wait for file servers and of others. */
#include "unit.h"

#include "calls/wait_stack.h"

struct sample {
	enum wait_stack is;
	const char *function[12];
};

static const struct sample samples[] = {
	{ STACK_FUSE,
	  { "request_wait_answer", "__fuse_simple_request", "fuse_do_getattr", "vfs_statx", "__do_sys_statx" } },
	{ STACK_FUSE, { "request_wait_answer.isra.0", "fuse_simple_request", "fuse_lookup_name", "path_openat" } },
	{ STACK_FUSE, { "__fuse_request_send", "fuse_send_read", "fuse_direct_io", "vfs_read", "ksys_read" } },
	{ STACK_FUSE, { "fuse_get_req", "fuse_simple_background", "fuse_readahead", "read_pages", "filemap_read" } },
	{ STACK_FUSE, { "folio_wait_bit_common", "filemap_get_pages", "filemap_read", "fuse_file_read_iter" } },
	{ STACK_FUSE, { "wait_on_page_bit_common", "write_cache_pages", "fuse_writepages", "do_writepages" } },
	{ STACK_NFS,
	  { "rpc_wait_bit_killable", "__wait_on_bit", "out_of_line_wait_on_bit", "__rpc_execute", "rpc_run_task",
	    "nfs4_do_call_sync", "nfs4_proc_getattr", "vfs_statx" } },
	{ STACK_NFS, { "nfs4_delay", "nfs4_do_handle_exception", "nfs4_do_open", "path_openat" } },
	{ STACK_NFS, { "folio_wait_writeback", "nfs_wb_all", "nfs4_file_flush", "filp_close" } },
	/* A file of NFS below the mount of a daemon that is part of the kernel's own call: the innermost waits. */
	{ STACK_NFS, { "rpc_wait_bit_killable", "nfs_getattr", "fuse_passthrough_read_iter", "vfs_read" } },
	{ STACK_PAGE, { "folio_wait_bit_common", "filemap_get_pages", "filemap_read", "vfs_read" } },
	{ STACK_PAGE, { "__lock_page_killable", "generic_file_buffered_read", "new_sync_read", "vfs_read" } },
	/* A daemon at rest; a lock of an inode; a disk; the threads of an NFS server; nothing known. */
	{ STACK_OTHER, { "fuse_dev_do_read", "fuse_dev_read", "vfs_read", "ksys_read" } },
	{ STACK_OTHER, { "rwsem_down_write_slowpath", "fuse_cache_write_iter", "vfs_write" } },
	{ STACK_OTHER, { "blk_mq_get_tag", "submit_bio", "folio_wait_bit_common", "ext4_readahead" } },
	{ STACK_OTHER, { "svc_recv", "nfsd", "kthread" } },
	{ STACK_OTHER, { NULL } },
};

static void all_samples(void **state)
{
	enum wait_frame frame[ARRAY_SIZE(samples->function)];
	size_t i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		for (n = 0; n < ARRAY_SIZE(frame) && samples[i].function[n]; n++)
			frame[n] = wait_frame_of(samples[i].function[n]);
		if (wait_stack_of(frame, n) != samples[i].is)
			fail_msg("%s: %d", samples[i].function[0] ?: "nothing", wait_stack_of(frame, n));
	}
}

static void names_that_are_not_known(void **state)
{
	(void)state;
	assert_int_equal(wait_frame_of(NULL), FRAME_OTHER);
	assert_int_equal(wait_frame_of(""), FRAME_OTHER);
	assert_int_equal(wait_frame_of("nfsd4_process_open2"), FRAME_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_samples),
		cmocka_unit_test(names_that_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
