/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loaded BPF programs: see bpf_programs.h. */
#include "lib/host/bpf/bpf_programs.h"

#include "lib/host/system/digest.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Kinds of programs that run at events of the kernel. */
static const char *const kinds[] = {
	[BPF_PROG_TYPE_KPROBE] = "kprobe",
	[BPF_PROG_TYPE_TRACEPOINT] = "tracepoint",
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = "tracepoint",
	[BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE] = "tracepoint",
	[BPF_PROG_TYPE_PERF_EVENT] = "perf event",
	[BPF_PROG_TYPE_TRACING] = "tracing",
	[BPF_PROG_TYPE_LSM] = "LSM",
	[BPF_PROG_TYPE_STRUCT_OPS] = "struct_ops", /* such as a scheduler */
};

/* EMP's own (accounting.bpf.c, clock.bpf.c, page_waits.bpf.c), and what some kernels load
 * themselves: iterators that run when they are read, and a program for input devices. Names have at
 * most 15 bytes in the kernel. */
static const char *const expected[] = {"read_tasks", "read_tasks_before_6_7", "task_exits",
	"task_dies", "task_dies_before_6_7", "task_executes", "child_ends", "memory_ends",
	"list_observers", "irq_handler_begins", "irq_handler_ends", "softirq_begins",
	"softirq_ends", "local_timer_begins", "local_timer_ends", "clock_switches",
	"slave_switches", "request_is_issued", "request_is_complete", "dump_bpf_map",
	"dump_bpf_prog", "hid_tail_call"};

int bpf_programs_list(char **ret, size_t *ret_n)
{
	_cleanup_(freep) char *list = NULL;
	uint32_t id = 0;
	size_t n = 0;
	int r;

	while ((r = bpf_prog_get_next_id(id, &id)) == 0) {
		_cleanup_(closep) int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = {};
		uint32_t size = sizeof(info);
		bool is_expected = false;

		if (fd < 0 && fd != -ENOENT) /* unloaded meanwhile */
			return fd;
		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ||
			info.type >= ELEMENTS(kinds) || !kinds[info.type])
			continue;
		for (size_t i = 0; i < ELEMENTS(expected); i++)
			is_expected |= !strncmp(expected[i], info.name, BPF_OBJ_NAME_LEN - 1);
		if (is_expected)
			continue;
		text_append(&list, ", ", "%s (%s)", *info.name ? info.name : "unnamed",
			kinds[info.type]);
		n++;
	}
	if (r != -ENOENT) /* there is no next one */
		return r;
	*ret = TAKE(list);
	*ret_n = n;
	return 0;
}

static _Thread_local char warning[256];

static int keep_first_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	if (level == LIBBPF_WARN && !warning[0])
		vsnprintf(warning, sizeof(warning), format, ap);
	return 0;
}

void bpf_load_begin(void)
{
	warning[0] = '\0';
	libbpf_set_print(keep_first_warning);
}

