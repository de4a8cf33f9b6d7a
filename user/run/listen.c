// SPDX-License-Identifier: BSD-2-Clause
#include "run/listen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "report/diag.h"
#include "report/openmetrics.h"
#include "run/microhttpd.h"
#include "run/profiling.h"

#ifdef HAVE_MICROHTTPD

/*
 * Limits per address. A connection takes a descriptor and at most CONNECTION_BYTES; all connections share the answers.
 * Scrapers send their request at once and read as fast as they can.
 */
#define MOST_CONNECTIONS 128U
#define CONNECTION_BYTES ((size_t)8192)
#define SILENT_SECONDS 3U
#define CONNECTION_NS (10 * NSEC_PER_SEC)

/* A connection that ends without an answer after this time is counted as dropped. Must be less than SILENT_SECONDS. */
#define SLOW_NS (2 * NSEC_PER_SEC)

/* Connections kept free for new clients: more than the library accepts in one call. */
#define FREE_PLACES 16U

/*
 * With a thread: the run's loop turns at least once per TURN_MS, and /-/healthy fails if it has not turned for
 * STUCK_NS. Reading the maps of many measurements takes seconds on a busy machine.
 */
#define TURN_MS 10000
#define STUCK_NS (60 * NSEC_PER_SEC)

#define LONGEST_PROFILE 60      /* s; as short as scrapers of profiles have it */
#define USUAL_PROFILE "10"

#define STACK_BYTES ((size_t)256 << 10) /* of the thread, regardless of ulimit -s */

/* Formats of the answer. */
enum {
	AS_OPENMETRICS,
	AS_PROMETHEUS,
	AS_NEITHER,
};

struct connection {
	int fd;                 /* owned by the library */
	struct MHD_Daemon *daemon;
	u64 since_ns;           /* 0: a free entry */
	bool answered;          /* the kernel has taken the whole answer */
	bool ended;             /* shut down here, but not yet noticed by the library */
	bool waits;             /* waits for its profile */
};

struct listen {
	const struct microhttpd *http;
	struct MHD_Daemon *daemon[LISTEN_MOST_ADDRESSES];
	char place[LISTEN_MOST_ADDRESSES][LISTEN_ADDRESS_SPACE];
	size_t ndaemons;
	int epoll_fd;           /* watches the epoll descriptors of the daemons */
	struct MHD_Response *newest[AS_NEITHER];
	struct connection connection[LISTEN_MOST_ADDRESSES * MOST_CONNECTIONS];
	listen_refresh refresh; /* NULL: a thread serves */
	void *context;
	int err;                /* from refresh(), or of the thread */
	bool is_ready;
	bool is_ready_next; /* becomes ready with the next text */
	u64 turned_ns;          /* last turn of the loop; 0: it has not begun */
	struct listen_counts counts;
	pthread_mutex_t lock;   /* protects all of the above; the thread releases it only while it waits */
	pthread_t thread;
	bool has_thread;
	int stop_fd;            /* ends the thread */
	bool profiles;
	struct profiling profile;
	struct MHD_Connection *client;  /* waits for the profile, suspended until it is made; NULL: none */
	bool client_left;
	int made;               /* the profile, or a negative errno */
};

/*
 * --- answers -----------------------------------------------------------------------------------
 */

/* Copies the text. Returns NULL if out of memory. */
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

/* Sends a text. The library holds a reference for each response being sent. MHD_NO closes the connection. */
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

/* True if the Accept header lists that media range. */
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
 * OpenMetrics for clients that name it or accept anything; the older text format for clients that name only text/plain.
 * Quality values are ignored: both formats carry the same data.
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
			   "Available: application/openmetrics-text and text/plain.\n");
	if (!l->err && l->refresh)
		l->err = l->refresh(l->context);
	if (l->err)
		return say(l, c, MHD_HTTP_INTERNAL_SERVER_ERROR, "The counters cannot be read.\n");
	return l->http->queue_response(c, MHD_HTTP_OK, l->newest[format]);
}

static struct connection *place_of(const struct listen *l, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = l->http->get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Sends the profile. The response owns its descriptor. */
static enum MHD_Result hand_over_profile(struct listen *l, struct MHD_Connection *c)
{
	struct MHD_Response *r;
	enum MHD_Result result = MHD_NO;
	off_t n = l->made < 0 ? 0 : lseek(l->made, 0, SEEK_END);

	l->client = NULL;
	if (l->made < 0)
		return say(l, c, MHD_HTTP_INTERNAL_SERVER_ERROR, "The profile failed; see tally's messages.\n");
	r = n < 0 ? NULL : l->http->create_response_from_fd(n, l->made);
	if (!r) {
		close(l->made);
		return MHD_NO;
	}
	if (l->http->add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "application/octet-stream") == MHD_YES &&
	    l->http->add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	    l->http->add_response_header(r, "X-Content-Type-Options", "nosniff") == MHD_YES)
		result = l->http->queue_response(c, MHD_HTTP_OK, r);
	l->http->destroy_response(r);
	return result;
}

