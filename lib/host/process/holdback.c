/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays and kills by control groups: see holdback.h. */
#include "lib/host/process/holdback.h"

#include "lib/host/process/cgroup.h"

#include <poll.h>

/* What is counted of a group. */
enum count {
	COUNT_THROTTLED_NS,
	COUNT_HIGH,     /* times that memory.high was exceeded */
	COUNT_STALL_NS, /* some of its processes waited for memory */
	COUNT_FROZEN_NS,
	COUNT_FULL, /* times that the memory limit was reached */
	COUNT_OOM_KILLS,
	N_COUNTS
};

/* Where the kernel writes it: cgroup v2, then v1. A file that counts several things is open several
 * times. */
static const struct count_row {
	const char *file, *name; /* name "": the file is one number */
	int64_t scale;
} rows[2][N_COUNTS] = {
	{
		[COUNT_THROTTLED_NS] = {"cpu.stat", "throttled_usec ", NS_PER_US},
		[COUNT_HIGH] = {"memory.events", "\nhigh ", 1},
		[COUNT_STALL_NS] = {"memory.pressure", "total=", NS_PER_US},
		/* from Linux 6.18 on */
		[COUNT_FROZEN_NS] = {"cgroup.stat.local", "frozen_usec ", NS_PER_US},
		[COUNT_FULL] = {"memory.events", "\noom ", 1},
		[COUNT_OOM_KILLS] = {"memory.events", "\noom_kill ", 1},
	},
	{
		[COUNT_THROTTLED_NS] = {"cpu.stat", "throttled_time ", 1},
		[COUNT_FULL] = {"memory.failcnt", "", 1},
		[COUNT_OOM_KILLS] = {"memory.oom_control", "\noom_kill ", 1},
	},
};

struct held_group {
	char *name, *directory;
	bool v2;
	int fds[N_COUNTS]; /* -1: it has no such file */
	int events_fd;     /* cgroup.events, which says by poll(2) that it was frozen or thawed */
	int64_t before[N_COUNTS];
};

struct holdback {
	struct held_group *groups; /* of each hierarchy, this process's own first */
	size_t n;
	int root_fd, vmstat_fd;
	int64_t kills_before; /* of the whole machine */
};

static const char *const files[N_HOLDS] = {
	[HOLD_QUOTA] = "the quota", [HOLD_MEMORY] = "memory.high", [HOLD_FREEZER] = "the freezer"};

/* The number after a name; -1: there is none. */
static int64_t read_count(int fd, const struct count_row *row)
{
	char text[1024];
	const char *at;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (!row->name) /* nothing is counted */
		return -1;
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, row->name);
	return n > 0 && at ? strtoll(at + strlen(row->name), NULL, 10) * row->scale : -1;
}

static int64_t count_now(const struct held_group *group, enum count which)
{
	return read_count(group->fds[which], &rows[!group->v2][which]);
}

/* By how much it has grown; 0: not known. */
static int64_t count_since(const struct held_group *group, enum count which)
{
	int64_t now = group->before[which] < 0 ? -1 : count_now(group, which);

	return now > group->before[which] ? now - group->before[which] : 0;
}

static const struct count_row machine_kills = {"vmstat", "\noom_kill ", 1};

/* The groups that a controller's files are in: cgroup v2 has those of all. */
static void open_groups(
	struct holdback *h, const char *controller, enum count first, enum count last)
{
	_cleanup_(cgroups_above_clear) struct cgroups_above above = {};

	if (cgroups_above_find(&above, h->root_fd, controller) < 0)
		return;
	for (size_t i = 0; i < above.n; i++) {
		struct cgroup_above *a = &above.items[i];
		struct held_group g = {.v2 = a->v2, .events_fd = -1};
		bool any = false;

		for (enum count which = 0; which < N_COUNTS; which++) {
			const struct count_row *row = &rows[!a->v2][which];
			bool wanted = row->file && which >= first && which <= last;

			g.fds[which] = wanted ? path_open(h->root_fd, O_RDONLY, "%s/%s",
							a->directory, row->file)
					      : -1;
			/* such as cpu.stat of a group without the controller */
			if (count_now(&g, which) < 0)
				closep(&g.fds[which]);
			any |= g.fds[which] >= 0;
		}
		if (a->v2 && last > COUNT_FROZEN_NS)
			g.events_fd = path_open(
				h->root_fd, O_RDONLY, "%s/cgroup.events", a->directory);
		if (!any && g.events_fd < 0)
			continue;
		g.name = TAKE(a->name);
		g.directory = TAKE(a->directory);
		*array_add(h->groups, h->n) = g;
	}
}

struct holdback *holdback_open(int root_fd)
{
	struct holdback *h = xcalloc(1, sizeof(*h));

	h->root_fd = root_fd;
	h->vmstat_fd = path_open(root_fd, O_RDONLY, "/proc/vmstat");
	open_groups(h, "cpu", COUNT_THROTTLED_NS, COUNT_THROTTLED_NS);
	open_groups(h, "memory", COUNT_HIGH, COUNT_OOM_KILLS);
	return h;
}

