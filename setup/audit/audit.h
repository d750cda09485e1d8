/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An audit: facts, gathered once; the checks, one row each, in the order of the protocol: what is
 * wanted, why, how to get there, and the setting that apply makes for it; and the functions that
 * decide them, which see gathered facts and files below a root descriptor only, so that tests can
 * make up machines. */
#pragma once

#include "lib/base/base.h"
#include "lib/host/cpu/core_types.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/cpu/frequency.h"
#include "lib/host/process/process.h"
#include "lib/host/system/kernel.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/system/lock.h"
#include "lib/host/system/machine.h"
#include "lib/host/system/policy.h"
#include "lib/host/systemd/needed.h"
#include "lib/host/systemd/units.h"

/* A timer, a job of cron ("/etc/cron.d/sysstat", "/etc/anacrontab:cron.daily") or a desktop
 * session, and when it starts. */
struct elapse {
	char *unit;
	int64_t next_ns; /* since 1970; 0: never, or not known */
	int64_t late_ns; /* how much later at most: systemd starts timers together (AccuracySec) */
};

/* A running service that the policy does not list. */
struct unlisted {
	const char *unit;
	int64_t cpu_ns; /* since it was started; -1: not accounted */
};

/* A running daemon that disciplines the clock, and what it reports. The kernel's own report is in
 * struct clock_state; both are needed, since either can be wrong. */
struct ntp_daemon {
	const char *name; /* "chrony" */
	const struct known_daemon *known;
	/* it follows the host of this virtual machine, and the kernel does not report it */
	bool host;
	bool silent; /* it does not answer */
	char *text;  /* why; else the server that it follows ("10.77.0.1, stratum 2"), NULL: none */
};

/* Usually the kernel maps a page from which clock_gettime(2) computes the time; where the kernel's
 * clock source does not allow that, each reading is a system call. */
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

/* What several checks or apply need, or what is asked of systemd and the kernel. What one check
 * alone reads in files, it reads below root_fd itself. What is not known is NULL, or -1 where
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

	/* Of each row's setting, an array of n_check_rows; none where a row has none. */
	struct setting_files *files;
};

/* As options.policy, .cpu, .within_ns and .root_fd have it; with another root_fd than AT_FDCWD only
 * files below it are read, and systemd is not asked. */
int facts_read(struct facts *ret, struct error *err);
/* Its last part, for what is in small files. The kernel is asked for BPF programs and audit rules
 * only with AT_FDCWD (else -ENOSYS). */
void facts_read_files(struct facts *facts, int root_fd, int cpu);
void facts_clear(struct facts *facts);

/* Why a unit is to be stopped: by the policy, what it is for this machine, and what it starts or is
 * started by. NULL: it stays. */
const char *facts_stop(const struct facts *facts, const char *unit);

/* Finds the time daemons among the units and processes of the facts, and asks them. units NULL: not
 * those that answer over D-Bus only. */
void ntp_read(struct facts *facts, struct units *units);

/* The units that may be started if none runs, the best first; NULL after the last. */
const char *ntp_unit(size_t i);

/* The server that a daemon follows, from what `chronyc -c tracking`, `ntpq -pn`,
 * `ntpctl -s status` and `ntp-ctl status` print; the caller frees it. NULL: none. */
char *ntp_parse_chrony(const char *text);
char *ntp_parse_ntpq(const char *text);
char *ntp_parse_openntpd(const char *text);
char *ntp_parse_ntp_ctl(const char *text);

/* The first minute after `now_s` and before `until_s` (since 1970, local time) in which a line of
 * crontab(5) starts its job; 0: none, or no such line. */
int64_t cron_next(const char *line, int64_t now_s, int64_t until_s);
/* Adds the next job of each table of crontab(5) and anacrontab(5) below root_fd that can be read,
 * if it is before `until_ns`. A job of anacron that is overdue is due now. */
void cron_read(struct elapse **jobs, size_t *n, int root_fd, int64_t now_ns, int64_t until_ns);
void elapses_free(struct elapse *elapses, size_t n);

enum check_state {
	CHECK_OK,
	CHECK_OFF,     /* not as wanted, and it can be changed */
	CHECK_ABSENT,  /* this machine has no such thing */
	CHECK_BY_HOST, /* likewise, because the host of this virtual machine or container decides */
	CHECK_UNKNOWN, /* it could not be found out */
	CHECK_REFUSED, /* the kernel does not allow a look */
};

/* The way back where there is none. */
#define CHECK_NO_UNDO "nothing to undo"

struct finding {
	enum check_state state;
	char *value; /* what was found, in words */
	/* the units that are not as wanted, with blanks between; NULL if there are none */
	char *items;
	/* to get there, where the row's way does not work on this machine; else NULL */
	char *how;
	const char *undo; /* likewise */
	bool shown, open; /* by the audit's options; not as wanted, or not known to be */
};

typedef void check_decider(const struct facts *facts, struct finding *ret);

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

