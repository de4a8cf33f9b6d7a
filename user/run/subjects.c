// SPDX-License-Identifier: BSD-2-Clause
#include "run/subjects.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

int subjects__watch(struct subjects *s, const u32 *pids, size_t n)
{
	struct epoll_event event = { .events = EPOLLIN };
	size_t i;
	int err;

	*s = (struct subjects){ .epoll_fd = -1 };
	if (!n)
		return 0;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	for (i = 0; i < n; i++) {
		event.data.fd = syscall(SYS_pidfd_open, pids[i], 0);
		if (event.data.fd < 0 && errno == ESRCH)
			continue;
		if (event.data.fd < 0 ||
		    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, event.data.fd, &event)) {
			err = -errno;
			subjects__release(s);
			return err;
		}
		s->alive++;
	}
	return 0;
}

bool subjects__all_ended(struct subjects *s)
{
	struct epoll_event ended[16];
	int n, i;

	do {
		n = epoll_wait(s->epoll_fd, ended, ARRAY_SIZE(ended), 0);
		for (i = 0; i < n; i++) {
			close(ended[i].data.fd);        /* also removes it from the epoll set */
			s->alive--;
		}
	} while (n > 0);
	return !s->alive;
}

/* Descriptors of running processes are closed at exit, since a run watches only once. */
void subjects__release(struct subjects *s)
{
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	s->epoll_fd = -1;
}
