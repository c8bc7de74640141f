#include "flatout/data/formats/example.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "flatout/base/error.h"

namespace flatout::data {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are copied as they are");

using ir::DType;
using Bytes = std::span<const std::byte>;

// ---- wire format ----

// Tags: field number * 8 + wire type. All fields of the messages above are numbered 1 to 3.
enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kGroup = 3,
  kEnd = 4,
  kFixed32 = 5
};
constexpr uint32_t Tag(uint32_t field, WireType type) { return field << 3 | type; }

// Reads a message. `origin` is where the record begins, for messages.
class Wire {
 public:
  Wire(Bytes message, const uint8_t* origin)
      : at_(reinterpret_cast<const uint8_t*>(message.data())),
        end_(at_ + message.size()),
        origin_(origin) {}

  bool done() const { return at_ == end_; }
  const uint8_t* at() const { return at_; }
  const uint8_t* end() const { return end_; }
  const uint8_t* origin() const { return origin_; }

  uint64_t Varint() {
    if (at_ < end_ && *at_ < 0x80) return *at_++;
    return LongVarint();
  }
  uint32_t NextTag() {
    if (at_ < end_ && *at_ >= 8 && *at_ < 0x80) return *at_++;
    return LongTag();
  }
  Bytes Message() {
    if (at_ < end_ && *at_ < 0x80 && *at_ < end_ - at_) {
      const auto* data = reinterpret_cast<const std::byte*>(at_ + 1);
      const size_t size = *at_;
      at_ += 1 + size;
      return {data, size};
    }
    return LongMessage();
  }
  const uint8_t* Fixed(ptrdiff_t size) {
    if (end_ - at_ < size) {
      throw Broken(at_, fmt::format("expected {} bytes, found {} to the end", size, end_ - at_));
    }
    return std::exchange(at_, at_ + size);
  }
  // The field behind `tag`, which nobody wants.
  void Skip(uint32_t tag, int depth = 0) {
    constexpr int kDeepest = 64;
    switch (tag & 7) {
      case kVarint:
        Varint();
        return;
      case kFixed64:
        Fixed(8);
        return;
      case kLength:
        Message();
        return;
      case kFixed32:
        Fixed(4);
        return;
      case kGroup:
        if (depth >= kDeepest) throw Broken(at_, "groups are nested too deeply");
        while (true) {
          const uint32_t inner = NextTag();
          if (inner == Tag(tag >> 3, kEnd)) return;
          Skip(inner, depth + 1);
        }
      default:
        throw Broken(at_, fmt::format("the wire type {} is none", tag & 7));
    }
  }
  DataError Broken(const uint8_t* at, std::string_view what) const {
    return BadData(
        "not a tf.train.Example: at byte {} of the record {}. Set format (\"bytes\" for records "
        "of another kind), or write the file again",
        at - origin_, what);
  }

 private:
  [[gnu::noinline]] uint32_t LongTag() {
    const uint8_t* begin = at_;
    const uint64_t tag = Varint();
    if (tag < 8 || tag > std::numeric_limits<uint32_t>::max()) {
      throw Broken(begin, fmt::format("the field tag {} is none", tag));
    }
    return static_cast<uint32_t>(tag);
  }
  [[gnu::noinline]] Bytes LongMessage() {
    const uint8_t* begin = at_;
    const uint64_t size = Varint();
    const auto room = static_cast<uint64_t>(end_ - at_);
    if (size > room) {
      throw Broken(begin, fmt::format("expected {} bytes, found {} to the end", size, room));
    }
    const auto* data = reinterpret_cast<const std::byte*>(at_);
    at_ += size;
    return {data, static_cast<size_t>(size)};
  }
  [[gnu::noinline]] uint64_t LongVarint() {
    const uint8_t* begin = at_;
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at_ == end_) throw Broken(begin, "a number ends too early");
      const uint64_t byte = *at_++;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw Broken(begin, "a number has more than 10 bytes");
  }

  const uint8_t *at_, *end_;
  const uint8_t* origin_;
};

// Calls entry(key, value) for each entry of the map fields in a Features or FeatureLists message.
template <typename Entry>
void ForEachEntry(Bytes map, const uint8_t* origin, Entry entry) {
  Wire features(map, origin);
  while (!features.done()) {
    const uint32_t tag = features.NextTag();
    if (tag != Tag(1, kLength)) {
      features.Skip(tag);
      continue;
    }
    Wire pair(features.Message(), origin);
    std::string_view key;
    Bytes value(reinterpret_cast<const std::byte*>(pair.end()), 0);
    while (!pair.done()) {
      const uint32_t inner = pair.NextTag();
      if (inner == Tag(1, kLength)) {
        const Bytes bytes = pair.Message();
        key = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      } else if (inner == Tag(2, kLength)) {
        value = pair.Message();
      } else {
        pair.Skip(inner);
      }
    }
    entry(key, value);
  }
}

// Calls entry(sequence, key, value) for each feature and feature list of a record.
template <typename Entry>
void ForEachFeature(Bytes record, bool with_lists, Entry entry) {
  const auto* origin = reinterpret_cast<const uint8_t*>(record.data());
  Wire example(record, origin);
  while (!example.done()) {
    const uint32_t tag = example.NextTag();
    if (tag == Tag(1, kLength)) {
      ForEachEntry(example.Message(), origin,
                   [&](std::string_view key, Bytes value) { entry(false, key, value); });
    } else if (with_lists && tag == Tag(2, kLength)) {
      ForEachEntry(example.Message(), origin,
                   [&](std::string_view key, Bytes value) { entry(true, key, value); });
    } else {
      example.Skip(tag);
    }
  }
}

// A Feature: its kind and the messages of its list (one, unless an odd writer split it up).
struct Lists {
  FeatureKind kind = FeatureKind::kNone;
  Bytes first;
  std::vector<Bytes> more;  // after first
};

FeatureKind KindOf(uint32_t tag) {
  switch (tag) {
    case Tag(1, kLength):
      return FeatureKind::kBytes;
    case Tag(2, kLength):
      return FeatureKind::kFloat;
    case Tag(3, kLength):
      return FeatureKind::kInt64;
    default:
      return FeatureKind::kNone;
  }
}

