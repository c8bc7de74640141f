#include "flatout/base/proto.h"

#include <bit>
#include <cstring>
#include <limits>

#include "flatout/base/error.h"

namespace flatout {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

// Wire types.
constexpr int kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5;

}  // namespace

void ProtoWriter::Raw(uint64_t value) {
  while (value >= 0x80) {
    text_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  text_ += static_cast<char>(value);
}

void ProtoWriter::Double(int field, double value) {
  Key(field, kFixed64);
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  text_.append(bytes, sizeof(value));
}

void ProtoWriter::Float(int field, float value) {
  Key(field, kFixed32);
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  text_.append(bytes, sizeof(value));
}

void ProtoWriter::Bytes(int field, std::string_view bytes) {
  Key(field, kLength);
  Raw(bytes.size());
  text_ += bytes;
}

void ProtoWriter::Doubles(int field, std::span<const double> values) {
  Bytes(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void ProtoWriter::Entry(int field, std::string_view key, const ProtoWriter& value) {
  ProtoWriter entry;
  entry.Bytes(1, key);
  entry.Message(2, value);
  Message(field, entry);
}

uint64_t ProtoReader::Varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (rest_.empty()) throw BadData("a number ends at byte {}, too early", position());
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw BadData("a number that ends at byte {} has more than 10 bytes", position());
}

uint64_t ProtoReader::Fixed(size_t size) {
  if (rest_.size() < size) {
    throw BadData("a number at byte {} should have {} bytes, found {}", position(), size,
                  rest_.size());
  }
  uint64_t value = 0;
  std::memcpy(&value, rest_.data(), size);
  rest_.remove_prefix(size);
  return value;
}

bool ProtoReader::Next() {
  if (rest_.empty()) return false;
  const size_t begin = position();
  const uint64_t key = Varint();
  if (key < 8 || key > std::numeric_limits<uint32_t>::max()) {
    throw BadData("the field key {} at byte {} is none", key, begin);
  }
  field_ = static_cast<int>(key >> 3);
  type_ = static_cast<int>(key & 7);
  value_ = 0;
  bytes_ = {};
  switch (type_) {
    case kVarint:
      value_ = Varint();
      return true;
    case kFixed64:
      value_ = Fixed(8);
      return true;
    case kFixed32:
      value_ = Fixed(4);
      return true;
    case kLength: {
      const uint64_t size = Varint();
      if (size > rest_.size()) {
        throw BadData("field {} at byte {} should have {} bytes, found {} to the end", field_,
                      begin, size, rest_.size());
      }
      bytes_ = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    default:
      throw BadData("the wire type {} at byte {} is none of proto3", type_, begin);
  }
}

double ProtoReader::Double() const { return type_ == kFixed64 ? std::bit_cast<double>(value_) : 0; }

float ProtoReader::Float() const {
  return type_ == kFixed32 ? std::bit_cast<float>(static_cast<uint32_t>(value_)) : 0;
}

}  // namespace flatout
