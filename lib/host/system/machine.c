/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This machine: see machine.h.
 *
 * A virtual machine is recognised by the flag of the processor (x86), else by the names in the
 * firmware's tables; a container by a PID namespace that is not the first, and its engine by the
 * files that engines leave. */
#include "lib/host/system/machine.h"

#include <systemd/sd-id128.h>

/* Machine ids are derived with it: they identify a machine to EMP only. */
static const sd_id128_t APPLICATION = SD_ID128_MAKE(
	7c, 1e, 4f, 5b, 0a, 93, 4d, 2e, 9b, 51, c8, 36, e0, 7f, 12, a4);

/* The inode of the first PID namespace, fixed in the kernel's sources (PROC_PID_INIT_INO). */
static const char FIRST_PID_NAMESPACE[] = "pid:[4026531836]";

/* Some firmware has names that are not UTF-8, which JSON needs. */
static char *read_name(int root_fd, const char *path)
{
	_cleanup_(freep) char *text = path_text(root_fd, "%s", path);

	return text && *text ? text_utf8(text) : NULL;
}

static bool file_exists(int root_fd, const char *path)
{
	struct stat st;

	return fstatat(root_fd, text_below(root_fd, path), &st, 0) == 0;
}

/* The value of the first line that begins with `key`, blanks and `separator`; quotes are taken off.
 * NULL: there is none. */
