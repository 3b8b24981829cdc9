// Functions that host code and kernels share.
#pragma once

#ifdef __CUDACC__
#define SPECKLESCOPE_BOTH __host__ __device__
#else
#define SPECKLESCOPE_BOTH
#endif
