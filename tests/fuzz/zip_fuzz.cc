// The directory of zip archives, and the members that it names.
#include <vector>

#include "flatout/data/formats/npy.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

FUZZ_TARGET(bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  const data::ReadBytes read = [&](int64_t offset, int64_t count, std::vector<std::byte>&) {
    FUZZ_CHECK(offset >= 0 && count >= 0 && offset <= size && count <= size - offset);
    return bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
  };
  (void)data::LooksLikeZip(bytes);
  std::vector<data::ZipMember> members;
  if (!Accepts([&] { members = data::ReadZipDirectory("x.npz", size, read); })) return;
  // A central directory entry takes 46 bytes or more.
  FUZZ_CHECK(static_cast<int64_t>(members.size()) <= size / 46);
  size_t opened = 0;
  for (const data::ZipMember& member : members) {
    if (++opened > 16) break;  // many entries may name one big member
    Accepts([&] {
      const int64_t offset = data::ZipContentOffset("x.npz", size, read, member);
      FUZZ_CHECK(offset > member.header && member.packed >= 0 && member.packed <= size - offset);
    });
    Accepts([&] {
      const auto content = data::UnpackZipMember("x.npz", size, read, member);
      FUZZ_CHECK(member.size >= 0 && (content != nullptr || member.size == 0));
      // The whole of it is there: a sanitizer sees where it is not.
      volatile int sum = 0;
      for (int64_t i = 0; i < member.size; i += 64) sum = sum + static_cast<int>(content.get()[i]);
      if (member.size > 0) sum = sum + static_cast<int>(content.get()[member.size - 1]);
    });
  }
}

}  // namespace flatout::fuzz
