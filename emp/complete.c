/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be typed next: see complete.h. */
#include "emp/complete.h"

#include "emp/known.h"
#include "lib/base/terminal.h"
#include "lib/book/book.h"
#include "lib/book/book_words.h"
#include "lib/host/process/subprocess.h"

#include <sched.h>
#include <signal.h>
#include <sys/time.h>

/* What a value or an operand is; several may be possible. */
enum {
	IS_FILE = 1 << 0,
	IS_DIRECTORY = 1 << 1,
	IS_COMMAND = 1 << 2,
	IS_CPU = 1 << 3,
	IS_CPU_LIST = 1 << 4,
	IS_POLICY = 1 << 5,
	IS_ACTION = 1 << 6,
	IS_REF = 1 << 7,    /* of git */
	IS_FORMAT = 1 << 8, /* FORMAT=FILE */
	OF_BOOK = 1 << 9,   /* and 1 << (9 + enum book_words) */
};
#define IS_RUN (OF_BOOK << BOOK_RUNS)
#define IS_RUN_NAME (OF_BOOK << BOOK_RUN_NAMES)
#define IS_PROFILE (OF_BOOK << BOOK_PROFILES)
#define IS_CALIBRATION (OF_BOOK << BOOK_CALIBRATIONS)

/* By the name of the option, where that of its value says too little; then by that of the value, or
 * of an operand of a verb. */
static const struct {
	const char *name;
	int is;
} kinds[] = {
	{"--profile", IS_PROFILE},
	{"--save", IS_PROFILE},
	{"--policy", IS_POLICY | IS_FILE},
	{"--cpu", IS_CPU_LIST},
	{"--affinity", IS_CPU_LIST},
	{"--isolate", IS_CPU},
	{"--command-name", IS_RUN_NAME},
	{"--output WHERE", IS_FILE},
	{"A", IS_RUN | IS_FILE},
	{"ACTION", IS_ACTION},
	{"AFTER", IS_RUN},
	{"B", IS_RUN | IS_FILE},
	{"BEFORE", IS_FILE},
	{"CALIBRATION", IS_CALIBRATION},
	{"CMD", IS_COMMAND},
	{"COMMAND", IS_COMMAND},
	{"COMMAND LINE", IS_COMMAND},
	{"DIR", IS_DIRECTORY},
	{"FILE", IS_FILE},
	{"FORMAT=FILE", IS_FORMAT},
	{"NAME", IS_RUN_NAME},
	{"NAME|FILE", IS_PROFILE | IS_FILE},
	{"NOW", IS_FILE},
	{"PROFILE", IS_PROFILE},
	{"REF", IS_REF},
	{"RUN", IS_RUN},
	{"RUN|PROFILE", IS_RUN | IS_PROFILE},
	{"RUN|TIME", IS_RUN},
	{"SHELL", IS_COMMAND},
};

/* The command line up to the cursor. */
struct typed_line {
	const struct known_tool *tool;
	const struct known_verb *verb;      /* NULL: not typed yet */
	const struct known_option *pending; /* the word at the cursor is a value of it */
	int operands;                       /* of the verb, before the cursor */
	bool dashes;                        /* "--" was typed */
	bool behind_format;                 /* bash has made words of bencher=FILE */
	const char *word;                   /* at the cursor */
	const char *book;                   /* of --db */
};

