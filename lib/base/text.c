/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and lists between text and memory, and numbers as people read them: see text.h. */

#include "lib/base/base.h"

#include <math.h>
#include <stdarg.h>

int text_parse_int(const char *text, const char *what, int64_t min, int64_t max, int64_t *ret,
	struct error *err)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max)
		return error_say(err, -EINVAL,
			"%s must be a whole number from %" PRId64 " to %" PRId64 ", not '%s'", what,
			min, max, text);
	*ret = value;
	return 0;
}

int text_parse_duration(const char *text, const char *what, int64_t *ret_ns, struct error *err)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{"", 1e9},
		{"s", 1e9},
		{"ms", 1e6},
		{"us", 1e3},
		{"ns", 1},
		{"min", 60e9},
		{"h", 3600e9},
		{"d", 86400e9},
	};
	char *end;
	double value = strtod(text, &end);

	if (end != text && *text != '-' && isfinite(value))
		for (size_t i = 0; i < ELEMENTS(units); i++) {
			double ns = value * units[i].ns;

			if (strcmp(end, units[i].unit) || ns < 1 || ns > 9e18)
				continue;
			*ret_ns = llround(ns);
			return 0;
		}
	return error_say(err, -EINVAL,
		"%s must be a time above zero such as 0.1, 250us, 10ms or 1h, not '%s'", what,
		text);
}

int text_parse_size(const char *text, const char *what, int64_t *ret, struct error *err)
{
	static const char units[] = "KMGT";
	char *end;
	const char *unit;
	long long value;
	int shift;

	errno = 0;
	value = strtoll(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	shift = unit ? 10 * (int)(unit - units + 1) : 0;
	if (errno || end == text || value < 1 || value > INT64_MAX >> shift ||
		(*end && (!unit || end[1])))
		return error_say(
			err, -EINVAL, "%s must be a size such as 64M or 1G, not '%s'", what, text);
	*ret = value << shift;
	return 0;
}

static const char thousands[] = "KMG";

int text_parse_count(
	const char *text, const char *what, int64_t max, int64_t *ret, struct error *err)
{
	char *end;
	double value = strtod(text, &end);
	const char *unit = *end ? strchr(thousands, *end) : NULL;

	if (unit)
		value *= pow(1000, (double)(unit - thousands + 1));
	/* 3.2M is the double next to it */
	if (strspn(text, "0123456789.") == (size_t)(end - text) && end != text &&
		(!*end || (unit && !end[1])) && value >= 1 && value <= (double)max &&
		fabs(value - round(value)) <= 1e-9 * value) {
		*ret = llround(value);
		return 0;
	}
	return error_say(err, -EINVAL,
		"%s must be a whole number from 1 to %s, such as 250, 100K or 3.2M, not '%s'", what,
		text_brief_count(max), text);
}

const char *text_brief_count(int64_t n)
{
	int64_t unit = 1000000000;

	for (size_t i = strlen(thousands); i > 0; i--, unit /= 1000) {
		int64_t tenths = unit / 10;

		if (n < unit || n % tenths)
			continue;
		if (n % unit == 0)
			return text_brief("%" PRId64 "%c", n / unit, thousands[i - 1]);
		if (n < 100 * unit)
			return text_brief("%" PRId64 ".%" PRId64 "%c", n / unit, n % unit / tenths,
				thousands[i - 1]);
	}
	return text_brief("%" PRId64, n);
}

const char *text_below(int root_fd, const char *path)
{
	return root_fd == AT_FDCWD ? path : path + strspn(path, "/");
}

int text_parse_cpu_list(const char *text, int **ret, size_t *ret_n)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0, capacity = 0;

	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text || first < 0)
			return -EINVAL;
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
		}
		if (end == text || last < first || last > 1 << 20 || (*end && *end != ','))
			return -EINVAL;
		for (long cpu = first; cpu <= last; cpu++) {
			int *added = array_add_reused(cpus, n, capacity);

			*added = (int)cpu;
		}
		text = *end ? end + 1 : end;
	}
	if (ret)
		*ret = TAKE(cpus);
	*ret_n = n;
	return 0;
}

