#include "flatout/data/formats/stored_array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "flatout/data/arrays.h"
#include "flatout/data/elements.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;

// Fields up to this are loaded; of larger ones, records are read where they lie.
constexpr int64_t kLoadBytes = int64_t{256} << 20;
// Arrays in Fortran order are turned over in memory, up to this.
constexpr int64_t kMostTurned = int64_t{4} << 30;
// Neighbouring records are read together, up to this.
constexpr int64_t kRunBytes = int64_t{1} << 20;

ir::Shape RecordShape(const ir::Shape& whole) {
  return ir::Shape(whole.dtype, {whole.dims.begin() + 1, whole.dims.end()});
}

// Row-major elements from those of an array whose first dimension changes fastest.
void TurnOver(const std::byte* from, const ir::Shape& shape, std::byte* to) {
  const auto rank = static_cast<size_t>(shape.rank());
  const auto width = static_cast<size_t>(ir::ByteSize(shape.dtype));
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t d = 1; d < rank; ++d) strides[d] = strides[d - 1] * shape.dims[d - 1];
  const int64_t count = shape.size();
  const int64_t last = shape.dims[rank - 1];
  int64_t at = 0;  // of element `index` with index[rank - 1] = 0
  for (int64_t i = 0; i < count; i += last) {
    for (int64_t j = 0; j < last; ++j) {
      std::memcpy(to, from + static_cast<size_t>(at + j * strides[rank - 1]) * width, width);
      to += width;
    }
    for (size_t d = rank - 1; d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape.dims[d]) break;
      at -= strides[d] * shape.dims[d];
      index[d] = 0;
    }
  }
}

// What a value must be, and what was found.
DataError DoesNotFit(const std::string& where, int64_t record, const Field& field, ir::DType stored,
                     const std::byte* value) {
  return BadData(
      "{}: record {}: field {} has the value {}, which does not fit {} ({}). Say dtypes = {{ {} = "
      "\"keep\" }} to keep it as {}",
      where, record, field.name, ElementToString(stored, value, 0), ir::Name(field.shape.dtype),
      RangeOf(field.shape.dtype), field.name, ir::Name(stored));
}
DataError OutOfBound(const std::string& where, int64_t record, const Field& field,
                     const std::byte* value) {
  return BadData("{}: record {}: field {} has the value {}: expected 0 to {} (bound = {})", where,
                 record, field.name, ElementToString(field.shape.dtype, value, 0), field.bound - 1,
                 field.bound);
}

// Records of `array` from `bytes`, as they are stored there, to `out`, as `field` wants them.
// `first` is the number of the first. On failure the others are not written.
void ConvertRecords(const StoredArray& array, const Field& field, int64_t first,
                    std::span<const std::byte> bytes, std::byte* out,
                    std::vector<std::byte>& scratch) {
  const ir::DType stored = array.shape.dtype;
  const int64_t width = ir::ByteSize(stored);
  const int64_t count = static_cast<int64_t>(bytes.size()) / width;
  const int64_t row = field.shape.size();
  const std::byte* from = bytes.data();
  if (array.swap) {
    if (stored == field.shape.dtype) {
      std::memcpy(out, from, bytes.size());
      SwapBytes(stored, out, count);
      from = out;
    } else {
      scratch.assign(bytes.begin(), bytes.end());
      SwapBytes(stored, scratch.data(), count);
      from = scratch.data();
    }
  }
  if (from != out) {
    const int64_t done = ConvertElements(stored, from, field.shape.dtype, out, count);
    if (done < count) {
      throw DoesNotFit(array.where, first + done / row, field, stored, from + done * width);
    }
    if (field.shape.dtype == ir::DType::kPred && stored == ir::DType::kPred) {
      for (int64_t i = 0; i < count; ++i) out[i] = std::byte{out[i] != std::byte{0}};
    }
  }
  if (field.bound > 0) {
    const int64_t good = FirstOutOfBound(field.shape.dtype, out, count, field.bound);
    if (good < count) {
      throw OutOfBound(array.where, first + good / row, field,
                       out + good * ir::ByteSize(field.shape.dtype));
    }
  }
}

