/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of what runs on the machine: services and timers (EMPv1), the time daemon (EMPv2), the
 * kernel (EMPv4), what the kernel does by itself, and what else may disturb a run. See audit.h.
 *
 * A container has no kernel of its own, and the host of some virtual machines provides theirs. */
#include "setup/audit/audit.h"

#include "lib/host/system/tracefs.h"

static const char HOST[] = "; the host's are not visible in a container";

void check_daemons_services(const struct facts *f, struct finding *ret)
{
	const char *host = f->machine.container ? HOST : "";
	size_t n = 0;

	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		bool runs = unit_is_up(unit) || !strcmp(unit->active, "deactivating");

		/* a service that is "exited" did its work and has no process left */
		if (!unit_is_kind(unit->name, ".timer") && runs &&
			strcmp(unit->sub, "exited") != 0 && facts_stop(f, unit->name)) {
			text_append(&ret->items, " ", "%s", unit->name);
			n++;
		}
	}
	/* Where systemd does not run or does not answer, the names of processes are compared: that
	 * finds some daemons, but finding none proves little. */
	for (size_t i = 0; !f->has_units && i < f->n_processes; i++) {
		const char *unit = policy_unit_of_process(f->policy, f->processes[i].name);

		if (unit && !text_has_word(ret->items, unit)) {
			text_append(&ret->items, " ", "%s", unit);
			n++;
		}
	}
	if (f->left.n > 0) {
		_cleanup_(freep) char *running = n > 0 ? text_format(
								 "%zu running: %s", n, ret->items)
						       : xstrdup("none running");
		_cleanup_(freep) char *left = NULL;

		for (size_t i = 0; i < f->left.n; i++) {
			text_append(&left, ", ", "%s of %s", f->left.items[i].why,
				f->left.items[i].unit);
			text_append(&ret->items, " ", "%s", f->left.items[i].unit);
		}
		if (n == 0) { /* apply has done its part */
			ret->how = xstrdup("wait until they have ended, or end them by hand");
			ret->undo = CHECK_NO_UNDO;
		}
		finding_set(ret, CHECK_OFF, "%s; stopped ones have left %s%s", running, left, host);
	} else if (f->has_units && n > 0)
		finding_set(ret, CHECK_OFF, "%zu running: %s%s", n, ret->items, host);
	else if (f->has_units)
		finding_set(ret, CHECK_OK, "none%s", host);
	else if (n > 0) {
		ret->how = text_format(
			"end these processes by hand (systemd does not run): %s", ret->items);
		ret->undo = "start them again by hand";
		finding_set(ret, CHECK_OFF, "%zu running: %s", n, ret->items);
	} else if (f->machine.systemd)
		finding_set(ret, CHECK_UNKNOWN, "%s; no known daemon among %zu processes",
			f->units_why ?: "systemd was not asked", f->n_processes);
	else
		finding_set(ret, f->machine.container ? CHECK_ABSENT : CHECK_OK,
			"no known daemon among %zu process%s%s", f->n_processes,
			f->n_processes == 1 ? "" : "es",
			f->machine.container ? HOST : " (no systemd)");
}

/* "a.timer at 2026-11-21 14:03:59, b.timer at 2026-11-21 00:00:00 or up to 12 h 0 min later";
 * the caller frees it. The units become the finding's items. */
static char *list_elapses(const struct elapse *elapses, size_t n, struct finding *ret)
{
	static const int64_t usual_ns = 60 * NS_PER_S; /* systemd's default is not worth a word */
	char *list = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct elapse *e = &elapses[i];
		bool late = e->next_ns && e->late_ns > usual_ns;

		text_append(&ret->items, " ", "%s", e->unit);
		text_append(&list, ", ", "%s%s%s%s%s%s", e->unit, e->next_ns ? " at " : "",
			e->next_ns ? text_moment(e->next_ns) : "", late ? " or up to " : "",
			late ? text_duration(e->late_ns) : "", late ? " later" : "");
	}
	return list;
}

