/* view_peer.h - who is at the other end of a connection on this machine. */
#ifndef CLI_VIEW_PEER_H
#define CLI_VIEW_PEER_H

#include <stdbool.h>

/* Is it a program of another user than ours and root?  False where the system does not tell. */
bool view_is_other_user(int fd);

#endif
