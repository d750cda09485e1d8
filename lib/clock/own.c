/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU time of the calling thread and of its process: it is read from the kernel when the thread
 * has got a CPU; for as long as the thread keeps it, the time stamp counter says what has been
 * added. */
#include "lib/clock/clock_internal.h"
#include "lib/clock/connect.h"
#include "lib/clock/emp-clock.h"
#include "lib/clock/mark.h"
#include "lib/clock/tsc.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long the time stamp counter replaces the kernel's clock. The kernel's leaves out what a
 * hypervisor took and, on some kernels, interrupts; the counter may be ahead by that, but no
 * further than this. */
#define MAX_NS 100000
#define MAX_CALLS_IN_MAX_TSC 50 /* a call that is not interrupted takes less than 2 us */

/* The time at a moment; a reading adds to it what the counter has advanced since. */
struct anchor {
	uint64_t tsc, ns, cycles;
};

/* Signal handlers read the time, too: `version` is odd while the anchor is being written, and
 * changes with it. */
struct cpu_clock {
	uint32_t version;
	uint32_t slice; /* in which the anchor was taken */
	struct anchor anchor;
	uint64_t last_ns, last_cycles; /* that were returned */
};

/* What a thread knows of itself. A slice is a time for which it keeps a CPU. */
static _Thread_local struct own {
	struct cpu_clock thread, process;
	struct emp_clock_counts counts;
	/* whose thread this is: a forked child begins with a copy of all this */
	uint32_t process_id;
	uint32_t slice;
	uint32_t tid;
	/* of the slot, when the slice began; UINT32_MAX: the slot cannot be trusted */
	uint32_t cpu, seq;
} own __attribute__((tls_model("initial-exec")));

/* The kernel makes it 0 in a forked child. NULL: it cannot. */
static _Atomic(uint32_t) *process_id;

static struct {
	_Atomic(enum {UNKNOWN, BY_SYSTEM_CALL, BY_MARK, BY_MARK_AND_SLOT}) way;
	_Atomic(uint64_t) max_tsc;          /* MAX_NS in cycles; 0 until all is known */
	_Atomic(uint64_t) ns_per_cycle_q32; /* times 2^32 */
} shared;

/* The compiler may not move memory accesses across it. Signal handlers need no more, nor do
 * switches to another CPU. */
static inline void keep_order(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

__attribute__((constructor)) static void notice_forks(void)
{
	void *page = mmap(NULL, sizeof(*process_id), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, sizeof(*process_id), MADV_WIPEONFORK) < 0) {
		munmap(page, sizeof(*process_id));
		return;
	}
	process_id = page;
}

/* By the system call itself: clock_gettime may be the preload object's. */
static uint64_t system_ns(clockid_t clock)
{
	struct timespec now;

	syscall(SYS_clock_gettime, clock, &now);
	return now.tv_sec * CLOCK_NS_PER_S + now.tv_nsec;
}

/* Begins anew in a new thread, and in the only thread of a forked child. */
static void know_thread(void)
{
	static uint32_t forks;
	enum mark_shows shows;
	uint32_t unknown = 0;

	if (shared.way == UNKNOWN) {
		shows = process_id && tsc_per_ns() > 0 ? mark_try() : MARK_SHOWS_NOTHING;
		if (shows == MARK_SHOWS_NOTHING) {
			shared.way = BY_SYSTEM_CALL;
		} else {
			shared.way = shows == MARK_SHOWS_ALL ? BY_MARK : BY_MARK_AND_SLOT;
			shared.ns_per_cycle_q32 = (uint64_t)(0x1p32 / tsc_per_ns());
			shared.max_tsc = (uint64_t)(MAX_NS * tsc_per_ns());
		}
	}
	if (!process_id)
		return;
	if (*process_id == 0)
		atomic_compare_exchange_strong(process_id, &unknown, ++forks);
	if (own.process_id == *process_id)
		return;
	own = (struct own){
		.process_id = *process_id, .tid = syscall(SYS_gettid), .cpu = UINT32_MAX};
}

/* Whether the thread has kept its CPU since the slice began. */
static inline bool is_same_slice(uint32_t slice)
{
	const struct slot *slot;
	uint32_t cpu;

	if (!mark_is_set() || own.slice != slice)
		return false;
	if (__builtin_expect(shared.way == BY_MARK, 1))
		return true;
	cpu = mark_cpu();
	slot = slots_at(cpu);
	return cpu == own.cpu && slot && __atomic_load_n(&slot->seq, __ATOMIC_RELAXED) == own.seq;
}

/* Where the mark does not show every loss of the CPU, the slot of this CPU is trusted, but only if
 * it shows the latest context switch. */