/* True where systemd could not be asked; the finding is made then. */
static bool no_units(const struct facts *f, struct finding *ret)
{
	if (f->has_units)
		return false;
	if (f->machine.systemd)
		finding_set(ret, CHECK_UNKNOWN, "%s", f->units_why ?: "systemd was not asked");
	else
		finding_set(ret, CHECK_ABSENT, "systemd does not run");
	return true;
}

void check_daemons_timers(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = list_elapses(f->timers, f->n_timers, ret);

	if (list)
		finding_set(ret, CHECK_OFF, "%zu active: %s", f->n_timers, list);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "none%s", f->machine.container ? HOST : "");
}

void check_daemons_unknown(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = NULL;

	if (no_units(f, ret))
		return;
	for (size_t i = 0; i < f->n_unlisted; i++) {
		const struct unlisted *s = &f->unlisted[i];

		text_append(&ret->items, " ", "%s", s->unit);
		text_append(&list, ", ", "%s (%s)", s->unit,
			s->cpu_ns < 0 ? "CPU time not known" : text_duration(s->cpu_ns));
	}
	finding_set(ret, list ? CHECK_UNKNOWN : CHECK_OK, "%s", list ?: "none");
}

void check_daemons_due(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *list = list_elapses(f->due, f->n_due, ret);

	if (list)
		finding_set(ret, CHECK_OFF, "%s", list);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "none within %s", text_duration(f->within_ns));
}

void check_daemons_inhibitors(const struct facts *f, struct finding *ret)
{
	if (f->inhibitors)
		finding_set(ret, CHECK_OFF, "%s", f->inhibitors);
	else if (!no_units(f, ret))
		finding_set(ret, CHECK_OK, "nobody holds off a shutdown");
}

/* The kernel's report on the clock alone is not enough (ntpsec without a server leaves it at
 * "synchronised" for hours), nor is the daemon's (chronyd -x follows a server and leaves the clock
 * alone). */
void check_ntp(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *names = NULL;
	const struct ntp_daemon *d = f->daemons;
	bool unsynchronised = f->clock.known && !f->clock.synchronised;
	const char *kernel = !f->clock.known  ? "the state of the kernel's clock is not known"
			     : unsynchronised ? "the kernel reports an unsynchronised clock"
					      : "the kernel reports a synchronised clock";

	if (f->n_daemons == 1) {
		ret->how = xstrdup(
			"check its servers and the network; a daemon that has just started needs a minute");
		ret->undo = CHECK_NO_UNDO;
	}
	if (f->n_daemons > 1) {
		for (size_t i = 0; i < f->n_daemons; i++)
			text_append(&names, ", ", "%s", f->daemons[i].name);
		finding_set(ret, CHECK_OFF, "%zu daemons set one clock: %s", f->n_daemons, names);
		ret->how = xstrdup("stop all but one of them");
		ret->undo = "start them again";
	} else if (f->n_daemons == 0 && f->machine.container && !f->clock.settable)
		finding_set(ret, CHECK_BY_HOST, "the clock is the host's; %s", kernel);
	else if (f->n_daemons == 0 && f->contained && f->clock.known && f->clock.synchronised) {
		finding_set(ret, CHECK_UNKNOWN, "%s runs in a container; %s", f->contained, kernel);
		ret->how = xstrdup(
			"ask it in its container, or let a daemon of this machine set the clock");
		ret->undo = CHECK_NO_UNDO;
	} else if (f->n_daemons == 0) {
		finding_set(ret, CHECK_OFF, "no time daemon runs%s%s%s; %s",
			f->contained ? " (" : "", f->contained ?: "",
			f->contained ? " in a container does not count)" : "", kernel);
		if (!f->has_units) { /* apply could not start one */
			ret->how = xstrdup("install and start a time daemon, such as chrony");
			ret->undo = "stop it";
		}
	} else if (d->silent)
		finding_set(ret, unsynchronised ? CHECK_OFF : CHECK_UNKNOWN, "%s runs (%s); %s",
			d->name, d->text, kernel);
	else if (!d->text)
		finding_set(ret, CHECK_OFF, "%s runs but follows no server%s", d->name,
			f->clock.synchronised ? " (though the kernel reports a synchronised clock)"
					      : "");
	else if (d->host)
		finding_set(ret, CHECK_OK, "%s follows %s", d->name, d->text);
	else if (unsynchronised)
		finding_set(ret, CHECK_OFF, "%s follows %s, but %s", d->name, d->text, kernel);
	else
		finding_set(ret, CHECK_OK, "%s follows %s; rate corrected by %+.3f ppm", d->name,
			d->text, f->clock.frequency_ppm);
}

