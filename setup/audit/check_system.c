/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv2: one daemon disciplines the clock; EMPv4: the running kernel is the newest of this system; and what else may
 * disturb a run: see check_rows.h.
 *
 * The kernel's report on the clock alone is not enough (ntpsec without a server leaves it at "synchronised" for
 * hours), nor is the daemon's (chronyd -x follows a server and leaves the clock alone). A container has no kernel of
 * its own, and the host of some virtual machines provides theirs. */
#include "setup/audit/check_rows.h"

#include "lib/base/xalloc.h"
#include "lib/base/saturate.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <string.h>

static const char *kernel_says(const struct clock_state *clock)
{
	return !clock->known         ? "the state of the kernel's clock is not known"
	       : clock->synchronised ? "the kernel reports a synchronised clock"
				     : "the kernel reports an unsynchronised clock";
}

static void check_one(const struct facts *f, const struct ntp_daemon *d, struct finding *ret)
{
	const char *kernel = kernel_says(&f->clock);
	bool unsynchronised = f->clock.known && !f->clock.synchronised;

	ret->how = "check its servers and the network; a daemon that has just started needs a minute";
	ret->undo = CHECK_NO_UNDO;

	if (d->answer == NTP_SYNCHRONISED && !unsynchronised)
		finding_set(ret, CHECK_OK, "%s %s; rate corrected by %+.3f ppm", d->name, d->description,
			f->clock.frequency_ppm);
	else if (d->answer == NTP_SYNCHRONISED)
		finding_set(ret, CHECK_OFF, "%s %s, but %s", d->name, d->description, kernel);
	else if (d->answer == NTP_SEARCHING)
		finding_set(ret, CHECK_OFF, "%s runs but %s%s", d->name, d->description,
			f->clock.synchronised ? " (though the kernel reports a synchronised clock)" : "");
	else
		finding_set(ret, unsynchronised ? CHECK_OFF : CHECK_UNKNOWN, "%s runs (%s); %s", d->name,
			d->description, kernel);
}

static void check_many(const struct ntp *ntp, struct finding *ret)
{
	_cleanup_(freep) char *names = NULL;

	for (size_t i = 0; i < ntp->n; i++)
		list_add(&names, ", ", ntp->daemons[i].name);
	finding_set(ret, CHECK_OFF, "%zu daemons set one clock: %s", ntp->n, names ?: "");
	ret->how = "stop all but one of them";
	ret->undo = "start them again";
}

static void check_none(const struct facts *f, struct finding *ret)
{
	finding_set(ret, CHECK_OFF, "no time daemon runs; %s", kernel_says(&f->clock));
	if (!f->has_units) { /* apply could not start one */
		ret->how = "install and start a time daemon, such as chrony";
		ret->undo = "stop it";
	}
}

void check_ntp(const struct facts *f, struct finding *ret)
{
	if (f->ntp.n > 1)
		check_many(&f->ntp, ret);
	else if (f->ntp.n == 1)
		check_one(f, &f->ntp.daemons[0], ret);
	else if (f->machine.container && !f->clock.settable)
		finding_set(ret, CHECK_BY_HOST, "the clock is the host's; %s", kernel_says(&f->clock));
	else
		check_none(f, ret);
}

/* True where the host provides the kernel; the finding is made then. */
static bool is_hosts(const struct facts *f, struct finding *ret)
{
	if (f->machine.container)
		finding_set(ret, CHECK_BY_HOST, "%s is the host's kernel", f->kernel.running);
	else if (f->machine.virtual && !f->kernel.installed)
		finding_set(ret, CHECK_BY_HOST, "%s comes from the host; no kernel is installed here",
			f->kernel.running);
	else
		return false;
	return true;
}

static bool newer(const char *release, const char *than)
{
	return release && kernel_compare(release, than) > 0;
}

void check_kernel_version(const struct facts *f, struct finding *ret)
{
	const struct kernel *k = &f->kernel;
	char offered[256] = "";

	if (is_hosts(f, ret))
		return;
	if (k->offered_unknown)
		snprintf(offered, sizeof(offered), " (whether a newer one is available is not known: %s)",
			k->offered_unknown);
	if (newer(k->offered, k->running) && !newer(k->installed, k->offered))
		finding_set(ret, CHECK_OFF, "%s running, %s available", k->running, k->offered);
	else if (newer(k->installed, k->running))
		finding_set(ret, CHECK_OFF, "%s running, %s installed", k->running, k->installed);
	else if (newer(policy_floor(f->policy), k->running))
		finding_set(ret, CHECK_OFF, "%s running, the policy wants at least %s", k->running,
			policy_floor(f->policy));
	else if (!k->installed && !k->offered)
		finding_set(
			ret, CHECK_UNKNOWN, "%s running; no installed kernel to compare with", k->running);
	else
		finding_set(ret, CHECK_OK, "%s%s", k->running, offered);
}

