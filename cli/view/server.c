/* server.c - see server.h.
 *
 * One thread and poll(). A connection carries one request and one reply, and goes through these states:
 *
 *     READING   until the head of the request is complete, for at most READING_MS
 *     SENDING   head and body of the reply, as fast as the client takes them; ends after SENDING_MS without progress
 *     CLOSING   discards input for CLOSING_MS, because closing with unread input could cost the client the end of the reply
 *     HOLDING   nothing is sent or expected; the connection ends when the page is closed
 *
 * There are at most MOST connections. A new one replaces the oldest that is READING or CLOSING. So a client that opens a thousand
 * silent connections does not block other clients; it costs only a thousand calls of accept() and close(). */
#include "server.h"

#include "shared/interrupt.h"
#include "print/tty.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL /* without this flag SIGPIPE would be raised, but this program ignores it */
#define MSG_NOSIGNAL 0
#endif

enum { MOST = 64, BACKLOG = 128, READING_MS = 10000, SENDING_MS = 30000, CLOSING_MS = 1000, TICK_MS = 250, HEARD_OUT = 1 << 20 };

enum state { FREE, READING, SENDING, CLOSING, HOLDING };

struct connection {
  int fd;
  enum state state;
  uint64_t since; /* time when it entered its state or last sent bytes, in ms */
  char *head;     /* head of the request; room for VIEW_HEAD_MOST bytes */
  size_t n;       /* number of bytes in head; in the states CLOSING and HOLDING: number of bytes discarded */
  char reply[2048];
  size_t reply_size, sent; /* sent: bytes of reply and body together */
  struct view_reply body;
};

struct view_server {
  int fd;
  struct connection connections[MOST];
};

uint64_t view_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- opening and closing ---- */

static bool set_up(int fd) {
  return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

static bool listen_on(int fd, uint16_t *port) {
  struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  socklen_t size = sizeof at;
  const int yes = 1;
  /* Allows a port that was just released, but not a port that another program listens on. */
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (!set_up(fd) || bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, BACKLOG) != 0) return false;
  if (getsockname(fd, (struct sockaddr *)&at, &size) != 0) return false;
  *port = ntohs(at.sin_port);
  return true;
}

struct view_server *view_server_open(uint16_t *port) {
  struct view_server *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (s->fd >= 0 && listen_on(s->fd, port)) return s;
  const int why = errno;
  view_server_close(s);
  errno = why;
  return NULL;
}

static void drop(struct connection *c) {
  if (c->state == FREE) return;
  close(c->fd);
  free(c->head);
  free(c->body.owned);
  *c = (struct connection){ .state = FREE };
}

void view_server_close(struct view_server *s) {
  if (!s) return;
  for (size_t i = 0; i < MOST; i++) drop(&s->connections[i]);
  if (s->fd >= 0) close(s->fd);
  free(s);
}

/* ---- states ---- */

static void enter(struct connection *c, enum state state) {
  c->state = state;
  c->since = view_now_ms();
}

/* Returns a free place for a new connection, if necessary by dropping the oldest connection that is READING or CLOSING; NULL if
 * all connections are SENDING or HOLDING. */
static struct connection *find_place(struct view_server *s) {
  struct connection *oldest = NULL;
  for (size_t i = 0; i < MOST; i++) {
    struct connection *c = &s->connections[i];
    if (c->state == FREE) return c;
    if ((c->state == READING || c->state == CLOSING) && (!oldest || c->since < oldest->since)) oldest = c;
  }
  if (oldest) drop(oldest);
  return oldest;
}

static void accept_all(struct view_server *s) {
  for (int i = 0; i < BACKLOG; i++) {
    const int fd = accept(s->fd, NULL, NULL);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) poll(NULL, 0, TICK_MS); /* no descriptors are left, so wait for a while */
    if (fd < 0) return;
    struct connection *c = set_up(fd) ? find_place(s) : NULL;
    char *head = c ? malloc(VIEW_HEAD_MOST) : NULL;
    if (!head) {
      close(fd);
      continue;
    }
    *c = (struct connection){ .fd = fd, .head = head };
    enter(c, READING);
  }
}

static const char *reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    default: return "Internal Server Error";
  }
}

static void put(struct connection *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct connection *c, const char *fmt, ...) {
  const size_t room = sizeof c->reply - c->reply_size;
  va_list ap;
  va_start(ap, fmt);
  const int n = vsnprintf(c->reply + c->reply_size, room, fmt, ap);
  va_end(ap);
  if (n > 0) c->reply_size += (size_t)n < room ? (size_t)n : room - 1;
}

/* Writes the head of the reply. It forbids other sites to use the reply, caches to store it and browsers to guess its type,
 * and prevents the address, which contains the secret, from being sent as a referrer. */
static void write_head(struct connection *c) {
  const struct view_reply *b = &c->body;
  put(c, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nConnection: close\r\nCache-Control: no-store\r\n", b->status, reason(b->status),
      b->type);
  put(c, "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n");
  put(c, "Content-Security-Policy: %s\r\n", b->policy ? b->policy : "default-src 'none'; frame-ancestors 'none'");
  if (b->status == 405) put(c, "Allow: GET, HEAD\r\n");
  if (b->name) put(c, "Content-Disposition: attachment; filename=\"%s\"\r\n", b->name);
  if (!b->hold) put(c, "Content-Length: %zu\r\n", b->size);
  put(c, "\r\n");
}

