/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents in files: what is read as it stands, what is unpacked, and what is refused by name;
 * from a file and from a pipe. */
#include "tests/unit/check.h"

#include "lib/base/input.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define DOCUMENT "{\"a\": [1, 2]}"

/* In gzip's format. */
static size_t pack(const char *text, size_t size, unsigned char *into, size_t most)
{
	z_stream z = {};

	assert_int_equal(
		deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)text;
	z.avail_in = (uInt)size;
	z.next_out = into;
	z.avail_out = (uInt)most;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return most - z.avail_out;
}

/* Reads it as a file, and as a pipe that gives one byte after the other. */
static int read_both(const void *bytes, size_t n, json_t **ret, struct error *err)
{
	struct error err2 = {};
	json_t *second = NULL;
	int pipe_fd[2], r, r2;
	char path[64];
	int fd = memfd_create("document", MFD_CLOEXEC);
	pid_t writer;

	assert_int_equal(write(fd, bytes, n), n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = json_read(ret, path, err);
	close(fd);
	assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
	writer = fork();
	if (writer == 0) {
		signal(SIGPIPE, SIG_IGN);
		for (size_t i = 0; i < n; i++)
			if (write(pipe_fd[1], (const char *)bytes + i, 1) != 1)
				break;
		_exit(0);
	}
	close(pipe_fd[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe_fd[0]);
	r2 = json_read(&second, path, &err2);
	close(pipe_fd[0]);
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	assert_int_equal(r, r2);
	assert_true(r < 0 || json_equal(*ret, second));
	json_decref(second);
	return r;
}

static void assert_reads(const void *bytes, size_t n)
{
	_cleanup_(json_decrefp) json_t *json = NULL, *want = json_loads(DOCUMENT, 0, NULL);
	struct error err = {};

	if (read_both(bytes, n, &json, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(json_equal(json, want));
}

static void assert_refuses(const void *bytes, size_t n, const char *sentence)
{
	_cleanup_(json_decrefp) json_t *json = NULL;
	struct error err = {};

	assert_int_equal(read_both(bytes, n, &json, &err), -EINVAL);
	if (!strstr(err.text, sentence))
		fail_msg("'%s' is not in '%s'", sentence, err.text);
}

#define REFUSES(bytes, sentence) assert_refuses(bytes, sizeof(bytes) - 1, sentence)

TEST(a_document_is_read_as_it_stands_after_a_byte_order_mark_and_out_of_gzip)
{
	unsigned char packed[512];
	size_t half = 5, n;

	assert_reads(DOCUMENT, sizeof(DOCUMENT) - 1);
	assert_reads("\xef\xbb\xbf" DOCUMENT, 3 + sizeof(DOCUMENT) - 1);
	assert_reads(packed, pack(DOCUMENT, sizeof(DOCUMENT) - 1, packed, sizeof(packed)));
	/* in two members, as with cat a.gz b.gz */
	n = pack(DOCUMENT, half, packed, sizeof(packed));
	n += pack(&DOCUMENT[half], sizeof(DOCUMENT) - 1 - half, packed + n, sizeof(packed) - n);
	assert_reads(packed, n);
	n = pack("\xef", 1, packed, sizeof(packed));
	n += pack("\xbb\xbf" DOCUMENT, 2 + sizeof(DOCUMENT) - 1, packed + n, sizeof(packed) - n);
	assert_reads(packed, n);
}

TEST(zeros_after_gzip_are_padding)
{
	static unsigned char packed[200000];
	size_t n = pack(DOCUMENT, sizeof(DOCUMENT) - 1, packed, 512);

	assert_reads(packed, n + 1);
	assert_reads(packed, sizeof(packed));
	assert_refuses(packed, n - 1, "in the middle of its gzip data");
	memcpy(packed + n + 300, "behind", 6);
	assert_refuses(packed, n + 306, "are damaged");
}

TEST(gzip_that_is_cut_or_damaged_is_refused)
{
	unsigned char packed[512];
	size_t n = pack(DOCUMENT, sizeof(DOCUMENT) - 1, packed, sizeof(packed) - 8);

	for (size_t cut = 2; cut < n; cut++)
		assert_refuses(packed, cut, "in the middle of its gzip data");
	memcpy(packed + n, "behind", 6);
	assert_refuses(packed, n + 6, "are damaged");
	packed[n - 5] ^= 1; /* of the checksum */
	assert_refuses(packed, n, "are damaged: incorrect data check");
}

TEST(what_gzip_has_compressed_is_refused_by_name_too)
{
	static const char text[] = "\xff\xfe{\0}\0";
	unsigned char packed[512];

	assert_refuses(packed, pack(text, sizeof(text) - 1, packed, sizeof(packed)),
		"is UTF-16, not JSON in UTF-8: 'gzip -dc FILE | iconv -f UTF-16 -t UTF-8 >NEW' "
		"makes it so");
}

TEST(other_encodings_and_archives_are_refused_with_the_command_that_converts_them)
{
	REFUSES("\xff\xfe{\0}\0",
		"is UTF-16, not JSON in UTF-8: 'iconv -f UTF-16 -t UTF-8 FILE >NEW'");
	REFUSES("\xfe\xff\0{\0}", "is UTF-16");
	REFUSES("{\0}\0", "iconv -f UTF-16LE");
	REFUSES("\0{\0}", "iconv -f UTF-16BE");
	REFUSES("\xff\xfe\0\0{\0\0\0", "is UTF-32");
	REFUSES("\x28\xb5\x2f\xfd....", "compressed by zstd");
	REFUSES("\xfd"
		"7zXZ\0....",
		"compressed by xz");
	REFUSES("BZh91AY", "compressed by bzip2");
	REFUSES("PK\3\4....", "is a zip archive");
}

TEST(nothing_may_follow_a_document)
{
	REFUSES(DOCUMENT "\0", "it has a byte that is zero");
	REFUSES(DOCUMENT "\0x", "it has a byte that is zero");
	REFUSES(DOCUMENT " {}", "end of file expected near '{'");
	REFUSES(DOCUMENT "x", "end of file expected near 'x'");
	REFUSES("{\"a\": 1, \"a\": 2}", "duplicate object key");
	REFUSES("{\"a\": \"\\u0000\"}", "\\u0000 is not allowed");
	REFUSES("", "line 1, column 0");
	REFUSES("\xef\xbb\xbf", "line 1, column 0");
}
