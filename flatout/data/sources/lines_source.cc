// The source "lines": plain text, one record per line. Field "text": the line without its end (LF
// or CRLF), as bytes: what is no UTF-8 stays as it is.
#include <memory>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/files.h"
#include "flatout/data/formats/text_records.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

const std::string kRead = "read lines";

struct LinesOptions {
  SplitOptions split;
  bool skip_blank = false;  // lines of nothing but spaces and tabs are no records

  template <class V>
  void Visit(V& v) {
    split.Visit(v);
    v("skip_blank", skip_blank);
  }
};

class LinesSource : public Source {
 public:
  LinesSource(const std::vector<std::string>& paths, bool skip_blank)
      : files_(paths,
               {.blank = skip_blank ? RecordScan::Blank::kSkipSpace : RecordScan::Blank::kKeep},
               "lines"),
        fields_({TextField("text")}) {
    description_ = fmt::format("lines: {} records from {} {}, {}", files_.size(), files_.files(),
                               files_.files() == 1 ? "file" : "files", DescribeFields(fields_));
  }
  int64_t size() const override { return files_.size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    ReadContext::Stage stage(context, kRead, static_cast<int64_t>(records.size()));
    const int64_t bytes = files_.Read(context, records, out, [&](const RecordText& text) {
      // Skipped lines after this one are part of its text.
      std::string_view line = text.text.substr(0, text.text.find('\n'));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (text.resident) {
        out.SetTextView(0, text.row, line);
      } else {
        out.SetText(0, text.row, line);
      }
    });
    stage.AddBytes(bytes);
  }

 private:
  RecordFiles files_;
  std::vector<Field> fields_;
  std::string description_;
};

std::function<SourcePtr(std::string_view)> OpenLines(FieldReader& reader) {
  LinesOptions options;
  options.Visit(reader);
  options.split.Check(reader);
  return [options](std::string_view split) {
    return OpenSplit("lines", options.split, split,
                     [&](const std::vector<std::string>& paths) -> SourcePtr {
                       return std::make_shared<LinesSource>(paths, options.skip_blank);
                     });
  };
}

}  // namespace

FLATOUT_REGISTER(lines_source) { RegisterSource("lines", OpenLines); }

}  // namespace flatout::data
