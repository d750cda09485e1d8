/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel does on behalf of nobody: tracers, BPF programs, audit rules, thermal and power limits; and how it
 * schedules and accounts: see check_rows.h. */
#include "setup/audit/check_rows.h"

#include "lib/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Some things can be read by root only, or not by anybody in a container or on a captured machine. */
static void set_unreadable(struct finding *ret, int r, const char *what)
{
	bool refused = r == -EACCES || r == -EPERM;

	finding_set(ret, refused ? CHECK_REFUSED : CHECK_UNKNOWN,
		refused ? "only root can read %s" : "%s cannot be read here", what);
}

/* Where the tracer is "nop", single events may be traced. */
void check_kernel_tracer(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	bool events = s->events && strcmp(s->events, "0") != 0;

	if (!s->tracer && s->tracer_error == -ENOENT)
		finding_set(ret, CHECK_ABSENT, "/sys/kernel/tracing does not exist");
	else if (!s->tracer)
		set_unreadable(ret, s->tracer_error, "/sys/kernel/tracing");
	else if (strcmp(s->tracer, "nop") != 0)
		finding_set(ret, CHECK_OFF, "%s", s->tracer);
	else if (events)
		finding_set(ret, CHECK_OFF, "%s events are traced", *s->events == '1' ? "all" : "some");
	else if (s->recording) {
		finding_set(ret, CHECK_OFF, "recorded by %s", s->recording);
		ret->how = "end the process that records; else: rmdir /sys/kernel/tracing/instances/NAME";
		ret->undo = CHECK_NO_UNDO;
	} else
		finding_set(ret, CHECK_OK, "nop");
}

void check_kernel_leftovers(const struct facts *f, struct finding *ret)
{
	const struct leftovers *all = &f->system_state.leftovers;
	_cleanup_(freep) char *names = NULL;

	for (size_t i = 0; i < all->n; i++) {
		_cleanup_(freep) char *name = text_format(
			"%s %s", leftover_kind_names[all->items[i].kind], all->items[i].path);

		list_add(&names, ", ", name ?: "");
	}
	finding_set(ret, names ? CHECK_OFF : CHECK_OK, "%s", names ?: "nothing");
}

void check_kernel_programs(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;

	if (s->n_programs < 0)
		set_unreadable(ret, (int)s->n_programs, "the list of BPF programs");
	else if (s->n_programs > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " loaded: %s", s->n_programs, s->programs);
	else
		finding_set(ret, CHECK_OK, "none that runs at events of the kernel");
}

void check_kernel_audit(const struct facts *f, struct finding *ret)
{
	int64_t n = f->system_state.audit_rules;

	if (n == -EPROTONOSUPPORT)
		finding_set(ret, CHECK_ABSENT, "this kernel has no audit");
	else if (n < 0)
		set_unreadable(ret, n == -ECONNREFUSED ? -EPERM : (int)n, "the audit rules");
	else
		finding_set(ret, n ? CHECK_OFF : CHECK_OK, "%" PRId64 " rule%s", n, n == 1 ? "" : "s");
}

/* debugfs lists the modes, the one in force in parentheses: "none voluntary (full)". */
void check_kernel_scheduler(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	const char *open = s->preemption ? strchr(s->preemption, '(') : NULL;
	char slice[TEXT_TIME_SIZE];

	if (!open && s->base_slice_ns < 0) {
		finding_set(ret, CHECK_UNKNOWN, "not readable: only root can, where debugfs is mounted");
		return;
	}
	finding_set(ret, CHECK_OK, "preemption %.*s, base slice %s", open ? (int)strcspn(open + 1, ")") : 11,
		open ? open + 1 : "(not known)",
		s->base_slice_ns < 0 ? "not known" : text_duration(slice, s->base_slice_ns));
}

void check_kernel_irq_time(const struct facts *f, struct finding *ret)
{
	const char *value = f->system_state.irq_time;

	if (!value)
		finding_set(ret, CHECK_UNKNOWN, "the configuration of this kernel is not known");
	else if (!strcmp(value, "y"))
		finding_set(ret, CHECK_OK, "yes: interrupts do not count as process time");
	else
		finding_set(ret, CHECK_OFF, "no: process time includes interrupts");
}

void check_kernel_delayacct(const struct facts *f, struct finding *ret)
{
	if (f->delayacct < 0)
		finding_set(ret, CHECK_ABSENT, "this kernel has no kernel.task_delayacct");
	else
		finding_set(ret, CHECK_OK, "%d", (int)f->delayacct);
}

void check_kernel_throttling(const struct facts *f, struct finding *ret)
{
	int64_t n = f->system_state.throttles;

	if (n < 0)
		finding_set_absent(ret, f, "the processor does not count it");
	else if (n > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " time%s since the machine was started", n,
			n == 1 ? "" : "s");
	else
		finding_set(ret, CHECK_OK, "never since the machine was started");
}

void check_kernel_power(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	_cleanup_(freep) char *list = NULL;

	for (size_t i = 0; i < s->n_power; i++) {
		const struct power_limit *l = &s->power[i];
		_cleanup_(freep) char *one = text_format("%s %" PRId64 " W of %" PRId64 " W", l->zone ?: "?",
			l->limit_uw / 1000000, l->most_uw / 1000000);

		list_add(&list, ", ", one ?: "?");
	}
	if (s->n_power_zones == 0)
		finding_set_absent(ret, f, "the kernel does not report the processor's power");
	else
		finding_set(ret, list ? CHECK_OFF : CHECK_OK, "%s", list ?: "as the processor is made for");
}
