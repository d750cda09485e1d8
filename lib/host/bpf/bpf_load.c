/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading BPF programs: see bpf_load.h. */
#include "lib/host/bpf/bpf_load.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Thread_local char warning[256];

static int keep_first_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	if (level == LIBBPF_WARN && !warning[0])
		vsnprintf(warning, sizeof(warning), format, ap);
	return 0;
}

int bpf_load(int (*load)(void *context), void *context, struct error *err)
{
	libbpf_print_fn_t print = libbpf_set_print(keep_first_warning);
	int r;

	warning[0] = '\0';
	r = load(context);
	libbpf_set_print(print);
	if (r >= 0)
		return r;
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return error_say(err, -ENOTSUP, "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	warning[strcspn(warning, "\n")] = '\0';
	return error_os(err, r, "the kernel does not accept the BPF programs (%s)",
		warning[0] ? warning : "libbpf gives no reason");
}