Lists ReadFeature(Bytes feature, const uint8_t* origin) {
  Lists lists;
  Wire wire(feature, origin);
  while (!wire.done()) {
    const uint32_t tag = wire.NextTag();
    const FeatureKind kind = KindOf(tag);
    if (kind == FeatureKind::kNone) {
      wire.Skip(tag);
      continue;
    }
    const Bytes list = wire.Message();
    if (kind == lists.kind) {
      // protobuf merges them.
      lists.more.push_back(list);
    } else {
      // Of a oneof the last one counts.
      lists.kind = kind;
      lists.first = list;
      lists.more.clear();
    }
  }
  return lists;
}

template <typename Visit>
void ForEachList(const Lists& lists, Visit visit) {
  visit(lists.first);
  for (const Bytes& list : lists.more) visit(list);
}

// ---- values ----

// Calls run(data, count) for runs of floats as they lie there.
template <typename Run>
void ForEachFloats(const Lists& lists, const uint8_t* origin, Run run) {
  ForEachList(lists, [&](Bytes list) {
    Wire wire(list, origin);
    while (!wire.done()) {
      const uint32_t tag = wire.NextTag();
      if (tag == Tag(1, kLength)) {
        const Bytes packed = wire.Message();
        if (packed.size() % 4 != 0) {
          throw wire.Broken(reinterpret_cast<const uint8_t*>(packed.data()),
                            fmt::format("{} bytes of floats are no multiple of 4", packed.size()));
        }
        run(packed.data(), static_cast<int64_t>(packed.size() / 4));
      } else if (tag == Tag(1, kFixed32)) {
        run(reinterpret_cast<const std::byte*>(wire.Fixed(4)), int64_t{1});
      } else {
        wire.Skip(tag);
      }
    }
  });
}

// Calls packed(bytes) for runs of varints and one(value) for single ones.
template <typename Packed, typename One>
void ForEachInts(const Lists& lists, const uint8_t* origin, Packed packed, One one) {
  ForEachList(lists, [&](Bytes list) {
    Wire wire(list, origin);
    while (!wire.done()) {
      const uint32_t tag = wire.NextTag();
      if (tag == Tag(1, kLength)) {
        packed(wire.Message());
      } else if (tag == Tag(1, kVarint)) {
        one(wire.Varint());
      } else {
        wire.Skip(tag);
      }
    }
  });
}

