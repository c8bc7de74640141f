// The source "parquet": columns of Parquet files, by the library in parquet/parquet_module.h.
//
// A row group is decoded as a whole. What was decoded is kept within a budget, so a data set that
// fits there is decoded once; one that does not is decoded again and again when it is shuffled.
#include <dlfcn.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "flatout/data/elements.h"
#include "flatout/data/engine.h"
#include "flatout/data/files.h"
#include "flatout/data/formats/stored_array.h"
#include "flatout/data/parquet/parquet_module.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kErrorBytes = 1024;

// Loads the library at the first call. Throws UserError when it is not there.
const FlatoutParquetApi& Api() {
  static const FlatoutParquetApi* const api = []() -> const FlatoutParquetApi* {
    std::vector<std::string> places;
#ifdef FLATOUT_PARQUET_MODULE
    places.emplace_back(FLATOUT_PARQUET_MODULE);
#endif
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
      const fs::path folder = self.parent_path().parent_path() / "lib" / "flatout";
      places.push_back((folder / "libflatout_parquet.so").string());
    }
    std::string reasons;
    for (const std::string& place : places) {
      // Never closed: Arrow keeps threads of its own.
      if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        using Entry = const FlatoutParquetApi* (*)();
        if (auto* entry = reinterpret_cast<Entry>(dlsym(library, "flatout_parquet_api"))) {
          return entry();
        }
      }
      const char* reason = dlerror();
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ",
                             reason != nullptr ? reason : place + ": another library");
    }
    throw UserError(
        Code::kFailedPrecondition,
        fmt::format("Parquet files need Arrow's library, which this build of Flatout has not ({}). "
                    "Run deps/install, which fetches it, and build again; or convert the files",
                    reasons.empty() ? "it was built without" : reasons));
  }();
  return *api;
}

ir::DType StoredType(int32_t kind) {
  using ir::DType;
  switch (kind) {
    case kParquetBool:
      return DType::kPred;
    case kParquetI8:
      return DType::kI8;
    case kParquetI16:
      return DType::kI16;
    case kParquetI32:
      return DType::kI32;
    case kParquetI64:
      return DType::kI64;
    case kParquetU8:
      return DType::kU8;
    case kParquetU16:
      return DType::kU16;
    case kParquetU32:
      return DType::kU32;
    case kParquetU64:
      return DType::kU64;
    case kParquetF16:
      return DType::kF16;
    case kParquetF32:
      return DType::kF32;
    default:
      return DType::kF64;
  }
}

// An open file.
class ParquetFile {
 public:
  explicit ParquetFile(const std::string& path) : path_(path) {
    char error[kErrorBytes] = "";
    if (Api().open(path.c_str(), &handle_, error, kErrorBytes) != 0) {
      throw BadData("{}: no Parquet file, or a damaged one: {}", path, error);
    }
  }
  ~ParquetFile() { Api().close(handle_); }
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  const std::string& path() const { return path_; }
  void* handle() const { return handle_; }
  std::vector<FlatoutParquetColumn> columns() const {
    std::vector<FlatoutParquetColumn> columns;
    for (int64_t c = 0; c < Api().columns(handle_); ++c) {
      columns.push_back(Api().column(handle_, c));
    }
    return columns;
  }

 private:
  std::string path_;
  void* handle_ = nullptr;
};

// One decoded column of a row group.
class Chunk {
 public:
  Chunk() = default;
  ~Chunk() {
    if (chunk_.owner != nullptr) Api().release(&chunk_);
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  // Throws DataError.
  void Read(const ParquetFile& file, int64_t group, int64_t column, const std::string& name) {
    char error[kErrorBytes] = "";
    if (Api().read(file.handle(), group, column, &chunk_, error, kErrorBytes) != 0) {
      chunk_.owner = nullptr;
      throw BadData("{}: row group {}, column {}: {}", file.path(), group, name, error);
    }
  }
  const FlatoutParquetChunk* operator->() const { return &chunk_; }
  // The values of a row: the first and how many.
  std::pair<int64_t, int64_t> ValuesOf(int64_t row) const {
    if (chunk_.list_ends == nullptr) return {row, 1};
    const int64_t begin = row == 0 ? 0 : chunk_.list_ends[row - 1];
    return {begin, chunk_.list_ends[row] - begin};
  }
  std::string_view Text(int64_t value) const {
    const int64_t begin = value == 0 ? 0 : chunk_.text_ends[value - 1];
    return {static_cast<const char*>(chunk_.data) + begin,
            static_cast<size_t>(chunk_.text_ends[value] - begin)};
  }
  int64_t bytes(int64_t width) const {
    return chunk_.values * (width + 9) + (chunk_.text_ends != nullptr && chunk_.values > 0
                                              ? chunk_.text_ends[chunk_.values - 1]
                                              : 0);
  }

 private:
  FlatoutParquetChunk chunk_{};
};

struct Options {
  SplitOptions split;
  std::vector<std::string> columns;
  Config dtypes, bound, missing;