static char *value_of(const char *text, const char *key, char separator)
{
	size_t len = strlen(key);

	for (const char *line = text; line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
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

/* The names that architectures have for one thing in /proc/cpuinfo, those of x86 and Arm first,
 * then of POWER, s390x, RISC-V and LoongArch. Nothing that is measured at each boot ("bogomips",
 * "clock", "cpu MHz") belongs to an identity. */
enum { MOST_KEYS = 6 };
static const char *const CPU_VENDOR[MOST_KEYS] = {"vendor_id", "CPU implementer", "mvendorid"},
			 *const CPU_NAME[MOST_KEYS] = {"model name", "Model Name", "cpu model",
				 "uarch", "cpu"},
			 *const CPU_FAMILY[MOST_KEYS] = {"cpu family", "CPU architecture",
				 "CPU Family", "isa"},
			 *const CPU_MODEL[MOST_KEYS] = {"model", "CPU part", "marchid", "machine",
				 "system type"},
			 *const CPU_STEPPING[MOST_KEYS] = {"stepping", "CPU revision",
				 "CPU Revision", "mimpid", "revision", "version"},
			 *const CPU_FLAGS[MOST_KEYS] = {"flags", "Features", "features", "isa"};

static char *value_of_first(const char *cpuinfo, const char *const keys[MOST_KEYS])
{
	char *value = NULL;

	for (int i = 0; i < MOST_KEYS && keys[i] && !value; i++)
		value = value_of(cpuinfo, keys[i], ':');
	return value;
}

/* Lines "processor : 0", and "processor 0: version = FF, …" of s390x. */
static int64_t count_processors(const char *cpuinfo)
{
	static const char key[] = "processor";
	int64_t n = 0;

	for (const char *line = cpuinfo; line && *line;
		line = strchrnul(line, '\n'), line += *line == '\n')
		if (!strncmp(line, key, strlen(key))) {
			const char *p = line + strlen(key);

			p += strspn(p, " \t");
			n += *p == ':' || (*p >= '0' && *p <= '9');
		}
	return n;
}

static const char *name_by(const char *text, const char *const (*names)[2])
{
	for (; text && (*names)[0]; names++)
		if (strstr(text, (*names)[0]))
			return (*names)[1];
	return NULL;
}

static void find_hypervisor(struct machine *m, int root_fd)
{
	static const char *const by_firmware[][2] = {{"KVM", "KVM"}, {"QEMU", "QEMU"},
		{"qemu", "QEMU"}, {"dummy-virt", "QEMU"}, {"VMware", "VMware"}, {"VMW", "VMware"},
		{"innotek GmbH", "VirtualBox"}, {"VirtualBox", "VirtualBox"}, {"Xen", "Xen"},
		{"Virtual Machine", "Hyper-V"}, {"Bochs", "Bochs"}, {"Parallels", "Parallels"},
		{"BHYVE", "bhyve"}, {"Google Compute Engine", "KVM"}, {"OpenStack", "KVM"},
		{"Alibaba Cloud ECS", "KVM"}, {}};
	static const char *const by_clock[][2] = {
		{"kvm-clock", "KVM"}, {"hyperv", "Hyper-V"}, {"xen", "Xen"}, {}};
	_cleanup_(freep) char *clocks = read_name(
		root_fd, "/sys/devices/system/clocksource/clocksource0/available_clocksource");
	const char *name = name_by(m->product, by_firmware) ?: name_by(m->vendor, by_firmware);
	bool x86 = m->flags && strstr(m->flags, "constant_tsc"); /* there the flag decides */

	m->virtual = text_has_word(m->flags, "hypervisor") || (!x86 && name);
	if (m->virtual)
		m->hypervisor = text_copy(name ?: name_by(clocks, by_clock));
}

/* A disk image made from a container keeps the engine's file, so the namespace decides. */
static void find_container(struct machine *m, int root_fd)
{
	_cleanup_(freep) char *engine = read_name(root_fd, "/run/systemd/container");
	char namespace[64] = "";
	ssize_t n = readlinkat(root_fd, text_below(root_fd, "/proc/self/ns/pid"), namespace,
		sizeof(namespace) - 1);

	if (!engine && file_exists(root_fd, "/.dockerenv"))
		engine = xstrdup("docker");
	if (!engine && file_exists(root_fd, "/run/.containerenv"))
		engine = xstrdup("podman");
	m->container = n > 0 ? strcmp(namespace, FIRST_PID_NAMESPACE) != 0 : engine != NULL;
	if (m->container && engine && strcmp(engine, "other") != 0)
		m->engine = TAKE(engine);
}

void machine_read(struct machine *ret, int root_fd)
{
	_cleanup_(freep) char *memory = read_name(root_fd, "/proc/meminfo"),
			      *total = value_of(memory, "MemTotal", ':');
	_cleanup_(freep) char *cpu = read_name(root_fd, "/proc/cpuinfo");
	_cleanup_(freep) char *os = read_name(root_fd, "/etc/os-release")
					    ?: read_name(root_fd, "/usr/lib/os-release");
	struct machine m = {
		.cpu_vendor = value_of_first(cpu, CPU_VENDOR),
		.cpu_name = value_of_first(cpu, CPU_NAME),
		.cpu_family = value_of_first(cpu, CPU_FAMILY),
		.cpu_model = value_of_first(cpu, CPU_MODEL),
		.cpu_stepping = value_of_first(cpu, CPU_STEPPING),
		.microcode = value_of(cpu, "microcode", ':'),
		.flags = value_of_first(cpu, CPU_FLAGS),
		.n_cpus = count_processors(cpu),

		.os_id = value_of(os, "ID", '='),
		.os_version = value_of(os, "VERSION_ID", '='),
		.os_name = value_of(os, "PRETTY_NAME", '='),
		.os_like = value_of(os, "ID_LIKE", '='),

		.vendor = read_name(root_fd, "/sys/class/dmi/id/sys_vendor"),
		/* the second where there is no DMI */
		.product = read_name(root_fd, "/sys/class/dmi/id/product_name")
				   ?: read_name(root_fd, "/proc/device-tree/model"),
		.board = read_name(root_fd, "/sys/class/dmi/id/board_name"),
		.firmware = read_name(root_fd, "/sys/class/dmi/id/bios_version"),
		.systemd = file_exists(root_fd, "/run/systemd/system"),
	};
	sd_id128_t id;

	if (total) /* "24668188 kB" */
		m.memory_bytes = saturate_multiply(1024, strtoll(total, NULL, 10));
	find_hypervisor(&m, root_fd);
	find_container(&m, root_fd);
	if (root_fd == AT_FDCWD && sd_id128_get_machine_app_specific(APPLICATION, &id) >= 0)
		sd_id128_to_string(id, m.id);
	*ret = m;
}

void machine_clear(struct machine *m)
{
	char **texts[] = {&m->hypervisor, &m->engine, &m->cpu_vendor, &m->cpu_name, &m->cpu_family,
		&m->cpu_model, &m->cpu_stepping, &m->microcode, &m->flags, &m->vendor, &m->product,
		&m->board, &m->firmware, &m->os_id, &m->os_version, &m->os_name, &m->os_like};

	for (size_t i = 0; i < ELEMENTS(texts); i++)
		freep(texts[i]);
	*m = (struct machine){};
}

const char *machine_description(const struct machine *m)
{
	const char *below = m->virtual ? "a virtual machine" : "a physical machine";

	if (m->virtual && m->hypervisor)
		below = text_brief("a virtual machine (%s)", m->hypervisor);
	if (!m->container)
		return below;
	return text_brief("a %s%scontainer%s%s", m->engine ?: "", m->engine ? " " : "",
		m->virtual ? " in " : "", m->virtual ? below : "");
}
