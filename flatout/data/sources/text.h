// Text as a byte-level language model sees it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flatout/data/source.h"

namespace flatout::data {

struct TextOptions {
  // Files (plain or gzip, told by content), or folders, which stand for the text files in them, by
  // name. By default the quotations and stories of Debian's package fortunes.
  std::vector<std::string> path = {kDefaultPath};
  int64_t sequence_length = 128;
  int64_t sequence_stride = 0;  // bytes from one record to the next; 0: sequence_length
  // Shares of each file's text, taken from its end: ... train | validation | test.
  double validation_split = 0;
  double test_split = 0;
  int64_t limit = 0;  // at most that many records of each split; 0: all

  static constexpr const char* kDefaultPath = "/usr/share/games/fortunes";

  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("sequence_length", sequence_length);
    v("sequence_stride", sequence_stride);
    v("validation_split", validation_split);
    v("test_split", test_split);
    v("limit", limit);
  }
};

// Record i holds "tokens" i32[sequence_length], the bytes i * stride, i * stride + 1, ... of the
// split's text, and "targets" i32[sequence_length], the byte that follows each of them. Vocabulary:
// the 256 bytes. Returns nullptr for a split of share 0. Throws DataError when a file is missing or
// empty, or when the text is too short for one record.
SourcePtr OpenTextSplit(const TextOptions& options, std::string_view split);

std::function<SourcePtr(std::string_view)> OpenText(FieldReader& reader);

}  // namespace flatout::data
