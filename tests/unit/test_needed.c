/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of sockets; and what this test itself holds. The rest is tried with real programs, in
 * tests/machine/setup_protected.sh. */
#include "tests/unit/check.h"

#include "lib/host/systemd/needed.h"

#include <arpa/inet.h>

static void assert_address(const uint8_t address[16], const char *expected)
{
	char text[INET6_ADDRSTRLEN];

	assert_non_null(inet_ntop(AF_INET6, address, text, sizeof(text)));
	assert_string_equal(text, expected);
}

TEST(lines_of_tcp_sockets_are_read)
{
	static const char four[] =
		"   1: 0501000A:0016 0901000A:C350 01 00000000:00000000 02:000AF12B "
		"00000000     0        0 31337 2 00000000f675c0d3 20 4 1 10 -1";
	static const char six[] =
		"   0: 00000000000000000000000001000000:08AE "
		"00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 "
		"00000000     0        0 4711 1 0000 100 0 0 10 0";
	struct tcp_socket s;

	assert_true(tcp_socket_parse(four, &s));
	assert_address(s.local, "::ffff:10.0.1.5");
	assert_address(s.remote, "::ffff:10.0.1.9");
	assert_int_equal(s.local_port, 22);
	assert_int_equal(s.remote_port, 50000);
	assert_false(s.listens);
	assert_int_equal(s.inode, 31337);
	assert_true(tcp_socket_parse(six, &s));
	assert_address(s.local, "::1");
	assert_int_equal(s.local_port, 2222);
	assert_true(s.listens);
	assert_int_equal(s.inode, 4711);
}

TEST(other_lines_are_none)
{
	static const char *const lines[] = {"",
		"  sl  local_address rem_address   st tx_queue rx_queue",
		"   1: 0501000:0016 0901000A:C350 01 00000000:00000000 02:000AF12B 00000000 0 0 31337 2 0",
		"   1: 0501000A:0016", "   1: 0501000A:0016 0901000A:C350 01 0:0 0:0 0 0 0"};
	struct tcp_socket s;

	for (size_t i = 0; i < ELEMENTS(lines); i++)
		assert_false(tcp_socket_parse(lines[i], &s));
}

TEST(the_first_reason_is_found)
{
	struct unit_reason items[] = {
		{(char *)"a.service", (char *)"one"}, {(char *)"a.service", (char *)"two"}};
	const struct unit_reasons reasons = {items, 2};

	assert_string_equal(unit_reasons_find(&reasons, "a.service"), "one");
	assert_null(unit_reasons_find(&reasons, "b.service"));
}
