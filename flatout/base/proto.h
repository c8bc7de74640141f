// Protocol buffers' wire format, written and read by hand: the few messages of others that Flatout
// speaks (XLA's compile options, TensorBoard's events, profiles) need no protobuf library and no
// generated classes. Format: https://protobuf.dev/programming-guides/encoding/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace flatout {

// Appends fields to a message. Fields of one number may be written several times (repeated).
class ProtoWriter {
 public:
  // int32, int64, uint64, enum; negative numbers as two's complement of 64 bits.
  void Int(int field, int64_t value) {
    Key(field, 0);
    Raw(static_cast<uint64_t>(value));
  }
  void Bool(int field, bool value) { Int(field, value ? 1 : 0); }
  void Double(int field, double value);
  void Float(int field, float value);
  // string, bytes.
  void Bytes(int field, std::string_view bytes);
  void Message(int field, const ProtoWriter& message) { Bytes(field, message.text_); }
  // repeated double, packed.
  void Doubles(int field, std::span<const double> values);
  // An entry of a map<string, message>.
  void Entry(int field, std::string_view key, const ProtoWriter& value);

  const std::string& bytes() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  void Key(int field, int type) {
    Raw(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
  }
  void Raw(uint64_t value);

  std::string text_;
};

// Walks over the fields of a message, which must outlive it:
//   for (ProtoReader reader(bytes); reader.Next();) {
//     if (reader.field() == 2) step = reader.Int();
//   }
// A field read as another type than it has gives that type's zero. Throws DataError where the bytes
// are no message.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message), whole_(message.size()) {}

  // The next field; false at the end.
  bool Next();
  int field() const { return field_; }
  int64_t Int() const { return type_ == 0 ? static_cast<int64_t>(value_) : 0; }
  bool Bool() const { return Int() != 0; }
  double Double() const;
  float Float() const;
  std::string_view Bytes() const { return bytes_; }
  // Bytes from the beginning of the message to the field that Next gives next.
  size_t position() const { return whole_ - rest_.size(); }

 private:
  uint64_t Varint();
  uint64_t Fixed(size_t size);

  std::string_view rest_;
  size_t whole_;
  int field_ = 0, type_ = 0;
  uint64_t value_ = 0;
  std::string_view bytes_;
};

}  // namespace flatout
