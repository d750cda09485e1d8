/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of one run: the central cluster, the L-samples and their causes, the statistics of
 * each daemon in both, its period, and the cutoff from this run alone (EMP, steps 2 to 8). */
#pragma once

#include "lib/protocol/names.h"
#include "lib/stats/summary.h"

/* The central cluster of a run's elapsed times, found by successive zooms (EMP, step 2, Figures 14
 * and 15). The top of cluster.c has its assumptions and sources. */

enum zoom_end {
	/* a gap that the samples within do not explain: the next zoom excludes the samples beyond
	 * it */
	ZOOM_GAP,
	ZOOM_DAEMONS, /* no gap, but daemons explain the samples that the next zoom excludes */
	ZOOM_HAND,    /* the caller set the bound of the next zoom */
	ZOOM_LAST,    /* nothing more to exclude */
};

/* One zoom: the samples in view, and the bound of the next zoom. */
struct zoom {
	int64_t low_ns, high_ns; /* the shortest and the longest ET in view, both inclusive */
	size_t left;             /* samples in view */
	enum zoom_end end;
	bool below;         /* the next zoom excludes samples on the short side */
	size_t beyond;      /* how many samples that is */
	int64_t gap_ns;     /* ZOOM_GAP: its size */
	int64_t longest_ns; /* ZOOM_GAP: the longest gap that the samples within explain */
	double explained;   /* ZOOM_DAEMONS: the share of those samples that daemons explain */
};

struct cluster {
	int64_t low_ns, high_ns; /* the central cluster: low <= ET <= high */
	int64_t median_ns;       /* of the central cluster */
	/* Two tighter upper bounds, which hold if daemons explain the samples beyond; high_ns:
	 * none. */
	int64_t core_high_ns; /* the longest ET that one symmetric cluster explains */
	/* below the widest gap beyond the core, which alone is not significant */
	int64_t near_high_ns;
	struct zoom *zooms; /* from everything to the central cluster, which is the last */
	size_t n_zooms;
	size_t n_samples, n_central, n_above, n_below;
	size_t n_arms;    /* pairs of which one is above: in an arm of the L */
	size_t n_corners; /* pairs of which both are above: the upper right of the scatter */
	bool by_hand;     /* the upper bound was set by hand */
};

/* resolution_ns: of what was recorded; 1: exact. by_hand_ns: the longest central ET, set by hand;
 * 0: find it. -EINVAL: no samples, or none at or below by_hand_ns. */
int cluster_find(struct cluster *ret, const struct sample *samples, size_t n, int64_t resolution_ns,
	int64_t by_hand_ns, struct error *err);

/* Adds a zoom to high_ns; explained: the share of the samples beyond it that daemons explain. */
void cluster_tighten(struct cluster *central, const struct sample *samples, size_t n,
	int64_t high_ns, double explained);

void cluster_clear(struct cluster *central);

static inline bool cluster_holds(const struct cluster *central, int64_t et_ns)
{
	return et_ns >= central->low_ns && et_ns <= central->high_ns;
}

/* These texts are valid as those of text_brief() are. What the next zoom excludes and why. */
const char *zoom_why(const struct zoom *zoom);

/* Whether a daemon is periodic (EMP, step 6): the samples in which it ran long are one period
 * apart, and no occurrence is missing before the first or after the last. */

struct period {
	size_t occurrences; /* consecutive samples count once */
	/* from one occurrence to the next, their median; 0: not found in sample numbers */
	double samples;
	double ns;     /* the same in time; 0: not found in time */
	double chance; /* that the same number of random occurrences looks as periodic */
	bool firm;     /* three occurrences or more, and a chance below 5 % */
};

/* When a sample was. */
struct sample_span {
	int64_t from_ns, to_ns;
};

/* In time: the occurrences are ascending indexes into the n samples of the run, each of which
 * starts after the one before, and not before that ends. samples NULL: in sample numbers,
 * ascending. */
struct period period_find(const uint32_t *occurrences, size_t n_occurrences,
	const struct sample_span *samples, size_t n);

static inline bool period_is_known(const struct period *period)
{
	return period->samples > 0 || period->ns > 0;
}

