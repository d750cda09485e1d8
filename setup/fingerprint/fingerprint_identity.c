/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The identity in a fingerprint: see fingerprint.h. It has nothing that only root can read, or the
 * digest would depend on who asks, and nothing that depends on which CPUs are online. */
#include "setup/fingerprint/fingerprint.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/host/system/kernel_setting.h"

static json_t *caches_in(int root_fd, const char *directory)
{
	json_t *array = json_array();

	for (int i = 0; i < 16; i++) {

		static const char *const members[] = {"level", "type", "size"};
		json_t *object = json_object();

		/* Not which CPUs share it: that depends on which ones are online. */
		for (size_t k = 0; k < ELEMENTS(members); k++) {
			char path[128];

			snprintf(path, sizeof(path), "%s/index%d/%s", directory, i, members[k]);
			json_object_set_new(object, members[k], fingerprint_file(root_fd, path));
		}

		if (json_is_null(json_object_get(object, "level"))) {
			json_decref(object);
			break;
		}
		json_array_append_new(array, object);
	}
	return array;
}

/* The installed memory in GiB. MemTotal changes with the kernel, and in some virtual machines from minute to
 * minute. */
static int64_t memory_gib(int root_fd, const struct machine *m)
{
	_cleanup_(freep) char *size = NULL;
	int64_t bytes = m->memory_bytes,
		blocks = (int64_t)kernel_setting_count(root_fd, "/sys/devices/system/memory/memory[0-9]*");

	if (blocks > 0 && text_read_file(root_fd, "/sys/devices/system/memory/block_size_bytes", &size) == 0)
		bytes = saturate_multiply((uint64_t)blocks, strtoll(size, NULL, 16));
	return (bytes >> 30) + (bytes >> 29 & 1);
}

static json_t *processor(int root_fd, const struct machine *m)
{
	_cleanup_(paths_clear) struct paths directories = kernel_setting_expand(
		root_fd, "/sys/devices/system/cpu/cpu[0-9]*/cache");

	/* Those of the first CPU that is online: the others have none in /sys. */
	return json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:o, s:o}", "vendor", m->cpu_vendor, "name",
		m->cpu_name, "family", m->cpu_family, "model", m->cpu_model, "stepping", m->cpu_stepping,
		"microcode", m->microcode, "present",
		fingerprint_file(root_fd, "/sys/devices/system/cpu/present"), "caches",
		directories.n > 0 ? caches_in(root_fd, directories.items[0]) : json_array());
}

json_t *fingerprint_identity(int root_fd, const struct machine *m, const struct kernel *kernel)
{
	return json_pack(
		"{s:s?, s:o, s:I, s:I, s:{s:s?, s:s?, s:s?, s:s?}, s:{s:b, s:s?, s:b, s:s?}, s:{s:s?, s:s?}, s:{s:s?, s:s?, s:s?}}",
		"machine", *m->id ? m->id : NULL, "cpu", processor(root_fd, m), "memory_gib",
		(json_int_t)memory_gib(root_fd, m), "numa_nodes",
		(json_int_t)kernel_setting_count(root_fd, "/sys/devices/system/node/node[0-9]*"), "firmware",
		"vendor", m->vendor, "product", m->product, "board", m->board, "version", m->firmware,
		"virtualisation", "virtual", m->virtual, "hypervisor", m->hypervisor, "container",
		m->container, "engine", m->engine, "kernel", "release", kernel->running, "build",
		kernel->version, "system", "id", m->os_id, "version", m->os_version, "name", m->os_name);
}
