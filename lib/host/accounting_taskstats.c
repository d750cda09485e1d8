/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The taskstats backend, the papers' way: asks for every process's times, and collects the records of those
 * that end. A record is a process here, not a thread. The kernel gives no start times worth the name, so
 * records get ones that say what matters: 0 for what the before image listed, later than it for all else. */
#include "lib/host/accounting_backend.h"

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/host/keymap.h"
#include "lib/host/taskstats_link.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum {
	/* Buffers hold seconds of exits; waking up for each would disturb what is measured. */
	POLL_MS = 1000,
	KTHREADD = 2,
	PF_EXITING = 4,
};

struct pids {
	pid_t *items;
	size_t n, room;
};

struct records {
	struct task_record *items;
	size_t n, room;
};

/* The file that a process that ended had executed. */
struct program_file {
	uint64_t device, inode;
};

struct taskstats_backend {
	struct backend base;
	struct identity *identity;
	struct taskstats_link *link;
	int proc_fd;
	struct pids listed; /* when the before image began */
	struct pids pids;   /* of the image being taken */
	struct records before, after, exits;
	struct program_file *files; /* of the exits */
	size_t files_room;
	size_t n_early;          /* exits that came while the before image was taken */
	struct keymap last_exit; /* pid -> index into exits */
	struct keymap leaders;   /* pid of a process whose first thread ended before others -> likewise */
	bool collecting, incomplete;
	uint64_t before_ns, lost_before;
};

static struct taskstats_backend *of(struct backend *backend)
{
	return (struct taskstats_backend *)backend;
}

static int reserve(void *items, size_t item_size, size_t *room, size_t n)
{
	size_t wanted = *room ?: 256;
	void *larger;

	while (wanted < n)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	larger = realloc(*(void **)items, wanted * item_size);
	if (!larger)
		return -ENOMEM;
	*(void **)items = larger;
	*room = wanted;
	return 0;
}

static int add_record(struct records *records, const struct task_record *record)
{
	int r = reserve(&records->items, sizeof(*records->items), &records->room, records->n + 1);

	if (r == 0)
		records->items[records->n++] = *record;
	return r;
}

static int add_pid(struct pids *pids, const char *name)
{
	int r;

	if (name[0] < '1' || name[0] > '9')
		return 0;
	r = reserve(&pids->items, sizeof(*pids->items), &pids->room, pids->n + 1);
	if (r == 0)
		pids->items[pids->n++] = atoi(name);
	return r;
}

