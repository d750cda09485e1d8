/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace as a file: see trace_file.h. */
#include "lib/host/trace/trace_file.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/output_file.h"
#include "lib/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <traceevent/event-parse.h>

struct trace_file {
	struct output_file output;
	int tracing_fd;
	char *path, *clock;
	FILE **cpus; /* NULL: nothing of that CPU */
	size_t n_cpus;
	size_t page_size;
};

void trace_file_free(struct trace_file *f)
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

int trace_file_new(struct trace_file **ret, const char *path, const char *directory, const char *clock,
	struct error *err)
{
	struct trace_file *f = xcalloc(1, sizeof(*f));
	int r;

	f->tracing_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->path = xstrdup(path);
	f->clock = text_format("[%s]", clock);
	r = f->path && f->clock ? output_file_open(&f->output, path, err) : error_oom(err);
	if (r < 0) {
		trace_file_free(f);
		return r;
	}
	*ret = f;
	return 0;
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

int trace_file_add(struct trace_file *f, int cpu, const void *page, size_t size, struct error *err)
{
	FILE *pages = pages_of(f, cpu);

	f->page_size = size;
	if (!pages || fwrite(page, size, 1, pages) != 1)
		return error_os(
			err, -(errno ?: EIO), "cannot keep the trace for '%s' in a temporary file", f->path);
	return 0;
}

static void put_number(FILE *out, uint64_t value, size_t bytes)
{
	uint32_t four = (uint32_t)value;
	uint16_t two = (uint16_t)value;

	fwrite(bytes == 8 ? (void *)&value : bytes == 4 ? (void *)&four : (void *)&two, bytes, 1, out);
}

/* A file of tracefs after its length, which takes `width` bytes; an empty file where there is none. */
static void put_file(FILE *out, int fd, const char *path, size_t length_bytes)
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

static void free_names(struct dirent **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
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

		put_file(out, fd, format ?: "", 8);
	}
	free_names(names, n);
}

/* Those that EMP records; a reader needs no others. */
static void put_systems(FILE *out, int fd)
{
	static const char *const systems[] = {
		"sched", "irq", "irq_vectors", "ipi", "nmi", "mce", "exceptions", "workqueue"};
	uint32_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < ELEMENTS(systems); i++) {
			_cleanup_(freep) char *path = text_format("events/%s", systems[i]);

			if (!path || faccessat(fd, path, F_OK, 0) < 0)
				continue;
			if (pass == 0) {
				n++;
				continue;
			}
			fwrite(systems[i], strlen(systems[i]) + 1, 1, out);
			put_events(out, fd, systems[i]);
		}
		if (pass == 0)
			put_number(out, n, 4);
	}
}

static void put_header(const struct trace_file *f, FILE *out)
{
	static const char magic[] = "\x17\x08\x44tracing6";

	fwrite(magic, sizeof(magic), 1, out);
	putc(tep_is_bigendian(), out);
	putc(sizeof(long), out);
	put_number(out, f->page_size, 4);
	fwrite("header_page", 12, 1, out);
	put_file(out, f->tracing_fd, "events/header_page", 8);
	fwrite("header_event", 13, 1, out);
	put_file(out, f->tracing_fd, "events/header_event", 8);
	put_events(out, f->tracing_fd, "ftrace");
	put_systems(out, f->tracing_fd);
	put_file(out, AT_FDCWD, "/proc/kallsyms", 4);
	put_file(out, f->tracing_fd, "printk_formats", 4);
	put_file(out, f->tracing_fd, "saved_cmdlines", 8);
	put_number(out, f->n_cpus, 4);
}

/* Option 4, which is empty, says that the name of the clock is after the places. */
static void put_options(FILE *out)
{
	enum { OPTION_CLOCK = 4 };

	fwrite("options  ", 10, 1, out);
	put_number(out, OPTION_CLOCK, 2);
	put_number(out, 0, 4);
	put_number(out, 0, 2);
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

static void put_pages(const struct trace_file *f, FILE *out, FILE *pages)
{
	_cleanup_(freep) char *page = xmalloc(f->page_size);
	size_t n;

	for (uint64_t at = (uint64_t)ftello(out), end = aligned(f, at); at < end; at++)
		putc(0, out);
	if (!pages || !page)
		return;
	rewind(pages);
	while ((n = fread(page, 1, f->page_size, pages)) > 0)
		fwrite(page, 1, n, out);
}

int trace_file_finish(struct trace_file *f, struct error *err)
{
	FILE *out = f->output.file;

	f->page_size = f->page_size ?: (size_t)sysconf(_SC_PAGESIZE);
	put_header(f, out);
	put_options(out);
	put_places(f, out);
	for (size_t i = 0; i < f->n_cpus; i++) {
		if (f->cpus[i] && ferror(f->cpus[i]))
			return cannot_write(f, err);
		put_pages(f, out, f->cpus[i]);
	}
	return ferror(out) ? cannot_write(f, err) : output_file_commit(&f->output, err);
}
