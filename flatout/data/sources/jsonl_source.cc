// The source "jsonl": files with one JSON object per line.
#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/formats/json_lines.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

constexpr int64_t kSample = 1000;  // records from which members and types are inferred
const std::string kParse = "parse jsonl";
constexpr RecordScan kScan = {.blank = RecordScan::Blank::kSkipSpace};

// What the first training file says, and what follows from it; the same for every split.
struct Schema {
  struct Out {
    CellType type;
    std::vector<std::string> paths;
    std::vector<int64_t> dims;
    bool packed = false;  // each path is one element
  };
  std::vector<Out> outs;  // one per field
  std::vector<Field> fields;
  JsonRowParser parser;
};

class JsonLinesSource : public Source {
 public:
  JsonLinesSource(std::shared_ptr<const Schema> schema, std::unique_ptr<RecordFiles> files)
      : schema_(std::move(schema)), files_(std::move(files)) {
    description_ =
        fmt::format("jsonl: {} records from {} {}, {}", files_->size(), files_->files(),
                    files_->files() == 1 ? "file" : "files", DescribeFields(schema_->fields));
  }
  int64_t size() const override { return files_->size(); }
  const std::vector<Field>& fields() const override { return schema_->fields; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    ReadContext::Stage stage(context, kParse, static_cast<int64_t>(records.size()));
    JsonRowParser::Scratch scratch;
    JsonFault fault;
    const int64_t bytes = files_->Read(context, records, out, [&](const RecordText& text) {
      if (schema_->parser.Parse(text, out, scratch, fault)) return;
      out.Bad(text.row,
              BadData("{}: record {}: {}",
                      files_->Where(text.file, text.offset + static_cast<int64_t>(fault.at)),
                      text.record, fault.what));
    });
    stage.AddBytes(bytes);
  }

 private:
  std::shared_ptr<const Schema> schema_;
  std::unique_ptr<RecordFiles> files_;
  std::string description_;
};

class Opener {
 public:
  explicit Opener(FieldReader& reader) {
    options_.Visit(reader);
    options_.split.Check(reader);
    if (const Config* columns = reader.Take("columns")) specs_ = ReadColumns(*columns);
  }

  SourcePtr Open(std::string_view split) {
    return OpenSplit(
        "jsonl", options_.split, split, [this](const std::vector<std::string>& paths) -> SourcePtr {
          auto files = std::make_unique<RecordFiles>(paths, kScan, "jsonl");
          auto schema = SchemaOf(*files);
          return std::make_shared<JsonLinesSource>(std::move(schema), std::move(files));
        });
  }

 private:
  std::shared_ptr<const Schema> SchemaOf(const RecordFiles& files);
  std::shared_ptr<const Schema> MakeSchema(const RecordFiles& files, size_t file) const;

  JsonLinesOptions options_;
  std::vector<ColumnSpec> specs_;
  std::mutex mutex_;
  std::shared_ptr<const Schema> schema_;
};