/* Finds `want` of a file. */
typedef char *setting_want_of(const struct facts *facts, const struct setting_file *file);

/* What apply can set: a file of the kernel, or many of one kind, and the value they should hold. */
struct setting {
	const char *pattern; /* of the files; NULL: nothing can be set */
	enum kernel_setting_kind kind;
	const char *want;
	setting_want_of *want_of; /* where each file has a value of its own */
	kernel_setting_writer *write;
	int order;         /* lower ones are set first; equal ones in the order of the rows */
	int restore_order; /* lower ones are restored first */
	bool on_request;   /* only where --only names it */
	bool isolates;     /* belongs to an isolated CPU: --isolate implies it */
	bool hardware;     /* a virtual machine does not have it: its host decides */
	const char *const
		/* patterns of files, ended by NULL, that lose their values while the setting is
		 * applied: they are only restored */
		*keeps;
	const char *costs; /* what others lose meanwhile; NULL: nothing */
	/* the id of a check whose files the kernel changes with these: applied and restored
	 * together */
	const char *coupled_check;
};

struct check {
	const char *id;
	char level;       /* A: the protocol's core, B: strongly advised, C: optional */
	const char *step; /* which part of the protocol */
	const char *wanted;
	const char *why;  /* NULL: as difference_rules has it */
	const char *who;  /* advises it */
	const char *how;  /* to get there, where apply does not */
	const char *undo; /* likewise; NULL: restore does it, or there is nothing to undo */
	bool of_policies; /* of cpufreq: absent where there are none */
	/* NULL: `number` decides, or else the setting's files are compared with what they should
	 * hold. */
	check_decider *decide;
	struct {
		size_t at; /* an int64_t of struct facts */
		struct {
			enum check_state state; /* CHECK_BY_HOST: see finding_set_absent */
			const char *text;
		} found[3]; /* where it is negative, 0, greater */
	} number;
	bool applied; /* apply does it, and it is no setting */
	struct setting setting;
};

extern const struct check check_rows[]; /* ends with {} */
extern const size_t n_check_rows;

/* NULL: there is no such check. */
const struct check *check_rows_find(const char *id);

/* Why it affects times. */
const char *check_why(const struct check *check);

/* The files of a row's setting; none if they were not read. */
const struct setting_files *check_files(const struct check *check, const struct facts *facts);

/* Whether this is a container, and a setting at this path is its host's: it cannot be written
 * here, or for root not even be read. Ordinary users learn the same from read-only mounts. */
bool setting_is_of_host(const struct facts *facts, const struct setting_file *file);

void check_decide(const struct check *check, const struct facts *facts, struct finding *ret);

/* For the functions that decide. */
void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Absent on a real machine, for which `words` are; a virtual one may have a host with what is not
 * visible here. */
void finding_set_absent(struct finding *finding, const struct facts *facts, const char *words);
void finding_clear(struct finding *finding);

/* EMPv1: services and timers that are not needed, judged by the policy. */
check_decider check_daemons_services, check_daemons_timers, check_daemons_unknown,
	check_daemons_due, check_daemons_inhibitors;
/* EMPv3: how fast the processor runs. */
check_decider check_frequency_driver, check_frequency_governor, check_frequency_min,
	check_frequency_max, check_frequency_percent, check_frequency_turbo_policy,
	check_frequency_speedstep;
setting_want_of check_frequency_limits;
/* What shares the CPU that programs are timed on. */
check_decider check_cpus_latency, check_cpus_smt, check_cpus_type, check_cpus_quota,
	check_cpus_weight, check_cpus_isolated, check_cpus_nohz, check_cpus_tickless_clock,
	check_cpus_callbacks, check_cpus_workqueues, check_cpus_balancer, check_cpus_interrupts,
	check_cpus_new_interrupts;
setting_want_of check_cpus_interrupt_want;
/* What feeds and limits the processor. */
check_decider check_power_supply, check_power_cooling, check_power_uncore, check_power_throttling,
	check_power_limits;
setting_want_of check_power_uncore_want;
/* What programs inherit from the shell that starts them. */
check_decider check_session_affinity, check_session_priority, check_session_memory,
	check_session_numa;
/* What slows the kernel down, or takes CPUs away from it. */
check_decider check_kernel_debugging, check_kernel_perf, check_system_steal;
/* EMPv2: exactly one daemon disciplines the clock, and both it and the kernel say so. */
check_decider check_ntp;
/* EMPv4: the running kernel is the newest of this system. */
check_decider check_kernel_version, check_kernel_pending;
/* Kernel activity not caused by a process, and how the kernel schedules and accounts. */
check_decider check_kernel_leftovers, check_kernel_tracer, check_kernel_programs,
	check_kernel_audit, check_kernel_scheduler;
/* What else may disturb a run: load, swap, package managers. */
check_decider check_system_packagers, check_system_load, check_system_clocksource,
	check_system_swap;
