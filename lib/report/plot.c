/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture through gnuplot: see plot.h. */
#include "lib/report/plot.h"

#include "lib/base/terminal.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/subprocess.h"

#include <ctype.h>
#include <stdarg.h>
#include <sys/mman.h>

#define NO_GNUPLOT "gnuplot is not installed (the package is gnuplot-nox)"

/* PNG has 300 dots an inch, as papers want them, SVG the 96 of CSS. Texts are of 7 points, lines of
 * half a point. */
static const struct picture_kind {
	const char *ending, *terminal, *unit;
	double scale; /* of a mm */
} picture_kinds[] = {
	{".png",
		"pngcairo noenhanced font 'DejaVu Sans,7' fontscale 3.1 linewidth 2.4 "
		"pointscale 2.4",
		"", 300 / 25.4},
	{".svg",
		"svg noenhanced font 'DejaVu Sans,7' fontscale 1.333 linewidth 0.7 "
		"background 'white'",
		"", 96 / 25.4},
	{".pdf", "pdfcairo noenhanced font 'DejaVu Sans,7' fontscale 1 linewidth 1 pointscale 0.4",
		"cm", 0.1},
	{},
};

/* In double quotes, with every character that could mean something to gnuplot (quotes, `command`,
 * @macro, \) as an octal number. Below \100 there are four digits, because gnuplot reads so many
 * after a zero. */
static void plot_quote(FILE *script, const char *text)
{
	fputc('"', script);
	for (const char *c = text; *c; c++)
		if (isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80 ||
			strchr(" .,:;/()+-=_", *c))
			fputc(*c, script);
		else
			fprintf(script, *c < 0100 ? "\\0%03o" : "\\%03o", (unsigned)*c);
	fputs("\"\n", script);
}

void plot_text(FILE *script, const char *variable, size_t i, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = text_vformat(format, args);
	va_end(args);
	if (i > 0)
		fprintf(script, "%s[%zu] = ", variable, i);
	else
		fprintf(script, "%s = ", variable);
	plot_quote(script, terminal_text(text));
}

void plot_tick_text(FILE *script, const char *variable, size_t i, const char *text)
{
	_cleanup_(freep) char *format = xmalloc(2 * strlen(text) + 1);
	char *to = format;

	for (const char *c = text; *c; c++) {
		*to++ = *c;
		if (*c == '%')
			*to++ = '%';
	}
	*to = '\0';
	plot_text(script, variable, i, "%s", format);
}

/* Of DejaVu Sans, which pictures are drawn in, in hundredths of its size: of the characters from
 * the blank to ~, of others of two bytes, of those of more, and of the mean one of a text. */
static const unsigned char character_widths[] = {32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32,
	36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70,
	77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69,
	39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63,
	41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};
enum {
	FIRST_WIDTH = ' ',
	LAST_WIDTH = '~',
	WIDTH_OF_TWO = 65,
	WIDTH_OF_MORE = 100,
	WIDTH_OF_COLUMN = 60
};
_Static_assert(ELEMENTS(character_widths) == LAST_WIDTH - FIRST_WIDTH + 1, "one a character");

static size_t drawn_width(const char *text)
{
	size_t width = 0;

	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char)*c;

		if (byte >= 0xe0)
			width += WIDTH_OF_MORE;
		else if (byte >= 0xc0)
			width += WIDTH_OF_TWO;
		else if (byte >= FIRST_WIDTH &&
			 byte <= LAST_WIDTH) /* others continue a character */
			width += character_widths[byte - FIRST_WIDTH];
	}
	return width;
}

char *plot_short(const char *name, size_t columns)
{
	size_t width = terminal_name_width(name);
	size_t most = (width < 3 * columns ? width : 3 * columns) +
		      1; /* an i takes half a column */
	char *text = NULL;

	do {
		size_t size;
		FILE *file;

		free(text);
		file = xopen_memstream(&text, &size);
		terminal_print_name(file, name, --most);
		text_stream_close(file, &text);
	} while (most > 1 && drawn_width(text) > WIDTH_OF_COLUMN * columns);
	return text;
}

double plot_height(double body, size_t key_lines)
{
	const double LINE = 3.3; /* of 7 points */

	return body + LINE * (double)key_lines;
}

void plot_axes(FILE *script, const char *name, size_t n)
{
	static const char *const parts[] = {"low", "high", "ticks", "unit"};

	for (size_t i = 0; i < ELEMENTS(parts); i++)
		fprintf(script, "array %s_%s[%zu]\n", name, parts[i], n);
}

void plot_axis(FILE *script, const char *name, size_t i, const struct axis *axis)
{
	const struct axis_ticks ticks = axis_ticks_of(axis);
	_cleanup_(freep) char *element = i > 0 ? text_format("[%zu]", i) : xstrdup("");

	fprintf(script, "%s_low%s = %.12g\n%s_high%s = %.12g\n%s_unit%s = '%s'\n%s_ticks%s = \"(",
		name, element, axis->low, name, element, axis->high, name, element, ticks.unit,
		name, element);
	for (size_t k = 0; k < ticks.n; k++)
		fprintf(script, "%s'%s' %.12g", k > 0 ? ", " : "", ticks.items[k].label,
			ticks.items[k].at);
	fputs(")\"\n", script);
}

/* Appends a gnuplot file: the administrator's, that of the build tree, or the one that is
 * installed. */
static int append_gnuplot_file(FILE *script, const char *name, struct error *err)
{
	_cleanup_(freep) char *file = text_format("%s.gp", name);
	char *const paths[] = {
		text_format("/etc/emp/plots/%s", file), suite_path("plots", EMP_PLOT_DIR, file)};
	int r = -ENOENT;

	for (size_t i = 0; i < ELEMENTS(paths); i++) {
		_cleanup_(freep) char *path = paths[i], *text = NULL;

		if (r != -ENOENT)
			continue;
		r = file_read_text(path, &text);
		if (r == 0)
			fprintf(script, "%s\n", text);
		else if (r != -ENOENT || i + 1 == ELEMENTS(paths))
			error_os(err, r, "cannot read the gnuplot file '%s'", path);
	}
	return r;
}

