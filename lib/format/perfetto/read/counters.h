/* counters.h - converts counter samples. */
#ifndef FORMAT_PERFETTO_READ_COUNTERS_H
#define FORMAT_PERFETTO_READ_COUNTERS_H

#include "reader.h"

/* Returns the value of a sample as an arg; adds it to the sum of an incremental counter. */
struct tk_arg counters_value(struct perfetto *r, const struct counter_sample *s);
/* Adds a sample with a value that counters_value returned. */
void counters_add(struct perfetto *r, const struct counter_sample *s, const struct tk_arg *value);
void perfetto_sample(struct perfetto *r, const struct counter_sample *s);

/* Adds a sample whose packet has private fields. */
void perfetto_private_sample(struct perfetto *r, struct sequence *q, const struct packet *k, const struct counter_sample *s);

/* Adds a counter event that no sample represents. `s`: its track and time. */
void perfetto_lone_counter(struct perfetto *r, struct sequence *q, const struct counter_sample *s, const struct pb_field *f);

/* Stores the collected args in their event. */
void perfetto_end_collected(struct perfetto *r);

/* Names the classes of counter samples, when the names of all counters are known. */
void perfetto_name_counters(struct perfetto *r);

#endif
