// SPDX-License-Identifier: BSD-2-Clause
#include "sym/code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define KCORE "/proc/kcore"
#define MAX_SEGMENTS 4096

/* Finds the file offset of a kernel address, and the bytes left in its segment. */
static int find_segment(int fd, u64 address, u64 *offset, u64 *left)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	u64 i;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || header.e_phnum > MAX_SEGMENTS ||
	    header.e_phentsize != sizeof(segment))
		return -EBADMSG;
	for (i = 0; i < header.e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)) != sizeof(segment))
			return -EBADMSG;
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_memsz)
			continue;
		*offset = segment.p_offset + (address - segment.p_vaddr);
		*left = segment.p_memsz - (address - segment.p_vaddr);
		return 0;
	}
	return -EFAULT;
}

ssize_t kernel_code(u64 address, void *to, size_t size)
{
	int fd = open(KCORE, O_RDONLY | O_CLOEXEC), err;
	u64 offset, left;
	ssize_t n;

	if (fd < 0)
		return errno == EACCES ? -EPERM : -errno;
	err = find_segment(fd, address, &offset, &left);
	if (err) {
		close(fd);
		return err;
	}
	n = pread(fd, to, size < left ? size : left, offset);
	err = n < 0 ? -errno : 0;
	close(fd);
	return err ?: n;
}
