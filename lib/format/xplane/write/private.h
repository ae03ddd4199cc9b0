/* private.h - properties of tracks, records and flow points that a plane and its lines cannot represent: private stats of
 * the plane, as JSON. */
#ifndef FORMAT_XPLANE_WRITE_PRIVATE_H
#define FORMAT_XPLANE_WRITE_PRIVATE_H

#include "writer.h"

/* Append the texts of the stats "tracekit.tracks" and "tracekit.records"; return false if there is none. */
bool xplane_put_tracks(struct xplane_encoder *e, struct buf *text);
bool xplane_put_records(struct xplane_encoder *e, struct buf *text);

/* Counts the records that no private stat contains. */
void xplane_count_records(struct sink *sink, const struct xplane_graph *g);

/* Append a JSON member. `key` is the text before the value: ",\"name\":". Text 0 and missing identities append nothing. */
void xplane_member_string(struct xplane_encoder *e, struct buf *b, const char *key, tk_id text);
void xplane_member_number(struct buf *b, const char *key, int64_t v);
void xplane_member_ident(struct xplane_encoder *e, struct buf *b, const char *key, struct tk_ident i);

#endif