int bpf_load_end(int r, struct error *err)
{
	if (r >= 0)
		return r;
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return error_say(err, -ENOTSUP, "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
	warning[strcspn(warning, "\n")] = '\0';
	return error_os(err, r, "the kernel does not accept the BPF programs (%s)",
		warning[0] ? warning : "libbpf gives no reason");
}

/* Programs whose references are resolved are kept in a file: a head, then each program with its
 * instructions. They name a map by its number in the skeleton. */

enum { MAX_FUNCTIONS = 8, MAX_INSTRUCTIONS = 1 << 16, MAX_BYTES = 4 << 20 };

struct head {
	char magic[8];
	char boot[40];
	char object[DIGEST_SIZE]; /* that the programs come from */
	uint32_t n;
};

struct saved {
	char name[32];
	uint32_t type, attach_type, attach_btf_id, n_instructions;
	uint32_t n_functions; /* 0: it calls none of its own */
	struct bpf_func_info functions[MAX_FUNCTIONS];
};

/* An instruction that has a second half, which is no instruction itself. */
static bool is_wide(const struct bpf_insn *instruction)
{
	return instruction->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool names_map(const struct bpf_insn *instruction)
{
	return is_wide(instruction) && (instruction->src_reg == BPF_PSEUDO_MAP_FD ||
					       instruction->src_reg == BPF_PSEUDO_MAP_VALUE);
}

static int make_map(struct bpf_map_skeleton *skeleton)
{
	struct bpf_map *map = *skeleton->map;
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map));
	_cleanup_(closep) int fd = bpf_map_create(bpf_map__type(map), bpf_map__name(map),
		bpf_map__key_size(map), bpf_map__value_size(map), bpf_map__max_entries(map),
		&options);
	const uint32_t first = 0;

	if (fd < 0)
		return fd;
	if (skeleton->mmaped) { /* the variables */
		if (bpf_map_update_elem(fd, &first, *skeleton->mmaped, 0) < 0 ||
			mmap(*skeleton->mmaped, bpf_map__value_size(map), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return -errno;
	}
	return bpf_map__reuse_fd(map, fd);
}

/* Loads the program at the beginning of *bytes, whose size is *size, and removes it from them. */
static int load_saved(struct bpf_resolved *resolved, const struct bpf_object_skeleton *skeleton,
	int btf_fd, char **bytes, size_t *size)
{
	struct saved *saved = (struct saved *)*bytes;
	struct bpf_insn *instructions = (struct bpf_insn *)(saved + 1);
	const struct bpf_program *program;
	LIBBPF_OPTS(bpf_prog_load_opts, options);
	size_t length;
	int fd;

	if (*size < sizeof(*saved) || saved->n_instructions > MAX_INSTRUCTIONS ||
		saved->n_functions > MAX_FUNCTIONS)
		return -EINVAL;
	length = sizeof(*saved) + saved->n_instructions * sizeof(*instructions);
	saved->name[sizeof(saved->name) - 1] = '\0';
	program = bpf_object__find_program_by_name(*skeleton->obj, saved->name);
	if (*size < length || !program || !bpf_program__autoload(program) ||
		bpf_resolved_program(resolved, program) >= 0)
		return -EINVAL;

	for (size_t k = 0; k < saved->n_instructions; k++) {
		if (!names_map(&instructions[k]))
			continue;
		if (instructions[k].imm < 0 || instructions[k].imm >= skeleton->map_cnt)
			return -EINVAL;
		instructions[k].imm = bpf_map__fd(*skeleton->maps[instructions[k].imm].map);
	}

	options.expected_attach_type = saved->attach_type;
	options.attach_btf_id = saved->attach_btf_id;
	options.prog_flags = saved->type == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0;
	if (saved->n_functions) {
		options.prog_btf_fd = (uint32_t)btf_fd;
		options.func_info = saved->functions;
		options.func_info_cnt = saved->n_functions;
		options.func_info_rec_size = sizeof(*saved->functions);
	}

	fd = bpf_prog_load(
		saved->type, saved->name, "GPL", instructions, saved->n_instructions, &options);
	if (fd < 0)
		return fd;
	resolved->items[resolved->n++] = (struct bpf_loaded){program, fd, -1};
	*bytes += length;
	*size -= length;
	return 0;
}

/* From a file that only root can have written. */
static int load_kept(struct bpf_resolved *ret, struct bpf_object_skeleton *skeleton,
	const struct head *head, int directory, const char *file)
{
	_cleanup_(closep) int fd = openat(directory, file,
				      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
			      btf_fd = -1;
	_cleanup_(freep) char *bytes = NULL;
	char *rest;
	struct stat st;
	const void *btf;
	uint32_t btf_size;
	size_t size;
	int r = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || st.st_mode & 022 || st.st_size > MAX_BYTES)
		return -EPERM;
	size = (size_t)st.st_size;
	rest = bytes = xmalloc(size);
	if (read(fd, bytes, size) != (ssize_t)size)
		return -EIO;
	if (size < sizeof(*head) || memcmp(head, bytes, sizeof(*head)))
		return -ESTALE;
	rest += sizeof(*head);
	size -= sizeof(*head);
	btf = btf__raw_data(bpf_object__btf(*skeleton->obj), &btf_size);
	btf_fd = btf ? bpf_btf_load(btf, btf_size, NULL) : -ENOMEM;
	r = btf_fd < 0 ? btf_fd : 0;
	for (int i = 0; r == 0 && i < skeleton->map_cnt; i++)
		r = make_map(&skeleton->maps[i]);
	for (uint32_t i = 0; r == 0 && i < head->n; i++)
		r = load_saved(ret, skeleton, btf_fd, &rest, &size);
	if (r < 0)
		bpf_resolved_clear(ret);
	return r;
}

/* Where the functions of a program begin: at 0, and where it calls them. */
static int find_functions(struct saved *saved, const struct bpf_insn *instructions)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < saved->n_instructions; i++) {
		uint32_t target = i + 1 + (uint32_t)instructions[i].imm, at = n;

		if (instructions[i].code != (BPF_JMP | BPF_CALL) ||
			instructions[i].src_reg != BPF_PSEUDO_CALL)
			continue;
		while (at > 0 && saved->functions[at - 1].insn_off > target)
			at--;
		if (at > 0 && saved->functions[at - 1].insn_off == target)
			continue;
		if (n == MAX_FUNCTIONS)
			return -E2BIG;
		memmove(&saved->functions[at + 1], &saved->functions[at],
			(n - at) * sizeof(*saved->functions));
		saved->functions[at].insn_off = target;
		n++;
	}
	saved->n_functions = n > 1 ? n : 0;
	return 0;
}