static int kind_named(const char *name)
{
	for (size_t i = 0; i < ELEMENTS(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].is;
	return 0;
}

static int kind_of_value(const struct known_option *option)
{
	return kind_named(text_brief("--%s", option->name))
		       ?: kind_named(text_brief("--%s %s", option->name, option->value))
		       ?: kind_named(option->value);
}

/* The n-th operand of "RUN [AFTER]", "FILE..." or "-- COMMAND [ARGUMENT...]  or …"; the last one of
 * a verb may be given again. */
static int kind_of_operand(const char *args, int n)
{
	int kind = 0;

	args += strncmp(args, "-- ", 3) ? 0 : 3;
	for (int i = 0; *args; i++) {
		size_t before = strspn(args, " [']"), length = strcspn(args + before, " .]'");
		const char *name = text_brief("%.*s", (int)length, args + before);
		int found = kind_named(name);

		if (!strcmp(name, "or"))
			break;
		if (i == n || (i < n && strstr(args, "...")))
			kind = found ?: kind;
		if (i == n)
			break;
		args += before + length;
		args += strspn(args, ".]' ");
	}
	return kind;
}

static const struct known_option *find_option(const struct known_verb *verb, const char *name)
{
	size_t n = strcspn(name, "=");

	for (const struct known_option *o = verb ? verb->options : NULL; o && o->name; o++)
		if (strlen(o->name) == n && !strncmp(o->name, name, n))
			return o;
	return NULL;
}

static const struct known_option *find_letter(const struct known_verb *verb, char letter)
{
	for (const struct known_option *o = verb ? verb->options : NULL; o && o->name; o++)
		if (*o->letter == letter)
			return o;
	return NULL;
}

/* A word that begins with a dash, before the cursor. Returns how many words after it are its
 * values. */
static int take_typed_option(struct typed_line *line, const char *word)
{
	const struct known_option *o;

	if (!strcmp(word, "--")) {
		line->dashes = true;
		return 0;
	}
	if (word[1] == '-') {
		o = find_option(line->verb, word + 2);
		if (o && !strcmp(o->name, "db") && strchr(word, '='))
			line->book = strchr(word, '=') + 1;
		if (!o || !o->value || o->optional || strchr(word, '='))
			return 0;
	} else {
		o = find_letter(line->verb, word[1]);
		if (!o || !o->value || o->optional || word[2]) /* -r10 */
			return 0;
	}
	line->pending = o;
	return o->values;
}

/* Whether a file follows the equals sign behind `before`, a value that was taken. */
static bool take_format(const struct typed_line *line, int values, const char *before)
{
	return values == 0 && line->pending && kind_of_value(line->pending) == IS_FORMAT &&
	       *before != '-';
}

/* The words behind the name of the tool. */
static void read_typed(struct typed_line *line, char *const *words)
{
	const struct known_verb *verbs = line->tool->verbs;
	int values = 0;

	if (verbs->name && !*verbs->name)
		line->verb = verbs;
	for (; words[1]; words++) {
		const char *word = words[0];

		if (!strcmp(word, "=")) { /* bash makes three words of --name=value */
			line->behind_format = take_format(line, values, words[-1]);
			values += line->behind_format;
			continue;
		}
		if (values > 0) {
			if (!strcmp(line->pending->name, "db"))
				line->book = word;
			values--;
			continue;
		}
		if (*word == '-' && word[1] && !line->dashes) {
			values = take_typed_option(line, word);
		} else if (line->verb) {
			line->operands++;
		} else {
			for (const struct known_verb *v = verbs; v->name; v++)
				line->verb = strcmp(v->name, word) ? line->verb : v;
		}
	}
	if (!strcmp(words[0], "=") && take_format(line, values, words[-1])) {
		line->behind_format = true;
		values = 1;
	}
	if (values == 0)
		line->pending = NULL;
	line->word = strcmp(words[0], "=") ? words[0] : "";
}

/* A candidate, if it begins with what is typed. `before` stands before both. */
static void offer(const char *before, const char *typed, const char *word, const char *about)
{
	if (strncmp(word, typed, strlen(typed)) != 0 || word[strcspn(word, "\n\t")])
		return;
	printf("%s%s", before, word);
	if (about && *about)
		printf("\t%s", terminal_text(about));
	putchar('\n');
}

/* The book is locked, or on a disk that is slow: what has been printed must do. */
static void end_patience(int signal)
{
	_exit(0);
}

/* Nobody waits longer than this for the Tab key. */
static void begin_patience(void)
{
	enum { PATIENCE_US = 200000 };

	fflush(stdout);
	signal(SIGALRM, end_patience);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = PATIENCE_US}, NULL);
}

static void offer_book(
	const char *name, enum book_words which, const char *before, const char *typed)
{
	_cleanup_(book_freep) struct book *book = NULL;
	struct book_word *words = NULL;
	size_t n = 0;

	if (book_open(&book, name, BOOK_READ, NULL) < 0 ||
		book_words(book, which, typed, &words, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		offer(before, typed, words[i].word, words[i].about);
	book_words_free(words, n);
}

static void offer_cpus(const char *before, const char *typed)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, &cpus))
			offer(before, typed, text_brief("%d", i), NULL);
}

/* Those of the repository that this is in; none if git does not say them in time. */
static void offer_refs(const char *before, const char *typed)
{
	enum { PATIENCE_MS = 200 };
	static const char *const argv[] = {"git", "for-each-ref", "--format=%(refname:short)",
		"refs/heads", "refs/remotes", "refs/tags", NULL};
	_cleanup_(freep) char *refs = NULL;
	char *rest, *ref;
	int status;

	if (subprocess_ask(argv, PATIENCE_MS, &refs, &status, NULL) < 0 || status != 0)
		return;
	for (rest = refs; (ref = strsep(&rest, "\n"));)
		if (*ref)
			offer(before, typed, ref, NULL);
}

