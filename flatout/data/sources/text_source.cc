#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "flatout/data/file_bytes.h"
#include "flatout/data/register.h"
#include "flatout/data/require.h"
#include "flatout/data/sources/text.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;

const std::string kRead = "read";
constexpr int64_t kVocabulary = 256;

std::string Remedy(const TextOptions& options) {
  bool package = std::find(options.path.begin(), options.path.end(), TextOptions::kDefaultPath) !=
                 options.path.end();
  return package ? "install Debian's package fortunes (apt-get install fortunes)"
                 : "correct the data path";
}

bool IsBinary(const FileBytes& file) {
  std::span<const std::byte> head = file.bytes().first(std::min<size_t>(file.size, 4096));
  return std::find(head.begin(), head.end(), std::byte{0}) != head.end();
}

struct NamedText {
  std::string path;
  FileBytes file;
};

std::vector<NamedText> LoadTexts(const TextOptions& options) {
  std::vector<NamedText> texts;
  LoadOptions load{.expected_size = nullptr, .remedy = Remedy(options)};
  for (const std::string& path : options.path) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      texts.push_back({path, LoadFile(path, load)});
      continue;
    }
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      // Links are other names of files that are there already.
      std::error_code unreadable;
      if (entry->is_regular_file(unreadable) && !entry->is_symlink(unreadable) &&
          entry->file_size(unreadable) > 0) {
        names.push_back(entry->path().string());
      }
    }
    if (error) throw BadData("cannot read the folder {}: {}", path, error.message());
    std::sort(names.begin(), names.end());
    size_t before = texts.size();
    for (const std::string& name : names) {
      NamedText text{name, LoadFile(name, load)};
      if (!IsBinary(text.file)) texts.push_back(std::move(text));
    }
    if (texts.size() == before) {
      throw BadData("{}: the folder holds no text file. Remedy: {}", path, load.remedy);
    }
  }
  if (texts.empty()) throw Invalid("data: path names no text");
  return texts;
}

class TextSource : public Source {
 public:
  TextSource(std::vector<uint8_t> text, const TextOptions& options, std::string_view split)
      : text_(std::move(text)),
        length_(options.sequence_length),
        stride_(options.sequence_stride > 0 ? options.sequence_stride : length_) {
    fields_ = {Field{"tokens", ir::Shape(ir::DType::kI32, {length_}), kVocabulary},
               Field{"targets", ir::Shape(ir::DType::kI32, {length_}), kVocabulary}};
    auto bytes = static_cast<int64_t>(text_.size());
    // The last target of a record is the byte after its last token.
    if (bytes < length_ + 1) {
      throw BadData(
          "text {}: the text is too short: expected at least {} bytes for one record "
          "(sequence_length "
          "= {}, and the byte to predict), found {}. Lower sequence_length or add text",
          split, length_ + 1, length_, bytes);
    }
    size_ = (bytes - length_ - 1) / stride_ + 1;
    if (options.limit > 0) size_ = std::min(size_, options.limit);
    description_ = fmt::format("text {}: {} records of {} bytes of text, {}", split, size_, bytes,
                               DescribeFields(fields_));
  }

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }
  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    const ReadContext::Stage stage(context, kRead, static_cast<int64_t>(records.size()));
    auto* tokens = out.as<int32_t>(0);
    auto* targets = out.as<int32_t>(1);
    for (int64_t index : records) {
      const uint8_t* from = text_.data() + index * stride_;
      for (int64_t i = 0; i < length_; ++i) tokens[i] = from[i];
      for (int64_t i = 0; i < length_; ++i) targets[i] = from[i + 1];
      tokens += length_;
      targets += length_;
    }
  }

 private:
  std::vector<uint8_t> text_;
  int64_t length_;
  int64_t stride_;
  int64_t size_;
  std::vector<Field> fields_;
  std::string description_;
};

}  // namespace

SourcePtr OpenTextSplit(const TextOptions& options, std::string_view split) {
  double share = split == "train"        ? 1 - options.validation_split - options.test_split
                 : split == "validation" ? options.validation_split
                                         : options.test_split;
  if (share <= 0) return nullptr;
  std::vector<uint8_t> text;
  for (const NamedText& each : LoadTexts(options)) {
    auto size = static_cast<double>(each.file.size);
    auto test_begin = static_cast<size_t>(std::llround(size * (1 - options.test_split)));
    auto validation_begin = std::min(
        test_begin, static_cast<size_t>(
                        std::llround(size * (1 - options.test_split - options.validation_split))));
    size_t begin = split == "train" ? 0 : split == "validation" ? validation_begin : test_begin;
    size_t end = split == "train"        ? validation_begin
                 : split == "validation" ? test_begin
                                         : each.file.size;
    const auto* bytes = reinterpret_cast<const uint8_t*>(each.file.data.get());
    text.insert(text.end(), bytes + begin, bytes + end);
  }
  return std::make_shared<TextSource>(std::move(text), options, split);
}

std::function<SourcePtr(std::string_view)> OpenText(FieldReader& reader) {
  TextOptions options;
  options.Visit(reader);
  auto check = [&](const char* key, bool right, const char* rule) {
    Require(reader.Take(key), right, rule);
  };
  check("sequence_length", options.sequence_length > 0 && options.sequence_length <= 1 << 24,
        "a number of bytes from 1 to 16777216");
  check("sequence_stride", options.sequence_stride >= 0,
        "a number of bytes, or 0 for sequence_length");
  check("validation_split", options.validation_split >= 0 && options.validation_split < 1,
        "a share of the text, 0 to 1");
  check("test_split", options.test_split >= 0 && options.test_split + options.validation_split < 1,
        "a share of the text that leaves some for training");
  check("limit", options.limit >= 0, "a number of records, or 0 for all");
  return [options](std::string_view split) { return OpenTextSplit(options, split); };
}

FLATOUT_REGISTER(text_source) { RegisterSource("text", OpenText); }

}  // namespace flatout::data
