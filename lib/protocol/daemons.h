/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each daemon used in a run: its executions summed up by the groups of names, and in the end
 * by families. The analysis concludes from this which daemons make samples long; discard.h which
 * samples to discard, and which background processes there were. One module for both, so that a
 * daemon has the same name in both. */
#pragma once

#include "lib/protocol/names.h"
#include "lib/protocol/period.h"
#include "lib/record/profile.h"
#include "lib/stats/summary.h"

/* The zone of a sample's ET. NEAR and FAR are the part of the central cluster beyond its core,
 * below and above the widest gap there, until it is known whether daemons explain it. */
enum zone { ZONE_BELOW, ZONE_CORE, ZONE_NEAR, ZONE_FAR, ZONE_ABOVE, N_ZONES };

/* One execution in an L-sample that is long for its daemon (EMP, step 4). */
struct long_execution {
	uint32_t sample; /* the number of the sample */
	uint32_t at;     /* the index of the sample */
	int64_t pt_ns;
};

/* One daemon in one run. */
struct daemon_statistics {
	char *name;       /* of the group or the family */
	uint32_t names;   /* of a family: how many there are; 0: not a family */
	char *unit, *exe; /* of its longest execution; NULL: none or unknown */
	bool kernel;      /* one of its processes is a kernel thread */
	bool alone;       /* it belongs to no family: a kernel thread, or a group already */
	bool returned;    /* more than one process had this name */
	pid_t pid;        /* of its latest execution */
	size_t executions;
	int64_t max_ns;      /* its longest execution */
	uint32_t max_sample; /* with that execution */
	uint32_t max_source; /* of that execution; 0: none */

	/* By an analysis: */
	size_t n_central;       /* executions in central samples */
	int64_t central_max_ns; /* -1: none */
	double central_sd_ns;   /* n - 1; 0 for fewer than two */
	/* While executions are added: all beyond the core that are longer than those in it so far.
	 * Then only those that made their samples long. */
	struct long_execution *long_executions;
	size_t n_long_executions, capacity;
	int64_t long_min_ns; /* the least of them (min of L); -1: not infrequent */
	struct period period;
	int64_t cutoff_ns; /* step 8, of this run alone; -1: not infrequent */
	/* The share of the delay that it explains: of the time by which the samples that it made
	 * long exceed the central median; NAN: not infrequent. */
	double share;
	bool frequent; /* a known cause of VERDICT_FREQUENT */
	struct running seen[N_ZONES];
	/* The samples up to the bound of the central cluster in which it ran: */
	uint32_t last; /* the number of the last one so far */
	size_t n_present;
	double et_ns;    /* sum of their ETs beyond the central median */
	double pt_ns;    /* sum of its executions in them */
	double usual_ns; /* its mean time in a sample of the core */
	double extra;    /* scratch of verdict.c: how many samples, or ns, it explains */

	/* By discarding: */
	bool profiled;
	const struct cutoff *cutoff; /* while executions are added; NULL: none */
	int64_t total_ns;            /* in all samples */
	bool long_once;              /* one execution took 1 % of its sample's ET or more */
	int64_t in_sample_ns;        /* in the current sample, on the program's CPU if known */
	/* What it took from the program: the sum of in_sample_ns over all samples. In a sample in
	 * which all daemons together used more than was taken, only its part of that counts. */
	int64_t disturbed_ns;
	/* The most that it can have taken: the sum of the smaller of in_sample_ns and
	 * sample_taken_ns(). */
	int64_t disturbed_most_ns;
};

struct daemons {
	struct daemon_statistics *items; /* in the order in which they were first seen */
	size_t n;
	uint32_t *of_source; /* by id: index into items + 1; 0: not seen yet */
	size_t n_sources;
	void *by_name; /* tsearch(3) */
};

/* Adds one execution of `ns` to its daemon, and returns that: it remains valid until the next
 * call. */
struct daemon_statistics *daemons_add(struct daemons *daemons, const struct name_pattern *patterns,
	const struct source *source, const struct execution *execution, int64_t ns);

/* Makes one of the daemons of each family: those of the n families that are known from elsewhere,
 * those found among the rest, and those that have the name of a family already. Nothing can be
 * added afterwards. */
void daemons_join_families(struct daemons *daemons, const char *const *known, size_t n);

void daemons_clear(struct daemons *daemons);

/* Names the daemon after a family that it belongs to. daemons_join_families() then joins them. */
void daemon_name_family(struct daemon_statistics *daemon, const char *family);

/* Whether a process belongs to the family. */
bool family_includes(const char *family, const struct source *source);

/* " (51 names)", behind the name of a family of so many; "" if it is no family (0). */
const char *family_size_text(uint32_t names);

/* Whether an execution of the daemon is long (EMP, step 4): longer than its maximum in the central
 * cluster plus two sd, or of a daemon that never runs there. */
static inline bool daemon_statistics_is_long(const struct daemon_statistics *daemon, int64_t pt_ns)
{
	return daemon->n_central == 0 ||
	       (double)pt_ns > (double)daemon->central_max_ns + 2 * daemon->central_sd_ns;
}