static void offer_policies(const char *before, const char *typed)
{
	_cleanup_(freep) char *one = suite_path("profiles", EMP_PROFILE_DIR, "common.ini");
	const char *pattern = text_brief("%.*s/*.ini", (int)(strrchr(one, '/') - one), one);
	struct paths files = paths_expand(AT_FDCWD, pattern);

	for (size_t i = 0; i < files.n; i++) {
		const char *name = strrchr(files.items[i], '/') + 1;

		offer(before, typed, text_brief("%.*s", (int)(strlen(name) - 4), name), NULL);
	}
	paths_clear(&files);
}

/* What the shell adds. */
static void print_directive(int kind)
{
	const char *directive = "words";

	if (kind & IS_FILE)
		directive = "files";
	else if (kind & IS_DIRECTORY)
		directive = "directories";
	else if (kind & IS_COMMAND)
		directive = "commands";
	puts(directive);
}

static void offer_kind(
	const struct typed_line *line, int kind, const char *before, const char *typed)
{
	static const char *const actions[] = {"list", "show", "export", "import", "remove"};
	static const char *const formats[] = {"bencher=", "github-action-benchmark=", "otava-csv="};

	if (kind & (IS_CPU | IS_CPU_LIST))
		offer_cpus(before, typed);
	if (kind & IS_POLICY)
		offer_policies(before, typed);
	if (kind & IS_REF)
		offer_refs(before, typed);
	for (size_t i = 0; i < ELEMENTS(actions) && kind & IS_ACTION; i++)
		offer(before, typed, actions[i], NULL);
	for (size_t i = 0; i < ELEMENTS(formats) && kind & IS_FORMAT; i++)
		offer(before, typed, formats[i], NULL);
	begin_patience();
	for (int i = 0; i < N_BOOK_WORDS; i++)
		if (kind & (OF_BOOK << i))
			offer_book(line->book, (enum book_words)i, before, typed);
}

/* `before`: what of the word stands before the value: "--name=", or nothing. */
static void complete_value(
	const struct typed_line *line, const struct known_option *o, const char *before)
{
	const char *typed = line->word + strlen(before), *comma = strrchr(typed, ',');
	int kind = kind_of_value(o);

	if (kind == IS_FORMAT && (line->behind_format || strchr(typed, '=')))
		kind = IS_FILE;
	print_directive(kind);
	if (comma && (o->listed || kind & IS_CPU_LIST)) { /* the last one of a list */
		before = text_brief("%.*s", (int)(comma + 1 - line->word), line->word);
		typed = comma + 1;
	}
	for (size_t i = 0; o->words && o->words[i]; i++)
		offer(before, typed, o->words[i], NULL);
	offer_kind(line, kind, before, typed);
}

static void complete_option(const struct typed_line *line)
{
	puts("words");
	for (const struct known_option *o = line->verb ? line->verb->options : NULL; o && o->name;
		o++)
		offer("", line->word, text_brief("--%s", o->name), o->summary);
	offer("", line->word, "--help", "show this help");
	offer("", line->word, "--version", "show the version");
}

/* Of emp: commands. Of a tool with verbs: verbs. */
static void complete_command(const struct typed_line *line)
{
	puts("words");
	if (line->tool) {
		for (const struct known_verb *v = line->tool->verbs; v->name; v++)
			offer("", line->word, v->name, v->summary);
		return;
	}
	for (const struct known_tool *t = known_tools; t->name; t++)
		offer("", line->word, t->name + 4, t->summary);
	offer("", line->word, "help", "find a word in all manual pages");
	offer("", line->word, "version", "what this EMP has, and what it finds here");
}

int complete_print(char *const *words, struct error *err)
{
	struct typed_line line = {};
	const struct known_option *o;
	const char *equals, *name;

	if (!words[0])
		return 0;
	name = strrchr(words[0], '/') ? strrchr(words[0], '/') + 1 : words[0];
	line.tool = strcmp(name, "emp") ? known_tool_find(name) : NULL;
	words++;
	if (!strcmp(name, "emp") && words[0] && words[1]) {
		line.tool = known_tool_find(words[0]);
		words++;
		if (!line.tool) /* emp help WORD */
			return 0;
	}
	if (!words[0])
		return 0;
	if (line.tool)
		read_typed(&line, words);
	else
		line.word = words[0];

	equals = strchr(line.word, '=');
	o = equals && !strncmp(line.word, "--", 2) ? find_option(line.verb, line.word + 2) : NULL;
	if (line.pending)
		complete_value(&line, line.pending, "");
	else if (o && o->value)
		complete_value(
			&line, o, text_brief("%.*s", (int)(equals + 1 - line.word), line.word));
	else if (*line.word == '-' && !line.dashes)
		complete_option(&line);
	else if (!line.verb)
		complete_command(&line);
	else {
		int kind = kind_of_operand(line.verb->args, line.operands);

		print_directive(line.operands > 0 && kind & IS_COMMAND ? IS_FILE : kind);
		offer_kind(&line, kind, "", line.word);
	}
	return 0;
}