  template <class V>
  void Visit(V& v) {
    split.Visit(v);
    v("columns", columns);
    v("dtypes", dtypes);
    v("bound", bound);
    v("missing", missing);
  }
};

struct ColumnSpec {
  Field field;
  int32_t kind = kParquetOther;
  bool list = false;
  std::optional<double> missing;            // in place of nulls
  std::optional<std::string> missing_text;  // of text
};

const std::string kRead = "read";

class ParquetSource : public Source {
 public:
  ParquetSource(const std::vector<std::string>& paths, const Options& options) {
    for (const std::string& path : paths) files_.push_back(std::make_shared<ParquetFile>(path));
    ChooseColumns(options);
    for (size_t f = 0; f < files_.size(); ++f) {
      FindColumns(*files_[f]);
      for (int64_t g = 0; g < Api().row_groups(files_[f]->handle()); ++g) {
        const int64_t rows = Api().group_rows(files_[f]->handle(), g);
        if (rows < 0) throw BadData("{}: row group {} has {} rows", files_[f]->path(), g, rows);
        if (rows == 0) continue;
        groups_.push_back({f, g, size_});
        size_ += rows;
      }
    }
    budget_ = DefaultBudget() / 2;
    description_ = fmt::format("parquet: {} records of {} files, {}", size_, files_.size(),
                               DescribeFields(fields_));
  }

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    const ReadContext::Stage stage(context, kRead, static_cast<int64_t>(records.size()));
    // Group by group, so that each is decoded once for these records.
    std::vector<std::pair<size_t, int64_t>> order;  // group, row of out
    for (size_t i = 0; i < records.size(); ++i) {
      const auto after = std::upper_bound(groups_.begin(), groups_.end(), records[i],
                                          [](int64_t r, const Group& g) { return r < g.first; });
      order.emplace_back(static_cast<size_t>(after - groups_.begin()) - 1, static_cast<int64_t>(i));
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::shared_ptr<const Decoded> decoded;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto [g, row] = order[i];
      if (i == 0 || g != order[i - 1].first) decoded = Get(g);
      const int64_t record = records[static_cast<size_t>(row)];
      try {
        if (decoded->error) throw *decoded->error;
        for (size_t c = 0; c < specs_.size(); ++c) {
          Fill(*decoded->columns[c], record - groups_[g].first, c, out, row);
        }
      } catch (const DataError& error) {
        out.Bad(row, BadData("{}: record {} (row {} of row group {}): {}",
                             files_[groups_[g].file]->path(), record, record - groups_[g].first,
                             groups_[g].number, error.message()));
      }
    }
  }

 private:
  struct Group {
    size_t file;
    int64_t number;  // in its file
    int64_t first;   // its first record
  };
  struct Decoded {
    std::vector<std::unique_ptr<Chunk>> columns;
    std::optional<DataError> error;
    int64_t bytes = 0;
  };

  static std::string Joined(const std::vector<FlatoutParquetColumn>& columns) {
    std::string text;
    for (const FlatoutParquetColumn& column : columns) {
      text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", column.name);
    }
    return text;
  }

