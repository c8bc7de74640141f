// Numbers as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flatout {

// Binary units, three significant digits: "0 B", "640 B", "1.50 GiB", "12.0 MiB", "512 KiB".
std::string HumanBytes(int64_t bytes);
// "850 us", "12.3 ms", "4.21 s", "3 min 12 s", "2 h 05 min", "3 d 04 h".
std::string HumanDuration(double seconds);
// Thousands apart: "60,000", "-1,234".
std::string HumanCount(int64_t count);

// "10GiB", "1.5 GB", "512 MiB", "4096": bytes. KiB, MiB, GiB, TiB are powers of 1024; KB, MB, GB,
// TB of 1000; a bare number is bytes. Nothing where it is no size, negative or too large.
std::optional<int64_t> ParseBytes(std::string_view text);

}  // namespace flatout
