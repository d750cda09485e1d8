/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A private trace: see trace.h. */
#include "lib/jitter/trace.h"

#include "lib/host/cpu/cpus.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/lock.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/system/tracefs.h"

#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <traceevent/event-parse.h>

enum { PAGE_BYTES = 65536 }; /* pages of the buffer may be larger than those of memory */

/* The guard does this, or trace_free() if the guard was killed. The kernel refuses it until the
 * other process has closed all its descriptors. */
static void remove_instance(int tracing_fd, const void *path)
{
	for (int i = 0; i < 1000 && unlinkat(tracing_fd, path, AT_REMOVEDIR) < 0 && errno == EBUSY;
		i++)
		usleep(10000);
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_cpus; i++) {
		closep(&t->cpus[i].fd);
		fclosep(&t->cpus[i].pages);
	}
	output_file_clear(&t->kept);
	trace_decoder_free(t->decoder);
	closep(&t->free_fd);
	closep(&t->fd);
	guard_free(t->guard);
	if (t->path)
		remove_instance(t->tracing_fd, t->path); /* if the guard was killed */
	free(t->path);
	free(t->kept_path);
	free(t->cpus);
	free(t->page);
	free(t);
}

/* The cause, if the kernel's lockdown forbids the trace, as it does to root as well in its mode
 * "confidentiality"; otherwise "". */
static const char *lockdown(void)
{
	_cleanup_(freep) char *text = path_text(AT_FDCWD, "/sys/kernel/security/lockdown");

	if (!text || !strstr(text, "[confidentiality]"))
		return "";
	return " (the kernel is locked down: see /sys/kernel/security/lockdown)";
}

static int trace_failed(int r, const char *what, struct error *err)
{
	return error_os(err, r, "cannot %s%s", what, r == -EPERM || r == -EACCES ? lockdown() : "");
}

/* Others than root do not even see whether there is a tracefs. */
static int find_tracefs(int *ret_fd, struct error *err)
{
	static int tracing_fd = -1;
	int r = 0;

	if (tracing_fd < 0)
		tracing_fd = tracefs_open();
	if (tracing_fd < 0)
		r = geteuid() != 0 || tracing_fd == -EACCES ? -EACCES : -ENOENT;
	else if (faccessat(tracing_fd, "instances", W_OK | X_OK, 0) < 0)
		r = -errno;
	*ret_fd = tracing_fd;
	if (r == 0)
		return 0;

	if (r != -ENOENT && geteuid() != 0)
		return trace_failed(r, "use the kernel's trace; this needs root", err);
	if (r != -ENOENT)
		return trace_failed(r, "use the kernel's trace", err);
	if (*lockdown()) /* since it was started */
		return error_say(err, -EPERM, "the kernel's trace cannot be used%s", lockdown());
	return error_say(err, -ENOENT,
		"the kernel's trace is not available: mount it ('mount -t tracefs nodev "
		"/sys/kernel/tracing'), or use a kernel with CONFIG_FTRACE");
}

/* Writes a file of the instance. A failure's sentence begins with "cannot <what>"; NULL: it has
 * none. */
static int put_setting(const struct trace *t, const char *file, const char *value, const char *what,
	struct error *err)
{
	int r = path_write(t->fd, value, "%s", file);

	return r < 0 && what ? trace_failed(r, what, err) : r;
}

