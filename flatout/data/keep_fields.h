// A source with fewer fields.
#pragma once

#include <string>
#include <vector>

#include "flatout/data/source.h"

namespace flatout::data {

// The fields called `names`, in this order. Throws UserError for one that is not there or repeats.
SourcePtr KeepFields(SourcePtr source, const std::vector<std::string>& names);

}  // namespace flatout::data
