/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of the machine, by BPF: see counters_bpf.h and counters.bpf.c. */
#include "lib/host/system/counters_bpf.h"

#include "lib/host/accounting/accounting_support.h"
#include "lib/host/process/privilege.h"

#include "lib/host/counters.skel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

struct machine_counter {
	struct counters_bpf *programs;
};

/* How far the kernel has put its per-CPU variables from the beginning of their section. */
struct places {
	int64_t runqueues, vm_event_states, kernel_cpustat; /* -1: not told */
};

static int find_places(struct places *ret)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *section = btf ? btf__type_by_id(
						       btf, (uint32_t)btf__find_by_name_kind(
								    btf, ".data..percpu", BTF_KIND_DATASEC))
					     : NULL;
	const struct btf_var_secinfo *variables = section ? btf_var_secinfos(section) : NULL;

	*ret = (struct places){-1, -1, -1};
	for (uint32_t i = 0; section && i < btf_vlen(section); i++) {
		const char *name = btf__name_by_offset(
			btf, btf__type_by_id(btf, variables[i].type)->name_off);

		if (!strcmp(name, "runqueues"))
			ret->runqueues = variables[i].offset;
		else if (!strcmp(name, "vm_event_states"))
			ret->vm_event_states = variables[i].offset;
		else if (!strcmp(name, "kernel_cpustat"))
			ret->kernel_cpustat = variables[i].offset;
	}
	btf__free(btf);
	return ret->runqueues < 0 || ret->vm_event_states < 0 || ret->kernel_cpustat < 0 ? -ENOTSUP : 0;
}

static int find_runqueues(const struct counters_bpf *programs)
{
	struct bpf_link *link = bpf_program__attach_iter(programs->progs.find_runqueues, NULL);
	_cleanup_(closep) int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
	char nothing;
	int r = fd < 0 ? fd : read(fd, &nothing, sizeof(nothing)) < 0 ? -errno : 0;

	bpf_link__destroy(link);
	return r;
}

/* All that the machine has now must have been found. */
static int count_cpus(struct counters_bpf__bss *bss)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN), found = 0;

	for (uint32_t cpu = 0; cpu < ELEMENTS(bss->runqueues); cpu++)
		if (bss->runqueues[cpu]) {
			found++;
			bss->n_cpus = cpu + 1;
		}
	return found >= online ? 0 : -ENOTSUP;
}

static int load(struct machine_counter *counts, int cpu)
{
	struct places places;
	int r = find_places(&places);

	if (r < 0)
		return r;
	counts->programs = counters_bpf__open_and_load();
	if (!counts->programs)
		return -errno;
	counts->programs->bss->events_distance = places.vm_event_states - places.runqueues;
	counts->programs->bss->times_distance = places.kernel_cpustat - places.runqueues;
	counts->programs->bss->steal_cpu = cpu;
	r = find_runqueues(counts->programs);
	return r < 0 ? r : count_cpus(counts->programs->bss);
}

static int say_nothing(enum libbpf_print_level level, const char *format, va_list ap)
{
	return 0;
}

int machine_counter_open(struct machine_counter **ret, int cpu, struct error *err)
{
	_cleanup_(machine_counter_freep) struct machine_counter *counts = calloc(1, sizeof(*counts));
	struct accounting_support site;
	libbpf_print_fn_t print;
	int r;

	if (!counts)
		return error_os(err, -ENOMEM, "cannot watch the machine");
	privilege_raise();
	accounting_support_read(&site, AT_FDCWD);
	r = accounting_support_has_bpf(&site, err);
	if (r == 0) {
		print = libbpf_set_print(say_nothing);
		r = load(counts, cpu);
		libbpf_set_print(print);
		if (r < 0)
			error_os(err, r, "the kernel does not let BPF count");
	}
	privilege_lower();
	if (r == 0)
		*ret = TAKE(counts);
	return r;
}

void machine_counter_free(struct machine_counter *counts)
{
	if (!counts)
		return;
	counters_bpf__destroy(counts->programs);
	free(counts);
}

int machine_counter_read(struct machine_counter *counts, struct machine_counts *ret, struct error *err)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	const struct counters_bpf__bss *bss = counts->programs->bss;
	int r;

	privilege_raise();
	r = bpf_prog_test_run_opts(bpf_program__fd(counts->programs->progs.read_counts), &options);
	privilege_lower();
	if (r < 0)
		return error_os(err, r, "cannot read the machine's counts by BPF");
	*ret = (struct machine_counts){
		.user_ns = (int64_t)bss->user_ns,
		.steal_ns = (int64_t)bss->steal_ns,
		.swapped_in = (int64_t)bss->swapped_in,
		.swapped_out = (int64_t)bss->swapped_out,
		.major_faults = (int64_t)bss->major_faults,
	};
	return 0;
}

static bool lies_between(int64_t value, int64_t least, int64_t most, int64_t step)
{
	return value >= least && value < most + step;
}

bool machine_counts_agree(const struct machine_counts *count, const struct machine_counts *before,
	const struct machine_counts *after, int64_t tick_ns)
{
	return count->user_ns > 0 && count->major_faults > 0 &&
	       lies_between(count->user_ns, before->user_ns, after->user_ns, tick_ns) &&
	       lies_between(count->steal_ns, before->steal_ns, after->steal_ns, tick_ns) &&
	       lies_between(count->swapped_in, before->swapped_in, after->swapped_in, 1) &&
	       lies_between(count->swapped_out, before->swapped_out, after->swapped_out, 1) &&
	       lies_between(count->major_faults, before->major_faults, after->major_faults, 1);
}
