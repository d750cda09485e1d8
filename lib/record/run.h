/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of a run as plain structs: the run, its samples, and in each sample the executions of
 * the other processes that ran. The names are those of the papers. Times are ns. */
#pragma once

#include "lib/base/json.h"
#include "lib/record/fields.h"

#include <sys/types.h>

enum run_kind {
	RUN_IMPORT,
	RUN_SHORT, /* of a calibration */
	RUN_LONG,
	RUN_REVALIDATE,
	RUN_MEASURE,
	RUN_JITTER,
	RUN_CLOCKS,
	RUN_LOAD,
	RUN_DUET,
	N_RUN_KINDS
};

enum run_state { RUN_OPEN, RUN_DONE, RUN_INTERRUPTED, RUN_FAILED, N_RUN_STATES };

/* The words for them: in the book, in documents, on the screen. */
extern const char *const run_kind_names[N_RUN_KINDS + 1]; /* ends with NULL */
extern const char *const run_state_names[N_RUN_STATES];
/* For the reader: one that was not ended is running, because the book reads others as
 * interrupted. */
static inline const char *run_state_word(enum run_state state)
{
	return state == RUN_OPEN ? "running" : run_state_names[state];
}

/* What is done about a neighbour: somebody on the other hardware thread of the program's core. */
enum neighbour_rule {
	NEIGHBOUR_OFF, /* nothing */
	/* samples that had a neighbour for more than a given share of their time are discarded */
	NEIGHBOUR_DISCARD,
	/* the times of all samples are taken to what they would be without a neighbour */
	NEIGHBOUR_ADJUST,
	NEIGHBOUR_AUTO, /* discard, or adjust if too few samples are left */
	N_NEIGHBOUR_RULES
};

extern const char *const neighbour_rule_names[N_NEIGHBOUR_RULES + 1]; /* ends with NULL */

enum { NEIGHBOUR_LIMIT_PPM = PPM / 20 }; /* unless a run has another one */

enum { UID_SIZE = 33 };

/* How much neighbouring samples of a machine are alike. */
struct correlation {
	double lag1;     /* of their PTs */
	int64_t samples; /* from which it is known; 0: not known */
};

/* In place of a digest: --check refused a sample; samples differ (also ""). */
#define OUTPUT_FAILED "failed"
#define OUTPUT_VARIES "varies"

struct run {
	int64_t id; /* in the book; 0: not stored */
	/* 128 random bits in hexadecimal, the same in every book; "": the book makes one */
	char uid[UID_SIZE];
	enum run_kind kind;
	enum run_state state;
	char *program;   /* "INC128", "xz" */
	char *command;   /* JSON array of its arguments; NULL: unknown */
	char *name;      /* that the user gave the command (--command-name); NULL: none */
	char *backend;   /* "bpf", "taskstats", "none"; NULL: imported */
	char *pt_source; /* "cgroup", "wait4"; NULL: imported */
	/* of W: "bpf", "taskstats", "schedstat", "elapsed" (of a duet); NULL: unknown */
	char *wait_source;
	char *profile; /* that it was measured with; NULL: none */
	/* its id in the book, where it stays if it is replaced; 0: not in the book */
	int64_t profile_id;
	struct correlation correlation; /* of its machine, as it was known when the run began */
	char *inc_digest;               /* SHA-256 of INC as it was then; NULL: not known */
	char *owner;                    /* the process that makes it (process.h); NULL: not known */
	/* names.ini as it was when it was measured, "": there was none; NULL: not known */
	char *name_patterns;
	bool other_cpus;              /* cutoffs applied to what daemons used on other CPUs, too */
	int64_t unprofiled_share_ppm; /* of ET, that an unprofiled daemon could use; 0: any */
	/* equal if two runs of one call are of the same program: see comparison_work; NULL: not
	 * known */
	char *program_digest;
	/* SHA-256 of what each of its samples wrote; OUTPUT_FAILED, OUTPUT_VARIES: there is no such
	 * one; NULL: not compared. */
	char *output_digest;
	enum neighbour_rule neighbour_rule;
	/* the share of a sample's time with a neighbour above which it is discarded */
	int64_t neighbour_limit_ppm;
	/* How much a neighbour slows the program down (lib/stats/neighbour.h), as earlier runs of
	 * it on this machine show, when the run began: the slope, and its standard error, 0: not
	 * known. */
	int64_t neighbour_slope_ppm, neighbour_slope_error_ppm;
	/* control groups: "the quota of /docker/4f2a1b"; NULL: none */
	char *held_back_by;
	/* for the reader ("audit: not fit, run anyway"); NULL: none */
	char *notes;
	int64_t task_length_ns; /* nominal; 0: unknown */
	int64_t resolution_ns;  /* of its PTs; 1 = exact */
	int64_t started_ns;     /* since 1970 */
	int64_t ended_ns;       /* 0: not ended */
	int64_t environment;    /* id in the book, 0: none */
	int cpu;                /* -1: not pinned */
	uint32_t n_samples;     /* in the book; ignored when a run is begun */
};

