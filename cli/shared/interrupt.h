/* interrupt.h - signals that end the current work.
 *
 * SIGINT, SIGTERM and SIGHUP are recorded; the current work polls interrupt_signal(), cleans up and returns.  Work that does
 * not poll, such as a read from an idle pipe, is ended after a second.  The same signal again ends the program at once. */
#ifndef CLI_SHARED_INTERRUPT_H
#define CLI_SHARED_INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

void interrupt_catch(void);
/* Returns the number of the received signal, or 0.  The first call that returns a signal gives the caller five seconds to clean
 * up. */
int interrupt_signal(void);
/* Waits until the file can be read or has ended. Returns false if a signal was received, even just before the call. */
bool interrupt_wait(int fd);
/* Registers a process, or a process group by its negative id, to be ended with this program, even if the alarm ends it. */
void interrupt_take(pid_t target);
/* Removes the registration of a process that has ended. */
void interrupt_spare(pid_t target);
/* Clears the signal, because the work that it interrupted has ended, and catches signals again. */
void interrupt_forget(void);

#endif
