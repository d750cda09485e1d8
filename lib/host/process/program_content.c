/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command consists of, by content: see program_content.h. Everything that may make a
 * difference is a line of text, and the digest of all lines is compared. A file's line has the
 * digest of its content; its place stands in the line, too, if the content hints that it looks for
 * other files beside it. */
#include "lib/host/process/program_content.h"

#include "lib/host/process/subprocess.h"
#include "lib/host/system/digest.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Longer files are not read: they are equal if they are the same file. */
static const off_t LONGEST_FILE = (off_t)1 << 30;

/* A file in memory, and the parts of it that its program can see: of an ELF file not the names of
 * its sources. */
struct content_file {
	char *real; /* its path without links */
	struct stat st;
	const char *data;
	size_t size;
	const char *parts[64];
	size_t part_sizes[64], n_parts;
	const char *loader; /* NULL: not an ELF file of this machine, or static */
	bool elf;
};

static void content_file_clear(struct content_file *f)
{
	if (f->data)
		munmap((void *)(uintptr_t)f->data, f->size);
	free(f->real);
}

/* The segments of an ELF file that are loaded, and its loader. */
static void find_segments(struct content_file *f)
{
	const ElfW(Ehdr) *head = (const void *)f->data;
	const ElfW(Phdr) * p;

	f->elf = f->size >= sizeof(*head) && !memcmp(f->data, ELFMAG, SELFMAG);
	if (!f->elf || f->data[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
		head->e_phentsize != sizeof(*p) || head->e_phoff % sizeof(void *) ||
		head->e_phoff > f->size || head->e_phnum > (f->size - head->e_phoff) / sizeof(*p))
		return;
	p = (const void *)(f->data + head->e_phoff);
	for (size_t i = 0; i < head->e_phnum; i++) {
		const char *start = f->data + p[i].p_offset;

		if (p[i].p_offset > f->size || p[i].p_filesz > f->size - p[i].p_offset)
			continue;
		if (p[i].p_type == PT_INTERP && memchr(start, '\0', p[i].p_filesz))
			f->loader = start;
		if (p[i].p_type != PT_LOAD || f->n_parts == ELEMENTS(f->parts))
			continue;
		f->parts[f->n_parts] = start;
		f->part_sizes[f->n_parts++] = p[i].p_filesz;
	}
}

/* A regular file that is not empty and has not changed since then. 0, or a negative errno. */
static int content_file_open(const char *path, int64_t since_ns, struct content_file *ret)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	void *data = MAP_FAILED;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return -EINVAL;
	if (st.st_ctim.tv_sec * NS_PER_S + st.st_ctim.tv_nsec >= since_ns)
		return -ESTALE;
	if (st.st_size <= LONGEST_FILE) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			return -errno;
	}
	*ret = (struct content_file){.real = realpath(path, NULL), .st = st};
	if (data != MAP_FAILED) {
		ret->data = data;
		ret->size = (size_t)st.st_size;
		find_segments(ret);
	}
	if (ret->n_parts == 0) {
		ret->parts[0] = ret->data;
		ret->part_sizes[0] = ret->size;
		ret->n_parts = 1;
	}
	return ret->real ? 0 : -ENOENT;
}

static bool contains(const struct content_file *f, const char *text)
{
	for (size_t i = 0; i < f->n_parts; i++)
		if (memmem(f->parts[i], f->part_sizes[i], text, strlen(text)))
			return true;
	return false;
}

static bool is_of_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

/* Whether what ends before `at` is a conversion of printf for a text, "%s" or "%.*s". */
static bool ends_in_conversion(const char *start, const char *at)
{
	if (at == start || *--at != 's')
		return false;
	while (at > start && strchr("0123456789.*-", at[-1]) && at[-1])
		at--;
	return at > start && at[-1] == '%';
}

/* With nothing before and after it that belongs to a longer word. `whole`: it is a text of its own,
 * the end of one as "%s/table", or a directory in it as "tables/one": a program has many words that
 * are no names of files. */
