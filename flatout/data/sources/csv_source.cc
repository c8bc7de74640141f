// The source "csv": files of delimited text with typed columns.
#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/formats/csv.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

constexpr int64_t kSample = 1000;  // records from which delimiter and types are inferred
const std::string kParse = "parse csv";

// What the first training file says, and what follows from it; the same for every split.
struct Schema {
  CsvDialect dialect;
  bool header = false;
  std::vector<std::string> names;  // of the columns of the file it was made from
  struct Out {
    CellType type;
    std::vector<std::string> columns;
    std::vector<int64_t> dims;
  };
  std::vector<Out> outs;  // one per field
  std::vector<Field> fields;
};

char OneCharacter(const Config* value, const std::string& text, std::string_view what) {
  if (text.empty()) return 0;
  const auto c = static_cast<unsigned char>(text[0]);
  if (text.size() == 1 && c < 0x80 && c != '\n' && c != '\r') return text[0];
  const std::string message =
      fmt::format("expected one ASCII character as the {}, found {}", what, ShowText(text));
  throw value != nullptr ? value->Complain(message) : Invalid("csv: {}", message);
}

std::string Fields(std::span<const std::string> names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 12; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ShowText(names[i], 30));
  }
  if (names.size() > 12) text += fmt::format(", ... ({} in all)", names.size());
  return text;
}

class Opener : public std::enable_shared_from_this<Opener> {
 public:
  explicit Opener(FieldReader& reader) {
    options_.Visit(reader);
    options_.split.Check(reader);
    const Config* delimiter = reader.Take("delimiter");
    if (options_.delimiter == "tab" || options_.delimiter == "\\t") options_.delimiter = "\t";
    if (options_.delimiter != "auto") {
      dialect_.delimiter = OneCharacter(delimiter, options_.delimiter, "delimiter");
      const std::string_view refused = "\".+-_eE0123456789";
      if (dialect_.delimiter == 0 || refused.find(dialect_.delimiter) != std::string_view::npos) {
        throw delimiter->Complain(fmt::format(
            "expected one character that is no part of a number and no quote, \"tab\" or \"auto\", "
            "found {}",
            delimiter->Describe()));
      }
    }
    dialect_.quote = OneCharacter(reader.Take("quote"), options_.quote, "quote");
    dialect_.comment = OneCharacter(reader.Take("comment"), options_.comment, "comment");
    dialect_.trim = options_.trim;
    if (dialect_.quote != 0 && options_.delimiter != "auto" &&
        dialect_.quote == dialect_.delimiter) {
      throw reader.Take("quote")->Complain("the quote and the delimiter are the same character");
    }
    if (options_.header.is_string() ? options_.header.AsString() != "auto"
                                    : options_.header.kind() != Config::Kind::kBool) {
      throw options_.header.Complain(
          fmt::format("expected true, false or \"auto\", found {}", options_.header.Describe()));
    }
    if (const Config* columns = reader.Take("columns")) specs_ = ReadColumns(*columns);
    std::unordered_set<std::string> seen;
    for (const std::string& name : options_.names) {
      for (const std::string& one : ExpandRange(name)) {
        if (!seen.insert(one).second) {
          throw reader.Take("names")->Complain(
              fmt::format("the name {} stands there twice", ShowText(one)));
        }
        names_.push_back(one);
      }
    }
  }

  SourcePtr Open(std::string_view split);

 private:
  std::shared_ptr<const Schema> SchemaOf(const RecordFiles& files);
  std::vector<std::string> Header(const RecordFiles& files, size_t file, const CsvDialect& dialect,
                                  bool header) const;
  std::shared_ptr<const Schema> MakeSchema(const RecordFiles& files, size_t file) const;
  // Whether a column that was declared by name is among these.
  bool NamesOneOf(std::span<const std::string> fields) const;
  SourcePtr OpenFiles(const std::vector<std::string>& paths);

  CsvOptions options_;
  CsvDialect dialect_;  // the delimiter may still be "auto"
  std::vector<ColumnSpec> specs_;
  std::vector<std::string> names_;
  std::mutex mutex_;
  std::shared_ptr<const Schema> schema_;
};

