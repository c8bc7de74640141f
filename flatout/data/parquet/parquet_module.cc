#include "flatout/data/parquet/parquet_module.h"

#include <parquet/column_reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

parquet::ReaderProperties Checked();

struct Column {
  std::string name, why;
  int32_t kind = kParquetOther;
  bool list = false;
};

// A file; readers are not made for several threads, so there is one for each that reads just now.
struct File {
  std::string path;
  std::shared_ptr<parquet::FileMetaData> metadata;
  std::vector<Column> columns;
  std::mutex mutex;
  std::vector<std::unique_ptr<parquet::ParquetFileReader>> idle;

  std::unique_ptr<parquet::ParquetFileReader> Take() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto reader = std::move(idle.back());
        idle.pop_back();
        return reader;
      }
    }
    return parquet::ParquetFileReader::OpenFile(path, /*memory_map=*/false, Checked(), metadata);
  }
  void Return(std::unique_ptr<parquet::ParquetFileReader> reader) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(reader));
  }
};

struct Owner {
  std::vector<char> data;
  std::vector<int64_t> text_ends, list_ends;
  std::vector<uint8_t> missing;
};

// Arrow's messages may run over several lines; ours are one.
int Fail(char* error, int64_t bytes, std::string what) {
  std::replace(what.begin(), what.end(), '\n', ' ');
  while (what.ends_with(' ') || what.ends_with('.')) what.pop_back();
  std::snprintf(error, static_cast<size_t>(bytes), "%s", what.c_str());
  return -1;
}

// Checksums of pages are compared where the writer wrote some.
parquet::ReaderProperties Checked() {
  parquet::ReaderProperties properties = parquet::default_reader_properties();
  properties.set_page_checksum_verification(true);
  return properties;
}

template <typename Body>
int Guarded(char* error, int64_t bytes, Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& e) {
    return Fail(error, bytes, e.what());
  } catch (...) {
    return Fail(error, bytes, "unknown error");
  }
}

int32_t IntegerKind(int width, bool is_signed) {
  switch (width) {
    case 8:
      return is_signed ? kParquetI8 : kParquetU8;
    case 16:
      return is_signed ? kParquetI16 : kParquetU16;
    case 32:
      return is_signed ? kParquetI32 : kParquetU32;
    default:
      return is_signed ? kParquetI64 : kParquetU64;
  }
}

Column Describe(const parquet::ColumnDescriptor& descriptor) {
  Column column;
  column.name = descriptor.path()->ToDotString();
  column.list = descriptor.max_repetition_level() > 0;
  if (column.list) {
    // "v.list.element" is how a list called v is written; "v" is what people call it.
    const size_t dot = column.name.find('.');
    column.name = column.name.substr(0, dot);
  }
  if (descriptor.max_repetition_level() > 1) {
    column.why = "lists of lists";
    return column;
  }
  const std::shared_ptr<const parquet::LogicalType>& logical = descriptor.logical_type();
  if (logical != nullptr && logical->is_decimal()) {
    column.why = "decimal numbers";
    return column;
  }
  switch (descriptor.physical_type()) {
    case parquet::Type::BOOLEAN:
      column.kind = kParquetBool;
      break;
    case parquet::Type::INT32:
    case parquet::Type::INT64: {
      column.kind = descriptor.physical_type() == parquet::Type::INT32 ? kParquetI32 : kParquetI64;
      if (logical != nullptr && logical->is_int()) {
        const auto& type = static_cast<const parquet::IntLogicalType&>(*logical);
        column.kind = IntegerKind(type.bit_width(), type.is_signed());
      }
      break;
    }
    case parquet::Type::FLOAT:
      column.kind = kParquetF32;
      break;
    case parquet::Type::DOUBLE:
      column.kind = kParquetF64;
      break;
    case parquet::Type::BYTE_ARRAY:
      column.kind = kParquetText;
      break;
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      column.kind = logical != nullptr && logical->is_float16() ? kParquetF16 : kParquetText;
      break;
    default:
      column.why = "time stamps of the old kind INT96";
      break;
  }
  return column;
}

// Appends values of the physical type as elements of the kind.
template <typename To, typename From>
void AppendNarrow(Owner& owner, const From* values, int64_t count) {
  const size_t begin = owner.data.size();
  owner.data.resize(begin + static_cast<size_t>(count) * sizeof(To));
  for (int64_t i = 0; i < count; ++i) {
    // The writer promises that the value fits its logical type.
    const auto value = static_cast<To>(values[i]);
    std::memcpy(owner.data.data() + begin + static_cast<size_t>(i) * sizeof(To), &value,
                sizeof(To));
  }
}