/* Makes what the instruction refers to the same in another process; -ENOTSUP: that cannot be. */
static int make_lasting(struct bpf_insn *instruction, const struct bpf_object_skeleton *skeleton)
{
	if (names_map(instruction)) {
		for (int i = 0; i < skeleton->map_cnt; i++)
			if (bpf_map__fd(*skeleton->maps[i].map) == instruction->imm) {
				instruction->imm = i;
				return 0;
			}
		return -ENOTSUP;
	}
	if (is_wide(instruction))
		return instruction->src_reg ? -ENOTSUP : 0;
	if (instruction->code == (BPF_JMP | BPF_CALL) &&
		instruction->src_reg == BPF_PSEUDO_KFUNC_CALL &&
		instruction->off != 0) /* in a module */
		return -ENOTSUP;
	return 0;
}

static int write_program(
	FILE *out, const struct bpf_object_skeleton *skeleton, const struct bpf_program *program)
{
	const struct bpf_insn *instructions = bpf_program__insns(program);
	struct saved saved = {.type = bpf_program__type(program),
		.attach_type = bpf_program__expected_attach_type(program),
		.n_instructions = (uint32_t)bpf_program__insn_cnt(program)};
	struct bpf_func_info functions[MAX_FUNCTIONS];
	struct bpf_prog_info info = {.func_info = (uintptr_t)functions,
		.nr_func_info = MAX_FUNCTIONS,
		.func_info_rec_size = sizeof(*functions)};
	uint32_t size = sizeof(info);
	int r = find_functions(&saved, instructions);

	if (r == 0)
		r = bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
	if (r < 0)
		return r;
	if (saved.type == BPF_PROG_TYPE_TRACING && !info.attach_btf_id) /* before Linux 6.0 */
		return -ENOTSUP;
	if (saved.n_functions && info.nr_func_info != saved.n_functions)
		return -ENOTSUP;
	snprintf(saved.name, sizeof(saved.name), "%s", bpf_program__name(program));
	saved.attach_btf_id = info.attach_btf_id;
	for (uint32_t i = 0; i < saved.n_functions; i++)
		saved.functions[i].type_id = functions[i].type_id;
	fwrite(&saved, sizeof(saved), 1, out);
	for (uint32_t i = 0; i < saved.n_instructions; i++) {
		struct bpf_insn instruction = instructions[i];

		r = make_lasting(&instruction, skeleton);
		if (r < 0)
			return r;
		fwrite(&instruction, sizeof(instruction), 1, out);
		if (is_wide(&instruction))
			fwrite(&instructions[++i], sizeof(instruction), 1, out);
	}
	return 0;
}

