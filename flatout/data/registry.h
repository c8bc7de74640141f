// All kinds of source and transform, registered once; the code behind it is generated (register.h).
#pragma once

namespace flatout::data::registry {

// Registers everything that sources/ and transforms/ hold, at the first call.
void RegisterAll();

}  // namespace flatout::data::registry
