/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The accounting: chooses a backend, compares its snapshots, identifies the processes and finds those of the
 * program under test. See accounting.h. */
#include "lib/host/accounting/accounting.h"

#include "lib/base/tool.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/accounting/accounting_backend.h"
#include "lib/host/accounting/keymap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/utsname.h>

/* Whether this kernel and this process have what the accounting needs, and what is missing. */

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

enum { MAX_DESCENT = 64 };

struct accounting {
	struct backend *backend;
	struct identity *identity;
	struct snapshot_diff *diff;
	struct keymap parents; /* of processes that ended, and of those asked for */
	struct usage *items;
	size_t n, capacity;
	bool by_descent;
	struct error why;
};

static const char *const names[N_ACCOUNTING_BACKENDS + 1] = {
	[ACCOUNTING_AUTO] = "auto",
	[ACCOUNTING_BPF] = "bpf",
	[ACCOUNTING_TASKSTATS] = "taskstats",
	[ACCOUNTING_NONE] = "none",
};

const char *accounting_backend_name(enum accounting_backend backend)
{
	return names[backend];
}

int accounting_backend_parse(const char *value, const char *name, void *into, struct error *err)
{
	int backend, r = option_choice(value, name, names, &backend, err);

	if (r == 0)
		*(enum accounting_backend *)into = (enum accounting_backend)backend;
	return r;
}

const char *accounting_missing(void)
{
	struct accounting_support support;

	accounting_support_read(&support, AT_FDCWD);
	return accounting_support_missing(&support);
}

static int new_bpf(struct backend **ret, struct identity *identity, const struct accounting_options *options,
	const struct accounting_support *support, struct error *err)
{
	int r = accounting_support_has_bpf(support, err);

	if (r == 0)
		r = accounting_bpf_new(ret, identity, options, err);
	return r < 0 ? error_prefix(err, r, "bpf") : 0;
}

static int new_taskstats(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, const struct accounting_support *support, struct error *err)
{
	int r = accounting_support_has_taskstats(support, err);

	if (r == 0)
		r = accounting_taskstats_new(ret, identity, options, err);
	return r < 0 ? error_prefix(err, r, "taskstats") : 0;
}

int accounting_new_with(struct accounting **ret, const struct accounting_options *options, struct error *err)
{
	_cleanup_(accounting_freep) struct accounting *a = xcalloc(1, sizeof(*a));
	struct accounting_support support;
	struct error no_taskstats = {}, reason;
	int r;

	a->identity = identity_new();
	a->diff = snapshot_diff_new();
	accounting_support_read(&support, AT_FDCWD);
	if (options->backend == ACCOUNTING_BPF)
		r = new_bpf(&a->backend, a->identity, options, &support, err);
	else if (options->backend == ACCOUNTING_TASKSTATS)
		r = new_taskstats(&a->backend, a->identity, options, &support, err);
	else {
		r = new_bpf(&a->backend, a->identity, options, &support, &a->why);
		if (r != 0) {
			r = new_taskstats(&a->backend, a->identity, options, &support, &no_taskstats);
			r = r < 0 ? error_say(err, r, "%s; %s", a->why.text, no_taskstats.text) : 0;
		}
	}
	if (r < 0) {
		reason = *err;
		return error_say(
			err, r, "cannot observe other processes: %s (see emp-accounting(7))", reason.text);
	}
	*ret = TAKE(a);
	return 0;
}

int accounting_new(struct accounting **ret, enum accounting_backend backend, struct error *err)
{
	return accounting_new_with(ret, &(struct accounting_options){.backend = backend}, err);
}

void accounting_free(struct accounting *a)
{
	if (!a)
		return;
	if (a->backend)
		a->backend->operations->free(a->backend);
	snapshot_diff_free(a->diff);
	identity_free(a->identity);
	keymap_free(&a->parents);
	free(a->items);
	free(a);
}

enum accounting_backend accounting_backend_of(const struct accounting *a)
{
	return a ? a->backend->operations->id : ACCOUNTING_NONE;
}

const char *accounting_why(const struct accounting *a)
{
	return a->why.text[0] ? a->why.text : NULL;
}

int accounting_before(struct accounting *a, uint64_t cgroup_id, int cpu, struct error *err)
{
	const struct task_scope scope = {.cgroup = cgroup_id, .cpu = cpu};

	a->by_descent = cgroup_id == 0 || !a->backend->operations->sees_cgroups;
	return a->backend->operations->before(a->backend, &scope, err);
}

int64_t accounting_own_wait(const struct accounting *a)
{
	return a && a->backend->operations->own_wait ? a->backend->operations->own_wait(a->backend) : -1;
}

int accounting_poll_fd(const struct accounting *a)
{
	return a->backend->operations->poll_fd(a->backend);
}

int accounting_poll_ms(const struct accounting *a)
{
	return a->backend->operations->poll_ms;
}

int accounting_drain(struct accounting *a, struct error *err)
{
	return a->backend->operations->drain(a->backend, err);
}

static bool descends(struct accounting *a, pid_t parent, pid_t ancestor)
{
	for (int i = 0; parent > 1 && i < MAX_DESCENT; i++) {
		pid_t process_parent;

		if (parent == ancestor)
			return true;

		uint32_t *known = keymap_find(&a->parents, (uint64_t)parent);

		if (known) {
			parent = (pid_t)*known;
		} else {
			process_parent = a->backend->operations->parent(a->backend, parent);
			keymap_set(&a->parents, (uint64_t)parent, (uint32_t)process_parent);
			parent = process_parent;
		}
	}
	return false;
}

