// SPDX-License-Identifier: BSD-2-Clause
#include "run/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/diag.h"
#include "report/openmetrics.h"
#include "run/microhttpd.h"

#ifdef HAVE_MICROHTTPD

/*
 * Of each address. A connection takes a descriptor and at most so much memory; answers are shared
 * by all. A scraper asks at once, and reads as fast as it can.
 */
#define MOST_CONNECTIONS 128U
#define CONNECTION_BYTES ((size_t)8192)
#define SILENT_SECONDS 3U
#define CONNECTION_NS (10 * NSEC_PER_SEC)

/* The formats of the answer. */
enum {
	AS_OPENMETRICS,
	AS_PROMETHEUS,
	AS_NEITHER,
};

struct connection {
	int fd;                 /* the library's */
	u64 since_ns;           /* 0: a free place */
};

struct listen {
	const struct microhttpd *http;
	struct MHD_Daemon *daemon[LISTEN_MOST_ADDRESSES];
	char place[LISTEN_MOST_ADDRESSES][LISTEN_ADDRESS_SPACE];
	size_t ndaemons;
	int epoll_fd;           /* of those of the daemons */
	struct MHD_Response *newest[AS_NEITHER];
	struct connection connection[LISTEN_MOST_ADDRESSES * MOST_CONNECTIONS];
	listen_refresh refresh;
	void *context;
	int err;                /* of refresh() */
};

/*
 * --- answers -----------------------------------------------------------------------------------
 */

/* A copy of the text. NULL: no memory. */
static struct MHD_Response *make_response(const struct microhttpd *http, const char *text, size_t n,
					  const char *type)
{
	struct MHD_Response *r =
		http->create_response_from_buffer(n, (void *)text, MHD_RESPMEM_MUST_COPY);

	if (!r)
		return NULL;
	if (http->add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	    http->add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	    http->add_response_header(r, "X-Content-Type-Options", "nosniff") == MHD_YES)
		return r;
	http->destroy_response(r);
	return NULL;
}

/* The library counts who still sends a response. MHD_NO closes the connection. */
static enum MHD_Result say(const struct listen *l, struct MHD_Connection *c, unsigned int status,
			   const char *text)
{
	struct MHD_Response *r =
		make_response(l->http, text, strlen(text), "text/plain; charset=utf-8");
	enum MHD_Result result = MHD_NO;

	if (!r)
		return MHD_NO;
	if (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	    l->http->add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES)
		result = l->http->queue_response(c, status, r);
	l->http->destroy_response(r);
	return result;
}

/* Is that range of media among those of the header? */
static bool names(const char *accept, const char *range)
{
	size_t n = strlen(range);

	while (*accept) {
		accept += strspn(accept, " \t,");
		if (!strncasecmp(accept, range, n) && strchr(" \t;,", accept[n]))
			return true;
		accept += strcspn(accept, ",");
	}
	return false;
}

/*
 * OpenMetrics for those who name it, or do not care; the older text format for those who name
 * that. Which of several they like best is theirs to say, but not asked: both say the same.
 */
static int format_for(const char *accept)
{
	if (!accept || names(accept, "application/openmetrics-text"))
		return AS_OPENMETRICS;
	if (names(accept, "text/plain"))
		return AS_PROMETHEUS;
	if (names(accept, "*/*") || names(accept, "application/*"))
		return AS_OPENMETRICS;
	return names(accept, "text/*") ? AS_PROMETHEUS : AS_NEITHER;
}

static enum MHD_Result give_metrics(struct listen *l, struct MHD_Connection *c)
{
	int format = format_for(l->http->lookup_connection_value(c, MHD_HEADER_KIND,
								 MHD_HTTP_HEADER_ACCEPT));

	if (format == AS_NEITHER)
		return say(l, c, MHD_HTTP_NOT_ACCEPTABLE,
			   "There is application/openmetrics-text and text/plain.\n");
	if (!l->err)
		l->err = l->refresh(l->context);
	if (l->err)
		return say(l, c, MHD_HTTP_INTERNAL_SERVER_ERROR, "The counters cannot be read.\n");
	return l->http->queue_response(c, MHD_HTTP_OK, l->newest[format]);
}