static void check_slot(void)
{
	uint32_t cpu = mark_cpu(), seq;
	const struct slot *slot = slots_at(cpu);
	struct rusage usage;
	bool is_shown;

	own.cpu = UINT32_MAX;
	if (!slot)
		return;
	seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
	is_shown = !(seq & 1) && slot->tid == own.tid;
	if (is_shown) {
		syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
		is_shown = slot->switches == (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
	}
	own.counts.missed += !is_shown;
	own.seq = seq;
	if (is_shown)
		own.cpu = cpu;
}

/* The kernel looks at its clock in the middle of the call, unless something came in between; then
 * it is called again. */
static struct anchor read_kernel(clockid_t id)
{
	uint64_t most = shared.max_tsc / MAX_CALLS_IN_MAX_TSC, begin, end, ns;
	int tries = 3;

	do {
		begin = most ? tsc_read() : 0;
		ns = system_ns(id);
		end = most ? tsc_read() : 0;
		own.counts.system_calls++;
	} while (end - begin > most && --tries);
	return (struct anchor){
		.tsc = begin + (end - begin) / 2, .ns = ns, .cycles = emp_clock_ns_to_cycles(ns)};
}

/* Without the time stamp counter, or with an anchor that is too old or of an earlier slice. The
 * result is right even if the thread loses its CPU meanwhile; it is then no anchor for the next
 * reading. */
static __attribute__((noinline)) struct anchor take_anchor(struct cpu_clock *clock, clockid_t id)
{
	struct anchor anchor;
	uint32_t version;

	know_thread();
	if (!shared.max_tsc)
		return read_kernel(id);
	clock->version = version = (clock->version + 2) | 1;
	keep_order();
	if (!is_same_slice(own.slice)) {
		/* a slice begins; the order matters to a signal handler that comes in between */
		mark_set();
		keep_order();
		own.slice++;
		keep_order();
		if (shared.way == BY_MARK_AND_SLOT)
			check_slot();
	}
	clock->slice = own.slice;
	anchor = read_kernel(id);
	clock->anchor = anchor;
	keep_order();
	if (clock->version != version) /* a signal handler's, which is now mixed with this one */
		clock->version |= 1;
	else if (is_same_slice(clock->slice))
		clock->version = version + 1;
	return anchor;
}

/* The anchor of a clock, and in ret_cycles what the counter has advanced since. */
static inline struct anchor read_clock(struct cpu_clock *clock, clockid_t id, uint64_t *ret_cycles)
{
	uint32_t version = clock->version, process = own.process_id;
	uint64_t max_tsc = atomic_load_explicit(&shared.max_tsc, memory_order_relaxed);
	struct anchor anchor;

	keep_order();
	if (__builtin_expect(max_tsc && !(version & 1) && process && process == *process_id, 1)) {
		anchor = clock->anchor;
		*ret_cycles = tsc_read() - anchor.tsc;
		keep_order();
		if (__builtin_expect(*ret_cycles < max_tsc && is_same_slice(clock->slice) &&
					     clock->version == version,
			    1)) {
			own.counts.fast++;
			return anchor;
		}
	}
	*ret_cycles = 0;
	return take_anchor(clock, id);
}

/* Where the counter was ahead of the kernel's clock, the time stands still until that has caught
 * up. */
static inline uint64_t not_backwards(uint64_t *last, uint64_t now)
{
	if (now > *last)
		*last = now;
	return *last;
}

static inline uint64_t own_clock_ns(struct cpu_clock *clock, clockid_t id)
{
	uint64_t cycles;
	struct anchor anchor = read_clock(clock, id, &cycles);

	return not_backwards(&clock->last_ns, anchor.ns + (cycles * shared.ns_per_cycle_q32 >> 32));
}

static inline uint64_t own_clock_cycles(struct cpu_clock *clock, clockid_t id)
{
	uint64_t cycles;
	struct anchor anchor = read_clock(clock, id, &cycles);

	return not_backwards(&clock->last_cycles, anchor.cycles + cycles);
}

CLOCK_PUBLIC uint64_t emp_clock_thread_ns(void)
{
	return own_clock_ns(&own.thread, CLOCK_THREAD_CPUTIME_ID);
}

CLOCK_PUBLIC uint64_t emp_clock_thread_cycles(void)
{
	return own_clock_cycles(&own.thread, CLOCK_THREAD_CPUTIME_ID);
}

/* Other threads may use CPU time at any moment. */
static inline void forget_anchor_beside_threads(void)
{
	if (!__libc_single_threaded)
		own.process.version |= 1;
}

CLOCK_PUBLIC uint64_t emp_clock_process_ns(void)
{
	forget_anchor_beside_threads();
	return own_clock_ns(&own.process, CLOCK_PROCESS_CPUTIME_ID);
}

CLOCK_PUBLIC uint64_t emp_clock_process_cycles(void)
{
	forget_anchor_beside_threads();
	return own_clock_cycles(&own.process, CLOCK_PROCESS_CPUTIME_ID);
}

CLOCK_PUBLIC uint64_t emp_clock_ns_to_cycles(uint64_t ns)
{
	return (uint64_t)((double)ns * tsc_per_ns());
}

CLOCK_PUBLIC void emp_clock_counts(struct emp_clock_counts *ret)
{
	*ret = own.counts;
}
