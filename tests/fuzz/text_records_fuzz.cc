// Text files cut into records: quotes, comments, blank lines, any line end.
#include <vector>

#include "flatout/data/formats/text_records.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

using data::RecordIndex;
using data::RecordScan;

FUZZ_TARGET(bytes) {
  Choices choices(bytes);
  RecordScan scan;
  scan.quote = choices.Flag() ? '"' : '\0';
  scan.comment = choices.Flag() ? '#' : '\0';
  scan.lone_cr = choices.Flag();
  scan.blank = static_cast<RecordScan::Blank>(choices.Of(3));
  const std::string_view text = Text(bytes);
  RecordIndex index;
  if (!Accepts([&] { index = data::IndexRecords(text, scan); })) return;
  FUZZ_CHECK(index.bytes() == static_cast<int64_t>(text.size()));
  FUZZ_CHECK(index.size() <= index.bytes());
  int64_t at = 0;
  for (int64_t i = 0; i < index.size(); ++i) {
    FUZZ_CHECK(index.begin(i) >= at && index.end(i) > index.begin(i));
    at = index.end(i);
    // A record without quotes holds one line.
    if (scan.quote == 0) {
      const std::string_view record = text.substr(static_cast<size_t>(index.begin(i)),
                                                  static_cast<size_t>(at - index.begin(i)));
      const size_t end = record.find('\n');
      if (end != std::string_view::npos && scan.blank == RecordScan::Blank::kKeep &&
          scan.comment == 0) {
        FUZZ_CHECK(end + 1 == record.size());
      }
    }
  }
  FUZZ_CHECK(at == index.bytes() || index.size() == 0);
  // What the index cache keeps gives the same index; damage there is noticed.
  bool valid = false;
  const RecordIndex again = RecordIndex::Decode(index.words(), valid);
  FUZZ_CHECK(valid && again.size() == index.size() && again.bytes() == index.bytes());
  // In pieces, as a file is read.
  const RecordIndex pieces = data::IndexRecords(
      "x.txt", static_cast<int64_t>(bytes.size()),
      [&](int64_t offset, int64_t count, std::vector<std::byte>& scratch) {
        const auto piece = bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
        scratch.assign(piece.begin(), piece.end());
        return std::span<const std::byte>(scratch);
      },
      scan, false);
  FUZZ_CHECK(pieces.words() == index.words());
}

}  // namespace flatout::fuzz
