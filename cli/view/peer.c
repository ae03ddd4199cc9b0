/* peer.c - see peer.h.
 *
 * The address given to a browser contains the secret. On a machine that shows the programs of all users, such as a login node,
 * other users can read it. On Linux, /proc/net/tcp contains the user of the socket that is connected to ours, so that other
 * users can be refused. An SSH tunnel ends in a process of the user, and is accepted. */
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static bool ends_of(int fd, struct sockaddr_in *own, struct sockaddr_in *other) {
  socklen_t a = sizeof *own, b = sizeof *other;
  return getsockname(fd, (struct sockaddr *)own, &a) == 0 && getpeername(fd, (struct sockaddr *)other, &b) == 0 &&
         own->sin_family == AF_INET && other->sin_family == AF_INET;
}

bool view_is_other_user(int fd) {
  struct sockaddr_in own, other;
  unsigned from, from_port, to, to_port, uid;
  char line[256];
  bool found = false;
  FILE *table = ends_of(fd, &own, &other) ? fopen("/proc/net/tcp", "re") : NULL;
  while (table && !found && fgets(line, sizeof line, table)) {
    /* "  7: 0100007F:D2F0 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000  1000 ..."; addresses in memory order */
    if (sscanf(line, " %*u: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u", &from, &from_port, &to, &to_port, &uid) != 5) continue;
    found = from == other.sin_addr.s_addr && from_port == ntohs(other.sin_port) && to == own.sin_addr.s_addr &&
            to_port == ntohs(own.sin_port);
  }
  if (table) fclose(table);
  return found && uid != getuid() && uid != 0;
}
