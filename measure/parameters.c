/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters of command lines: see parameters.h. */
#include "measure/parameters.h"

#include <math.h>

enum { MAX_STEPS = 100000 };

static int add_parameter(
	struct parameters *p, const char *name, struct parameter **ret, struct error *err)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->items[i].name, name))
			return error_say(err, -EINVAL, "parameter '%s' is defined twice", name);
	*ret = array_add(p->items, p->n);
	(*ret)->name = xstrdup(name);
	return 0;
}

int parameters_add_list(
	struct parameters *p, const char *name, const char *values, struct error *err)
{
	struct parameter *parameter;
	size_t capacity = 0;
	int r = add_parameter(p, name, &parameter, err);

	while (r == 0 && values) {
		char *value = xmalloc(strlen(values) + 1), *to = value;

		/* up to the next separating comma, without the backslashes */
		while (*values && *values != ',') {
			values += *values == '\\' && (values[1] == ',' || values[1] == '\\');
			*to++ = *values++;
		}
		*to = '\0';
		values = *values ? values + 1 : NULL;
		*array_add_reused(parameter->values, parameter->n, capacity) = value;
	}
	return r;
}

/* Digits, a sign and a point only, because the values are printed with the same decimals, and
 * "1e-3" and "0x10" do not show how many. *decimals is raised to how many it has. */
static bool parse_number(const char *text, double *ret, int *decimals)
{
	const char *point = strchr(text, '.');
	char *end;

	if (point && (int)strlen(point + 1) > *decimals)
		*decimals = (int)strlen(point + 1);
	*ret = strtod(text, &end);
	return *text && !*end && isfinite(*ret) && !text[strspn(text, "+-.0123456789")];
}

int parameters_add_scan(struct parameters *p, const char *name, const char *min_text,
	const char *max_text, const char *step_text, struct error *err)
{
	struct parameter *parameter;
	double min, max, step;
	size_t capacity = 0;
	int decimals = 0, unused = 0, r;

	if (!parse_number(min_text, &min, &decimals) || !parse_number(max_text, &max, &unused) ||
		max < min)
		return error_say(err, -EINVAL,
			"--parameter-scan '%s' must go from a number up to a number (such as "
			"0.5), not from '%s' to '%s'",
			name, min_text, max_text);
	if (!parse_number(step_text, &step, &decimals) || step <= 0 ||
		(max - min) / step > MAX_STEPS || !(min + step > min) ||
		!(max + step > max)) /* more digits than a double has */
		return error_say(err, -EINVAL,
			"--parameter-step-size must be a number above 0 (such as 0.5) with at "
			"most %d steps, not '%s'",
			MAX_STEPS, step_text);
	r = add_parameter(p, name, &parameter, err);
	for (size_t i = 0; r == 0 && min + (double)i * step <= max + step * 1e-9; i++)
		*array_add_reused(parameter->values, parameter->n, capacity) = text_format(
			"%.*f", decimals, min + (double)i * step);
	return r;
}

size_t parameters_count(const struct parameters *p)
{
	size_t all = 1;

	for (size_t i = 0; i < p->n; i++)
		if (__builtin_mul_overflow(all, p->items[i].n, &all))
			return SIZE_MAX;
	return all;
}

char **parameters_values(const struct parameters *p, size_t k)
{
	char **values = xcalloc(p->n + 1, sizeof(*values));

	for (size_t i = 0; i < p->n; i++) {
		values[i] = xstrdup(p->items[i].values[k % p->items[i].n]);
		k /= p->items[i].n;
	}
	return values;
}

char *parameters_replace(const struct parameters *p, char *const *values, const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *file = xopen_memstream(&out, &size);

	while (*text) {
		size_t i, n = 0;

		for (i = 0; i < p->n; i++) {
			n = strlen(p->items[i].name);
			if (*text == '{' && !strncmp(text + 1, p->items[i].name, n) &&
				text[1 + n] == '}')
				break;
		}
		if (i < p->n) {
			p->items[i].used = true;
			fputs(values[i], file);
			text += n + 2;
		} else {
			fputc(*text++, file);
		}
	}
	return text_stream_close(file, &out);
}
