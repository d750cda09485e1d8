/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The accounting: chooses a backend by what this kernel and this process have, compares its
 * snapshots, identifies the processes and finds those of the program under test. See
 * accounting.h. */
#include "lib/host/accounting/accounting_internal.h"

#include "lib/host/process/tag.h"

#include <linux/capability.h>
#include <sys/utsname.h>

/* The initial user namespace maps all ids to themselves. */
static bool is_initial_map(const char *uid_map)
{
	unsigned long inside, outside, n;

	if (sscanf(uid_map, "%lu %lu %lu", &inside, &outside, &n) != 3)
		return false;
	return inside == 0 && outside == 0 && n == UINT32_MAX;
}

/* It has a fixed inode number (PROC_PID_INIT_INO). */
static bool is_in_initial_pid_namespace(int root_fd)
{
	const char *path = text_below(root_fd, "/proc/self/ns/pid");
	char name[64] = "";

	if (readlinkat(root_fd, path, name, sizeof(name) - 1) < 0)
		return true;
	return !strcmp(name, "pid:[4026531836]");
}

struct accounting_support accounting_support_read(int root_fd)
{
	_cleanup_(freep) char *status = path_text(root_fd, "/proc/self/status");
	_cleanup_(freep) char *uid_map = path_text(root_fd, "/proc/self/uid_map");
	_cleanup_(freep) char *lockdown = path_text(root_fd, "/sys/kernel/security/lockdown");
	const char *capabilities = status ? strstr(status, "\nCapEff:") : NULL;
	struct accounting_support support = {};
	const char *btf = text_below(root_fd, "/sys/kernel/btf/vmlinux");
	struct utsname name;

	if (capabilities)
		support.capabilities = strtoull(capabilities + strlen("\nCapEff:"), NULL, 16);
	/* a kernel without user namespaces has no map */
	support.initial_user_namespace = !uid_map || is_initial_map(uid_map);
	support.initial_pid_namespace = is_in_initial_pid_namespace(root_fd);
	support.has_btf = faccessat(root_fd, btf, R_OK, 0) == 0;
	support.lockdown = lockdown && strstr(lockdown, "[confidentiality]");
	if (uname(&name) == 0)
		sscanf(name.release, "%d.%d", &support.kernel_major, &support.kernel_minor);
	return support;
}

/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, which were split from it in Linux 5.8. */
static bool support_permits(const struct accounting_support *support, int capability)
{
	uint64_t either = UINT64_C(1) << capability;

	if (capability != CAP_NET_ADMIN)
		either |= UINT64_C(1) << CAP_SYS_ADMIN;
	return support->capabilities & either;
}

int accounting_support_has(const struct accounting_support *support,
	enum accounting_backend backend, struct error *err)
{
	bool bpf = support_permits(support, CAP_BPF),
	     perfmon = support_permits(support, CAP_PERFMON);

	if (backend == ACCOUNTING_TASKSTATS) {
		if (!support->initial_pid_namespace || !support->initial_user_namespace)
			return error_say(err, -ENOTSUP,
				"not available in a container; "
				"run on the host, or with --pid=host");
		if (!support_permits(support, CAP_NET_ADMIN))
			return error_say(err, -EPERM, "needs CAP_NET_ADMIN");
		return 0;
	}

	if (support->kernel_major < 5 || (support->kernel_major == 5 && support->kernel_minor < 9))
		return error_say(err, -ENOTSUP, "needs Linux 5.9, this is %d.%d",
			support->kernel_major, support->kernel_minor);
	if (!support->has_btf)
		return error_say(err, -ENOTSUP, "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	if (!support->initial_pid_namespace)
		return error_say(err, -ENOTSUP,
			"a container sees its own processes only; "
			"run on the host, or with --pid=host");

	if (!bpf || !perfmon)
		return error_say(err, -EPERM, "needs %s%s%s", bpf ? "" : "CAP_BPF",
			!bpf && !perfmon ? " and " : "", perfmon ? "" : "CAP_PERFMON");
	if (!support->initial_user_namespace)
		return error_say(err, -EPERM,
			"the capabilities of a rootless container do not suffice; "
			"be root on the host");
	if (support->lockdown)
		return error_say(err, -EPERM, "the kernel is locked down for confidentiality");
	return 0;
}

const char *accounting_support_missing(const struct accounting_support *support)
{
	bool bpf = support_permits(support, CAP_BPF) && support_permits(support, CAP_PERFMON);

	if (!support->initial_pid_namespace || !support->initial_user_namespace)
		return "not available in a container";
	if (!bpf && !support_permits(support, CAP_NET_ADMIN))
		return "needs root or file capabilities";
	return "not supported by this kernel";
}

const char *const accounting_backend_names[N_ACCOUNTING_BACKENDS + 1] = {
	[ACCOUNTING_AUTO] = "auto",
	[ACCOUNTING_BPF] = "bpf",
	[ACCOUNTING_TASKSTATS] = "taskstats",
	[ACCOUNTING_NONE] = "none",
};

int accounting_new(
	struct accounting **ret, const struct accounting_options *options, struct error *err)
{
	static int (*const make[])(struct accounting * *ret,
		const struct accounting_options *options,
		struct error *err) = {[ACCOUNTING_BPF] = accounting_bpf_new,
		[ACCOUNTING_TASKSTATS] = accounting_taskstats_new};
	const struct accounting_support support = accounting_support_read(AT_FDCWD);
	struct error why[ELEMENTS(make)] = {};
	struct accounting *a = NULL;
	int r = 0;