/* What each daemon used in a run: its executions summed up by the groups of names, and in the end
 * by families (daemons.c). The analysis concludes from this which daemons make samples long;
 * discard.h which samples to discard, and which background processes there were. */

/* Times in whole units of a resolution, rounded half up as the papers' tables are. */
static inline int64_t resolution_round(int64_t ns, int64_t resolution_ns)
{
	return (ns + resolution_ns / 2) / resolution_ns * resolution_ns;
}

/* Halfway between two times that are in whole units already. */
static inline int64_t resolution_midpoint(int64_t a_ns, int64_t b_ns, int64_t resolution_ns)
{
	return (a_ns + b_ns + resolution_ns) / (2 * resolution_ns) * resolution_ns;
}

/* The zone of a sample's ET. NEAR and FAR are the part of the central cluster beyond its core,
 * below and above the widest gap there, until it is known whether daemons explain it. */
enum zone { ZONE_BELOW, ZONE_CORE, ZONE_NEAR, ZONE_FAR, ZONE_ABOVE, N_ZONES };

/* One execution in an L-sample that is long for its daemon (step 4). */
struct long_execution {
	uint32_t sample; /* its number, and by index */
	uint32_t at;
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
	struct long_execution *
		/* while executions are added: beyond the core, longer than all in it so far */
		long_executions;
	size_t n_long_executions, capacity;
	int64_t long_min_ns; /* the least of them (min of L); -1: not infrequent */
	struct period period;
	int64_t cutoff_ns; /* step 8, of this run alone; -1: not infrequent */
	/* of the delay of the samples in which it ran long, beyond the central median: the part
	 * that it explains; NAN: not infrequent */
	double share;
	bool frequent; /* a known cause of VERDICT_FREQUENT */
	struct running seen[N_ZONES];
	/* the last sample that it ran in, of those up to the bound of the central cluster */
	uint32_t last;
	size_t n_present; /* how many those are */
	/* and their ETs, beyond the central median, and its own time in them; sums */
	double et_ns, pt_ns;
	double usual_ns; /* in a sample of the core */
	double extra;    /* by verdict.c: what it explains, in samples or in ns */

