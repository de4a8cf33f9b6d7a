/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the container and the systemd unit of a cgroup from its path alone. Runtimes and systemd name the directories
 * that they create after the contents; container.c has a table of these names.
 *
 * Paths are untrusted: a process that may create cgroups can give them any name. Components that no runtime would
 * create are ignored. A user or a container that owns a part of the tree can give a cgroup there the name of another
 * container. struct container therefore records the owner of the part of the tree, so that the two are never confused.
 */
#ifndef TALLY_HOST_CONTAINER_H
#define TALLY_HOST_CONTAINER_H

#include "base/types.h"

enum container_runtime {
	CONTAINER_DOCKER,
	CONTAINER_PODMAN,
	CONTAINER_CONTAINERD,   /* below Kubernetes (CRI), or created by nerdctl */
	CONTAINER_CRIO,
	CONTAINER_UNKNOWN,      /* an id whose runtime the path does not name */
	CONTAINER_LXC,          /* also LXD and Incus */
	CONTAINER_MACHINE,      /* of systemd-machined: systemd-nspawn, libvirt */
	CONTAINER_POD,          /* the cgroup of a pod, outside its containers */
};

#define CONTAINER_ID_LEN 64             /* digits of an id */
#define CONTAINER_SHORT_LEN 12          /* digits of an id in reports */
#define CONTAINER_NAME_SIZE 256         /* NAME_MAX and the NUL */

struct container {
	enum container_runtime runtime;
	char id[CONTAINER_NAME_SIZE];   /* all digits of an id, or the name of an LXC container, machine or "podUID" */
	char outer[CONTAINER_NAME_SIZE];        /* id of the enclosing container, as in reports; "" if none */
	bool has_user;                  /* below the host's user-UID.slice: its runtime is run by that user */
	u32 uid;
};

/* Finds the innermost container in a path (cgroup__path()). Returns false, with *c untouched, if there is none. */
bool container__find(struct container *c, const char *path);

/* Returns the number of characters of the id that reports show: CONTAINER_SHORT_LEN digits, or the whole name. */
int container__shown(const struct container *c);

/*
 * Finds the innermost systemd unit in a path, in the notation of systemctl(1); a slice only if the path has no other
 * unit. Returns false, with text untouched, if there is none.
 */
bool unit__find(char text[CONTAINER_NAME_SIZE], const char *path);

#endif /* TALLY_HOST_CONTAINER_H */