/* Whole lines below a result, the gravest kind first. */
enum note_kind {
	NOTE_UNMEASURABLE, /* the program was held back for so long that its times mean little */
	NOTE_PROFILE,      /* the profile is of another environment or CPU */
	NOTE_PROGRAM,      /* the program failed, or was not measured as a whole */
	NOTE_FEW,          /* too few samples were kept */
	NOTE_NOISE,        /* the machine or the profile is noisy */
	NOTE_CORRELATION,  /* neighbouring samples are alike */
	NOTE_OTHER,
	NOTE_SHELL,      /* a shell ran the command line */
	NOTE_RESOLUTION, /* what the machine could resolve; shown in a place of its own */
	N_NOTE_KINDS
};

extern const char *const note_kind_names[N_NOTE_KINDS];

struct note {
	uint32_t n; /* counts from 1 */
	enum note_kind kind;
	char *text;
};

extern const struct field_table note_table;

extern const struct field_table run_table, sample_table, counters_table, execution_table,
	source_table;

void run_clear(struct run *run); /* frees the members and zeroes */

/* The share of a sample's time above which a neighbour counts. */
static inline int64_t run_neighbour_limit_ppm(const struct run *run)
{
	return run->neighbour_limit_ppm ?: NEIGHBOUR_LIMIT_PPM;
}

/* Whether W is that of all tasks of the program, since it started. */
static inline bool run_wait_is_exact(const struct run *run)
{
	return run->wait_source && !strcmp(run->wait_source, "bpf");
}

/* Words as a JSON array, for run.command; bytes that are not UTF-8 become \xNN. The caller frees
 * it. */
char *run_command_json(char *const *argv);
/* Its command as a line, quoted where a shell needs it; if that is not known, its program. The
 * caller frees it. */
char *run_command_line(const struct run *run);

/* The mean of a run's samples, to see how runs of one program vary. */
struct run_mean {
	int64_t run;
	int64_t started_ns, ended_ns; /* of its first and its last sample */
	double mean_ns;
	int64_t n_samples;
};

struct run_means {
	struct run_mean *items; /* in the order of their start */
	size_t n;
};

struct sample {
	uint32_t n;       /* counts from 1 */
	int64_t start_ns; /* since 1970 */
	int64_t et_ns, pt_ns;
	int64_t user_ns, system_ns; /* -1: unknown */
	int64_t max_rss_bytes;      /* -1: unknown */
	int64_t observer_ns;        /* CPU time of both snapshots; -1: unknown */
	int64_t lost;               /* exit records that did not arrive */
	int exit_status;            /* as a shell reports it; -1: unknown */
	int left_behind;            /* processes that outlived the program */
	bool incomplete;            /* executions may be missing */
	/* the kernel counts what EMP had when it started the program, which was more */
	bool max_rss_at_most;
	/* W: its tasks were ready to run but did not, because others had the CPU; -1: unknown */
	int64_t wait_ns;
	int64_t et_late_ns; /* its end was seen late: ET is up to this much too long; -1: unknown */
	/* they could not, because a control group held them back; -1: unknown */
	int64_t held_back_ns;
	/* the share of its time in which somebody used the other hardware thread of its core, and
	 * the standard error of that; -1: unknown */
	int64_t neighbour_ppm, neighbour_error_ppm;
	/* CPU time of the probes that found this, in none of the times above; -1: unknown */
	int64_t probe_ns;
};

/* Whether it had a neighbour for more of its time than the limit. False: also if that is not
 * known. */
static inline bool sample_has_neighbour(const struct sample *sample, int64_t limit_ppm)
{
	return sample->neighbour_ppm > limit_ppm;
}

/* Whether its end was seen so late that its ET means little. */
static inline bool sample_is_late(const struct sample *sample)
{
	return sample->et_late_ns > sample->et_ns / 100;
}

/* Whether ET is the time of all that PT and W count: no process of the program went on after it,
 * and its end is known. */
static inline bool sample_is_whole(const struct sample *sample)
{
	return sample->left_behind == 0 && !sample_is_late(sample);
}

/* W as a part of ET; -1: unknown, or longer, since several tasks waited at once on several CPUs. */
static inline int64_t sample_wait_ns(const struct sample *sample)
{
	return sample->wait_ns <= sample->et_ns ? sample->wait_ns : -1;
}

/* The most that others can have taken from it: W; where that is not known, what one task lacks and
 * no control group held back. */
static inline int64_t sample_taken_ns(const struct sample *sample)
{
	int64_t most_ns = sample->et_ns - sample->pt_ns;

	if (sample->wait_ns >= 0)
		return sample->wait_ns;
	if (sample->left_behind > 0) /* part of PT is after ET */
		return sample->et_ns;
	if (sample->held_back_ns > 0)
		most_ns -= sample->held_back_ns;
	return most_ns > 0 ? most_ns : 0;
}

/* What the disturbance counters counted in a sample: counters of the kernel that should not change
 * meanwhile. A counter that a machine does not have is "not known", never zero. */