  // The fields by the first file and the options.
  void ChooseColumns(const Options& options) {
    const std::vector<FlatoutParquetColumn> columns = files_.front()->columns();
    std::vector<std::string> names;
    for (const FlatoutParquetColumn& column : columns) names.emplace_back(column.name);
    std::vector<std::string> wanted = options.columns.empty() ? names : options.columns;
    for (const std::string& name : wanted) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        throw BadData("{}: there is no column \"{}\"{}. It has {}", files_.front()->path(), name,
                      DidYouMean(name, names), Joined(columns));
      }
      const FlatoutParquetColumn& column = columns[static_cast<size_t>(found - names.begin())];
      if (column.kind == kParquetOther) {
        throw BadData(
            "{}: the column \"{}\" holds {}, which are not read: name the others in "
            "`columns`",
            files_.front()->path(), name, column.why);
      }
      ColumnSpec spec;
      spec.kind = column.kind;
      spec.list = column.list != 0;
      const std::vector<int64_t> dims =
          spec.list ? std::vector<int64_t>{kAny} : std::vector<int64_t>{};
      if (column.kind == kParquetText) {
        spec.field = TextField(name, dims);
      } else {
        spec.field = Field{name, ir::Shape(DefaultDType(StoredType(column.kind)), dims)};
      }
      if (const Config* dtype = options.dtypes.is_table() ? options.dtypes.Find(name) : nullptr) {
        if (spec.field.text) throw dtype->Complain("the column is text, which has no dtype");
        try {
          spec.field.shape.dtype = dtype->AsString() == "keep" ? StoredType(column.kind)
                                                               : ir::ParseDType(dtype->AsString());
        } catch (const UserError& error) {
          throw dtype->Complain(error.message());
        }
      }
      if (const Config* bound = options.bound.is_table() ? options.bound.Find(name) : nullptr) {
        if (bound->AsInt() <= 0) throw bound->Complain("expected a bound above 0");
        spec.field.bound = bound->AsInt();
      }
      if (const Config* value = options.missing.is_table() ? options.missing.Find(name) : nullptr) {
        if (spec.field.text) {
          spec.missing_text = value->AsString();
        } else {
          spec.missing = value->AsDouble();
        }
      }
      fields_.push_back(spec.field);
      specs_.push_back(std::move(spec));
    }
    for (const Config* table : {&options.dtypes, &options.bound, &options.missing}) {
      if (!table->is_table()) continue;
      for (const auto& [name, value] : table->entries()) {
        if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) {
          throw value.Complain(
              fmt::format("there is no column \"{}\"{}", name, DidYouMean(name, wanted)));
        }
      }
    }
  }

  // Where a file has the columns; they must be there with the same types.
  void FindColumns(const ParquetFile& file) {
    const std::vector<FlatoutParquetColumn> columns = file.columns();
    std::vector<int64_t>& places = places_.emplace_back();
    for (const ColumnSpec& spec : specs_) {
      const auto found = std::find_if(
          columns.begin(), columns.end(),
          [&](const FlatoutParquetColumn& column) { return spec.field.name == column.name; });
      if (found == columns.end() || found->kind != spec.kind || (found->list != 0) != spec.list) {
        throw BadData("{}: expected a column \"{}\" of the type that it has in {}, found {}",
                      file.path(), spec.field.name, files_.front()->path(),
                      found == columns.end() ? "none" : "another type");
      }
      places.push_back(found - columns.begin());
    }
  }

  std::shared_ptr<const Decoded> Decode(size_t g) const {
    auto decoded = std::make_shared<Decoded>();
    const Group& group = groups_[g];
    try {
      for (size_t c = 0; c < specs_.size(); ++c) {
        auto chunk = std::make_unique<Chunk>();
        chunk->Read(*files_[group.file], group.number, places_[group.file][c],
                    specs_[c].field.name);
        decoded->bytes +=
            chunk->bytes(specs_[c].field.text ? 0 : ir::ByteSize(StoredType(specs_[c].kind)));
        decoded->columns.push_back(std::move(chunk));
      }
    } catch (const DataError& error) {
      decoded->error = error;
    }
    return decoded;
  }

  // Decoded once, whoever asks; the least recently used go when there is no room.
  std::shared_ptr<const Decoded> Get(size_t g) const {
    std::unique_lock lock(mutex_);
    while (true) {
      const auto found = held_.find(g);
      if (found == held_.end()) break;
      if (found->second.decoded != nullptr) {
        recent_.splice(recent_.begin(), recent_, found->second.place);
        return found->second.decoded;
      }
      ready_.wait(lock);
    }
    recent_.push_front(g);
    held_[g] = {nullptr, recent_.begin()};
    lock.unlock();
    std::shared_ptr<const Decoded> decoded;
    try {
      decoded = Decode(g);
    } catch (...) {
      lock.lock();
      recent_.erase(held_[g].place);
      held_.erase(g);
      ready_.notify_all();
      throw;
    }
    lock.lock();
    held_[g].decoded = decoded;
    held_bytes_ += decoded->bytes;
    for (auto it = recent_.end(); held_bytes_ > budget_ && it != recent_.begin();) {
      --it;
      const auto entry = held_.find(*it);
      if (*it == g || entry->second.decoded == nullptr) continue;
      held_bytes_ -= entry->second.decoded->bytes;
      held_.erase(entry);
      it = recent_.erase(it);
    }
    ready_.notify_all();
    return decoded;
  }

  void Fill(const Chunk& chunk, int64_t row, size_t c, Block& out, int64_t to) const {
    const ColumnSpec& spec = specs_[c];
    const auto [first, count] = chunk.ValuesOf(row);
    const uint8_t* missing = chunk->missing != nullptr ? chunk->missing + first : nullptr;
    if (spec.field.text) {
      const std::string_view empty = spec.missing_text ? std::string_view(*spec.missing_text) : "";
      auto text = [&](int64_t i) {
        return missing != nullptr && missing[i] != 0 ? empty : chunk.Text(first + i);
      };
      if (!spec.list) return out.SetText(c, to, text(0));
      std::vector<std::string_view> texts;
      for (int64_t i = 0; i < count; ++i) texts.push_back(text(i));
      const int64_t dims[] = {count};
      return out.SetTexts(c, to, dims, texts);
    }
    const ir::DType stored = StoredType(spec.kind), wanted = spec.field.shape.dtype;
    const int64_t width = ir::ByteSize(wanted);
    const int64_t dims[] = {count};
    std::byte* memory = spec.list ? out.SetCell(c, to, dims) : out.data(c, to);
    const std::byte* from =
        static_cast<const std::byte*>(chunk->data) + first * ir::ByteSize(stored);
    const int64_t done = ConvertElements(stored, from, wanted, memory, count);
    if (done < count) {
      throw BadData(
          "column {} has the value {}, which does not fit {} ({}). Say dtypes = {{ {} = "
          "\"keep\" }} to keep it as {}",
          spec.field.name, ElementToString(stored, from, done), ir::Name(wanted), RangeOf(wanted),
          spec.field.name, ir::Name(stored));
    }
    for (int64_t i = 0; missing != nullptr && i < count; ++i) {
      if (missing[i] == 0) continue;
      if (!spec.missing && !ir::IsFloat(wanted)) {
        throw BadData(
            "column {} has no value. Say missing = {{ {} = -1 }} (or another number) to "
            "put that in its place",
            spec.field.name, spec.field.name);
      }
      const double value = spec.missing.value_or(std::numeric_limits<double>::quiet_NaN());
      if (ConvertElements(ir::DType::kF64, reinterpret_cast<const std::byte*>(&value), wanted,
                          memory + i * width, 1) != 1) {
        throw BadData("column {}: missing = {} does not fit {}", spec.field.name, value,
                      ir::Name(wanted));
      }
    }
    if (spec.field.bound > 0) {
      const int64_t good = FirstOutOfBound(wanted, memory, count, spec.field.bound);
      if (good < count) {
        throw BadData("column {} has the value {}: expected 0 to {} (bound = {})", spec.field.name,
                      ElementToString(wanted, memory, good), spec.field.bound - 1,
                      spec.field.bound);
      }
    }
  }

  std::vector<std::shared_ptr<ParquetFile>> files_;
  std::vector<std::vector<int64_t>> places_;  // by file and field: the column
  std::vector<ColumnSpec> specs_;
  std::vector<Field> fields_;
  std::vector<Group> groups_;
  int64_t size_ = 0, budget_ = 0;
  std::string description_;

  struct Held {
    std::shared_ptr<const Decoded> decoded;  // nullptr: a thread is at it
    std::list<size_t>::iterator place;
  };
  mutable std::mutex mutex_;
  mutable std::condition_variable ready_;
  mutable std::map<size_t, Held> held_;
  mutable std::list<size_t> recent_;  // the most recent first
  mutable int64_t held_bytes_ = 0;
};

std::function<SourcePtr(std::string_view split)> OpenParquet(FieldReader& reader) {
  Options options;
  options.Visit(reader);
  options.split.Check(reader);
  for (const Config* table : {&options.dtypes, &options.bound, &options.missing}) {
    if (!table->is_none() && !table->is_table()) {
      throw table->Complain("expected a table of columns and values, such as { age = -1 }");
    }
  }
  return [options](std::string_view split) {
    return OpenSplit("parquet", options.split, split,
                     [&](const std::vector<std::string>& files) -> SourcePtr {
                       return std::make_shared<ParquetSource>(files, options);
                     });
  };
}

}  // namespace

FLATOUT_REGISTER(parquet_source) { RegisterSource("parquet", OpenParquet); }

}  // namespace flatout::data