/* A file without a name gets one when it is complete, so that a kill leaves nothing. */
static int keep_resolved(const struct bpf_object_skeleton *skeleton, const struct head *head,
	int directory, const char *file)
{
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) char *bytes = NULL;
	size_t size = 0;
	FILE *out = xopen_memstream(&bytes, &size);
	int r = 0;

	fwrite(head, sizeof(*head), 1, out);
	for (int i = 0; r == 0 && i < skeleton->prog_cnt; i++)
		if (bpf_program__autoload(*skeleton->progs[i].prog))
			r = write_program(out, skeleton, *skeleton->progs[i].prog);
	text_stream_close(out, &bytes);
	if (r < 0)
		return r;
	fd = openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || fchmod(fd, 0644) < 0 || write(fd, bytes, size) != (ssize_t)size)
		return -EIO;
	unlinkat(directory, file, 0);
	return linkat(fd, "", directory, file, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

int bpf_resolved_load(struct bpf_resolved *resolved, struct bpf_object_skeleton *skeleton,
	int directory, const char *file)
{
	_cleanup_(freep) char *boot = path_text(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
	struct head head = {.magic = "EMPbpf1"};
	bool keeps;
	int r;

	for (int i = 0; i < skeleton->prog_cnt; i++)
		head.n += bpf_program__autoload(*skeleton->progs[i].prog);
	keeps = directory >= 0 && boot && head.n <= BPF_RESOLVED_MAX;
	if (keeps) {
		snprintf(head.boot, sizeof(head.boot), "%s", boot);
		digest_of(skeleton->data, skeleton->data_sz, head.object);
		if (load_kept(resolved, skeleton, &head, directory, file) == 0)
			return 0;
	}
	r = bpf_object__load_skeleton(skeleton);
	if (r < 0)
		return r;
	for (int i = 0; i < skeleton->prog_cnt && resolved->n < BPF_RESOLVED_MAX; i++) {
		const struct bpf_program *program = *skeleton->progs[i].prog;

		/* a descriptor of our own, for bpf_resolved_clear */
		if (bpf_program__autoload(program))
			resolved->items[resolved->n++] = (struct bpf_loaded){
				program, fcntl(bpf_program__fd(program), F_DUPFD_CLOEXEC, 0), -1};
	}
	if (keeps && geteuid() == 0)
		keep_resolved(skeleton, &head, directory, file);
	return 0;
}

int bpf_resolved_attach(struct bpf_resolved *resolved)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < resolved->n; i++)
		if (bpf_program__type(resolved->items[i].program) == BPF_PROG_TYPE_TRACING)
			r = bpf_resolved_link(resolved, resolved->items[i].program);
	return r < 0 ? r : 0;
}

int bpf_resolved_program(const struct bpf_resolved *resolved, const struct bpf_program *program)
{
	for (size_t i = 0; i < resolved->n; i++)
		if (resolved->items[i].program == program)
			return resolved->items[i].fd;
	return -ENOENT;
}

int bpf_resolved_link(struct bpf_resolved *resolved, const struct bpf_program *program)
{
	enum bpf_attach_type type = bpf_program__expected_attach_type(program);
	struct bpf_loaded *loaded = resolved->items, *end = loaded + resolved->n;

	while (loaded < end && loaded->program != program)
		loaded++;
	if (loaded == end)
		return -ENOENT;
	if (loaded->link < 0)
		loaded->link = type == BPF_TRACE_ITER ? bpf_link_create(loaded->fd, 0, type, NULL)
						      : bpf_raw_tracepoint_open(NULL, loaded->fd);
	return loaded->link;
}

void bpf_resolved_clear(struct bpf_resolved *resolved)
{
	for (size_t i = 0; i < resolved->n; i++) {
		closep(&resolved->items[i].link);
		closep(&resolved->items[i].fd);
	}
	resolved->n = 0;
}