/* True where the host provides the kernel; the finding is made then. */
static bool is_hosts_kernel(const struct facts *f, struct finding *ret)
{
	if (f->machine.container)
		finding_set(ret, CHECK_BY_HOST, "%s is the host's kernel", f->kernel.running);
	else if (f->machine.virtual && !f->kernel.installed)
		finding_set(ret, CHECK_BY_HOST,
			"%s comes from the host; no kernel is installed here", f->kernel.running);
	else
		return false;
	return true;
}

static bool is_newer(const char *release, const char *than)
{
	return release && kernel_compare(release, than) > 0;
}

void check_kernel_version(const struct facts *f, struct finding *ret)
{
	const struct kernel *k = &f->kernel;
	char offered[256] = "";

	if (is_hosts_kernel(f, ret))
		return;
	if (k->offered_unknown)
		snprintf(offered, sizeof(offered),
			" (whether a newer one is available is not known: %s)", k->offered_unknown);
	if (is_newer(k->offered, k->running) && !is_newer(k->installed, k->offered))
		finding_set(ret, CHECK_OFF, "%s running, %s available", k->running, k->offered);
	else if (is_newer(k->installed, k->running))
		finding_set(ret, CHECK_OFF, "%s running, %s installed", k->running, k->installed);
	else if (is_newer(f->policy->floor, k->running))
		finding_set(ret, CHECK_OFF, "%s running, the policy wants at least %s", k->running,
			f->policy->floor);
	else if (!k->installed && !k->offered)
		finding_set(ret, CHECK_UNKNOWN, "%s running; no installed kernel to compare with",
			k->running);
	else
		finding_set(ret, CHECK_OK, "%s%s", k->running, offered);
}

void check_kernel_pending(const struct facts *f, struct finding *ret)
{
	const struct kernel *k = &f->kernel;

	if (is_newer(k->installed, k->running) && !f->machine.container)
		finding_set(ret, CHECK_OFF, "%s installed, %s running", k->installed, k->running);
	else if (k->reboot_required)
		finding_set(ret, CHECK_OFF, "a package requires a reboot (/run/reboot-required)");
	else if (!is_hosts_kernel(f, ret))
		finding_set(ret, CHECK_OK, "none");
}

void check_system_packagers(const struct facts *f, struct finding *ret)
{
	struct stat st;

	if (f->locked)
		finding_set(ret, CHECK_OFF, "%s is locked", f->locked);
	else if (fstatat(f->root_fd, text_below(f->root_fd, "/run/systemd/shutdown/scheduled"), &st,
			 0) == 0)
		finding_set(ret, CHECK_OFF, "a shutdown is scheduled");
	else if (f->lock_error)
		finding_set(ret, CHECK_REFUSED, "only root can read the package manager's locks");
	else
		finding_set(ret, CHECK_OK, "none");
}

