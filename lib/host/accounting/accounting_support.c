/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the accounting needs from the kernel and which privileges: see accounting_support.h. */
#include "lib/host/accounting/accounting_support.h"

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/utsname.h>

/* The initial pid namespace has a fixed inode number (PROC_PID_INIT_INO). */
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

/* The initial user namespace maps all ids to themselves. */
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

/* CAP_SYS_ADMIN includes the two that were split from it in Linux 5.8. */
static bool has_either(const struct accounting_support *support, int capability)
{
	return has(support, capability) || has(support, CAP_SYS_ADMIN);
}

static bool in_container(const struct accounting_support *support)
{
	return !support->initial_pid_namespace || !support->initial_user_namespace;
}

int accounting_support_has_bpf(const struct accounting_support *support, struct error *err)
{
	bool bpf = has_either(support, CAP_BPF), perfmon = has_either(support, CAP_PERFMON);

	if (support->kernel_major < 5 || (support->kernel_major == 5 && support->kernel_minor < 9))
		return error_say(err, -ENOTSUP, "needs Linux 5.9, this is %d.%d", support->kernel_major,
			support->kernel_minor);
	if (!support->has_btf)
		return error_say(err, -ENOTSUP, "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	if (!support->initial_pid_namespace)
		return error_say(err, -ENOTSUP,
			"a container sees its own processes only; run on the host, or with --pid=host");
	if (!bpf || !perfmon)
		return error_say(err, -EPERM, "needs %s%s%s", bpf ? "" : "CAP_BPF",
			!bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON");
	if (!support->initial_user_namespace)
		return error_say(err, -EPERM,
			"the capabilities of a rootless container do not suffice; be root on the host");
	if (support->lockdown)
		return error_say(err, -EPERM, "the kernel is locked down for confidentiality");
	return 0;
}

int accounting_support_has_taskstats(const struct accounting_support *support, struct error *err)
{
	if (in_container(support))
		return error_say(
			err, -ENOTSUP, "not available in a container; run on the host, or with --pid=host");
	if (!has(support, CAP_NET_ADMIN))
		return error_say(err, -EPERM, "needs CAP_NET_ADMIN");
	return 0;
}

const char *accounting_support_missing(const struct accounting_support *support)
{
	bool bpf = has_either(support, CAP_BPF) && has_either(support, CAP_PERFMON);

	if (in_container(support))
		return "not available in a container";
	if (!bpf && !has(support, CAP_NET_ADMIN))
		return "needs root or file capabilities";
	return "not supported by this kernel";
}
