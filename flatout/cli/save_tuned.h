// flatout train --save-tuned: what the run found out about its input goes into the run file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flatout::cli {

// The text of a run file with these keys of its table [data] set, everything else, comments too, as
// it was. A key that is there gets the new value in its place, another one a line below [data].
// Throws UserError where the table is written in a way that takes no such line (data = { ... }).
std::string WithDataKeys(std::string text, const std::string& file,
                         const std::vector<std::pair<std::string, int64_t>>& keys);

// The same for the file, which is replaced in one step.
void SaveDataKeys(const std::string& path,
                  const std::vector<std::pair<std::string, int64_t>>& keys);

}  // namespace flatout::cli
