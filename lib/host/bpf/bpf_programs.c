/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loaded BPF programs: see bpf_programs.h. */
#include "lib/host/bpf/bpf_programs.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The kind in words; NULL: it does not run at events of the kernel. */
static const char *kind_of(enum bpf_prog_type type)
{
	switch (type) {
	case BPF_PROG_TYPE_KPROBE:
		return "kprobe";
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
		return "tracepoint";
	case BPF_PROG_TYPE_PERF_EVENT:
		return "perf event";
	case BPF_PROG_TYPE_TRACING:
		return "tracing";
	case BPF_PROG_TYPE_LSM:
		return "LSM";
	case BPF_PROG_TYPE_STRUCT_OPS:
		return "struct_ops"; /* such as a scheduler */
	default:
		return NULL;
	}
}

/* EMP's own (accounting.bpf.c, clock.bpf.c, page_waits.bpf.c), and what some kernels load themselves: iterators that
 * run when they are read, and a program for input devices. Names have at most 15 bytes in the kernel. */
static bool is_expected(const char *name)
{
	static const char *const expected[] = {"read_tasks", "read_tasks_before_6_7", "task_exits",
		"task_dies", "task_dies_before_6_7", "task_executes", "list_observers", "irq_handler_begins",
		"irq_handler_ends", "softirq_begins", "softirq_ends", "local_timer_begins",
		"local_timer_ends", "clock_switches", "slave_switches", "request_is_issued",
		"request_is_complete", "dump_bpf_map", "dump_bpf_prog", "hid_tail_call"};

	for (size_t i = 0; i < ELEMENTS(expected); i++)
		if (!strncmp(expected[i], name, BPF_OBJ_NAME_LEN - 1))
			return true;
	return false;
}

static int add(char **list, size_t *n, const struct bpf_prog_info *info)
{
	const char *kind = kind_of(info->type);
	char *longer;

	if (!kind || is_expected(info->name))
		return 0;
	longer = text_format(
		"%s%s%s (%s)", *list ?: "", *list ? ", " : "", *info->name ? info->name : "unnamed", kind);
	free(*list);
	*list = longer;
	++*n;
	return 0;
}

int bpf_programs_list(char **ret, size_t *ret_n)
{
	_cleanup_(freep) char *list = NULL;
	uint32_t id = 0;
	size_t n = 0;
	int r;

	while ((r = bpf_prog_get_next_id(id, &id)) == 0) {
		_cleanup_(closep) int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);

		if (fd < 0 && fd != -ENOENT) /* unloaded meanwhile */
			return fd;
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
			r = add(&list, &n, &info);
		if (r < 0)
			return r;
	}
	if (r != -ENOENT) /* there is no next one */
		return r;
	*ret = TAKE(list);
	*ret_n = n;
	return 0;
}
