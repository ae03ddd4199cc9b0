/* os.h - functions that depend on the operating system, so that only os.c needs #if for platforms.
 *
 * Reads and writes continue after a signal, and wait if a descriptor is not ready (a terminal that another program left
 * non-blocking). Callers therefore only get progress, the end or an error. */
#ifndef BASE_OS_H
#define BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the memory available to this process in bytes: that of the machine or the limit of its control group, whichever is
 * lower. 0 = unknown. */
uint64_t os_memory(void);
/* Returns the resident memory of the process in bytes; UINT64_MAX if unknown. */
uint64_t os_resident(void);
/* Returns the memory limit for one trace: `asked`, or three quarters of os_memory() if `asked` is 0. */
uint64_t os_memory_limit(uint64_t asked);

/* Returns the number of processors this process may use, at least 1. */
unsigned os_cores(void);
/* Returns the number of threads to use: `asked`, or os_cores() if `asked` is 0; always 1 on a system without threads. */
unsigned os_threads(unsigned asked);

/* Fills p with n <= 256 unpredictable bytes. */
void os_random(void *p, size_t n);

/* A block that grows in place: `room` bytes of addresses, of which the first n may be used. It begins at the boundary of a huge
 * page and gets huge pages, which reduces page faults. */
struct os_block {
  uint8_t *p; /* NULL = none */
  size_t n, room;
};

/* Makes a block of n cleared bytes in `room` >= n bytes of addresses; p is NULL if the system has no such blocks, or if the user
 * limits the addresses of the process. */
struct os_block os_block_new(size_t n, size_t room);
/* Makes the first n bytes usable, n <= b->room. Returns false if memory runs out; the block is then unchanged. */
bool os_block_grow(struct os_block *b, size_t n);
void os_block_free(const struct os_block *b);

/* Returns those pages to the system that are entirely in [p, p + n). Their contents are undefined afterwards. */
void os_release(void *p, size_t n);

bool os_is_terminal(int fd);

/* Copies this machine's name, truncated to `size`; "" if it has none. */
void os_host_name(char *name, size_t size);
/* Returns the number of this process: on this machine, no two running processes have the same. */
long os_process(void);
/* True if no process with this number runs on this machine. False if unknown. */
bool os_process_has_ended(long number);

/* Sets the permissions of an open file; returns false on failure, or if the system has none. */
bool os_set_mode(int fd, unsigned mode);

/* Creates a file in $TMPDIR or /tmp whose name ends in `suffix`, open for reading and writing and closed on exec. Returns its
 * descriptor and its path, which the caller frees; -1 with errno on failure. */
int os_temporary(const char *suffix, char **path);

/* True if both names refer to the same regular file. "-" stands for the descriptor `dash_a` or `dash_b`. False if one of the
 * files does not exist. */
bool os_same_file(const char *a, int dash_a, const char *b, int dash_b);

/* Reads up to n bytes; returns 0 at the end, -1 with errno on failure. */
ptrdiff_t os_read(int fd, void *p, size_t n);
/* Reads n bytes at an offset; returns fewer only at the end, -1 with errno on failure. */
ptrdiff_t os_read_at(int fd, void *p, size_t n, uint64_t at);

/* Writes all n bytes; returns false with errno on failure. */
bool os_write(int fd, const void *p, size_t n);

/* Calls qsort_r, whose argument order differs between systems; n may be 0. */
void os_sort(void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b, void *arg), void *arg);

#endif
