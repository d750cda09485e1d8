/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMPv4: the running kernel is the newest of this system: see check_rows.h. A container has no kernel of its
 * own, and the host of some virtual machines provides theirs. */
#include "setup/audit/check_rows.h"

#include <stdio.h>

static bool below_floor(const struct facts *f)
{
	const char *floor = policy_floor(f->policy);

	return floor && kernel_compare(f->kernel.running, floor) < 0;
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
	else if (below_floor(f))
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
