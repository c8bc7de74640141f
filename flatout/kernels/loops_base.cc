// See loops.h; CMakeLists.txt says for which instructions this is compiled.
#define FLATOUT_LOOPS kLoopsBase
#include "flatout/kernels/loops.inc"