// The whole of an array in memory as the field wants it, or nullptr when its records are to be read
// where they lie. `field_bytes`: of all arrays of the field, as they are stored.
std::shared_ptr<const std::byte> LoadArray(const StoredArray& array, const Field& field,
                                           int64_t field_bytes) {
  const bool same = !array.swap && !array.fortran && array.shape.dtype == field.shape.dtype &&
                    field.shape.dtype != ir::DType::kPred;
  const int64_t bytes = array.shape.bytes();
  std::vector<std::byte> scratch;
  if (array.file != nullptr && same && (field.bound == 0 || field_bytes <= kLoadBytes) &&
      array.file->resident()) {
    std::span<const std::byte> view = array.file->Read(array.offset, bytes, scratch);
    if (field.bound > 0) {
      const int64_t count = array.shape.size();
      const int64_t good = FirstOutOfBound(field.shape.dtype, view.data(), count, field.bound);
      if (good < count) {
        throw OutOfBound(array.where, good / field.shape.size(), field,
                         view.data() + good * ir::ByteSize(field.shape.dtype));
      }
    }
    return {array.file, view.data()};
  }
  if (array.memory != nullptr && same && field.bound == 0) return array.memory;
  if (array.memory == nullptr && !array.fortran && field_bytes > kLoadBytes) return nullptr;
  if (array.fortran && field_bytes > kMostTurned) {
    throw BadData(
        "{}: the array {} is in Fortran order, and too large to be turned over in memory ({} "
        "bytes). Save it again with numpy.save(path, numpy.ascontiguousarray(x))",
        array.where, array.shape.ToString(), field_bytes);
  }
  // The address: of the archive that the memory was unpacked from, for as long as that is held.
  const std::string key = fmt::format("{}|{}|{}|{}", array.where, ir::Name(field.shape.dtype),
                                      field.bound, static_cast<const void*>(array.memory.get()));
  return MadeOnce(array.file != nullptr ? array.file->path() : "", key, [&] {
    std::span<const std::byte> view =
        array.memory != nullptr ? std::span(array.memory.get(), static_cast<size_t>(bytes))
                                : array.file->Read(array.offset, bytes, scratch);
    std::vector<std::byte> turned;
    if (array.fortran) {
      turned.resize(static_cast<size_t>(bytes));
      TurnOver(view.data(), array.shape, turned.data());
      view = turned;
    }
    const int64_t records = array.shape.dims[0];
    std::shared_ptr<std::byte[]> loaded = std::make_shared_for_overwrite<std::byte[]>(
        static_cast<size_t>(records * field.shape.bytes()));
    std::vector<std::byte> swapped;
    ConvertRecords(array, field, 0, view, loaded.get(), swapped);
    return std::shared_ptr<const std::byte>(loaded, loaded.get());
  });
}

const std::string kRead = "read";

class StoredArraysSource : public Source {
 public:
  struct Part {
    StoredArray array;
    std::shared_ptr<const std::byte> memory;  // or nullptr
    int64_t first = 0;                        // number of its first record
  };