template <typename Value>
void ForEachBytes(const Lists& lists, const uint8_t* origin, Value value) {
  ForEachList(lists, [&](Bytes list) {
    Wire wire(list, origin);
    while (!wire.done()) {
      const uint32_t tag = wire.NextTag();
      if (tag == Tag(1, kLength)) {
        const Bytes bytes = wire.Message();
        value(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      } else {
        wire.Skip(tag);
      }
    }
  });
}

// Varints in packed bytes: those with the top bit clear end one.
int64_t CountVarints(Bytes packed) {
  int64_t count = 0;
  const auto* bytes = reinterpret_cast<const uint8_t*>(packed.data());
  // Sums of at most 255 in bytes let the compiler use whole vectors.
  for (size_t i = 0; i < packed.size();) {
    const size_t end = std::min(packed.size(), i + 255 * 16);
    int64_t part = 0;
    for (; i < end; ++i) part += bytes[i] < 0x80 ? 1 : 0;
    count += part;
  }
  return count;
}

int64_t CountValues(const Lists& lists, const uint8_t* origin) {
  int64_t count = 0;
  switch (lists.kind) {
    case FeatureKind::kNone:
      break;
    case FeatureKind::kFloat:
      ForEachFloats(lists, origin, [&](const std::byte*, int64_t n) { count += n; });
      break;
    case FeatureKind::kInt64:
      ForEachInts(
          lists, origin, [&](Bytes packed) { count += CountVarints(packed); },
          [&](uint64_t) { ++count; });
      break;
    case FeatureKind::kBytes:
      ForEachBytes(lists, origin, [&](std::string_view) { ++count; });
      break;
  }
  return count;
}

DataError TooMany(int64_t expected, int64_t found) {
  return BadData("expected {} {}, found {}", expected, expected == 1 ? "value" : "values", found);
}

// Writes integers as elements of T, at most `room` of them, and counts all there are.
template <typename T>
class IntWriter {
 public:
  IntWriter(std::byte* out, int64_t room) : out_(out), room_(room) {}

  void One(uint64_t word) {
    if (count_ < room_) Put(static_cast<int64_t>(word), count_);
    ++count_;
  }
  void Packed(Bytes packed, const uint8_t* origin) {
    const auto* at = reinterpret_cast<const uint8_t*>(packed.data());
    const uint8_t* end = at + packed.size();
    // Bytes written might be those of this object for all the compiler knows; a local is not.
    int64_t count = count_;
    while (end - at >= 8 && room_ - count >= 8) {
      uint64_t word;
      std::memcpy(&word, at, sizeof(word));
      const uint64_t ends = ~word & 0x8080808080808080U;
      if (ends == 0x8080808080808080U) {
        // Eight small numbers at once: labels, counts, bytes.
        for (int i = 0; i < 8; ++i) Put(at[i], count++);
        at += 8;
      } else if (ends != 0) {
        // Lengths follow no pattern in token numbers, so nothing here branches on them: the bytes
        // up to the first with a clear top bit, their seven-bit groups moved together.
        const uint64_t through = ends ^ (ends - 1);  // ones up to that bit
        uint64_t groups = word & through & 0x7f7f7f7f7f7f7f7fU;
        groups = (groups & 0x007f007f007f007fU) | (groups & 0x7f007f007f007f00U) >> 1;
        groups = (groups & 0x00003fff00003fffU) | (groups & 0x3fff00003fff0000U) >> 2;
        groups = (groups & 0x000000000fffffffU) | (groups & 0x0fffffff00000000U) >> 4;
        Put(static_cast<int64_t>(groups), count++);
        at += std::countr_zero(ends) / 8 + 1;
      } else {
        Wire wire(AsBytes(at, end), origin);
        Put(static_cast<int64_t>(wire.Varint()), count++);
        at = wire.at();
      }
    }
    count_ = count;
    Wire wire(AsBytes(at, end), origin);
    while (!wire.done()) One(wire.Varint());
  }
  int64_t count() const { return count_; }
  // The first value that does not fit T, if there is one.
  std::optional<int64_t> misfit() const {
    return misfits_ ? std::optional<int64_t>(misfit_) : std::nullopt;
  }

 private:
  static Bytes AsBytes(const uint8_t* begin, const uint8_t* end) {
    return {reinterpret_cast<const std::byte*>(begin), static_cast<size_t>(end - begin)};
  }
  void Put(int64_t value, int64_t index) {
    T element;
    bool fits = true;
    if constexpr (std::is_same_v<T, float>) {
      element = static_cast<float>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      element = value != 0;
      fits = (value & ~int64_t{1}) == 0;
    } else {
      element = static_cast<T>(value);
      // u64 takes what protobuf keeps in an int64 bit by bit.
      if constexpr (!std::is_same_v<T, uint64_t>) fits = std::in_range<T>(value);
    }
    if (!fits) [[unlikely]] {
      if (!misfits_) misfit_ = value;
      misfits_ = true;
    }
    std::memcpy(out_ + index * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
  }

  std::byte* const out_;
  const int64_t room_;
  int64_t count_ = 0;
  int64_t misfit_ = 0;
  bool misfits_ = false;
};

template <typename T>
void WriteInts(const FeatureSpec& spec, DType as, const Lists& lists, const uint8_t* origin,
               std::byte* out, int64_t expected) {
  IntWriter<T> writer(out, expected);
  ForEachInts(
      lists, origin, [&](Bytes packed) { writer.Packed(packed, origin); },
      [&](uint64_t value) { writer.One(value); });
  if (writer.count() != expected) throw TooMany(expected, writer.count());
  if (writer.misfit()) {
    throw BadData("the value {} does not fit {}. Set `as` to a wider type (as = \"i64\")",
                  *writer.misfit(), Name(as));
  }
  if (spec.bound > 0) {
    for (int64_t i = 0; i < expected; ++i) {
      T value;
      std::memcpy(&value, out + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
      const auto number = static_cast<double>(value);
      if (number < 0 || number >= static_cast<double>(spec.bound)) {
        throw BadData("value {} (number {}) is outside of [0, {}). Correct the file or `bound`",
                      static_cast<int64_t>(value), i, spec.bound);
      }
    }
  }
}

// Integer element types that int64 lists may become.
template <typename Visit>
void WithIntType(DType as, Visit visit) {
  switch (as) {
    case DType::kPred:
      return visit.template operator()<bool>();
    case DType::kI8:
      return visit.template operator()<int8_t>();
    case DType::kI16:
      return visit.template operator()<int16_t>();
    case DType::kI32:
      return visit.template operator()<int32_t>();
    case DType::kI64:
      return visit.template operator()<int64_t>();
    case DType::kU8:
      return visit.template operator()<uint8_t>();
    case DType::kU16:
      return visit.template operator()<uint16_t>();
    case DType::kU32:
      return visit.template operator()<uint32_t>();
    case DType::kU64:
      return visit.template operator()<uint64_t>();
    case DType::kF32:
      return visit.template operator()<float>();
    default:
      throw Internal("int64 as {}", Name(as));
  }
}

bool IntMayBe(DType as) { return as != DType::kF16 && as != DType::kBF16 && as != DType::kF64; }

DType ElementType(const FeatureSpec& spec) {
  switch (spec.kind) {
    case FeatureKind::kFloat:
      return DType::kF32;
    case FeatureKind::kInt64:
      return spec.as.value_or(DType::kI32);
    default:
      return spec.as.value_or(DType::kU8);
  }
}

bool IsText(const FeatureSpec& spec) { return spec.kind == FeatureKind::kBytes && !spec.as; }

// Values in one record (one frame); kAny where that differs.
int64_t Values(const std::vector<int64_t>& shape) {
  int64_t values = 1;
  for (int64_t dim : shape) {
    if (dim == kAny) return kAny;
    values *= dim;
  }
  return values;
}

// The dimensions of so many values; throws where they do not come out even.
struct Dims {
  std::array<int64_t, kMostRank> dims{};
  size_t rank = 0;
  operator std::span<const int64_t>() const { return std::span(dims).first(rank); }
};
Dims FitDims(const std::vector<int64_t>& shape, int64_t values) {
  Dims result;
  int64_t known = 1;
  for (int64_t dim : shape) known *= dim == kAny ? 1 : dim;
  if (known == 0 ? values != 0 : values % known != 0) {
    throw BadData("expected a multiple of {} values for shape {}, found {}", known,
                  ir::DimsToString(shape), values);
  }
  for (int64_t dim : shape) {
    result.dims[result.rank++] = dim == kAny ? (known == 0 ? 0 : values / known) : dim;
  }
  return result;
}

void WriteNumbers(const FeatureSpec& spec, DType as, const Lists& lists, const uint8_t* origin,
                  std::byte* out, int64_t expected) {
  if (spec.kind == FeatureKind::kFloat) {
    int64_t count = 0;
    ForEachFloats(lists, origin, [&](const std::byte* data, int64_t n) {
      // n is bounded by the record's size, and so is count.
      if (n > 0 && count + n <= expected) {
        std::memcpy(out + count * 4, data, static_cast<size_t>(n) * 4);
      }
      count += n;
    });
    if (count != expected) throw TooMany(expected, count);
    return;
  }
  WithIntType(as, [&]<typename T>() { WriteInts<T>(spec, as, lists, origin, out, expected); });
}

// Writes the one number of a feature that looks as writers usually make it, and returns true;
// false, when it looks otherwise or is wrong in any way, leaves it to the general way.
bool WriteScalar(const FeatureSpec& spec, DType as, Bytes feature, std::byte* out) {
  const auto* at = reinterpret_cast<const uint8_t*>(feature.data());
  const size_t size = feature.size();
  // Feature { list { packed values } } with lengths of one byte each.
  constexpr size_t kFront = 4;
  if (size <= kFront || size >= 0x80 || at[1] != size - 2 || at[2] != Tag(1, kLength) ||
      at[3] != size - kFront) {
    return false;
  }
  if (spec.kind == FeatureKind::kFloat) {
    if (at[0] != Tag(2, kLength) || size != kFront + 4) return false;
    std::memcpy(out, at + kFront, 4);
    return true;
  }
  if (at[0] != Tag(3, kLength) || as != DType::kI32) return false;
  uint64_t value = 0;
  const uint8_t* end = at + size;
  at += kFront;
  for (unsigned shift = 0; at < end && shift < 35; shift += 7) {
    value |= static_cast<uint64_t>(*at & 0x7f) << shift;
    if (*at++ >= 0x80) continue;
    // Negative numbers take ten bytes and so the general way.
    if (at != end || value > std::numeric_limits<int32_t>::max() ||
        (spec.bound > 0 && value >= static_cast<uint64_t>(spec.bound))) {
      return false;
    }
    const auto element = static_cast<int32_t>(value);
    std::memcpy(out, &element, sizeof(element));
    return true;
  }
  return false;
}

// memcmp for the short names that features have.
bool SameBytes(const char* a, const char* b, size_t size) {
  const auto differ = [&]<typename Word>(size_t at, Word) {
    Word left, right;
    std::memcpy(&left, a + at, sizeof(Word));
    std::memcpy(&right, b + at, sizeof(Word));
    return left != right;
  };
  if (size >= 8) {
    for (size_t at = 0; at + 8 < size; at += 8) {
      if (differ(at, uint64_t{})) return false;
    }
    return !differ(size - 8, uint64_t{});
  }
  if (size >= 4) return !differ(0, uint32_t{}) && !differ(size - 4, uint32_t{});
  for (size_t at = 0; at < size; ++at) {
    if (a[at] != b[at]) return false;
  }
  return true;
}

// More than any record holds; keeps sizes in bytes far from overflow.
constexpr int64_t kMostValues = int64_t{1} << 40;

// The one string of a feature.
std::string_view OneString(const Lists& lists, const uint8_t* origin) {
  std::string_view text;
  int64_t count = 0;
  ForEachBytes(lists, origin, [&](std::string_view value) {
    text = value;
    ++count;
  });
  if (count != 1) throw TooMany(1, count);
  return text;
}

// Rules that hold between a feature's options. Throws UserError.
void CheckSpec(const FeatureSpec& spec) {
  const auto wrong = [&](const std::string& what) {
    return Invalid("feature {}: {}", spec.name, what);
  };
  int64_t any = 0;
  int64_t values = 1;
  for (int64_t dim : spec.shape) {
    if (dim < kAny)
      throw wrong(fmt::format("shape: expected dimensions >= 0 or -1, found {}", dim));
    any += dim == kAny ? 1 : 0;
    if (dim != kAny && __builtin_mul_overflow(values, dim, &values)) values = kMostValues + 1;
    if (values > kMostValues) {
      throw wrong(fmt::format("shape {} has too many values", ir::DimsToString(spec.shape)));
    }
  }
  if (any > 1) throw wrong("shape: only one dimension may be -1, as lists have one length");
  if (any > 0 && spec.sequence) {
    throw wrong("shape: the frames of a sequence must have one shape; -1 is not possible in it");
  }
  const size_t rank = spec.shape.size() + (spec.sequence ? 1 : 0);
  if (rank > kMostRank && !spec.ToField().fixed()) {
    throw wrong(
        fmt::format("expected at most {} dimensions for what differs from record to record "
                    "or is text, found {}",
                    kMostRank, rank));
  }
  if (spec.as && spec.kind == FeatureKind::kFloat && *spec.as != DType::kF32) {
    throw wrong(fmt::format("as: float lists become f32, found {}", Name(*spec.as)));
  }
  if (spec.as && spec.kind == FeatureKind::kInt64 && !IntMayBe(*spec.as)) {
    throw wrong(fmt::format("as: expected an integer type, pred or f32, found {}", Name(*spec.as)));
  }
  if (spec.bound < 0) throw wrong("bound: expected a number >= 0");
  if (spec.bound > 0 && spec.kind != FeatureKind::kInt64) {
    throw wrong("bound: only int64 features have one");
  }
  const bool has_default = !spec.default_numbers.empty() || spec.default_text;
  if (has_default && spec.sequence) throw wrong("default: sequences have none; missing is empty");
  if (spec.default_text && !IsText(spec)) throw wrong("default: expected numbers, found a string");
  if (!spec.default_numbers.empty()) {
    if (IsText(spec)) throw wrong("default: expected a string, found numbers");
    const DType type = ElementType(spec);
    if (!IntMayBe(type)) {
      throw wrong(fmt::format("default: not possible for elements of type {}", Name(type)));
    }
    const auto given = static_cast<int64_t>(spec.default_numbers.size());
    if (any == 0 && given != 1 && given != values) {
      throw wrong(fmt::format("default: expected 1 or {} numbers, found {}", values, given));
    }
    if (any > 0 && (values == 0 || given % values != 0)) {
      throw wrong(
          fmt::format("default: expected a multiple of {} numbers, found {}", values, given));
    }
    for (double number : spec.default_numbers) {
      if (type == DType::kF32) continue;
      bool fits = number == std::floor(number) && std::abs(number) <= 9007199254740992.0;
      if (fits) {
        WithIntType(type, [&]<typename T>() {
          if constexpr (std::is_same_v<T, bool>) {
            fits = number == 0 || number == 1;
          } else if constexpr (!std::is_same_v<T, float>) {
            fits = std::in_range<T>(static_cast<int64_t>(number));
          }
        });
      }
      if (!fits) throw wrong(fmt::format("default: {} does not fit {}", number, Name(type)));
      if (spec.bound > 0 && (number < 0 || number >= static_cast<double>(spec.bound))) {
        throw wrong(fmt::format("default: {} is outside of [0, {})", number, spec.bound));
      }
    }
  }
}

void CheckKind(const FeatureSpec& spec, const Lists& lists) {
  if (lists.kind != spec.kind) {
    throw BadData("expected {}, found {}. Declare it as {} in the run file", Name(spec.kind),
                  Name(lists.kind), Name(lists.kind));
  }
}

}  // namespace

std::string_view Name(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kBytes:
      return "bytes";
    case FeatureKind::kFloat:
      return "float";
    case FeatureKind::kInt64:
      return "int64";
    case FeatureKind::kNone:
      break;
  }
  return "nothing";
}

Field FeatureSpec::ToField() const {
  std::vector<int64_t> dims = shape;
  if (sequence) dims.insert(dims.begin(), kAny);
  if (IsText(*this)) return TextField(name, std::move(dims));
  return Field{name, ir::Shape(ElementType(*this), std::move(dims)), bound};
}

// ---- parsing ----

struct ExampleParser::Table {
  // What Parse needs of a feature, side by side.
  struct Plan {
    const char* name;
    size_t name_size;
    bool sequence;
    bool scalar;  // one number, in the form in which TensorFlow writes it
    bool text, fixed, has_default;
    DType type;
    int64_t values;                   // as Values()
    std::vector<std::byte> defaults;  // elements
  };
  std::vector<Plan> plans;
  std::unordered_map<std::string_view, int32_t> by_name[2];  // features, feature lists
  uint64_t sizes[2] = {};  // bit n: a name of n (or 63 and more) bytes is wanted

  static uint64_t SizeBit(size_t size) { return uint64_t{1} << std::min<size_t>(size, 63); }
};

ExampleParser::ExampleParser(ExampleFormat format, std::vector<FeatureSpec> specs)
    : format_(format), specs_(std::move(specs)) {
  auto table = std::make_unique<Table>();
  std::set<std::string> names;
  for (const FeatureSpec& spec : specs_) CheckSpec(spec);
  for (size_t i = 0; i < specs_.size(); ++i) {
    const FeatureSpec& spec = specs_[i];
    if (!names.insert(spec.name).second) {
      throw Invalid("feature {} is declared twice (features and sequence_features share names)",
                    spec.name);
    }
    const int side = spec.sequence ? 1 : 0;
    table->by_name[side].emplace(spec.name, static_cast<int32_t>(i));
    table->sizes[side] |= Table::SizeBit(spec.name.size());
    fields_.push_back(spec.ToField());
    Table::Plan& plan = table->plans.emplace_back();
    plan.name = spec.name.data();
    plan.name_size = spec.name.size();
    plan.sequence = spec.sequence;
    plan.text = IsText(spec);
    plan.type = ElementType(spec);
    plan.fixed = fields_.back().fixed();
    plan.values = Values(spec.shape);
    plan.has_default = !spec.default_numbers.empty() || spec.default_text.has_value();
    plan.scalar = spec.shape.empty() && !spec.sequence && spec.kind != FeatureKind::kBytes;
    if (spec.default_numbers.empty()) continue;
    const auto given = static_cast<int64_t>(spec.default_numbers.size());
    const int64_t values = plan.values == kAny ? given : plan.values;
    plan.defaults.resize(static_cast<size_t>(values * ir::ByteSize(plan.type)));
    WithIntType(plan.type, [&]<typename T>() {
      for (int64_t v = 0; v < values; ++v) {
        const T element = static_cast<T>(spec.default_numbers[static_cast<size_t>(v % given)]);
        std::memcpy(plan.defaults.data() + v * static_cast<int64_t>(sizeof(T)), &element,
                    sizeof(T));
      }
    });
  }
  table_ = std::move(table);
}

ExampleParser::~ExampleParser() = default;

void ExampleParser::Parse(Bytes record, Block& out, int64_t row, Scratch& scratch,
                          bool record_outlives_block) const {
  const Table& table = *table_;
  const auto* origin = reinterpret_cast<const uint8_t*>(record.data());
  // First find the features, as of equal names the last one counts; then read each.
  scratch.found.assign(specs_.size(), Bytes());
  Bytes* const found = scratch.found.data();
  const Table::Plan* const plans = table.plans.data();
  const auto wanted = static_cast<int32_t>(specs_.size());
  size_t position = 0;
  ForEachFeature(record, format_ == ExampleFormat::kSequenceExample,
                 [&](bool sequence, std::string_view key, Bytes value) {
                   if (position >= scratch.order.size()) scratch.order.push_back(0);
                   // Records of one file mostly have their features in one order.
                   int32_t& guess = scratch.order[position++];
                   if (guess < wanted) {
                     const Table::Plan& plan = plans[guess];
                     if (plan.name_size == key.size() && plan.sequence == sequence &&
                         SameBytes(plan.name, key.data(), key.size())) {
                       found[guess] = value;
                       return;
                     }
                   }
                   const int side = sequence ? 1 : 0;
                   if ((table.sizes[side] & Table::SizeBit(key.size())) == 0) return;
                   auto it = table.by_name[side].find(key);
                   if (it == table.by_name[side].end()) return;
                   guess = it->second;
                   found[guess] = value;
                 });
  for (size_t f = 0; f < specs_.size(); ++f) {
    const FeatureSpec& spec = specs_[f];
    const Table::Plan& plan = plans[f];
    const Bytes value = found[f];
    if (plan.scalar && WriteScalar(spec, plan.type, value, out.data(f, row))) continue;
    try {
      if (spec.sequence) {
        ParseFrames(f, value, origin, out, row, scratch);
        continue;
      }
      Lists lists;
      if (value.data() != nullptr) lists = ReadFeature(value, origin);
      if (lists.kind == FeatureKind::kNone) {
        UseDefault(f, out, row, scratch);
        continue;
      }
      CheckKind(spec, lists);
      if (plan.text) {
        if (spec.shape.empty()) {
          const std::string_view text = OneString(lists, origin);
          if (record_outlives_block) {
            out.SetTextView(f, row, text);
          } else {
            out.SetText(f, row, text);
          }
          continue;
        }
        scratch.texts.clear();
        ForEachBytes(lists, origin, [&](std::string_view text) { scratch.texts.push_back(text); });
        const auto count = static_cast<int64_t>(scratch.texts.size());
        if (plan.values != kAny && count != plan.values) {
          throw TooMany(plan.values, count);
        }
        out.SetTexts(f, row, FitDims(spec.shape, count), scratch.texts);
        continue;
      }
      const DType type = plan.type;
      if (spec.kind == FeatureKind::kBytes) {
        const std::string_view text = OneString(lists, origin);
        const auto bytes = static_cast<int64_t>(text.size());
        const int64_t element = ir::ByteSize(type);
        std::byte* to;
        if (plan.fixed) {
          if (bytes != plan.values * element) {
            throw BadData("expected a string of {} bytes ({}), found {}", plan.values * element,
                          fields_[f].shape.ToString(), bytes);
          }
          to = out.data(f, row);
        } else {
          if (bytes % element != 0) {
            throw BadData("expected a string of {} elements of {} bytes, found {} bytes",
                          Name(type), element, bytes);
          }
          to = out.SetCell(f, row, FitDims(spec.shape, bytes / element));
        }
        if (bytes > 0) std::memcpy(to, text.data(), text.size());
        continue;
      }
      if (plan.fixed) {
        WriteNumbers(spec, type, lists, origin, out.data(f, row), plan.values);
      } else {
        const int64_t count = CountValues(lists, origin);
        std::byte* to = out.SetCell(f, row, FitDims(spec.shape, count));
        WriteNumbers(spec, type, lists, origin, to, count);
      }
    } catch (DataError& error) {
      error.AddContext(fmt::format("feature {}", spec.name));
      throw;
    }
  }
}

void ExampleParser::ParseFrames(size_t f, Bytes list, const uint8_t* origin, Block& out,
                                int64_t row, Scratch& scratch) const {
  const FeatureSpec& spec = specs_[f];
  const Table::Plan& plan = table_->plans[f];
  const DType type = plan.type;
  const int64_t values = plan.values;
  const bool text = plan.text;
  const bool raw = spec.kind == FeatureKind::kBytes && !text;
  const int64_t frame_bytes = values * ir::ByteSize(type);
  // visit(frame, lists) for each frame, which it names in errors.
  const auto for_each = [&](auto visit) {
    int64_t frame = 0;
    Wire wire(list, origin);
    while (!wire.done()) {
      const uint32_t tag = wire.NextTag();
      if (tag != Tag(1, kLength)) {
        wire.Skip(tag);
        continue;
      }
      const Bytes feature = wire.Message();
      try {
        const Lists lists = ReadFeature(feature, origin);
        CheckKind(spec, lists);
        visit(frame, lists);
      } catch (DataError& error) {
        error.AddContext(fmt::format("frame {}", frame));
        throw;
      }
      ++frame;
    }
    return frame;
  };
  // Room is made only for frames whose values are there.
  scratch.texts.clear();
  const int64_t frames = for_each([&](int64_t, const Lists& lists) {
    if (raw) {
      const auto found = static_cast<int64_t>(OneString(lists, origin).size());
      if (found != frame_bytes) {
        throw BadData("expected a string of {} bytes, found {}", frame_bytes, found);
      }
      return;
    }
    int64_t found = 0;
    if (text) {
      ForEachBytes(lists, origin, [&](std::string_view value) {
        scratch.texts.push_back(value);
        ++found;
      });
    } else {
      found = CountValues(lists, origin);
    }
    if (found != values) throw TooMany(values, found);
  });
  Dims dims;
  dims.dims[dims.rank++] = frames;
  for (int64_t dim : spec.shape) dims.dims[dims.rank++] = dim;
  if (text) return out.SetTexts(f, row, dims, scratch.texts);
  std::byte* to = out.SetCell(f, row, dims);
  for_each([&](int64_t frame, const Lists& lists) {
    std::byte* at = to + frame * frame_bytes;
    if (raw) {
      const std::string_view string = OneString(lists, origin);
      if (!string.empty()) std::memcpy(at, string.data(), string.size());
    } else {
      WriteNumbers(spec, type, lists, origin, at, values);
    }
  });
}

void ExampleParser::UseDefault(size_t f, Block& out, int64_t row, Scratch& scratch) const {
  const FeatureSpec& spec = specs_[f];
  const Table::Plan& plan = table_->plans[f];
  const bool any = plan.values == kAny;
  if (!plan.has_default && !any) {
    throw BadData(
        "expected {}, but the record has no such feature. Give it a `default`, or correct the "
        "file",
        fields_[f].ToString());
  }
  if (IsText(spec)) {
    const std::string_view text = spec.default_text ? *spec.default_text : std::string_view();
    if (spec.shape.empty()) return out.SetTextView(f, row, text);
    int64_t count = any ? 0 : plan.values;
    if (any && spec.default_text) {
      count = 1;  // kAny becomes 1
      for (int64_t dim : spec.shape) count *= dim == kAny ? 1 : dim;
    }
    scratch.texts.assign(static_cast<size_t>(count), text);
    out.SetTexts(f, row, FitDims(spec.shape, count), scratch.texts);
    return;
  }
  const std::vector<std::byte>& elements = plan.defaults;
  std::byte* to = plan.fixed
                      ? out.data(f, row)
                      : out.SetCell(f, row,
                                    FitDims(spec.shape, static_cast<int64_t>(elements.size()) /
                                                            ir::ByteSize(plan.type)));
  if (!elements.empty()) std::memcpy(to, elements.data(), elements.size());
}

// ---- the declaration in a run file ----

namespace {

FeatureKind ParseKind(const Config& value) {
  const std::string& name = value.AsString();
  for (FeatureKind kind : {FeatureKind::kBytes, FeatureKind::kFloat, FeatureKind::kInt64}) {
    if (name == Name(kind)) return kind;
  }
  throw value.Complain(fmt::format(
      "expected the type of the feature's list: \"bytes\", \"float\" or \"int64\", found \"{}\"{}",
      name, DidYouMean(name, {"bytes", "float", "int64"})));
}

FeatureSpec ReadSpec(const std::string& name, const Config& value, bool sequence) {
  FeatureSpec spec;
  spec.name = name;
  spec.sequence = sequence;
  if (value.is_string()) {
    spec.kind = ParseKind(value);
    return spec;
  }
  if (!value.is_table()) {
    throw value.Complain(
        fmt::format("expected the type of the feature's list (\"bytes\", \"float\" or \"int64\") "
                    "or a table with "
                    "dtype, shape, as, default, bound; found {}",
                    value.Describe()));
  }
  FieldReader reader(value, "feature " + name);
  Config dtype, fallback;
  std::string as;
  reader.Required("dtype", dtype);
  reader("shape", spec.shape);
  reader("as", as);
  reader("default", fallback);
  reader("bound", spec.bound);
  reader.Finish();
  spec.kind = ParseKind(dtype);
  try {
    if (!as.empty()) spec.as = ir::ParseDType(as);
  } catch (const Error& error) {
    throw reader.Take("as")->Complain(error.message());
  }
  if (fallback.is_string()) {
    spec.default_text = fallback.AsString();
  } else if (!fallback.is_none()) {
    ReadConfig(fallback, spec.default_numbers);
    if (spec.default_numbers.empty()) throw fallback.Complain("expected at least one number");
  }
  return spec;
}

}  // namespace

std::vector<FeatureSpec> ReadFeatureSpecs(const Config& table, bool sequence) {
  if (!table.is_table()) {
    throw table.Complain(fmt::format(
        "expected a table of features, {{ image = \"bytes\", label = \"int64\" }}, found "
        "{}",
        table.Describe()));
  }
  std::vector<FeatureSpec> specs;
  for (const auto& [name, value] : table.entries()) {
    specs.push_back(ReadSpec(name, value, sequence));
    try {
      CheckSpec(specs.back());
    } catch (const Error& error) {
      throw value.Complain(error.message());
    }
  }
  return specs;
}

namespace {

// How SerializeExample writes a field.
FeatureKind WrittenKind(const Field& field) {
  if (field.text) return FeatureKind::kBytes;
  switch (field.shape.dtype) {
    case DType::kF32:
      return FeatureKind::kFloat;
    case DType::kF16:
    case DType::kBF16:
    case DType::kF64:
      return FeatureKind::kBytes;
    case DType::kU8:
      return field.shape.dims.empty() ? FeatureKind::kInt64 : FeatureKind::kBytes;
    default:
      return FeatureKind::kInt64;
  }
}

int64_t CountAny(const Field& field) {
  return std::count(field.shape.dims.begin(), field.shape.dims.end(), kAny);
}

}  // namespace

Config FeatureSpecsFor(const std::vector<Field>& fields) {
  Config table = Config::Table();
  for (const Field& field : fields) {
    const FeatureKind kind = WrittenKind(field);
    std::vector<Config> shape;
    for (int64_t dim : field.shape.dims) shape.emplace_back(dim);
    if (CountAny(field) > 1) shape = {Config(kAny)};  // NAME/shape has the dimensions
    Config spec = Config::Table();
    spec.Set("dtype", Config(std::string(Name(kind))));
    if (!shape.empty()) spec.Set("shape", Config::Array(shape));
    const bool as_it_is = kind == FeatureKind::kFloat || field.text ||
                          (kind == FeatureKind::kInt64 && field.shape.dtype == DType::kI32);
    if (!as_it_is) spec.Set("as", Config(std::string(Name(field.shape.dtype))));
    if (kind == FeatureKind::kInt64 && field.bound > 0) spec.Set("bound", Config(field.bound));
    table.Set(field.name, spec.entries().size() == 1 ? Config(std::string(Name(kind))) : spec);
  }
  return table;
}

// ---- inference ----

bool ExampleInference::Add(Bytes record) {
  struct Found {
    bool sequence;
    std::string_view name;
    FeatureKind kind = FeatureKind::kNone;
    bool mixed = false;
    FeatureKind other = FeatureKind::kNone;
    int64_t fewest = std::numeric_limits<int64_t>::max(), most = 0;
    bool wide = false;
  };
  std::map<std::pair<bool, std::string_view>, Found> all;
  bool lists = false;
  const auto* origin = reinterpret_cast<const uint8_t*>(record.data());
  const auto look = [&](Found& found, Bytes feature) {
    const Lists values = ReadFeature(feature, origin);
    if (values.kind == FeatureKind::kNone) return;
    if (found.kind != FeatureKind::kNone && found.kind != values.kind) found.other = values.kind;
    found.kind = values.kind;
    const int64_t count = CountValues(values, origin);
    found.fewest = std::min(found.fewest, count);
    found.most = std::max(found.most, count);
    if (values.kind == FeatureKind::kInt64) {
      const auto note = [&](uint64_t value) {
        found.wide = found.wide || !std::in_range<int32_t>(static_cast<int64_t>(value));
      };
      ForEachInts(
          values, origin,
          [&](Bytes packed) {
            Wire wire(packed, origin);
            while (!wire.done()) note(wire.Varint());
          },
          note);
    }
  };
  try {
    ForEachFeature(record, true, [&](bool sequence, std::string_view name, Bytes value) {
      Found found;
      if (!sequence) {
        look(found, value);
      } else {
        lists = true;
        Wire wire(value, origin);
        while (!wire.done()) {
          const uint32_t tag = wire.NextTag();
          if (tag == Tag(1, kLength)) {
            look(found, wire.Message());
          } else {
            wire.Skip(tag);
          }
        }
      }
      all[{sequence, name}] = found;
    });
  } catch (const DataError&) {
    return false;
  }
  ++records_;
  sequence_ = sequence_ || lists;
  for (const auto& [key, found] : all) {
    Seen& seen = seen_[{key.first, std::string(key.second)}];
    if (found.kind == FeatureKind::kNone) continue;
    if (seen.kind == FeatureKind::kNone) {
      seen.kind = found.kind;
      seen.fewest = found.fewest;
      seen.most = found.most;
    }
    if (found.kind != seen.kind) seen.other = found.kind;
    if (found.other != FeatureKind::kNone) seen.other = found.other;
    ++seen.records;
    seen.fewest = std::min(seen.fewest, found.fewest);
    seen.most = std::max(seen.most, found.most);
    seen.wide = seen.wide || found.wide;
  }
  return true;
}

std::vector<std::string> ExampleInference::Names(bool sequence) const {
  std::vector<std::string> names;
  for (const auto& [key, seen] : seen_) {
    if (key.first == sequence) names.push_back(key.second);
  }
  return names;
}

std::vector<FeatureSpec> ExampleInference::Specs() const {
  std::vector<FeatureSpec> specs;
  for (const auto& [key, seen] : seen_) {
    if (seen.kind == FeatureKind::kNone) continue;
    const auto& [sequence, name] = key;
    if (seen.other != FeatureKind::kNone) {
      throw BadData(
          "feature {} is {} in some records and {} in others, so its type cannot be inferred: "
          "declare `features`",
          name, Name(seen.kind), Name(seen.other));
    }
    const bool one_length = seen.fewest == seen.most && seen.most > 0;
    if (sequence && !one_length) {
      throw BadData(
          "sequence feature {} has {} to {} values per frame: expected one number of them. Leave "
          "it "
          "out by declaring `sequence_features`",
          name, seen.fewest, seen.most);
    }
    FeatureSpec spec;
    spec.name = name;
    spec.kind = seen.kind;
    spec.sequence = sequence;
    if (!one_length || (!sequence && seen.records < records_)) {
      spec.shape = {kAny};
    } else if (seen.most > 1) {
      spec.shape = {seen.most};
    }
    if (seen.wide) spec.as = DType::kI64;
    specs.push_back(std::move(spec));
  }
  return specs;
}

// ---- serializing ----

namespace {

size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}
// Of a length-delimited field with a one-byte tag.
size_t FieldSize(size_t payload) { return 1 + VarintSize(payload) + payload; }

class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }
  // The tag and length of a length-delimited field.
  void Begin(uint32_t field, size_t payload) {
    Varint(Tag(field, kLength));
    Varint(payload);
  }
  void Put(std::string_view bytes) { out_.append(bytes); }

 private:
  std::string& out_;
};

