/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this folder share, from the kernel's record to the histogram: the trace, its
 * events, intervals, the attribution of gaps to them, and the arithmetic of gaps. */
#pragma once

#include "lib/host/accounting/identity.h"
#include "lib/base/keymap.h"
#include "lib/jitter/jitter.h"
#include "lib/record/run.h"

#include <sys/types.h>

/* A page of the kernel's ring buffer, record by record: events/header_page and header_event of
 * tracefs, kernel/trace/ring_buffer.c. libtraceevent's kbuffer believes the lengths in a page; here
 * one that leads out of the page ends it. */

struct trace_page {
	const char *data;
	size_t size, next; /* of the data; of the next record in it */
	uint64_t at;       /* the time of the last record */
	/* events before the page: 0, or the number; 1 where the kernel does not say it */
	int64_t lost;
};

struct trace_record {
	uint64_t at;
	const char *data;
	int size;
};

/* Whether `bytes` are enough for a page. It must stay as long as its records are read. */
bool trace_page_open(struct trace_page *ret, const void *page, size_t bytes);
/* The next record; false: there is none. */
bool trace_page_next(struct trace_page *page, struct trace_record *ret);

/* An event of the kernel's trace that says who has the CPU. */

enum trace_what {
	TRACE_SWITCH, /* from one task to another */
	TRACE_BEGIN,
	TRACE_END,
	TRACE_SPAN,  /* ends now, and took length_ns */
	TRACE_FORK,  /* prev has made next */
	TRACE_POINT, /* begins, and nothing says when it ends */
};

enum trace_kind {
	TRACE_TASK,
	TRACE_IRQ,
	TRACE_SOFTIRQ,
	TRACE_VECTOR,
	TRACE_NMI,
	TRACE_FAULT,
	TRACE_WORK
};

struct trace_event {
	uint64_t at; /* as the trace's clock has it */
	enum trace_what what;
	enum trace_kind kind;
	pid_t pid;        /* the thread that had the CPU */
	uint64_t number;  /* of an interrupt, of a softirq; of work the address of its function */
	const char *name; /* of a device, a softirq, a vector; NULL: none. Until the next event */
	int64_t length_ns;
	/* of a switch or a fork; the names until the next event */
	pid_t prev, next;
	const char *prev_name, *next_name;
	bool preempted; /* prev could have gone on */
};

/* Makes events of pages. It is apart from the trace, so that recorded pages can be decoded
 * anywhere. */
struct trace_decoder;

/* `tracing_fd`: the directory tracefs is mounted at, or a copy: what an event looks like is read
 * from the kernel's description of it (events/SYSTEM/NAME/format). Events that this kernel does not
 * have are left out; -ENOTSUP, with a sentence, if it has no sched_switch. `kallsyms`: the text of
 * /proc/kallsyms; NULL: functions have no names. */
int trace_decoder_new(
	struct trace_decoder **ret, int tracing_fd, const char *kallsyms, struct error *err);
void trace_decoder_free(struct trace_decoder *decoder);

/* The next event of a page, whatever its bytes are; false: there are no more. */
bool trace_decode(struct trace_decoder *decoder, struct trace_page *page, struct trace_event *ret);

/* The system ("irq") and the name of the i-th of the events that it decodes; NULL: there are no
 * more. */
const char *trace_decoder_event(
	const struct trace_decoder *decoder, size_t i, const char **ret_system);
/* The kernel's function at an address; NULL: not known. */
const char *trace_decoder_function(struct trace_decoder *decoder, uint64_t address);

/* A private instance of the kernel's trace (tracefs) on some CPUs: what others trace meanwhile is
 * not changed, and nothing remains. The trace of a process that was killed is removed when the next
 * trace is opened. */

struct trace_cpu {
	int cpu;
	int fd;      /* of its raw pages */
	FILE *pages; /* where they are kept; NULL: nowhere */
	/* Events that the buffer did not keep, from trace_forget() to the end of the last pass of
	 * trace_next(), and before. */
	int64_t lost, forgotten;
};