void check_system_load(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *text = path_text(f->root_fd, "/proc/loadavg");
	double load;

	if (!text || sscanf(text, "%lf", &load) != 1 || f->machine.n_cpus <= 0)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else
		finding_set(ret, load < 0.1 * (double)f->machine.n_cpus ? CHECK_OK : CHECK_OFF,
			"%.2f on %" PRId64 " CPUs%s", load, f->machine.n_cpus,
			f->machine.container ? " (the host's)" : "");
}

void check_system_clocksource(const struct facts *f, struct finding *ret)
{
	enum { SLOWER = 4 }; /* times as slow as calibrated: a machine varies by two */
	const double ns = f->price.clock_ns;
	bool constant = text_has_word(f->machine.flags, "constant_tsc") &&
			text_has_word(f->machine.flags, "nonstop_tsc"),
	     guest = f->machine.virtual || f->machine.container,
	     is_call = ns > 0 && ns >= f->price.call_ns,
	     slower = f->calibrated_ns > 0 && ns >= SLOWER * f->calibrated_ns;
	_cleanup_(freep) char *found = text_copy(f->clocksource); /* "tsc, 25 ns a reading" */

	if (!found) {
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
		return;
	}
	if (ns > 0)
		text_append(&found, ", ", "%s%.0f ns a reading",
			is_call ? "clock_gettime is a system call, " : "", ns);
	if (ns > 0 && f->calibrated_ns > 0)
		text_append(&found, ", ", "%.0f ns when calibrated", f->calibrated_ns);
	if (slower || (is_call && (constant || guest)))
		finding_set(ret, CHECK_OFF, "%s", found);
	else if (!strcmp(f->clocksource, "tsc") || !constant)
		finding_set(ret, CHECK_OK, "%s", found);
	else if (guest)
		finding_set(ret, CHECK_BY_HOST, "%s; the host decides", found);
	else
		finding_set(ret, CHECK_OFF, "%s, although the TSC is constant", found);
}

/* Lines of /proc/swaps, after one that names the columns: name, kind, size, used (KiB),
 * priority. */
void check_system_swap(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *swaps = path_text(f->root_fd, "/proc/swaps");
	int64_t total = 0, used;
	int areas = 0;

	for (const char *line = swaps ?: ""; *line;
		line = strchrnul(line, '\n'), line += *line == '\n')
		if (sscanf(line, "%*s %*s %*s %" SCNd64, &used) == 1) {
			total = saturate_add(total, used);
			areas++;
		}
	if (!swaps)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (areas == 0)
		finding_set(ret, CHECK_OK, "no swap");
	else
		finding_set(ret, total ? CHECK_OFF : CHECK_OK, "%" PRId64 " MiB in %s",
			total / 1024 + (total % 1024 > 0), text_count(areas, "area"));
}

/* Some things can be read by root only, or not by anybody in a container or on a captured
 * machine. */
static void set_unreadable(const struct facts *f, struct finding *ret, int r, const char *what)
{
	bool refused = r == -EACCES || r == -EPERM;

	if (refused && f->machine.container) {
		finding_set(ret, CHECK_BY_HOST,
			"the host decides; %s cannot be read in a container", what);
		return;
	}
	refused = refused && (geteuid() != 0 || f->root_fd != AT_FDCWD);
	finding_set(ret, refused ? CHECK_REFUSED : CHECK_UNKNOWN,
		refused ? "only root can read %s" : "%s cannot be read here", what);
	if (!refused) {
		ret->how = xstrdup("check it by hand");
		ret->undo = CHECK_NO_UNDO;
	}
}

