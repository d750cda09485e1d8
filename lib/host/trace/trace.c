/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A private trace: see trace.h. The only file that includes libtracefs. */
#include "lib/host/trace/trace.h"

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <traceevent/event-parse.h>
#include <tracefs/tracefs.h>

/* See trace.h. */

/* -ENOENT: nothing is mounted there, and it is a directory of the file system `around`. */
static int open_mounted(const char *path, __fsword_t around)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	return fs.f_type != around ? TAKE_FD(fd) : -ENOENT;
}

int tracefs_open(void)
{
	const bool has_place = access("/sys/kernel/tracing", F_OK) == 0; /* users learn no more */
	_cleanup_(closep) int context = -1, root = -1;
	int fd = open_mounted("/sys/kernel/tracing", SYSFS_MAGIC);

	if (fd == -ENOENT)
		fd = open_mounted("/sys/kernel/debug/tracing", DEBUGFS_MAGIC);
	if (fd != -ENOENT)
		return fd;
	if (!has_place)
		return -ENOENT;
	context = fsopen("tracefs", FSOPEN_CLOEXEC);
	if (context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return errno == ENODEV ? -ENOENT : -errno;
	root = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	fd = root < 0 ? root : openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_recording(int instances_fd, const char *name)
{
	static const char *const files[] = {"tracing_on", "current_tracer", "events/enable"};
	static const char *const idle[] = {"0", "nop", "0"};
	bool busy[ELEMENTS(files)] = {};

	for (size_t i = 0; i < ELEMENTS(files); i++) {
		_cleanup_(freep) char *path = text_format("%s/%s", name, files[i]), *text = NULL;

		busy[i] = path && text_read_file(instances_fd, path, &text) == 0 &&
			  strcmp(text, idle[i]) != 0;
	}
	return busy[0] && (busy[1] || busy[2]);
}

char *tracefs_recording(int tracing_fd)
{
	int fd = openat(tracing_fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	char *names = NULL;

	while (dir && (entry = readdir(dir))) {
		_cleanup_(freep) char *before = names;

		if (*entry->d_name == '.' || !is_recording(fd, entry->d_name)) {
			before = NULL;
			continue;
		}
		names = text_format("%s%s%s", before ?: "", before ? ", " : "", entry->d_name);
	}
	return names;
}

/* A trace as a file that trace-cmd and KernelShark read (trace.dat, version 6: trace-cmd.dat.v6(5)). */

struct trace_file;

struct trace_file {
	struct output_file output;
	int tracing_fd;
	char *path, *clock;
	FILE **cpus; /* NULL: nothing of that CPU */
	size_t n_cpus;
	size_t page_size;
};

static void trace_file_free(struct trace_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_cpus; i++)
		fclosep(&f->cpus[i]);
	output_file_clear(&f->output);
	closep(&f->tracing_fd);
	free(f->cpus);
	free(f->path);
	free(f->clock);
	free(f);
}

static int cannot_write(const struct trace_file *f, struct error *err)
{
	return error_os(err, -(errno ?: EIO), "cannot write '%s'", f->path);
}

static FILE *pages_of(struct trace_file *f, int cpu)
{
	while (f->n_cpus <= (size_t)cpu)
		if (!array_add(f->cpus, f->n_cpus))
			return NULL;
	f->cpus[cpu] = f->cpus[cpu] ?: tmpfile();
	return f->cpus[cpu];
}

static void put_number(FILE *out, uint64_t value, size_t bytes)
{
	uint32_t four = (uint32_t)value;
	uint16_t two = (uint16_t)value;

	fwrite(bytes == 8 ? (void *)&value : bytes == 4 ? (void *)&four : (void *)&two, bytes, 1, out);
}

/* A file of tracefs after its length, which takes `width` bytes; an empty file where there is none. */
static void trace_put_file(FILE *out, int fd, const char *path, size_t length_bytes)
{
	_cleanup_(freep) char *text = NULL;
	bool there = text_read_file(fd, path, &text) == 0;
	size_t length = there ? strlen(text) + 1 : 0; /* its last newline was cut off */

	put_number(out, length, length_bytes);
	if (!there)
		return;
	fwrite(text, length - 1, 1, out);
	putc('\n', out);
}

static int is_directory(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

static void put_events(FILE *out, int fd, const char *system)
{
	_cleanup_(freep) char *path = text_format("events/%s", system);
	struct dirent **names = NULL;
	int n = path ? scandirat(fd, path, &names, is_directory, alphasort) : 0;

	n = n < 0 ? 0 : n;
	put_number(out, (uint64_t)n, 4);
	for (int i = 0; i < n; i++) {
		_cleanup_(freep) char *format = text_format("events/%s/%s/format", system, names[i]->d_name);

		trace_put_file(out, fd, format ?: "", 8);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static void put_header(const struct trace_file *f, FILE *out)
{
	static const char magic[] = "\x17\x08\x44tracing6";
	static const char *const systems[] = {
		"sched", "irq", "irq_vectors", "ipi", "nmi", "mce", "exceptions", "workqueue"};
	uint32_t n = 0;

	fwrite(magic, sizeof(magic), 1, out);
	putc(tep_is_bigendian(), out);
	putc(sizeof(long), out);
	put_number(out, f->page_size, 4);
	fwrite("header_page", 12, 1, out);
	trace_put_file(out, f->tracing_fd, "events/header_page", 8);
	fwrite("header_event", 13, 1, out);
	trace_put_file(out, f->tracing_fd, "events/header_event", 8);
	put_events(out, f->tracing_fd, "ftrace");
	/* Those that EMP records; a reader needs no others. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < ELEMENTS(systems); i++) {
			_cleanup_(freep) char *path = text_format("events/%s", systems[i]);

			if (!path || faccessat(f->tracing_fd, path, F_OK, 0) < 0)
				continue;
			if (pass == 0) {
				n++;
				continue;
			}
			fwrite(systems[i], strlen(systems[i]) + 1, 1, out);
			put_events(out, f->tracing_fd, systems[i]);
		}
		if (pass == 0)
			put_number(out, n, 4);
	}
	trace_put_file(out, AT_FDCWD, "/proc/kallsyms", 4);
	trace_put_file(out, f->tracing_fd, "printk_formats", 4);
	trace_put_file(out, f->tracing_fd, "saved_cmdlines", 8);
	put_number(out, f->n_cpus, 4);
}

static uint64_t aligned(const struct trace_file *f, uint64_t at)
{
	return (at + f->page_size - 1) / f->page_size * f->page_size;
}

static uint64_t size_of(FILE *pages)
{
	return pages ? (uint64_t)ftello(pages) : 0;
}

/* Where the pages of each CPU are, and how many bytes; then the clock, as the file trace_clock has it. */
static void put_places(const struct trace_file *f, FILE *out)
{
	uint64_t at, clock = strlen(f->clock);

	fwrite("flyrecord", 10, 1, out);
	at = aligned(f, (uint64_t)ftello(out) + f->n_cpus * 16 + sizeof(clock) + clock);
	for (size_t i = 0; i < f->n_cpus; i++) {
		put_number(out, at, 8);
		put_number(out, size_of(f->cpus[i]), 8);
		at = aligned(f, at + size_of(f->cpus[i]));
	}
	put_number(out, clock, 8);
	fwrite(f->clock, clock, 1, out);
}

/* Writes the file; before that, an old one of its name is as it was. */
static int trace_file_finish(struct trace_file *f, struct error *err)
{
	FILE *out = f->output.file;
	enum { OPTION_CLOCK = 4 };

	f->page_size = f->page_size ?: (size_t)sysconf(_SC_PAGESIZE);
	put_header(f, out);
	/* Option 4, which is empty, says that the name of the clock is after the places. */
	fwrite("options  ", 10, 1, out);
	put_number(out, OPTION_CLOCK, 2);
	put_number(out, 0, 4);
	put_number(out, 0, 2);
	put_places(f, out);
	for (size_t i = 0; i < f->n_cpus; i++) {
		size_t n;

		if (f->cpus[i] && ferror(f->cpus[i]))
			return cannot_write(f, err);

		_cleanup_(freep) char *page = xmalloc(f->page_size);

		for (uint64_t at = (uint64_t)ftello(out), end = aligned(f, at); at < end; at++)
			putc(0, out);
		if (!f->cpus[i] || !page)
			continue;
		rewind(f->cpus[i]);
		while ((n = fread(page, 1, f->page_size, f->cpus[i])) > 0)
			fwrite(page, 1, n, out);
	}
	return ferror(out) ? cannot_write(f, err) : output_file_commit(&f->output, err);
}

struct trace_cpu {
	int cpu;
	int fd; /* of its raw pages */
	int64_t lost;
};

struct trace {
	struct tracefs_instance *instance;
	int tracing_fd;      /* of tracefs, as long as the process */
	char *path;          /* of the instance below that */
	struct guard *guard; /* removes the instance, however this process ends */
	int free_fd;         /* once it is closed, the kernel stops the trace and frees its buffer */
	int lock_fd;         /* tells others that the instance has an owner */
	struct trace_decoder *decoder;
	struct trace_file *file; /* NULL: not kept */
	struct trace_cpu *cpus;
	size_t n_cpus;
	int64_t buffer_bytes; /* for each CPU */
	size_t page_size;
	void *page;
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
	for (size_t i = 0; i < t->n_cpus; i++)
		closep(&t->cpus[i].fd);
	trace_file_free(t->file);
	trace_decoder_free(t->decoder);
	closep(&t->free_fd);
	closep(&t->lock_fd);
	tracefs_instance_free(t->instance);
	guard_free(t->guard);
	if (t->path)
		remove_instance(t->tracing_fd, t->path); /* if the guard was killed */
	free(t->path);
	free(t->cpus);
	free(t->page);
	free(t);
}

/* In its mode "confidentiality" the kernel's lockdown forbids the trace, to root as well; "" where it is not in it. */
static const char *lockdown(void)
{
	_cleanup_(freep) char *text = NULL;

	if (text_read_file(AT_FDCWD, "/sys/kernel/security/lockdown", &text) < 0)
		return "";
	return strstr(text, "[confidentiality]")
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

static int say(const struct trace *t, int error, const char *what, struct error *err)
{
	return error_os(err, -(error ?: EIO), "cannot %s%s", what,
		error == EPERM || error == EACCES ? lockdown() : "");
}

/* Others than root do not even see whether it is there. */
static int not_allowed(const struct trace *t, int error, struct error *err)
{
	return say(t, error,
		geteuid() == 0 ? "use the kernel's trace" : "use the kernel's trace; this needs root", err);
}

/* Others may take it for a leftover until it is locked. */
static int lock_instance(struct trace *t)
{
	closep(&t->lock_fd);
	closep(&t->free_fd);
	t->free_fd = -1;
	t->lock_fd = openat(t->tracing_fd, t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->lock_fd < 0 || flock(t->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	t->free_fd = tracefs_instance_file_open(t->instance, "free_buffer", O_WRONLY | O_CLOEXEC);
	return t->free_fd < 0 ? -1 : 0;
}

static int make_instance(struct trace *t, struct error *err)
{
	_cleanup_(freep) char *name = leftover_trace_name(getpid());
	int r;

	t->path = text_format("instances/%s", name);
	r = guard_new(&t->guard, remove_instance, t->tracing_fd, t->path, err);
	if (r < 0)
		return r;
	for (int i = 0; i < 100; i++) {
		tracefs_instance_free(t->instance);
		t->instance = tracefs_instance_create(name);
		if (t->instance && lock_instance(t) == 0) {
			tracefs_option_enable(t->instance, TRACEFS_OPTION_DISABLE_ON_FREE);
			return 0;
		}
	}
	return say(t, errno, "make a private instance of the kernel's trace", err);
}

struct enabling {
	struct trace *trace;
	bool of_program;
	struct error *err;
};

/* Events that cannot be switched on (lockdown forbids some) are missed, but for the one that everything rests on. */
static int enable(const char *system, const char *event, void *data)
{
	struct enabling *e = data;

	if (!strcmp(e->of_program ? "exceptions" : "sched_process_fork", e->of_program ? system : event))
		return 0;
	if (tracefs_event_enable(e->trace->instance, system, event) == 0 || strcmp(event, "sched_switch"))
		return 0;
	return say(e->trace, errno, "record sched_switch", e->err);
}

static int open_pages(struct trace *t, struct error *err)
{
	for (size_t i = 0; i < t->n_cpus; i++) {
		char path[64];

		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", t->cpus[i].cpu);
		t->cpus[i].fd = tracefs_instance_file_open(
			t->instance, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (t->cpus[i].fd < 0)
			return error_os(err, -errno, "cannot read the trace of CPU %d", t->cpus[i].cpu);
	}
	return 0;
}

static int set_up(struct trace *t, const struct trace_request *request, struct error *err)
{
	struct enabling enabling = {t, request->of_program, err};
	int r = make_instance(t, err);

	if (r == 0 && tracefs_trace_off(t->instance) != 0)
		r = say(t, errno, "stop the private trace", err);
	if (r == 0) {
		if (tracefs_instance_file_write(t->instance, "trace_clock", request->clock) <= 0) {
			_cleanup_(freep) char *all = tracefs_instance_file_read(
				t->instance, "trace_clock", NULL);

			r = error_say(err, -ENOTSUP,
				"the kernel's trace does not have the clock '%s'; it has %s", request->clock,
				all ? strtok(all, "\n") : "none");
		}
	}
	if (r == 0) {
		/* The kernel does not report if it makes the buffer smaller. */
		if (tracefs_instance_set_buffer_size(
			    t->instance, (size_t)(request->buffer_bytes / 1024), -1) == 0)
			r = 0;
		else
			r = error_os(err, -(errno ?: ENOMEM),
				"cannot allocate %" PRId64
				" MB for the trace of each CPU; use a smaller --buffer",
				request->buffer_bytes >> 20);
	}
	if (r == 0) {
		_cleanup_(freep) char *all = tracefs_instance_file_read(t->instance, "tracing_cpumask", NULL),
				      *mask = NULL;

		if (all)
			all[strcspn(all, "\n")] = '\0';
		mask = all ? cpu_mask_of(all, request->cpus, request->n_cpus) : NULL;
		if (mask && tracefs_instance_file_write(t->instance, "tracing_cpumask", mask) > 0)
			r = 0;
		else
			r = say(t, errno, "choose the CPUs of the trace", err);
	}
	if (r == 0)
		r = trace_decoder_events(t->decoder, enable, &enabling);
	return r < 0 ? r : open_pages(t, err);
}

static int trace_prepare(struct trace *t, const struct trace_request *request, struct error *err)
{
	static char directory[32]; /* libtracefs keeps it */
	static int fd = -1;
	int r;

	if (fd < 0)
		fd = tracefs_open();
	t->tracing_fd = fd;
	if (fd < 0)
		return fd == -EACCES || geteuid() != 0 ? not_allowed(t, EACCES, err) : no_tracefs(err);
	snprintf(directory, sizeof(directory), "/proc/self/fd/%d", fd);
	tracefs_set_tracing_dir(directory);
	if (faccessat(fd, "instances", W_OK | X_OK, 0) < 0)
		return errno == ENOENT ? no_tracefs(err) : not_allowed(t, errno, err);
	leftovers_remove_traces();
	r = trace_decoder_new(&t->decoder, fd, err);
	if (r == 0) {
		_cleanup_(freep) char *symbols = NULL;
		struct error ignored;

		/* kernel workers go without their functions */
		if (text_read_file(AT_FDCWD, "/proc/kallsyms", &symbols) == 0)
			trace_decoder_symbols(t->decoder, symbols, &ignored);
	}
	if (r == 0 && request->keep) {
		struct trace_file *f = xcalloc(1, sizeof(*f));

		/* `directory`: where tracefs is mounted. The file is made now, so that a wrong path is
		 * known before the run. */
		f->tracing_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		f->path = xstrdup(request->keep);
		f->clock = text_format("[%s]", request->clock);
		r = output_file_open(&f->output, request->keep, err);
		if (r < 0)
			trace_file_free(f);
		else
			t->file = f;
	}
	return r < 0 ? r : set_up(t, request, err);
}

int trace_open(struct trace **ret, const struct trace_request *request, struct error *err)
{
	_cleanup_(trace_freep) struct trace *t = xcalloc(1, sizeof(*t));
	int r;

	t->buffer_bytes = request->buffer_bytes;
	t->page_size = 65536; /* pages of the buffer may be larger than those of memory */
	t->page = xmalloc(t->page_size);
	t->cpus = xcalloc(request->n_cpus, sizeof(*t->cpus));
	t->free_fd = t->lock_fd = -1;
	t->n_cpus = request->n_cpus;
	for (size_t i = 0; i < t->n_cpus; i++)
		t->cpus[i] = (struct trace_cpu){.cpu = request->cpus[i], .fd = -1};
	r = trace_prepare(t, request, err);
	if (r < 0)
		return r;
	*ret = TAKE(t);
	return 0;
}

int trace_start(struct trace *t, struct error *err)
{
	return tracefs_trace_on(t->instance) == 0 ? 0 : say(t, errno, "start the trace", err);
}

int trace_stop(struct trace *t, struct error *err)
{
	return tracefs_trace_off(t->instance) == 0 ? 0 : say(t, errno, "stop the trace", err);
}

int trace_read(struct trace *t, size_t i, trace_each *each, void *data, struct error *err)
{
	struct trace_cpu *cpu = &t->cpus[i];
	int64_t most = t->buffer_bytes +
		       (int64_t)t->page_size; /* new events may come as fast as they are read */
	ssize_t n = 0;
	int r = 0;
	static const char *const names[] = {"\noverrun: ", "\ndropped events: "};
	_cleanup_(freep) char *text = NULL;
	int64_t lost = 0;
	char path[64];

	for (int64_t bytes = 0; r >= 0 && bytes <= most && (n = read(cpu->fd, t->page, t->page_size)) > 0;
		bytes += n) {
		if (t->file) {
			size_t size = (size_t)n;
			FILE *pages = pages_of(t->file, cpu->cpu);

			t->file->page_size = size;
			if (!pages || fwrite(t->page, size, 1, pages) != 1)
				r = error_os(err, -(errno ?: EIO),
					"cannot keep the trace for '%s' in a temporary file", t->file->path);
		}
		trace_decode(t->decoder, t->page, (size_t)n, each, data);
	}
	if (r < 0)
		return r;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return error_os(err, -errno, "cannot read the trace of CPU %d", cpu->cpu);
	/* "overrun" counts what was overwritten, "dropped events" what was not written. */
	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu->cpu);
	text = tracefs_instance_file_read(t->instance, path, NULL);
	for (size_t k = 0; text && k < ELEMENTS(names); k++) {
		const char *line = strstr(text, names[k]);

		lost += line ? strtoll(line + strlen(names[k]), NULL, 10) : 0;
	}
	cpu->lost = lost;
	return 0;
}

int64_t trace_lost(const struct trace *t, size_t i)
{
	return t->cpus[i].lost;
}

const char *trace_symbol(struct trace *t, uint64_t address)
{
	return trace_function(t->decoder, address);
}

int trace_keep(struct trace *t, struct error *err)
{
	return t->file ? trace_file_finish(t->file, err) : 0;
}
