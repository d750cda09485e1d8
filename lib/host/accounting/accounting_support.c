/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the accounting needs of the kernel and of privileges: see accounting_support.h. */
#include "lib/host/accounting/accounting_support.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/utsname.h>

/* Inode of the first namespace of processes, which the kernel never gives to another (PROC_PID_INIT_INO). */
static const char initial_pid_namespace[] = "pid:[4026531836]";

static uint64_t read_capabilities(int root_fd)
{
	_cleanup_(freep) char *status = NULL;
	const char *line;

	if (text_read_file(root_fd, "/proc/self/status", &status) < 0)
		return 0;
	line = strstr(status, "\nCapEff:");
	return line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
}

/* The first user namespace maps all ids to themselves. */
static bool is_initial_user_namespace(int root_fd)
{
	_cleanup_(freep) char *map = NULL;
	unsigned long inside, outside, n;

	if (text_read_file(root_fd, "/proc/self/uid_map", &map) < 0)
		return true; /* a kernel without user namespaces */
	return sscanf(map, "%lu %lu %lu", &inside, &outside, &n) == 3 && inside == 0 && outside == 0 &&
	       n == UINT32_MAX;
}

static bool is_initial_pid_namespace(int root_fd)
{
	const char *path = "/proc/self/ns/pid";
	char name[64];
	ssize_t len = readlinkat(root_fd, root_fd == AT_FDCWD ? path : path + 1, name, sizeof(name) - 1);

	if (len < 0)
		return true;
	name[len] = '\0';
	return !strcmp(name, initial_pid_namespace);
}

static bool is_locked_down(int root_fd)
{
	_cleanup_(freep) char *lockdown = NULL;

	return text_read_file(root_fd, "/sys/kernel/security/lockdown", &lockdown) == 0 &&
	       strstr(lockdown, "[confidentiality]");
}

void accounting_support_read(struct accounting_support *ret, int root_fd)
{
	const char *btf = "/sys/kernel/btf/vmlinux";
	struct accounting_support support = {
		.capabilities = read_capabilities(root_fd),
		.initial_user_namespace = is_initial_user_namespace(root_fd),
		.initial_pid_namespace = is_initial_pid_namespace(root_fd),
		.has_btf = faccessat(root_fd, root_fd == AT_FDCWD ? btf : btf + 1, R_OK, 0) == 0,
		.lockdown = is_locked_down(root_fd),
	};
	struct utsname name;

	if (uname(&name) == 0)
		sscanf(name.release, "%d.%d", &support.kernel_major, &support.kernel_minor);
	*ret = support;
}

static bool has(const struct accounting_support *support, int capability)
{
	return support->capabilities & (UINT64_C(1) << capability);
}

/* CAP_SYS_ADMIN stands for the two that were split off it in Linux 5.8. */
static bool has_either(const struct accounting_support *support, int capability)
{
	return has(support, capability) || has(support, CAP_SYS_ADMIN);
}

int accounting_support_has_bpf(const struct accounting_support *support, struct error *err)
{
	bool bpf = has_either(support, CAP_BPF), perfmon = has_either(support, CAP_PERFMON);

	if (support->kernel_major < 5 || (support->kernel_major == 5 && support->kernel_minor < 8))
		return error_say(err, -ENOTSUP, "Linux %d.%d is too old, 5.8 is the first that can do it",
			support->kernel_major, support->kernel_minor);
	if (!support->has_btf)
		return error_say(err, -ENOTSUP,
			"the kernel has no BTF (/sys/kernel/btf/vmlinux; it is built without CONFIG_DEBUG_INFO_BTF)");
	if (!support->initial_pid_namespace)
		return error_say(err, -ENOTSUP,
			"this is a container, which sees its own processes only; run it on the host, or in the host's process namespace (--pid=host)");
	if (!bpf || !perfmon)
		return error_say(err, -EPERM,
			"%s%s%s %s missing (be root, or `setcap cap_bpf,cap_perfmon,cap_net_admin=p` the executable)",
			bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON",
			bpf || perfmon ? "is" : "are");
	if (!support->initial_user_namespace)
		return error_say(err, -EPERM,
			"CAP_BPF and CAP_PERFMON are those of a user namespace (a rootless container), and count for nothing outside it; be root on the host");
	if (support->lockdown)
		return error_say(err, -EPERM,
			"the kernel is locked down for confidentiality, so BPF programs may not read its memory");
	return 0;
}

int accounting_support_has_taskstats(const struct accounting_support *support, struct error *err)
{
	if (!support->initial_pid_namespace || !support->initial_user_namespace)
		return error_say(err, -ENOTSUP,
			"this is a container, and the kernel tells about processes that end only outside of all containers; run it on the host, or in the host's process namespace (--pid=host)");
	if (!has(support, CAP_NET_ADMIN))
		return error_say(err, -EPERM,
			"CAP_NET_ADMIN is missing (be root, or `setcap cap_net_admin=p` the executable)");
	return 0;
}
