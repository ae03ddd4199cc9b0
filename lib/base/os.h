/* os.h - what differs between systems, in one place: every #if on a platform lives in os.c.
 *
 * Reads and writes here go on after a signal and wait for descriptors that are not ready (a terminal that another program has
 * left non-blocking), so that callers see the end, an error or progress and nothing else. */
#ifndef BASE_OS_H
#define BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of memory that this process may use: of the machine or of its control group, whichever is less.  0 = unknown. */
uint64_t os_memory(void);
/* What one trace may take: what the caller asked for, else three quarters of that. */
uint64_t os_memory_limit(uint64_t asked);

/* Processors that this process may run on, at least 1. */
unsigned os_cores(void);

/* Fills p with n <= 256 bytes that nobody can foretell. */
void os_random(void *p, size_t n);

/* Asks for huge pages under memory that is about to be filled: fewer faults, nothing else changes. */
void os_huge_pages(void *p, size_t n);

/* Gives the whole pages of [p, p + n) back: they read as anything from now on. */
void os_release(void *p, size_t n);

bool os_is_terminal(int fd);

/* A new file in $TMPDIR or /tmp, open for reading and writing and closed on exec, whose name ends in `suffix`; its path, to be freed.
 * -1 with errno. */
int os_temporary(const char *suffix, char **path);

/* Do the two names ("-": `dash`, a descriptor) lead to one file?  False if either does not exist. */
bool os_same_file(const char *a, int dash_a, const char *b, int dash_b);

/* Up to n bytes; 0 at the end; -1 with errno. */
ptrdiff_t os_read(int fd, void *p, size_t n);

/* All n bytes; false with errno. */
bool os_write(int fd, const void *p, size_t n);

/* qsort_r, whose arguments stand in another order on some systems; n may be 0. */
void os_sort(void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b, void *arg), void *arg);

#endif