class CsvSource : public Source {
 public:
  CsvSource(std::shared_ptr<const Schema> schema, std::unique_ptr<RecordFiles> files,
            std::vector<std::shared_ptr<const CsvRowParser>> parsers)
      : schema_(std::move(schema)), files_(std::move(files)), parsers_(std::move(parsers)) {
    description_ =
        fmt::format("csv: {} records from {} {}, {}", files_->size(), files_->files(),
                    files_->files() == 1 ? "file" : "files", DescribeFields(schema_->fields));
  }
  int64_t size() const override { return files_->size(); }
  const std::vector<Field>& fields() const override { return schema_->fields; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    ReadContext::Stage stage(context, kParse, static_cast<int64_t>(records.size()));
    CsvRowParser::Scratch scratch;
    const CsvRowParser* parser = nullptr;
    CsvFault fault;
    const int64_t bytes = files_->Read(context, records, out, [&](const RecordText& text) {
      if (parsers_[text.file].get() != parser) {
        parser = parsers_[text.file].get();
        parser->Prepare(out, scratch);
      }
      if (parser->Parse(text, out, scratch, fault)) return;
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
  std::vector<std::shared_ptr<const CsvRowParser>> parsers_;  // one per file
  std::string description_;
};

// The names of the columns of one file.
std::vector<std::string> Opener::Header(const RecordFiles& files, size_t file,
                                        const CsvDialect& dialect, bool header) const {
  int64_t offset = 0;
  const std::string text = files.Text(file, 0, &offset);
  std::vector<CsvCell> cells;
  CsvFault fault;
  if (!SplitCsv(text, dialect, cells, fault)) {
    throw BadData("{}: {}: {}", files.Where(file, offset + static_cast<int64_t>(fault.at)),
                  header ? "the header" : "the first record", fault.what);
  }
  if (!names_.empty()) {
    if (cells.size() != names_.size()) {
      throw BadData("{}: expected {} fields, as `names` lists {}, found {} (delimiter {}): {}",
                    files.Where(file, offset), names_.size(), names_.size(), cells.size(),
                    ShowText(std::string_view(&dialect.delimiter, 1)),
                    ShowText(std::string_view(text).substr(0, text.find_first_of("\r\n")), 100));
    }
    return names_;
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string name = header ? CsvText(cells[i], dialect.quote) : "";
    while (name.starts_with(' ') || name.starts_with('\t')) name.erase(0, 1);
    while (name.ends_with(' ') || name.ends_with('\t')) name.pop_back();
    if (name.empty()) name = fmt::format("column{}", i + 1);
    names.push_back(std::move(name));
  }
  return names;
}

bool Opener::NamesOneOf(std::span<const std::string> fields) const {
  auto found = [&](const std::string& name) {
    return std::find(fields.begin(), fields.end(), name) != fields.end();
  };
  return std::any_of(specs_.begin(), specs_.end(), [&](const ColumnSpec& spec) {
    return spec.from.empty() ? found(spec.name)
                             : std::any_of(spec.from.begin(), spec.from.end(), found);
  });
}

std::shared_ptr<const Schema> Opener::MakeSchema(const RecordFiles& files, size_t file) const {
  auto schema = std::make_shared<Schema>();
  schema->dialect = dialect_;
  const int64_t sampled = std::min(files.records_in_file(file), kSample + 1);
  std::vector<std::string> sample;
  for (int64_t i = 0; i < sampled; ++i) sample.push_back(files.Text(file, i));
  if (options_.delimiter == "auto") {
    schema->dialect.delimiter =
        GuessDelimiter(std::span(sample).first(std::min<size_t>(sample.size(), 20)), dialect_);
  }
  std::vector<CsvCell> cells;
  CsvFault fault;
  if (options_.header.is_string()) {
    std::vector<std::string> fields;
    if (SplitCsv(sample[0], schema->dialect, cells, fault)) {
      for (const CsvCell& cell : cells) fields.push_back(CsvText(cell, dialect_.quote));
    }
    // With names given, a first record like any other is data, whatever it looks like.
    schema->header =
        names_.empty() ? LooksLikeHeader(fields) || NamesOneOf(fields) : fields == names_;
  } else {
    schema->header = options_.header.AsBool();
  }
  schema->names = Header(files, file, schema->dialect, schema->header);
  const std::vector<std::string>& names = schema->names;
  std::unordered_map<std::string_view, size_t> count;
  for (const std::string& name : names) ++count[name];

  // Columns that are named outright are not taken again by patterns.
  std::vector<ColumnSpec> specs = specs_;
  if (specs.empty()) {
    for (const std::string& name : names) {
      ColumnSpec spec;
      spec.name = name;
      spec.from = {name};
      specs.push_back(std::move(spec));
    }
  }
  auto complain = [&](const ColumnSpec& spec, const std::string& message) -> UserError {
    return spec.config.is_none() ? UserError(BadData("{}: {}", files.path(file), message))
                                 : spec.config.Complain(message);
  };
  auto select = [&](const ColumnSpec& spec, const std::string& pattern) {
    std::vector<size_t> found = MatchColumns(pattern, names);
    if (found.empty()) {
      throw complain(spec,
                     fmt::format("no column of {} is {}{}{}; it has {}", files.path(file),
                                 IsPattern(pattern) ? "matched by " : "called ", ShowText(pattern),
                                 DidYouMean(pattern, names), Fields(names)));
    }
    return found;
  };
  std::vector<std::vector<size_t>> selected(specs.size());
  std::vector<bool> used(names.size(), false);
  auto is_pattern = [&](const ColumnSpec& spec) {
    return spec.from.empty() && IsPattern(spec.name) &&
           std::find(names.begin(), names.end(), spec.name) == names.end();
  };
  for (size_t s = 0; s < specs.size(); ++s) {
    if (is_pattern(specs[s])) continue;
    std::vector<std::string> from = specs[s].from;
    if (from.empty()) from = {specs[s].name};
    for (const std::string& pattern : from) {
      for (const size_t column : select(specs[s], pattern)) {
        selected[s].push_back(column);
        used[column] = true;
      }
    }
  }
  struct Chosen {
    ColumnSpec spec;
    std::vector<size_t> columns;
  };
  std::vector<Chosen> chosen;
  for (size_t s = 0; s < specs.size(); ++s) {
    if (!is_pattern(specs[s])) {
      chosen.push_back({specs[s], selected[s]});
      continue;
    }
    bool any = false;
    for (const size_t column : select(specs[s], specs[s].name)) {
      if (used[column]) continue;
      any = used[column] = true;
      chosen.push_back({specs[s], {column}});
      chosen.back().spec.name = names[column];
    }
    if (!any) throw complain(specs[s], "every column that it matches is taken by another entry");
  }

  // Types that were not declared.
  std::vector<TypeGuess> guesses(names.size());
  for (size_t i = schema->header ? 1 : 0; i < sample.size(); ++i) {
    if (!SplitCsv(sample[i], schema->dialect, cells, fault) || cells.size() != names.size()) {
      continue;  // it is bad when it is read
    }
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string text = CsvText(cells[c], dialect_.quote);
      const bool missing =
          text.empty() || std::find(options_.missing_values.begin(), options_.missing_values.end(),
                                    text) != options_.missing_values.end();
      if (!missing) guesses[c].Take(text);
    }
  }
  std::unordered_set<std::string> field_names;
  for (Chosen& one : chosen) {
    for (const size_t column : one.columns) {
      if (count[names[column]] > 1) {
        std::string places;
        for (size_t i = 0; i < names.size(); ++i) {
          if (names[i] == names[column]) {
            places += fmt::format("{}{}", places.empty() ? "" : " and ", i + 1);
          }
        }
        throw complain(one.spec,
                       fmt::format("the column name {} stands in the header of {} as fields {}: "
                                   "give the columns names of their own (names = [...], header = "
                                   "true), or leave these out of `columns`",
                                   ShowText(names[column]), files.path(file), places));
      }
    }
    if (one.spec.inferred) {
      TypeGuess guess;
      for (const size_t column : one.columns) guess.Join(guesses[column]);
      guess.Resolve(one.spec);
    }
    if (!field_names.insert(one.spec.name).second) {
      throw complain(one.spec, fmt::format("two fields are called {}", ShowText(one.spec.name)));
    }
    Schema::Out out;
    out.type = MakeCellType(one.spec, options_.missing);
    const auto columns = static_cast<int64_t>(one.columns.size());
    if (one.spec.packed) out.dims = {columns};
    if (one.spec.shape) {
      int64_t elements = 1;
      for (const int64_t dim : *one.spec.shape) {
        if (dim == kAny || dim > columns) {
          elements = -1;
          break;
        }
        elements *= dim;
      }
      if (elements != columns) {
        throw complain(one.spec, fmt::format("shape {} does not hold the {} columns of the field",
                                             ir::DimsToString(*one.spec.shape), columns));
      }
      out.dims = *one.spec.shape;
    }
    if (out.type.kind == CellType::Kind::kText && out.dims.size() > kMostRank) {
      throw complain(one.spec, fmt::format("a text field has at most {} dimensions", kMostRank));
    }
    for (const size_t column : one.columns) out.columns.push_back(names[column]);
    schema->fields.push_back(MakeField(out.type, out.dims));
    schema->outs.push_back(std::move(out));
  }
  return schema;
}

SourcePtr Opener::OpenFiles(const std::vector<std::string>& paths) {
  auto files = std::make_unique<RecordFiles>(paths, dialect_.scan(), "csv");
  std::shared_ptr<const Schema> schema = SchemaOf(*files);
  std::vector<std::shared_ptr<const CsvRowParser>> parsers;
  std::map<std::vector<std::string>, std::shared_ptr<const CsvRowParser>> by_header;
  for (size_t f = 0; f < files->files(); ++f) {
    std::vector<std::string> names = schema->names;
    if (files->records_in_file(f) > 0 && (schema->header || !names_.empty())) {
      names = Header(*files, f, schema->dialect, schema->header);
    } else if (schema->header) {
      throw BadData("{}: the file has no header: it holds no records at all", paths[f]);
    }
    if (schema->header) files->Skip(f, 1);
    std::shared_ptr<const CsvRowParser>& parser = by_header[names];
    if (parser == nullptr) {
      auto made = std::make_shared<CsvRowParser>(schema->dialect, names, options_.missing_values);
      for (size_t i = 0; i < schema->outs.size(); ++i) {
        const Schema::Out& out = schema->outs[i];
        for (size_t e = 0; e < out.columns.size(); ++e) {
          const auto it = std::find(names.begin(), names.end(), out.columns[e]);
          const bool twice =
              it != names.end() && std::find(it + 1, names.end(), out.columns[e]) != names.end();
          if (it == names.end() || twice) {
            throw BadData("{}: the header {} the column {}, unlike the first file's{}; it has {}",
                          files->Where(f, 0), twice ? "has twice" : "lacks",
                          ShowText(out.columns[e]), DidYouMean(out.columns[e], names),
                          Fields(names));
          }
          made->Add(static_cast<size_t>(it - names.begin()), &out.type, i, static_cast<int64_t>(e),
                    out.type.kind == CellType::Kind::kText ? out.dims : std::vector<int64_t>());
        }
      }
      parser = std::move(made);
    }
    parsers.push_back(parser);
  }
  return std::make_shared<CsvSource>(std::move(schema), std::move(files), std::move(parsers));
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
      first = std::make_unique<RecordFiles>(std::vector<std::string>{paths.front()},
                                            dialect_.scan(), "csv");
      from = first.get();
    }
  }
  for (size_t f = 0; f < from->files(); ++f) {
    if (from->records_in_file(f) > 0) return schema_ = MakeSchema(*from, f);
  }
  throw BadData("{}: the file has neither a header nor records", from->path(0));
}

SourcePtr Opener::Open(std::string_view split) {
  return OpenSplit("csv", options_.split, split,
                   [this](const std::vector<std::string>& paths) { return OpenFiles(paths); });
}

}  // namespace

std::function<SourcePtr(std::string_view)> OpenCsv(FieldReader& reader) {
  auto opener = std::make_shared<Opener>(reader);
  return [opener](std::string_view split) { return opener->Open(split); };
}

FLATOUT_REGISTER(csv_source) { RegisterSource("csv", OpenCsv); }

}  // namespace flatout::data
