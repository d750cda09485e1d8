/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of the ring buffer, made events: see trace_decode.h. libtraceevent parses the descriptions
 * once; the fields are then read by their offsets, because a page is decoded beside the run. */
#include "lib/jitter/trace_decode.h"

#include <traceevent/event-parse.h>

DEFINE_FREEP(trace_decoder)

/* A span that is longer is none. */
static const uint64_t LONGEST_NS = 600000000000;

enum { NUMBER, TEXT, PREV, NEXT, STATE, NEXT_TEXT, N_FIELDS };

struct event_row {
	const char *system, *event;
	enum trace_what what;
	enum trace_kind kind;
	const char *name;
	const char *fields[N_FIELDS];
};

static const struct event_row rows[] = {
	{"sched", "sched_switch", TRACE_SWITCH, TRACE_TASK, NULL,
		{NULL, "prev_comm", "prev_pid", "next_pid", "prev_state", "next_comm"}},
	{"sched", "sched_process_fork", TRACE_FORK, TRACE_TASK, NULL,
		{NULL, NULL, "parent_pid", "child_pid"}},
	{"irq", "irq_handler_entry", TRACE_BEGIN, TRACE_IRQ, NULL, {"irq", "name"}},
	{"irq", "irq_handler_exit", TRACE_END, TRACE_IRQ, NULL, {"irq"}},
	{"irq", "softirq_entry", TRACE_BEGIN, TRACE_SOFTIRQ, NULL, {"vec"}},
	{"irq", "softirq_exit", TRACE_END, TRACE_SOFTIRQ, NULL, {"vec"}},
	{"ipi", "ipi_entry", TRACE_BEGIN, TRACE_VECTOR, "ipi", {}},
	{"ipi", "ipi_exit", TRACE_END, TRACE_VECTOR, "ipi", {}},
	{"nmi", "nmi_handler", TRACE_SPAN, TRACE_NMI, "nmi", {"delta_ns"}},
	{"mce", "mce_record", TRACE_POINT, TRACE_NMI, "machine_check", {}},
	{"exceptions", "page_fault_user", TRACE_POINT, TRACE_FAULT, "page_fault", {}},
	{"exceptions", "page_fault_kernel", TRACE_POINT, TRACE_FAULT, "page_fault", {}},
	{"workqueue", "workqueue_execute_start", TRACE_BEGIN, TRACE_WORK, NULL, {"function"}},
	{"workqueue", "workqueue_execute_end", TRACE_END, TRACE_WORK, NULL, {"function"}},
};

/* Of softirqs, by number: the kernel has had these since 2.6. */
static const char *const softirqs[] = {"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL",
	"TASKLET", "SCHED", "HRTIMER", "RCU"};

struct place {
	int offset, size; /* size 0: the event does not have it */
	bool dynamic;
};

struct known_event {
	const char *system, *event; /* tep's */
	char *name;
	enum trace_what what;
	enum trace_kind kind;
	struct place pid, fields[N_FIELDS];
	int size; /* of a record that has all of these */
};

struct trace_decoder {
	struct tep_handle *tep;
	struct known_event *events;
	size_t n;
	uint16_t *by_id; /* 0: not known; else the index plus one */
};

void trace_decoder_free(struct trace_decoder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		free(d->events[i].name);
	free(d->events);
	free(d->by_id);
	tep_free(d->tep);
	free(d);
}

static struct place find_event_field(struct tep_event *event, const char *name, int *size)
{
	struct tep_format_field *field = name ? tep_find_any_field(event, name) : NULL;

	if (!field)
		return (struct place){};
	if (field->offset + field->size > *size)
		*size = field->offset + field->size;
	return (struct place){field->offset, field->size, field->flags & TEP_FIELD_IS_DYNAMIC};
}

/* Nothing if the kernel does not have it. */
static void add_event(struct trace_decoder *d, int tracing_fd, const struct event_row *row)
{
	_cleanup_(freep) char *text = path_text(
		tracing_fd, "events/%s/%s/format", row->system, row->event);
	struct tep_event *event = NULL;
	struct known_event *known;

	if (text && tep_parse_event(d->tep, text, strlen(text), row->system) == 0)
		event = tep_find_event_by_name(d->tep, row->system, row->event);
	if (!event || event->id <= 0 || event->id > UINT16_MAX)
		return;
	known = array_add(d->events, d->n);
	known->system = event->system;
	known->event = event->name;
	known->name = text_copy(row->name);
	known->what = row->what;
	known->kind = row->kind;
	known->pid = find_event_field(event, "common_pid", &known->size);
	for (int i = 0; i < N_FIELDS; i++)
		known->fields[i] = find_event_field(event, row->fields[i], &known->size);
	d->by_id[event->id] = (uint16_t)d->n;
}

/* Only x86 has them; which, depends on the kernel. "local_timer_entry" is the beginning of the
 * vector local_timer. */