static bool contains_word(const struct content_file *f, const char *word, size_t length, bool whole)
{
	for (size_t i = 0; i < f->n_parts; i++) {
		const char *start = f->parts[i], *end = start + f->part_sizes[i], *at = start;

		for (; (at = memmem(at, (size_t)(end - at), word, length)); at++) {
			char before = at > start ? at[-1] : '\0',
			     after = at + length < end ? at[length] : '\0';
			bool in_path = before == '/' && (at - start < 2 || !is_of_word(at[-2]) ||
								ends_in_conversion(start, at - 1));

			if (whole ? (!after || after == '/') && (!before || in_path)
				  : !is_of_word(before) && !is_of_word(after))
				return true;
		}
	}
	return false;
}

/* Whether the content has the rest of a name that begins with the name of the file itself, as
 * "%s.conf" has. */
static bool completes_name(const struct content_file *f, const char *name, const char *own)
{
	size_t n = strlen(own);

	if (strncmp(name, own, n) != 0 || is_of_word(name[n]))
		return false;
	for (size_t i = 0; i < f->n_parts; i++)
		if (memmem(f->parts[i], f->part_sizes[i], name + n, strlen(name + n) + 1))
			return true;
	return false;
}

/* Whether the content hints that it finds other files by its own place. */
static bool asks_for_its_place(const struct content_file *f)
{
	static const char *const hints[] = {
		"/proc/self/exe", "readlink", "realpath", "dirname", "dladdr"};
	static const char *const of_scripts[] = {"../", "/..", "__file__", "__dir", "$0", "${0",
		"BASH_SOURCE", "FindBin", "PROGRAM_NAME", "argv[0]", "import.meta",
		"require_relative", "inspect.", "arg[0]", "commandArgs", "sys.path"};

	for (size_t i = 0; i < ELEMENTS(hints); i++)
		if (contains(f, hints[i]))
			return true;
	if (f->elf) /* what is loaded at the start is known; what is loaded later is not */
		return contains(f, "$ORIGIN") && contains(f, "dlopen");
	for (size_t i = 0; i < ELEMENTS(of_scripts); i++)
		if (contains(f, of_scripts[i]))
			return true;
	return false;
}

static bool is_of_system(const char *path)
{
	return !strncmp(path, "/usr/", 5) || !strncmp(path, "/lib", 4);
}

/* Whether a file in that directory is named in the content, with its suffix or without: a module, a
 * table. Another script of the same suffix may be a module that is named by a module. */
static bool names_neighbour(const struct content_file *f, const char *directory, const char *own)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	const char *own_suffix = strrchr(own, '.');
	struct dirent *entry;

	if (!dir)
		return true;
	while ((entry = readdir(dir))) {
		size_t stem = strcspn(entry->d_name, ".");

		if (*entry->d_name == '.' || !strcmp(entry->d_name, own))
			continue;
		if (f->elf && strstr(entry->d_name, ".so")) /* the loader says which it is */
			continue;
		if (f->elf && completes_name(f, entry->d_name, own))
			return true;
		if (!f->elf && own_suffix && !strcmp(strrchr(entry->d_name, '.') ?: "", own_suffix))
			return true;
		/* in the system's directories they are found by PATH */
		if (f->elf && !entry->d_name[stem] && is_of_system(directory))
			continue;
		/* compilers make numbers of 8 bytes of short texts */
		if (f->elf && entry->d_name[stem] && contains(f, text_brief("%.8s", entry->d_name)))
			return true;
		if (contains_word(f, entry->d_name, strlen(entry->d_name), f->elf))
			return true;
		if (!f->elf && contains_word(f, entry->d_name, stem, false))
			return true;
	}
	return false;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_(freep) char *directory = text_format(
		"%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");

	return realpath(directory, NULL) ?: xstrdup(directory);
}

static void write_place(FILE *lines, const struct content_file *f, const char *path)
{
	_cleanup_(freep) char *given = directory_of(path), *real = directory_of(f->real);
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *real_name = strrchr(f->real, '/') + 1;
	bool asks = !f->data || asks_for_its_place(f);

	if (asks || names_neighbour(f, given, name) || names_neighbour(f, real, real_name))
		fprintf(lines, "in %s and %s\n", given, real);
	if (asks && !f->elf) /* "$0" is also its name */
		fprintf(lines, "as %s\n", name);
}

static void write_content(FILE *lines, const struct content_file *f)
{
	char digest[DIGEST_SIZE];

	if (f->data) {
		digest_of(f->data, f->size, digest);
		fprintf(lines, "content %s\n", digest);
	} else {
		fprintf(lines, "file %s\n", f->real);
	}
}

