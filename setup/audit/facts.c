/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that an audit looks at: see facts.h. */
#include "setup/audit/check_rows.h"
#include "lib/base/xalloc.h"
#include "lib/clocks/book_clocks.h"
#include "setup/audit/facts_due.h"

#include "lib/base/clock.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"
#include "lib/host/process/pinning.h"
#include "lib/book/book.h"

#include <fcntl.h>
#include <string.h>

/* Timers of the policy whatever their time, others if they elapse soon. */
static int read_timers(struct facts *f, struct units *units, struct error *err)
{
	int64_t horizon = saturate_add(clock_ns(CLOCK_REALTIME), f->within_ns);

	f->timers = xcalloc(f->units.n + 1, sizeof(*f->timers));
	f->due = xcalloc(f->units.n + 1, sizeof(*f->due));
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
	return 0;
}

static int read_unlisted(struct facts *f, struct units *units, struct error *err)
{
	f->unlisted = xcalloc(f->units.n + 1, sizeof(*f->unlisted));
	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		struct unlisted *service = &f->unlisted[f->n_unlisted];

		if (!unit_is_kind(unit->name, ".service") || strcmp(unit->sub, "running") != 0 ||
			policy_knows(f->policy, unit->name))
			continue;
		service->unit = unit->name;
		if (units_cpu_ns(units, unit->name, &service->cpu_ns, err) < 0)
			service->cpu_ns = -1;
		f->n_unlisted++;
	}
	return 0;
}

/* That systemd does not run or answer is a finding, not a failure. */
static int ask_systemd(struct facts *f, struct units **units, struct error *err)
{
	struct error why = {};
	int r = units_open(units, &why);

	if (r == 0)
		r = units_list(*units, &f->units, &why);
	f->has_units = r == 0;
	if (f->has_units) {
		r = read_timers(f, *units, err);
		return r < 0 ? r : read_unlisted(f, *units, err);
	}
	f->units_why = xstrdup(why.text);
	units_free(TAKE(*units));
	return 0;
}

/* A book that is missing or cannot be read is no failure of the audit. */
static double read_calibrated(const struct machine *machine)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(clocks_clear) struct clocks clocks = {};
	_cleanup_(freep) char *name = NULL;
	const struct clock_source *source;
	struct error ignored;

	if (book_open(&book, NULL, BOOK_READ, &ignored) < 0 ||
		book_get_clocks(book, 0, &clocks, &ignored) <= 0 ||
		book_get_machine(book, clocks.environment, &name, &ignored) < 0)
		return 0;
	source = clocks_find(&clocks, "clock_gettime(CLOCK_MONOTONIC)");
	if (!source || !name || strcmp(name, machine->id) != 0)
		return 0;
	return source->median * 1e9 / clocks.cycles_per_second;
}

static int ask_running_system(struct facts *f, struct error *err)
{
	_cleanup_(units_freep) struct units *units = NULL;
	int r = ask_systemd(f, &units, err);

	if (r == 0)
		r = facts_read_due(f, err);
	if (r < 0)
		return r;
	kernel_clock_read(&f->clock);
	clock_price_read(&f->price);
	f->calibrated_ns = read_calibrated(&f->machine);
	ntp_read(&f->ntp, units, &f->units, f->processes, f->n_processes);
	if (f->kernel.installed && !f->machine.container)
		kernel_ask_offered(&f->kernel);
	return 0;
}

int facts_read(
	struct facts *ret, int root_fd, const char *policy, int cpu, int64_t within_ns, struct error *err)
{
	_cleanup_(facts_clear) struct facts f = {.root_fd = root_fd, .within_ns = within_ns};
	int r = cpu < 0 ? 0 : pinning_check_online(cpu, root_fd, err);

	if (r < 0)
		return r;
	machine_read(&f.machine, root_fd);
	system_state_read(&f.system_state, root_fd);
	cpu_state_read(&f.cpus, root_fd, cpu);
	if (text_read_int(root_fd, "/proc/sys/kernel/task_delayacct", &f.delayacct) < 0)
		f.delayacct = -1;
	r = policy_load(&f.policy, policy_directories(), policy, &f.machine, err);
	frequency_read(&f.frequency, root_fd);
	if (r == 0)
		r = kernel_read(&f.kernel, root_fd, err);
	if (r == 0)
		f.processes = processes_read(root_fd, &f.n_processes);
	if (r == 0 && root_fd == AT_FDCWD)
		r = ask_running_system(&f, err);
	if (r == 0)
		r = check_rows_read(&f.files, root_fd, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(f);
	return 0;
}

void facts_clear(struct facts *f)
{
	machine_clear(&f->machine);
	system_state_clear(&f->system_state);
	cpu_state_clear(&f->cpus);
	policy_free(f->policy);
	frequency_clear(&f->frequency);
	kernel_clear(&f->kernel);
	free(f->units_why);
	unit_list_clear(&f->units);
	free(f->timers);
	for (size_t i = 0; i < f->n_due; i++)
		free(f->due[i].owned);
	free(f->due);
	free(f->unlisted);
	free(f->processes);
	check_rows_freep(&f->files);
	*f = (struct facts){};
}