static void begin_reply(struct connection *c, const struct view_request *r) {
  if (!c->body.type) {
    c->body.type = "text/plain; charset=utf-8";
    c->body.body = c->body.status == 204 ? NULL : reason(c->body.status);
    c->body.size = c->body.body ? strlen(c->body.body) : 0;
  }
  write_head(c);
  if (r && r->method == VIEW_HEAD) c->body.size = 0; /* the head contains the size of the body, which is then not sent */
  enter(c, SENDING);
}

static void refuse(struct connection *c, int status) {
  c->body = (struct view_reply){ .status = status };
  begin_reply(c, NULL);
}

static void answer(struct connection *c, const struct view_site *site) {
  struct view_request r;
  switch (view_parse(c->head, c->n, &r)) {
    case VIEW_PARTIAL: return;
    case VIEW_BAD: refuse(c, 400); return;
    case VIEW_TOO_LONG: refuse(c, 431); return;
    case VIEW_WHOLE: break;
  }
  r.client = c->fd;
  site->answer(site->arg, &r, &c->body);
  begin_reply(c, &r);
}

static bool would_block(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

static void receive(struct connection *c, const struct view_site *site) {
  ssize_t n = recv(c->fd, c->head + c->n, VIEW_HEAD_MOST - c->n, 0);
  if (n <= 0) {
    if (n == 0 || !would_block()) drop(c);
    return;
  }
  c->n += (size_t)n;
  answer(c, site);
}

/* Ends the reply: holds the connection, or stops sending and discards more input. */
static void end_reply(struct connection *c) {
  free(c->body.owned);
  c->body.owned = NULL;
  c->n = 0;
  if (c->body.hold) {
    enter(c, HOLDING);
    return;
  }
  shutdown(c->fd, SHUT_WR);
  enter(c, CLOSING);
}

static void transmit(struct connection *c) {
  const bool head = c->sent < c->reply_size;
  const size_t at = head ? c->sent : c->sent - c->reply_size;
  const char *from = head ? c->reply + at : (const char *)c->body.body + at;
  const size_t left = (head ? c->reply_size : c->body.size) - at;
  ssize_t n = left ? send(c->fd, from, left, MSG_NOSIGNAL) : 0;
  if (n < 0 && !would_block()) {
    drop(c);
    return;
  }
  if (n > 0) {
    c->sent += (size_t)n;
    c->since = view_now_ms();
  }
  if (c->sent == c->reply_size + c->body.size) end_reply(c);
}

/* Discards input of a connection that is CLOSING or HOLDING. Drops the connection at the end of input, on errors, and after
 * HEARD_OUT bytes. */
static void hear_out(struct connection *c) {
  ssize_t n = recv(c->fd, c->head, VIEW_HEAD_MOST, 0);
  if (n > 0) c->n += (size_t)n;
  if (n == 0 || (n < 0 && !would_block()) || c->n > HEARD_OUT) drop(c);
}

static void expire(struct connection *c, uint64_t now) {
  const uint64_t limits[] = { [READING] = READING_MS, [SENDING] = SENDING_MS, [CLOSING] = CLOSING_MS, [HOLDING] = UINT64_MAX };
  if (c->state != FREE && now - c->since > limits[c->state]) drop(c);
}

static void attend(struct connection *c, const struct view_site *site, short events) {
  if (!events) return;
  switch (c->state) {
    case FREE: break;
    case READING: receive(c, site); break;
    case SENDING: transmit(c); break;
    case CLOSING:
    case HOLDING: hear_out(c); break;
  }
}

/* ---- the loop ---- */

static unsigned count_held(const struct view_server *s) {
  unsigned held = 0;
  for (size_t i = 0; i < MOST; i++) held += s->connections[i].state == HOLDING;
  return held;
}

static void turn(struct view_server *s, const struct view_site *site) {
  struct pollfd polled[MOST + 1] = { { .fd = s->fd, .events = POLLIN } };
  for (size_t i = 0; i < MOST; i++) {
    const struct connection *c = &s->connections[i];
    polled[i + 1] = (struct pollfd){ .fd = c->state == FREE ? -1 : c->fd, .events = c->state == SENDING ? POLLOUT : POLLIN };
  }
  if (poll(polled, MOST + 1, TICK_MS) > 0) {
    for (size_t i = 0; i < MOST; i++) attend(&s->connections[i], site, polled[i + 1].revents);
    if (polled[0].revents) accept_all(s);
  }
  const uint64_t now = view_now_ms();
  for (size_t i = 0; i < MOST; i++) expire(&s->connections[i], now);
}

static bool is_sending(const struct view_server *s) {
  for (size_t i = 0; i < MOST; i++)
    if (s->connections[i].state == SENDING || s->connections[i].state == CLOSING) return true;
  return false;
}

void view_serve(struct view_server *s, const struct view_site *site) {
  while (!interrupt_signal() && !site->is_over(site->arg, count_held(s))) turn(s, site);
  /* Complete the replies that have begun, including the reply to the request that ended the visit. */
  for (const uint64_t since = view_now_ms(); !interrupt_signal() && is_sending(s) && view_now_ms() - since < SENDING_MS;) turn(s, site);
}
