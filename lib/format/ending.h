/* ending.h - checks whether a file ends where its format allows it to end, without reading its events.
 *
 * A profiler that is killed, and a disk that is full, leave a file whose beginning is valid. The decompressor notices that a
 * compressed file is cut. Otherwise the lengths of the outermost fields show it for protobuf, and the last character for JSON. */
#ifndef FORMAT_ENDING_H
#define FORMAT_ENDING_H

#include "format.h"

/* Consumes the input from its first byte. Returns false if it is damaged or ends early. True proves nothing about the contents
 * of the fields, nor about formats that are neither protobuf nor JSON. */
bool ending_is_whole(const struct format *f, struct in *in);

#endif
