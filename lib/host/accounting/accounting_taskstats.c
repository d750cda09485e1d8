/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The taskstats backend, as in the papers: queries every process's times, and collects the records
 * of those that end. A record is a process here, not a thread. Taskstats has no precise start
 * times, so records of processes that were listed before the first snapshot get 0, and others a
 * time after it. */
#include "lib/host/accounting/accounting_internal.h"

#include "lib/host/accounting/taskstats.h"

#include <sys/param.h>

static int compare_tgid(const void *key, const void *item)
{
	unsigned int pid = *(const unsigned int *)key,
		     other = ((const struct task_record *)item)->tgid;

	return pid < other ? -1 : pid > other;
}

/* A process whose last thread was not its first has the name of its first. */
static void name_by_first_threads(const struct task_records *ends)
{
	struct task_record *exits = ends->items;
	struct keymap leaders = {};

	for (size_t i = 0; i < ends->n; i++)
		if (!exits[i].kind)
			keymap_set(&leaders, exits[i].tgid, (uint32_t)i);
	for (size_t i = 0; i < ends->n; i++) {
		const uint32_t *leader = keymap_find(&leaders, exits[i].tgid);

		if (exits[i].kind && leader && exits[i].pid != exits[i].tgid)
			memcpy(exits[i].comm, exits[*leader].comm, sizeof(exits[i].comm));
	}
	keymap_free(&leaders);
}

/* Processes that started in the sample get times after before_ns, all different, so that those with
 * the same pid stay apart. */
void taskstats_match(struct snapshots *s, const struct pid_list *listed, size_t n_early,
	bool (*is_ending)(unsigned int pid), struct keymap *last_exit)
{
	name_by_first_threads(&s->exits);
	keymap_reset(last_exit, s->exits.n);
	for (size_t i = 0; i < s->exits.n; i++) {
		struct task_record *exit = &s->exits.items[i];
		const struct task_record *base;

		exit->key = UINT64_MAX - i; /* which no other record has: it is not counted */
		if (!exit->kind)
			continue;
		exit->pid = exit->tgid;
		if (keymap_find(last_exit, exit->tgid) ||
			!pid_list_has(listed, (pid_t)exit->tgid)) {
			exit->key = exit->tgid;
			exit->start_ns = exit->process_start_ns = s->before_ns + i;
		} else if (s->before.n > 0) {
			/* The kernel reports 0 for a zombie without threads, whose record may have
			 * come after the collection began. */
			base = bsearch(&exit->tgid, s->before.items, s->before.n,
				sizeof(*s->before.items), compare_tgid);
			if (base && (base->run_ns > 0 || i >= n_early))
				exit->key = exit->tgid;
		}
		keymap_set(last_exit, exit->tgid, (uint32_t)i);
	}
	for (size_t i = 0; i < s->after.n; i++) {
		struct task_record *task = &s->after.items[i];
		const uint32_t *at = keymap_find(last_exit, task->tgid);
		const struct task_record *exit = at ? &s->exits.items[*at] : NULL;

		if (exit && (task->run_ns == 0 || task->run_ns == exit->run_ns ||
				    is_ending(task->tgid))) {
			task->flags |= RECORD_DEAD;
			task->key = exit->key;
			task->start_ns = task->process_start_ns = exit->start_ns;
		} else if (exit || !pid_list_has(listed, (pid_t)task->tgid)) {
			if (exit) /* another process with the same pid */
				task->key |= UINT64_C(1) << 32;
			task->start_ns = task->process_start_ns = s->before_ns + s->exits.n;
		}
	}
}

enum {
	/* The buffers hold the exits of seconds; waking up for each would disturb the program. */
	POLL_MS = 1000,
	KTHREADD = 2,
	PF_EXITING = 4,
};

/* The file that a process that ended had executed. */
struct executed_file {
	uint64_t device, inode;
};

struct taskstats_accounting {
	struct accounting base;
	struct taskstats_link *link;
	int proc_fd;
	struct pid_list listed;      /* when the first snapshot began */
	struct pid_list pids;        /* of the snapshot being taken */
	struct executed_file *files; /* of the exits */
	size_t n_files, files_capacity;
	size_t n_early;          /* exits during the first snapshot */
	struct keymap last_exit; /* pid -> index into exits */
	bool collecting, incomplete;
	uint64_t lost_before;
};

static int take_snapshot(struct taskstats_accounting *t, const struct pid_list *pids,
	struct task_records *records, struct error *err)
{
	struct taskstats_fields answers[TASKSTATS_BATCH];

