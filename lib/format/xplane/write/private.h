/* private.h - writes properties of tracks, records and flow points that a plane and its lines cannot represent, as private
 * stats that contain JSON. */
#ifndef FORMAT_XPLANE_WRITE_PRIVATE_H
#define FORMAT_XPLANE_WRITE_PRIVATE_H

#include "writer.h"

/* Append the texts of the stats "tracekit.tracks" and "tracekit.records". Return false if the text is empty. */
bool xplane_put_tracks(struct xplane_encoder *e, struct buf *text);
bool xplane_put_records(struct xplane_encoder *e, struct buf *text);

/* Counts records as lost that no private stat contains. */
void xplane_count_records(struct sink *sink, const struct xplane_graph *g);

/* Append a JSON member, unless the text is 0 or the identity is missing. `key`: the text before the value, such as
 * ",\"name\":". */
void xplane_member_string(struct xplane_encoder *e, struct buf *b, const char *key, tk_id text);
void xplane_member_number(struct buf *b, const char *key, int64_t v);
void xplane_member_ident(struct xplane_encoder *e, struct buf *b, const char *key, struct tk_ident i);

#endif