void check_kernel_pending(const struct facts *f, struct finding *ret)
{
	const struct kernel *k = &f->kernel;

	if (newer(k->installed, k->running) && !f->machine.container)
		finding_set(ret, CHECK_OFF, "%s installed, %s running", k->installed, k->running);
	else if (k->reboot_required)
		finding_set(ret, CHECK_OFF, "a package requires a reboot (/run/reboot-required)");
	else if (!is_hosts(f, ret))
		finding_set(ret, CHECK_OK, "none");
}

void check_system_packagers(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;

	if (s->locked)
		finding_set(ret, CHECK_OFF, "%s is locked", s->locked);
	else if (s->shutdown)
		finding_set(ret, CHECK_OFF, "a shutdown is scheduled");
	else if (s->lock_error)
		finding_set(ret, CHECK_REFUSED, "only root can read the package manager's locks");
	else
		finding_set(ret, CHECK_OK, "none");
}

void check_system_load(const struct facts *f, struct finding *ret)
{
	const struct system_state *s = &f->system_state;
	double load;

	if (!s->load || sscanf(s->load, "%lf", &load) != 1 || f->machine.n_cpus <= 0)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else
		finding_set(ret, load < 0.1 * (double)f->machine.n_cpus ? CHECK_OK : CHECK_OFF,
			"%.2f on %" PRId64 " CPUs%s", load, f->machine.n_cpus,
			f->machine.container ? " (the host's)" : "");
}

enum { SLOWER = 4 }; /* times as slow as calibrated: a machine varies by two */

/* "tsc, 25 ns a reading" */
static char *clock_text(const struct facts *f, bool is_call)
{
	const char *source = f->system_state.clocksource;
	_cleanup_(freep) char *before = f->calibrated_ns > 0
						? text_format(", %.0f ns when calibrated", f->calibrated_ns)
						: NULL;

	if (f->price.clock_ns <= 0)
		return xstrdup(source);
	return text_format("%s, %s%.0f ns a reading%s", source,
		is_call ? "clock_gettime is a system call, " : "", f->price.clock_ns, before ?: "");
}

void check_system_clocksource(const struct facts *f, struct finding *ret)
{
	const char *source = f->system_state.clocksource;
	bool constant = machine_flag(&f->machine, "constant_tsc") && machine_flag(&f->machine, "nonstop_tsc");
	bool guest = f->machine.virtual || f->machine.container, is_call = clock_price_is_call(&f->price);
	bool slower = f->calibrated_ns > 0 && f->price.clock_ns >= SLOWER * f->calibrated_ns;
	_cleanup_(freep) char *text = source ? clock_text(f, is_call) : NULL;

	if (!text)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (slower || (is_call && (constant || guest)))
		finding_set(ret, CHECK_OFF, "%s", text);
	else if (!strcmp(source, "tsc") || !constant)
		finding_set(ret, CHECK_OK, "%s", text);
	else if (guest)
		finding_set(ret, CHECK_BY_HOST, "%s; the host decides", text);
	else
		finding_set(ret, CHECK_OFF, "%s, although the TSC is constant", text);
}

/* Lines of /proc/swaps: name, kind, size, used (KiB), priority. */
void check_system_swap(const struct facts *f, struct finding *ret)
{
	const char *line = f->system_state.swaps;
	int64_t total = 0;
	int areas = 0;

	if (!line) {
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
		return;
	}
	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		int64_t used;

		if (sscanf(line, "%*s %*s %*s %" SCNd64, &used) != 1)
			continue;
		total = saturate_add(total, used);
		areas++;
	}
	if (areas == 0)
		finding_set(ret, CHECK_OK, "no swap");
	else
		finding_set(ret, total ? CHECK_OFF : CHECK_OK, "%" PRId64 " MiB in %d area%s",
			total / 1024 + (total % 1024 > 0), areas, areas == 1 ? "" : "s");
}

void check_system_mains(const struct facts *f, struct finding *ret)
{
	if (f->system_state.mains < 0 && f->machine.virtual)
		finding_set(ret, CHECK_BY_HOST, "the host decides; not visible in a virtual machine");
	else if (f->system_state.mains < 0)
		finding_set(ret, CHECK_ABSENT, "no battery or power adapter is reported");
	else
		finding_set(ret, f->system_state.mains ? CHECK_OK : CHECK_OFF, "%s",
			f->system_state.mains ? "plugged in" : "on battery");
}