static enum MHD_Result answer(void *listen, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **own)
{
	struct listen *l = listen;

	/* What is uploaded is not read: the connection ends with the answer. */
	(void)version, (void)upload, (void)upload_size, (void)own;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return say(l, c, MHD_HTTP_METHOD_NOT_ALLOWED, "There is only GET.\n");
	if (!strcmp(url, "/metrics"))
		return give_metrics(l, c);
	if (!strcmp(url, "/"))
		return say(l, c, MHD_HTTP_OK, "The metrics of tally are at /metrics.\n");
	return say(l, c, MHD_HTTP_NOT_FOUND, "The metrics of tally are at /metrics.\n");
}

int listen__publish(void *listen, const char *text, size_t n)
{
	struct listen *l = listen;
	struct MHD_Response *newest[AS_NEITHER];
	char *plain = prometheus_text(text);
	int i, err = 0;

	newest[AS_OPENMETRICS] = make_response(
		l->http, text, n, "application/openmetrics-text; version=1.0.0; charset=utf-8");
	newest[AS_PROMETHEUS] = plain ? make_response(l->http, plain, strlen(plain),
						      "text/plain; version=0.0.4; charset=utf-8") : NULL;
	free(plain);
	if (!newest[AS_OPENMETRICS] || !newest[AS_PROMETHEUS])
		err = -ENOMEM;
	for (i = 0; i < AS_NEITHER; i++) {
		struct MHD_Response *old = err ? newest[i] : l->newest[i];

		if (!err)
			l->newest[i] = newest[i];
		if (old)
			l->http->destroy_response(old);
	}
	return err;
}

/*
 * --- connections -------------------------------------------------------------------------------
 */

static void note_connection(void *listen, struct MHD_Connection *c, void **own,
			    enum MHD_ConnectionNotificationCode what)
{
	struct listen *l = listen;
	struct connection *place = *own;
	const union MHD_ConnectionInfo *info;
	size_t i;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (place)
			place->since_ns = 0;
		return;
	}
	info = l->http->get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	for (i = 0; i < ARRAY_SIZE(l->connection) && info; i++) {
		if (l->connection[i].since_ns)
			continue;
		l->connection[i] = (struct connection){ info->connect_fd, monotonic_ns() };
		*own = &l->connection[i];
		return;
	}
}

/*
 * The library ends those that are silent. One that says a little again and again would stay: it is
 * seen here each time that it does.
 */
static void end_old_connections(const struct listen *l)
{
	u64 now = monotonic_ns();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(l->connection); i++)
		if (l->connection[i].since_ns && now - l->connection[i].since_ns > CONNECTION_NS)
			shutdown(l->connection[i].fd, SHUT_RDWR);
}

int listen__fd(const struct listen *l)
{
	return l ? l->epoll_fd : -1;
}

int listen__timeout_ms(const struct listen *l)
{
	MHD_UNSIGNED_LONG_LONG ms, least = SILENT_SECONDS * 1000;
	bool any = false;
	size_t i;

	for (i = 0; l && i < l->ndaemons; i++) {
		if (l->http->get_timeout(l->daemon[i], &ms) != MHD_YES)
			continue;
		any = true;
		least = ms < least ? ms : least;
	}
	return any ? (int)least : -1;
}