/* In ascending order, as /proc has them. */
static int list_pids(struct taskstats_backend *b, struct pids *pids)
{
	char buffer[32768] __attribute__((aligned(8)));
	ssize_t n = 0;

	pids->n = 0;
	if (lseek(b->proc_fd, 0, SEEK_SET) < 0)
		return -errno;
	while ((n = getdents64(b->proc_fd, buffer, sizeof(buffer))) > 0)
		for (char *at = buffer; at < buffer + n; at += ((struct dirent64 *)at)->d_reclen) {
			int r = add_pid(pids, ((struct dirent64 *)at)->d_name);

			if (r < 0)
				return r;
		}
	return n < 0 ? -errno : 0;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_listed(const struct taskstats_backend *b, unsigned int tgid)
{
	pid_t pid = (pid_t)tgid;

	return bsearch(&pid, b->listed.items, b->listed.n, sizeof(pid), compare_pids);
}

struct image {
	struct records *records;
	const pid_t *pids;
};

static int add_to_image(void *context, size_t i, const struct taskstats_fields *fields)
{
	struct image *image = context;
	unsigned int tgid = (unsigned int)image->pids[i];

	return add_record(image->records, &(struct task_record){
						  .kind = RECORD_KIND_TASK,
						  .pid = tgid,
						  .tgid = tgid,
						  .key = tgid,
						  .run_ns = fields->run_ns,
						  .tick_ns = fields->tick_ns,
					  });
}

static int take_image(
	struct taskstats_backend *b, const struct pids *pids, struct records *records, struct error *err)
{
	struct image image = {.records = records, .pids = pids->items};
	size_t missed = 0;
	int r;

	records->n = 0;
	r = taskstats_link_ask(
		b->link, TASKSTATS_PROCESS, pids->items, pids->n, add_to_image, &image, &missed, err);
	b->incomplete = b->incomplete || missed > 0;
	return r;
}

static unsigned int flags_of(const struct taskstats_fields *fields, unsigned int tgid)
{
	unsigned int flags = 0;

	if (fields->flags & TASKSTATS_FORKED)
		flags |= RECORD_FORKED;
	if (tgid == KTHREADD || fields->ppid == KTHREADD)
		flags |= RECORD_KERNEL;
	return flags;
}

/* The end of a process, with its totals; or of its first thread alone, whose name the process bears. */
static int on_end(void *context, const struct taskstats_end *end)
{
	const struct taskstats_fields *thread = &end->thread;
	struct taskstats_backend *b = context;
	bool is_leader = thread->pid == thread->tgid,
	     is_last = end->has_process || thread->flags & TASKSTATS_LAST;
	struct task_record record = {
		.kind = is_last ? RECORD_KIND_TASK : 0,
		.flags = RECORD_DEAD | flags_of(thread, thread->tgid),
		.pid = thread->pid,
		.tgid = thread->tgid,
		.ppid = thread->ppid,
		.run_ns = end->has_process ? end->process_run_ns : thread->run_ns,
		.tick_ns = end->has_process ? end->process_tick_ns : thread->tick_ns,
	};
	int r;

	if (!is_last && !is_leader)
		return 0;
	if (!b->collecting) {
		identity_forget(b->identity, (pid_t)thread->tgid);
		return 0;
	}
	memcpy(record.comm, thread->comm, sizeof(record.comm));
	r = reserve(&b->files, sizeof(*b->files), &b->files_room, b->exits.n + 1);
	if (r < 0)
		return r;
	b->files[b->exits.n] = (struct program_file){
		.device = thread->exe_device, .inode = thread->exe_inode};
	return add_record(&b->exits, &record);
}

static int taskstats_drain(struct backend *backend, struct error *err)
{
	return taskstats_link_receive(of(backend)->link, on_end, backend, err);
}

/* The list first, then forgetting what ended before, then the questions: whoever is not on the list and ends
 * after that has started in the sample. */
static int taskstats_before(struct backend *backend, uint64_t cgroup_id, struct error *err)
{
	struct taskstats_backend *b = of(backend);
	int r = list_pids(b, &b->listed);

	if (r < 0)
		return error_os(err, r, "taskstats: cannot list the processes");
	b->collecting = false;
	b->incomplete = false;
	r = taskstats_drain(backend, err);
	if (r < 0)
		return r;
	b->collecting = true;
	b->exits.n = 0;
	b->lost_before = taskstats_link_lost(b->link);
	b->before_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	r = take_image(b, &b->listed, &b->before, err);
	if (r == 0)
		r = taskstats_drain(backend, err);
	b->n_early = b->exits.n;
	return r;
}

static int compare_record(const void *key, const void *item)
{
	unsigned int pid = *(const unsigned int *)key, other = ((const struct task_record *)item)->pid;

	return pid < other ? -1 : pid > other;
}

static const struct task_record *find_record(const struct records *records, unsigned int pid)
{
	return bsearch(&pid, records->items, records->n, sizeof(*records->items), compare_record);
}

/* Whether the before image has what this process, which was listed, had used. Of a zombie without threads the
 * kernel tells 0, and its record may come after we began to collect. */
static bool has_base(const struct taskstats_backend *b, size_t i)
{
	const struct task_record *base = find_record(&b->before, b->exits.items[i].tgid);

	return base && (base->run_ns > 0 || i >= b->n_early);
}

/* Times after b->before_ns, all different, so that executions with the same pid stay apart. */
static uint64_t start_in_sample(const struct taskstats_backend *b, size_t i)
{
	return b->before_ns + i;
}

static void date_exit(struct taskstats_backend *b, size_t i)
{
	struct task_record *exit = &b->exits.items[i];
	bool is_first = !keymap_find(&b->last_exit, exit->tgid);

	exit->pid = exit->tgid;
	exit->key = exit->tgid;
	if (!is_first || !is_listed(b, exit->tgid))
		exit->start_ns = exit->process_start_ns = start_in_sample(b, i);
	else if (!has_base(b, i))
		exit->key = UINT64_MAX - i; /* nobody's: what it took in the sample cannot be known */
}

static int date_exits(struct taskstats_backend *b)
{
	int r = keymap_reset(&b->last_exit, b->exits.n);

	if (r == 0)
		r = keymap_reset(&b->leaders, 0);
	for (size_t i = 0; r == 0 && i < b->exits.n; i++)
		if (!b->exits.items[i].kind) /* not the end of a process */
			r = keymap_set(&b->leaders, b->exits.items[i].tgid, (uint32_t)i);
	for (size_t i = 0; r == 0 && i < b->exits.n; i++) {
		struct task_record *exit = &b->exits.items[i];
		const uint32_t *leader = keymap_find(&b->leaders, exit->tgid);

		if (!exit->kind) {
			exit->key = UINT64_MAX - i;
			continue;
		}
		if (leader && exit->pid != exit->tgid)
			memcpy(exit->comm, b->exits.items[*leader].comm, sizeof(exit->comm));
		date_exit(b, i);
		r = keymap_set(&b->last_exit, exit->tgid, (uint32_t)i);
	}
	return r;
}

/* Whether the process is on its way out, between its record and its release. */
static bool is_ending(unsigned int pid)
{
	_cleanup_(freep) char *stat = NULL;
	unsigned int flags = 0;
	char path[64], state;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (text_read_file(AT_FDCWD, path, &stat) < 0)
		return true;
	at = strrchr(stat, ')');
	return !at || sscanf(at, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 || flags & PF_EXITING;
}

static void date_after(struct taskstats_backend *b, struct task_record *task)
{
	const uint32_t *at = keymap_find(&b->last_exit, task->tgid);
	const struct task_record *exit = at ? &b->exits.items[*at] : NULL;

	if (exit && (task->run_ns == 0 || task->run_ns == exit->run_ns || is_ending(task->tgid))) {
		task->flags |= RECORD_DEAD;
		task->key = exit->key;
		task->start_ns = task->process_start_ns = exit->start_ns;
	} else if (exit || !is_listed(b, task->tgid)) {
		if (exit) /* another process with the same pid */
			task->key |= UINT64_C(1) << 32;
		task->start_ns = task->process_start_ns = start_in_sample(b, b->exits.n);
	}
}

static int taskstats_after(
	struct backend *backend, struct images *ret, struct usages *usages, struct error *err)
{
	struct taskstats_backend *b = of(backend);
	int r = list_pids(b, &b->pids);

	if (r < 0)
		return error_os(err, r, "taskstats: cannot list the processes");
	r = take_image(b, &b->pids, &b->after, err);
	if (r == 0)
		r = taskstats_drain(backend, err);
	if (r < 0)
		return r;
	r = date_exits(b);
	if (r < 0)
		return error_os(err, r, "taskstats: cannot compare images of processes");
	for (size_t i = 0; i < b->after.n; i++)
		date_after(b, &b->after.items[i]);
	usages->lost = taskstats_link_lost(b->link) - b->lost_before;
	usages->incomplete = b->incomplete;
	*ret = (struct images){
		.before = b->before.items,
		.n_before = b->before.n,
		.after = b->after.items,
		.n_after = b->after.n,
		.exits = b->exits.items,
		.n_exits = b->exits.n,
		.before_ns = b->before_ns,
		.observer = (unsigned int)getpid(),
	};
	return 0;
}

static int take_fields(void *context, size_t i, const struct taskstats_fields *fields)
{
	*(struct taskstats_fields *)context = *fields;
	return 0;
}

/* False if the process is gone. */
static bool ask_one(struct taskstats_backend *b, pid_t pid, struct taskstats_fields *ret)
{
	struct taskstats_fields fields = {};
	struct error ignored;
	size_t missed;

	if (taskstats_link_ask(b->link, TASKSTATS_THREAD, &pid, 1, take_fields, &fields, &missed, &ignored) <
			0 ||
		!fields.pid)
		return false;
	*ret = fields;
	return true;
}

static pid_t taskstats_parent(struct backend *backend, pid_t pid)
{
	struct taskstats_fields fields;

	return ask_one(of(backend), pid, &fields) ? (pid_t)fields.ppid : 0;
}

/* A process that was alive in the after image and is gone now: its record has come, or comes now. */
static void describe_by_exit(struct taskstats_backend *b, struct execution *e)
{
	struct error ignored;

	taskstats_drain(&b->base, &ignored);
	for (size_t i = b->exits.n; i-- > 0;) {
		const struct task_record *exit = &b->exits.items[i];

		if (exit->tgid != (unsigned int)e->pid)
			continue;
		memcpy(e->name, exit->comm, sizeof(e->name));
		e->ppid = (pid_t)exit->ppid;
		e->flags |= exit->flags;
		return;
	}
	strcpy(e->name, "unknown");
}

/* The records of an image have nothing but times. */
static void taskstats_describe(struct backend *backend, struct execution *e, struct identified *ret)
{
	struct taskstats_backend *b = of(backend);
	struct taskstats_fields fields;

	if (e->ended) {
		const uint32_t *at = keymap_find(&b->last_exit, (uint64_t)e->pid);

		if (at && b->files[*at].inode)
			ret->exe = identity_program_of_file(
				b->identity, e->name, b->files[*at].device, b->files[*at].inode);
		return;
	}
	if (!ask_one(b, e->pid, &fields)) {
		describe_by_exit(b, e);
		return;
	}
	memcpy(e->name, fields.comm, sizeof(e->name));
	e->ppid = (pid_t)fields.ppid;
	e->flags |= flags_of(&fields, (unsigned int)e->pid);
}

static int taskstats_poll_fd(const struct backend *backend)
{
	return -1;
}

static void taskstats_free(struct backend *backend)
{
	struct taskstats_backend *b = of(backend);

	taskstats_link_free(b->link);
	keymap_free(&b->last_exit);
	keymap_free(&b->leaders);
	free(b->listed.items);
	free(b->pids.items);
	free(b->before.items);
	free(b->after.items);
	free(b->exits.items);
	free(b->files);
	closep(&b->proc_fd);
	free(b);
}

static const struct backend_operations operations = {
	.name = "taskstats",
	.poll_ms = POLL_MS,
	.free = taskstats_free,
	.poll_fd = taskstats_poll_fd,
	.before = taskstats_before,
	.drain = taskstats_drain,
	.after = taskstats_after,
	.parent = taskstats_parent,
	.describe = taskstats_describe,
};

static void taskstats_freep(struct taskstats_backend **b)
{
	if (*b)
		taskstats_free(&(*b)->base);
}

int accounting_taskstats_new(struct backend **ret, struct identity *identity,
	const struct accounting_options *options, struct error *err)
{
	_cleanup_(taskstats_freep) struct taskstats_backend *b = calloc(1, sizeof(*b));
	struct images images;
	struct usages usages;
	const struct task_record *self;
	int r;

	if (!b)
		return error_os(err, -ENOMEM, "cannot account for processes");
	b->base.operations = &operations;
	b->identity = identity;
	b->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->proc_fd < 0)
		return error_os(err, -errno, "cannot open /proc");
	r = taskstats_link_new(&b->link, options->receive_bytes, err);
	if (r == 0)
		r = taskstats_before(&b->base, 0, err);
	if (r == 0)
		r = taskstats_after(&b->base, &images, &usages, err);
	if (r < 0)
		return r;
	self = find_record(&b->after, (unsigned int)getpid());
	if (!self || self->run_ns == 0)
		return error_say(err, -ENOTSUP,
			"the kernel is built without CONFIG_TASK_DELAY_ACCT, so taskstats has no run times");
	*ret = &TAKE(b)->base;
	return 0;
}
