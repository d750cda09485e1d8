/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tags of programs under test: see tag.h. */
#include "lib/host/process/tag.h"

#include <unistd.h>

/* Far from where anybody sets a limit, and below RLIM_INFINITY. A measured emp-measure has a tag,
 * too: its own are below that. */
static const rlim_t MOST = (rlim_t)1 << 62, LEAST = (rlim_t)1 << 61;
enum { NUMBER_BITS = 20 };

/* The tag with the number 0. */
static rlim_t first_tag(void)
{
	rlim_t below = (rlim_t)getpid() << NUMBER_BITS;
	struct rlimit own;

	if (getrlimit(RLIMIT_LOCKS, &own) < 0)
		return 0;
	if (own.rlim_max > MOST)
		own.rlim_max = MOST;
	return own.rlim_max - below > LEAST && own.rlim_max > below ? own.rlim_max - below : 0;
}

rlim_t tag_make(unsigned int number)
{
	rlim_t first = first_tag();

	return first ? first - number : 0;
}

int tag_number(rlim_t tag)
{
	rlim_t first = first_tag();

	return tag <= first && first - tag < (rlim_t)1 << NUMBER_BITS ? (int)(first - tag) : -1;
}

int tag_read(pid_t pid)
{
	struct rlimit limit;

	return prlimit(pid, RLIMIT_LOCKS, NULL, &limit) == 0 ? tag_number(limit.rlim_max) : -1;
}
