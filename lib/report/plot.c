/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture through gnuplot: see plot.h. */
#include "lib/report/plot.h"

#include "lib/base/xalloc.h"
#include "lib/base/paths.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/host/process/subprocess.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

static const struct kind {
	const char *ending, *terminal, *unit;
	double scale; /* of a pixel */
} kinds[] = {
	{".png", "pngcairo noenhanced font 'DejaVu Sans,11'", "", 1},
	{".svg", "svg noenhanced font 'DejaVu Sans,14' background 'white'", "", 1},
	{".pdf", "pdfcairo noenhanced font 'DejaVu Sans,11'", "in", 1 / 96.0},
	{},
};

/* In double quotes, with every character that could mean something to gnuplot (quotes, `command`, @macro, \) as an octal
 * number. A quote at the beginning of a string in single quotes would end it, even doubled. Below \100 there are four
 * digits, because gnuplot reads so many after a zero. */
static void quote(struct plot *plot, const char *text)
{
	fputc('"', plot->script);
	for (const char *c = text; *c; c++)
		if (isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80 || strchr(" .,:;/()+-=_", *c))
			fputc(*c, plot->script);
		else
			fprintf(plot->script, *c < 0100 ? "\\0%03o" : "\\%03o", (unsigned)*c);
	fputc('"', plot->script);
}

void plot_quote(struct plot *plot, const char *text)
{
	quote(plot, terminal_text(text));
}

static void quote_list(struct plot *plot, const char *format, va_list args)
{
	_cleanup_(freep) char *text = NULL;

	plot_quote(plot, vasprintf(&text, format, args) < 0 ? "" : text);
}

void plot_quote_format(struct plot *plot, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	quote_list(plot, format, args);
	va_end(args);
}

void plot_set(struct plot *plot, const char *what, const char *format, ...)
{
	va_list args;

	fprintf(plot->script, "set %s ", what);
	va_start(args, format);
	quote_list(plot, format, args);
	va_end(args);
	fputc('\n', plot->script);
}

static void plot_clear(struct plot *plot)
{
	if (plot->script)
		fclose(plot->script);
	free(plot->text);
	*plot = (struct plot){};
}

