/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameters of command lines: see parameters.h. */
#include "measure/parameters.h"

#include "lib/base/xalloc.h"
#include "lib/base/argv.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 100000 };

void parameters_clear(struct parameters *p)
{
	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->items[i].n; k++)
			free(p->items[i].values[k]);
		free(p->items[i].values);
		free(p->items[i].name);
	}
	free(p->items);
	*p = (struct parameters){};
}

static int add_parameter(struct parameters *p, const char *name, struct parameter **ret, struct error *err)
{
	struct parameter *parameter;

	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->items[i].name, name))
			return error_say(err, -EINVAL, "parameter '%s' is defined twice", name);
	parameter = array_add(p->items, p->n);
	if (!parameter || !(parameter->name = xstrdup(name)))
		return error_oom(err);
	*ret = parameter;
	return 0;
}

/* Takes `value`, which may be NULL: no memory. */
static int add_value(struct parameter *parameter, char *value, struct error *err)
{
	char **at = value ? array_add_reused(parameter->values, parameter->n, parameter->capacity) : NULL;

	if (!at) {
		free(value);
		return error_oom(err);
	}
	*at = value;
	return 0;
}

/* The text up to the next separating comma, without the backslashes; *rest then points after the comma, or is
 * NULL. */
static char *next_value(const char **rest)
{
	char *value = xmalloc(strlen(*rest) + 1), *to = value;
	const char *from = *rest;

	while (*from && *from != ',') {
		from += *from == '\\' && (from[1] == ',' || from[1] == '\\');
		*to++ = *from++;
	}
	*to = '\0';
	*rest = *from ? from + 1 : NULL;
	return value;
}

int parameters_add_list(struct parameters *p, const char *name, const char *values, struct error *err)
{
	struct parameter *parameter;
	int r = add_parameter(p, name, &parameter, err);

	for (const char *rest = values; r == 0 && rest;)
		r = add_value(parameter, next_value(&rest), err);
	return r;
}

/* Digits, a sign and a point only, because the values are printed with the same decimals, and "1e-3" and "0x10" do
 * not show how many. */
static bool parse_number(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return *text && !*end && isfinite(*ret) && !text[strspn(text, "+-.0123456789")];
}

static int count_decimals(const char *number)
{
	const char *point = strchr(number, '.');

	return point ? (int)strlen(point + 1) : 0;
}

int parameters_add_scan(struct parameters *p, const char *name, const char *min_text, const char *max_text,
	const char *step_text, struct error *err)
{
	int of_min = count_decimals(min_text), of_step = count_decimals(step_text);
	struct parameter *parameter;
	double min, max, step;
	int r;

	if (!parse_number(min_text, &min) || !parse_number(max_text, &max) || max < min)
		return error_say(err, -EINVAL,
			"--parameter-scan '%s' must go from a number up to a number (such as 0.5), not from '%s' to '%s'",
			name, min_text, max_text);
	if (!parse_number(step_text, &step) || step <= 0 || (max - min) / step > MAX_STEPS ||
		!(min + step > min) || !(max + step > max)) /* more digits than a double has */
		return error_say(err, -EINVAL,
			"--parameter-step-size must be a number above 0 (such as 0.5) with at most %d steps, not '%s'",
			MAX_STEPS, step_text);
	r = add_parameter(p, name, &parameter, err);
	for (size_t i = 0; r == 0 && min + (double)i * step <= max + step * 1e-9; i++)
		r = add_value(parameter,
			text_format("%.*f", of_min > of_step ? of_min : of_step, min + (double)i * step),
			err);
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
	_cleanup_(freep) char **values = xcalloc(p->n + 1, sizeof(*values));

	for (size_t i = 0; values && i < p->n; i++) {
		values[i] = p->items[i].values[k % p->items[i].n];
		k /= p->items[i].n;
	}
	return values ? argv_copy(values) : NULL;
}

char *parameters_replace(const struct parameters *p, char *const *values, const char *text)
{
	_cleanup_(freep) char *out = NULL;
	size_t size;
	FILE *file = xopen_memstream(&out, &size);

	while (*text) {

		size_t i;

		/* The parameter whose {NAME} `text` begins with; p->n: none. */
		for (i = 0; i < p->n; i++) {
			size_t n = strlen(p->items[i].name);

			if (*text == '{' && !strncmp(text + 1, p->items[i].name, n) && text[1 + n] == '}')
				break;
		}

		if (i < p->n) {
			p->items[i].used = true;
			fputs(values[i], file);
			text += strlen(p->items[i].name) + 2;
		} else
			fputc(*text++, file);
	}
	return fclose(file) == 0 ? TAKE(out) : NULL;
}
