/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts of an audit: what is known about the machine, gathered once, for all checks and for
 * apply. The checks see nothing but these facts and files below their root descriptor, so that
 * tests can make up machines. */
#pragma once

#include "lib/base/base.h"
#include "lib/host/cpu/core_types.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/cpu/frequency.h"
#include "lib/host/process/process.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/machine.h"
#include "lib/host/system/policy.h"
#include "lib/host/systemd/needed.h"
#include "lib/host/systemd/units.h"

struct check;
struct ntp_daemon;

/* A timer, a job of cron ("/etc/cron.d/sysstat", "/etc/anacrontab:cron.daily") or a desktop
 * session, and when it starts. */
struct elapse {
	char *unit;
	int64_t next_ns; /* since 1970; 0: never, or not known */
	int64_t late_ns; /* how much later at most: systemd starts timers together (AccuracySec) */
};

void elapses_free(struct elapse *elapses, size_t n);

/* A running service that the policy does not list. */
struct unlisted {
	const char *unit;
	int64_t cpu_ns; /* since it was started; -1: not accounted */
};

/* What a reading of the clock costs. Usually the kernel maps a page from which clock_gettime(2)
 * computes the time; where the kernel's clock source does not allow that, each reading is a system
 * call. */
struct clock_price {
	double clock_ns; /* clock_gettime(CLOCK_MONOTONIC); 0: not measured */
	double call_ns;  /* a system call that does nothing */
};

/* The time of all CPUs together since the machine was started, in ticks of /proc/stat. */
struct cpu_ticks {
	int64_t all;
	int64_t steal; /* of these, what the host gave to others; -1: not reported */
};

void cpu_ticks_read(struct cpu_ticks *ret, int root_fd);

/* A file of a setting as it is now. */
struct setting_file {
	char *path;
	char *value; /* NULL: it could not be read */
	int error;   /* why, negative */
	char *want;  /* what it should hold; NULL: not known */
};

struct setting_files {
	struct setting_file *items;
	size_t n;
};

/* What a second of looking for a neighbour (lib/host/cpu/neighbour.h) on a CPU has found. */
struct cpu_neighbour {
	int cpu;
	double share; /* of the time; NAN: not known */
	/* the other thread of its core that was busiest meanwhile; -1: this machine sees none */
	int sibling;
	double busy; /* how busy; NAN: not known */
};

/* What several checks or apply need, and what systemd and the kernel are asked for. A check reads
 * the files that it alone needs below root_fd itself. What is not known is NULL, or -1 where
 * nothing else is said. */
struct facts {
	int root_fd;
	int64_t within_ns; /* how far ahead timers matter */
	struct machine machine;
	struct policy *policy;
	struct frequency frequency;
	struct kernel kernel;
	struct clock_state clock;
	struct clock_price price;
	/* clock_gettime at the last 'emp-calibrate clocks' on this machine; 0: not known */
	double calibrated_ns;
	struct ntp_daemon *daemons;
	size_t n_daemons;
	const char *contained; /* a daemon that may set the clock, but in a container; NULL: none */
	struct process *processes;
	size_t n_processes;

	/* Of systemd, cron and logind. */
	bool has_units;  /* systemd answered */
	char *units_why; /* why it did not; NULL if it did */
	struct unit_list units;
	struct elapse *timers; /* the active ones of the policy */
	size_t n_timers;
	/* What else starts soon, in order of time: other timers; jobs of cron, if it runs; timers
	 * of users ("user-1000/backup.timer"); desktop sessions ("desktop-session:alice"), which
	 * are at work all the time. What this user may not see is left out. */
	struct elapse *due;
	size_t n_due;
	struct unlisted *unlisted;
	size_t n_unlisted;
	/* by the logins and the network of this machine, whatever the policy says */
	struct unit_reasons needed;
	/* processes that units of the policy have left behind when they were stopped */
	struct unit_reasons left;

	/* The CPU that programs will be timed on, and what shares it. */
	int cpu;      /* the one asked for, else the first isolated one; -1: none */
	int *threads; /* it and the other threads of its core */
	size_t n_threads;
	char *online; /* "0-3" */
	struct core_types cores;
	/* no tasks come to these by themselves: isolcpus, and isolated partitions of cgroup v2 */
	char *isolated;

	/* What may disturb a run, and is no setting. */
	char *clocksource; /* the counter that the kernel's clock reads */
	/* BPF programs that run at the kernel's events, as bpf_programs_list has them */
	char *programs;
	int64_t n_programs;     /* -errno: not known */
	int64_t audit_rules;    /* of system calls and files; -errno: not known */
	char *config;           /* of the kernel */
	struct cpu_ticks ticks; /* when the audit began; 0: not read */
	/* "fwupd: firmware update in progress": who holds off a shutdown or sleep; NULL: nobody */
	char *inhibitors;
	int64_t irq_time;   /* CONFIG_IRQ_TIME_ACCOUNTING: 1 yes, 0 no */
	int64_t delayacct;  /* kernel.task_delayacct */
	const char *locked; /* the lock of a package manager at work; NULL: none */
	int lock_error;     /* why that is not known, negative */

	/* Of the CPU that programs will be timed on, or of all that may be used. None: nobody has
	 * looked. */
	struct cpu_neighbour *neighbours;
	size_t n_neighbours;

	/* Of each row's setting, an array of n_check_rows; none where a row has none. */
	struct setting_files *files;
};

/* As options.policy, .cpu, .within_ns and .root_fd have it; with another root_fd than AT_FDCWD only
 * files below it are read, and systemd is not asked. */
int facts_read(struct facts *ret, struct error *err);
/* Its last part, for what is in small files. The kernel is asked for BPF programs and audit rules
 * only with AT_FDCWD (else -ENOSYS). */
void facts_read_files(struct facts *facts, int root_fd, int cpu);
/* Looks for a neighbour, for a second. */
int facts_read_neighbours(struct facts *facts, struct error *err);
void facts_clear(struct facts *facts);

/* Why a unit is to be stopped: by the policy, what it is for this machine, and what it starts or is
 * started by. NULL: it stays. */
const char *facts_stop(const struct facts *facts, const char *unit);

/* The files of a row's setting; none if they were not read. */
const struct setting_files *check_files(const struct check *check, const struct facts *facts);

/* Whether this is a container, and a setting at this path is its host's: it cannot be written
 * here, or for root not even be read. Ordinary users learn the same from read-only mounts. */
bool setting_is_of_host(const struct facts *facts, const struct setting_file *file);
