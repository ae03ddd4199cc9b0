/* zoom.h - the script of the page, which zooms its timelines. */
#ifndef CLI_REPORT_ZOOM_H
#define CLI_REPORT_ZOOM_H

/* Hash of the script in the syntax of a Content-Security-Policy, which makes browsers run no other script. */
#define ZOOM_HASH "sha256-xZkfrG8F+7Ur32jqBNr9jKbBahNOAg6bR2rAYZ6YzxY="

extern const char zoom_script[];

#endif