	records->n = 0;
	for (size_t from = 0; from < pids->n; from += TASKSTATS_BATCH) {
		size_t n = MIN(pids->n - from, (size_t)TASKSTATS_BATCH);
		int r = taskstats_link_ask(
			t->link, TASKSTATS_PROCESS, &pids->items[from], n, answers, err);

		if (r < 0)
			return r;
		t->incomplete |= r > 0;
		for (size_t i = 0; i < n; i++) {
			unsigned int tgid = (unsigned int)pids->items[from + i];

			if (answers[i].version == 0)
				continue;
			*array_add_reused(records->items, records->n,
				records->capacity) = (struct task_record){
				.kind = RECORD_KIND_TASK,
				.pid = tgid,
				.tgid = tgid,
				.key = tgid,
				.cpu = RECORD_NO_CPU,
				.run_ns = answers[i].run_ns,
				.tick_ns = answers[i].tick_ns,
			};
		}
	}
	return 0;
}

static unsigned int taskstats_flags(const struct taskstats_fields *fields, unsigned int tgid)
{
	unsigned int flags = fields->flags & TASKSTATS_FORKED ? RECORD_FORKED : 0;

	return tgid == KTHREADD || fields->ppid == KTHREADD ? flags | RECORD_KERNEL : flags;
}

/* The end of a process, with its totals; or of its first thread alone, whose name the process
 * has. */
static void take_end(struct taskstats_accounting *t, const struct taskstats_message *end)
{
	const struct taskstats_fields *thread = &end->thread;
	const struct taskstats_fields *total = end->has_process ? &end->process : thread;
	/* of several threads it is not known */
	uint64_t wait_ns = end->has_process ? RECORD_UNKNOWN : thread->wait_ns;
	bool is_leader = thread->pid == thread->tgid,
	     is_last = end->has_process || thread->flags & TASKSTATS_LAST;
	struct task_records *exits = &t->base.snapshots.exits;
	struct task_record *record;

	if (!is_last && !is_leader)
		return;
	if (!t->collecting) {
		identity_forget(t->base.identity, (pid_t)thread->tgid);
		return;
	}

	record = array_add_reused(exits->items, exits->n, exits->capacity);
	*record = (struct task_record){
		.kind = is_last ? RECORD_KIND_TASK : 0,
		.flags = RECORD_DEAD | taskstats_flags(thread, thread->tgid),
		.pid = thread->pid,
		.tgid = thread->tgid,
		.ppid = thread->ppid,
		.cpu = RECORD_NO_CPU,
		.run_ns = total->run_ns,
		.tick_ns = total->tick_ns,
		.wait_ns = wait_ns,
	};
	memcpy(record->comm, thread->comm, sizeof(record->comm));
	*array_add_reused(t->files, t->n_files, t->files_capacity) = (struct executed_file){
		.device = thread->exe_device, .inode = thread->exe_inode};
}

static int taskstats_drain(struct accounting *a, struct error *err)
{
	struct taskstats_accounting *t = (struct taskstats_accounting *)a;
	struct taskstats_message end;
	int r;

	while ((r = taskstats_link_next_end(t->link, &end, err)) > 0)
		take_end(t, &end);
	return r;
}

/* First lists the processes, then drops the exits so far, then queries: a process that is not
 * listed and ends later has started in the sample. */
static int taskstats_before(struct accounting *a, uint64_t cgroup_id, int cpu, struct error *err)
{
	struct taskstats_accounting *t = (struct taskstats_accounting *)a;
	struct snapshots *s = &a->snapshots;
	int r = pid_list_read(&t->listed, t->proc_fd);

	if (r < 0)
		return error_os(err, r, "taskstats: cannot list the processes");
	t->collecting = false;
	t->incomplete = false;
	r = taskstats_drain(a, err);
	if (r < 0)
		return r;
	t->collecting = true;
	s->exits.n = t->n_files = 0;
	t->lost_before = taskstats_link_lost(t->link);
	s->before_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	s->observer = (unsigned int)getpid();
	r = take_snapshot(t, &t->listed, &s->before, err);
	if (r == 0)
		r = taskstats_drain(a, err);
	t->n_early = s->exits.n;
	return r;
}

