/* fetch.h - reads addresses through programs that the user has: curl, aws, gcloud or gsutil, hf, ssh.
 *
 *     http://, https://            curl -fsSL ADDRESS
 *     s3://bucket/key              aws s3 cp ADDRESS -          a folder: aws s3 ls --recursive
 *     gs://bucket/key              gcloud storage cat ADDRESS   a folder: gcloud storage ls --long; or the same with gsutil
 *     hf://[datasets/]owner/repo/path   hf download             prints the path of a copy in its cache
 *     ssh://[user@]host[:port]/path     ssh host cat path       a folder: find, stat
 *
 * These programs do all network access and handle all credentials. The library calls the functions below for names that the
 * user gave (struct tk_fetch). */
#ifndef CLI_SHARED_FETCH_H
#define CLI_SHARED_FETCH_H

#include "tracekit.h"

/* Fills in `f` with functions that read addresses or, if `refused` is set, refuse all addresses. Returns `f`. If `nsys` names the
 * program, they also export reports of Nsight Systems (fetch_export.h). NULL on systems without child processes. */
const struct tk_fetch *fetch_functions(struct tk_fetch *f, bool refused, const char *nsys);

#endif
