/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration from the open book to its first sample: see calibration.h. */
#include "calibrate/calibration.h"

#include "calibrate/options.h"
#include "calibrate/screen.h"
#include "lib/host/cpu/core_types.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/subprocess.h"
#include "lib/protocol/names.h"

void calibration_clear(struct calibration *c)
{
	closep(&c->inhibitor);
	run_session_close(&c->base);
	calibration_plan_clear(&c->plan);
	free(c->inc.path);
	free(c->notes);
}

int calibration_open(struct calibration *c, enum run_lock lock, struct error *err)
{
	int r = suite_file_find("emp-inc", &c->inc.path, err);

	c->inc.quiet = calibrate_options.quiet;
	calibrate_options.ignore_audit |= calibrate_options.anyway;
	calibrate_options.ignore_changes |= calibrate_options.anyway;
	return r < 0 ? r : run_session_open(&c->base, calibrate_options.db, BOOK_WRITE, lock, err);
}

/* "Audit: not fit (…), ignored", without -v with three of the checks. */
static void print_ignored_audit(const char *checks)
{
	enum { SHOWN = 3 };
	const char *end = checks;
	int more = 0;

	for (int i = 0; i < SHOWN && end; i++)
		end = strstr(end + (i > 0), ", ");
	for (const char *at = end; at; at = strstr(at + 1, ", "))
		more++;
	if (more && !calibrate_options.verbose)
		calibrate_print("Audit: not fit (%.*s and %d more), ignored\n", (int)(end - checks),
			checks, more);
	else
		calibrate_print("Audit: not fit (%s), ignored\n", checks);
}

/* A calibration belongs to the type of core that it was made on. */
static void print_core_type(int cpu)
{
	_cleanup_(core_types_clear) struct core_types types = {};
	_cleanup_(freep) char *text = NULL;
	const struct core_type *type;

	core_types_read(&types, AT_FDCWD);
	type = core_types_of(&types, cpu);
	text = core_types_text(&types);
	if (type)
		calibrate_print("CPU %d is of type %s: the calibration holds for such cores\n", cpu,
			type->name);
	else if (types.n > 0)
		calibrate_print(
			"Warning: INC may run on cores of several types, %s: choose one with "
			"--cpu\n",
			text);
}

int calibration_prepare(struct calibration *c, struct error *err)
{
	const struct observer *o = &c->base.observer;
	_cleanup_(freep) char *off = NULL;
	const char *why;
	int backend;
	int r = c->plan.cpu >= 0 ? pinning_check(c->plan.cpu, AT_FDCWD, err) : 0;

	c->inc.cpu = c->plan.cpu;
	if (r == 0)
		r = environment_audit(&off, err);
	if (r < 0)
		return r;

	if (!off) {
		calibrate_print("Audit: fit\n");
	} else if (!c->plan.anyway) {
		return error_say(err, STATUS_NOT_FIT,
			"this machine is not fit for timing (%s): see 'emp-setup audit', or use "
			"--ignore-audit",
			off);
	} else {
		print_ignored_audit(off);
		c->notes = text_format("audit: not fit (%s), ignored", off);
	}

	print_core_type(c->plan.cpu);
	r = run_session_environment(&c->base, err);
	if (r == 0)
		r = option_choice(
			c->plan.backend, "--accounting", accounting_backend_names, &backend, err);
	if (r == 0)
		r = observer_open(&c->base.observer, backend, c->plan.cpu, err);
	/* INC hardly suffers from a neighbour, and its samples stay uninterrupted */
	if (r == 0 && c->plan.cpu >= 0)
		r = prober_new(&c->base.observer.prober,
			&(struct prober_options){.cpu = c->plan.cpu}, err);
	if (r < 0)
		return r;
	if (!o->accounting) {
		*err = o->no_accounting;
		return error_prefix(err, -EPERM, "a calibration needs accounting");
	}

	why = accounting_state(o->accounting)->why.text;
	if (*why)
		calibrate_print("Accounting: %s (%s)\n", o->backend, why);
	else if (calibrate_options.verbose)
		calibrate_print("Accounting: %s\n", o->backend);
	if (!o->cgroup)
		calibrate_print("Process times come from wait4: %s\n", o->no_cgroup.text);
	return 0;
}

int calibration_find_constant(struct calibration *c, int64_t environment, struct error *err)
{
	int r = inc_find_constant(&c->inc, &c->base, environment ?: c->base.environment, err);

	if (r == 0)
		calibrate_print("INC: %.3fe9 increments/s (%s)\n", c->inc.per_second / 1e9,
			c->inc.found_now ? "measured now" : "measured before");
	return r;
}

void calibration_make_inc(const struct calibration *c, int64_t length_ns, struct inc_program *ret)
{
	inc_program_make(ret, &c->inc, &c->base, c->inc.per_second * (double)length_ns / 1e9);
}

int calibration_new_run(const struct calibration *c, enum run_kind kind, int64_t length_ns,
	struct inc_program *ret_inc, struct run *ret, struct error *err)
{
	calibration_make_inc(c, length_ns, ret_inc);
	*ret = (struct run){
		.program = text_format("INC%s", text_seconds(length_ns)),
		.kind = kind,
		.notes = text_copy(c->notes),
		.task_length_ns = length_ns,
		.cpu = c->plan.cpu,
	};
	run_session_describe(&c->base, ret_inc->argv, ret);
	return names_text(&ret->name_patterns, err);
}