	/* By discarding: */
	bool profiled;
	const struct cutoff *cutoff; /* while executions are added; NULL: none */
	int64_t total_ns;            /* in all samples */
	bool long_once;              /* one execution took 1 % of its sample's ET or more */
	/* in the current sample, on the program's CPU if that is known */
	int64_t in_sample_ns;
	/* what it took from the program: in each sample in_sample_ns, or, where all daemons
	 * together have more of that than was taken, its part of what was taken */
	int64_t disturbed_ns;
	/* the most that it can have taken: in each sample, the smaller of in_sample_ns and
	 * sample_taken_ns */
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

/* Makes it a part of the family of that name, without joining. */
void daemon_name_family(struct daemon_statistics *daemon, const char *family);

/* Whether this is one of the family's processes. */
bool family_includes(const char *family, const struct source *source);

/* " (51 names)", behind the name of a family of so many; "" if it is no family (0). */
const char *family_size_text(uint32_t names);

/* Which shape the scatter of the dual executions has. */
enum verdict {
	VERDICT_L,     /* rare long samples, in the arms of an L, that daemons explain */
	VERDICT_CLEAN, /* one cluster, and no daemon that explains what lies outside it */
	/* long samples are so many that they meet in the upper right; daemons may explain them */
	VERDICT_FREQUENT,
	VERDICT_DRIFT, /* the speed of the machine wanders */
	VERDICT_STEP,  /* two speeds: it changed in between, or goes back and forth */
	VERDICT_BUSY,  /* other processes take a part of every sample */
};

/* "L", "clean", "frequent", "drift", "step", "busy" */
const char *verdict_name(enum verdict verdict);

/* Whether cutoffs may be made from a run with this verdict. */
static inline bool verdict_gives_cutoffs(enum verdict verdict)
{
	return verdict == VERDICT_L || verdict == VERDICT_CLEAN;
}

/* What the central cluster hides. */
struct cluster_noise {
	bool noisy;
	/* the longest central ET beyond the median: daemons that take less are not detected */
	int64_t blind_ns;
	/* robust sd of the central PTs, as a share of their median; NAN: of one sample */
	double pt_sd;
	/* samples that are long without a known cause, if they are too many; otherwise 0 */
	size_t n_long;
};

/* "noisy: blind to daemons below 16 ms, PT varies by 3.1 %" */
const char *noise_describe(const struct cluster_noise *noise);

/* Step 4: longer than its maximum in the central cluster plus two sd, or never in the central
 * cluster. */
static inline bool daemon_statistics_is_long(const struct daemon_statistics *daemon, int64_t pt_ns)
{
	return daemon->n_central == 0 ||
	       (double)pt_ns > (double)daemon->central_max_ns + 2 * daemon->central_sd_ns;
}

struct analysis {
	struct run run;
	int64_t resolution_ns;  /* of the PTs below */
	struct sample *samples; /* by_wait: et_ns is W and the usual ET - W */
	size_t n_samples;
	bool by_wait;
	int64_t median_rest_ns; /* by_wait: the median ET - W; otherwise 0 */
	/* by_wait: whose W is not known, so that they are long by their ET or not at all */
	size_t n_by_et;
	double spacing_ns; /* mean, from the start of a sample to the next one's */
	struct cluster central;
	enum verdict verdict;
	struct cluster_noise noise;
	char *why;           /* the reason for the verdict, and whether it is noisy */
	uint32_t *l_samples; /* ascending; above the central cluster, because daemons ran long */
	size_t n_l_samples;
	/* above the central cluster, and no daemons explain it; where noise.n_long > 0, all of
	 * those */
	uint32_t *unexplained;
	size_t n_unexplained;
	struct daemon_statistics *statistics; /* by name; every daemon that was seen */
	size_t n_statistics;
};

struct analysis_options {
	int64_t resolution_ns;  /* PTs are rounded half up to it; 0: the run's own */
	int64_t central_max_ns; /* the longest central ET, set by hand; 0: detect it */
	/* what daemons used on other CPUs counts, too; otherwise only where it is not known */
	bool other_cpus;
	/* L-samples are those with a long waiting time W, whatever the program itself took */
	bool by_wait;
	/* the same, if W is exact and known of nine in ten samples; otherwise by ET, as in the
	 * papers */
	bool by_wait_if_exact;
	const struct name_pattern *patterns; /* must outlive the analysis */
	/* Other runs whose families of names are also families here; they must outlive the feed.
	 * NULL: none. */
	const struct analysis *family_reference[2];
};

/* NULL: it did not run. */
const struct daemon_statistics *analysis_daemon(const struct analysis *analysis, const char *name);

/* The interval at which it runs long; 0: no period was found. A period that does not fit into an
 * int64_t, of samples that take years, is the longest that does. */
double analysis_period_ns(const struct analysis *analysis, const struct daemon_statistics *daemon);

/* "every 112 samples = 4 h 0 min, firm (7 times; by chance in under 0.1 %)" */
const char *analysis_period_text(
	const struct analysis *analysis, const struct daemon_statistics *daemon);

/* Whether cutoffs may be made from this run: its verdict gives them, or a person set the bound of
 * its cluster. */
static inline bool analysis_gives_cutoffs(const struct analysis *analysis)
{
	return verdict_gives_cutoffs(analysis->verdict) || analysis->central.by_hand;
}

void analysis_clear(struct analysis *analysis);

/* Makes an analysis of a run from its executions, one at a time and in the order of samples. It
 * keeps in memory one row for each daemon, and the executions of samples outside the central
 * cluster. */
struct analysis_feed;

/* Takes the run and its samples over on success. `sources` and the patterns must outlive the feed.
 * -EINVAL: the run has no samples, or none at or below options->central_max_ns. */
int analysis_feed_new(struct analysis_feed **ret, struct run *run, struct sample *samples,
	size_t n_samples, const struct sources *sources, const struct analysis_options *options,
	struct error *err);
void analysis_feed_free(struct analysis_feed *feed);
DEFINE_FREEP(analysis_feed)

/* A book_each. Executions after the last sample are ignored: they were added after the samples were
 * read. -EINVAL: a sample or a source that does not exist. */
int analysis_feed_add(void *feed, const struct execution *execution, struct error *err);

/* The analysis; nothing can be added afterwards. */
struct analysis analysis_feed_finish(struct analysis_feed *feed);
