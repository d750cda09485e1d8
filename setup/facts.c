/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that an audit looks at: see facts.h. */
#include "setup/facts.h"

#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int read_timers(struct facts *f, struct units *units, struct error *err)
{
	f->timers = calloc(f->units.n + 1, sizeof(*f->timers));
	if (!f->timers)
		return error_os(err, -ENOMEM, "cannot list the timers");
	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		struct timer *timer = &f->timers[f->n_timers];

		if (!unit_is_kind(unit->name, ".timer") || !unit_is_up(unit) ||
			!policy_stop(f->policy, unit->name))
			continue;
		timer->unit = unit->name;
		if (units_timer_next(units, unit->name, &timer->next_ns, err) < 0)
			timer->next_ns = 0;
		f->n_timers++;
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

int facts_read(struct facts *ret, int root_fd, const char *policy, struct error *err)
{
	_cleanup_(facts_clear) struct facts f = {};
	int r;

	machine_read(&f.machine, root_fd);
	if (text_read_int(root_fd, "/proc/sys/kernel/task_delayacct", &f.delayacct) < 0)
		f.delayacct = -1;
	r = policy_load(&f.policy, policy_directories(), policy, &f.machine, err);
	if (r == 0)
		r = frequency_read(&f.frequency, root_fd, err);
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

void facts_clear(struct facts *f)
{
	machine_clear(&f->machine);
	policy_free(f->policy);
	frequency_clear(&f->frequency);
	kernel_clear(&f->kernel);
	free(f->units_why);
	unit_list_clear(&f->units);
	free(f->timers);
	free(f->processes);
	*f = (struct facts){};
}
