/* ending.h - checks whether a file ends at a place where its format allows an end, without reading events.
 *
 * If a profiler is killed or the disk is full, the file is cut, but its start is valid. In a compressed file, the decompressor detects
 * the cut. Otherwise, the lengths of the outermost fields (protobuf) or the last character (JSON) reveal it. */
#ifndef FORMAT_ENDING_H
#define FORMAT_ENDING_H

#include "format.h"

/* Consumes the input from its first byte. Returns false if it is damaged or ends early. True proves nothing about the contents
 * of the fields, nor about formats that are neither protobuf nor JSON. */
bool ending_is_whole(const struct format *f, struct in *in);

#endif
