/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv2: exactly one daemon disciplines the clock, and both it and the kernel say so; see check.h.
 *
 * The kernel's word alone is not enough (ntpsec without a server makes it say "synchronised" for hours), nor
 * is the daemon's (chronyd -x follows a server and leaves the clock alone). */
#include "setup/audit/check.h"

#include <stdio.h>

static const char *kernel_says(const struct clock_state *clock)
{
	return !clock->known         ? "the kernel's clock could not be asked"
	       : clock->synchronised ? "the kernel calls its clock synchronised"
				     : "the kernel calls its clock unsynchronised";
}

static void check_one(const struct facts *f, const struct ntp_daemon *d, struct finding *ret)
{
	const char *kernel = kernel_says(&f->clock);
	bool unsynchronised = f->clock.known && !f->clock.synchronised;

	ret->how =
		"see why it follows no server: its configuration, the network, or only that it has just begun";
	ret->undo = "nothing to undo";

	if (d->answer == NTP_SYNCHRONISED && !unsynchronised)
		finding_set(ret, CHECK_OK, "%s %s; rate corrected by %+.3f ppm", d->name, d->words,
			f->clock.frequency_ppm);
	else if (d->answer == NTP_SYNCHRONISED)
		finding_set(ret, CHECK_OFF, "%s %s, but %s", d->name, d->words, kernel);
	else if (d->answer == NTP_SEARCHING)
		finding_set(ret, CHECK_OFF, "%s runs and %s%s", d->name, d->words,
			f->clock.synchronised ? " (the kernel's word of a synchronised clock proves nothing)"
					      : "");
	else
		finding_set(ret, unsynchronised ? CHECK_OFF : CHECK_UNKNOWN, "%s runs (%s); %s", d->name,
			d->words, kernel);
}

static void check_many(const struct ntp *ntp, struct finding *ret)
{
	char names[160];
	int len = 0;

	for (size_t i = 0; i < ntp->n && len < (int)sizeof(names); i++)
		len += snprintf(
			names + len, sizeof(names) - len, "%s%s", i ? ", " : "", ntp->daemons[i].name);
	finding_set(ret, CHECK_OFF, "%zu daemons steer one clock: %s", ntp->n, names);
	ret->how = "switch all but one of them off";
	ret->undo = "switch them on again";
}

static void check_none(const struct facts *f, struct finding *ret)
{
	finding_set(ret, CHECK_OFF, "no time daemon runs; %s", kernel_says(&f->clock));
	if (!f->has_units) { /* apply could not start one */
		ret->how = "install chrony or another time daemon, give it a server, and start it";
		ret->undo = "end it";
	}
}

void check_ntp(const struct facts *f, struct finding *ret)
{
	if (f->ntp.n > 1)
		check_many(&f->ntp, ret);
	else if (f->ntp.n == 1)
		check_one(f, &f->ntp.daemons[0], ret);
	else if (f->machine.container && !f->clock.settable)
		finding_set(ret, CHECK_ABSENT, "the clock is the host's; %s", kernel_says(&f->clock));
	else
		check_none(f, ret);
}