enum counter {
	/* ns that the hypervisor gave to others: of the CPU, or of all if not pinned */
	COUNTER_STEAL,
	COUNTER_THROTTLES,    /* times a CPU was throttled for heat; likewise */
	COUNTER_SWAPPED_IN,   /* pages */
	COUNTER_SWAPPED_OUT,  /* pages */
	COUNTER_MAJOR_FAULTS, /* pages fetched from a disk, for any process */
	COUNTER_SUSPENDED,    /* ns that the machine was suspended */
	/* by how much NTP changed the clock's rate, in parts of 10^9; may be negative */
	COUNTER_CLOCK_RATE,
	COUNTER_CPU_PRESSURE, /* ns in which some process waited for a CPU */
	COUNTER_VOLUNTARY,    /* context switches of the program */
	COUNTER_INVOLUNTARY,
	/* ns that interrupts took from the program, on the CPU that it is pinned to */
	COUNTER_INTERRUPTS,
	/* Of the CPU that programs are pinned to, where its registers (/dev/cpu/N/msr) or a sensor
	 * can be read: */
	COUNTER_SMIS, /* interrupts of the firmware */
	/* change of the processor's temperature, in thousandths of a degree; may be negative */
	COUNTER_TEMPERATURE,
	/* how far its actual clock is from the base frequency, in parts of 10^6; may be negative */
	COUNTER_SPEED,
	N_COUNTERS
};

struct counters {
	uint32_t sample;           /* its n in the book */
	int64_t value[N_COUNTERS]; /* INT64_MIN: not known */
};

#define COUNTERS_NONE ((struct counters){.value = {[0 ... N_COUNTERS - 1] = INT64_MIN}})

static inline bool counters_know(const struct counters *counters, enum counter which)
{
	return counters->value[which] != INT64_MIN;
}

static inline bool counters_know_any(const struct counters *counters)
{
	for (enum counter i = 0; i < N_COUNTERS; i++)
		if (counters_know(counters, i))
			return true;
	return false;
}

enum source_kind {
	SOURCE_PROCESS,
	SOURCE_KERNEL, /* a kernel thread */
	SOURCE_IRQ,
	SOURCE_SOFTIRQ,
	SOURCE_VECTOR,
	SOURCE_NMI,
	SOURCE_FAULT,
	SOURCE_COMBINATION, /* of others, at the same time */
	SOURCE_OUTSIDE,     /* not the kernel: a host, firmware, the processor */
	N_SOURCE_KINDS
};

extern const char *const source_kind_names[N_SOURCE_KINDS];

/* What takes CPU time: one row for each (name, executable, unit, kind) ever seen. */
struct source {
	int64_t id; /* in the book, dense from 1 */
	char *name; /* of a process: comm */
	char *exe;  /* NULL: unknown */
	char *unit; /* NULL: none or unknown */
	enum source_kind kind;
};

struct sources {
	struct source *items; /* items[id - 1].id == id */
	size_t n;
};

void sources_clear(struct sources *sources);

/* One process's CPU time inside one sample. A name that ran four times in a sample has four. */
struct execution {
	uint32_t sample; /* its n */
	uint32_t source; /* struct source's id */
	pid_t pid;       /* 0: unknown */
	int64_t pt_ns;
	int64_t tick_ns;     /* -1: unknown */
	int cpu;             /* that it ran on last; -1: unknown */
	int64_t same_cpu_ns; /* of pt_ns, on the CPU that the program was pinned to; -1: unknown */
};

enum execution_clock { EXECUTION_EXACT, EXECUTION_TICK };

/* The part of an execution that can have taken time from the program: on its CPU, where that is
 * known. */
static inline int64_t execution_disturbing_ns(const struct execution *execution)
{
	return execution->same_cpu_ns >= 0 ? execution->same_cpu_ns : execution->pt_ns;
}

/* Its time by the kernel's ticks, the papers' clock, which does not know on which CPU it was. False:
 * it is not known. */
static inline bool execution_use_ticks(struct execution *execution)
{
	if (execution->tick_ns < 0)
		return false;
	execution->pt_ns = execution->tick_ns;
	execution->same_cpu_ns = -1;
	return true;
}

/* The programs of a run whose samples consist of several at once: the slaves of a load, or the two
 * of a duet. */
struct run_program {
	uint32_t n;    /* counts from 1 */
	char *name;    /* as shown: "xz", "edit 2" */
	char *command; /* JSON array of its arguments; NULL: none, or not one command */
};

/* What one of them did in one sample. -1: unknown. */
struct sample_program {
	uint32_t sample, program; /* their n */
	int64_t start_ns;         /* since 1970 */
	int64_t et_ns, pt_ns, user_ns, system_ns;
	int64_t max_rss_bytes;
	int exit_status; /* as a shell reports it */
	int left_behind;
	int64_t repetitions; /* of its work, complete ones */
	/* from the start until it had done its share; later ones kept the load constant */
	int64_t finished_ns;
	int64_t wait_ns;    /* it was ready to run, but other tasks had the CPU */
	int64_t io_wait_ns; /* it waited for a disk */
	int64_t major_faults;
};

extern const struct field_table run_program_table, sample_program_table;
