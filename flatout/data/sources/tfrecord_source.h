// TFRecord files as a source: see tfrecord.h for the files and example.h for the records.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/files.h"
#include "flatout/data/formats/example.h"
#include "flatout/data/source.h"

namespace flatout::data {

struct TfRecordOptions : SplitOptions {
  // "example", "sequence_example", "bytes" (field "record", text: the record as it is), or "auto":
  // by the declared features, else by looking at the first records.
  std::string format = "auto";
  // Tables as ReadFeatureSpecs takes them. Neither given: what the first records have.
  Config features, sequence_features;

  template <class V>
  void Visit(V& v) {
    SplitOptions::Visit(v);
    v("format", format);
    v("features", features);
    v("sequence_features", sequence_features);
  }
};

// The records of all files, in the order of the files. Without specs (and unless the format is
// "bytes") they are inferred from the first records: 100, or as many as 16 MiB hold. Throws
// UserError for a wrong format, DataError for a file that cannot be opened or unpacked, for a
// declared feature that none of the first records has, and where nothing can be inferred. Damaged
// records are bad records, told when they are read.
SourcePtr OpenTfRecordFiles(const std::vector<std::string>& files,
                            const std::string& format = "auto",
                            std::vector<FeatureSpec> specs = {});

std::function<SourcePtr(std::string_view)> OpenTfRecord(FieldReader& reader);

}  // namespace flatout::data