/* Where the tracer is "nop", single events may be traced. */
void check_kernel_tracer(const struct facts *f, struct finding *ret)
{
	_cleanup_(closep) int fd = f->root_fd == AT_FDCWD
					   ? tracefs_open()
					   : path_open(f->root_fd, O_RDONLY | O_DIRECTORY,
						     "/sys/kernel/tracing");
	_cleanup_(freep) char *tracer = NULL, *events = NULL, *recording = NULL;
	int r;

	if (fd < 0 && f->root_fd != AT_FDCWD)
		fd = path_open(f->root_fd, O_RDONLY | O_DIRECTORY, "/sys/kernel/debug/tracing");
	r = fd < 0 ? fd : path_read_text(fd, NULL, &tracer, "current_tracer");
	if (r >= 0) {
		/* "0" none, "X" some, "1" all are enabled */
		events = path_text(fd, "events/enable");
		recording = tracefs_recording(fd);
	}
	if (r == -ENOENT)
		finding_set(ret, CHECK_ABSENT, "/sys/kernel/tracing does not exist");
	else if (r < 0)
		set_unreadable(f, ret, r, "/sys/kernel/tracing");
	else if (strcmp(tracer, "nop") != 0)
		finding_set(ret, CHECK_OFF, "%s", tracer);
	else if (events && strcmp(events, "0") != 0)
		finding_set(
			ret, CHECK_OFF, "%s events are traced", *events == '1' ? "all" : "some");
	else if (recording) {
		finding_set(ret, CHECK_OFF, "recorded by %s", recording);
		ret->how = xstrdup(
			"end the process that records; else: rmdir /sys/kernel/tracing/instances/NAME");
		ret->undo = CHECK_NO_UNDO;
	} else
		finding_set(ret, CHECK_OK, "nop");
}

void check_kernel_leftovers(const struct facts *f, struct finding *ret)
{
	/* of EMP's processes that were killed */
	_cleanup_(leftovers_clear) struct leftovers left = {};
	_cleanup_(freep) char *names = NULL;

	if (f->root_fd == AT_FDCWD)
		leftovers_find(&left);
	for (size_t i = 0; i < left.n; i++)
		text_append(&names, ", ", "%s %s", leftover_kind_names[left.items[i].kind],
			left.items[i].path);
	finding_set(ret, names ? CHECK_OFF : CHECK_OK, "%s", names ?: "nothing");
}

void check_kernel_programs(const struct facts *f, struct finding *ret)
{
	if (f->n_programs < 0)
		set_unreadable(f, ret, (int)f->n_programs, "the list of BPF programs");
	else if (f->n_programs > 0)
		finding_set(ret, CHECK_OFF, "%" PRId64 " loaded: %s", f->n_programs, f->programs);
	else
		finding_set(ret, CHECK_OK, "none that runs at events of the kernel");
}

void check_kernel_audit(const struct facts *f, struct finding *ret)
{
	int64_t n = f->audit_rules;

	if (n == -EPROTONOSUPPORT)
		finding_set(ret, CHECK_ABSENT, "this kernel has no audit");
	else if (n < 0)
		set_unreadable(f, ret, n == -ECONNREFUSED ? -EPERM : (int)n, "the audit rules");
	else
		finding_set(ret, n ? CHECK_OFF : CHECK_OK, "%s", text_count(n, "rule"));
}

/* debugfs lists the modes, the one in force in parentheses: "none voluntary (full)". */
void check_kernel_scheduler(const struct facts *f, struct finding *ret)
{
	_cleanup_(freep) char *modes = NULL;
	int r = path_read_text(f->root_fd, NULL, &modes, "/sys/kernel/debug/sched/preempt");
	const char *open = modes ? strchr(modes, '(') : NULL;
	int64_t slice_ns = path_int(f->root_fd, "/sys/kernel/debug/sched/base_slice_ns");

	if (!open && slice_ns < 0) {
		if (r == -EACCES || r == -EPERM)
			set_unreadable(f, ret, r, "the scheduler's settings");
		else
			finding_set(
				ret, CHECK_UNKNOWN, "debugfs is not mounted, or does not have it");
		return;
	}
	finding_set(ret, CHECK_OK, "preemption %.*s, base slice %s",
		open ? (int)strcspn(open + 1, ")") : 11, open ? open + 1 : "(not known)",
		slice_ns < 0 ? "not known" : text_duration(slice_ns));
}