/* Makes the directory of the instance, locked: others may take it for a leftover until it is. */
static int make_instance_directory(struct trace *t, struct error *err)
{
	for (int i = 0; i < 100 && t->free_fd < 0; i++) {
		closep(&t->fd);
		t->fd = -1;
		if (mkdirat(t->tracing_fd, t->path, 0750) < 0 && errno != EEXIST)
			continue;
		t->fd = openat(t->tracing_fd, t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (t->fd >= 0 && flock(t->fd, LOCK_EX | LOCK_NB) == 0)
			t->free_fd = openat(t->fd, "free_buffer", O_WRONLY | O_CLOEXEC);
	}
	if (t->free_fd < 0)
		return trace_failed(-errno, "make a private instance of the kernel's trace", err);
	return 0;
}

/* The kernel does not report if it makes the buffer smaller. */
static int set_clock_and_size(struct trace *t, struct error *err)
{
	_cleanup_(freep) char *clocks = path_text(t->fd, "trace_clock");
	_cleanup_(freep) char *kib = text_format("%" PRId64, t->buffer_bytes / 1024);
	int r;

	if (put_setting(t, "trace_clock", t->clock, NULL, err) < 0)
		return error_say(err, -ENOTSUP,
			"the kernel's trace does not have the clock '%s'; it has %s", t->clock,
			clocks ?: "none");
	r = put_setting(t, "buffer_size_kb", kib, NULL, err);
	if (r < 0)
		return error_os(err, r,
			"cannot allocate %" PRId64
			" MB for the trace of each CPU; use a smaller --buffer",
			t->buffer_bytes >> 20);
	return 0;
}

static int set_cpus(struct trace *t, const struct trace_request *request, struct error *err)
{
	_cleanup_(freep) char *cpus = path_text(t->fd, "tracing_cpumask"), *mask = NULL;

	if (cpus)
		mask = cpu_mask(cpus, request->cpus, request->n_cpus, false);
	if (!mask)
		return trace_failed(-EIO, "choose the CPUs of the trace", err);
	return put_setting(t, "tracing_cpumask", mask, "choose the CPUs of the trace", err);
}

static int make_instance(struct trace *t, const struct trace_request *request, struct error *err)
{
	_cleanup_(freep) char *name = leftover_trace_name(getpid());
	int r;

	t->path = text_format("instances/%s", name);
	t->guard = guard_new(remove_instance, t->tracing_fd, t->path, err);
	if (t->guard < 0)
		return t->guard;
	r = make_instance_directory(t, err);
	if (r < 0)
		return r;
	put_setting(t, "options/disable_on_free", "1", NULL, err);
	r = put_setting(t, "tracing_on", "0", "stop the private trace", err);
	if (r == 0)
		r = set_clock_and_size(t, err);
	return r == 0 ? set_cpus(t, request, err) : r;
}

/* Switches the events on. Those that cannot be switched on (lockdown forbids some) are left out;
 * but nothing works without sched_switch. */
static int enable_events(struct trace *t, bool of_program, struct error *err)
{
	const char *system, *event;

	for (size_t i = 0; (event = trace_decoder_event(t->decoder, i, &system)); i++) {
		_cleanup_(freep) char *file = text_format("events/%s/%s/enable", system, event);
		const bool needed = !strcmp(event, "sched_switch");
		int r;

		if (of_program ? !strcmp(system, "exceptions")
			       : !strcmp(event, "sched_process_fork"))
			continue;
		r = put_setting(t, file, "1", needed ? "record sched_switch" : NULL, err);
		if (r < 0 && needed)
			return r;
	}
	return 0;
}

static int set_up_trace(struct trace *t, const struct trace_request *request, struct error *err)
{
	_cleanup_(freep) char *symbols = path_text(AT_FDCWD, "/proc/kallsyms");
	int r;

	leftovers_remove(true);
	r = trace_decoder_new(&t->decoder, t->tracing_fd, symbols, err);
	if (r == 0 && request->keep) {
		/* made now, so that a wrong path is known before the run */
		r = output_file_open(&t->kept, request->keep, err);
		t->kept_path = xstrdup(request->keep);
	}
	if (r == 0)
		r = make_instance(t, request, err);
	if (r == 0)
		r = enable_events(t, request->of_program, err);

	for (struct trace_cpu *cpu = t->cpus; r == 0 && cpu < t->cpus + t->n_cpus; cpu++) {
		cpu->fd = path_open(
			t->fd, O_RDONLY | O_NONBLOCK, "per_cpu/cpu%d/trace_pipe_raw", cpu->cpu);
		if (cpu->fd < 0)
			r = error_os(err, cpu->fd, "cannot read the trace of CPU %d", cpu->cpu);
	}
	return r == 0 ? put_setting(t, "tracing_on", "1", "start the trace", err) : r;
}

/* The time of a page fault on that CPU now; 0: it could not be measured. */
static int64_t page_fault_ns(int cpu)
{
	enum { FAULT_PAGES = 128, FAULT_TRIES = 100 };
	long page = sysconf(_SC_PAGESIZE);
	size_t size = (size_t)(FAULT_PAGES * page);
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t shortest_ns = INT64_MAX; /* minimum of several runs, to exclude interruptions */
	cpu_set_t before;

	if (memory == MAP_FAILED)
		return 0;
	madvise(memory, size, MADV_NOHUGEPAGE);
	sched_getaffinity(0, sizeof(before), &before);
	if (pinning_pin(cpu) < 0)
		shortest_ns = 0;
	for (int i = 0; shortest_ns > 0 && i < FAULT_TRIES; i++) {
		int64_t before_ns, took_ns;

		madvise(memory, size, MADV_DONTNEED);
		before_ns = clock_ns(CLOCK_MONOTONIC_RAW);
		for (int k = 0; k < FAULT_PAGES; k++)
			*(volatile char *)(memory + k * page) = 1;
		took_ns = clock_ns(CLOCK_MONOTONIC_RAW) - before_ns;
		shortest_ns = took_ns < shortest_ns ? took_ns : shortest_ns;
	}
	sched_setaffinity(0, sizeof(before), &before);
	munmap(memory, size);
	return shortest_ns / FAULT_PAGES;
}

int trace_open(struct trace **ret, const struct trace_request *request, struct error *err)
{
	int64_t untraced_ns = request->of_program ? 0 : page_fault_ns(request->cpus[0]);
	_cleanup_(trace_freep) struct trace *t = NULL;
	int tracing_fd, r = find_tracefs(&tracing_fd, err);

	if (r < 0)
		return r;
	t = xmalloc(sizeof(*t));
	*t = (struct trace){
		.tracing_fd = tracing_fd,
		.fd = -1,
		.free_fd = -1,
		.guard = -1,
		.cpus = xcalloc(request->n_cpus, sizeof(*t->cpus)),
		.n_cpus = request->n_cpus,
		.buffer_bytes = request->buffer_bytes,
		.page = xmalloc(PAGE_BYTES),
		.clock = request->clock,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
	};
	for (size_t i = 0; i < t->n_cpus; i++)
		t->cpus[i] = (struct trace_cpu){.cpu = request->cpus[i], .fd = -1};
	r = set_up_trace(t, request, err);
	if (r < 0)
		return r;
	if (untraced_ns > 0) {
		int64_t traced_ns = page_fault_ns(request->cpus[0]);

		t->event_cost_ns = traced_ns > untraced_ns ? traced_ns - untraced_ns : 0;
	}
	*ret = TAKE(t);
	return 0;
}

/* The next page of a CPU, which is kept as it is. 1: there is one; 0: none. */
static int read_page(struct trace *t, struct trace_cpu *cpu, struct error *err)
{
	ssize_t n = read(cpu->fd, t->page, PAGE_BYTES);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return error_os(err, -errno, "cannot read the trace of CPU %d", cpu->cpu);
	if (n <= 0)
		return 0;
	if (!trace_page_open(&t->records, t->page, (size_t)n))
		t->records = (struct trace_page){};
	t->read_bytes += n;
	if (!t->kept_path)
		return 1;
	t->page_size = (size_t)n;
	cpu->pages = cpu->pages ?: tmpfile();
	if (!cpu->pages || fwrite(t->page, t->page_size, 1, cpu->pages) != 1)
		return error_os(err, -(errno ?: EIO),
			"cannot keep the trace for '%s' in a temporary file", t->kept_path);
	return 1;
}

/* How many events the buffer of a CPU did not keep: what was overwritten, and what was not
 * written. */
static int64_t read_lost(const struct trace *t, int cpu)
{
	static const char *const losses[] = {"\noverrun: ", "\ndropped events: "};
	_cleanup_(freep) char *text = path_text(t->fd, "per_cpu/cpu%d/stats", cpu);
	int64_t lost = 0;

	for (size_t i = 0; text && i < ELEMENTS(losses); i++) {
		const char *line = strstr(text, losses[i]);

		if (line)
			lost += strtoll(line + strlen(losses[i]), NULL, 10);
	}
	return lost;
}

int trace_next(struct trace *t, size_t i, struct trace_event *ret, struct error *err)
{
	struct trace_cpu *cpu = &t->cpus[i];

	while (!trace_decode(t->decoder, &t->records, ret)) {
		int r = 0;

		/* new events may come as fast as they are read */
		if (t->read_bytes <= t->buffer_bytes + PAGE_BYTES)
			r = read_page(t, cpu, err);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		t->read_bytes = 0;
		cpu->lost = read_lost(t, cpu->cpu) - cpu->forgotten;
		return 0;
	}
	return 1;
}

int trace_forget(struct trace *t, struct error *err)
{
	struct trace_event event;
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n_cpus; i++) {
		while ((r = trace_next(t, i, &event, err)) > 0)
			;
		t->cpus[i].forgotten += t->cpus[i].lost;
		t->cpus[i].lost = 0;
	}
	return r;
}

