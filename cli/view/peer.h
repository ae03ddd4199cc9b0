/* peer.h - the user at the other end of a connection on this machine. */
#ifndef CLI_VIEW_PEER_H
#define CLI_VIEW_PEER_H

#include <stdbool.h>

/* True if the program at the other end belongs to a user other than ours and root. False if the system does not show the
 * user. */
bool view_is_other_user(int fd);

#endif
