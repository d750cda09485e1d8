/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This machine: see machine.h.
 *
 * A virtual machine is recognised by the flag of the processor (x86), else by the names in the firmware's tables;
 * a container by a PID namespace that is not the first, and its engine by the files that engines leave. */
#include "lib/host/system/machine.h"

#include "lib/base/xalloc.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-id128.h>

/* Machine ids are derived with it: they identify a machine to EMP only. */
static const sd_id128_t APPLICATION = SD_ID128_MAKE(
	7c, 1e, 4f, 5b, 0a, 93, 4d, 2e, 9b, 51, c8, 36, e0, 7f, 12, a4);

/* The inode of the first PID namespace, fixed in the kernel's sources (PROC_PID_INIT_INO). */
static const char FIRST_PID_NAMESPACE[] = "pid:[4026531836]";

/* Some firmware has names that are not UTF-8, which JSON needs. */
static char *read_text(int root_fd, const char *path)
{
	_cleanup_(freep) char *text = NULL;

	return text_read_file(root_fd, path, &text) < 0 || !*text ? NULL : text_utf8(text);
}

static bool exists(int root_fd, const char *path)
{
	struct stat st;

	return fstatat(root_fd, text_below(root_fd, path), &st, 0) == 0;
}

/* The value of the first line that begins with `key`, blanks and `separator`; quotes are taken off. */
static char *value_of(const char *text, const char *key, char separator)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *p = line + len;
		size_t n;

		if (strncmp(line, key, len))
			continue;
		p += strspn(p, " \t");
		if (*p++ != separator)
			continue;
		p += strspn(p, " \t\"'");
		n = strcspn(p, "\n");
		while (n > 0 && strchr(" \t\"'", p[n - 1]))
			n--;
		return n > 0 ? xstrndup(p, n) : NULL;
	}
	return NULL;
}

static int64_t count_cpus(const char *cpuinfo)
{
	int64_t n = 0;

	for (const char *p = cpuinfo; (p = strstr(p, "processor\t")); p++)
		if (p == cpuinfo || p[-1] == '\n')
			n++;
	return n;
}

static void read_cpu(struct machine *m, int root_fd)
{
	_cleanup_(freep) char *text = read_text(root_fd, "/proc/cpuinfo");

	if (!text)
		return;
	m->cpu_vendor = value_of(text, "vendor_id", ':') ?: value_of(text, "CPU implementer", ':');
	m->cpu_name = value_of(text, "model name", ':');
	m->cpu_family = value_of(text, "cpu family", ':') ?: value_of(text, "CPU architecture", ':');
	m->cpu_model = value_of(text, "model", ':') ?: value_of(text, "CPU part", ':');
	m->cpu_stepping = value_of(text, "stepping", ':') ?: value_of(text, "CPU revision", ':');
	m->microcode = value_of(text, "microcode", ':');
	m->flags = value_of(text, "flags", ':') ?: value_of(text, "Features", ':');
	m->n_cpus = count_cpus(text);
}

static void read_memory(struct machine *m, int root_fd)
{
	_cleanup_(freep) char *text = read_text(root_fd, "/proc/meminfo"), *total = NULL;

	total = text ? value_of(text, "MemTotal", ':') : NULL;
	if (total)
		m->memory_bytes = saturate_multiply(1024, strtoll(total, NULL, 10)); /* "24668188 kB" */
}

static void read_os(struct machine *m, int root_fd)
{
	_cleanup_(freep) char *text = read_text(root_fd, "/etc/os-release");

	if (!text)
		text = read_text(root_fd, "/usr/lib/os-release");
	if (!text)
		return;
	m->os_id = value_of(text, "ID", '=');
	m->os_version = value_of(text, "VERSION_ID", '=');
	m->os_name = value_of(text, "PRETTY_NAME", '=');
	m->os_like = value_of(text, "ID_LIKE", '=');
}

static void read_firmware(struct machine *m, int root_fd)
{
	m->vendor = read_text(root_fd, "/sys/class/dmi/id/sys_vendor");
	m->product = read_text(root_fd, "/sys/class/dmi/id/product_name");
	m->board = read_text(root_fd, "/sys/class/dmi/id/board_name");
	m->firmware = read_text(root_fd, "/sys/class/dmi/id/bios_version");
}

static const char *name_by(const char *text, const char *const (*names)[2])
{
	for (; text && (*names)[0]; names++)
		if (strstr(text, (*names)[0]))
			return (*names)[1];
	return NULL;
}

