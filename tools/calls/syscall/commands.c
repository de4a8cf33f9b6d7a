// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multiplexed calls: a line for each command whose arguments differ from the call's line in
 * table.c. Commands are numbers from the kernel's headers.
 */
#include <string.h>

#include "calls/syscall/signature.h"

#define OF(call, number, ...) { .name = #call, .command = (number), .arg = { __VA_ARGS__ } }

/* asm-generic/ioctls.h and others */
#define IOCTL(number, ...) OF(ioctl, number, FD, NAMED(ioctl_commands), ##__VA_ARGS__)
#define IOCTL_OPENS(number, ...)                                                                   \
	{ .name = "ioctl", .command = (number), .result = RESULT_FD,                               \
	  .arg = { FD, NAMED(ioctl_commands), ##__VA_ARGS__ } }
#define FCNTL_OF(number, ...)                                                                      \
	{ .name = "fcntl", .native = 1, .command = (number),                                       \
	  .arg = { FD, NAMED(fcntl_commands), ##__VA_ARGS__ } }
#define BPF(number, layout)                                                                        \
	{ .name = "bpf", .command = (number), .arg = { NAMED(bpf_commands), SIZED(layout, 2), UINT } }
#define BPF_OPENS(number, layout)                                                                  \
	{ .name = "bpf", .command = (number), .result = RESULT_FD,                                 \
	  .arg = { NAMED(bpf_commands), SIZED(layout, 2), UINT } }
#define PRCTL_OF(number, ...) OF(prctl, number, NAMED(prctl_options), ##__VA_ARGS__)
#define KEYCTL(number, ...) OF(keyctl, number, NAMED(key_commands), ##__VA_ARGS__)
#define KEY NUMBER(keyrings)
#define FSCONFIG(number, ...) OF(fsconfig, number, FD, NAMED(fsconfig_commands), ##__VA_ARGS__)
#define RING(number, what) OF(io_uring_register, number, FD, NAMED(ring_registers), what, UINT)
#define PTRACE(number, ...) OF(ptrace, number, LNAMED(trace_requests), LONG, ##__VA_ARGS__)
#define SEMCTL(number, ...) OF(semctl, number, INT, INT, NAMED(sem_commands), ##__VA_ARGS__)
#define SECCOMP(number, ...) OF(seccomp, number, NAMED(seccomp_operations), ##__VA_ARGS__)

static const struct signature commands[] = {
	/* Terminals: TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, ... */
	IOCTL(0x5401, OUT(TERMIOS)),
	IOCTL(0x5402, IN(TERMIOS)),
	IOCTL(0x5403, IN(TERMIOS)),
	IOCTL(0x5404, IN(TERMIOS)),
	IOCTL(0x540c),
	IOCTL(0x540e, INT),
	IOCTL(0x540f, OUT(INT)),
	IOCTL(0x5410, IN(INT)),
	IOCTL(0x5411, OUT(INT)),
	IOCTL(0x5413, OUT(WINSIZE)),
	IOCTL(0x5414, IN(WINSIZE)),
	IOCTL(0x541b, OUT(INT)),
	IOCTL(0x5421, IN(INT)),
	IOCTL(0x5422),
	IOCTL(0x5429, OUT(INT)),
	IOCTL(0x5450),
	IOCTL(0x5451),
	IOCTL(0x5452, IN(INT)),
	IOCTL(0x80045430, OUT(INT)),
	IOCTL(0x40045431, IN(INT)),
	IOCTL_OPENS(0x5441, OPEN_FLAGS),
	/* FICLONE; namespaces: NS_GET_USERNS, NS_GET_PARENT, NS_GET_NSTYPE, NS_GET_OWNER_UID */
	IOCTL(0x40049409, FD),
	IOCTL_OPENS(0xb701),
	IOCTL_OPENS(0xb702),
	{ .name = "ioctl", .command = 0xb703, .result = RESULT_NAMES, .result_names = &namespaces,
	  .arg = { FD, NAMED(ioctl_commands) } },
	IOCTL(0xb704, OUT(INT)),
	/* Counters: PERF_EVENT_IOC_ENABLE, DISABLE, REFRESH, RESET, PERIOD, ... */
	IOCTL(0x2400, HEX),
	IOCTL(0x2401, HEX),
	IOCTL(0x2402, INT),
	IOCTL(0x2403, HEX),
	IOCTL(0x40082404, IN(U64)),
	IOCTL(0x2405, FD),
	IOCTL(0x40082406, STR),
	IOCTL(0x80082407, OUT(U64)),
	IOCTL(0x40042408, FD),
	IOCTL(0x40042409, INT),
	/* FIBMAP, FIGETBSZ */
	IOCTL(1, GIVEN_AND_TOLD(INT)),
	IOCTL(2, OUT(INT)),
	/* FICLONERANGE, FITRIM, FS_IOC_FIEMAP */
	IOCTL(0x4020940d, IN(CLONE_RANGE)),
	IOCTL(0xc0185879, GIVEN_AND_TOLD(TRIM)),
	IOCTL(0xc020660b, GIVEN_AND_TOLD(EXTENTS)),
	/* UFFDIO_REGISTER, UNREGISTER, WAKE, COPY, ZEROPAGE */
	IOCTL(0xc020aa00, GIVEN_AND_TOLD(FAULTS_REGISTER)),
	IOCTL(0x8010aa01, IN(FAULTS_RANGE)),
	IOCTL(0x8010aa02, IN(FAULTS_RANGE)),
	IOCTL(0xc028aa03, GIVEN_AND_TOLD(FAULTS_COPY)),
	IOCTL(0xc020aa04, GIVEN_AND_TOLD(FAULTS_ZERO)),
	/* SIOCGIFNAME, SIOCGIFINDEX, SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCGIFADDR, SIOCGIFMTU, SIOCSIFMTU */
	IOCTL(0x8910, OUT(INTERFACE_INDEX)),
	IOCTL(0x8933, OUT(INTERFACE_INDEX)),
	IOCTL(0x8913, OUT(INTERFACE_FLAGS)),
	IOCTL(0x8914, IN(INTERFACE_FLAGS)),
	IOCTL(0x8915, OUT(INTERFACE_ADDRESS)),
	IOCTL(0x8921, OUT(INTERFACE_MTU)),
	IOCTL(0x8922, IN(INTERFACE_MTU)),
	/* FS_IOC_GETFLAGS, FS_IOC_SETFLAGS */
	IOCTL(0x80086601, OUT(INODE_FLAGS)),
	IOCTL(0x40086602, IN(INODE_FLAGS)),
	/* UFFDIO_API, BLKGETSIZE64, BLKSSZGET, FIOQSIZE */
	IOCTL(0xc018aa3f, GIVEN_AND_TOLD(FAULTS_API)),
	IOCTL(0x80081272, OUT(U64)),
	IOCTL(0x1268, OUT(INT)),
	IOCTL(0x5460, OUT(U64)),

	/* F_GETFD, F_SETLEASE, F_SETSIG, F_NOTIFY, F_ADD_SEALS, F_GET_SEALS */
	{ .name = "fcntl", .native = 1, .command = 1, .result = RESULT_NAMES, .result_names = &fd_flags,
	  .arg = { FD, NAMED(fcntl_commands) } },
	FCNTL_OF(1024, NAMED(lock_types)),
	{ .name = "fcntl", .native = 1, .command = 1025, .result = RESULT_LOCK_TYPE,
	  .arg = { FD, NAMED(fcntl_commands) } },
	FCNTL_OF(10, SIGNAL),
	FCNTL_OF(1026, NAMED(notifications)),
	FCNTL_OF(1033, NAMED(seals)),
	{ .name = "fcntl", .native = 1, .command = 1034, .result = RESULT_NAMES, .result_names = &seals,
	  .arg = { FD, NAMED(fcntl_commands) } },
	/* F_SETOWN_EX, F_GETOWN_EX, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, hints of writes */
	FCNTL_OF(15, IN(OWNER)),
	FCNTL_OF(16, OUT(OWNER)),
	FCNTL_OF(36, OUT(FLOCK)),
	FCNTL_OF(37, IN(FLOCK)),
	FCNTL_OF(38, IN(FLOCK)),
	FCNTL_OF(1035, OUT(HINT)),
	FCNTL_OF(1036, IN(HINT)),
	FCNTL_OF(1037, OUT(HINT)),
	FCNTL_OF(1038, IN(HINT)),

	/* linux/bpf.h: enum bpf_cmd */
	BPF_OPENS(0, BPF_MAP),
	BPF(1, BPF_ELEMENT),
	BPF(2, BPF_ELEMENT),
	BPF(3, BPF_ELEMENT),
	BPF(4, BPF_NEXT_KEY),
	BPF_OPENS(5, BPF_PROGRAM),
	BPF(6, BPF_OBJECT),
	BPF_OPENS(7, BPF_OBJECT),
	BPF(8, BPF_ATTACH),
	BPF(9, BPF_ATTACH),
	BPF(10, BPF_RUN),
	BPF(11, BPF_NEXT_ID),
	BPF(12, BPF_NEXT_ID),
	BPF_OPENS(13, BPF_ID),
	BPF_OPENS(14, BPF_ID),
	BPF(15, BPF_INFO),
	BPF(16, BPF_QUERY),
	BPF_OPENS(17, BPF_TRACEPOINT),
	BPF_OPENS(18, BPF_BTF),
	BPF_OPENS(19, BPF_ID),
	BPF(21, BPF_ELEMENT),
	BPF(22, BPF_MAP_FD),
	BPF(23, BPF_NEXT_ID),
	BPF(24, BPF_BATCH),
	BPF(25, BPF_BATCH),
	BPF(26, BPF_BATCH),
	BPF(27, BPF_BATCH),
	BPF_OPENS(28, BPF_LINK),
	BPF(29, BPF_LINK_UPDATE),
	BPF_OPENS(30, BPF_ID),
	BPF(31, BPF_NEXT_ID),
	BPF_OPENS(32, BPF_STATS),
	BPF_OPENS(33, BPF_ITERATOR),
	BPF(34, BPF_LINK_FD),
	BPF(35, BPF_BIND),

	/* linux/membarrier.h: MEMBARRIER_CMD_QUERY, and GET_REGISTRATIONS */
	{ .name = "membarrier", .command = 0, .result = RESULT_NAMES,
	  .result_names = &membarrier_supported,
	  .arg = { NAMED(membarrier_commands), NAMED(membarrier_flags) } },
	{ .name = "membarrier", .command = 512, .result = RESULT_NAMES,
	  .result_names = &membarrier_supported,
	  .arg = { NAMED(membarrier_commands), NAMED(membarrier_flags) } },

	/* asm/prctl.h: ARCH_GET_GS, ARCH_GET_FS, ARCH_GET_CPUID, ARCH_SET_CPUID */
	OF(arch_prctl, 0x1003, NAMED(arch_codes), OUT(U64)),
	OF(arch_prctl, 0x1004, NAMED(arch_codes), OUT(U64)),
	OF(arch_prctl, 0x1011, NAMED(arch_codes)),
	OF(arch_prctl, 0x1012, NAMED(arch_codes), HEX),

	/* linux/prctl.h */
	PRCTL_OF(2, OUT(INT)),
	{ .name = "prctl", .command = 3, .result = RESULT_NAMES, .result_names = &dumpable,
	  .arg = { NAMED(prctl_options) } },
	PRCTL_OF(22, LNAMED(seccomp_modes), IN_IF(FILTER, 1, 1 << 2)),
	PRCTL_OF(24, LNAMED(capabilities)),
	{ .name = "prctl", .command = 27, .result = RESULT_NAMES, .result_names = &secure_bits,
	  .arg = { NAMED(prctl_options) } },
	PRCTL_OF(28, LNAMED(secure_bits)),
	PRCTL_OF(37, OUT(INT)),
	PRCTL_OF(40, OUT(U64)),
	/* PR_CAP_AMBIENT_IS_SET, RAISE and LOWER take a capability, CLEAR_ALL does not. */
	PRCTL_OF(47, LNAMED(ambient_commands), LNAMED_IF(capabilities, 1, 1 << 1 | 1 << 2 | 1 << 3), HEX, HEX),
	PRCTL_OF(0x53564d41, LNAMED(vma_names), PTR, SIZE, STR),
	PRCTL_OF(0x59616d61, LONG),

	/* linux/keyctl.h */
	KEYCTL(0, KEY, INT),
	KEYCTL(1, STR),
	KEYCTL(2, KEY, BUF(3), SIZE),
	KEYCTL(3, KEY),
	KEYCTL(4, KEY, INT, INT),
	KEYCTL(5, KEY, HEX32),
	KEYCTL(6, KEY, BUF_WITHIN(3), SIZE),
	KEYCTL(7, KEY),
	KEYCTL(8, KEY, KEY),
	KEYCTL(9, KEY, KEY),
	KEYCTL(10, KEY, STR, STR, KEY),
	KEYCTL(11, KEY, BUF_WITHIN(3), SIZE),
	KEYCTL(12, KEY, BUF(3), SIZE, KEY),
	KEYCTL(13, KEY, UINT, KEY),
	KEYCTL(14, INT),
	KEYCTL(15, KEY, UINT),
	KEYCTL(16, KEY),
	KEYCTL(17, KEY, BUF_WITHIN(3), SIZE),
	KEYCTL(18),
	KEYCTL(21, KEY),
	KEYCTL(22, INT, KEY),
	KEYCTL(31, BUF_WITHIN(2), SIZE),

	/* linux/seccomp.h */
	SECCOMP(0, HEX32, PTR),
	SECCOMP(1, NAMED(seccomp_flags), IN(FILTER)),
	SECCOMP(2, HEX32, IN(SECCOMP_ACTION)),

	/* linux/mount.h: enum fsconfig_command */
	FSCONFIG(0, STR, PTR, INT),
	FSCONFIG(1, STR, STR, INT),
	FSCONFIG(2, STR, BUF(4), INT),
	FSCONFIG(3, STR, STR, DIRFD),
	FSCONFIG(4, STR, STR, DIRFD),
	FSCONFIG(5, STR, PTR, FD),

	/* linux/io_uring.h: buffers, files (-1: none), descriptors of events */
	RING(0, ARRAY(IOVEC, 3)),
	RING(2, ARRAY(NODE, 3)),
	RING(4, IN(INT)),
	RING(7, IN(INT)),

	/* linux/landlock.h */
	OF(landlock_add_rule, 1, FD, NAMED(landlock_rules), IN(PATH_BENEATH), HEX32),
	OF(landlock_add_rule, 2, FD, NAMED(landlock_rules), IN(NET_PORT), HEX32),

	/* linux/ptrace.h; PTRACE_CONT, SINGLESTEP, SYSCALL, DETACH take a signal */
	PTRACE(0),
	PTRACE(1, PTR, OUT(U64)),
	PTRACE(2, PTR, OUT(U64)),
	PTRACE(3, PTR, OUT(U64)),
	PTRACE(7, HEX, KIND(SIGNAL_OF_LONG)),
	PTRACE(8),
	PTRACE(9, HEX, KIND(SIGNAL_OF_LONG)),
	PTRACE(16),
	PTRACE(17, HEX, KIND(SIGNAL_OF_LONG)),
	PTRACE(24, HEX, KIND(SIGNAL_OF_LONG)),
	PTRACE(0x4200, HEX, LNAMED(trace_options)),
	PTRACE(0x4201, HEX, OUT(U64)),
	PTRACE(0x4202, HEX, OUT(SIGINFO)),
	PTRACE(0x4203, HEX, IN(SIGINFO)),
	PTRACE(0x4206, HEX, LNAMED(trace_options)),
	PTRACE(0x4207),
	PTRACE(0x4208),

	/* linux/sem.h: GETPID, GETVAL, GETNCNT, GETZCNT, SETVAL; IPC_RMID */
	SEMCTL(0),
	SEMCTL(11),
	SEMCTL(12),
	SEMCTL(14),
	SEMCTL(15),
	SEMCTL(16, INT),
	SEMCTL(2, OUT(SEM_STATUS)),
	SEMCTL(18, OUT(SEM_STATUS)),
	/* linux/shm.h, linux/msg.h: IPC_STAT, SHM_STAT, MSG_STAT; IPC_RMID */
	OF(shmctl, 0, INT, NAMED(shm_commands)),
	OF(shmctl, 2, INT, NAMED(shm_commands), OUT(SHM_STATUS)),
	OF(shmctl, 13, INT, NAMED(shm_commands), OUT(SHM_STATUS)),
	OF(msgctl, 0, INT, NAMED(msg_commands)),
	OF(msgctl, 2, INT, NAMED(msg_commands), OUT(MSG_STATUS)),
	OF(msgctl, 11, INT, NAMED(msg_commands), OUT(MSG_STATUS)),
};

const struct signature *syscall_commands(size_t *n)
{
	*n = ARRAY_SIZE(commands);
	return commands;
}

const struct signature *syscall_commanded(const struct signature *s, const u64 *value)
{
	size_t i;
	u32 command;

	if (!s->by)
		return s;
	command = value[s->by - 1];
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].command == command && !strcmp(commands[i].name, s->name))
			return &commands[i];
	return s;
}
