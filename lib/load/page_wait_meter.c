/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads page_waits.bpf.c and reads its histograms: see page_wait_meter.h. */
#include "lib/load/page_wait_meter.h"

#include "lib/host/accounting/accounting.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/load/page_waits.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

size_t block_devices_count(int root_fd)
{
	_cleanup_(paths_clear) struct paths queues = paths_expand(
		root_fd, "/sys/block/*/mq"); /* of requests */
	size_t n = 0;

	for (size_t i = 0; i < queues.n; i++)
		n += path_int(root_fd, "%.*s/size", (int)(strlen(queues.items[i]) - strlen("/mq")),
			     queues.items[i]) > 0;
	return n;
}

static void btf_freep(struct btf **btf)
{
	btf__free(TAKE(*btf));
}

/* Before Linux 5.11 (and 5.10.137, to which that was ported back), the tracepoints had the queue
 * before the request. */
static int check_tracepoints(struct error *err)
{
	_cleanup_(btf_freep) struct btf *btf = btf__load_vmlinux_btf();
	int id = btf ? btf__find_by_name_kind(btf, "btf_trace_block_rq_issue", BTF_KIND_TYPEDEF)
		     : -1;
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (unsigned int)id) : NULL;

	while (type && (btf_is_typedef(type) || btf_is_ptr(type)))
		type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_func_proto(type) || btf_vlen(type) == 0)
		return error_say(err, -ENOTSUP, "the kernel has no tracepoint block_rq_issue");
	/* the first argument is that of its programs */
	return btf_vlen(type) == 2 ? 0 : error_say(err, -ENOTSUP, "needs Linux 5.11");
}

int page_wait_meter_new(struct page_wait_meter **ret, struct error *err)
{
	_cleanup_(page_wait_meter_freep) struct page_wait_meter *meter = xcalloc(1, sizeof(*meter));
	const struct accounting_support support = accounting_support_read(AT_FDCWD);
	int r = accounting_support_has(&support, ACCOUNTING_BPF, err);

	if (r == 0)
		r = check_tracepoints(err);
	if (r < 0)
		return r;
	meter->has_devices = block_devices_count(AT_FDCWD) > 0;
	bpf_load_begin();
	meter->programs = page_waits_bpf__open();
	if (meter->programs) {
		bpf_program__set_autoload(
			meter->programs->progs.request_is_issued, meter->has_devices);
		bpf_program__set_autoload(
			meter->programs->progs.request_is_complete, meter->has_devices);
		r = page_waits_bpf__load(meter->programs)
			    ?: page_waits_bpf__attach(meter->programs);
	} else {
		r = -errno;
	}
	r = bpf_load_end(r, err);
	if (r < 0)
		return r;
	meter->sums = &meter->programs->bss->waits;
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

int page_wait_meter_set(const struct page_wait_meter *meter, int cgroup_fd, struct error *err)
{
	uint32_t first = 0, fd = (uint32_t)cgroup_fd;

	if (bpf_map_update_elem(bpf_map__fd(meter->programs->maps.workers), &first, &fd, BPF_ANY) <
		0)
		return error_os(
			err, -errno, "cannot tell the BPF programs whose page waits to time");
	return 0;
}