/* By the ending of the name. NULL, with a sentence: it is none. */
static const struct picture_kind *picture_kind_of(const char *path, struct error *err)
{
	const struct picture_kind *k = picture_kinds;
	const char *ending = strrchr(path, '.') ?: "";

	while (k->ending && strcasecmp(ending, k->ending))
		k++;
	if (k->ending)
		return k;
	error_say(err, -EINVAL, "the name of the picture '%s' must end with .png, .svg or .pdf",
		path);
	return NULL;
}

int plot_check(const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file picture = {};
	_cleanup_(freep) char *gnuplot = NULL;

	if (!picture_kind_of(path, err))
		return -EINVAL;
	if (executable_find("gnuplot", &gnuplot, NULL) < 0)
		return error_say(err, -ENOENT, "cannot draw '%s': " NO_GNUPLOT, path);
	return output_file_is_stream(path) ? 0 : output_file_open(&picture, path, err);
}

/* What gnuplot reads, from its settings to the picture; the caller frees it. */
static int plot_script(const struct drawing *d, const char *path, char **ret, struct error *err)
{
	/* A name that begins with | would be a command, one with ~ a home. */
	_cleanup_(freep) char *safe_path = text_format("%s%s", *path == '/' ? "" : "./", path),
			      *text = NULL;
	const struct picture_kind *k = picture_kind_of(path, err);
	size_t size;
	FILE *script;
	int r;

	if (!k)
		return -EINVAL;
	script = xopen_memstream(&text, &size);
	fprintf(script,
		"set encoding utf8\nset terminal %s size %g%s,%g%s\nif (!exists('to_stdout')) "
		"set output ",
		k->terminal, PLOT_WIDTH * k->scale, k->unit, d->height * k->scale, k->unit);
	plot_quote(script, safe_path);
	r = append_gnuplot_file(script, "common", err);
	d->write(d->subject, script);
	if (r == 0)
		r = append_gnuplot_file(script, d->name, err);
	text_stream_close(script, &text);
	if (r == 0)
		*ret = TAKE(text);
	return r;
}

/* What gnuplot wrote; it does not report that a disk is full. */
static int copy_picture(int fd, struct output_file *picture, struct error *err)
{
	char buffer[1 << 16];
	ssize_t n;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot read the picture that gnuplot drew");
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)n, picture->file);
	return n < 0 ? error_os(err, -errno, "cannot read the picture that gnuplot drew")
		     : output_file_commit(picture, err);
}

/* The script as a file, beside the picture. */
static int keep_script_of(const char *path, const char *script, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file kept = {};
	_cleanup_(freep) char *kept_path = text_format("%s.gnuplot", path);
	int r = output_file_open(&kept, kept_path, err);

	if (r < 0)
		return r;
	fputs(script, kept.file);
	return output_file_commit(&kept, err);
}

/* The user's, with UTF-8: gnuplot complains of signs that the user's locale does not have. The
 * caller frees the array. */
static char **gnuplot_environment(void)
{
	char **users = privilege_environment(), **environment;
	size_t n = 0;

	while (users[n])
		n++;
	environment = xcalloc(n + 2, sizeof(*environment));
	environment[0] = (char *)"LC_ALL=C.UTF-8"; /* the first one counts */
	memcpy(environment + 1, users, n * sizeof(*users));
	return environment;
}

/* Has gnuplot read the script from one file, and write the picture into another one. */
static int run_gnuplot(int script_fd, int drawn_fd, const char *path, bool kept, struct error *err)
{
	/* By "-" it would not read blocks of several lines. */
	char *const argv[] = {(char *)"gnuplot", (char *)"-e", (char *)"to_stdout = 1",
		(char *)"/dev/stdin", NULL};
	_cleanup_(freep) char **environment = gnuplot_environment();
	struct subprocess gnuplot = {.argv = argv,
		.environment = environment,
		.stdin_fd = script_fd,
		.stdout_fd = drawn_fd};
	int status = 0, r = subprocess_run(&gnuplot, NULL, &status, err);

	if (r == -ENOENT && kept)
		return error_say(err, r,
			"cannot draw '%s': " NO_GNUPLOT "; its script is in '%s.gnuplot'", path,
			path);
	if (r == -ENOENT)
		return error_say(err, r,
			"cannot draw '%s': " NO_GNUPLOT "; --script keeps its script", path);
	if (r < 0)
		return error_prefix(err, r, "cannot draw '%s'", path);
	if (status != 0)
		return error_say(
			err, -EIO, "gnuplot could not draw '%s'; see its message above", path);
	return 0;
}

int plot_drawing(struct drawing d, const char *path, bool keep, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file picture = {};
	_cleanup_(freep) char *script = NULL;
	_cleanup_(closep) int fd = memfd_create("script", MFD_CLOEXEC),
			      drawn_fd = memfd_create("picture", MFD_CLOEXEC);
	int r = plot_script(&d, path, &script, err);

	if (r < 0)
		return r;
	if (fd < 0 || drawn_fd < 0 || dprintf(fd, "%s", script) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot pass the script to gnuplot");

	r = output_file_open(&picture, path, err);
	if (r == 0 && keep)
		r = keep_script_of(path, script, err);
	if (r == 0)
		r = run_gnuplot(fd, drawn_fd, path, keep, err);
	return r < 0 ? r : copy_picture(drawn_fd, &picture, err);
}
