/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A private trace: see trace.h. */
#include "lib/jitter/trace.h"

#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/lock.h"
#include "lib/host/system/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <traceevent/event-parse.h>

enum { PAGE_BYTES = 65536 }; /* pages of the buffer may be larger than those of memory */

struct trace_cpu {
	int cpu;
	int fd;      /* of its raw pages */
	FILE *pages; /* where they are kept; NULL: nowhere */
	int64_t lost;
};

struct trace {
	int tracing_fd;      /* of tracefs, as long as the process */
	char *path;          /* of the instance below that */
	struct guard *guard; /* removes the instance, however this process ends */
	int fd;              /* of the instance, locked, which tells others that it has an owner */
	int free_fd;         /* once it is closed, the kernel stops the trace and frees its buffer */
	struct trace_decoder *decoder;
	struct trace_cpu *cpus;
	size_t n_cpus;
	int64_t buffer_bytes; /* for each CPU */
	char *page;

	struct output_file kept; /* for trace-cmd and KernelShark */
	char *kept_path;         /* NULL: not kept */
	const char *clock;
	size_t page_size; /* of what is kept */
};

/* In the guard, or before the instance is freed here. The kernel refuses it until all descriptors of the other process are closed. */
static void remove_instance(int tracing_fd, const void *path)
{
	for (int i = 0; i < 1000 && unlinkat(tracing_fd, path, AT_REMOVEDIR) < 0 && errno == EBUSY; i++)
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

/* In its mode "confidentiality" the kernel's lockdown forbids the trace, to root as well; "" where it is not in it. */
static const char *lockdown(void)
{
	_cleanup_(freep) char *text = path_text(AT_FDCWD, "/sys/kernel/security/lockdown");

	return text && strstr(text, "[confidentiality]")
		       ? " (the kernel is locked down: see /sys/kernel/security/lockdown)"
		       : "";
}

static int no_tracefs(struct error *err)
{
	if (*lockdown()) /* since it was started */
		return error_say(err, -EPERM, "the kernel's trace cannot be used%s", lockdown());
	return error_say(err, -ENOENT,
		"the kernel's trace is not available: mount it ('mount -t tracefs nodev /sys/kernel/tracing'), or use a kernel with CONFIG_FTRACE");
}

static int trace_failed(int r, const char *what, struct error *err)
{
	return error_os(err, r, "cannot %s%s", what, r == -EPERM || r == -EACCES ? lockdown() : "");
}

/* Others than root do not even see whether it is there. */
static int not_allowed(int r, struct error *err)
{
	return trace_failed(r,
		geteuid() == 0 ? "use the kernel's trace" : "use the kernel's trace; this needs root", err);
}

/* A file of the instance; -errno. */
static int put_setting(const struct trace *t, const char *file, const char *value)
{
	_cleanup_(closep) int fd = openat(t->fd, file, O_WRONLY | O_TRUNC | O_CLOEXEC);

	return fd < 0 || write(fd, value, strlen(value)) < 0 ? -errno : 0;
}

static int make_instance(struct trace *t, struct error *err)
{
	_cleanup_(freep) char *name = leftover_trace_name(getpid());
	int r;

	t->path = text_format("instances/%s", name);
	r = guard_new(&t->guard, remove_instance, t->tracing_fd, t->path, err);
	if (r < 0)
		return r;
	/* Others may take it for a leftover until it is locked. */
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
	put_setting(t, "options/disable_on_free", "1");
	return 0;
}

static int put_clock(struct trace *t, const char *clock, struct error *err)
{
	_cleanup_(freep) char *all = NULL;

	if (put_setting(t, "trace_clock", clock) == 0)
		return 0;
	all = path_text(t->fd, "trace_clock");
	return error_say(err, -ENOTSUP, "the kernel's trace does not have the clock '%s'; it has %s", clock,
		all ?: "none");
}

/* The kernel does not report if it makes the buffer smaller. */
static int put_buffer_size(struct trace *t, struct error *err)
{
	_cleanup_(freep) char *kib = text_format("%" PRId64, t->buffer_bytes / 1024);
	int r = put_setting(t, "buffer_size_kb", kib);

	if (r < 0)
		return error_os(err, r,
			"cannot allocate %" PRId64 " MB for the trace of each CPU; use a smaller --buffer",
			t->buffer_bytes >> 20);
	return 0;
}

static int put_cpus(struct trace *t, const struct trace_request *request, struct error *err)
{
	_cleanup_(freep) char *all = path_text(t->fd, "tracing_cpumask"), *mask = NULL;
	int r = -EIO;

	mask = all ? cpu_mask_of(all, request->cpus, request->n_cpus) : NULL;
	if (mask)
		r = put_setting(t, "tracing_cpumask", mask);
	return r < 0 ? trace_failed(r, "choose the CPUs of the trace", err) : 0;
}

/* Events that cannot be switched on (lockdown forbids some) are missed, but for the one that everything rests on. */
static int enable_events(struct trace *t, bool of_program, struct error *err)
{
	const char *system, *event;

	for (size_t i = 0; (event = trace_decoder_event(t->decoder, i, &system)); i++) {
		_cleanup_(freep) char *file = text_format("events/%s/%s/enable", system, event);
		int r;

		if (of_program ? !strcmp(system, "exceptions") : !strcmp(event, "sched_process_fork"))
			continue;
		r = put_setting(t, file, "1");
		if (r < 0 && !strcmp(event, "sched_switch"))
			return trace_failed(r, "record sched_switch", err);
	}
	return 0;
}

static int open_pages(struct trace *t, struct error *err)
{
	for (size_t i = 0; i < t->n_cpus; i++) {
		struct trace_cpu *cpu = &t->cpus[i];

		cpu->fd = path_open(t->fd, O_RDONLY | O_NONBLOCK, "per_cpu/cpu%d/trace_pipe_raw", cpu->cpu);
		if (cpu->fd < 0)
			return error_os(err, cpu->fd, "cannot read the trace of CPU %d", cpu->cpu);
	}
	return 0;
}

static int set_up_trace(struct trace *t, const struct trace_request *request, struct error *err)
{
	_cleanup_(freep) char *symbols = NULL;
	int r;

	leftovers_remove_traces();
	r = trace_decoder_new(&t->decoder, t->tracing_fd, err);
	if (r < 0)
		return r;
	symbols = path_text(AT_FDCWD, "/proc/kallsyms");
	if (symbols) /* else kernel workers go without their functions */
		trace_decoder_symbols(t->decoder, symbols);
	if (request->keep) { /* the file is made now, so that a wrong path is known before the run */
		r = output_file_open(&t->kept, request->keep, err);
		if (r < 0)
			return r;
		t->kept_path = xstrdup(request->keep);
	}
	r = make_instance(t, err);
	if (r < 0)
		return r;
	r = put_setting(t, "tracing_on", "0");
	if (r < 0)
		return trace_failed(r, "stop the private trace", err);
	r = put_clock(t, request->clock, err);
	if (r == 0)
		r = put_buffer_size(t, err);
	if (r == 0)
		r = put_cpus(t, request, err);
	if (r == 0)
		r = enable_events(t, request->of_program, err);
	return r < 0 ? r : open_pages(t, err);
}

int trace_open(struct trace **ret, const struct trace_request *request, struct error *err)
{
	static int tracing_fd = -1;
	_cleanup_(trace_freep) struct trace *t = NULL;
	int r;

	if (tracing_fd < 0)
		tracing_fd = tracefs_open();
	if (tracing_fd < 0)
		return tracing_fd == -EACCES || geteuid() != 0 ? not_allowed(-EACCES, err) : no_tracefs(err);
	if (faccessat(tracing_fd, "instances", W_OK | X_OK, 0) < 0)
		return errno == ENOENT ? no_tracefs(err) : not_allowed(-errno, err);
	t = xmalloc(sizeof(*t));
	*t = (struct trace){
		.tracing_fd = tracing_fd,
		.fd = -1,
		.free_fd = -1,
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
	*ret = TAKE(t);
	return 0;
}

int trace_start(struct trace *t, struct error *err)
{
	int r = put_setting(t, "tracing_on", "1");

	return r < 0 ? trace_failed(r, "start the trace", err) : 0;
}

int trace_stop(struct trace *t, struct error *err)
{
	int r = put_setting(t, "tracing_on", "0");

	return r < 0 ? trace_failed(r, "stop the trace", err) : 0;
}

/* Keeps a page as it is. */
static int keep_page(struct trace *t, struct trace_cpu *cpu, size_t size, struct error *err)
{
	t->page_size = size;
	cpu->pages = cpu->pages ?: tmpfile();
	if (!cpu->pages || fwrite(t->page, size, 1, cpu->pages) != 1)
		return error_os(err, -(errno ?: EIO), "cannot keep the trace for '%s' in a temporary file",
			t->kept_path);
	return 0;
}

int trace_read(struct trace *t, size_t i, trace_each *each, void *data, struct error *err)
{
	/* What was overwritten, and what was not written. */
	static const char *const losses[] = {"\noverrun: ", "\ndropped events: "};
	struct trace_cpu *cpu = &t->cpus[i];
	int64_t most = t->buffer_bytes + PAGE_BYTES; /* new events may come as fast as they are read */
	_cleanup_(freep) char *text = NULL;
	ssize_t n = 0;

	for (int64_t bytes = 0; bytes <= most && (n = read(cpu->fd, t->page, PAGE_BYTES)) > 0; bytes += n) {
		int r = t->kept_path ? keep_page(t, cpu, (size_t)n, err) : 0;

		trace_decode(t->decoder, t->page, (size_t)n, each, data);
		if (r < 0)
			return r;
	}
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return error_os(err, -errno, "cannot read the trace of CPU %d", cpu->cpu);
	text = path_text(t->fd, "per_cpu/cpu%d/stats", cpu->cpu);
	cpu->lost = 0;
	for (size_t k = 0; text && k < ELEMENTS(losses); k++) {
		const char *line = strstr(text, losses[k]);

		cpu->lost += line ? strtoll(line + strlen(losses[k]), NULL, 10) : 0;
	}
	return 0;
}

int64_t trace_lost(const struct trace *t, size_t i)
{
	return t->cpus[i].lost;
}

const char *trace_symbol(struct trace *t, uint64_t address)
{
	return trace_decoder_function(t->decoder, address);
}

/* The trace as a file that trace-cmd and KernelShark read (trace.dat, version 6: trace-cmd.dat.v6(5)). */

static void put_number(FILE *out, uint64_t value, size_t bytes)
{
	uint32_t four = (uint32_t)value;
	uint16_t two = (uint16_t)value;

	fwrite(bytes == 8 ? (void *)&value : bytes == 4 ? (void *)&four : (void *)&two, bytes, 1, out);
}

/* A file of tracefs after its length, which takes `length_bytes`; an empty file where there is none. */
static void put_file(FILE *out, int fd, const char *path, size_t length_bytes)
{
	_cleanup_(freep) char *text = path_text(fd, "%s", path);

	put_number(out, text ? strlen(text) + 1 : 0, length_bytes);
	if (text)
		fprintf(out, "%s\n", text); /* its last newline was cut off */
}

static int is_directory(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

/* The descriptions of all events of a system. */
static void put_events(FILE *out, int fd, const char *system)
{
	_cleanup_(freep) char *path = text_format("events/%s", system);
	struct dirent **names = NULL;
	int n = scandirat(fd, path, &names, is_directory, alphasort);

	put_number(out, n < 0 ? 0 : (uint64_t)n, 4);
	for (int i = 0; i < n; i++) {
		_cleanup_(freep) char *format = text_format("%s/%s/format", path, names[i]->d_name);

		put_file(out, fd, format, 8);
		free(names[i]);
	}
	free(names);
}

static void put_header(const struct trace *t, FILE *out)
{
	static const char magic[] = "\x17\x08\x44tracing6";
	/* Those that EMP records; a reader needs no others. */
	static const char *const systems[] = {
		"sched", "irq", "irq_vectors", "ipi", "nmi", "mce", "exceptions", "workqueue"};
	const char *present[ELEMENTS(systems)];
	size_t n = 0;

	fwrite(magic, sizeof(magic), 1, out);
	putc(tep_is_bigendian(), out);
	putc(sizeof(long), out);
	put_number(out, t->page_size, 4);
	fwrite("header_page", 12, 1, out);
	put_file(out, t->tracing_fd, "events/header_page", 8);
	fwrite("header_event", 13, 1, out);
	put_file(out, t->tracing_fd, "events/header_event", 8);
	put_events(out, t->tracing_fd, "ftrace");
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
	put_file(out, AT_FDCWD, "/proc/kallsyms", 4);
	put_file(out, t->tracing_fd, "printk_formats", 4);
	put_file(out, t->tracing_fd, "saved_cmdlines", 8);
}

static uint64_t page_aligned(const struct trace *t, uint64_t at)
{
	return (at + t->page_size - 1) / t->page_size * t->page_size;
}

/* After the header: where the pages of each CPU are, and how many bytes, and the clock as the file trace_clock has it; then the
 * pages. files[i]: those of CPU i; NULL: it has none. */
static bool put_pages(const struct trace *t, FILE *out, FILE *const *files, size_t n)
{
	enum { OPTION_CLOCK = 4 };
	_cleanup_(freep) char *clock = text_format("[%s]", t->clock);
	uint64_t at;
	size_t part;

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
		for (uint64_t end = page_aligned(t, at = (uint64_t)ftello(out)); at < end; at++)
			putc(0, out);
		if (!files[i])
			continue;
		rewind(files[i]);
		while ((part = fread(t->page, 1, PAGE_BYTES, files[i])) > 0)
			fwrite(t->page, 1, part, out);
	}
	return !ferror(out);
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
		return error_os(err, -(errno ?: EIO), "cannot write '%s'", t->kept_path);
	return output_file_commit(&t->kept, err);
}
