/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Services that must not be stopped now: see needed.h.
 *
 * /proc shows who holds a socket, a tunnel or a terminal; sockets are found by their inodes. A
 * connection belongs to a login if a process of the login holds it and something on this machine
 * listens on its port: so those that the login itself has made are left out. */
#include "lib/host/systemd/needed.h"

#include "lib/base/argv.h"
#include "lib/host/process/process.h"
#include "lib/host/systemd/units.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-login.h>

#define LOGIND "org.freedesktop.login1"
#define LOGIND_OBJECT "/org/freedesktop/login1"
#define SYSTEMD "org.freedesktop.systemd1"

enum { FIRST_PTY_MAJOR = 136, LAST_PTY_MAJOR = 143, TIMEOUT_US = 5 * 1000 * 1000 };

struct seen {
	pid_t pid, parent;
	char name[16];
	int tty;
	bool of_login; /* it, or one that it has started, is a login */
};

/* Something that a process holds open. */
struct held {
	pid_t pid;
	uint64_t inode;           /* of a socket; else 0 and */
	char interface[IFNAMSIZ]; /* of a tunnel, "ppp" of any modem */
};

/* What /proc shows, and what is concluded from it. */
struct view {
	struct seen *processes; /* by pid */
	size_t n_processes;
	struct held *held;
	size_t n_held;
	struct tcp_socket *tcp;
	size_t n_tcp;
	char **interfaces; /* of default routes and logins */
	size_t n_interfaces;
	sd_bus *bus; /* NULL: there is none */
	struct unit_reasons *reasons;
};

const char *unit_reasons_find(const struct unit_reasons *reasons, const char *unit)
{
	for (size_t i = 0; i < reasons->n; i++)
		if (!strcmp(reasons->items[i].unit, unit))
			return reasons->items[i].why;
	return NULL;
}

void unit_reasons_clear(struct unit_reasons *reasons)
{
	for (size_t i = 0; i < reasons->n; i++) {
		free(reasons->items[i].unit);
		free(reasons->items[i].why);
	}
	free(reasons->items);
	*reasons = (struct unit_reasons){};
}

static void reason_add(struct unit_reasons *reasons, const char *unit, const char *why)
{
	if (!unit_reasons_find(reasons, unit))
		*array_add(reasons->items, reasons->n) = (struct unit_reason){
			xstrdup(unit), xstrdup(why)};
}

static struct seen *seen_find(const struct view *v, pid_t pid)
{
	size_t low = 0, high = v->n_processes;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (v->processes[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->n_processes && v->processes[low].pid == pid ? &v->processes[low] : NULL;
}

/* The unit of a process must stay. The reason is `format`, and its name. */
static void __attribute__((format(printf, 3, 4)))
process_is_needed(const struct view *v, pid_t pid, const char *format, ...)
{
	const struct seen *process = seen_find(v, pid);
	_cleanup_(freep) char *unit = NULL, *why = NULL, *all = NULL;
	va_list args;

	if (pid <= 1 || sd_pid_get_unit(pid, &unit) < 0)
		return;
	va_start(args, format);
	why = text_vformat(format, args);
	va_end(args);
	all = text_format("%s (%s, PID %d)", why, process ? process->name : "?", pid);
	reason_add(v->reasons, unit, all);
}

/* Reading. */

/* "tun0" of a descriptor of /dev/net/tun. */
static void read_tunnel(struct view *v, pid_t pid, const char *fd)
{
	_cleanup_(freep) char *info = path_text(AT_FDCWD, "/proc/%d/fdinfo/%s", pid, fd);
	const char *name = info ? strstr(info, "iff:\t") : NULL;
	struct held held = {.pid = pid};

	if (name && sscanf(name + strlen("iff:\t"), "%15s", held.interface) == 1)
		*array_add(v->held, v->n_held) = held;
}

/* None of other users' processes, unless this is root. */
static void read_held(struct view *v, pid_t pid)
{
	_cleanup_(freep) char *path = text_format("/proc/%d/fd", pid);
	_cleanup_(closedirp) DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct held held = {.pid = pid, .interface = "ppp"};
		char target[64] = "";

		if (readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1) < 0)
			continue;
		if (sscanf(target, "socket:[%" SCNu64 "]", &held.inode) == 1 ||
			!strcmp(target, "/dev/ppp"))
			*array_add(v->held, v->n_held) = held;
		else if (!strcmp(target, "/dev/net/tun"))
			read_tunnel(v, pid, entry->d_name);
	}
}