template <typename From>
void AppendIntegers(int32_t kind, Owner& owner, const From* values, int64_t count) {
  switch (kind) {
    case kParquetBool:
    case kParquetI8:
    case kParquetU8:
      return AppendNarrow<uint8_t>(owner, values, count);
    case kParquetI16:
    case kParquetU16:
      return AppendNarrow<uint16_t>(owner, values, count);
    case kParquetI32:
    case kParquetU32:
      return AppendNarrow<uint32_t>(owner, values, count);
    default:
      return AppendNarrow<uint64_t>(owner, values, count);
  }
}

size_t Width(int32_t kind) {
  switch (kind) {
    case kParquetBool:
    case kParquetI8:
    case kParquetU8:
      return 1;
    case kParquetI16:
    case kParquetU16:
    case kParquetF16:
      return 2;
    case kParquetI32:
    case kParquetU32:
    case kParquetF32:
      return 4;
    case kParquetText:
      return 0;
    default:
      return 8;
  }
}

// Appends `count` values; with `text` their ends.
template <typename T>
void Append(const Column& column, int type_length, Owner& owner, const T* values, int64_t count) {
  (void)type_length;
  if constexpr (std::is_same_v<T, parquet::ByteArray>) {
    for (int64_t i = 0; i < count; ++i) {
      const auto* begin = reinterpret_cast<const char*>(values[i].ptr);
      owner.data.insert(owner.data.end(), begin, begin + values[i].len);
      owner.text_ends.push_back(static_cast<int64_t>(owner.data.size()));
    }
  } else if constexpr (std::is_same_v<T, parquet::FixedLenByteArray>) {
    for (int64_t i = 0; i < count; ++i) {
      const auto* begin = reinterpret_cast<const char*>(values[i].ptr);
      owner.data.insert(owner.data.end(), begin, begin + type_length);
      if (column.kind == kParquetText) {
        owner.text_ends.push_back(static_cast<int64_t>(owner.data.size()));
      }
    }
  } else if constexpr (std::is_integral_v<T>) {
    AppendIntegers(column.kind, owner, values, count);
  } else {
    const auto* begin = reinterpret_cast<const char*>(values);
    owner.data.insert(owner.data.end(), begin, begin + static_cast<size_t>(count) * sizeof(T));
  }
}

template <typename Type>
int64_t ReadColumn(const Column& column, const parquet::ColumnDescriptor& descriptor,
                   parquet::ColumnReader& any, Owner& owner) {
  using T = typename Type::c_type;
  auto& reader = static_cast<parquet::TypedColumnReader<Type>&>(any);
  constexpr int64_t kBatch = 4096;
  const int16_t most = descriptor.max_definition_level();
  // At what level a list has an element at all: the level of the repeated node itself.
  int16_t element = 0;
  if (column.list) {
    for (const parquet::schema::Node* node = descriptor.schema_node().get(); node != nullptr;
         node = node->parent()) {
      if (node->is_repeated()) {
        // Optional and repeated nodes from the root to here.
        for (const parquet::schema::Node* up = node; up != nullptr; up = up->parent()) {
          if (!up->is_required() && up->parent() != nullptr) ++element;
        }
        break;
      }
    }
  }
  std::vector<int16_t> definitions(kBatch), repetitions(kBatch);
  const auto values = std::make_unique<T[]>(kBatch);
  int64_t count = 0;  // of values, missing ones too
  int64_t rows = 0;
  bool any_missing = false;
  while (reader.HasNext()) {
    int64_t read = 0;
    const int64_t levels =
        reader.ReadBatch(kBatch, definitions.data(), repetitions.data(), values.get(), &read);
    if (levels == 0 && read == 0) break;
    const int64_t steps = most == 0 ? read : levels;
    int64_t at = 0;
    for (int64_t i = 0; i < steps; ++i) {
      const int16_t definition = most == 0 ? 0 : definitions[static_cast<size_t>(i)];
      if (column.list) {
        if (repetitions[static_cast<size_t>(i)] == 0) {
          owner.list_ends.push_back(count);
          ++rows;
        }
        if (definition < element) continue;  // an empty list, or none
      } else {
        ++rows;
      }
      const bool missing = definition < most;
      if (missing) {
        if (!any_missing) owner.missing.assign(static_cast<size_t>(count), 0);
        any_missing = true;
        owner.data.resize(owner.data.size() + Width(column.kind));
        if (column.kind == kParquetText) {
          owner.text_ends.push_back(static_cast<int64_t>(owner.data.size()));
        }
      } else {
        if (at >= read) throw parquet::ParquetException("fewer values than their levels say");
        // All that follow each other without a gap at once.
        int64_t run = 1;
        while (!column.list && i + run < steps && at + run < read &&
               (most == 0 || definitions[static_cast<size_t>(i + run)] == most)) {
          ++run;
        }
        Append(column, descriptor.type_length(), owner, values.get() + at, run);
        at += run;
        i += run - 1;
        count += run - 1;
        rows += run - 1;
        if (any_missing) {
          owner.missing.insert(owner.missing.end(), static_cast<size_t>(run - 1), uint8_t{0});
        }
      }
      ++count;
      if (any_missing) owner.missing.push_back(missing ? 1 : 0);
      if (column.list) owner.list_ends.back() = count;
    }
  }
  return count;
}

