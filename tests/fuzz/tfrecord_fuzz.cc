// Framing of TFRecord files.
#include <vector>

#include "flatout/data/formats/tfrecord.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

using data::TfRecordDamage;
using data::TfRecordIndex;

FUZZ_TARGET(bytes) {
  const TfRecordIndex index = data::IndexTfRecords(bytes);
  // The records and what is lost cover the content without gap or overlap.
  FUZZ_CHECK(!index.offsets.empty() && index.offsets.front() == 0);
  FUZZ_CHECK(index.offsets.back() == static_cast<int64_t>(bytes.size()));
  for (int64_t i = 0; i < index.size(); ++i) {
    const int64_t extent = index.offsets[i + 1] - index.offsets[i];
    const bool lost = index.damage != TfRecordDamage::kNone && i + 1 == index.size();
    FUZZ_CHECK(extent > 0);
    FUZZ_CHECK(lost || extent >= data::kTfRecordHeader + data::kTfRecordFooter);
  }
  FUZZ_CHECK(index.damage == TfRecordDamage::kNone || index.size() > 0);
  if (index.size() > 0) {
    FUZZ_CHECK(data::BeginsTfRecord(bytes) ==
               (index.size() > 1 || index.damage == TfRecordDamage::kNone ||
                index.damage == TfRecordDamage::kCutData));
  }

  // The same through a file. What looks packed may be refused, or be something else unpacked.
  const MemoryFile file(bytes);
  Accepts([&] {
    const auto opened = data::TfRecordFile::Open(file.path());
    if (!opened->file().packing().empty()) return;
    FUZZ_CHECK(opened->index().offsets == index.offsets && opened->index().damage == index.damage);
    std::vector<std::byte> scratch;
    for (int64_t i = 0; i < opened->size(); ++i) {
      // A lost rest of the file is never taken for a record.
      FUZZ_CHECK(opened->lost(i) ==
                 (index.damage != TfRecordDamage::kNone && i + 1 == index.size()));
      const bool fine = Accepts([&] {
        const auto content = opened->Read(i, scratch);
        FUZZ_CHECK(static_cast<int64_t>(content.size()) ==
                   opened->extent(i) - data::kTfRecordHeader - data::kTfRecordFooter);
      });
      if (fine) FUZZ_CHECK(!opened->lost(i));
    }
  });
}

}  // namespace flatout::fuzz