/* Whether the process is ending, between its record and its release. */
static bool is_ending(unsigned int pid)
{
	_cleanup_(freep) char *stat = path_text(AT_FDCWD, "/proc/%u/stat", pid);
	const char *at = stat ? strrchr(stat, ')') : NULL;
	unsigned int flags = 0;
	char state;

	return !at || sscanf(at, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 ||
	       flags & PF_EXITING;
}

static int taskstats_after(struct accounting *a, struct process_cpus *usages, struct error *err)
{
	struct taskstats_accounting *t = (struct taskstats_accounting *)a;
	struct snapshots *s = &a->snapshots;
	int r = pid_list_read(&t->pids, t->proc_fd);

	if (r < 0)
		return error_os(err, r, "taskstats: cannot list the processes");
	r = take_snapshot(t, &t->pids, &s->after, err);
	if (r == 0)
		r = taskstats_drain(a, err);
	if (r < 0)
		return r;
	taskstats_match(s, &t->listed, t->n_early, is_ending, &t->last_exit);
	usages->lost = taskstats_link_lost(t->link) - t->lost_before;
	usages->incomplete = t->incomplete;
	return 0;
}

static pid_t taskstats_parent(struct accounting *a, pid_t pid)
{
	struct taskstats_fields fields;
	int r = taskstats_link_ask_one(
		((struct taskstats_accounting *)a)->link, pid, &fields, NULL);

	return r == 0 ? (pid_t)fields.ppid : 0;
}

/* The records of a snapshot have only times. */
static void taskstats_describe(struct accounting *a, struct process_cpu *p)
{
	struct taskstats_accounting *t = (struct taskstats_accounting *)a;
	const struct task_records *exits = &a->snapshots.exits;
	const uint32_t *at = keymap_find(&t->last_exit, (uint64_t)p->pid);
	const struct executed_file *file = at ? &t->files[*at] : NULL;
	struct taskstats_fields fields;

	if (p->ended) {
		if (file && file->inode)
			p->exe = identity_program_of_file(
				a->identity, p->name, file->device, file->inode);
		return;
	}
	if (taskstats_link_ask_one(t->link, p->pid, &fields, NULL) == 0) {
		memcpy(p->name, fields.comm, sizeof(p->name));
		p->ppid = (pid_t)fields.ppid;
		p->flags |= taskstats_flags(&fields, (unsigned int)p->pid);
		return;
	}
	/* It was alive in the second snapshot and has ended since: its record has come, or comes
	 * now. */
	taskstats_drain(a, NULL);
	for (size_t i = exits->n; i-- > 0;) {
		const struct task_record *exit = &exits->items[i];

		if (exit->tgid != (unsigned int)p->pid)
			continue;
		memcpy(p->name, exit->comm, sizeof(p->name));
		p->ppid = (pid_t)exit->ppid;
		p->flags |= exit->flags;
		return;
	}
	strcpy(p->name, "unknown");
}

static void taskstats_free(struct accounting *a)
{
	struct taskstats_accounting *t = (struct taskstats_accounting *)a;

	taskstats_link_free(t->link);
	keymap_free(&t->last_exit);
	pid_list_free(&t->listed);
	pid_list_free(&t->pids);
	free(a->snapshots.before.items);
	free(a->snapshots.after.items);
	free(a->snapshots.exits.items);
	free(t->files);
	closep(&t->proc_fd);
}

static const struct accounting_operations taskstats_operations = {
	.free = taskstats_free,
	.before = taskstats_before,
	.drain = taskstats_drain,
	.after = taskstats_after,
	.parent = taskstats_parent,
	.describe = taskstats_describe,
};

int accounting_taskstats_new(
	struct accounting **ret, const struct accounting_options *options, struct error *err)
{
	struct taskstats_accounting *t = xcalloc(1, sizeof(*t));
	_cleanup_(accounting_freep) struct accounting *a = &t->base;
	struct process_cpus usages;
	uint64_t run_ns = 0;
	int r;

	*a = (struct accounting){
		.operations = &taskstats_operations,
		.state = {ACCOUNTING_TASKSTATS, .poll_fd = -1, .poll_ms = POLL_MS},
		.identity = identity_new(),
	};
	t->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->proc_fd < 0)
		return error_os(err, -errno, "cannot open /proc");

	r = taskstats_link_new(&t->link, err);
	if (r == 0)
		r = taskstats_link_watch_ends(t->link, options->receive_bytes, err);
	if (r == 0)
		r = taskstats_before(a, 0, -1, err);
	if (r == 0)
		r = taskstats_after(a, &usages, err);
	if (r < 0)
		return r;

	/* without that option of the kernel, not even this process has a run time */
	for (size_t i = 0; i < a->snapshots.after.n; i++)
		if (a->snapshots.after.items[i].tgid == a->snapshots.observer)
			run_ns = a->snapshots.after.items[i].run_ns;
	if (run_ns == 0)
		return error_say(err, -ENOTSUP,
			"the kernel has no CONFIG_TASK_DELAY_ACCT, so there are no run times");
	*ret = TAKE(a);
	return 0;
}