struct trace {
	int tracing_fd; /* of tracefs, as long as the process */
	char *path;     /* of the instance below that */
	int guard;      /* removes the instance, however this process ends */
	int fd;         /* of the instance, locked, which tells others that it has an owner */
	int free_fd;    /* once it is closed, the kernel stops the trace and frees its buffer */
	struct trace_decoder *decoder;
	struct trace_cpu *cpus;
	size_t n_cpus;
	int64_t buffer_bytes;  /* for each CPU */
	int64_t event_cost_ns; /* the time that recording one event takes; 0: not known */

	char *page;
	struct trace_page records; /* of it */
	int64_t read_bytes;        /* in this pass */

	struct output_file kept; /* for trace-cmd and KernelShark */
	char *kept_path;         /* NULL: not kept */
	const char *clock;
	size_t page_size; /* of what is kept */
};

struct trace_request {
	const int *cpus;
	size_t n_cpus;
	const char *clock;    /* of tracefs: "x86-tsc" */
	int64_t buffer_bytes; /* for each CPU */
	bool of_program;      /* with forks, and without page faults, which are the program's own */
	const char *keep;     /* a file for trace-cmd and KernelShark; NULL: none */
};

/* Starts recording. -EPERM, -ENOENT and -ENOTSUP have a sentence that says what is missing. The
 * cost of an event is measured by page faults, so not for a trace of_program. */
int trace_open(struct trace **ret, const struct trace_request *request, struct error *err);
/* Removes the instance. */
void trace_free(struct trace *trace);
DEFINE_FREEP(trace)

/* The next event that was recorded on the i-th of the CPUs. 1: there is one; 0: this pass over the
 * buffer is complete, which may end where the buffer's size was read, if events come as fast. A
 * pass must be completed before that of another CPU. */
int trace_next(struct trace *trace, size_t i, struct trace_event *ret, struct error *err);
/* Drops what was recorded so far. */
int trace_forget(struct trace *trace, struct error *err);

/* Completes the file to keep. */
int trace_keep(struct trace *trace, struct error *err);

/* The arithmetic of gaps: histograms of their lengths, densities, and whether something that comes
 * in bursts takes more of the time in one run than in another. */

/* Histograms have lengths in buckets whose width grows with the length, at most a thirty-second of
 * it, with the same edges in every histogram. Only buckets that hold something take memory, so that
 * there can be one for each of thousands of sources. */

struct histogram_bucket {
	int64_t low, high; /* low <= value < high */
	int64_t count, total;
};

struct histogram {
	struct histogram_bucket *buckets; /* ascending */
	size_t n;
	int64_t count;
};

/* value >= 0. */
void histogram_add(struct histogram *histogram, int64_t value);

/* The mean of the bucket that holds this share of the values (0.5: the median); 0 if there are
 * none. */
int64_t histogram_quantile(const struct histogram *histogram, double share);

/* Frees the buckets. */
void histogram_clear(struct histogram *histogram);

/* Densities by Parzen windows (Parzen 1962): a Gaussian at each point, so that nothing depends on
 * the edges of bins.
 *
 * Points may stand for all values of a narrow bucket. What is narrower than the bucket cannot be
 * seen, so the bandwidth is at least one and a half times the widest bucket; then the density is
 * that of the values themselves, but for a tenth where it is a thousandth of its highest
 * (tests/unit/test_density.c). */

struct density_point {
	double at;
	double weight; /* how many values */
	double width;  /* of the bucket; 0: a single value */
};

/* The bandwidth of Botev, Grotowski and Kroese (2010), which finds narrow peaks side by side with
 * wide ones where rules based on the standard deviation would blur them; at least 1.5 times the
 * widest bucket. 0: fewer than two values, or all are one. */
double density_bandwidth(const struct density_point *points, size_t n);

/* The density at x times the number of values. */
double density_at(const struct density_point *points, size_t n, double bandwidth, double x);

/* Whether something that comes in bursts takes more of the time in one run than in another, by more
 * than chance.
 *
 * Bursts make counts vary far more than Poisson's, so the time is counted in rounds: how it varies
 * from round to round, and how much a round is like the next, shows how much chance can explain. */

