/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The isolated partition that apply will make: see plan.h. */
#include "setup/apply/plan.h"

#include "lib/base/xalloc.h"
#include "lib/base/text.h"
#include "lib/host/cpu/cpu_list.h"
#include "lib/host/process/pinning.h"

#include <fcntl.h>
#include <string.h>

static const char ID[] = "isolated";

/* The value of now is the one to restore. */
static int add(struct plan *plan, const char *name, enum kernel_setting_kind kind, const char *want,
	struct error *err)
{
	struct kernel_setting file = {.root_fd = AT_FDCWD, .path = name, .kind = kind};
	struct entry entry = {.kind = ENTRY_FILE, .file_kind = kind};

	if (kernel_setting_read(&file, &entry.old) < 0)
		entry.old = NULL;
	entry.id = xstrdup(ID);
	entry.name = xstrdup(name);
	entry.want = xstrdup(want);
	return plan_add(plan, &entry, err);
}

int plan_isolation(struct plan *plan, const struct planning *from, struct error *err)
{
	const struct cpu_state *cpus = &from->facts->cpus;
	_cleanup_(freep) char *directory = partition_directory(AT_FDCWD), *top = NULL, *path = NULL,
			      *list = NULL;
	const char *obstacle;
	int r;

	if (!from->request->isolate)
		return 0;
	top = directory ? xstrndup(directory, (size_t)(strrchr(directory, '/') - directory)) : NULL;

	/* Why it cannot be made; NULL if it may. */
	_cleanup_(freep) char *obstacle_path = text_format("%s/cgroup.controllers", top ?: ""),
			      *controllers = NULL;
	_cleanup_(freep) char *rest = cpus->online
					      ? cpu_list_without(cpus->online, cpus->threads, cpus->n_threads)
					      : NULL;

	if (!directory)
		obstacle = "no cgroup v2 is mounted";
	else if (!obstacle_path || text_read_file(AT_FDCWD, obstacle_path, &controllers) < 0 ||
		 !list_has(controllers, ' ', "cpuset"))
		obstacle = "cgroup v1 has the cpuset controller: boot with cgroup_no_v1=cpuset";
	else if (!rest || !*rest)
		obstacle = "no other core would remain for all other programs";
	else
		obstacle = NULL;
	if (obstacle) {
		report_add(from->report, ID, directory ?: "-", OUTCOME_REFUSED, NULL, NULL, obstacle);
		return 0;
	}
	path = text_format("%s/cgroup.subtree_control", top);
	list = cpu_list_text(cpus->threads, cpus->n_threads);
	if (!list)
		return error_oom(err);
	r = add(plan, path, SETTING_CPUSET, "+cpuset", err);
	return r < 0 ? r : add(plan, directory, SETTING_PARTITION, list, err);
}
