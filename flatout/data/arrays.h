// Arrays in memory as a source of records.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flatout/data/source.h"

namespace flatout::data {

// N values of one field, one after the other, in row-major order.
struct Array {
  Field field;
  std::shared_ptr<const std::byte> data;
  int64_t records = 0;
};

// An Array that owns a copy of `values`, whose size must be a multiple of the shape's.
template <typename T>
Array MakeArray(std::string name, ir::Shape record_shape, const std::vector<T>& values);

// Records begin..end-1 of arrays that all have equally many. The arrays' memory is shared.
class ArraysSource : public Source {
 public:
  // `what` starts the description and the messages. Throws DataError when the arrays' counts differ
  // or when there are no records, UserError when names repeat. `ready`, where given, returns when
  // the arrays' memory has been filled, or throws why it cannot be; each Read calls it first.
  ArraysSource(std::string what, std::vector<Array> arrays, int64_t begin, int64_t end,
               std::function<void()> ready = {});
  ArraysSource(std::string what, std::vector<Array> arrays);

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override;
  const std::string& description() const override { return description_; }

 private:
  std::vector<Array> arrays_;
  std::vector<Field> fields_;
  std::vector<const std::byte*> first_;  // record 0 of each field
  int64_t size_;
  std::string description_;
  std::function<void()> ready_;
};

Array MakeArrayFromBytes(Field field, std::span<const std::byte> bytes);

template <typename T>
Array MakeArray(std::string name, ir::Shape record_shape, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (static_cast<int64_t>(sizeof(T)) != ir::ByteSize(record_shape.dtype)) {
    throw Invalid("array {}: elements of {} bytes were given for {}", name, sizeof(T),
                  record_shape.ToString());
  }
  return MakeArrayFromBytes(Field{std::move(name), std::move(record_shape)},
                            std::as_bytes(std::span<const T>(values)));
}

}  // namespace flatout::data