static void add_vectors(struct trace_decoder *d, int tracing_fd)
{
	static const char *const ends[] = {"_entry", "_exit"};
	_cleanup_(paths_clear) struct paths entries = paths_expand(
		tracing_fd, "/events/irq_vectors/*_entry");

	for (size_t i = 0; i < 2 * entries.n; i++) {
		const char *entry = strrchr(entries.items[i / 2], '/') + 1;
		_cleanup_(freep) char *name = xstrndup(entry, strlen(entry) - strlen(ends[0]));
		_cleanup_(freep) char *event = text_format("%s%s", name, ends[i % 2]);
		const struct event_row row = {
			.system = "irq_vectors",
			.event = event,
			.what = i % 2 ? TRACE_END : TRACE_BEGIN,
			.kind = TRACE_VECTOR,
			.name = name,
			.fields = {"vector"},
		};

		add_event(d, tracing_fd, &row);
	}
}

int trace_decoder_new(
	struct trace_decoder **ret, int tracing_fd, const char *kallsyms, struct error *err)
{
	_cleanup_(trace_decoder_freep) struct trace_decoder *d = xcalloc(1, sizeof(*d));

	d->tep = xalloc_check(tep_alloc());
	d->by_id = xcalloc(UINT16_MAX + 1, sizeof(*d->by_id));
	tep_set_local_bigendian(d->tep, tep_is_bigendian());
	tep_set_file_bigendian(d->tep, tep_is_bigendian() ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(d->tep, sizeof(long));
	add_event(d, tracing_fd, &rows[0]);
	if (d->n == 0)
		return error_say(err, -ENOTSUP,
			"this kernel does not have the trace event sched_switch; its configuration "
			"lacks CONFIG_EVENT_TRACING or CONFIG_SCHED_TRACER");
	for (size_t i = 1; i < ELEMENTS(rows); i++)
		add_event(d, tracing_fd, &rows[i]);
	add_vectors(d, tracing_fd);
	if (kallsyms)
		tep_parse_kallsyms(d->tep, kallsyms);
	*ret = TAKE(d);
	return 0;
}

const char *trace_decoder_event(const struct trace_decoder *d, size_t i, const char **ret_system)
{
	if (i >= d->n)
		return NULL;
	*ret_system = d->events[i].system;
	return d->events[i].event;
}

static uint64_t read_number(const struct place *place, const char *record)
{
	uint64_t eight = 0;
	int32_t four = 0;

	if (place->size == 8) {
		memcpy(&eight, record + place->offset, 8);
		return eight;
	}
	if (place->size == 4)
		memcpy(&four, record + place->offset, 4);
	return (uint64_t)(int64_t)four;
}

/* A name in the record: itself, or where and how long it is. */
static const char *read_name_field(const struct place *place, const struct trace_record *record)
{
	uint32_t at = (uint32_t)place->offset, length = (uint32_t)place->size;

	if (place->dynamic) {
		uint32_t location = (uint32_t)read_number(place, record->data);

		at = location & 0xffff;
		length = location >> 16;
	}
	if (length == 0 || at + length > (uint32_t)record->size ||
		!memchr(record->data + at, '\0', length))
		return NULL;
	return record->data + at;
}

static struct trace_event event_of(
	const struct known_event *known, const struct trace_record *record)
{
	const struct place *fields = known->fields;
	struct trace_event event = {.at = record->at,
		.what = known->what,
		.kind = known->kind,
		.pid = (pid_t)read_number(&known->pid, record->data),
		.number = read_number(&fields[NUMBER], record->data),
		.name = known->name};

	if (known->kind == TRACE_SOFTIRQ)
		event.name = event.number < ELEMENTS(softirqs) ? softirqs[event.number] : NULL;
	else if (!event.name)
		event.name = read_name_field(&fields[TEXT], record);
	if (known->what == TRACE_SPAN) {
		event.length_ns = event.number < LONGEST_NS ? (int64_t)event.number : 0;
		event.number = 0;
	}
	if (known->what == TRACE_SWITCH || known->what == TRACE_FORK) {
		event.prev = (pid_t)read_number(&fields[PREV], record->data);
		event.next = (pid_t)read_number(&fields[NEXT], record->data);
		event.prev_name = event.name;
		event.next_name = read_name_field(&fields[NEXT_TEXT], record);
		/* the lower bits say what it waits for; a bit above them, that it was preempted */
		event.preempted = (read_number(&fields[STATE], record->data) & 0xff) == 0;
	}
	return event;
}

bool trace_decode(struct trace_decoder *d, struct trace_page *page, struct trace_event *ret)
{
	struct trace_record record;

	while (trace_page_next(page, &record)) {
		uint16_t id, known = 0;

		if (record.size >= (int)sizeof(id)) {
			memcpy(&id, record.data, sizeof(id));
			known = d->by_id[id];
		}
		if (known && d->events[known - 1].size <= record.size) {
			*ret = event_of(&d->events[known - 1], &record);
			return true;
		}
	}
	return false;
}

const char *trace_decoder_function(struct trace_decoder *d, uint64_t address)
{
	return tep_find_function(d->tep, address);
}
