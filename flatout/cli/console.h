// What people see of a run: a progress bar on a terminal, plain lines elsewhere.
#pragma once

#include <memory>
#include <string>

#include "flatout/train/observer.h"

namespace flatout::cli {

// `mode`: "auto", "bar", "plain" or "none". Writes to standard output.
std::unique_ptr<train::Observer> MakeConsole(const std::string& mode);

}  // namespace flatout::cli