template <typename Visit>
void ForEachElement(DType type, Bytes bytes, Visit visit) {
  WithIntType(type, [&]<typename T>() {
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      visit(static_cast<uint64_t>(static_cast<int64_t>(value)));
    }
  });
}

// One feature to be written.
struct Written {
  std::string_view name;
  bool shape = false;  // NAME/shape, of field
  size_t field = 0;
  FeatureKind kind = FeatureKind::kNone;
  size_t values = 0;   // bytes of all values with their tags: the list message
  size_t packed = 0;   // bytes of numbers
  size_t feature = 0;  // bytes of the Feature message
  size_t entry = 0;    // bytes of the map entry
};

}  // namespace

void SerializeExample(const Block& block, int64_t row, std::string& out) {
  constexpr std::string_view kShapeSuffix = "/shape";
  std::vector<Written> parts;
  for (size_t f = 0; f < block.fields().size(); ++f) {
    const Field& field = block.fields()[f];
    Written part{.name = field.name, .field = f, .kind = WrittenKind(field)};
    if (field.text && field.shape.dims.empty()) {
      part.values = FieldSize(block.text(f, row).size());
    } else if (field.text) {
      for (std::string_view text : block.texts(f, row)) part.values += FieldSize(text.size());
    } else {
      const Bytes bytes = block.bytes(f, row);
      if (part.kind == FeatureKind::kInt64) {
        ForEachElement(field.shape.dtype, bytes,
                       [&](uint64_t value) { part.packed += VarintSize(value); });
      } else {
        part.packed = bytes.size();
      }
      // Of numbers none is written for none; a string may be empty.
      const bool none = part.packed == 0 && part.kind != FeatureKind::kBytes;
      part.values = none ? 0 : FieldSize(part.packed);
    }
    parts.push_back(part);
    if (CountAny(field) > 1) {
      Written dims{.name = field.name, .shape = true, .field = f, .kind = FeatureKind::kInt64};
      for (int64_t dim : block.dims(f, row)) dims.packed += VarintSize(static_cast<uint64_t>(dim));
      dims.values = FieldSize(dims.packed);
      parts.push_back(dims);
    }
  }
  size_t features = 0;
  for (Written& part : parts) {
    part.feature = FieldSize(part.values);
    const size_t name = part.name.size() + (part.shape ? kShapeSuffix.size() : 0);
    part.entry = FieldSize(name) + FieldSize(part.feature);
    features += FieldSize(part.entry);
  }
  out.clear();
  out.reserve(FieldSize(features));
  WireWriter wire(out);
  wire.Begin(1, features);
  for (const Written& part : parts) {
    const size_t f = part.field;
    const Field& field = block.fields()[f];
    wire.Begin(1, part.entry);
    wire.Begin(1, part.name.size() + (part.shape ? kShapeSuffix.size() : 0));
    wire.Put(part.name);
    if (part.shape) wire.Put(kShapeSuffix);
    wire.Begin(2, part.feature);
    wire.Begin(part.kind == FeatureKind::kBytes   ? 1
               : part.kind == FeatureKind::kFloat ? 2
                                                  : 3,
               part.values);
    if (part.shape) {
      wire.Begin(1, part.packed);
      for (int64_t dim : block.dims(f, row)) wire.Varint(static_cast<uint64_t>(dim));
    } else if (field.text && field.shape.dims.empty()) {
      const std::string_view text = block.text(f, row);
      wire.Begin(1, text.size());
      wire.Put(text);
    } else if (field.text) {
      for (std::string_view text : block.texts(f, row)) {
        wire.Begin(1, text.size());
        wire.Put(text);
      }
    } else if (part.values > 0) {
      const Bytes bytes = block.bytes(f, row);
      wire.Begin(1, part.packed);
      if (part.kind == FeatureKind::kInt64) {
        ForEachElement(field.shape.dtype, bytes, [&](uint64_t value) { wire.Varint(value); });
      } else {
        wire.Put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      }
    }
  }
}

}  // namespace flatout::data
