/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of the clock and its daemon (EMPv2), and of what else may disturb a run: load, swap,
 * package managers, other machines on the same host. See checks.h. */
#include "setup/audit/checks.h"
#include "setup/audit/ntp.h"

static const char *kernels_report(const struct facts *f)
{
	if (!f->clock.known)
		return "the state of the kernel's clock is not known";
	return f->clock.synchronised ? "the kernel reports a synchronised clock"
				     : "the kernel reports an unsynchronised clock";
}

/* Where no daemon of this machine sets the clock. */
static void judge_no_time_daemon(const struct facts *f, struct finding *ret)
{
	const char *kernel = kernels_report(f);

	if (f->machine.container && !f->clock.settable) {
		finding_set(ret, CHECK_BY_HOST, "the clock is the host's; %s", kernel);
		return;
	}
	if (f->contained && f->clock.known && f->clock.synchronised) {
		finding_set(ret, CHECK_UNKNOWN, "%s runs in a container; %s", f->contained, kernel);
		ret->how = xstrdup(
			"ask it in its container, or let a daemon of this machine set the clock");
		ret->undo = CHECK_NO_UNDO;
		return;
	}
	if (f->contained)
		finding_set(ret, CHECK_OFF,
			"no time daemon runs (%s in a container does not count); %s", f->contained,
			kernel);
	else
		finding_set(ret, CHECK_OFF, "no time daemon runs; %s", kernel);
	if (!f->has_units) { /* apply could not start one */
		ret->how = xstrdup("install and start a time daemon, such as chrony");
		ret->undo = "stop it";
	}
}

static void judge_time_daemon(
	const struct facts *f, const struct ntp_daemon *d, struct finding *ret)
{
	const bool unsynchronised = f->clock.known && !f->clock.synchronised;
	const char *kernel = kernels_report(f);

	ret->how = xstrdup("check its servers and the network; "
			   "a daemon that has just started needs a minute");
	ret->undo = CHECK_NO_UNDO;
	if (d->silent)
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

/* The kernel's report on the clock alone is not enough (ntpsec without a server leaves it at
 * "synchronised" for hours), nor is the daemon's (chronyd -x follows a server and leaves the clock
 * alone). */
DECIDER(check_system_ntp)
{
	_cleanup_(freep) char *names = NULL;

	if (f->n_daemons == 0) {
		judge_no_time_daemon(f, ret);
		return;
	}
	if (f->n_daemons == 1) {
		judge_time_daemon(f, f->daemons, ret);
		return;
	}
	for (size_t i = 0; i < f->n_daemons; i++)
		text_append(&names, ", ", "%s", f->daemons[i].name);
	finding_set(ret, CHECK_OFF, "%zu daemons set one clock: %s", f->n_daemons, names);
	ret->how = xstrdup("stop all but one of them");
	ret->undo = "start them again";
}

DECIDER(check_system_packagers)
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

DECIDER(check_system_load)
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

DECIDER(check_system_clocksource)
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
DECIDER(check_system_swap)
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

/* Judges the share of stolen time since the machine was started, and during this audit. The audit
 * is short: a single tick proves nothing. */
DECIDER(check_system_steal)
{
	enum { MOST_SHARE = 100 /* 1 % */, TICKS_COUNT = 3 };
	struct cpu_ticks now;
	int64_t steal, all;
	bool recent;

	cpu_ticks_read(&now, f->root_fd);
	steal = now.steal - f->ticks.steal;
	all = now.all - f->ticks.all;
	recent = f->ticks.all > 0 && steal >= TICKS_COUNT && steal > all / MOST_SHARE;
	if (!f->machine.virtual)
		finding_set(ret, CHECK_ABSENT, "no hypervisor runs below this kernel");
	else if (now.steal < 0 || now.all <= 0)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (recent)
		finding_set(ret, CHECK_OFF,
			"%s of the CPUs' time now, %s since the machine was started",
			text_percent((double)steal / (double)all),
			text_percent((double)now.steal / (double)now.all));
	else if (now.steal == 0)
		finding_set(ret, CHECK_OK,
			"none since the machine was started; not every host reports it");
	else
		finding_set(ret, now.steal > now.all / MOST_SHARE ? CHECK_OFF : CHECK_OK,
			"%s of the CPUs' time since the machine was started",
			text_percent((double)now.steal / (double)now.all));
}
