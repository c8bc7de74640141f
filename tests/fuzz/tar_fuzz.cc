// Members of tar archives.
#include <vector>

#include "flatout/data/formats/tar.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

FUZZ_TARGET(bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  const data::ReadBytes read = [&](int64_t offset, int64_t count, std::vector<std::byte>&) {
    FUZZ_CHECK(offset >= 0 && count >= 0 && offset <= size && count <= size - offset);
    return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
  };
  (void)data::LooksLikeTar(bytes);
  Accepts([&] {
    int64_t at = 0;
    while (const auto member = data::ReadTarMember("x.tar", size, read, at)) {
      FUZZ_CHECK(member->begin >= at && member->data >= member->begin + 512);
      FUZZ_CHECK(member->size >= 0 && member->data <= size && member->size <= size - member->data);
      FUZZ_CHECK(member->next >= member->data + member->size && member->next > at);
      FUZZ_CHECK(member->name.size() <= bytes.size());
      at = member->next;
    }
  });
}

}  // namespace flatout::fuzz
