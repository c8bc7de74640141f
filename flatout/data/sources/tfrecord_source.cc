#include "flatout/data/sources/tfrecord_source.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "flatout/data/formats/tfrecord.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

const std::string kRead = "read";
const std::string kParse = "parse example";

constexpr std::string_view kFormats[] = {"auto", "example", "sequence_example", "bytes"};

// Bytes that are read, checked and parsed in one go: they stay in the core's own cache.
constexpr int64_t kPiece = int64_t{1} << 18;

class TfRecords : public Source {
 public:
  TfRecords(std::vector<std::shared_ptr<const TfRecordFile>> files,
            std::unique_ptr<const ExampleParser> parser)
      : files_(std::move(files)), parser_(std::move(parser)) {
    for (const auto& file : files_) begins_.push_back(begins_.back() + file->size());
    fields_ = parser_ ? parser_->fields() : std::vector<Field>{TextField("record")};
    // Text need not be copied out of the records if those stay in the block's own memory.
    keep_ = std::any_of(fields_.begin(), fields_.end(), [](const Field& f) { return f.text; });
    description_ = fmt::format("tfrecord: {} records in {} {}, {}", size(), files_.size(),
                               files_.size() == 1 ? "file" : "files", DescribeFields(fields_));
  }

  int64_t size() const override { return begins_.back(); }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    thread_local Work work;
    Sort(records, work.items);
    std::span<Item> rest(work.items);
    while (!rest.empty()) {
      const std::span<Item> piece = NextPiece(rest);
      rest = rest.subspan(piece.size());
      {
        ReadContext::Stage stage(context, kRead, static_cast<int64_t>(piece.size()));
        stage.AddBytes(ReadPiece(context, piece, out));
      }
      const std::optional<ReadContext::Stage> stage =
          parser_ ? std::optional<ReadContext::Stage>(std::in_place, context, kParse,
                                                      static_cast<int64_t>(piece.size()))
                  : std::nullopt;
      for (const Item& item : piece) {
        if (item.bad) continue;
        if (!parser_) {
          out.SetTextView(0, item.row,
                          {reinterpret_cast<const char*>(item.data.data()), item.data.size()});
          continue;
        }
        try {
          parser_->Parse(item.data, out, item.row, work.parse,
                         keep_ || item.file->file().resident());
        } catch (DataError& error) {
          error.AddContext(item.file->Describe(item.record));
          out.Bad(item.row, error);
        }
      }
    }
    // For what transforms find bad.
    out.set_origin(
        [this, records = std::vector<int64_t>(records.begin(), records.end())](int64_t row) {
          const int64_t record = records[static_cast<size_t>(row)];
          const auto after = std::upper_bound(begins_.begin(), begins_.end(), record);
          const auto file = static_cast<size_t>(after - begins_.begin()) - 1;
          return files_[file]->Describe(record - begins_[file]);
        });
  }

 private:
  // One row to be read.
  struct Item {
    const TfRecordFile* file;
    int64_t record;  // in the file
    int64_t row;     // of the block
    std::span<const std::byte> data;
    bool bad = false;  // reported already

    bool Follows(const Item& before) const {
      return file == before.file && record - before.record <= 1 && !lost() && !before.lost();
    }
    bool lost() const { return file->lost(record); }
    int64_t extent() const { return lost() ? 0 : file->extent(record); }
  };
  struct Work {
    std::vector<Item> items;
    ExampleParser::Scratch parse;
  };

  // The rows in the order of their places in the files, so that neighbours are read together.
  void Sort(std::span<const int64_t> records, std::vector<Item>& items) const {
    items.clear();
    size_t file = 0;
    bool rising = true;
    for (size_t i = 0; i < records.size(); ++i) {
      const int64_t record = records[i];
      if (record < begins_[file] || record >= begins_[file + 1]) {
        const auto after = std::upper_bound(begins_.begin(), begins_.end(), record);
        file = static_cast<size_t>(after - begins_.begin()) - 1;
      }
      rising = rising && (i == 0 || records[i - 1] <= record);
      items.push_back({files_[file].get(), record - begins_[file], static_cast<int64_t>(i), {}});
    }
    if (!rising) {
      std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
        const int64_t left = records[static_cast<size_t>(a.row)];
        const int64_t right = records[static_cast<size_t>(b.row)];
        return left != right ? left < right : a.row < b.row;
      });
    }
  }

  static std::span<Item> NextPiece(std::span<Item> items) {
    size_t count = 0;
    int64_t bytes = 0;
    while (count < items.size() && (count == 0 || bytes + items[count].extent() <= kPiece)) {
      bytes += items[count++].extent();
    }
    return items.first(count);
  }

  int64_t ReadPiece(ReadContext& context, std::span<Item> piece, Block& out) const {
    Block& memory = keep_ ? out : context.Scratch(this, 0, {}, 0);
    int64_t bytes = 0;
    while (!piece.empty()) {
      size_t count = 1;
      while (count < piece.size() && piece[count].Follows(piece[count - 1])) ++count;
      bytes += ReadRun(piece.first(count), memory, out);
      piece = piece.subspan(count);
    }
    return bytes;
  }

  // Items one behind the other in one file, read at once.
  int64_t ReadRun(std::span<Item> run, Block& memory, Block& out) const {
    const TfRecordFile& file = *run[0].file;
    const int64_t begin = file.offset(run[0].record);
    const int64_t bytes =
        run[0].lost() ? 0 : file.offset(run.back().record) + run.back().extent() - begin;
    std::span<const std::byte> content;
    try {
      if (run[0].lost()) throw file.Damage(run[0].record);
      if (file.file().resident()) {
        std::vector<std::byte> none;
        content = file.file().Read(begin, bytes, none);
      } else {
        const std::span<std::byte> room(memory.Allocate(bytes), static_cast<size_t>(bytes));
        file.file().ReadInto(begin, room);
        content = room;
      }
    } catch (DataError& error) {
      if (run.size() == 1) {
        run[0].bad = true;
        if (!run[0].lost()) error.AddContext(file.Describe(run[0].record));
        out.Bad(run[0].row, error);
        return 0;
      }
      // Only those that cannot be read are bad.
      int64_t sum = 0;
      for (Item& item : run) sum += ReadRun(std::span(&item, 1), memory, out);
      return sum;
    }
    for (Item& item : run) {
      try {
        item.data = file.Check(
            item.record, content.subspan(static_cast<size_t>(file.offset(item.record) - begin),
                                         static_cast<size_t>(item.extent())));
      } catch (const DataError& error) {
        item.bad = true;
        out.Bad(item.row, error);
      }
    }
    return bytes;
  }

  const std::vector<std::shared_ptr<const TfRecordFile>> files_;
  const std::unique_ptr<const ExampleParser> parser_;  // none: the records as they are
  std::vector<int64_t> begins_ = {0};                  // number of each file's first record
  std::vector<Field> fields_;
  bool keep_ = false;
  std::string description_;
};