std::shared_ptr<const Schema> Opener::MakeSchema(const RecordFiles& files, size_t file) const {
  JsonSample sample;
  JsonValue value;
  JsonFault fault;
  std::string first_fault;
  int64_t taken = 0;
  const int64_t sampled = std::min(files.records_in_file(file), kSample);
  for (int64_t i = 0; i < sampled; ++i) {
    int64_t offset = 0;
    const std::string text = files.Text(file, i, &offset);
    if (ParseJson(text, value, fault) && value.kind == JsonValue::Kind::kObject) {
      sample.Take(value, i);
      ++taken;
    } else if (first_fault.empty()) {
      if (value.kind == JsonValue::Kind::kArray && fault.what.empty()) {
        fault = {0,
                 "expected a JSON object on each line, found an array. jq -c '.[]' writes its "
                 "values line by line"};
      } else if (fault.what.empty()) {
        fault = {0, "expected a JSON object, {...}, found " + ShowText(text)};
      }
      first_fault =
          fmt::format("{}: record {}: {}",
                      files.Where(file, offset + static_cast<int64_t>(fault.at)), i, fault.what);
    }
    fault = {};
  }
  if (taken == 0) throw BadData("{}", first_fault);

  const std::vector<std::string> paths = sample.Paths();
  std::vector<ColumnSpec> specs = specs_;
  if (specs.empty()) {
    for (size_t i = 0; i < paths.size(); ++i) {
      if (!sample.IsField(i)) continue;
      ColumnSpec spec;
      spec.name = paths[i];
      spec.from = {paths[i]};
      specs.push_back(std::move(spec));
    }
    if (specs.empty()) {
      throw BadData("{}: the records have no members that could be fields", files.path(file));
    }
  }
  auto complain = [&](const ColumnSpec& spec, const std::string& message) -> UserError {
    return spec.config.is_none() ? UserError(BadData("{}: {}", files.path(file), message))
                                 : spec.config.Complain(message);
  };
  constexpr size_t kUnseen = static_cast<size_t>(-1);
  struct Chosen {
    ColumnSpec spec;
    std::vector<size_t> members;  // kUnseen: not in the sample
    std::vector<std::string> paths;
  };
  auto choose = [&](Chosen& one, const std::string& pattern) {
    const std::vector<size_t> found = MatchColumns(pattern, paths);
    for (const size_t member : found) {
      if (!sample.IsField(member) && IsPattern(pattern)) continue;
      if (!sample.IsField(member)) {
        throw complain(one.spec, fmt::format("{} holds an array of objects, which no field can",
                                             ShowText(paths[member])));
      }
      one.members.push_back(member);
      one.paths.push_back(paths[member]);
    }
    if (!found.empty() || (!one.spec.inferred && !IsPattern(pattern))) {
      if (found.empty()) {
        one.members.push_back(kUnseen);
        one.paths.push_back(pattern);
      }
      return;
    }
    std::string some;
    for (size_t i = 0; i < paths.size() && i < 12; ++i) {
      some += fmt::format("{}{}", i == 0 ? "" : ", ", ShowText(paths[i], 30));
    }
    throw complain(
        one.spec,
        fmt::format("none of the first {} records of {} has a member {}{}{}; they have "
                    "{}. Declare its type if it comes later",
                    sampled, files.path(file), IsPattern(pattern) ? "matched by " : "called ",
                    ShowText(pattern), DidYouMean(pattern, paths), some));
  };
  auto is_pattern = [&](const ColumnSpec& spec) {
    return spec.from.empty() && IsPattern(spec.name) &&
           std::find(paths.begin(), paths.end(), spec.name) == paths.end();
  };
  std::unordered_set<std::string> used;
  for (const ColumnSpec& spec : specs) {
    if (is_pattern(spec)) continue;
    Chosen one = {spec, {}, {}};
    for (const std::string& from : spec.from.empty() ? std::vector{spec.name} : spec.from) {
      choose(one, from);
    }
    used.insert(one.paths.begin(), one.paths.end());
  }
  std::vector<Chosen> chosen;
  for (const ColumnSpec& spec : specs) {
    Chosen one = {spec, {}, {}};
    if (is_pattern(spec)) {
      choose(one, spec.name);
      for (size_t i = 0; i < one.members.size(); ++i) {
        if (!used.insert(one.paths[i]).second) continue;
        chosen.push_back({spec, {one.members[i]}, {one.paths[i]}});
        chosen.back().spec.name = one.paths[i];
      }
      continue;
    }
    for (const std::string& from : spec.from.empty() ? std::vector{spec.name} : spec.from) {
      choose(one, from);
    }
    chosen.push_back(std::move(one));
  }
  if (chosen.empty()) throw complain(specs[0], "no member is left for any field");

  auto schema = std::make_shared<Schema>();
  std::unordered_set<std::string> names;
  for (Chosen& one : chosen) {
    if (!names.insert(one.spec.name).second) {
      throw complain(one.spec, fmt::format("two fields are called {}", ShowText(one.spec.name)));
    }
    if (one.spec.inferred) {
      const std::string unresolved = sample.Unresolved(one.members, one.spec.name);
      if (!unresolved.empty()) throw BadData("{}: {}", files.path(file), unresolved);
      sample.ResolveType(one.members, one.spec);
    }
    Schema::Out out;
    out.type = MakeCellType(one.spec, options_.missing);
    out.type.text_takes_numbers = false;
    out.paths = one.paths;
    out.packed = one.spec.packed;
    if (out.packed) {
      out.dims = {static_cast<int64_t>(one.paths.size())};
      if (out.type.kind == CellType::Kind::kText) {
        throw complain(one.spec, "several members become one field of numbers only, not of text");
      }
      for (const size_t member : one.members) {
        if (member != kUnseen && !sample.Dims(member).empty()) {
          throw complain(one.spec, fmt::format("{} holds arrays: a list of members makes one field "
                                               "of scalars only",
                                               ShowText(paths[member])));
        }
      }
    } else if (one.spec.shape) {
      out.dims = *one.spec.shape;
    } else if (one.members[0] != kUnseen) {
      out.dims = sample.Dims(one.members[0]);
      // A dimension that was nothing but empty so far.
      for (int64_t& dim : out.dims) dim = dim == 0 ? kAny : dim;
    }
    if (out.packed && one.spec.shape) {
      int64_t elements = 1;
      for (const int64_t dim : *one.spec.shape) {
        elements = dim == kAny || dim > out.dims[0] || elements < 0 ? -1 : elements * dim;
      }
      if (elements != out.dims[0]) {
        throw complain(one.spec, fmt::format("shape {} does not hold the {} members of the field",
                                             ir::DimsToString(*one.spec.shape), out.dims[0]));
      }
      out.dims = *one.spec.shape;
    }
    if (!out.packed && out.dims.size() > kMostRank) {
      throw complain(one.spec, fmt::format("{} has {} dimensions; a field has at most {}",
                                           ShowText(one.paths[0]), out.dims.size(), kMostRank));
    }
    schema->fields.push_back(MakeField(out.type, out.dims));
    if (!out.packed && schema->fields.back().fixed() && schema->fields.back().shape.size() == 0) {
      throw complain(one.spec, "the field has no elements");
    }
    schema->outs.push_back(std::move(out));
  }
  for (size_t f = 0; f < schema->outs.size(); ++f) {
    const Schema::Out& out = schema->outs[f];
    for (size_t e = 0; e < out.paths.size(); ++e) {
      schema->parser.Add(out.paths[e], &out.type, f, out.dims,
                         out.packed ? static_cast<int64_t>(e) : -1);
    }
  }
  return schema;
}

std::shared_ptr<const Schema> Opener::SchemaOf(const RecordFiles& files) {
  const std::lock_guard lock(mutex_);
  if (schema_ != nullptr) return schema_;
  // Validation and test files are read as the training files are.
  std::unique_ptr<RecordFiles> first;
  const RecordFiles* from = &files;
  if (!options_.split.files.empty()) {
    std::vector<std::string> paths = ExpandFiles(options_.split.files);
    if (paths.front() != files.path(0)) {
      first =
          std::make_unique<RecordFiles>(std::vector<std::string>{paths.front()}, kScan, "jsonl");
      from = first.get();
    }
  }
  for (size_t f = 0; f < from->files(); ++f) {
    if (from->records_in_file(f) > 0) return schema_ = MakeSchema(*from, f);
  }
  throw BadData("{}: the file holds no records", from->path(0));
}

}  // namespace

std::function<SourcePtr(std::string_view)> OpenJsonLines(FieldReader& reader) {
  auto opener = std::make_shared<Opener>(reader);
  return [opener](std::string_view split) { return opener->Open(split); };
}

FLATOUT_REGISTER(jsonl_source) { RegisterSource("jsonl", OpenJsonLines); }

}  // namespace flatout::data
