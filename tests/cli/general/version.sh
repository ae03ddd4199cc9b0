# Only the first line is compared, because the libraries on the further lines depend on the build.
tracekit --version | head -n 1
tracekit -V | head -n 1
tracekit merge --version | head -n 1
