// How parsers of containers get at bytes: of a file, or of memory in tests and fuzzers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace flatout::data {

// Gives bytes [offset, offset + count), which lie within the file: a view of memory, or read into
// `scratch`.
using ReadBytes = std::function<std::span<const std::byte>(int64_t offset, int64_t count,
                                                           std::vector<std::byte>& scratch)>;

}  // namespace flatout::data