/* Starts a profile. The library calls this again when the connection is resumed, to send the profile. */
static enum MHD_Result give_profile(struct listen *l, struct MHD_Connection *c)
{
	const char *text = l->http->lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "seconds");
	struct connection *place = place_of(l, c);
	u64 seconds;

	if (c == l->client)
		return hand_over_profile(l, c);
	if (!l->profiles)
		return say(l, c, MHD_HTTP_NOT_FOUND, "Profiles need --profiles.\n");
	if (parse_u64_between(text ?: USUAL_PROFILE, 1, LONGEST_PROFILE, &seconds))
		return say(l, c, MHD_HTTP_BAD_REQUEST, "seconds: expected 1 to 60.\n");
	if (l->client)
		return say(l, c, MHD_HTTP_SERVICE_UNAVAILABLE, "A profile for another client is in progress.\n");
	if (!place || !l->has_thread || profiling__start(&l->profile, seconds))
		return say(l, c, MHD_HTTP_INTERNAL_SERVER_ERROR, "The profile cannot be started.\n");
	place->waits = true;
	l->client = c;
	l->client_left = false;
	l->made = -EINTR;
	l->http->suspend_connection(c);
	return MHD_YES;
}

static enum MHD_Result answer(void *listen, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **own)
{
	struct listen *l = listen;

	/* Request bodies are not read: the answer ends the connection. */
	(void)version, (void)upload, (void)upload_size, (void)own;
	l->counts.requests += c != l->client;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return say(l, c, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD are supported.\n");
	if (!strcmp(url, "/metrics"))
		return give_metrics(l, c);
	if (!strcmp(url, "/profile"))
		return give_profile(l, c);
	if (!strcmp(url, "/-/healthy") && l->turned_ns && monotonic_ns() - l->turned_ns > STUCK_NS)
		return say(l, c, MHD_HTTP_SERVICE_UNAVAILABLE, "Nothing was read for a minute.\n");
	if (!strcmp(url, "/-/healthy"))
		return say(l, c, MHD_HTTP_OK, "Measuring.\n");
	if (!strcmp(url, "/-/ready") && l->is_ready)
		return say(l, c, MHD_HTTP_OK, "Figures are available.\n");
	if (!strcmp(url, "/-/ready"))
		return say(l, c, MHD_HTTP_SERVICE_UNAVAILABLE, "The first interval has not ended.\n");
	if (!strcmp(url, "/"))
		return say(l, c, MHD_HTTP_OK, "Metrics are at /metrics.\n");
	return say(l, c, MHD_HTTP_NOT_FOUND, "Metrics are at /metrics.\n");
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
	pthread_mutex_lock(&l->lock);
	l->is_ready |= l->is_ready_next && !err;
	for (i = 0; i < AS_NEITHER; i++) {
		struct MHD_Response *old = err ? newest[i] : l->newest[i];

		if (!err)
			l->newest[i] = newest[i];
		if (old)
			l->http->destroy_response(old);
	}
	pthread_mutex_unlock(&l->lock);
	return err;
}

/*
 * --- connections -------------------------------------------------------------------------------
 */

static unsigned int connections(const struct listen *l, struct MHD_Daemon *d)
{
	const union MHD_DaemonInfo *info =
		l->http->get_daemon_info(d, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info ? info->num_connections : 0;
}

static void end_connection(struct listen *l, struct connection *c)
{
	c->ended = true;
	l->counts.dropped++;
	shutdown(c->fd, SHUT_RDWR);
}

/* Ends the oldest connection if few are free. Scrapers finish within moments, so it is not a scraper. */
static void make_room(struct listen *l, struct MHD_Daemon *d)
{
	struct connection *oldest = NULL, *c;
	unsigned int n = 0;

	for (c = l->connection; c < l->connection + ARRAY_SIZE(l->connection); c++) {
		if (!c->since_ns || c->ended || c->waits || c->daemon != d)
			continue;
		n++;
		if (!oldest || c->since_ns < oldest->since_ns)
			oldest = c;
	}
	if (n > MOST_CONNECTIONS - FREE_PLACES)
		end_connection(l, oldest);
}

static void note_connection(void *listen, struct MHD_Connection *c, void **own,
			    enum MHD_ConnectionNotificationCode what)
{
	struct listen *l = listen;
	struct connection *place = *own;
	const union MHD_ConnectionInfo *info, *daemon;
	size_t i;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c == l->client) {
			l->client = NULL;
			if (l->made >= 0)
				close(l->made);
		}
		if (!place)
			return;
		l->counts.dropped += !place->ended && !place->answered && monotonic_ns() - place->since_ns > SLOW_NS;
		place->since_ns = 0;
		return;
	}
	info = l->http->get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	daemon = l->http->get_connection_info(c, MHD_CONNECTION_INFO_DAEMON);
	for (i = 0; i < ARRAY_SIZE(l->connection) && info && daemon; i++) {
		if (l->connection[i].since_ns)
			continue;
		l->connection[i] = (struct connection){
			.fd = info->connect_fd, .daemon = daemon->daemon, .since_ns = monotonic_ns(),
		};
		*own = &l->connection[i];
		make_room(l, daemon->daemon);
		return;
	}
}