/* The trace as a file that trace-cmd and KernelShark read (trace.dat, version 6:
 * trace-cmd.dat.v6(5)). */

static void put_number(FILE *out, uint64_t value, size_t bytes)
{
	uint32_t four = (uint32_t)value;
	uint16_t two = (uint16_t)value;

	switch (bytes) {
	case 8:
		fwrite(&value, sizeof(value), 1, out);
		break;
	case 4:
		fwrite(&four, sizeof(four), 1, out);
		break;
	default:
		fwrite(&two, sizeof(two), 1, out);
	}
}

/* A file of tracefs after its length, which takes `length_bytes`; an empty file where there is
 * none. */
static void put_file(FILE *out, int fd, const char *path, size_t length_bytes)
{
	_cleanup_(freep) char *text = path_text(fd, "%s", path);

	put_number(out, text ? strlen(text) + 1 : 0, length_bytes);
	if (text)
		fprintf(out, "%s\n", text); /* its last newline was cut off */
}

/* The descriptions of all events of a system. */
static void put_events(FILE *out, int fd, const char *system)
{
	_cleanup_(freep) char *pattern = text_format("/events/%s/*/format", system);
	_cleanup_(paths_clear) struct paths formats = paths_expand(fd, pattern);

	put_number(out, formats.n, 4);
	for (size_t i = 0; i < formats.n; i++)
		put_file(out, fd, formats.items[i] + 1, 8);
}