static void read_processes(struct view *v)
{
	_cleanup_(closep) int proc_fd = path_open(AT_FDCWD, O_RDONLY | O_DIRECTORY, "/proc");
	_cleanup_(pid_list_free) struct pid_list pids = {};

	if (proc_fd >= 0)
		pid_list_read(&pids, proc_fd);
	pid_list_sort(&pids);
	for (size_t i = 0; i < pids.n; i++) {
		_cleanup_(freep) char *stat = path_text(proc_fd, "%d/stat", pids.items[i]);
		struct seen seen = {.pid = pids.items[i]};
		struct process process;

		if (!stat || process_parse(stat, &process) != 1 ||
			sscanf(strrchr(stat, ')') + 1, " %*c %d %*d %*d %d", &seen.parent,
				&seen.tty) != 2)
			continue;
		memcpy(seen.name, process.name, sizeof(seen.name));
		*array_add(v->processes, v->n_processes) = seen;
		read_held(v, seen.pid);
	}
}

/* An address as the kernel prints it: words of 32 bits, each in the order of this machine. */
static bool parse_address(const char *hex, size_t digits, uint8_t ret[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	size_t at = digits == 8 ? sizeof(mapped) : 0;

	if (digits != 8 && digits != 32)
		return false;
	memcpy(ret, mapped, sizeof(mapped));
	for (; digits > 0; digits -= 8, hex += 8, at += 4) {
		uint32_t word;

		if (sscanf(hex, "%8" SCNx32, &word) != 1)
			return false;
		memcpy(&ret[at], &word, sizeof(word));
	}
	return true;
}

bool tcp_socket_parse(const char *line, struct tcp_socket *ret)
{
	enum { LISTEN_STATE = 0x0a };
	char local[33], remote[33];
	unsigned int state;
	struct tcp_socket s = {};

	if (sscanf(line, " %*d: %32[0-9A-F]:%x %32[0-9A-F]:%x %x %*s %*s %*s %*s %*s %" SCNu64,
		    local, (unsigned int *)&s.local_port, remote, (unsigned int *)&s.remote_port,
		    &state, &s.inode) != 6 ||
		!parse_address(local, strlen(local), s.local) ||
		!parse_address(remote, strlen(remote), s.remote))
		return false;
	s.listens = state == LISTEN_STATE;
	*ret = s;
	return true;
}

static void read_tcp(struct view *v)
{
	for (int i = 0; i < 2; i++) {
		_cleanup_(freep) char *text = path_text(
			AT_FDCWD, i ? "/proc/net/tcp6" : "/proc/net/tcp");
		struct tcp_socket socket;

		for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
			if (tcp_socket_parse(line, &socket))
				*array_add(v->tcp, v->n_tcp) = socket;
	}
}

/* Logins. */

static void add_interface(struct view *v, const char *name)
{
	for (size_t i = 0; i < v->n_interfaces; i++)
		if (!strcmp(v->interfaces[i], name))
			return;
	if (!strcmp(name, "lo"))
		return;
	*array_add(v->interfaces, v->n_interfaces) = xstrdup(name);
	for (int i = 0; i < 2; i++) { /* what a bond, a bridge or a VLAN consists of */
		_cleanup_(freep) char *pattern = text_format(
			"/sys/class/net/%s/%s*", name, i ? "brif/" : "lower_");
		_cleanup_(paths_clear) struct paths paths = paths_expand(AT_FDCWD, pattern);

		for (size_t k = 0; k < paths.n; k++) {
			const char *base = strrchr(paths.items[k], '/') + 1;

			add_interface(v, base + (i ? 0 : strlen("lower_")));
		}
	}
}

static void add_interface_of(struct view *v, const uint8_t address[16])
{
	struct ifaddrs *all = NULL;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
		const struct sockaddr_in *four = (const struct sockaddr_in *)a->ifa_addr;
		const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a->ifa_addr;

		if (a->ifa_addr && ((a->ifa_addr->sa_family == AF_INET &&
					    !memcmp(&four->sin_addr, &address[12], 4)) ||
					   (a->ifa_addr->sa_family == AF_INET6 &&
						   !memcmp(&six->sin6_addr, address, 16))))
			add_interface(v, a->ifa_name);
	}
	freeifaddrs(all);
}

/* Whether a socket listens where a connection came in. */
static bool is_listener(const struct tcp_socket *s, const struct tcp_socket *connection)
{
	static const uint8_t any[16], any_of_4[16] = {[10] = 0xff, [11] = 0xff};

	return s->listens && s->local_port == connection->local_port &&
	       (!memcmp(s->local, any, 16) || !memcmp(s->local, any_of_4, 16) ||
		       !memcmp(s->local, connection->local, 16));
}