  StoredArraysSource(const std::string& what, std::vector<Field> fields,
                     std::vector<std::vector<Part>> parts, int64_t begin, int64_t end)
      : fields_(std::move(fields)), parts_(std::move(parts)), begin_(begin), size_(end - begin) {
    description_ = fmt::format("{}: {} records, {}", what, size_, DescribeFields(fields_));
  }

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    ReadContext::Stage stage(context, kRead, static_cast<int64_t>(records.size()));
    for (size_t f = 0; f < fields_.size(); ++f) {
      const int64_t row = fields_[f].shape.bytes();
      for (size_t i = 0; i < records.size();) {
        const Part& part = PartOf(f, begin_ + records[i]);
        const int64_t at = begin_ + records[i] - part.first;
        if (part.memory != nullptr) {
          std::memcpy(out.data(f, static_cast<int64_t>(i)), part.memory.get() + at * row,
                      static_cast<size_t>(row));
          ++i;
          continue;
        }
        // The records that follow each other in the file.
        const int64_t stored = RecordShape(part.array.shape).bytes();
        const int64_t most =
            std::max<int64_t>(1, std::min(kRunBytes / stored, part.array.shape.dims[0] - at));
        size_t run = 1;
        while (i + run < records.size() && static_cast<int64_t>(run) < most &&
               records[i + run] == records[i] + static_cast<int64_t>(run)) {
          ++run;
        }
        stage.AddBytes(static_cast<int64_t>(run) * stored);
        ReadRun(part, f, at, static_cast<int64_t>(i), static_cast<int64_t>(run), stored, out);
        i += run;
      }
    }
  }

 private:
  const Part& PartOf(size_t f, int64_t record) const {
    const std::vector<Part>& parts = parts_[f];
    if (parts.size() == 1) return parts.front();
    const auto after = std::upper_bound(parts.begin(), parts.end(), record,
                                        [](int64_t r, const Part& part) { return r < part.first; });
    return *(after - 1);
  }

  void ReadRun(const Part& part, size_t f, int64_t at, int64_t row, int64_t run, int64_t stored,
               Block& out) const {
    const StoredArray& array = part.array;
    const int64_t offset = array.offset + at * stored;
    if (!array.swap && array.shape.dtype == fields_[f].shape.dtype && fields_[f].bound == 0 &&
        array.shape.dtype != ir::DType::kPred) {
      array.file->ReadInto(offset, {out.data(f, row), static_cast<size_t>(run * stored)});
      return;
    }
    static thread_local std::vector<std::byte> scratch, swapped;
    std::span<const std::byte> bytes = array.file->Read(offset, run * stored, scratch);
    try {
      ConvertRecords(array, fields_[f], at, bytes, out.data(f, row), swapped);
    } catch (const DataError&) {
      // One by one, to tell the bad ones from the others.
      for (int64_t i = 0; i < run; ++i) {
        try {
          ConvertRecords(
              part.array, fields_[f], at + i,
              bytes.subspan(static_cast<size_t>(i * stored), static_cast<size_t>(stored)),
              out.data(f, row + i), swapped);
        } catch (const DataError& error) {
          out.Bad(row + i, error);
        }
      }
    }
  }

  std::vector<Field> fields_;
  std::vector<std::vector<Part>> parts_;  // of each field
  int64_t begin_, size_;
  std::string description_;
};

}  // namespace

std::shared_ptr<const std::byte> MadeOnce(
    const std::string& path, const std::string& name,
    const std::function<std::shared_ptr<const std::byte>()>& make) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error);
  const uintmax_t size = fs::file_size(full, error);
  const auto time = fs::last_write_time(full, error).time_since_epoch().count();
  const std::string key = fmt::format("{}|{}|{}|{}", full.string(), size, time, name);
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const std::byte>> cache;
  std::lock_guard lock(mutex);
  if (const auto found = cache.find(key); found != cache.end()) {
    if (std::shared_ptr<const std::byte> memory = found->second.lock()) return memory;
  }
  std::erase_if(cache, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<const std::byte> memory = make();
  cache[key] = memory;
  return memory;
}

ir::DType DefaultDType(ir::DType stored) {
  switch (stored) {
    case ir::DType::kF64:
      return ir::DType::kF32;
    case ir::DType::kI64:
    case ir::DType::kU64:
    case ir::DType::kU32:
      return ir::DType::kI32;
    default:
      return stored;
  }
}

int64_t CountRecords(const std::string& what, const std::vector<StoredField>& fields) {
  if (fields.empty()) throw Invalid("{}: no fields were named", what);
  int64_t common = -1;
  for (const StoredField& field : fields) {
    int64_t count = 0;
    for (const StoredArray& array : field.arrays) count += array.shape.dims[0];
    if (common < 0) common = count;
    if (count != common) {
      throw BadData(
          "{}: field {} has {} records ({}) but field {} has {} ({}): there must be equally many "
          "of each. Are they of the same set?",
          what, fields[0].field.name, common, fields[0].arrays[0].where, field.field.name, count,
          field.arrays[0].where);
    }
  }
  return common;
}