void holdback_free(struct holdback *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->n; i++) {
		struct held_group *g = &h->groups[i];

		for (enum count which = 0; which < N_COUNTS; which++)
			closep(&g->fds[which]);
		closep(&g->events_fd);
		free(g->name);
		free(g->directory);
	}
	free(h->groups);
	closep(&h->vmstat_fd);
	free(h);
}

void holdback_begin(struct holdback *h)
{
	char text[128];

	h->kills_before = read_count(h->vmstat_fd, &machine_kills);
	for (size_t i = 0; i < h->n; i++) {
		struct held_group *g = &h->groups[i];

		for (enum count which = 0; which < N_COUNTS; which++)
			g->before[which] = g->fds[which] < 0 ? -1 : count_now(g, which);
		if (g->events_fd >= 0 && pread(g->events_fd, text, sizeof(text), 0) < 0)
			closep(&g->events_fd);
	}
}

/* Since it was read last. */
static bool was_frozen(const struct held_group *group)
{
	struct pollfd events = {.fd = group->events_fd, .events = POLLPRI};

	return group->events_fd >= 0 && poll(&events, 1, 0) > 0 && events.revents & POLLPRI;
}

struct held_back holdback_end(const struct holdback *h)
{
	struct held_back held = {};
	int64_t most_ns = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct held_group *g = &h->groups[i];
		int64_t throttled_ns = count_since(g, COUNT_THROTTLED_NS);
		int64_t frozen_ns = count_since(g, COUNT_FROZEN_NS);

		held.by[HOLD_QUOTA].ns += throttled_ns;
		if (throttled_ns > most_ns) {
			most_ns = throttled_ns;
			held.by[HOLD_QUOTA].of = g->name;
		}
		/* What happens in a group is counted in all above it, too: the first one is
		 * meant. */
		if (!held.by[HOLD_MEMORY].of && count_since(g, COUNT_HIGH) > 0) {
			held.by[HOLD_MEMORY].of = g->name;
			held.by[HOLD_MEMORY].ns = count_since(g, COUNT_STALL_NS);
		}
		/* All groups below one that is frozen are frozen: the last one is meant. */
		if (frozen_ns > 0 || was_frozen(g))
			held.by[HOLD_FREEZER].of = g->name;
		if (frozen_ns > held.by[HOLD_FREEZER].ns)
			held.by[HOLD_FREEZER].ns = frozen_ns;
	}
	return held;
}

/* "/docker/4f2a1b", "this container" */
static const char *group_text(const char *name)
{
	if (!strcmp(name, HOLD_NOT_VISIBLE))
		return "a control group that is not visible here";
	return strcmp(name, "/") ? name : "this container";
}

const char *held_back_text(const struct held_back *held)
{
	const char *text = NULL;

	for (enum hold i = 0; i < N_HOLDS; i++)
		if (held->by[i].of)
			text = text_brief("%s%s%s of %s", text ?: "", text ? " and " : "", files[i],
				group_text(held->by[i].of));
	return text;
}

/* The limit that killed in a group: of that one, or of one above it which was full. */
static const char *limit_text(const struct holdback *h, const struct held_group *killer)
{
	const struct held_group *full = NULL;
	int64_t limit;

	for (size_t i = 0; i < h->n && !full; i++)
		if (count_since(&h->groups[i], COUNT_FULL) > 0)
			full = &h->groups[i];
	killer = full ?: killer;
	limit = path_int(h->root_fd, "%s/%s", killer->directory,
		killer->v2 ? "memory.max" : "memory.limit_in_bytes");
	return text_brief("the memory limit of %s%s", group_text(killer->name),
		limit > 0 ? text_brief(" (%.4g MB)", (double)limit / 1e6) : "");
}

const char *holdback_killer(const struct holdback *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (count_since(&h->groups[i], COUNT_OOM_KILLS) > 0)
			return limit_text(h, &h->groups[i]);
	if (h->kills_before < 0 || read_count(h->vmstat_fd, &machine_kills) <= h->kills_before)
		return NULL;
	return "the kernel, which had run out of memory,";
}

const char *holdback_killed_here(const struct holdback *h)
{
	size_t i = 0;

	while (i < h->n && h->groups[i].fds[COUNT_OOM_KILLS] < 0)
		i++;
	if (i == h->n || count_since(&h->groups[i], COUNT_OOM_KILLS) <= 0)
		return NULL;
	return limit_text(h, &h->groups[i]);
}

char *holdback_idle(int root_fd)
{
	_cleanup_(cgroups_above_clear) struct cgroups_above above = {};

	if (cgroups_above_find(&above, root_fd, "cpu") < 0)
		return NULL;
	for (size_t i = 0; i < above.n; i++)
		if (path_int(root_fd, "%s/cpu.idle", above.items[i].directory) == 1)
			return xstrdup(group_text(above.items[i].name));
	return NULL;
}