// The first records of the files, as far as they are whole.
struct Sample {
  ExampleInference inference;
  int64_t others = 0;                  // that are no Examples
  std::optional<DataError> first_bad;  // why there are none
  std::string first_file;

  int64_t seen() const { return inference.records() + others; }
};

Sample TakeSample(const std::vector<std::shared_ptr<const TfRecordFile>>& files) {
  constexpr int64_t kMostRecords = 100;
  constexpr int64_t kMostBytes = int64_t{16} << 20;
  Sample sample;
  int64_t bytes = 0;
  std::vector<std::byte> scratch;
  for (const auto& file : files) {
    if (file->size() > 0 && sample.first_file.empty()) sample.first_file = file->file().path();
    for (int64_t record = 0; record < file->size(); ++record) {
      if (sample.seen() > 0 && !file->lost(record)) bytes += file->extent(record);
      if (sample.seen() == kMostRecords || bytes > kMostBytes) return sample;
      try {
        if (!sample.inference.Add(file->Read(record, scratch))) ++sample.others;
      } catch (const DataError& error) {
        if (!sample.first_bad) sample.first_bad = error;
      }
    }
  }
  return sample;
}

// A misspelt name would otherwise be a feature that is always missing.
void CheckDeclared(const std::vector<FeatureSpec>& specs, const Sample& sample) {
  if (sample.inference.records() == 0) return;
  for (const FeatureSpec& spec : specs) {
    const std::vector<std::string> names = sample.inference.Names(spec.sequence);
    if (std::binary_search(names.begin(), names.end(), spec.name)) continue;
    if (!spec.default_numbers.empty() || spec.default_text) continue;
    const std::vector<std::string> others = sample.inference.Names(!spec.sequence);
    std::string hint = DidYouMean(spec.name, names);
    if (std::binary_search(others.begin(), others.end(), spec.name)) {
      hint = spec.sequence ? "; it is no sequence: declare it under `features`"
                           : "; it is a sequence: declare it under `sequence_features`";
    } else if (hint.empty()) {
      std::string list;
      for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
      hint = list.empty() ? "; they have none" : "; they have " + list;
    }
    throw BadData(
        "{}: none of the first {} records has the declared feature {}{}. Correct the name, or give "
        "it a `default`",
        sample.first_file, sample.inference.records(), spec.name, hint);
  }
}

}  // namespace

