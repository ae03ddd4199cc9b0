/* interrupt.h - signals that end the current work.
 *
 * SIGINT, SIGTERM and SIGHUP are recorded; the current work polls interrupt_signal(), cleans up and returns. If the work does
 * not poll within a second, for example while it reads from an idle pipe, the program ends. The same signal again ends the
 * program at once. */
#ifndef CLI_SHARED_INTERRUPT_H
#define CLI_SHARED_INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

void interrupt_catch(void);
/* Returns the number of the received signal, or 0. The first call that returns a signal gives the caller five seconds to clean
 * up. */
int interrupt_signal(void);
/* Waits until `fd` can be read without blocking. Returns false if a signal was received, even if that was just before the
 * call. */
bool interrupt_wait(int fd);
/* Registers a process, or a process group by its negative id, which the alarm kills when it ends this program. */
void interrupt_take(pid_t target);
/* Removes the registration of a process that has ended. */
void interrupt_spare(pid_t target);
/* Clears the signal, because the work that it interrupted has ended, and catches signals again. */
void interrupt_forget(void);

#endif