static void note_answer(void *listen, struct MHD_Connection *c, void **own, enum MHD_RequestTerminationCode how)
{
	struct listen *l = listen;
	struct connection *place = place_of(l, c);

	(void)own;
	if (place && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		place->answered = true;
}

/*
 * The library closes silent connections. A client that sends a little from time to time would remain, so its age is
 * checked here each time it sends.
 */
static void end_old_connections(struct listen *l)
{
	u64 now = monotonic_ns();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(l->connection); i++)
		if (l->connection[i].since_ns && !l->connection[i].ended && !l->connection[i].waits &&
		    now - l->connection[i].since_ns > CONNECTION_NS)
			end_connection(l, &l->connection[i]);
}

/* Returns the time until a client has been silent for too long; -1: no client is connected. */
static int timeout_ms(const struct listen *l)
{
	MHD_UNSIGNED_LONG_LONG ms, least = SILENT_SECONDS * 1000;
	bool any = false;
	size_t i;

	for (i = 0; i < l->ndaemons; i++) {
		if (l->http->get_timeout(l->daemon[i], &ms) != MHD_YES)
			continue;
		any = true;
		least = ms < least ? ms : least;
	}
	return any ? (int)least : -1;
}

/*
 * Runs the daemon again after connections have ended. At the connection limit, the library accepts waiting clients only
 * in its next call, and no event would wake us for that call.
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

static int serve_all(struct listen *l)
{
	size_t i;
	int err = 0;

	end_old_connections(l);
	for (i = 0; i < l->ndaemons && !err; i++)
		err = serve_address(l, l->daemon[i]);
	return l->err ?: err;
}

/*
 * --- the thread --------------------------------------------------------------------------------
 */

/* Ends the profile. The client's time to read it begins now. */
static void end_profile(struct listen *l)
{
	struct connection *place = place_of(l, l->client);

	l->made = profiling__end(&l->profile);
	if (place) {
		place->waits = false;
		place->since_ns = monotonic_ns();
	}
	l->http->resume_connection(l->client);
}

/*
 * Returns the socket of the suspended client, which the library does not watch; -1: none. A client that has closed it
 * is assumed not to read the profile, even if it has closed only its half of the connection: an HTTP server cannot
 * distinguish the two before it writes.
 */
static int client_fd(const struct listen *l)
{
	const struct connection *place = l->profile.pid && !l->client_left ? place_of(l, l->client) : NULL;

	return place ? place->fd : -1;
}

static void *serve(void *listen)
{
	enum { LIBRARY, STOP, PROFILE, CLIENT };
	struct listen *l = listen;
	struct pollfd wait[] = {
		[LIBRARY] = { l->epoll_fd, POLLIN, 0 }, [STOP] = { l->stop_fd, POLLIN, 0 },
		[PROFILE] = { -1, POLLIN, 0 }, [CLIENT] = { -1, POLLRDHUP, 0 },
	};
	int ms, err;

	do {
		pthread_mutex_lock(&l->lock);
		if (wait[PROFILE].revents) {
			end_profile(l);
		} else if (wait[CLIENT].revents) {
			l->client_left = true;
			profiling__kill(&l->profile);
		}
		err = l->err = serve_all(l);
		ms = timeout_ms(l);
		wait[PROFILE].fd = l->profile.pid ? l->profile.pidfd : -1;
		wait[CLIENT].fd = client_fd(l);
		pthread_mutex_unlock(&l->lock);
		if (!err)
			poll(wait, ARRAY_SIZE(wait), ms);
	} while (!err && !wait[STOP].revents);
	return NULL;
}

/*
 * Starts the thread, which blocks all signals: the loop handles them. If no thread can be created (process limit), the
 * loop serves.
 */
