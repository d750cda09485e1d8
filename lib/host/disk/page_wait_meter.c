/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads page_waits.bpf.c and reads its histograms: see page_wait_meter.h. */
#include "lib/host/disk/page_wait_meter.h"

#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/accounting/accounting.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/host/page_waits.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>

/* The block devices whose requests the kernel traces. */

/* A device with requests has queues, in "mq". */
static bool has_requests(int fd, const char *name)
{
	_cleanup_(freep) char *size = text_format("%s/size", name), *queues = text_format("%s/mq", name);
	int64_t sectors = 0;

	return size && queues && faccessat(fd, queues, F_OK, 0) == 0 &&
	       text_read_int(fd, size, &sectors) == 0 && sectors > 0;
}

size_t block_devices_count(int root_fd)
{
	int fd = openat(root_fd, text_below(root_fd, "/sys/block"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t n = 0;

	while (directory && (entry = readdir(directory)))
		n += entry->d_name[0] != '.' && has_requests(fd, entry->d_name);
	return n;
}

DEFINE_FREEP(page_wait_meter)

struct page_wait_meter {
	struct page_waits_bpf *programs;
	bool has_devices;
};

static void btf_freep(struct btf **btf)
{
	btf__free(*btf);
}

/* The arguments of a tracepoint, without that of its programs; -1: the kernel has none of that name. */
static int count_arguments(const struct btf *btf, const char *tracepoint)
{
	int id = btf__find_by_name_kind(btf, tracepoint, BTF_KIND_TYPEDEF);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (unsigned int)id) : NULL;

	while (type && (btf_is_typedef(type) || btf_is_ptr(type)))
		type = btf__type_by_id(btf, type->type);
	return type && btf_is_func_proto(type) ? (int)btf_vlen(type) - 1 : -1;
}

/* Before Linux 5.11, the tracepoints had the queue before the request. */
static int check_tracepoints(struct error *err)
{
	_cleanup_(btf_freep) struct btf *btf = btf__load_vmlinux_btf();
	int n = btf ? count_arguments(btf, "btf_trace_block_rq_issue") : -1;

	if (n < 0)
		return error_say(err, -ENOTSUP, "the kernel has no tracepoint block_rq_issue");
	return n == 1 ? 0 : error_say(err, -ENOTSUP, "needs Linux 5.11");
}

static int load(void *context)
{
	struct page_wait_meter *meter = context;
	int r;

	meter->programs = page_waits_bpf__open();
	if (!meter->programs)
		return -errno;
	bpf_program__set_autoload(meter->programs->progs.request_is_issued, meter->has_devices);
	bpf_program__set_autoload(meter->programs->progs.request_is_complete, meter->has_devices);
	r = page_waits_bpf__load(meter->programs);
	return r < 0 ? r : page_waits_bpf__attach(meter->programs);
}

static int check(struct error *err)
{
	struct accounting_support support;
	int r;

	accounting_support_read(&support, AT_FDCWD);
	r = accounting_support_has_bpf(&support, err);
	return r < 0 ? r : check_tracepoints(err);
}

int page_wait_meter_new(struct page_wait_meter **ret, struct error *err)
{
	_cleanup_(page_wait_meter_freep) struct page_wait_meter *meter = xcalloc(1, sizeof(*meter));
	int r = meter ? check(err) : error_oom(err);

	if (r < 0)
		return r;
	meter->has_devices = block_devices_count(AT_FDCWD) > 0;
	r = bpf_load(load, meter, err);
	if (r < 0)
		return r;
	*ret = TAKE(meter);
	return 0;
}

void page_wait_meter_free(struct page_wait_meter *meter)
{
	if (!meter)
		return;
	page_waits_bpf__destroy(meter->programs);
	free(meter);
}

bool page_wait_meter_watches(const struct page_wait_meter *meter, enum page_wait_histogram which)
{
	return which == PAGE_WAITS_OF_TASKS || meter->has_devices;
}

int page_wait_meter_set(const struct page_wait_meter *meter, int cgroup_fd, struct error *err)
{
	uint32_t first = 0, fd = (uint32_t)cgroup_fd;

	if (bpf_map_update_elem(bpf_map__fd(meter->programs->maps.slaves), &first, &fd, BPF_ANY) < 0)
		return error_os(err, -errno, "cannot tell the BPF programs whose page waits to time");
	return 0;
}

void page_wait_meter_read(const struct page_wait_meter *meter, struct page_wait_sums *ret)
{
	*ret = meter->programs->bss->waits;
}