static int run_gnuplot(const struct plot *plot, int to, int *ret_status, struct error *err)
{
	char *const argv[] = {(char *)"gnuplot", (char *)"-e", (char *)"to_stdout = 1", (char *)"-", NULL};
	_cleanup_(closep) int script = memfd_create("script", MFD_CLOEXEC);
	const struct subprocess gnuplot = {.argv = argv, .stdin_fd = script, .stdout_fd = to};

	if (script < 0 || write(script, plot->text, plot->size) != (ssize_t)plot->size ||
		lseek(script, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot pass the script to gnuplot");
	return subprocess_run(&gnuplot, NULL, ret_status, err);
}

static int draw(const struct plot *plot, struct output_file *output, const char *kept, struct error *err)
{
	int status = 0, r = run_gnuplot(plot, fileno(output->file), &status, err);

	if (r == -ENOENT)
		return error_say(err, r,
			"cannot draw '%s': gnuplot is not installed (the package is gnuplot-nox)%s%s%s",
			plot->path, kept ? "; its script is in '" : "", kept ?: "",
			kept ? ".gnuplot'" : "; --script keeps its script");
	if (r < 0)
		return error_prefix(err, r, "cannot draw '%s'", plot->path);
	if (status != 0)
		return error_say(err, -EIO, "gnuplot could not draw '%s'; see its message above", plot->path);
	return output_file_commit(output, err);
}

int plot_drawing(struct drawing d, const char *path, bool keep, struct error *err)
{
	_cleanup_(plot_clear) struct plot plot = {};
	int r;
	_cleanup_(output_file_clear) struct output_file output = {};
	const char *ending = strrchr(path, '.') ?: "";
	const struct kind *k = kinds;

	while (k->ending && strcasecmp(ending, k->ending))
		k++;
	if (!k->ending)
		return error_say(
			err, -EINVAL, "the name of the picture '%s' must end with .png, .svg or .pdf", path);
	plot.path = path;
	plot.script = xopen_memstream(&plot.text, &plot.size);
	if (!plot.script)
		return error_os(err, -errno, "cannot draw '%s'", path);
	fprintf(plot.script,
		"set encoding utf8\nset terminal %s size %g%s,%g%s\nif (!exists('to_stdout')) set output ",
		k->terminal, d.width * k->scale, k->unit, d.height * k->scale, k->unit);

	/* A name that begins with | would be a command, one with ~ a home. */
	_cleanup_(freep) char *quote_path = text_format("%s%s", *plot.path == '/' ? "" : "./", plot.path);

	quote(&plot, quote_path ?: "");
	fputs("\nset border lc rgb '#606060'\nset tics nomirror out\nset grid lt 1 lc rgb '#e8e8e8' lw 0.8\n",
		plot.script);
	d.draw(d.subject, &plot);

	FILE *script = TAKE(plot.script);

	if (fclose(script) != 0)
		return error_os(err, -errno, "cannot draw '%s'", plot.path);
	r = output_file_open(&output, plot.path, err);
	if (r == 0 && keep) {
		_cleanup_(freep) char *draw_path = text_format("%s.gnuplot", plot.path);
		_cleanup_(output_file_clear) struct output_file script_output = {};

		r = output_file_open(&script_output, draw_path, err);
		if (r >= 0) {
			fwrite(plot.text, 1, plot.size, script_output.file);
			r = output_file_commit(&script_output, err);
		}
	}
	return r == 0 ? draw(&plot, &output, keep ? plot.path : NULL, err) : r;
}

void plot_tick(struct plot *plot, const char *sign, double seconds)
{
	static const struct {
		double size;
		const char *name;
	} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
	size_t u = 0;

	while (u + 1 < ELEMENTS(units) && seconds < units[u].size * 0.999)
		u++;
	fprintf(plot->script, ", '%s%.3g %s' %s%.9g", sign, seconds / units[u].size, units[u].name, sign,
		seconds);
}

static void print_ticks(struct plot *plot, double at, double least, double most)
{
	if (at <= most)
		plot_tick(plot, "", at);
	if (at <= -least)
		plot_tick(plot, "-", at);
}

/* Further out, a linear axis would squeeze what is within `linear`. */
enum { LINEAR_ENOUGH = 4 };

/* Powers of ten, and twice and five times them where those would be few. */
static void logarithmic_ticks(struct plot *plot, double linear, double least, double most)
{
	double decades = log10(fmax(most, -least) / linear);

	for (double at = pow(10, floor(log10(linear))); at <= fmax(most, -least); at *= 10)
		for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3)
			if (at * digit > 0.8 * linear && (digit == 1 || decades < 2.2))
				print_ticks(plot, at * digit, least, most);
}

bool plot_time_axis(struct plot *plot, const char *axis, double linear, double least, double most)
{
	bool logarithmic = fmax(most, -least) > LINEAR_ENOUGH * linear;
	double margin = (most - least) * 0.06;

	if (logarithmic) { /* margin on both sides in the axis's own measure */
		margin = 0.04 * (asinh(most / linear) - asinh(least / linear));
		fprintf(plot->script, "set nonlinear %s via asinh(%s/%.9g) inverse %.9g*sinh(%s)\n", axis,
			axis, linear, linear, axis);
		fprintf(plot->script, "set %srange [%.9g:%.9g]\n", axis,
			linear * sinh(asinh(least / linear) - margin),
			linear * sinh(asinh(most / linear) + margin));
	} else {
		fprintf(plot->script, "set %srange [%.9g:%.9g]\n", axis, least - margin, most + margin);
	}
	fprintf(plot->script, "set %stics ('0' 0", axis);
	if (logarithmic)
		logarithmic_ticks(plot, linear, least, most);
	else {
		double ticks_margin = 0.21 * (most - least), step = pow(10, floor(log10(ticks_margin)));

		/* As many as have margin for their unit in a small panel. */
		for (int next = 0; step < ticks_margin; next++)
			step *= next % 3 == 1 ? 2.5 : 2;
		for (int i = 1; i * step <= fmax(most, -least) * 1.001; i++)
			print_ticks(plot, i * step, least, most);
	}
	fputs(")\n", plot->script);
	return logarithmic;
}
