/* Plugins that are wrong in one way each, for plugin_test.cc. Compiled with
 *   FAKE_MAJOR, FAKE_MINOR   what it says of its version
 *   FAKE_SIZE                the size of its function table in bytes
 *   FAKE_LACKS               a function that is missing, if defined
 *   FAKE_NO_API              leaves GetPjrtApi out, if defined
 * Every function of the table succeeds and does nothing. */
#include <pjrt_c_api.h>

#ifndef FAKE_NO_API
static PJRT_Error* DoNothing(void* args) {
  (void)args;
  return 0;
}

const PJRT_Api* GetPjrtApi(void) {
  static PJRT_Api api;
  void** functions = (void**)&api.PJRT_Error_Destroy;
  for (; (char*)functions < (char*)&api + sizeof(api); ++functions) *functions = (void*)&DoNothing;
  api.struct_size = FAKE_SIZE;
  api.pjrt_api_version.struct_size = PJRT_Api_Version_STRUCT_SIZE;
  api.pjrt_api_version.major_version = FAKE_MAJOR;
  api.pjrt_api_version.minor_version = FAKE_MINOR;
#ifdef FAKE_LACKS
  api.FAKE_LACKS = 0;
#endif
  return &api;
}
#else
int flatout_fake_plugin_without_api;
#endif
