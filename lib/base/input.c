/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents in files: see input.h. */
#include "lib/base/base.h"

#include "lib/base/input.h"
#include "lib/base/interrupt.h"

#include <assert.h>
#include <sys/stat.h>
#include <zlib.h>

enum { CHUNK = 1 << 16 };

struct input {
	int fd;
	char *path;
	bool gzip, regular; /* regular: from its beginning */
	bool begun, ended;  /* gzip: the first bytes were unpacked; at the end of a member */
	off_t skipped;      /* bytes of a byte order mark */
	z_stream z;
	size_t at, end; /* of what was read and not used */
	unsigned char buffer[CHUNK];
};

/* What a file begins with that is neither JSON nor gzip. */
static const struct {
	const char *bytes;
	size_t n;
	const char *name, *convert; /* which command makes a document of it; %s is the file */
} others[] = {
#define BYTES(text) text, sizeof(text) - 1
	{BYTES("\xff\xfe\0\0"), "UTF-32", "iconv -f UTF-32 -t UTF-8"},
	{BYTES("\0\0\xfe\xff"), "UTF-32", "iconv -f UTF-32 -t UTF-8"},
	{BYTES("\xff\xfe"), "UTF-16", "iconv -f UTF-16 -t UTF-8"},
	{BYTES("\xfe\xff"), "UTF-16", "iconv -f UTF-16 -t UTF-8"},
	{BYTES("{\0"), "UTF-16", "iconv -f UTF-16LE -t UTF-8"},
	{BYTES("[\0"), "UTF-16", "iconv -f UTF-16LE -t UTF-8"},
	{BYTES("\0{"), "UTF-16", "iconv -f UTF-16BE -t UTF-8"},
	{BYTES("\0["), "UTF-16", "iconv -f UTF-16BE -t UTF-8"},
	{BYTES("\x28\xb5\x2f\xfd"), "compressed by zstd", "zstd -dc"},
	{BYTES("\xfd"
	       "7zXZ\0"),
		"compressed by xz", "xz -dc"},
	{BYTES("BZh"), "compressed by bzip2", "bzip2 -dc"},
	{BYTES("PK\3\4"), "a zip archive", "unzip -p"},
#undef BYTES
};

/* Reads until there are `n` bytes, or the end. */
static int fill(struct input *input, size_t n, struct error *err)
{
	while (input->end < n) {
		ssize_t r = interrupt_read(
			input->fd, input->buffer + input->end, CHUNK - input->end);

		if (r < 0)
			return error_os(err, -errno, "cannot read '%s'", input->path);
		if (r == 0)
			break;
		input->end += (size_t)r;
	}
	return 0;
}

enum { RECOGNIZED = 6 }; /* bytes that show what a file is */

/* By its first bytes. *ret_skip: how many of them are a byte order mark. */
static int refuse_others(const char *path, const void *bytes, size_t n, const char *unpack,
	size_t *ret_skip, struct error *err)
{
	for (size_t i = 0; i < ELEMENTS(others); i++)
		if (n >= others[i].n && !memcmp(bytes, others[i].bytes, others[i].n))
			return error_say(err, -EINVAL,
				"'%s' is %s, not JSON in UTF-8: '%s%s %s>NEW' makes it so", path,
				others[i].name, unpack, others[i].convert, *unpack ? "" : "FILE ");
	*ret_skip = n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
	return 0;
}

static int input_recognize(struct input *input, struct error *err)
{
	int r = fill(input, RECOGNIZED, err);

	if (r == 0)
		r = refuse_others(input->path, input->buffer, input->end, "", &input->at, err);
	if (r < 0)
		return r;
	input->skipped = (off_t)input->at;
	input->gzip = input->end >= 2 && !memcmp(input->buffer, "\x1f\x8b", 2);
	if (input->gzip && inflateInit2(&input->z, MAX_WBITS + 16) != Z_OK)
		xalloc_fail();
	return 0;
}