/* One side: n rounds of equal length, and what it took in them. */
struct rate {
	double n;        /* rounds */
	double time_ns;  /* all rounds together */
	double with;     /* rounds in which it occurs */
	double total_ns; /* of all rounds */
	double squares;  /* sum of the squares of its time in a round */
	double steps;    /* sum of the squares of the differences between neighbouring rounds */
};

/* The p-value of "the rate of b is at most `margin` times that of a": small where b has more.
 * margin >= 1. */
double rate_more(const struct rate *a, const struct rate *b, double margin);

/* total_ns / time_ns of b, divided by that of a; INFINITY if only b has any. Its 95 % interval: the
 * margins that rate_more() does not reject on either side; INFINITY: no upper bound. */
double rate_ratio(const struct rate *a, const struct rate *b, double *ret_low, double *ret_high);

/* Intervals of one CPU. All times are ns since the start of the run. */

/* Turns the events of one CPU into intervals in which a source had the CPU instead of one thread,
 * the watcher. Intervals nest: an interrupt that occurs while another runs lies inside it, and its
 * time is not part of the net time of the outer one.
 *
 * Nothing is guessed. An end without a beginning is dropped and counted. If sched_switch leaves
 * another task than it last switched to, "an unknown task" had the CPU; if it leaves the watcher,
 * only the switch back to the watcher is missing, whose time the end of the gap shows. */

/* A source of interruptions. Events have numbers and the names that were valid at the time; each is
 * made a source once. */
struct jitter_source_name {
	char *name;
	char *unit; /* NULL: none or not known */
	enum source_kind kind;
	uint32_t *parts; /* of a combination, in the order of its name */
	size_t n_parts;
};

struct jitter_sources {
	struct jitter_source_name *items;
	size_t n;
	struct keymap known; /* by hashes of what events have */
	size_t n_combinations;
	struct identity *identity;     /* owned; NULL: threads have no units */
	struct trace_decoder *decoder; /* NULL: kernel workers go without functions */
	const char *outside;           /* the name of what stops the CPU below the kernel */
};

void jitter_sources_clear(struct jitter_sources *sources);

/* The index of the source of a thread. Kernel workers are grouped by lib/protocol/names.h. */
uint32_t jitter_source_of_thread(struct jitter_sources *sources, pid_t pid, const char *name);
/* The source with these, which may be new. unit: NULL: none. */
uint32_t jitter_source_add(
	struct jitter_sources *sources, const char *name, const char *unit, enum source_kind kind);
/* The source of several in one gap, in any order. A single one is returned as it is. */
uint32_t jitter_source_of_parts(struct jitter_sources *sources, const uint32_t *parts, size_t n);

struct trace_interval {
	int64_t start_ns, end_ns; /* end < start: it is open, or was dropped */
	/* if it is open-ended: what is to be added to its length, 0 or less */
	int64_t net_ns;
	uint32_t source;
	uint8_t depth;   /* 0: not nested */
	bool switched;   /* its start and its end are switches of tasks */
	bool resumed;    /* the task was preempted before and continues */
	bool open_ended; /* it ends with its gap */
};

enum { INTERVALS_DEEPEST = 8 };

struct intervals {
	pid_t watcher;
	struct jitter_sources *sources;
	struct trace_interval *items; /* by start */
	size_t n, capacity;
	struct {
		size_t item;
		enum trace_kind kind;
		uint64_t number;
		int64_t inner_ns; /* of those nested in it */
	} open[INTERVALS_DEEPEST];
	size_t depth;
	pid_t current;         /* -1: not known */
	bool worked;           /* the interval of a kernel worker has had its function */
	struct keymap threads; /* what is known of a thread from its last switch */
	int64_t events, broken;
};

void intervals_begin(struct intervals *intervals, pid_t watcher, struct jitter_sources *sources);
void intervals_clear(struct intervals *intervals);

/* The next event, with its time in ns. */
void intervals_add(struct intervals *intervals, const struct trace_event *event, int64_t at_ns);
/* Events were lost here: what is open is dropped. */
void intervals_lost(struct intervals *intervals);
/* Removes the first n. */
void intervals_drop(struct intervals *intervals, size_t n);