SourcePtr OpenTfRecordFiles(const std::vector<std::string>& paths, const std::string& format,
                            std::vector<FeatureSpec> specs) {
  if (std::find(std::begin(kFormats), std::end(kFormats), format) == std::end(kFormats)) {
    throw Invalid(
        "format: expected \"auto\", \"example\", \"sequence_example\" or \"bytes\", found \"{}\"",
        format);
  }
  std::vector<std::shared_ptr<const TfRecordFile>> files(paths.size());
  ForEachFile(paths.size(), [&](size_t i) { files[i] = TfRecordFile::Open(paths[i]); });
  if (format == "bytes") return std::make_shared<TfRecords>(std::move(files), nullptr);
  const Sample sample = TakeSample(files);
  const bool declared = !specs.empty();
  bool sequence = format == "sequence_example";
  if (format == "auto") {
    sequence = declared ? std::any_of(specs.begin(), specs.end(),
                                      [](const FeatureSpec& spec) { return spec.sequence; })
                        : sample.inference.sequence();
  }
  if (!declared) {
    if (sample.seen() == 0 && sample.first_bad) throw *sample.first_bad;
    // Some bytes may look like an Example without features by chance.
    const bool examples = !sample.inference.empty() && sample.inference.records() > sample.others;
    if (!examples) {
      if (format == "auto") return std::make_shared<TfRecords>(std::move(files), nullptr);
      throw BadData(
          "{}: the first records have no features that could be inferred ({} of {} are no "
          "tf.train.Example). Declare `features`, or set format = \"bytes\"",
          sample.first_file.empty() ? "no file" : sample.first_file, sample.others, sample.seen());
    }
    specs = WithContext(sample.first_file, [&] { return sample.inference.Specs(); });
    if (!sequence) std::erase_if(specs, [](const FeatureSpec& spec) { return spec.sequence; });
  } else {
    CheckDeclared(specs, sample);
  }
  auto parser = std::make_unique<const ExampleParser>(
      sequence ? ExampleFormat::kSequenceExample : ExampleFormat::kExample, std::move(specs));
  return std::make_shared<TfRecords>(std::move(files), std::move(parser));
}

std::function<SourcePtr(std::string_view)> OpenTfRecord(FieldReader& reader) {
  TfRecordOptions options;
  options.Visit(reader);
  options.Check(reader);
  const auto complain = [&](std::string_view key, const std::string& what) {
    throw reader.Take(key)->Complain(what);
  };
  if (std::find(std::begin(kFormats), std::end(kFormats), options.format) == std::end(kFormats)) {
    complain("format",
             fmt::format("expected \"auto\", \"example\", \"sequence_example\" or \"bytes\", found "
                         "\"{}\"{}",
                         options.format,
                         DidYouMean(options.format, {std::begin(kFormats), std::end(kFormats)})));
  }
  const bool features = !options.features.is_none();
  const bool sequences = !options.sequence_features.is_none();
  std::vector<FeatureSpec> specs;
  if (features) specs = ReadFeatureSpecs(options.features, false);
  if (sequences) {
    for (FeatureSpec& spec : ReadFeatureSpecs(options.sequence_features, true)) {
      specs.push_back(std::move(spec));
    }
  }
  if (options.format == "bytes" && features)
    complain("features", "format is \"bytes\": it has none");
  if (sequences && options.format != "auto" && options.format != "sequence_example") {
    complain("sequence_features",
             fmt::format("format is \"{}\": only sequence_example has them", options.format));
  }
  if (features && specs.empty()) complain("features", "expected at least one feature");
  // Two features of one name, while there is a place to complain at.
  for (const FeatureSpec& spec : specs) {
    if (spec.sequence && features && options.features.Find(spec.name) != nullptr) {
      throw options.sequence_features.Find(spec.name)->Complain(
          "a feature of this name is declared under `features` too: fields need names of their "
          "own");
    }
  }
  return [options, specs](std::string_view split) {
    return OpenSplit("tfrecord", options, split, [&](const std::vector<std::string>& files) {
      return OpenTfRecordFiles(files, options.format, specs);
    });
  };
}

FLATOUT_REGISTER(tfrecord_source) { RegisterSource("tfrecord", OpenTfRecord); }

}  // namespace flatout::data
