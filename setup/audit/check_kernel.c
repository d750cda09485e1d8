/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv4: the kernel that runs is the newest of this system; see check.h. A container has no kernel of its
 * own, and some virtual machines are started with one that their host keeps. */
#include "setup/audit/check.h"

#include <stdio.h>

static bool below_floor(const struct facts *f)
{
	const char *floor = policy_floor(f->policy);

	return floor && kernel_compare(f->kernel.running, floor) < 0;
}

/* True where the kernel is somebody else's; the finding is made then. */
static bool foreign(const struct facts *f, struct finding *ret)
{
	if (f->machine.container)
		finding_set(ret, CHECK_ABSENT, "%s is the host's kernel", f->kernel.running);
	else if (f->machine.virtual && !f->kernel.installed)
		finding_set(ret, CHECK_ABSENT, "%s was brought by the host: no kernel is installed in here",
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

	if (foreign(f, ret))
		return;
	if (k->offered_unknown)
		snprintf(offered, sizeof(offered), " (whether a newer one is offered is not known: %s)",
			k->offered_unknown);
	if (newer(k->offered, k->running) && !newer(k->installed, k->offered))
		finding_set(ret, CHECK_OFF, "%s runs, %s is offered", k->running, k->offered);
	else if (newer(k->installed, k->running))
		finding_set(ret, CHECK_OFF, "%s runs, %s is installed", k->running, k->installed);
	else if (below_floor(f))
		finding_set(ret, CHECK_OFF, "%s runs, the policy wants %s at least", k->running,
			policy_floor(f->policy));
	else if (!k->installed && !k->offered)
		finding_set(
			ret, CHECK_UNKNOWN, "%s runs; no installed kernel to compare it with", k->running);
	else
		finding_set(ret, CHECK_OK, "%s%s", k->running, offered);
}

void check_kernel_pending(const struct facts *f, struct finding *ret)
{
	const struct kernel *k = &f->kernel;

	if (newer(k->installed, k->running) && !f->machine.container)
		finding_set(ret, CHECK_OFF, "%s is installed, %s runs", k->installed, k->running);
	else if (k->reboot_required)
		finding_set(ret, CHECK_OFF, "a package asks for a reboot in /run/reboot-required");
	else if (!foreign(f, ret))
		finding_set(ret, CHECK_OK, "none");
}