static int start_thread(struct listen *l)
{
	sigset_t all, before;
	pthread_attr_t attr;

	l->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (l->stop_fd < 0)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_attr_init(&attr)) {
		pthread_attr_setstacksize(&attr, STACK_BYTES);
		l->has_thread = !pthread_create(&l->thread, &attr, serve, l);
		pthread_attr_destroy(&attr);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return 0;
}

static void end_thread(struct listen *l)
{
	if (l->has_thread) {
		eventfd_write(l->stop_fd, 1);
		pthread_join(l->thread, NULL);
	}
	/* The library does not end suspended connections. */
	if (l->profile.pid) {
		profiling__stop(&l->profile);
		l->made = -EINTR;
		l->http->resume_connection(l->client);
	}
	if (l->stop_fd >= 0)
		close(l->stop_fd);
}

/*
 * --- the loop ----------------------------------------------------------------------------------
 */

int listen__fd(const struct listen *l)
{
	return l && !l->has_thread ? l->epoll_fd : -1;
}

int listen__timeout_ms(const struct listen *l)
{
	if (!l)
		return -1;
	return l->has_thread ? TURN_MS : timeout_ms(l);
}

int listen__serve(struct listen *l)
{
	int err;

	pthread_mutex_lock(&l->lock);
	l->turned_ns = monotonic_ns();
	err = l->has_thread ? l->err : 0;
	pthread_mutex_unlock(&l->lock);
	/* Without a thread, no lock is needed, and this call may make the answer, by listen__publish(). */
	return l->has_thread ? err : serve_all(l);
}

void listen__set_ready(struct listen *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->is_ready_next = true;
	pthread_mutex_unlock(&l->lock);
}

struct listen_counts listen__counts(struct listen *l)
{
	struct listen_counts counts;

	pthread_mutex_lock(&l->lock);
	counts = l->counts;
	pthread_mutex_unlock(&l->lock);
	return counts;
}

/*
 * --- ports -------------------------------------------------------------------------------------
 */

/* Returns the listening socket or a negative errno. */
static int take_port(const union listen_address *a)
{
	socklen_t size = a->any.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
	int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, off = 0, err = 0;

	if (fd < 0)
		return -errno;
	/*
	 * Lets us bind while connections of an earlier run are in TIME_WAIT; [::] covers IPv4, too.
	 */
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
		MHD_USE_EPOLL | (l->profiles ? MHD_ALLOW_SUSPEND_RESUME : 0), 0, NULL, NULL, answer, l,
		MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, MOST_CONNECTIONS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, SILENT_SECONDS,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, l,
		MHD_OPTION_NOTIFY_COMPLETED, note_answer, l,
		MHD_OPTION_END);

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	l->daemon[l->ndaemons++] = d;   /* the daemon owns the socket now */
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
	/* The second loopback address, ::1, is missing on a machine without IPv6. */
	if (l->ndaemons && (err == -EADDRNOTAVAIL || err == -EAFNOSUPPORT))
		return 0;
	err = err ?: start_daemon(l, fd);
	if (err)
		diag_error("--listen: %s: %s", place, strerror(-err));
	if (err == -EADDRINUSE)
		diag_hint("ss -ltnp shows the process that uses it");
	return err;
}

int listen__open(struct listen **listen, const struct listen_addresses *a, bool profiles, listen_refresh refresh,
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
	l->stop_fd = -1;
	l->profiles = profiles;
	pthread_mutex_init(&l->lock, NULL);
	l->refresh = refresh;
	l->context = context;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = l->epoll_fd < 0 ? -errno : listen__publish(l, nothing, sizeof(nothing) - 1);
	for (i = 0; i < a->n && !err; i++)
		err = add_address(l, &a->address[i]);
	return err || refresh ? err : start_thread(l);
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
	end_thread(l);
	for (i = 0; i < l->ndaemons; i++)
		l->http->stop_daemon(l->daemon[i]);
	for (i = 0; i < AS_NEITHER; i++)
		if (l->newest[i])
			l->http->destroy_response(l->newest[i]);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

#else /* !HAVE_MICROHTTPD */

void listen__set_ready(struct listen *l)
{
	(void)l;
}

struct listen_counts listen__counts(struct listen *l)
{
	(void)l;
	return (struct listen_counts){};
}

int listen__open(struct listen **l, const struct listen_addresses *a, bool profiles, listen_refresh refresh,
		 void *context)
{
	(void)a, (void)profiles, (void)refresh, (void)context;
	*l = NULL;
	diag_error("built without libmicrohttpd, which --listen needs");
	diag_hint("--format openmetrics -o FILE works without it");
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