int input_open(struct input **ret, const char *path, struct error *err)
{
	_cleanup_(input_freep) struct input *input = xcalloc(1, sizeof(*input));
	struct stat st;
	int r;

	input->path = xstrdup(path);
	input->fd = -1;
	r = paths_check_apart(path, strcmp(path, "-") ? -1 : STDIN_FILENO, err);
	if (r < 0)
		return r;
	input->fd = strcmp(path, "-") ? interrupt_open(AT_FDCWD, path, O_RDONLY, 0)
				      : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (input->fd < 0 || fstat(input->fd, &st) < 0)
		return error_os(err, -errno, "cannot open '%s'", path);
	input->regular = S_ISREG(st.st_mode) && lseek(input->fd, 0, SEEK_CUR) == 0;
	r = input_recognize(input, err);
	if (r < 0)
		return r;
	*ret = TAKE(input);
	return 0;
}

void input_free(struct input *input)
{
	if (!input)
		return;
	if (input->gzip)
		inflateEnd(&input->z);
	closep(&input->fd);
	free(input->path);
	free(input);
}

/* What is next in the file, into the buffer. 0: the end. */
static int next_chunk(struct input *input, struct error *err)
{
	int r;

	if (input->at < input->end)
		return 1;
	input->at = input->end = 0;
	r = fill(input, 1, err);
	return r < 0 ? r : input->end > 0;
}

/* One file may have several members, one after the other, and zeros may follow (gzip(1)). */
static ssize_t unpack(struct input *input, void *buffer, size_t size, struct error *err)
{
	input->z.next_out = buffer;
	input->z.avail_out = (uInt)(size < CHUNK ? size : CHUNK);
	while (input->z.next_out == buffer) {
		int r = next_chunk(input, err), done;

		if (r < 0)
			return r;
		if (r == 0 && input->ended)
			return 0;
		if (r == 0)
			return error_say(err, -EINVAL, "'%s' ends in the middle of its gzip data",
				input->path);
		if (input->ended && input->buffer[input->at] == '\0') {
			input->at++;
			continue;
		}

		if (input->ended)
			inflateReset(&input->z);
		input->z.next_in = input->buffer + input->at;
		input->z.avail_in = (uInt)(input->end - input->at);
		done = inflate(&input->z, Z_NO_FLUSH);
		input->at = input->end - input->z.avail_in;
		if (done == Z_MEM_ERROR)
			xalloc_fail();
		if (done != Z_OK && done != Z_STREAM_END)
			return error_say(err, -EINVAL, "the gzip data in '%s' are damaged: %s",
				input->path, input->z.msg ?: "they need a dictionary");
		input->ended = done == Z_STREAM_END;
	}
	return (ssize_t)((char *)input->z.next_out - (char *)buffer);
}

/* The first bytes, which show what was compressed. */
static ssize_t unpack_first(struct input *input, char *buffer, size_t size, struct error *err)
{
	size_t n = 0, skip;
	ssize_t r = 1;

	assert(size > RECOGNIZED);
	while (r > 0 && n < RECOGNIZED) {
		r = unpack(input, buffer + n, size - n, err);
		n += r > 0 ? (size_t)r : 0;
	}
	if (r >= 0)
		r = refuse_others(input->path, buffer, n, "gzip -dc FILE | ", &skip, err);
	if (r < 0)
		return r;
	memmove(buffer, buffer + skip, n - skip);
	return (ssize_t)(n - skip);
}

ssize_t input_read(struct input *input, void *buffer, size_t size, struct error *err)
{
	size_t n;
	int r;

	if (input->gzip && !input->begun) {
		input->begun = true;
		return unpack_first(input, buffer, size, err);
	}
	if (input->gzip)
		return unpack(input, buffer, size, err);
	r = next_chunk(input, err);
	if (r <= 0)
		return r;
	n = input->end - input->at < size ? input->end - input->at : size;
	memcpy(buffer, input->buffer + input->at, n);
	input->at += n;
	return (ssize_t)n;
}

off_t input_plain(const struct input *input)
{
	return input->regular && !input->gzip ? input->skipped : -1;
}

int input_take(struct input *input)
{
	return TAKE_FD(input->fd);
}