static void recognise_virtual(struct machine *m, int root_fd)
{
	static const char *const by_firmware[][2] = {{"KVM", "KVM"}, {"QEMU", "QEMU"}, {"VMware", "VMware"},
		{"VMW", "VMware"}, {"innotek GmbH", "VirtualBox"}, {"VirtualBox", "VirtualBox"},
		{"Xen", "Xen"}, {"Virtual Machine", "Hyper-V"}, {"Bochs", "Bochs"},
		{"Parallels", "Parallels"}, {"BHYVE", "bhyve"}, {"Google Compute Engine", "KVM"},
		{"OpenStack", "KVM"}, {"Alibaba Cloud ECS", "KVM"}, {}};
	static const char *const by_clock[][2] = {
		{"kvm-clock", "KVM"}, {"hyperv", "Hyper-V"}, {"xen", "Xen"}, {}};
	_cleanup_(freep) char *clocks = read_text(
		root_fd, "/sys/devices/system/clocksource/clocksource0/available_clocksource");
	const char *name = name_by(m->product, by_firmware) ?: name_by(m->vendor, by_firmware);
	bool x86 = m->flags && strstr(m->flags, "constant_tsc"); /* there the flag decides */

	m->virtual = machine_flag(m, "hypervisor") || (!x86 && name);
	if (m->virtual && !name)
		name = name_by(clocks, by_clock);
	if (m->virtual && name)
		m->hypervisor = xstrdup(name);
}

/* 1: in a PID namespace other than the first, 0: in the first, -1: not known. */
static int in_pid_namespace(int root_fd)
{
	char target[64] = "";
	ssize_t n = readlinkat(root_fd, text_below(root_fd, "/proc/self/ns/pid"), target, sizeof(target) - 1);

	return n <= 0 ? -1 : strcmp(target, FIRST_PID_NAMESPACE) != 0;
}

/* A disk image made from a container keeps the engine's file, so the namespace decides. */
static void recognise_container(struct machine *m, int root_fd)
{
	_cleanup_(freep) char *engine = read_text(root_fd, "/run/systemd/container");
	int namespace = in_pid_namespace(root_fd);

	if (!engine && exists(root_fd, "/.dockerenv"))
		engine = xstrdup("docker");
	if (!engine && exists(root_fd, "/run/.containerenv"))
		engine = xstrdup("podman");
	m->container = namespace > 0 || (namespace < 0 && engine);
	if (m->container && engine && strcmp(engine, "other") != 0)
		m->engine = TAKE(engine);
}

void machine_read(struct machine *ret, int root_fd)
{
	struct machine m = {};
	sd_id128_t id;

	read_cpu(&m, root_fd);
	read_memory(&m, root_fd);
	read_os(&m, root_fd);
	read_firmware(&m, root_fd);
	recognise_virtual(&m, root_fd);
	recognise_container(&m, root_fd);
	m.systemd = exists(root_fd, "/run/systemd/system");
	if (root_fd == AT_FDCWD && sd_id128_get_machine_app_specific(APPLICATION, &id) >= 0)
		sd_id128_to_string(id, m.id);
	*ret = m;
}

void machine_clear(struct machine *m)
{
	char **texts[] = {&m->hypervisor, &m->engine, &m->cpu_vendor, &m->cpu_name, &m->cpu_family,
		&m->cpu_model, &m->cpu_stepping, &m->microcode, &m->flags, &m->vendor, &m->product, &m->board,
		&m->firmware, &m->os_id, &m->os_version, &m->os_name, &m->os_like};

	for (size_t i = 0; i < ELEMENTS(texts); i++)
		freep(texts[i]);
	*m = (struct machine){};
}

char *machine_description(const struct machine *m, char buffer[MACHINE_DESCRIPTION_SIZE])
{
	char below[MACHINE_DESCRIPTION_SIZE / 2];

	snprintf(below, sizeof(below), "a virtual machine%s%s%s", m->hypervisor ? " (" : "",
		m->hypervisor ?: "", m->hypervisor ? ")" : "");
	if (m->container)
		snprintf(buffer, MACHINE_DESCRIPTION_SIZE, "a %s%scontainer%s%s", m->engine ?: "",
			m->engine ? " " : "", m->virtual ? " in " : "", m->virtual ? below : "");
	else
		snprintf(buffer, MACHINE_DESCRIPTION_SIZE, "%s", m->virtual ? below : "a physical machine");
	return buffer;
}

bool machine_flag(const struct machine *m, const char *flag)
{
	size_t len = strlen(flag);

	for (const char *p = m->flags; p && (p = strstr(p, flag)); p += len)
		if ((p == m->flags || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	return false;
}