int Open(const char* path, void** result, char* error, int64_t error_bytes) {
  return Guarded(error, error_bytes, [&] {
    auto file = std::make_unique<File>();
    file->path = path;
    auto reader = parquet::ParquetFileReader::OpenFile(path, /*memory_map=*/false, Checked());
    file->metadata = reader->metadata();
    const parquet::SchemaDescriptor& schema = *file->metadata->schema();
    for (int c = 0; c < schema.num_columns(); ++c) {
      file->columns.push_back(Describe(*schema.Column(c)));
    }
    file->Return(std::move(reader));
    *result = file.release();
  });
}

int Read(void* handle, int64_t group, int64_t index, FlatoutParquetChunk* chunk, char* error,
         int64_t error_bytes) {
  File& file = *static_cast<File*>(handle);
  return Guarded(error, error_bytes, [&] {
    const Column& column = file.columns[static_cast<size_t>(index)];
    auto owner = std::make_unique<Owner>();
    auto reader = file.Take();
    const auto rows = reader->RowGroup(static_cast<int>(group));
    const std::shared_ptr<parquet::ColumnReader> any = rows->Column(static_cast<int>(index));
    const parquet::ColumnDescriptor& descriptor =
        *file.metadata->schema()->Column(static_cast<int>(index));
    int64_t count = 0;
    switch (descriptor.physical_type()) {
      case parquet::Type::BOOLEAN:
        count = ReadColumn<parquet::BooleanType>(column, descriptor, *any, *owner);
        break;
      case parquet::Type::INT32:
        count = ReadColumn<parquet::Int32Type>(column, descriptor, *any, *owner);
        break;
      case parquet::Type::INT64:
        count = ReadColumn<parquet::Int64Type>(column, descriptor, *any, *owner);
        break;
      case parquet::Type::FLOAT:
        count = ReadColumn<parquet::FloatType>(column, descriptor, *any, *owner);
        break;
      case parquet::Type::DOUBLE:
        count = ReadColumn<parquet::DoubleType>(column, descriptor, *any, *owner);
        break;
      case parquet::Type::BYTE_ARRAY:
        count = ReadColumn<parquet::ByteArrayType>(column, descriptor, *any, *owner);
        break;
      case parquet::Type::FIXED_LEN_BYTE_ARRAY:
        count = ReadColumn<parquet::FLBAType>(column, descriptor, *any, *owner);
        break;
      default:
        throw parquet::ParquetException("a column of " + column.why);
    }
    file.Return(std::move(reader));
    const int64_t expected = file.metadata->RowGroup(static_cast<int>(group))->num_rows();
    const int64_t found = column.list ? static_cast<int64_t>(owner->list_ends.size()) : count;
    if (found != expected) {
      throw parquet::ParquetException("expected " + std::to_string(expected) + " rows, found " +
                                      std::to_string(found));
    }
    chunk->rows = expected;
    chunk->values = count;
    chunk->data = owner->data.data();
    chunk->text_ends = column.kind == kParquetText ? owner->text_ends.data() : nullptr;
    chunk->list_ends = column.list ? owner->list_ends.data() : nullptr;
    chunk->missing = owner->missing.empty() ? nullptr : owner->missing.data();
    chunk->owner = owner.release();
  });
}

constexpr FlatoutParquetApi kApi = {
    Open,
    [](void* file) { delete static_cast<File*>(file); },
    [](void* file) -> int64_t { return static_cast<File*>(file)->metadata->num_row_groups(); },
    [](void* file, int64_t group) -> int64_t {
      return static_cast<File*>(file)->metadata->RowGroup(static_cast<int>(group))->num_rows();
    },
    [](void* file) { return static_cast<int64_t>(static_cast<File*>(file)->columns.size()); },
    [](void* file, int64_t index) {
      const Column& column = static_cast<File*>(file)->columns[static_cast<size_t>(index)];
      return FlatoutParquetColumn{column.name.c_str(), column.kind, column.list ? 1 : 0,
                                  column.why.c_str()};
    },
    Read,
    [](FlatoutParquetChunk* chunk) {
      delete static_cast<Owner*>(chunk->owner);
      chunk->owner = nullptr;
    },
};

}  // namespace

extern "C" const FlatoutParquetApi* flatout_parquet_api() { return &kApi; }
