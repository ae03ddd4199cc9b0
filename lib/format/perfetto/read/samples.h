/* samples.h - reads stack samples: PerfSample packets, and what our writer adds to them. */
#ifndef FORMAT_PERFETTO_READ_SAMPLES_H
#define FORMAT_PERFETTO_READ_SAMPLES_H

#include "procs.h"

/* Reads the mappings, frames and callstacks of interned data, whose texts were read before. */
void samples_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f);

/* Moves the PerfSample of a packet to `sample` if our writer wrote the packet; the PerfSample is then not passed through. */
void samples_claim(struct packet *k);
/* Reads a sample of our writer; `f`: its private field. */
void samples_own(struct perfetto *r, struct sequence *q, const struct packet *k, const struct pb_field *f, struct proc_time at);
/* Reads the PerfSample of another producer, which is also passed through. Returns false if it is not a sample. */
bool samples_perf(struct perfetto *r, struct sequence *q, const struct packet *k);

#endif