/* Sockets of systemd that listen on a port; they start a service for the first connection, or one
 * for each. */
static void socket_units_are_needed(const struct view *v, int port, const char *why)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(freep) char *end = text_format(":%d", port), *alone = text_format("%d", port);
	const char *name, *path;

	if (!v->bus ||
		sd_bus_call_method(v->bus, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD ".Manager",
			"ListUnitsByPatterns", NULL, &reply, "asas", 1, "active", 1,
			"*.socket") < 0 ||
		sd_bus_message_enter_container(reply, 'a', "(ssssssouso)") < 0)
		return;
	while (sd_bus_message_read(reply, "(ssssssouso)", &name, NULL, NULL, NULL, NULL, NULL,
		       &path, NULL, NULL, NULL) > 0) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *listen = NULL;
		const char *address;

		if (sd_bus_get_property(v->bus, SYSTEMD, path, SYSTEMD ".Socket", "Listen", NULL,
			    &listen, "a(ss)") < 0 ||
			sd_bus_message_enter_container(listen, 'a', "(ss)") < 0)
			continue;
		while (sd_bus_message_read(listen, "(ss)", NULL, &address) > 0) {
			size_t len = strlen(address), tail = strlen(end);

			if (!strcmp(address, alone) ||
				(len > tail && !strcmp(address + len - tail, end)))
				reason_add(v->reasons, name, why);
		}
	}
}

/* A connection of a login: who listens there, who is at its other end on this machine, its
 * interface. */
static void connection_is_needed(struct view *v, const struct tcp_socket *c)
{
	_cleanup_(freep) char *at = text_format("a login came in at its port %d", c->local_port);

	add_interface_of(v, c->local);
	for (size_t i = 0; i < v->n_tcp; i++) {
		const struct tcp_socket *s = &v->tcp[i];
		bool listens = is_listener(s, c), other_end = s->local_port == c->remote_port &&
							      s->remote_port == c->local_port &&
							      !memcmp(s->local, c->remote, 16) &&
							      !memcmp(s->remote, c->local, 16);

		if (!listens && !other_end)
			continue;
		for (size_t k = 0; k < v->n_held; k++) {
			if (!s->inode || v->held[k].inode != s->inode)
				continue;
			if (listens && v->held[k].pid == 1)
				socket_units_are_needed(v, c->local_port, at);
			process_is_needed(
				v, v->held[k].pid, "%s", listens ? at : "a login comes through it");
		}
	}
}

/* "10.0.0.5 50000 10.0.0.1 22" */
static bool parse_ssh_connection(const char *text, struct tcp_socket *ret)
{
	char remote[64], local[64];
	struct tcp_socket s = {};
	bool valid = sscanf(text, "%63s %d %63s %d", remote, &s.remote_port, local,
			     &s.local_port) == 4;

	for (int i = 0; i < 2 && valid; i++) {
		uint8_t *into = i ? s.local : s.remote;
		char *address = i ? local : remote;

		address[strcspn(address, "%")] = '\0'; /* "fe80::1%eth0" */
		memset(into, 0, 10);
		into[10] = into[11] = 0xff;
		valid = inet_pton(AF_INET, address, &into[12]) == 1 ||
			inet_pton(AF_INET6, address, into) == 1;
	}
	*ret = s;
	return valid;
}

/* SSH_CONNECTION of a process, which sudo does not pass on. */
static void read_ssh_connection(struct view *v, pid_t pid)
{
	static const char key[] = "SSH_CONNECTION=";
	_cleanup_(freep) char *path = text_format("/proc/%d/environ", pid);
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	_cleanup_(freep) char *word = NULL;
	size_t capacity = 0;
	struct tcp_socket connection;

	while (file && getdelim(&word, &capacity, '\0', file) > 0)
		if (!strncmp(word, key, strlen(key)) &&
			parse_ssh_connection(word + strlen(key), &connection))
			connection_is_needed(v, &connection);
}

/* What a process was started from, up to the first of all. */
static void ancestors_are_needed(struct view *v, pid_t pid, const char *why)
{
	struct seen *process;

	for (; pid > 1 && (process = seen_find(v, pid)) && !process->of_login;
		pid = process->parent) {
		process->of_login = true;
		process_is_needed(v, pid, "%s", why);
	}
}