SourcePtr MakeStoredArraysSource(const std::string& what, const std::vector<StoredField>& fields,
                                 int64_t begin, int64_t end) {
  std::vector<Field> found;
  std::vector<std::vector<StoredArraysSource::Part>> parts;
  bool simple = true;
  for (const StoredField& field : fields) {
    const ir::Shape record = RecordShape(field.arrays.front().shape);
    Field result = field.field;
    result.shape.dims = record.dims;
    std::vector<StoredArraysSource::Part>& list = parts.emplace_back();
    int64_t first = 0, bytes = 0;
    for (const StoredArray& array : field.arrays) bytes += array.shape.bytes();
    for (const StoredArray& array : field.arrays) {
      if (RecordShape(array.shape).dims != record.dims) {
        throw BadData("{}: field {}: its records are {} in {}, but {} in {}: they must be alike",
                      what, result.name, ir::DimsToString(record.dims), field.arrays.front().where,
                      ir::DimsToString(RecordShape(array.shape).dims), array.where);
      }
      list.push_back({array, LoadArray(array, result, bytes), first});
      first += array.shape.dims[0];
    }
    simple = simple && list.size() == 1 && list.front().memory != nullptr;
    found.push_back(std::move(result));
  }
  if (!simple) {
    return std::make_shared<StoredArraysSource>(what, std::move(found), std::move(parts), begin,
                                                end);
  }
  std::vector<Array> arrays;
  for (size_t f = 0; f < found.size(); ++f) {
    arrays.push_back({found[f], parts[f].front().memory, parts[f].front().array.shape.dims[0]});
  }
  return std::make_shared<ArraysSource>(what, std::move(arrays), begin, end);
}

// ---- keys ----

namespace {

// The value for a field in a table such as dtypes; nullptr when it has none.
const Config* ForField(const Config& table, const std::string& field) {
  return table.is_table() ? table.Find(field) : nullptr;
}

std::vector<StoredField> OpenFields(const StoredArrayOptions& options,
                                    const StoredArrayFormat& format, const Config& fields,
                                    const std::string& file) {
  std::vector<std::pair<std::string, std::vector<std::string>>> wanted;
  if (fields.is_table()) {
    for (const auto& [name, value] : fields.entries()) {
      ReadConfig(value, wanted.emplace_back(name, std::vector<std::string>()).second);
      if (wanted.back().second.empty()) throw value.Complain("expected the name of an array");
    }
  } else {
    for (const std::string& name : format.list(file)) {
      wanted.emplace_back(name, std::vector<std::string>{name});
    }
  }
  std::vector<StoredField> result;
  for (const auto& [name, arrays] : wanted) {
    StoredField field;
    field.field.name = name;
    for (const std::string& array : arrays) {
      if (!file.empty()) {
        field.arrays.push_back(format.open(file, array));
        continue;
      }
      for (const std::string& path : ExpandFiles({array})) {
        field.arrays.push_back(format.open(path, ""));
      }
    }
    const ir::DType stored = field.arrays.front().shape.dtype;
    for (const StoredArray& array : field.arrays) {
      if (array.shape.dtype != stored) {
        throw BadData("field {}: {} has elements of {}, but {} of {}: they must be alike", name,
                      field.arrays.front().where, ir::Name(stored), array.where,
                      ir::Name(array.shape.dtype));
      }
    }
    field.field.shape.dtype = DefaultDType(stored);
    if (const Config* dtype = ForField(options.dtypes, name)) {
      field.field.shape.dtype =
          dtype->AsString() == "keep"
              ? stored
              : WithContext(dtype->place().ToString() + ": " + dtype->path(),
                            [&] { return ir::ParseDType(dtype->AsString()); });
    }
    if (const Config* bound = ForField(options.bound, name)) field.field.bound = bound->AsInt();
    result.push_back(std::move(field));
  }
  // Names in dtypes and bound that are no fields are misspelt.
  for (const Config* table : {&options.dtypes, &options.bound}) {
    if (!table->is_table()) continue;
    for (const auto& [name, value] : table->entries()) {
      std::vector<std::string> names;
      for (const StoredField& field : result) names.push_back(field.field.name);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw value.Complain(
            fmt::format("there is no field \"{}\"{}", name, DidYouMean(name, names)));
      }
    }
  }
  return result;
}

