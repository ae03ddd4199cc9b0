/* rocm.h - formats: databases of AMD's profilers, rpd (rocmProfileData) and rocpd (rocprofv3, rocprof-sys), and the JSON of
 * rocprofv3. */
#ifndef FORMAT_ROCM_ROCM_H
#define FORMAT_ROCM_ROCM_H

#include "format/format.h"

#endif
