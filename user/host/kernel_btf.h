/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TALLY_HOST_KERNEL_BTF_H
#define TALLY_HOST_KERNEL_BTF_H

/*
 * The kernel's BTF (/sys/kernel/btf/vmlinux, 5 to 10 MB) is read once and shared by every object that is
 * loaded and by all who look up types: btf__load_vmlinux_btf() gives the same one each time, and
 * btf__free() of it keeps it for the next.
 *
 * Frees it, if nobody has it now. Called when everything is loaded, so that a run does not keep it; the
 * next btf__load_vmlinux_btf() reads it again. Not thread-safe, as nothing here needs it to be.
 */
void kernel_btf__drop(void);

#endif /* TALLY_HOST_KERNEL_BTF_H */
