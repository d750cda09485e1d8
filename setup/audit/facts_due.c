/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What starts soon and is no timer of the system: see facts_due.h. */
#include "setup/audit/facts_due.h"

#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/system/cron.h"
#include "lib/host/systemd/logind.h"

#include <string.h>

/* Takes `name` over. */
static int add_due(struct facts *f, char *name, int64_t next_ns, struct error *err)
{
	struct elapse *due = name ? array_add(f->due, f->n_due) : NULL;

	if (!due) {
		free(name);
		return error_oom(err);
	}
	*due = (struct elapse){.unit = name, .next_ns = next_ns, .owned = name};
	return 0;
}

/* Without it, no table has an effect. */
static bool cron_runs(const struct facts *f)
{
	static const char *const names[] = {"cron", "crond", "anacron"};

	for (size_t i = 0; i < f->n_processes; i++)
		for (size_t k = 0; k < ELEMENTS(names); k++)
			if (!strcmp(f->processes[i].name, names[k]))
				return true;
	return false;
}

static int read_cron(struct facts *f, int64_t now_ns, int64_t until_ns, struct error *err)
{
	size_t n = 0;
	struct cron_job *jobs = cron_read(&n, f->root_fd, now_ns / NS_PER_S, until_ns / NS_PER_S);
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_due(f, text_utf8(jobs[i].table), jobs[i].next_s * NS_PER_S, err);
	cron_clear(jobs, n);
	return r;
}

/* One that does not answer is ending, or not ours to ask. */
static int read_user(struct facts *f, const char *socket, int64_t until_ns, struct error *err)
{
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	int uid = 0, r = 0;
	struct error why;

	if (sscanf(socket, "/run/user/%d/", &uid) != 1 || units_open_user(&units, socket, &why) < 0 ||
		units_list(units, &list, &why) < 0)
		return 0;
	for (size_t i = 0; r == 0 && i < list.n; i++) {
		const struct unit *unit = &list.items[i];
		int64_t next_ns = 0;

		if (unit_is_kind(unit->name, ".timer") && unit_is_up(unit) &&
			units_timer_next(units, unit->name, &next_ns, &why) == 0 && next_ns > 0 &&
			next_ns < until_ns)
			r = add_due(f, text_format("user-%d/%s", uid, unit->name), next_ns, err);
	}
	return r;
}

static int read_users(struct facts *f, int64_t until_ns, struct error *err)
{
	_cleanup_(paths_clear) struct paths sockets = kernel_setting_expand(
		f->root_fd, "/run/user/*/systemd/private");
	int r = 0;

	for (size_t i = 0; r == 0 && i < sockets.n; i++)
		r = read_user(f, sockets.items[i], until_ns, err);
	return r;
}

static int read_desktops(struct facts *f, struct error *err)
{
	_cleanup_(strings_freep) char **users = sessions_desktops();
	int r = 0;

	for (char **user = users; r == 0 && *user; user++)
		r = add_due(f, text_format("desktop-session:%s", *user), 0, err);
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct elapse *one = a, *other = b;

	return one->next_ns < other->next_ns ? -1 : one->next_ns > other->next_ns;
}

int facts_read_due(struct facts *f, struct error *err)
{
	int64_t now_ns = clock_ns(CLOCK_REALTIME), until_ns = saturate_add(now_ns, f->within_ns);
	int r = cron_runs(f) ? read_cron(f, now_ns, until_ns, err) : 0;

	if (r == 0)
		r = read_users(f, until_ns, err);
	if (r == 0)
		r = read_desktops(f, err);
	if (r == 0 && f->n_due > 0)
		qsort(f->due, f->n_due, sizeof(*f->due), by_time);
	return r;
}
