/* interrupt.h - signals that end the work in hand.
 *
 * SIGINT, SIGTERM and SIGHUP are noted; whoever works asks interrupt_signal(), cleans up and returns.  Work that does not ask, such as
 * a read from a pipe to which nobody writes, is ended a second later.  A second signal ends the program at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

void interrupt_catch(void);
/* The number of the signal that came, or 0. */
int interrupt_signal(void);
/* Forgets the signal: the work that it was meant for has ended. */
void interrupt_forget(void);

#endif