/* Gaps that no event explains: whether they occur at fixed periods, as the interrupts of a virtual
 * machine's host do. */

struct unexplained_item {
	int64_t start_ns, length_ns;
	bool whole; /* a gap, not the rest of one that an event explains in part */
};

struct spacing_bin {
	int64_t count, total_ns;
};

struct unexplained_period {
	/* from an item to those after it, without the items of the periods before */
	struct spacing_bin *spacings;
	int64_t period_ns; /* 0: none found so far */
	int64_t items, total_ns;
	int64_t count; /* of the items: whole gaps */
	bool firm;     /* enough items have it; otherwise they belong to the rest */
};

enum { UNEXPLAINED_PERIODS = 4 };

struct unexplained {
	struct unexplained_period periods[UNEXPLAINED_PERIODS]; /* those found come first */
	int64_t rest, rest_ns; /* of whole gaps, and of all items, without a period */
};

/* A round's items, by start; those of less than a microsecond or two are never called periodic. */
void unexplained_add(
	struct unexplained *unexplained, const struct unexplained_item *items, size_t n);
void unexplained_clear(struct unexplained *unexplained);

/* The sums of all items that have a firm period, and of all others. */
struct unexplained_sums {
	int64_t periodic, periodic_ns, rest, rest_ns;
};
struct unexplained_sums unexplained_sums(const struct unexplained *unexplained);

/* Whether the kernel ran in a gap. */
enum gap_origin { GAP_UNKNOWN, GAP_IN_KERNEL, GAP_OUTSIDE_KERNEL };

struct gap_seen {
	int64_t start_ns, end_ns;
	enum gap_origin origin;
};

/* What was seen in a round: gaps and intervals, by start. */
struct jitter_round {
	int64_t from_ns, to_ns;
	const struct gap_seen *gaps;
	size_t n_gaps;
	const struct trace_interval *intervals;
	size_t n_intervals;
};

enum { MATCH_CLASSES = 48, MOST_LONGEST = 100, MOST_INTERRUPTION_PARTS = 32 };

struct long_interruption {
	int64_t start_ns, length_ns;
	int64_t source; /* -1: not explained */
	struct trace_interval parts[MOST_INTERRUPTION_PARTS];
	size_t n_parts;
};

/* A source's row of Table I, and what that is made of. */
struct source_statistics {
	struct jitter_source row; /* without CPU, level, id and period */
	struct histogram lengths;
	struct histogram spacings; /* from one start to the next */
	int64_t last_start_ns;
	int64_t round_ns, last_round_ns; /* its time in this round, and in the one before */
};

/* By the index of the source. */
struct source_rows {
	struct source_statistics *items;
	size_t n;
};

struct attribution {
	struct jitter_sources *sources;
	/* that of gaps outside the kernel; -1: none so far */
	int64_t outside_source;
	uint64_t random;                            /* of the shifts */
	struct jitter_cpu cpu;                      /* the sums so far */
	bool origin_known;                          /* of a gap at least */
	struct jitter_match classes[MATCH_CLASSES]; /* gaps of 2^i to 2^(i+1) ns */
	struct histogram user, master;
	struct source_rows times, frequencies;
	/* by how much gaps are longer than their intervals, for each interval */
	struct histogram excess;
	/* of gaps in the kernel, or of unknown origin; of those outside the kernel */
	struct unexplained unexplained, outside;
	struct long_interruption *longest; /* MOST_LONGEST of them, the longest first */
	size_t n_longest;
};

void attribution_begin(
	struct attribution *attribution, int64_t threshold_ns, struct jitter_sources *sources);
void attribution_clear(struct attribution *attribution);

/* Intervals that start after the last gap of the round wait for the next round. Returns how many
 * were used. */
size_t attribution_round(struct attribution *attribution, const struct jitter_round *round);

/* The sums, with what no event explains; what only the loop and the trace know is left out. */
struct jitter_cpu attribution_sums(const struct attribution *attribution);

/* How far apart the intervals of a source are, if at least half of the distances are within 5 % of
 * each other; else 0. */
int64_t source_period(const struct source_statistics *statistics);
