/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The study of clocks: see study_clocks.h. */
#include "lib/study/study_clocks.h"

#include "lib/base/argv.h"
#include "lib/base/interrupt.h"
#include "lib/host/perf/perf_counters.h"
#include "lib/host/process/program.h"
#include "lib/host/process/subprocess.h"
#include "lib/study/study_measure.h"

#include <sys/resource.h>
#include <sys/times.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* A clock that is read before and after the program. */
struct study_clock {
	const char *name;
	int64_t (*read)(clockid_t id);
	clockid_t id;
	bool cycles; /* it counts cycles of a constant rate, not ns */
};

static int64_t read_posix_clock(clockid_t id)
{
	return clock_ns(id);
}

/* CPU time of the children that were waited for. */
static int64_t read_children_usage(clockid_t id)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
}

/* The same in ticks of a hundredth of a second, as the papers measured. */
static int64_t read_children_ticks(clockid_t id)
{
	struct tms usage;

	times(&usage);
	return (int64_t)(usage.tms_cutime + usage.tms_cstime) * (NS_PER_S / sysconf(_SC_CLK_TCK));
}

static int64_t read_cycles(clockid_t id)
{
#if defined(__x86_64__)
	return (int64_t)__rdtsc();
#else
	int64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now)::"memory");
	return now;
#endif
}

static const struct study_clock study_clocks[] = {
	{"clock_gettime(CLOCK_MONOTONIC)", read_posix_clock, CLOCK_MONOTONIC},
	{"clock_gettime(CLOCK_MONOTONIC_RAW)", read_posix_clock, CLOCK_MONOTONIC_RAW},
	{"clock_gettime(CLOCK_REALTIME)", read_posix_clock, CLOCK_REALTIME},
#if defined(__x86_64__)
	{"rdtsc", read_cycles, .cycles = true},
#else
	{"cntvct_el0", read_cycles, .cycles = true},
#endif
	{"getrusage(RUSAGE_CHILDREN)", read_children_usage},
	{"times()", read_children_ticks},
};

enum { N_STUDY_CLOCKS = ELEMENTS(study_clocks) };

/* Cycles of read_cycles() in a ns, found in a twentieth of a second. */
static double cycles_per_ns(void)
{
	const int64_t from_ns = clock_ns(CLOCK_MONOTONIC_RAW), from = read_cycles(0);
	int64_t to_ns;

	do
		to_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	while (to_ns < from_ns + NS_PER_S / 20);
	return (double)(read_cycles(0) - from) / (double)(to_ns - from_ns);
}

/* What the executions of a block have in common. */
struct clock_block {
	struct command_spec spec;
	struct perf_counters perf;
	bool has_perf;
	double per_ns;
	int64_t before[N_STUDY_CLOCKS], after[N_STUDY_CLOCKS];
};

/* Runs the program. The clock that is read first before it is read last after it; another one in
 * each sample. */
static int run_between_readings(
	struct clock_block *block, uint32_t sample, struct exec_result *ret, struct error *err)
{
	int r = block->has_perf ? perf_counters_start(&block->perf, err) : 0;

	for (size_t i = 0; i < N_STUDY_CLOCKS; i++) {
		size_t k = (sample + i) % N_STUDY_CLOCKS;

		block->before[k] = study_clocks[k].read(study_clocks[k].id);
	}
	if (r == 0)
		r = program_run(&block->spec, ret, err);
	for (size_t i = N_STUDY_CLOCKS; i-- > 0;) {
		size_t k = (sample + i) % N_STUDY_CLOCKS;

		block->after[k] = study_clocks[k].read(study_clocks[k].id);
	}
	return r;
}

static int take_clock_sample(struct study_session *s, const struct study_block *of,
	struct clock_block *block, uint32_t sample, struct error *err)
{
	struct study_reading readings[N_STUDY_CLOCKS + 3];
	struct exec_result exec;
	int64_t task_clock_ns = -1;
	size_t n = 0;
	int r = run_between_readings(block, sample, &exec, err);

	if (r == 0 && block->has_perf)
		r = perf_counters_stop(&block->perf, &task_clock_ns, err);
	if (r == 0 && (exec.end == PROGRAM_INTERRUPTED || interrupt_pending()))
		return -EINTR;
	if (r == 0 && exec.wait_status != 0)
		return error_say(err, -ECANCELED, "'%s' %s", of->subject,
			process_end_text(exec.wait_status));
	if (r < 0)
		return r;

	for (size_t i = 0; i < N_STUDY_CLOCKS; i++) {
		double span = (double)(block->after[i] - block->before[i]);

		if (study_clocks[i].cycles)
			span /= block->per_ns;
		readings[n++] = (struct study_reading){
			of->id, (char *)study_clocks[i].name, sample, (int64_t)span};
	}
	if (task_clock_ns >= 0)
		readings[n++] = (struct study_reading){
			of->id, (char *)"perf task-clock", sample, task_clock_ns};
	readings[n++] = (struct study_reading){of->id, (char *)"EMP ET", sample, exec.et_ns};
	readings[n++] = (struct study_reading){of->id, (char *)"EMP PT", sample, exec.pt_ns};
	return BOOK_ATOMIC_RETRIED(
		s->book, book_add_study_readings(s->book, readings, n, err), err);
}

int study_clocks_measure(
	struct study_session *s, const struct study_block *of, uint32_t first, struct error *err)
{
	_cleanup_(argv_freep) char **argv = NULL;
	_cleanup_(freep) char *path = NULL;
	_cleanup_(closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_(cgroup_freep) struct cgroup *cgroup = NULL;
	struct clock_block block = {.per_ns = cycles_per_ns()};
	int r = study_block_argv(of, &argv, &path, err);

	if (r < 0)
		return r;
	cgroup_new(&cgroup, NULL, NULL);
	block.spec = (struct command_spec){.argv = argv,
		.path = path,
		.cpu = study_cpu(s),
		.stdin_fd = null,
		.stdout_fd = null,
		.stderr_fd = null,
		.cgroup = cgroup};
	block.has_perf = perf_counters_open(&block.perf, "task-clock", NULL) == 0;
	for (uint32_t sample = first; r == 0 && sample <= of->samples; sample++)
		r = take_clock_sample(s, of, &block, sample, err);
	if (block.has_perf)
		perf_counters_clear(&block.perf);
	return r;
}