/* The shared libraries that its loader finds. 0, or a negative errno. */
static int write_libraries(FILE *lines, const struct content_file *f, const char *path,
	const struct program_content_query *q)
{
	_cleanup_(freep) char *list = NULL,
			      *file = text_format("%s%s", strchr(path, '/') ? "" : "./", path);
	char *argv[] = {(char *)(uintptr_t)f->loader, (char *)"--list", file, NULL}, *rest, *line;
	const struct subprocess question = {.argv = argv,
		.path = f->loader,
		.environment = q->environment,
		.stdin_fd = -1,
		.stderr_fd = -1,
		.output_max = 1 << 20,
		.timeout_ms = 10000};
	int status, r = subprocess_run(&question, &list, &status, NULL);

	if (r < 0 || status != 0)
		return r < 0 ? r : -ENOEXEC;
	rest = list;
	while (r == 0 && (line = strsep(&rest, "\n"))) {
		_cleanup_(content_file_clear) struct content_file library = {};
		char *arrow = strstr(line, " => "),
		     *from = arrow ? arrow + 4 : line + strspn(line, "\t ");
		char *end = strstr(from, " (0x");

		if (!end || *from != '/') /* the kernel's */
			continue;
		*end = '\0';
		r = content_file_open(from, q->since_ns, &library);
		if (r < 0)
			break;
		write_content(lines, &library);
		if (!is_of_system(from))
			write_place(lines, &library, from);
	}
	return r;
}

/* A program or a script: what is read of it. */
static int write_file(FILE *lines, const struct content_file *f, const char *path,
	const struct program_content_query *q)
{
	write_content(lines, f);
	write_place(lines, f, path);
	return f->loader ? write_libraries(lines, f, path, q) : 0;
}

/* A path, also after "--option=". An option's value that is no path is a text. */
static int write_argument(FILE *lines, const char *argument, const struct program_content_query *q)
{
	_cleanup_(content_file_clear) struct content_file f = {};
	const char *equals = *argument == '-' ? strchr(argument, '=') : NULL;
	const char *path = equals ? equals + 1 : argument, *suffix = strrchr(path, '.');
	int r = strpbrk(path, "./") ? content_file_open(path, q->since_ns, &f) : -ENOENT;

	if (r < 0) {
		fprintf(lines, "text %zu %s\n", strlen(argument), argument);
		return 0;
	}
	if (!suffix || strchr(suffix, '/'))
		suffix = "";
	/* the device, because files of equal content on two of them are not equally fast */
	fprintf(lines, "argument %.*s on %ju as %s\n", equals ? (int)(equals - argument) : 0,
		argument, (uintmax_t)f.st.st_dev, suffix);
	return write_file(lines, &f, path, q);
}

/* Whether it may be several programs, of which argv[0] chooses one: it knows that name, or a link
 * has given it another name than its own, and it can execute others. */
static bool acts_by_name(const struct content_file *f, const char *name)
{
	return contains_word(f, name, strlen(name), false) ||
	       (strcmp(strrchr(f->real, '/') + 1, name) &&
		       (contains(f, "exec") || contains(f, "spawn")));
}

char *program_content(const struct program_content_query *q)
{
	_cleanup_(content_file_clear) struct content_file f = {};
	_cleanup_(freep) char *text = NULL;
	const char *slash = strrchr(q->argv[0], '/'), *name = slash ? slash + 1 : q->argv[0];
	char digest[DIGEST_SIZE];
	size_t size;
	FILE *lines = xopen_memstream(&text, &size);
	int r = content_file_open(q->path, q->since_ns, &f);

	fprintf(lines, "call %" PRId64 "\n", q->call_ns);
	if (r == 0)
		r = write_file(lines, &f, q->path, q);
	for (size_t i = 1; r == 0 && q->argv[i]; i++)
		r = write_argument(lines, q->argv[i], q);
	for (size_t i = 0; i < q->n_beside; i++)
		fprintf(lines, "beside %zu %s\n", q->beside[i] ? strlen(q->beside[i]) : 0,
			q->beside[i] ?: "-");
	text_stream_close(lines, &text);
	if (r < 0)
		return NULL;
	digest_of(text, strlen(text), digest);
	if (f.elf && f.data && !acts_by_name(&f, name))
		return xstrdup(digest);
	return text_format("%s%s%s", digest, f.elf ? " " : "", f.elf ? name : "");
}