/* The systems of events that EMP records, with their events; a reader needs no others. */
static void put_systems(const struct trace *t, FILE *out)
{
	static const char *const systems[] = {
		"sched", "irq", "irq_vectors", "ipi", "nmi", "mce", "exceptions", "workqueue"};
	const char *present[ELEMENTS(systems)];
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTS(systems); i++) {
		_cleanup_(freep) char *path = text_format("events/%s", systems[i]);

		if (faccessat(t->tracing_fd, path, F_OK, 0) == 0)
			present[n++] = systems[i];
	}
	put_number(out, n, 4);
	for (size_t i = 0; i < n; i++) {
		fwrite(present[i], strlen(present[i]) + 1, 1, out);
		put_events(out, t->tracing_fd, present[i]);
	}
}

static void put_header(const struct trace *t, FILE *out)
{
	static const char magic[] = "\x17\x08\x44tracing6";

	fwrite(magic, sizeof(magic), 1, out);
	putc(tep_is_bigendian(), out);
	putc(sizeof(long), out);
	put_number(out, t->page_size, 4);

	fwrite("header_page", 12, 1, out);
	put_file(out, t->tracing_fd, "events/header_page", 8);
	fwrite("header_event", 13, 1, out);
	put_file(out, t->tracing_fd, "events/header_event", 8);

	put_events(out, t->tracing_fd, "ftrace");
	put_systems(t, out);
	put_file(out, AT_FDCWD, "/proc/kallsyms", 4);
	put_file(out, t->tracing_fd, "printk_formats", 4);
	put_file(out, t->tracing_fd, "saved_cmdlines", 8);
}

static uint64_t page_aligned(const struct trace *t, uint64_t at)
{
	return (at + t->page_size - 1) / t->page_size * t->page_size;
}

/* Zeros up to the next page. */
static void put_padding(const struct trace *t, FILE *out)
{
	uint64_t at = (uint64_t)ftello(out);

	for (uint64_t end = page_aligned(t, at); at < end; at++)
		putc(0, out);
}

/* The pages of a CPU, from their file. */
static void put_cpu_pages(const struct trace *t, FILE *out, FILE *pages)
{
	size_t n;

	rewind(pages);
	while ((n = fread(t->page, 1, PAGE_BYTES, pages)) > 0)
		fwrite(t->page, 1, n, out);
}

/* After the header: where the pages of each CPU are, and how many bytes, and the clock as the file
 * trace_clock has it; then the pages. files[i]: those of CPU i; NULL: it has none. */
static bool put_pages(const struct trace *t, FILE *out, FILE *const *files, size_t n)
{
	enum { OPTION_CLOCK = 4 };
	_cleanup_(freep) char *clock = text_format("[%s]", t->clock);
	uint64_t at;

	put_number(out, n, 4);
	/* Option 4, which is empty, says that the name of the clock is after the places. */
	fwrite("options  ", 10, 1, out);
	put_number(out, OPTION_CLOCK, 2);
	put_number(out, 0, 4);
	put_number(out, 0, 2);

	fwrite("flyrecord", 10, 1, out);
	at = page_aligned(t, (uint64_t)ftello(out) + n * 16 + sizeof(uint64_t) + strlen(clock));
	for (size_t i = 0; i < n; i++) {
		uint64_t size = files[i] ? (uint64_t)ftello(files[i]) : 0;

		put_number(out, at, 8);
		put_number(out, size, 8);
		at = page_aligned(t, at + size);
	}
	put_number(out, strlen(clock), 8);
	fwrite(clock, strlen(clock), 1, out);

	for (size_t i = 0; i < n; i++) {
		if (files[i] && ferror(files[i]))
			return false;
		put_padding(t, out);
		if (files[i])
			put_cpu_pages(t, out, files[i]);
	}
	return true;
}

int trace_keep(struct trace *t, struct error *err)
{
	_cleanup_(freep) FILE **files = NULL;
	size_t n = 0;

	if (!t->kept_path)
		return 0;
	for (size_t i = 0; i < t->n_cpus; i++)
		while (n <= (size_t)t->cpus[i].cpu)
			array_add(files, n);
	for (size_t i = 0; i < t->n_cpus; i++)
		files[t->cpus[i].cpu] = t->cpus[i].pages;
	put_header(t, t->kept.file);
	if (!put_pages(t, t->kept.file, files, n))
		return error_os(err, -EIO, "cannot read the trace for '%s' in its temporary file",
			t->kept_path);
	return output_file_commit(&t->kept, err);
}
