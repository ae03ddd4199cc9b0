/* script.h - the script of the page (page/report.js). */
#ifndef CLI_REPORT_SCRIPT_H
#define CLI_REPORT_SCRIPT_H

/* Hash of the script in the syntax of a Content-Security-Policy, which makes browsers run no other script. */
#define SCRIPT_HASH "sha256-i8QWm7J9U9QPx/37jG6ZxA6jH5JHY+e3jycpmeSslrY="

extern const char report_script[];

#endif