static void identify(struct accounting *a, const struct process_diff *p, struct identified *known)
{
	struct identified asked = {};

	if (p->flags & RECORD_KERNEL)
		return;
	if (p->ended)
		asked = identity_remembered(a->identity, p->pid, p->start_ns);
	else
		asked = identity_of(a->identity, p->pid, p->start_ns, p->name);
	if (asked.exe)
		known->exe = asked.exe;
	if (asked.unit)
		known->unit = asked.unit;
	if (asked.unit && p->cgroup > 1)
		identity_learn_cgroup(a->identity, p->cgroup, asked.unit);
	if (!known->unit && p->cgroup > 1)
		known->unit = identity_cgroup_unit(a->identity, p->cgroup);
}

static int compare_pid(const void *key, const void *item)
{
	pid_t pid = *(const pid_t *)key, other = ((const struct process_diff *)item)->pid;

	return pid < other ? -1 : pid > other;
}

/* Whether the program started it: it and its ancestors, up to this process, have started since the first snapshot. What
 * this process had started before, and what that starts, is not the program's. */
static bool descends_from_program(const struct process_diffs *all, const struct process_diff *p)
{
	for (int depth = 0; p && p->started && depth < MAX_DESCENT; depth++) {
		if (p->ppid == getpid())
			return true;
		p = bsearch(&p->ppid, all->items, all->n, sizeof(*all->items), compare_pid);
	}
	return false;
}

/* A process that was forked and has not executed a program runs the program of its parent, which forked in this sample
 * and so is in `all` too. If the names are equal, the parent has not executed another program since. */
static const char *inherited_exe(const struct accounting *a, const struct process_diffs *all, size_t i)
{
	for (int depth = 0; depth < MAX_DESCENT; depth++) {
		const struct process_diff *p = &all->items[i], *parent;

		if (a->items[i].exe || !(p->flags & RECORD_FORKED))
			return a->items[i].exe;
		parent = bsearch(&p->ppid, all->items, all->n, sizeof(*all->items), compare_pid);
		if (!parent || strncmp(parent->name, p->name, sizeof(p->name)))
			return NULL;
		i = (size_t)(parent - all->items);
	}
	return NULL;
}

static bool is_programs(
	struct accounting *a, const struct snapshots *snapshots, const struct task_record *exit)
{
	if (!a->by_descent)
		return exit->flags & RECORD_PROGRAM;
	return exit->process_start_ns >= snapshots->before_ns && descends(a, (pid_t)exit->ppid, getpid());
}

/* What all tasks of the program waited, if each record tells. */
static void add_program_wait(struct accounting *a, const struct snapshots *snapshots, struct usages *usages)
{
	int64_t wait_ns = -1;

	for (size_t i = 0; i < snapshots->n_exits; i++) {
		const struct task_record *exit = &snapshots->exits[i];

		if (exit->kind != RECORD_KIND_TASK || !is_programs(a, snapshots, exit))
			continue;
		if (exit->wait_ns == RECORD_UNKNOWN)
			return;
		usages->shared_wait = wait_ns >= 0;
		wait_ns = (wait_ns < 0 ? 0 : wait_ns) + (int64_t)exit->wait_ns;
	}
	usages->wait_ns = wait_ns;
}

int accounting_after(struct accounting *a, struct usages *ret, struct error *err)
{
	const struct backend_operations *operations = a->backend->operations;
	struct usages usages = USAGES_NONE;
	struct process_diffs all;
	struct snapshots snapshots;
	int r = operations->after(a->backend, &snapshots, &usages, err);

	if (r < 0)
		return r;
	all = snapshot_diff_run(a->diff, &snapshots);
	if (a->by_descent) {
		keymap_reset(&a->parents, snapshots.n_exits);
		for (size_t i = 0; i < snapshots.n_exits; i++)
			if (snapshots.exits[i].pid == snapshots.exits[i].tgid)
				keymap_set(&a->parents, snapshots.exits[i].tgid, snapshots.exits[i].ppid);
	}
	/* Before new exits come, which may move those of the snapshots. */
	if (usages.lost == 0)
		add_program_wait(a, &snapshots, &usages);
	a->n = 0;
	for (size_t i = 0; i < all.n; i++) {
		struct usage *usage = array_add_reused(a->items, a->n, a->capacity);
		struct process_diff *p = &all.items[i];
		struct identified known = {};

		a->backend->operations->describe(a->backend, p, &known);
		identify(a, p, &known);
		*usage = (struct usage){
			.pid = p->pid,
			.exe = known.exe,
			.unit = known.unit,
			.pt_ns = p->pt_ns,
			.tick_ns = p->tick_ns,
			.kernel = p->flags & RECORD_KERNEL,
			.started = p->started,
			.ended = p->ended,
			.program = p->flags & RECORD_PROGRAM,
			.cpu = p->cpu,
			.same_cpu_ns = p->watched_ns < p->pt_ns ? p->watched_ns : p->pt_ns,
		};
		memcpy(usage->name, p->name, sizeof(usage->name));
		usage->name[sizeof(usage->name) - 1] = '\0';
		if (a->by_descent)
			usage->program = descends(a, p->ppid, getpid());
	}
	for (size_t i = 0; i < all.n; i++) {
		a->items[i].exe = inherited_exe(a, &all, i);
		a->items[i].escaped = !a->by_descent && !a->items[i].program &&
				      descends_from_program(&all, &all.items[i]);
	}
	for (size_t i = 0; i < all.n; i++)
		if (all.items[i].ended)
			identity_forget(a->identity, all.items[i].pid);
	usages.items = a->items;
	usages.n = a->n;
	usages.incomplete |= usages.lost > 0 || (operations->reports_all_exits && all.n_missing > 0);
	*ret = usages;
	return 0;
}