size_t text_utf8_size(const char *characters)
{
	const unsigned char *text = (const unsigned char *)characters;
	static const struct {
		unsigned char first, last;   /* of the first byte */
		unsigned char second, up_to; /* of the second */
		size_t size;
	} rows[] = {
		{0x01, 0x7f, 0, 0xff, 1},
		{0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		if (*text < rows[i].first || *text > rows[i].last)
			continue;
		if (text[1] < rows[i].second || text[1] > rows[i].up_to)
			return 0;
		for (size_t k = 2; k < rows[i].size; k++)
			if ((text[k] & 0xc0) != 0x80)
				return 0;
		return rows[i].size;
	}
	return 0;
}

char *text_utf8(const char *text)
{
	size_t worst = text ? 4 * strlen(text) + 1 : 0;
	char *made, *to;

	if (!text)
		return NULL;
	made = to = xmalloc(worst);
	while (*text) {
		size_t size = text_utf8_size(text);

		if (size == 0)
			to += snprintf(to, 5, "\\x%02x", (unsigned char)*text++);
		else
			to = mempcpy(to, text, size);
		text += size;
	}
	*to = '\0';
	return made;
}

bool text_has_word(const char *list, const char *word)
{
	size_t len = strlen(word), n;

	for (; list && *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, " ,");
		if (n == len && !strncmp(list, word, len))
			return true;
	}
	return false;
}

char *text_copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

char *text_vformat(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		xalloc_fail();
	return text;
}

char *text_format(const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = text_vformat(format, ap);
	va_end(ap);
	return text;
}

void text_append(char **text, const char *separator, const char *format, ...)
{
	_cleanup_(freep) char *before = *text, *added = NULL;
	va_list ap;

	va_start(ap, format);
	added = text_vformat(format, ap);
	va_end(ap);
	*text = text_format("%s%s%s", before ?: "", before ? separator : "", added);
}

char *text_stream_close(FILE *stream, char *const *text)
{
	int failed = ferror(stream);

	if (fclose(stream) != 0 || failed || !*text)
		xalloc_fail();
	return *text;
}

/* Numbers as people read them. */

const char *text_brief(const char *format, ...)
{
	static struct {
		char brief[TEXT_BRIEF_SIZE];
		char *longer; /* the last text that had no room in `brief` */
	} made[128];
	static size_t next;
	size_t at = next++ % ELEMENTS(made);
	char *longer;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(made[at].brief, TEXT_BRIEF_SIZE, format, args);
	va_end(args);
	if (n < TEXT_BRIEF_SIZE)
		return made[at].brief;

	va_start(args, format);
	longer = text_vformat(format, args);
	va_end(args);
	free(made[at].longer);
	return made[at].longer = longer;
}

const char *text_count(int64_t n, const char *noun)
{
	return text_brief("%" PRId64 " %s%s", n, noun, n == 1 ? "" : "s");
}

const char *text_moment(int64_t realtime_ns)
{
	time_t seconds = realtime_ns / NS_PER_S;
	char text[TEXT_BRIEF_SIZE];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	return text_brief("%s", text);
}