	for (enum accounting_backend i = ACCOUNTING_BPF; !a && i <= ACCOUNTING_TASKSTATS; i++) {
		if (options->backend != ACCOUNTING_AUTO && options->backend != i)
			continue;
		r = accounting_support_has(&support, i, &why[i]) ?: make[i](&a, options, &why[i]);
		if (r < 0)
			error_prefix(&why[i], r, "%s", accounting_backend_names[i]);
	}
	if (r < 0)
		return error_say(err, r,
			"cannot observe other processes: %s%s%s (see emp-accounting(7))",
			why[ACCOUNTING_BPF].text, options->backend == ACCOUNTING_AUTO ? "; " : "",
			why[ACCOUNTING_TASKSTATS].text);
	a->state.why = why[ACCOUNTING_BPF];
	*ret = a;
	return 0;
}

void accounting_free(struct accounting *a)
{
	if (!a)
		return;
	a->operations->free(a);
	snapshot_diff_clear(&a->diff);
	identity_free(a->identity);
	keymap_free(&a->parents);
	free(a);
}

const struct accounting_state *accounting_state(const struct accounting *a)
{
	static const struct accounting_state none = {ACCOUNTING_NONE, .poll_fd = -1, .poll_ms = -1};

	return a ? &a->state : &none;
}

int accounting_before(struct accounting *a, uint64_t cgroup_id, int cpu, struct error *err)
{
	a->by_descent = cgroup_id == 0 || a->state.backend != ACCOUNTING_BPF;
	return a->operations->before(a, cgroup_id, cpu, err);
}

int64_t accounting_own_wait(const struct accounting *a)
{
	return a && a->operations->own_wait ? a->operations->own_wait(a) : -1;
}

struct accounting_part accounting_part_of(const struct accounting *a, unsigned int number)
{
	return a && a->operations->part ? a->operations->part(a, number) : ACCOUNTING_PART_NONE;
}

int64_t accounting_end(const struct accounting *a, pid_t pid)
{
	return a && a->operations->end ? a->operations->end(a, pid) : -1;
}

int accounting_drain(struct accounting *a, struct error *err)
{
	return a ? a->operations->drain(a, err) : 0;
}

/* In place of an index into the first snapshot: the task has been found again. Its key may now
 * belong to another task. */
static const uint32_t DONE = UINT32_MAX;

void snapshot_diff_clear(struct snapshot_diff *diff)
{
	keymap_free(&diff->before);
	keymap_free(&diff->exits);
	keymap_free(&diff->processes);
	free(diff->items);
	*diff = (struct snapshot_diff){};
}

static bool is_alive(const struct snapshots *snapshots, const struct task_record *task)
{
	return task->tgid != snapshots->observer && !(task->flags & RECORD_DEAD);
}

/* Adds what the task has used since the first snapshot to its process. False: its time before that
 * snapshot is not known, so it cannot be counted. */
static bool add_task(struct snapshot_diff *diff, const struct snapshots *snapshots,
	const struct task_record *task)
{
	bool is_new = task->start_ns >= snapshots->before_ns;
	uint32_t *at = keymap_find(&diff->before, task->key);
	uint64_t run_ns = 0, tick_ns = 0;
	struct process_cpu *p = NULL;

	/* The start time distinguishes a task from a later one at the same address. But a thread
	 * that executes a program takes over the older start time of its process. */
	if (at && *at != DONE &&
		(!is_new || snapshots->before.items[*at].start_ns == task->start_ns)) {
		const struct task_record *base = &snapshots->before.items[*at];

		*at = DONE;
		diff->n_missing -= is_alive(snapshots, base);
		run_ns = base->run_ns;
		tick_ns = base->tick_ns;
	} else if (!is_new) {
		return false;
	}

	at = keymap_find(&diff->processes, task->tgid);
	if (at && diff->items[*at].start_ns == task->process_start_ns)
		p = &diff->items[*at];
	if (!p) {
		if (task->run_ns <= run_ns && task->tick_ns <= tick_ns)
			return true;
		p = array_add_reused(diff->items, diff->n, diff->capacity);
		p->pid = (pid_t)task->tgid;
		p->start_ns = task->process_start_ns;
		p->started = task->process_start_ns >= snapshots->before_ns;
		p->cpu = -1;
		keymap_set(&diff->processes, task->tgid, (uint32_t)diff->n - 1);
	}

	if (task->run_ns > run_ns) {
		p->pt_ns += (int64_t)(task->run_ns - run_ns);
		p->same_cpu_ns += (int64_t)task->watched_ns;
		p->cpu = (int)task->cpu;
	}
	if (task->tick_ns > tick_ns)
		p->tick_ns += (int64_t)(task->tick_ns - tick_ns);

	memcpy(p->name, task->comm, sizeof(p->name) - 1);
	p->ppid = (pid_t)task->ppid;
	p->cgroup = task->cgroup;
	p->tag = task->tag;
	p->flags = task->flags;
	if (task->flags & RECORD_DEAD)
		p->ended = true;
	else
		p->alive = true;
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct process_cpu *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

void snapshot_diff_run(struct snapshot_diff *diff, const struct snapshots *snapshots)
{
	size_t kept = 0;

	keymap_reset(&diff->before, snapshots->before.n);
	keymap_reset(&diff->exits, snapshots->exits.n);
	keymap_reset(&diff->processes, 0);
	diff->n = diff->n_missing = 0;
	for (size_t i = 0; i < snapshots->before.n; i++) {
		keymap_set(&diff->before, snapshots->before.items[i].key, (uint32_t)i);
		diff->n_missing += is_alive(snapshots, &snapshots->before.items[i]);
	}
	for (size_t i = 0; i < snapshots->exits.n; i++) {
		const struct task_record *task = &snapshots->exits.items[i];

		if (task->tgid != snapshots->observer && add_task(diff, snapshots, task))
			keymap_set(&diff->exits, task->key, (uint32_t)i);
	}
	for (size_t i = 0; i < snapshots->after.n; i++) {
		const struct task_record *task = &snapshots->after.items[i];
		const uint32_t *at = keymap_find(&diff->exits, task->key);
		bool has_ended = at && snapshots->exits.items[*at].start_ns == task->start_ns;

		if (task->tgid != snapshots->observer && !has_ended)
			add_task(diff, snapshots, task);
	}
	for (size_t i = 0; i < diff->n; i++) {
		struct process_cpu *p = &diff->items[i];

		if (p->pt_ns <= 0 && p->tick_ns <= 0)
			continue;
		p->ended = p->ended && !p->alive;
		if (!snapshots->has_shares)
			p->same_cpu_ns = -1;
		else if (p->same_cpu_ns > p->pt_ns)
			p->same_cpu_ns = p->pt_ns;
		diff->items[kept++] = *p;
	}
	diff->n = kept;
	if (kept > 1)
		qsort(diff->items, kept, sizeof(*diff->items), by_pid);
}

enum { MAX_DESCENT = 64 };

/* Whether the process with this id descends from the observer, or is the observer. */
static bool descends(struct accounting *a, pid_t pid)
{
	pid_t observer = (pid_t)a->snapshots.observer;

	for (int i = 0; pid > 1 && pid != observer && i < MAX_DESCENT; i++) {
		const uint32_t *known = keymap_find(&a->parents, (uint64_t)pid);
		pid_t parent = known ? (pid_t)*known : 0;

		if (!known && a->operations->parent) {
			parent = a->operations->parent(a, pid);
			keymap_set(&a->parents, (uint64_t)pid, (uint32_t)parent);
		}
		pid = parent;
	}
	return pid == observer;
}

/* The sum of the waits of the program's tasks, if each record has its wait. */
static void add_program_wait(struct accounting *a, struct process_cpus *usages)
{
	int64_t wait_ns = -1;

	for (size_t i = 0; i < a->snapshots.exits.n; i++) {
		const struct task_record *exit = &a->snapshots.exits.items[i];
		bool is_programs = exit->flags & RECORD_PROGRAM;

		if (exit->kind != RECORD_KIND_TASK)
			continue;
		if (a->by_descent)
			is_programs = exit->process_start_ns >= a->snapshots.before_ns &&
				      descends(a, (pid_t)exit->ppid);
		if (!is_programs)
			continue;
		if (exit->wait_ns == RECORD_UNKNOWN)
			return;
		usages->shared_wait = wait_ns >= 0;
		wait_ns = (wait_ns < 0 ? 0 : wait_ns) + (int64_t)exit->wait_ns;
	}
	usages->wait_ns = wait_ns;
}

static void identify_process(struct accounting *a, struct process_cpu *p)
{
	const char *unit = NULL;
	struct identified asked;

	a->operations->describe(a, p);
	p->kernel = p->flags & RECORD_KERNEL;
	if (p->kernel)
		return;
	asked = identity_of(a->identity, p->pid, p->start_ns, p->ended ? NULL : p->name);
	p->exe = asked.exe ?: p->exe;
	if (p->cgroup > 1)
		unit = identity_cgroup_unit(a->identity, p->cgroup, asked.unit);
	p->unit = asked.unit ?: p->unit ?: unit;
}

static int compare_pid(const void *key, const void *item)
{
	pid_t pid = *(const pid_t *)key, other = ((const struct process_cpu *)item)->pid;

	return pid < other ? -1 : pid > other;
}

static const struct process_cpu *parent_process(
	const struct snapshot_diff *all, const struct process_cpu *p)
{
	return bsearch(&p->ppid, all->items, all->n, sizeof(*all->items), compare_pid);
}

/* Whether the program started it: it and its ancestors, up to the observer, have started since the
 * first snapshot. Processes that the observer had started before, and their descendants, are not
 * the program's. */
static bool descends_from_program(const struct accounting *a, const struct process_cpu *p)
{
	for (int depth = 0; p && p->started && depth < MAX_DESCENT; depth++) {
		if (p->ppid == (pid_t)a->snapshots.observer)
			return true;
		p = parent_process(&a->diff, p);
	}
	return false;
}

/* A process that was forked and has not executed a program runs the program of its parent, which
 * forked in this sample and so has used time too. If the names are equal, the parent has not
 * executed another program since. */
static const char *inherited_exe(const struct accounting *a, const struct process_cpu *p)
{
	for (int depth = 0; depth < MAX_DESCENT && !p->exe && p->flags & RECORD_FORKED; depth++) {
		const struct process_cpu *parent = parent_process(&a->diff, p);

		if (!parent || strcmp(parent->name, p->name))
			return NULL;
		p = parent;
	}
	return p->exe;
}

int accounting_after(struct accounting *a, struct process_cpus *ret, struct error *err)
{
	const struct snapshots *s = &a->snapshots;
	struct process_cpus usages = PROCESS_CPUS_NONE;
	int r = a->operations->after(a, &usages, err);

	if (r < 0)
		return r;
	snapshot_diff_run(&a->diff, s);
	if (a->by_descent) { /* learns the parents */
		keymap_reset(&a->parents, s->after.n + s->exits.n);
		for (size_t i = 0; !a->operations->parent && i < s->after.n; i++)
			keymap_set(&a->parents, s->after.items[i].tgid, s->after.items[i].ppid);
		for (size_t i = 0; i < s->exits.n; i++)
			if (s->exits.items[i].pid == s->exits.items[i].tgid)
				keymap_set(&a->parents, s->exits.items[i].tgid,
					s->exits.items[i].ppid);
	}
	/* Before `describe` collects new exits, which may move those of the snapshots. */
	if (usages.lost == 0)
		add_program_wait(a, &usages);
	usages.items = a->diff.items;
	usages.n = a->diff.n;
	for (size_t i = 0; i < usages.n; i++) {
		struct process_cpu *p = &usages.items[i];

		identify_process(a, p);
		p->program = a->by_descent ? descends(a, p->ppid)
					   : (p->flags & RECORD_PROGRAM) != 0;
	}
	for (size_t i = 0; i < usages.n; i++) {
		struct process_cpu *p = &usages.items[i];

		p->exe = inherited_exe(a, p);
		p->number = tag_number(p->tag);
		p->escaped = !a->by_descent && !p->program &&
			     ((p->started && p->number >= 0) || descends_from_program(a, p));
	}
	for (size_t i = 0; i < usages.n; i++)
		if (usages.items[i].ended)
			identity_forget(a->identity, usages.items[i].pid);
	usages.incomplete |= usages.lost > 0 ||
			     (a->state.backend == ACCOUNTING_BPF && a->diff.n_missing > 0);
	*ret = usages;
	return 0;
}
