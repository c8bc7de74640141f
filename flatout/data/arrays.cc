#include "flatout/data/arrays.h"

#include <cstring>
#include <utility>

namespace flatout::data {
namespace {

const std::string kRead = "read";

int64_t CommonCount(const std::string& what, const std::vector<Array>& arrays) {
  if (arrays.empty()) throw Invalid("{}: no arrays were given", what);
  for (const Array& array : arrays) {
    if (array.records != arrays[0].records) {
      throw BadData(
          "{}: field {} has {} records but field {} has {}: there must be equally many of each",
          what, arrays[0].field.name, arrays[0].records, array.field.name, array.records);
    }
  }
  return arrays[0].records;
}

// Rows of a size known at compile time are moved by one or two loads and stores.
template <typename Word>
void GatherWords(const std::byte* from, std::span<const int64_t> indices, std::byte* to) {
  for (size_t i = 0; i < indices.size(); ++i) {
    std::memcpy(to + i * sizeof(Word), from + static_cast<size_t>(indices[i]) * sizeof(Word),
                sizeof(Word));
  }
}

void GatherRows(const std::byte* from, size_t row, std::span<const int64_t> indices,
                std::byte* to) {
  switch (row) {
    case 1:
      return GatherWords<uint8_t>(from, indices, to);
    case 4:
      return GatherWords<uint32_t>(from, indices, to);
    case 8:
      return GatherWords<uint64_t>(from, indices, to);
    default:
      break;
  }
  // Records of a shuffled batch lie far apart, so the memory is told of the next ones early.
  constexpr size_t kAhead = 4;
  constexpr size_t kLine = 64;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i + kAhead < indices.size()) {
      const std::byte* next = from + static_cast<size_t>(indices[i + kAhead]) * row;
      for (size_t line = 0; line < std::min<size_t>(row, 1024); line += kLine) {
        __builtin_prefetch(next + line);
      }
    }
    std::memcpy(to + i * row, from + static_cast<size_t>(indices[i]) * row, row);
  }
}

}  // namespace

Array MakeArrayFromBytes(Field field, std::span<const std::byte> bytes) {
  int64_t row = field.shape.bytes();
  if (row <= 0 || static_cast<int64_t>(bytes.size()) % row != 0) {
    throw Invalid("array {}: {} bytes are not a whole number of records of {} ({} bytes)",
                  field.name, bytes.size(), field.shape.ToString(), row);
  }
  std::shared_ptr<std::byte[]> copy = std::make_shared_for_overwrite<std::byte[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  int64_t records = static_cast<int64_t>(bytes.size()) / row;
  return Array{std::move(field), std::shared_ptr<const std::byte>(copy, copy.get()), records};
}

ArraysSource::ArraysSource(std::string what, std::vector<Array> arrays)
    : ArraysSource(what, arrays, 0, CommonCount(what, arrays)) {}

ArraysSource::ArraysSource(std::string what, std::vector<Array> arrays, int64_t begin, int64_t end,
                           std::function<void()> ready)
    : arrays_(std::move(arrays)), size_(end - begin), ready_(std::move(ready)) {
  int64_t count = CommonCount(what, arrays_);
  if (begin < 0 || end > count) {
    throw Internal("{}: records {} to {} of {} were asked for", what, begin, end, count);
  }
  if (size_ <= 0) throw BadData("{}: there are no records: at least one is needed", what);
  for (const Array& array : arrays_) {
    for (const Field& other : fields_) {
      if (other.name == array.field.name) {
        throw Invalid("{}: two fields are called \"{}\"", what, other.name);
      }
    }
    fields_.push_back(array.field);
    first_.push_back(array.data.get() + begin * array.field.shape.bytes());
  }
  description_ = fmt::format("{}: {} records, {}", what, size_, DescribeFields(fields_));
}

void ArraysSource::Read(ReadContext& context, int64_t, std::span<const int64_t> records,
                        Block& out) const {
  const ReadContext::Stage stage(context, kRead, static_cast<int64_t>(records.size()));
  if (ready_) ready_();
  for (size_t f = 0; f < fields_.size(); ++f) {
    GatherRows(first_[f], static_cast<size_t>(fields_[f].shape.bytes()), records, out.data(f));
  }
}

}  // namespace flatout::data