const char *text_rfc3339(int64_t realtime_ns)
{
	int64_t ns = (realtime_ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	time_t seconds = (realtime_ns - ns) / NS_PER_S;
	char text[TEXT_BRIEF_SIZE];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	return text_brief("%s.%09" PRId64 "Z", text, ns);
}

static const struct unit {
	double ns;
	int most; /* decimals, down to a nanosecond */
	const char *name;
} time_units[] = {{1e9, 9, "s"}, {1e6, 6, "ms"}, {1e3, 3, "us"}, {1, 0, "ns"}};

/* How many decimals show so many significant digits of `value`; below 0: none, and as many digits
 * before the point are 0. */
static int decimals_of(double value, int digits)
{
	char rounded[24];

	snprintf(rounded, sizeof(rounded), "%.*e", digits - 1, value); /* 9.96 is 10 */
	if (!(value > 0) || !isfinite(value))
		return 0;
	return digits - 1 - (int)strtol(strchr(rounded, 'e') + 1, NULL, 10);
}

/* Without the unit, rounded to two significant digits of `step_ns`; step_ns 0: to four of its
 * own. */
static const char *number_text(double ns, double step_ns, const struct unit *unit)
{
	int decimals = step_ns > 0 ? decimals_of(step_ns / unit->ns, 2)
				   : decimals_of(fabs(ns) / unit->ns, 4);
	double value = ns / unit->ns;

	if (decimals < 0) {
		double zeros = pow(10, -decimals);

		return text_brief("%.0f", round(value / zeros) * zeros);
	}
	return text_brief("%.*f", decimals < unit->most ? decimals : unit->most, value);
}

/* The unit of that name; NULL: the one in which `ns`, as it is printed, is from 1 to below 1000. */
static const struct unit *find_unit(const char *name, double ns, double step_ns)
{
	size_t u = 0;

	while (u + 1 < ELEMENTS(time_units) &&
		(name ? strcmp(time_units[u].name, name) : fabs(ns) < time_units[u].ns))
		u++;
	if (!name && u > 0 && fabs(strtod(number_text(ns, step_ns, &time_units[u]), NULL)) >= 1000)
		u--;
	return &time_units[u];
}

const char *text_unit(double ns, double beside_ns)
{
	const struct unit *unit = find_unit(NULL, ns, 0);

	while (unit > time_units && beside_ns >= 1e4 * unit->ns)
		unit--;
	return unit->name;
}

const char *text_in_unit(double ns, double step_ns, const char *unit_name)
{
	const struct unit *unit = find_unit(unit_name, ns, step_ns);

	return text_brief("%s %s", number_text(ns, step_ns, unit), unit->name);
}

const char *text_number_in_unit(double ns, double step_ns, const char *unit_name)
{
	return number_text(ns, step_ns, find_unit(unit_name, ns, step_ns));
}

const char *text_mean_sd(double mean_ns, double sd_ns, const char *unit_name)
{
	const struct unit *unit = find_unit(unit_name, mean_ns, sd_ns);

	return text_brief("%s %s ± %s %s", number_text(mean_ns, sd_ns, unit), unit->name,
		number_text(sd_ns, sd_ns, unit), unit->name);
}

const char *text_interval(double low_ns, double high_ns, double sd_ns, const char *unit_name)
{
	const struct unit *unit = find_unit(unit_name, high_ns, sd_ns);

	return text_brief("%s … %s %s", number_text(low_ns, sd_ns, unit),
		number_text(high_ns, sd_ns, unit), unit->name);
}

const char *text_percent(double ratio)
{
	enum { MOST = 9 };
	int decimals = decimals_of(fabs(100 * ratio), 2);

	if (decimals > MOST) /* of what is known exactly, no more than the arithmetic leaves */
		return "0 %";
	return text_brief("%.*f %%", decimals > 0 ? decimals : 0, 100 * ratio);
}

const char *text_seconds(int64_t ns)
{
	char digits[24];
	int n = 9;

	snprintf(digits, sizeof(digits), "%09" PRId64, ns % NS_PER_S);
	while (n > 0 && digits[n - 1] == '0')
		n--;
	return text_brief("%" PRId64 "%s%.*s", ns / NS_PER_S, n > 0 ? "." : "", n, digits);
}

const char *text_duration(int64_t ns)
{
	double size = fabs((double)ns);
	long long seconds = llround(size / 1e9), minutes = llround(size / 60e9),
		  hours = llround(size / 3600e9);
	const char *sign = ns < 0 ? "-" : "";

	if (size < 60e9)
		return text_precise((double)ns, 0);
	if (minutes < 60)
		return text_brief("%s%lld min %lld s", sign, seconds / 60, seconds % 60);
	if (hours < 48)
		return text_brief("%s%lld h %lld min", sign, minutes / 60, minutes % 60);
	return text_brief("%s%lld d %lld h", sign, hours / 24, hours % 24);
}
