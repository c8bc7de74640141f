// gzip and zlib streams, as ByteFile unpacks them.
#include <algorithm>
#include <cstring>
#include <string>

#include "flatout/data/files.h"
#include "flatout/data/unpack.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

FUZZ_TARGET(bytes) {
  const data::Packing packing = data::SniffPacking(
      bytes.first(std::min(bytes.size(), data::kSniffBytes)), bytes.size() <= data::kSniffBytes);
  // Whatever the size of the pieces that the packed bytes come in, the result is the same.
  std::string contents[2];
  bool accepted[2];
  for (int round = 0; round < 2; ++round) {
    size_t at = 0;
    accepted[round] = Accepts([&] {
      data::Unpack(
          "x.gz", packing == data::Packing::kNone ? data::Packing::kGzip : packing,
          [&](std::span<std::byte> out) {
            const size_t count =
                std::min({out.size(), bytes.size() - at, round == 0 ? size_t{1} << 20 : size_t{7}});
            std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), count, out.begin());
            at += count;
            return count;
          },
          [&](std::span<const std::byte> piece) {
            contents[round] += Text(piece);
            // Deflate packs at most 1032 bytes into one.
            FUZZ_CHECK(contents[round].size() <= 1032 * bytes.size());
            return true;
          });
    });
  }
  FUZZ_CHECK(accepted[0] == accepted[1]);
  if (accepted[0]) FUZZ_CHECK(contents[0] == contents[1]);

  const MemoryFile file(bytes);
  Accepts([&] {
    const auto opened = data::ByteFile::Open(file.path());
    const std::string_view expected = packing == data::Packing::kNone ? Text(bytes) : contents[0];
    FUZZ_CHECK(packing == data::Packing::kNone || accepted[0]);
    FUZZ_CHECK(opened->size() == static_cast<int64_t>(expected.size()));
    std::vector<std::byte> scratch;
    FUZZ_CHECK(Text(opened->Read(0, opened->size(), scratch)) == expected);
  });
}

}  // namespace flatout::fuzz