static void remote_sessions_are_needed(struct view *v)
{
	_cleanup_(argv_freep) char **sessions = NULL;

	if (!v->bus || sd_get_sessions(&sessions) < 0)
		return;
	for (char **session = sessions; session && *session; session++) {
		_cleanup_(freep) char *path = NULL;
		uint32_t leader = 0;

		if (sd_session_is_remote(*session) > 0 &&
			sd_bus_path_encode(LOGIND_OBJECT "/session", *session, &path) >= 0 &&
			sd_bus_get_property_trivial(v->bus, LOGIND, path, LOGIND ".Session",
				"Leader", NULL, 'u', &leader) >= 0)
			ancestors_are_needed(
				v, (pid_t)leader, "a remote login was started from it");
	}
}

static void logins_are_needed(struct view *v)
{
	ancestors_are_needed(v, getpid(), "this emp-setup was started from it");
	remote_sessions_are_needed(v);
	for (size_t i = 0; i < v->n_processes; i++) {
		const int tty = v->processes[i].tty, major = tty >> 8 & 0xfff;

		if (major >= FIRST_PTY_MAJOR && major <= LAST_PTY_MAJOR)
			ancestors_are_needed(v, v->processes[i].pid, "a terminal is open in it");
	}
	for (pid_t pid = getpid(); pid > 1;) {
		const struct seen *process = seen_find(v, pid);

		read_ssh_connection(v, pid);
		pid = process ? process->parent : 0;
	}
	for (size_t i = 0; i < v->n_held; i++) {
		const struct seen *process = seen_find(v, v->held[i].pid);

		for (size_t k = 0; process && process->of_login && v->held[i].inode && k < v->n_tcp;
			k++) {
			const struct tcp_socket *s = &v->tcp[k];
			bool came_in = false;

			if (s->inode != v->held[i].inode || s->listens)
				continue;
			for (size_t m = 0; m < v->n_tcp && !came_in; m++)
				came_in = is_listener(&v->tcp[m], s);
			if (came_in)
				connection_is_needed(v, s);
		}
	}
}

/* The network. */

static void read_default_routes(struct view *v)
{
	enum { UP = 1, REJECT = 0x200 };
	_cleanup_(freep) char *four = path_text(AT_FDCWD, "/proc/net/route"),
			      *six = path_text(AT_FDCWD, "/proc/net/ipv6_route");
	char name[IFNAMSIZ];
	unsigned int destination, flags, mask;

	for (char *rest = four, *line; (line = strsep(&rest, "\n"));)
		if (sscanf(line, "%15s %x %*x %x %*d %*d %*d %x", name, &destination, &flags,
			    &mask) == 4 &&
			destination == 0 && mask == 0 && (flags & (UP | REJECT)) == UP)
			add_interface(v, name);
	for (char *rest = six, *line; (line = strsep(&rest, "\n"));)
		if (sscanf(line,
			    "00000000000000000000000000000000 00 %*s %*s %*s %*s %*s %*s %x %15s",
			    &flags, name) == 2 &&
			(flags & (UP | REJECT)) == UP)
			add_interface(v, name);
}

static void socket_is_needed(const struct view *v, uint64_t inode, const char *why)
{
	for (size_t i = 0; inode && i < v->n_held; i++)
		if (v->held[i].inode == inode)
			process_is_needed(v, v->held[i].pid, "%s", why);
}

static bool is_loopback(const uint8_t address[16])
{
	static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff}, six[16] = {[15] = 1};

	return memcmp(address, four, sizeof(four)) == 0 ? address[12] == 127
							: memcmp(address, six, sizeof(six)) == 0;
}

/* A server for the log messages of other machines listens there: syslog, also with TLS, and
 * RELP. */
static void log_server_is_needed(const struct view *v, const struct tcp_socket *s)
{
	static const int ports[] = {514, 601, 2514, 6514, 10514, 20514};

	for (size_t i = 0; i < ELEMENTS(ports) && !is_loopback(s->local); i++)
		if (s->local_port == ports[i])
			socket_is_needed(v, s->inode, "other machines send their messages to it");
}

/* Sockets of DHCP and of log servers, and packet sockets, which DHCP and the authentication of WLAN
 * and 802.1X use. Those for all protocols record what passes. */