void CheckTable(const Config& value, std::string_view expected) {
  if (!value.is_none() && !value.is_table()) {
    throw value.Complain(
        fmt::format("expected a table of {}, found {}", expected, value.Describe()));
  }
}

}  // namespace

std::function<SourcePtr(std::string_view split)> OpenStoredArrays(FieldReader& reader,
                                                                  StoredArrayFormat format) {
  StoredArrayOptions options;
  options.Visit(reader);
  for (const Config* fields : {&options.fields, &options.validation_fields, &options.test_fields}) {
    CheckTable(*fields, "field names and arrays, such as { image = \"x_train.npy\" }");
  }
  CheckTable(options.dtypes, "field names and dtypes, such as { image = \"f32\" }");
  CheckTable(options.bound, "field names and bounds, such as { label = 10 }");
  if (options.bound.is_table()) {
    for (const auto& [name, value] : options.bound.entries()) {
      if (value.AsInt() <= 0) throw value.Complain("expected a bound above 0");
    }
  }
  const Config* split_place = reader.Take("validation_split");
  const double share = options.validation_split;
  if (split_place != nullptr && !(share >= 0 && (share < 1 || share == std::floor(share)))) {
    throw split_place->Complain(
        "expected a share of the training records (0 to 1) or a whole number of them");
  }
  const Config* limit = reader.Take("limit");
  if (limit != nullptr && options.limit < 0) {
    throw limit->Complain("expected a number of records, or 0 for all");
  }
  if (options.fields.is_none() && options.file.empty() && options.test_fields.is_none() &&
      options.test_file.empty()) {
    throw Invalid(
        "data: a source \"{}\" needs fields = {{ name = array, ... }}, or a file whose arrays are "
        "all fields",
        format.name);
  }
  return [options, format](std::string_view split) -> SourcePtr {
    const bool own_validation =
        !options.validation_fields.is_none() || !options.validation_file.empty();
    const bool from_train = split == "train" || (split == "validation" && !own_validation &&
                                                 options.validation_split > 0);
    Config fields = options.fields;
    std::string file = options.file;
    if (!from_train) {
      const bool test = split == "test";
      const Config& own = test ? options.test_fields : options.validation_fields;
      const std::string& own_file = test ? options.test_file : options.validation_file;
      if (own.is_none() && own_file.empty()) return nullptr;
      // A file of its own with the same arrays, or other arrays of the same file.
      if (!own.is_none()) fields = own;
      if (!own_file.empty()) file = own_file;
    }
    if (fields.is_none() && file.empty()) return nullptr;
    const std::string what = fmt::format("{} {}", format.name, split);
    std::vector<StoredField> stored = OpenFields(options, format, fields, file);
    const int64_t records = CountRecords(what, stored);
    int64_t begin = 0, end = records;
    if (from_train && !own_validation && options.validation_split > 0) {
      const double asked = options.validation_split;
      const int64_t held = asked < 1 ? std::llround(asked * static_cast<double>(records))
                                     : static_cast<int64_t>(asked);
      if (held <= 0 || held >= records) {
        throw BadData(
            "{}: validation_split = {} takes {} of the {} training records: both splits need at "
            "least one",
            what, asked, held, records);
      }
      (split == "train" ? end : begin) = records - held;
    }
    if (options.limit > 0) end = std::min(end, begin + options.limit);
    return MakeStoredArraysSource(what, stored, begin, end);
  };
}

}  // namespace flatout::data
