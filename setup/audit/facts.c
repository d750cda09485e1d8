/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that an audit looks at: see facts.h. */
#include "setup/audit/facts.h"

#include "lib/base/text.h"
#include "setup/audit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

static int by_time(const void *a, const void *b)
{
	const struct elapse *one = a, *other = b;

	return one->next_ns < other->next_ns ? -1 : one->next_ns > other->next_ns;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Timers of the policy whatever their time, others if they elapse soon. */
static int read_timers(struct facts *f, struct units *units, struct error *err)
{
	int64_t horizon = now_ns() + f->within_ns;

	f->timers = calloc(f->units.n + 1, sizeof(*f->timers));
	f->due = calloc(f->units.n + 1, sizeof(*f->due));
	if (!f->timers || !f->due)
		return error_os(err, -ENOMEM, "cannot list the timers");
	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		struct elapse timer = {.unit = unit->name};

		if (!unit_is_kind(unit->name, ".timer") || !unit_is_up(unit))
			continue;
		if (units_timer_next(units, unit->name, &timer.next_ns, err) < 0)
			timer.next_ns = 0;
		if (policy_stop(f->policy, unit->name))
			f->timers[f->n_timers++] = timer;
		else if (timer.next_ns > 0 && timer.next_ns < horizon)
			f->due[f->n_due++] = timer;
	}
	qsort(f->due, f->n_due, sizeof(*f->due), by_time);
	return 0;
}

static int read_strangers(struct facts *f, struct units *units, struct error *err)
{
	f->strangers = calloc(f->units.n + 1, sizeof(*f->strangers));
	if (!f->strangers)
		return error_os(err, -ENOMEM, "cannot list the services");
	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		struct stranger *stranger = &f->strangers[f->n_strangers];

		if (!unit_is_kind(unit->name, ".service") || strcmp(unit->sub, "running") != 0 ||
			policy_knows(f->policy, unit->name))
			continue;
		stranger->unit = unit->name;
		if (units_cpu_ns(units, unit->name, &stranger->cpu_ns, err) < 0)
			stranger->cpu_ns = -1;
		f->n_strangers++;
	}
	return 0;
}

/* systemd may not run, or not answer: that is a finding, not a failure. */
static int ask_systemd(struct facts *f, struct units **ret, struct error *err)
{
	_cleanup_(units_freep) struct units *units = NULL;
	struct error why = {};
	int r = units_open(&units, &why);

	if (r == 0)
		r = units_list(units, &f->units, &why);
	if (r < 0) {
		f->units_why = strdup(why.text);
		return f->units_why ? 0 : error_os(err, -ENOMEM, "cannot ask systemd");
	}
	f->has_units = true;
	r = read_timers(f, units, err);
	if (r == 0)
		r = read_strangers(f, units, err);
	if (r < 0)
		return r;
	*ret = TAKE(units);
	return 0;
}

static int ask_running_system(struct facts *f, struct error *err)
{
	_cleanup_(units_freep) struct units *units = NULL;
	int r = ask_systemd(f, &units, err);

	if (r < 0)
		return r;
	clock_read(&f->clock);
	ntp_read(&f->ntp, units, &f->units, f->processes, f->n_processes);
	if (f->kernel.installed && !f->machine.container)
		kernel_ask_offered(&f->kernel);
	return 0;
}

static int read_setting(struct readings *r, int root_fd, const struct setting *setting, struct error *err)
{
	_cleanup_(freep) char **paths = NULL;
	size_t n = 0;

	if (kernel_setting_expand(root_fd, setting->pattern, &paths, &n) < 0)
		return error_os(err, -ENOMEM, "cannot list %s", setting->pattern);
	r->items = calloc(n + 1, sizeof(*r->items));
	for (size_t i = 0; i < n && r->items; i++) {
		struct kernel_setting knob = {.root_fd = root_fd, .path = paths[i], .kind = setting->kind};

		r->items[i].path = paths[i];
		r->items[i].error = kernel_setting_read(&knob, &r->items[i].value);
	}
	r->n = n;
	return r->items ? 0 : error_os(err, -ENOMEM, "cannot read %s", setting->pattern);
}

static int read_settings(struct facts *f, struct error *err)
{
	int r = 0;

	f->readings = calloc(n_checks, sizeof(*f->readings));
	if (!f->readings)
		return error_os(err, -ENOMEM, "cannot read the settings");
	for (size_t i = 0; r == 0 && i < n_checks; i++)
		if (checks[i].setting.pattern)
			r = read_setting(&f->readings[i], f->root_fd, &checks[i].setting, err);
	return r;
}

int facts_read(struct facts *ret, int root_fd, const char *policy, int64_t within_ns, struct error *err)
{
	_cleanup_(facts_clear) struct facts f = {.root_fd = root_fd, .within_ns = within_ns};
	int r;

	machine_read(&f.machine, root_fd);
	system_state_read(&f.system_state, root_fd);
	if (text_read_int(root_fd, "/proc/sys/kernel/task_delayacct", &f.delayacct) < 0)
		f.delayacct = -1;
	r = policy_load(&f.policy, policy_directories(), policy, &f.machine, err);
	if (r == 0)
		r = frequency_read(&f.frequency, root_fd, err);
	if (r == 0)
		r = read_settings(&f, err);
	if (r == 0)
		r = kernel_read(&f.kernel, root_fd, err);
	if (r == 0)
		r = processes_read(&f.processes, &f.n_processes, root_fd, err);
	if (r == 0 && root_fd == AT_FDCWD)
		r = ask_running_system(&f, err);
	if (r < 0)
		return r;
	*ret = f;
	f = (struct facts){};
	return 0;
}

static void clear_readings(struct readings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->items[i].path);
		free(r->items[i].value);
	}
	free(r->items);
}

void facts_clear(struct facts *f)
{
	for (size_t i = 0; f->readings && i < n_checks; i++)
		clear_readings(&f->readings[i]);
	free(f->readings);
	machine_clear(&f->machine);
	system_state_clear(&f->system_state);
	policy_free(f->policy);
	frequency_clear(&f->frequency);
	kernel_clear(&f->kernel);
	free(f->units_why);
	unit_list_clear(&f->units);
	free(f->timers);
	free(f->due);
	free(f->strangers);
	free(f->processes);
	*f = (struct facts){};
}