static unsigned int connections(const struct listen *l, struct MHD_Daemon *d)
{
	const union MHD_DaemonInfo *info =
		l->http->get_daemon_info(d, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

/*
 * Again after connections have ended: where there were as many as there may be, it is the next call
 * that looks for those who wait, and nothing else might wake us.
 */
static int serve_address(const struct listen *l, struct MHD_Daemon *d)
{
	unsigned int before;

	do {
		before = connections(l, d);
		if (l->http->run(d) != MHD_YES)
			return -EIO;
	} while (connections(l, d) < before);
	return 0;
}

int listen__serve(struct listen *l)
{
	size_t i;
	int err = 0;

	end_old_connections(l);
	for (i = 0; i < l->ndaemons && !err; i++)
		err = serve_address(l, l->daemon[i]);
	return l->err ?: err;
}

/*
 * --- ports -------------------------------------------------------------------------------------
 */

/* The port, or a negative errno. */
static int take_port(const union listen_address *a)
{
	socklen_t size = a->any.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
	int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, off = 0, err = 0;

	if (fd < 0)
		return -errno;
	/* Connections that the last run has closed are not in the way; [::] is all of the machine. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, &a->any, size) || listen(fd, SOMAXCONN))
		err = -errno;
	if (err)
		close(fd);
	return err ?: fd;
}

static int start_daemon(struct listen *l, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	const union MHD_DaemonInfo *info = NULL;
	struct MHD_Daemon *d = l->http->start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer, l,
		MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, SILENT_SECONDS,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, l,
		MHD_OPTION_END);

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	l->daemon[l->ndaemons++] = d;   /* the port is its own from here on */
	info = l->http->get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info || info->epoll_fd < 0)
		return -EOPNOTSUPP;
	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, info->epoll_fd, &event) ? -errno : 0;
}

static int add_address(struct listen *l, const union listen_address *a)
{
	char *place = l->place[l->ndaemons];
	int fd = take_port(a), err = fd < 0 ? fd : 0;

	listen_address__format(place, a);
	/* Of the loopback addresses the second one is missing on a machine without IPv6. */
	if (l->ndaemons && (err == -EADDRNOTAVAIL || err == -EAFNOSUPPORT))
		return 0;
	err = err ?: start_daemon(l, fd);
	if (err)
		diag_error("--listen: %s: %s", place, strerror(-err));
	if (err == -EADDRINUSE)
		diag_hint("ss -ltnp shows whose it is");
	return err;
}

int listen__open(struct listen **listen, const struct listen_addresses *a, listen_refresh refresh,
		 void *context)
{
	static const char nothing[] = "# EOF\n";        /* before the first report */
	const struct microhttpd *http = microhttpd__load();
	struct listen *l = http ? calloc(1, sizeof(*l)) : NULL;
	size_t i;
	int err;

	*listen = l;
	if (!l)
		return http ? -ENOMEM : -EOPNOTSUPP;
	l->http = http;
	l->refresh = refresh;
	l->context = context;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = l->epoll_fd < 0 ? -errno : listen__publish(l, nothing, sizeof(nothing) - 1);
	for (i = 0; i < a->n && !err; i++)
		err = add_address(l, &a->address[i]);
	return err;
}

void listen__announce(const struct listen *l)
{
	size_t i;

	for (i = 0; l && i < l->ndaemons; i++)
		diag_hint("metrics at http://%s/metrics", l->place[i]);
}

void listen__close(struct listen *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->ndaemons; i++)
		l->http->stop_daemon(l->daemon[i]);
	for (i = 0; i < AS_NEITHER; i++)
		if (l->newest[i])
			l->http->destroy_response(l->newest[i]);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	free(l);
}

#else /* !HAVE_MICROHTTPD */

int listen__open(struct listen **l, const struct listen_addresses *a, listen_refresh refresh,
		 void *context)
{
	(void)a, (void)refresh, (void)context;
	*l = NULL;
	diag_error("this tally was built without libmicrohttpd, which --listen takes");
	diag_hint("--format openmetrics -o FILE does without it");
	return -EOPNOTSUPP;
}

int listen__publish(void *listen, const char *text, size_t n)
{
	(void)listen, (void)text, (void)n;
	return 0;
}

void listen__announce(const struct listen *l)
{
	(void)l;
}

int listen__fd(const struct listen *l)
{
	(void)l;
	return -1;
}

int listen__timeout_ms(const struct listen *l)
{
	(void)l;
	return -1;
}

int listen__serve(struct listen *l)
{
	(void)l;
	return 0;
}

void listen__close(struct listen *l)
{
	(void)l;
}

#endif
