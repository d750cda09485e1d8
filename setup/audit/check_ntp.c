/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv2: one daemon disciplines the clock: see check_rows.h.
 *
 * The kernel's report alone is not enough (ntpsec without a server leaves it at "synchronised" for hours), nor
 * is the daemon's (chronyd -x follows a server and leaves the clock alone). */
#include "setup/audit/check_rows.h"

#include <stdio.h>

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
	char names[160];
	int len = 0;

	for (size_t i = 0; i < ntp->n && len < (int)sizeof(names); i++)
		len += snprintf(
			names + len, sizeof(names) - len, "%s%s", i ? ", " : "", ntp->daemons[i].name);
	finding_set(ret, CHECK_OFF, "%zu daemons set one clock: %s", ntp->n, names);
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