static void network_sockets_are_needed(const struct view *v)
{
	enum { DHCP = 68, DHCP6 = 546, ALL_PROTOCOLS = 3 };
	_cleanup_(freep) char *packet = path_text(AT_FDCWD, "/proc/net/packet");
	unsigned int protocol, interface;
	uint64_t inode;

	for (int i = 0; i < 2; i++) {
		_cleanup_(freep) char *udp = path_text(
			AT_FDCWD, i ? "/proc/net/udp6" : "/proc/net/udp");
		struct tcp_socket s; /* a line of UDP has the same columns */

		for (char *rest = udp, *line; (line = strsep(&rest, "\n"));) {
			if (!tcp_socket_parse(line, &s))
				continue;
			log_server_is_needed(v, &s);
			if (s.local_port == DHCP || s.local_port == DHCP6)
				socket_is_needed(v, s.inode, "the machine has its address from it");
		}
	}
	for (size_t i = 0; i < v->n_tcp; i++)
		if (v->tcp[i].listens)
			log_server_is_needed(v, &v->tcp[i]);
	for (char *rest = packet, *line; (line = strsep(&rest, "\n"));)
		for (size_t i = 0; i < v->n_interfaces; i++)
			if (sscanf(line, "%*s %*s %*s %x %u %*s %*s %*s %" SCNu64, &protocol,
				    &interface, &inode) == 3 &&
				protocol != ALL_PROTOCOLS && interface &&
				interface == if_nametoindex(v->interfaces[i]))
				socket_is_needed(v, inode,
					text_brief("it keeps the network interface %s up",
						v->interfaces[i]));
}

/* Units by what they own: an interface, or the name of a network manager on the bus. */
static void owners_are_needed(const struct view *v)
{
	static const char *const managers[] = {"org.freedesktop.NetworkManager",
		"fi.w1.wpa_supplicant1", "net.connman", "net.connman.iwd"};

	for (size_t i = 0; i < v->n_interfaces; i++) {
		const char *name = v->interfaces[i];
		_cleanup_(freep) char *uevent = path_text(
					      AT_FDCWD, "/sys/class/net/%s/uevent", name),
				      *why = text_format("it owns the network interface %s", name);
		bool ppp = !strncmp(name, "ppp", strlen("ppp"));

		for (size_t k = 0; k < v->n_held; k++) {
			const struct held *held = &v->held[k];

			if (!held->inode && (!strcmp(held->interface, name) ||
						    (ppp && !strcmp(held->interface, "ppp"))))
				process_is_needed(v, held->pid, "%s", why);
		}
		if (ppp || strstr(uevent ?: "", "DEVTYPE=wwan"))
			reason_add(v->reasons, "ModemManager.service", why);
		if (strstr(uevent ?: "", "DEVTYPE=bluetooth"))
			reason_add(v->reasons, "bluetooth.service", why);
	}
	for (size_t i = 0; v->bus && i < ELEMENTS(managers); i++) {
		_cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
		pid_t pid;

		if (sd_bus_get_name_creds(v->bus, managers[i], SD_BUS_CREDS_PID, &creds) >= 0 &&
			sd_bus_creds_get_pid(creds, &pid) >= 0)
			process_is_needed(v, pid, "it manages the network");
	}
}

/* NULL: there is none. */
static sd_bus *open_bus(void)
{
	sd_bus *bus = NULL;

	if (sd_bus_open_system(&bus) < 0)
		return NULL;
	sd_bus_set_method_call_timeout(bus, TIMEOUT_US);
	return bus;
}

void units_needed(struct unit_reasons *ret)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = open_bus();
	struct view v = {.bus = bus, .reasons = ret};

	read_processes(&v);
	read_tcp(&v);
	logins_are_needed(&v);
	read_default_routes(&v);
	network_sockets_are_needed(&v);
	owners_are_needed(&v);
	for (size_t i = 0; i < v.n_interfaces; i++)
		free(v.interfaces[i]);
	free(v.interfaces);
	free(v.processes);
	free(v.held);
	free(v.tcp);
}

/* The inhibitor of a unit's own process, or of a client that gives its daemon's name ("fwupd"). */
void units_busy(struct unit_reasons *ret)
{
	size_t n;
	struct inhibitor *all = inhibitors_read(&n);

	for (size_t i = 0; i < n; i++) {
		const struct inhibitor *one = &all[i];
		_cleanup_(freep) char *unit = NULL, *named = text_format("%s.service", one->who),
				      *text = text_format(
					      "%s (%s, PID %d)", one->why, one->who, one->pid);

		if (!strstr(one->what, "shutdown") && !strstr(one->what, "sleep") &&
			!strstr(one->what, "idle"))
			continue;
		if (sd_pid_get_unit(one->pid, &unit) >= 0)
			reason_add(ret, unit, text);
		reason_add(ret, named, text);
	}
	inhibitors_free(all, n);
}
