/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All commands of one call of emp-measure: each is a run in the book, and their samples are taken
 * in turn. This opens what they need. session_run.c takes the samples, session_compare.c compares
 * the results, show.c and the exports show them. */
#pragma once

#include "measure/command.h"
#include "measure/program_output.h"
#include "lib/duet/duet_advice.h"
#include "lib/duet/duet_report.h"
#include "lib/duet/inc_units.h"
#include "lib/host/perf/perf_counters.h"
#include "lib/host/process/program.h"
#include "lib/host/process/working_set.h"
#include "lib/jitter/watch.h"
#include "lib/record/profile.h"
#include "lib/report/notes.h"
#include "lib/report/run_result.h"
#include "lib/run/constant.h"
#include "lib/run/sampling.h"

/* One command being measured. */
struct task {
	const struct command *command;
	char *name;        /* the command's, or "… (again)" for the A/A check */
	char *in_messages; /* the command line, after the name if it has one */
	struct run run;
	struct program_output output; /* with --same-output or --check */
	struct command_spec spec;     /* in a duet, with a cgroup of its own below the observer's */
	struct sampling *sampling;    /* of the session's */
	/* in a duet, whose programs run at once: standard input and error; -1: the session's */
	int in, errors;
	bool in_study;              /* the book has its block */
	struct sample_filter clean; /* with --retain: of the samples so far */
	struct sources sources;     /* with --retain */
	struct sample *samples;     /* so far, if more may be taken than were asked for */
	size_t n_samples;
	int64_t *perf; /* what --perf counted: all events of one sample after another */
	size_t n_perf;
	struct preemptions *preemptions; /* what --trace recorded, by sample */
	size_t n_preemptions;
	struct run_result result; /* as the book has it; without samples before the run has ended */
	struct working_set working_set; /* of a duet: seen in its warm-ups */
	struct inc_units inc;           /* .increments 0: it did not alternate with INC */
	struct notes notes;             /* on this result alone */
	/* what the machine can resolve by so many samples; "": not known */
	char mdd[MDD_TEXT_SIZE];
	struct session *session;
};

/* --against: INC, the last of the tasks. */
struct inc_command {
	struct command command;
	struct inc inc;
	struct inc_program program;
};

/* Where programs write. */
struct output {
	const char *where; /* the value of --output */
	int fd;            /* -1: that of this process */
};

struct session {
	/* `chosen`: as the user gave them, and what the session has decided since */
	const struct measure_options *options;
	struct measure_options chosen;
	struct run_session base;
	cpu_set_t cpus; /* that programs may run on; base.cpus points to it */
	struct profile profile;
	struct names patterns;      /* of names, with --retain */
	struct discard_rules rules; /* by the options; without --profile, .profile is NULL */
	struct task *tasks;
	struct sampling *samplings;     /* of each task */
	const char **names;             /* of each task */
	struct sample_filter **filters; /* of a duet: of each task, with --retain */
	/* of each command with the first: n by PT, then n by ET; .a.n 0: there is none */
	struct comparison *comparisons;
	size_t n;
	struct notes notes; /* on all results alike */
	/* since the profile was made, as text; NULL: none, or not known */
	char *environment_changes;
	int in;                 /* what the programs read; -1: standard input */
	int null;               /* /dev/null */
	int errors;             /* standard error of the last program: a file in memory */
	struct output *outputs; /* one for each --output */
	size_t n_outputs;
	struct perf_counters perf;   /* none without --perf */
	struct program_trace *trace; /* NULL: without --trace */
	enum order order;            /* by the options, unless a duet is taken in turn */
	uint64_t seed;               /* of random orders */
	int64_t opened_ns;           /* CLOCK_REALTIME */
	struct alternation_plan duet;
	struct command_spec together; /* of a duet: what its programs have in common */
	int guard;                    /* of a duet; -1: nothing is frozen */
	char *in_turn_because; /* why there is no duet, although it was asked for; NULL: there is */
	struct working_set_watch *watch; /* during a warm-up of a duet */
	struct inc_command *inc;         /* NULL: without --against */
	struct shell_start *shell_start; /* of the shell that runs command lines */
};

#define SESSION_NEW \
	((struct session){.base = RUN_SESSION_NEW, .in = -1, .null = -1, .errors = -1, .guard = -1})

/* Opens the book, the profile, the observer and what the programs read and write. The commands must
 * outlive it. The caller closes it, also after a failure. */
int session_open(struct session *session, const struct measure_options *options,
	const struct commands *commands, struct error *err);
void session_close(struct session *session);

/* A task for each command; then the first again for --aa, or INC for --against. -ENOENT with a
 * sentence: emp-inc is not there. */
int session_fill_tasks(struct session *session, const struct commands *commands, struct error *err);

/* Chooses how programs that alternate are given the CPU, in slices of that length. */
int session_set_slice(struct session *session, int64_t slice_ns, struct error *err);

/* Makes runs that were begun as a duet, and have no samples yet, runs whose samples are taken in
 * turn. */
int session_take_in_turn(struct session *session, struct error *err);

/* Lets the programs of a duet, which were begun on one CPU and have no samples yet, use all CPUs. */
int session_use_all_cpus(struct session *session, struct error *err);

/* Reads the duet of a session from the book. 1: done; 0: there is none. */
int session_duet(const struct session *session, struct duet_report *ret, struct error *err);

/* How many have a result of their own: the first ones, without the INC of --against. */
static inline size_t session_n_shown(const struct session *s)
{
	return s->n - (s->inc != NULL);
}
