// SPDX-License-Identifier: BSD-2-Clause
/*
 * packets udp N PORT: N queries of DNS and their replies, between two sockets on loopback, the server at PORT.
 * packets tcp N: N connections on loopback; each is accepted, and the client closes it first.
 * ready, done
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "trigger.h"

static struct sockaddr_in at = { .sin_family = AF_INET };
static socklen_t len = sizeof(at);

static void check(long result, const char *what)
{
	if (result < 0)
		error(1, errno, "%s", what);
}

static int bound(int type, int port)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, type, 0), on = 1;

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(fd, "socket");
	check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), "SO_REUSEADDR");
	check(bind(fd, (struct sockaddr *)&here, sizeof(here)), "bind");
	return fd;
}

static void exchange(long n, int port)
{
	static const unsigned char question[] = "\7example\3com\0\0\1\0";
	unsigned char packet[12 + sizeof(question)] = { 0, 0, 1, 0, 0, 1 };
	int client = bound(SOCK_DGRAM, 0), server = bound(SOCK_DGRAM, port);
	struct sockaddr_in to;

	memcpy(packet + 12, question, sizeof(question));
	packet[sizeof(packet) - 1] = 1;
	check(getsockname(server, (struct sockaddr *)&to, &len), "getsockname");
	check(getsockname(client, (struct sockaddr *)&at, &len), "getsockname");
	while (n--) {
		packet[0] = n >> 8;
		packet[1] = n;
		packet[2] = 1;
		check(sendto(client, packet, sizeof(packet), 0, (struct sockaddr *)&to, sizeof(to)), "send");
		check(recv(server, packet, sizeof(packet), 0), "recv");
		packet[2] |= 0x80;
		check(sendto(server, packet, sizeof(packet), 0, (struct sockaddr *)&at, sizeof(at)), "send");
		check(recv(client, packet, sizeof(packet), 0), "recv");
	}
}

static void connect_all(long n)
{
	int server = bound(SOCK_STREAM, 0), client, accepted;
	char byte;

	check(listen(server, 16), "listen");
	check(getsockname(server, (struct sockaddr *)&at, &len), "getsockname");
	while (n--) {
		client = socket(AF_INET, SOCK_STREAM, 0);
		check(client, "socket");
		check(connect(client, (struct sockaddr *)&at, sizeof(at)), "connect");
		accepted = accept(server, NULL, NULL);
		check(accepted, "accept");
		close(client);
		check(recv(accepted, &byte, 1, 0), "recv");
		close(accepted);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	long n = trigger__number(argc, argv, 2);

	trigger__name();
	trigger__say("ready");
	trigger__wait();
	if (!strcmp(kind, "udp"))
		exchange(n, trigger__number(argc, argv, 3));
	else
		connect_all(n);
	trigger__say("done");
	trigger__end();
}
