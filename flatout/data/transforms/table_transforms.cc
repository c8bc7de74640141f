// Transforms of numbers and of columns: cast, scale, normalize, clip, fill_missing, bucketize,
// one_hot, multi_hot, concat, reshape, select, drop, rename, length and functions of one number.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "flatout/data/register.h"
#include "flatout/data/transforms/field_transform.h"

namespace flatout::data {
namespace {

ir::DType ReadDType(FieldReader& reader, std::string_view key, ir::DType otherwise) {
  const Config* value = reader.Take(key);
  if (value == nullptr) return otherwise;
  try {
    return ir::ParseDType(value->AsString());
  } catch (const UserError& error) {
    throw value->Complain(error.message());
  }
}

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// ---- cast ----

// Numbers of another type, or the numbers that text spells.
class Cast : public FieldTransform {
 public:
  Cast(FieldKeys keys, ir::DType dtype) : FieldTransform("cast", std::move(keys)), dtype_(dtype) {}

 protected:
  Field Result(const Field& in) const override {
    Field result = in;
    result.text = false;
    result.shape.dtype = dtype_;
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    const Field& field = in.fields()[f];
    if (field.text) return ParseColumn(in, f, out, g);
    const ir::DType from = field.shape.dtype;
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      const Elements e = ElementsOf(in, f, row);
      const int64_t done =
          ConvertElements(from, e.data, dtype_, PlaceFor(out, g, row, e.dims), e.count);
      if (done < e.count) {
        out.Bad(row, Bad(field, fmt::format("the value {} does not fit {} ({})",
                                            ElementToString(from, e.data, done), ir::Name(dtype_),
                                            RangeOf(dtype_))));
      }
    }
  }

 private:
  void ParseColumn(const Block& in, size_t f, Block& out, size_t g) const {
    const Field& field = in.fields()[f];
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      std::string_view single;
      const std::span<const std::string_view> texts = StringsOf(in, f, row, single);
      std::byte* to = PlaceFor(out, g, row, in.dims(f, row));
      for (size_t i = 0; i < texts.size(); ++i) {
        if (Parse(texts[i], to + static_cast<int64_t>(i) * ir::ByteSize(dtype_))) continue;
        out.Bad(row, Bad(field, fmt::format("expected {} ({}), found {}",
                                            ir::IsFloat(dtype_) ? "a number" : "an integer",
                                            RangeOf(dtype_), Shown(texts[i]))));
        break;
      }
    }
  }
  bool Parse(std::string_view text, std::byte* to) const {
    while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
    while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
    if (text.starts_with('+')) text.remove_prefix(1);
    auto take = [&](auto value, ir::DType from) {
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || stop != text.data() + text.size() || text.empty()) return false;
      std::byte memory[sizeof(value)];
      std::memcpy(memory, &value, sizeof(value));
      return ConvertElements(from, memory, dtype_, to, 1) == 1;
    };
    if (dtype_ == ir::DType::kF32) return take(float{}, ir::DType::kF32);
    if (ir::IsFloat(dtype_)) return take(double{}, ir::DType::kF64);
    if (dtype_ == ir::DType::kU64) return take(uint64_t{}, ir::DType::kU64);
    return take(int64_t{}, ir::DType::kI64);
  }

  ir::DType dtype_;
};

// ---- numbers to f32 ----

// Each element x of any number type to function(x) of f32.
class ToFloat : public FieldTransform {
 public:
  using FieldTransform::FieldTransform;

 protected:
  Field Result(const Field& in) const override {
    NeedNumbers(in);
    Field result = in;
    result.shape.dtype = ir::DType::kF32;
    result.bound = 0;
    return result;
  }
  // x[i] becomes Map(x[i], position of i in the last dimension).
  template <typename Function>
  static void MapColumn(const Block& in, size_t f, Block& out, size_t g, Function function) {
    WithElementType(in.fields()[f].shape.dtype, [&]<typename T>(T) {
      ForRuns(in, f, out, g, [&](const std::byte* from, int64_t count, std::byte* to) {
        auto* result = reinterpret_cast<float*>(to);
        for (int64_t i = 0; i < count; ++i) {
          result[i] = function(static_cast<float>(Number(Load<T>(from, i))));
        }
      });
    });
  }
};

// Functions of one number, as f32.
class Elementwise : public ToFloat {
 public:
  Elementwise(std::string name, FieldKeys keys, float (*function)(float))
      : ToFloat(std::move(name), std::move(keys)), function_(function) {}

 protected:
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    MapColumn(in, f, out, g, function_);
  }

 private:
  float (*function_)(float);
};

// x * scale + offset (Keras Rescaling) and (x - mean) / std (Keras Normalization), with one number
// for all, or one for each position of the last dimension.
class Affine : public ToFloat {
 public:
  enum class Kind { kScale, kNormalize };
  Affine(std::string name, FieldKeys keys, Kind kind, std::vector<float> first,
         std::vector<float> second)
      : ToFloat(std::move(name), std::move(keys)),
        kind_(kind),
        first_(std::move(first)),
        second_(std::move(second)) {
    const size_t width = std::max(first_.size(), second_.size());
    if (first_.size() == 1) first_.resize(width, first_[0]);
    if (second_.size() == 1) second_.resize(width, second_[0]);
  }

 protected:
  Field Result(const Field& in) const override {
    const auto width = static_cast<int64_t>(first_.size());
    if (width > 1 && (in.shape.rank() == 0 || in.shape.dims.back() != width)) {
      throw Invalid("{} values were given, so the last dimension must be {}", width, width);
    }
    return ToFloat::Result(in);
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    const float* a = first_.data();
    const float* b = second_.data();
    const bool scale = kind_ == Kind::kScale;
    if (first_.size() == 1) {
      const float a0 = a[0], b0 = b[0];
      if (scale) return MapColumn(in, f, out, g, [=](float x) { return x * a0 + b0; });
      return MapColumn(in, f, out, g, [=](float x) { return (x - a0) / b0; });
    }
    // Runs begin at position 0 of the last dimension.
    const size_t width = first_.size();
    size_t i = 0;
    auto next = [&] {
      const size_t at = i;
      i = i + 1 == width ? 0 : i + 1;
      return at;
    };
    if (scale) {
      return MapColumn(in, f, out, g, [&](float x) {
        const size_t at = next();
        return x * a[at] + b[at];
      });
    }
    MapColumn(in, f, out, g, [&](float x) {
      const size_t at = next();
      return (x - a[at]) / b[at];
    });
  }

 private:
  Kind kind_;
  std::vector<float> first_, second_;
};

// ---- the same type ----

class Clip : public FieldTransform {
 public:
  Clip(FieldKeys keys, double min, double max)
      : FieldTransform("clip", std::move(keys)), min_(min), max_(max) {}

 protected:
  Field Result(const Field& in) const override {
    NeedNumbers(in);
    if (in.shape.dtype == ir::DType::kPred) throw Invalid("expected numbers, found booleans");
    if (!ir::IsFloat(in.shape.dtype)) {
      for (double limit : {min_, max_}) {
        if (!std::isinf(limit) && limit != std::floor(limit)) {
          throw Invalid("min and max must be whole numbers for a field of integers, found {}",
                        limit);
        }
      }
    }
    return in;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    WithElementType(in.fields()[f].shape.dtype, [&]<typename T>(T) {
      using N = decltype(Number(T{}));
      const N low = Limit<N>(min_), high = Limit<N>(max_);
      ForRuns(in, f, out, g, [&](const std::byte* from, int64_t count, std::byte* to) {
        for (int64_t i = 0; i < count; ++i) {
          const N value = Number(Load<T>(from, i));
          // NaN stays.
          Store<T>(to, i, static_cast<T>(value < low ? low : high < value ? high : value));
        }
      });
    });
  }

 private:
  // The limit as an element; the type's own where the limit is beyond it.
  template <typename N>
  static N Limit(double limit) {
    if constexpr (std::is_floating_point_v<N>) {
      return static_cast<N>(limit);
    } else {
      const std::optional<N> value = Convert<N>(limit);
      if (value) return *value;
      return limit < 0 ? std::numeric_limits<N>::min() : std::numeric_limits<N>::max();
    }
  }
  double min_, max_;
};

// NaN becomes a number; empty text another text.
class FillMissing : public FieldTransform {
 public:
  FillMissing(FieldKeys keys, std::optional<double> number, std::string text)
      : FieldTransform("fill_missing", std::move(keys)), number_(number), text_(std::move(text)) {}

 protected:
  Field Result(const Field& in) const override {
    if (in.text) {
      if (number_) throw Invalid("the field is text, so `value` must be a string");
      return in;
    }
    if (!number_) throw Invalid("the field holds numbers, so `value` must be a number");
    if (!ir::IsFloat(in.shape.dtype)) {
      throw Invalid("expected floats, found {}, in which no value is missing",
                    ir::Name(in.shape.dtype));
    }
    return in;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    const Field& field = in.fields()[f];
    if (field.text) return FillTexts(in, f, out, g);
    WithElementType(field.shape.dtype, [&]<typename T>(T) {
      if constexpr (std::is_floating_point_v<decltype(Number(T{}))>) {
        const T value = static_cast<T>(static_cast<float>(*number_));
        const T wide = [&] {
          if constexpr (std::is_same_v<T, double>) return *number_;
          return value;
        }();
        ForRuns(in, f, out, g, [&](const std::byte* from, int64_t count, std::byte* to) {
          for (int64_t i = 0; i < count; ++i) {
            const T x = Load<T>(from, i);
            Store<T>(to, i, std::isnan(Number(x)) ? wide : x);
          }
        });
      }
    });
  }

 private:
  void FillTexts(const Block& in, size_t f, Block& out, size_t g) const {
    const bool scalar = in.fields()[f].shape.rank() == 0;
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      if (scalar) {
        const std::string_view text = in.text(f, row);
        out.SetText(g, row, text.empty() ? std::string_view(text_) : text);
        continue;
      }
      const std::span<const std::string_view> texts = in.texts(f, row);
      std::vector<std::string_view> filled(texts.begin(), texts.end());
      for (std::string_view& text : filled) {
        if (text.empty()) text = text_;
      }
      out.SetTexts(g, row, in.dims(f, row), filled);
    }
  }
  std::optional<double> number_;
  std::string text_;
};

// ---- numbers to classes ----

// The number of boundaries that are not above x, as tf.raw_ops.Bucketize; NaN is above all.
class Bucketize : public FieldTransform {
 public:
  Bucketize(FieldKeys keys, std::vector<float> boundaries)
      : FieldTransform("bucketize", std::move(keys)), boundaries_(std::move(boundaries)) {}

 protected:
  Field Result(const Field& in) const override {
    NeedNumbers(in);
    Field result = in;
    result.shape.dtype = ir::DType::kI32;
    result.bound = static_cast<int64_t>(boundaries_.size()) + 1;
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    WithElementType(in.fields()[f].shape.dtype, [&]<typename T>(T) {
      ForRuns(in, f, out, g, [&](const std::byte* from, int64_t count, std::byte* to) {
        auto* result = reinterpret_cast<int32_t*>(to);
        for (int64_t i = 0; i < count; ++i) {
          const auto x = static_cast<double>(Number(Load<T>(from, i)));
          const auto above = std::upper_bound(
              boundaries_.begin(), boundaries_.end(), x,
              [](double value, float boundary) { return value < static_cast<double>(boundary); });
          result[i] = static_cast<int32_t>(above - boundaries_.begin());
        }
      });
    });
  }

 private:
  std::vector<float> boundaries_;
};

// Integers to vectors: one_hot adds a dimension, multi_hot and count replace the last one.
class Encode : public FieldTransform {
 public:
  enum class Kind { kOneHot, kMultiHot, kCount };
  Encode(std::string name, FieldKeys keys, Kind kind, int64_t depth, ir::DType dtype,
         std::optional<int64_t> ignore)
      : FieldTransform(std::move(name), std::move(keys)),
        kind_(kind),
        depth_(depth),
        dtype_(dtype),
        ignore_(ignore) {}

 protected:
  Field Result(const Field& in) const override {
    NeedIntegers(in);
    const int64_t depth = Depth(in);
    if (depth == 0) throw Invalid("how many values there may be is not known: give depth");
    Field result;
    std::vector<int64_t> dims = in.shape.dims;
    if (kind_ != Kind::kOneHot && !dims.empty()) dims.pop_back();
    dims.push_back(depth);
    result.shape = ir::Shape(dtype_, std::move(dims));
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    const Field& field = in.fields()[f];
    const int64_t depth = Depth(field);
    const int64_t width = ir::ByteSize(dtype_);
    const std::vector<std::byte> one = One();
    WithElementType(field.shape.dtype, [&]<typename T>(T) {
      for (int64_t row = 0; row < in.rows(); ++row) {
        if (in.bad(row)) continue;
        const Elements from = ElementsOf(in, f, row);
        std::vector<int64_t> dims(from.dims.begin(), from.dims.end());
        // Elements that share a vector.
        int64_t group = 1;
        if (kind_ != Kind::kOneHot && !dims.empty()) {
          group = dims.back();
          dims.pop_back();
        }
        int64_t vectors = 1;
        for (int64_t dim : dims) vectors *= dim;
        dims.push_back(depth);
        std::byte* to = PlaceFor(out, g, row, dims);
        std::memset(to, 0, static_cast<size_t>(vectors * depth * width));
        for (int64_t i = 0; i < vectors * group; ++i) {
          const auto value = static_cast<int64_t>(Number(Load<T>(from.data, i)));
          if (ignore_ && value == *ignore_) continue;
          if (value < 0 || value >= depth) {
            out.Bad(row, Bad(field, fmt::format("expected 0 to {} (depth = {}), found {}",
                                                depth - 1, depth, value)));
            break;
          }
          std::byte* place = to + (i / group * depth + value) * width;
          if (kind_ == Kind::kCount) {
            AddOne(place);
          } else {
            std::memcpy(place, one.data(), static_cast<size_t>(width));
          }
        }
      }
    });
  }

 private:
  int64_t Depth(const Field& field) const { return depth_ > 0 ? depth_ : field.bound; }
  std::vector<std::byte> One() const {
    std::vector<std::byte> one(static_cast<size_t>(ir::ByteSize(dtype_)));
    const float value = 1;
    ConvertElements(ir::DType::kF32, reinterpret_cast<const std::byte*>(&value), dtype_, one.data(),
                    1);
    return one;
  }
  void AddOne(std::byte* place) const {
    WithElementType(dtype_, [&]<typename T>(T) {
      Store<T>(place, 0, static_cast<T>(Number(Load<T>(place, 0)) + 1));
    });
  }

  Kind kind_;
  int64_t depth_;
  ir::DType dtype_;
  std::optional<int64_t> ignore_;
};

// ---- shapes ----

class Reshape : public FieldTransform {
 public:
  Reshape(FieldKeys keys, std::vector<int64_t> shape)
      : FieldTransform("reshape", std::move(keys)), shape_(std::move(shape)) {}

 protected:
  Field Result(const Field& in) const override {
    if (!in.fixed()) {
      throw Invalid(
          "expected a fixed shape, found one that differs from record to record. Use "
          "pad_or_truncate first");
    }
    int64_t known = 1;
    for (int64_t dim : shape_) {
      if (dim != -1 && __builtin_mul_overflow(known, dim, &known)) known = -1;
    }
    Field result = in;
    result.shape.dims = shape_;
    const int64_t size = in.shape.size();
    auto free = std::find(result.shape.dims.begin(), result.shape.dims.end(), int64_t{-1});
    if (free != result.shape.dims.end() && known > 0 && size % known == 0) {
      *free = size / known;
      known = size;
    }
    if (known != size) {
      throw Invalid("{} elements do not make {}", size, ir::DimsToString(shape_));
    }
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    out.ShareColumn(g, in, f);
  }

 private:
  std::vector<int64_t> shape_;
};

// The first `length` of the first dimension, filled up where there are fewer.
class PadOrTruncate : public Transform {
 public:
  struct Options {
    std::string field, mask;
    int64_t length = 0;
    double value = 0;
    bool pad_left = false, cut_left = false;
  };
  explicit PadOrTruncate(Options options) : options_(std::move(options)) {}

  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    std::vector<Field> result = in;
    const size_t f = WithContext(name_, [&] { return FindField(in, options_.field); });
    WithContext(name_ + ": field " + in[f].ToString(), [&] {
      NeedNumbers(in[f]);
      const ir::Shape& shape = in[f].shape;
      if (shape.rank() == 0) throw Invalid("expected at least one dimension");
      for (size_t d = 1; d < shape.dims.size(); ++d) {
        if (shape.dims[d] == kAny) {
          throw Invalid("only the first dimension may differ from record to record");
        }
      }
      double number = options_.value;
      std::byte element[8];
      if (ConvertElements(ir::DType::kF64, reinterpret_cast<const std::byte*>(&number), shape.dtype,
                          element, 1) != 1) {
        throw Invalid("value = {} does not fit {}", number, ir::Name(shape.dtype));
      }
      if (!ir::IsFloat(shape.dtype) && number != std::floor(number)) {
        throw Invalid("value = {} is no whole number", number);
      }
      if (in[f].bound > 0 && !(number >= 0 && number < static_cast<double>(in[f].bound))) {
        throw Invalid("value = {} lies outside the field's values 0 to {}", number,
                      in[f].bound - 1);
      }
    });
    result[f].shape.dims[0] = options_.length;
    if (!options_.mask.empty()) {
      for (const Field& other : in) {
        if (other.name == options_.mask) {
          throw Invalid("{}: mask = \"{}\": there is a field of that name already", name_,
                        options_.mask);
        }
      }
      result.push_back(Field{options_.mask, ir::Shape(ir::DType::kF32, {options_.length})});
    }
    return result;
  }
  void Apply(const Block& in, Block& out, std::span<const uint64_t>) const override {
    const size_t f = FindField(in.fields(), options_.field);
    for (size_t other = 0; other < in.fields().size(); ++other) {
      if (other != f) out.ShareColumn(other, in, other);
    }
    const ir::Shape& shape = out.fields()[f].shape;
    const int64_t width = ir::ByteSize(shape.dtype);
    const int64_t step = shape.bytes() / options_.length;  // of one position
    std::vector<std::byte> filler(static_cast<size_t>(shape.bytes()));
    for (int64_t i = 0; i < shape.size(); ++i) {
      ConvertElements(ir::DType::kF64, reinterpret_cast<const std::byte*>(&options_.value),
                      shape.dtype, filler.data() + i * width, 1);
    }
    const bool mask = !options_.mask.empty();
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      const Elements from = ElementsOf(in, f, row);
      const int64_t have = from.dims[0], kept = std::min(have, options_.length);
      const int64_t skipped = options_.cut_left ? have - kept : 0;
      const int64_t first = options_.pad_left ? options_.length - kept : 0;
      std::byte* to = out.data(f, row);
      if (kept < options_.length) std::memcpy(to, filler.data(), filler.size());
      if (kept > 0) {
        std::memcpy(to + first * step, from.data + skipped * step,
                    static_cast<size_t>(kept * step));
      }
      if (!mask) continue;
      auto* flags = out.as<float>(in.fields().size(), row);
      for (int64_t i = 0; i < options_.length; ++i) {
        flags[i] = i >= first && i < first + kept ? 1.0f : 0.0f;
      }
    }
  }

 private:
  const std::string name_ = "pad_or_truncate";
  Options options_;
};

// The first dimension's size, i32.
class Length : public FieldTransform {
 public:
  explicit Length(FieldKeys keys) : FieldTransform("length", std::move(keys)) {}

 protected:
  Field Result(const Field& in) const override {
    if (in.shape.rank() == 0 && !in.text) throw Invalid("expected at least one dimension, or text");
    Field result;
    result.shape = ir::Shape::Scalar(ir::DType::kI32);
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    const Field& field = in.fields()[f];
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      const int64_t length =
          field.shape.rank() == 0 ? in.cell(f, row).bytes : in.dims(f, row).front();
      *out.as<int32_t>(g, row) = static_cast<int32_t>(length);
    }
  }
};

// Positions 0 .. n-2 in the field's place, 1 .. n-1 as a field of their own: what a language model
// sees and what it is to say.
class NextToken : public Transform {
 public:
  NextToken(std::string field, std::string output)
      : field_(std::move(field)), output_(std::move(output)) {}

  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    std::vector<Field> result = in;
    const size_t f = WithContext(name_, [&] { return FindField(in, field_); });
    WithContext(name_ + ": field " + in[f].ToString(), [&] {
      NeedNumbers(in[f]);
      if (in[f].shape.rank() != 1 || in[f].shape.dims[0] < 2) {
        throw Invalid("expected one dimension of known size, 2 or more. Use pad_or_truncate first");
      }
    });
    for (const Field& other : in) {
      if (other.name == output_) {
        throw Invalid("{}: output = \"{}\": there is a field of that name already", name_, output_);
      }
    }
    --result[f].shape.dims[0];
    Field target = result[f];
    target.name = output_;
    result.push_back(std::move(target));
    return result;
  }
  void Apply(const Block& in, Block& out, std::span<const uint64_t>) const override {
    const size_t f = FindField(in.fields(), field_), g = in.fields().size();
    for (size_t other = 0; other < in.fields().size(); ++other) {
      if (other != f) out.ShareColumn(other, in, other);
    }
    const int64_t bytes = out.stride(f), width = ir::ByteSize(in.fields()[f].shape.dtype);
    for (int64_t row = 0; row < in.rows(); ++row) {
      std::memcpy(out.data(f, row), in.data(f, row), static_cast<size_t>(bytes));
      std::memcpy(out.data(g, row), in.data(f, row) + width, static_cast<size_t>(bytes));
    }
  }

 private:
  const std::string name_ = "next_token";
  std::string field_, output_;
};

// ---- columns as a whole ----

// Fields by number of the input, under names that may be others.
class Choose : public Transform {
 public:
  enum class Kind { kSelect, kDrop, kRename };
  Choose(std::string name, Kind kind, std::vector<std::pair<std::string, std::string>> names)
      : name_(std::move(name)), kind_(kind), names_(std::move(names)) {}

  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    std::vector<Field> result;
    for (const auto& [f, name] : Chosen(in)) {
      for (const Field& other : result) {
        if (other.name == name) throw Invalid("{}: two fields would be called \"{}\"", name_, name);
      }
      result.push_back(in[f]);
      result.back().name = name;
    }
    if (result.empty()) throw Invalid("{}: no field would be left", name_);
    return result;
  }
  void Apply(const Block& in, Block& out, std::span<const uint64_t>) const override {
    size_t g = 0;
    for (const auto& [f, name] : Chosen(in.fields())) out.ShareColumn(g++, in, f);
  }

 private:
  std::vector<std::pair<size_t, std::string>> Chosen(const std::vector<Field>& in) const {
    std::vector<std::pair<size_t, std::string>> chosen;
    std::vector<size_t> named;
    for (const auto& [from, to] : names_) {
      named.push_back(WithContext(name_, [&] { return FindField(in, from); }));
    }
    if (kind_ == Kind::kSelect) {
      for (size_t i = 0; i < named.size(); ++i) chosen.emplace_back(named[i], names_[i].second);
      return chosen;
    }
    for (size_t f = 0; f < in.size(); ++f) {
      const auto found = std::find(named.begin(), named.end(), f);
      if (found == named.end()) {
        chosen.emplace_back(f, in[f].name);
      } else if (kind_ == Kind::kRename) {
        chosen.emplace_back(f, names_[static_cast<size_t>(found - named.begin())].second);
      }
    }
    return chosen;
  }

  std::string name_;
  Kind kind_;
  std::vector<std::pair<std::string, std::string>> names_;
};

// Fixed fields of numbers, one after the other, as one vector.
class Concat : public Transform {
 public:
  Concat(std::vector<std::string> fields, std::string output, ir::DType dtype, bool keep)
      : fields_(std::move(fields)), output_(std::move(output)), dtype_(dtype), keep_(keep) {}

  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    std::vector<Field> result;
    int64_t size = 0;
    for (const std::string& name : fields_) {
      const size_t f = WithContext(name_, [&] { return FindField(in, name); });
      WithContext(name_ + ": field " + in[f].ToString(), [&] {
        NeedNumbers(in[f]);
        if (!in[f].fixed()) {
          throw Invalid("expected a fixed shape, found one that differs from record to record");
        }
      });
      size += in[f].shape.size();
    }
    for (const Field& field : in) {
      if (!Stays(field)) continue;
      if (field.name == output_) {
        throw Invalid("{}: output = \"{}\": there is a field of that name already", name_, output_);
      }
      result.push_back(field);
    }
    result.push_back(Field{output_, ir::Shape(dtype_, {size})});
    return result;
  }
  void Apply(const Block& in, Block& out, std::span<const uint64_t>) const override {
    size_t g = 0;
    for (size_t f = 0; f < in.fields().size(); ++f) {
      if (Stays(in.fields()[f])) out.ShareColumn(g++, in, f);
    }
    int64_t offset = 0;
    const int64_t width = ir::ByteSize(dtype_);
    for (const std::string& name : fields_) {
      const size_t f = FindField(in.fields(), name);
      const ir::Shape& shape = in.fields()[f].shape;
      const int64_t count = shape.size();
      for (int64_t row = 0; row < in.rows(); ++row) {
        if (in.bad(row) || out.bad(row)) continue;
        const std::byte* from = in.data(f, row);
        const int64_t done =
            ConvertElements(shape.dtype, from, dtype_, out.data(g, row) + offset * width, count);
        if (done < count) {
          out.Bad(row, BadData("{}: field {}: the value {} does not fit {} ({})", name_, name,
                               ElementToString(shape.dtype, from, done), ir::Name(dtype_),
                               RangeOf(dtype_)));
        }
      }
      offset += count;
    }
  }

 private:
  bool Stays(const Field& field) const {
    return keep_ || std::find(fields_.begin(), fields_.end(), field.name) == fields_.end();
  }
  const std::string name_ = "concat";
  std::vector<std::string> fields_;
  std::string output_;
  ir::DType dtype_;
  bool keep_;
};

// ---- keys ----

std::vector<float> Floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

TransformPtr MakeCast(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::string dtype;
  reader.Required("dtype", dtype);
  return std::make_shared<Cast>(std::move(keys), ReadDType(reader, "dtype", ir::DType::kF32));
}

void CheckWidths(FieldReader& reader, std::string_view key, const std::vector<double>& a,
                 const std::vector<double>& b) {
  CheckKey(reader, key,
           !a.empty() && !b.empty() && (a.size() == b.size() || a.size() == 1 || b.size() == 1),
           "one value, or as many as the other list has");
}

TransformPtr MakeScale(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::vector<double> scale = {1}, offset = {0};
  reader("scale", scale);
  reader("offset", offset);
  CheckWidths(reader, "scale", scale, offset);
  return std::make_shared<Affine>("scale", std::move(keys), Affine::Kind::kScale, Floats(scale),
                                  Floats(offset));
}

TransformPtr MakeNormalize(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::vector<double> mean, std, variance;
  reader.Required("mean", mean);
  reader("std", std);
  reader("variance", variance);
  CheckKey(reader, "variance", std.empty() != variance.empty(), "either std or variance");
  std::vector<float> divisor;
  for (double value : std) {
    CheckKey(reader, "std", value > 0, "values above 0");
    divisor.push_back(static_cast<float>(value));
  }
  for (double value : variance) {
    CheckKey(reader, "variance", value >= 0, "values from 0 on");
    // As Keras: no division by zero for columns that do not vary.
    divisor.push_back(std::max(std::sqrt(static_cast<float>(value)), 1e-7f));
  }
  CheckWidths(reader, "mean", mean, std.empty() ? variance : std);
  return std::make_shared<Affine>("normalize", std::move(keys), Affine::Kind::kNormalize,
                                  Floats(mean), std::move(divisor));
}

TransformPtr MakeClip(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  reader("min", min);
  reader("max", max);
  CheckKey(reader, "max", min <= max, "a max that is not below min");
  return std::make_shared<Clip>(std::move(keys), min, max);
}

TransformPtr MakeFillMissing(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  Config value;
  reader.Required("value", value);
  if (value.is_string()) {
    return std::make_shared<FillMissing>(std::move(keys), std::nullopt, value.AsString());
  }
  return std::make_shared<FillMissing>(std::move(keys), value.AsDouble(), "");
}

TransformPtr MakeBucketize(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::vector<double> boundaries;
  reader.Required("boundaries", boundaries);
  CheckKey(reader, "boundaries",
           !boundaries.empty() && std::is_sorted(boundaries.begin(), boundaries.end()),
           "rising numbers");
  return std::make_shared<Bucketize>(std::move(keys), Floats(boundaries));
}

TransformPtr MakeEncode(const std::string& name, FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  int64_t depth = 0;
  reader("depth", depth);
  CheckKey(reader, "depth", depth >= 0 && depth <= (int64_t{1} << 31), "a number of classes");
  std::optional<int64_t> ignore;
  bool count = false;
  if (name == "multi_hot") {
    reader("ignore", ignore);
    reader("count", count);
  }
  const ir::DType dtype = ReadDType(reader, "dtype", ir::DType::kF32);
  const Encode::Kind kind = name == "one_hot" ? Encode::Kind::kOneHot
                            : count           ? Encode::Kind::kCount
                                              : Encode::Kind::kMultiHot;
  return std::make_shared<Encode>(name, std::move(keys), kind, depth, dtype, ignore);
}

TransformPtr MakeReshape(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::vector<int64_t> shape;
  reader.Required("shape", shape);
  const bool positive =
      std::all_of(shape.begin(), shape.end(), [](int64_t d) { return d > 0 || d == -1; });
  CheckKey(reader, "shape", positive && std::count(shape.begin(), shape.end(), -1) <= 1,
           "dimensions above 0, at most one of them -1");
  return std::make_shared<Reshape>(std::move(keys), std::move(shape));
}

TransformPtr MakePadOrTruncate(FieldReader& reader) {
  PadOrTruncate::Options options;
  std::string pad = "right", cut = "right";
  reader.Required("field", options.field);
  reader.Required("length", options.length);
  reader("value", options.value);
  reader("pad", pad);
  reader("truncate", cut);
  reader("mask", options.mask);
  CheckKey(reader, "length", options.length > 0 && options.length <= (int64_t{1} << 40),
           "a length above 0");
  CheckKey(reader, "pad", pad == "right" || pad == "left", "\"right\" or \"left\"");
  CheckKey(reader, "truncate", cut == "right" || cut == "left", "\"right\" or \"left\"");
  options.pad_left = pad == "left";
  options.cut_left = cut == "left";
  return std::make_shared<PadOrTruncate>(std::move(options));
}

TransformPtr MakeChoose(const std::string& name, Choose::Kind kind, FieldReader& reader) {
  std::vector<std::pair<std::string, std::string>> names;
  if (kind == Choose::Kind::kRename) {
    Config table;
    reader.Required("fields", table);
    CheckKey(reader, "fields", table.is_table() && !table.entries().empty(),
             "a table of old and new names, such as { x = \"image\" }");
    for (const auto& [from, to] : table.entries()) names.emplace_back(from, to.AsString());
  } else {
    std::vector<std::string> fields;
    reader.Required("fields", fields);
    CheckKey(reader, "fields", !fields.empty(), "at least one field");
    for (const std::string& field : fields) names.emplace_back(field, field);
  }
  return std::make_shared<Choose>(name, kind, std::move(names));
}

TransformPtr MakeConcat(FieldReader& reader) {
  std::vector<std::string> fields;
  std::string output;
  bool keep = false;
  reader.Required("fields", fields);
  reader.Required("output", output);
  reader("keep", keep);
  CheckKey(reader, "fields", !fields.empty(), "at least one field");
  const ir::DType dtype = ReadDType(reader, "dtype", ir::DType::kF32);
  return std::make_shared<Concat>(std::move(fields), std::move(output), dtype, keep);
}

TransformPtr MakeNextToken(FieldReader& reader) {
  std::string field, output = "targets";
  reader.Required("field", field);
  reader("output", output);
  return std::make_shared<NextToken>(std::move(field), std::move(output));
}

}  // namespace

FLATOUT_REGISTER(table_transforms) {
  RegisterTransform("cast", MakeCast);
  RegisterTransform("scale", MakeScale);
  RegisterTransform("normalize", MakeNormalize);
  RegisterTransform("clip", MakeClip);
  RegisterTransform("fill_missing", MakeFillMissing);
  RegisterTransform("bucketize", MakeBucketize);
  RegisterTransform("one_hot", [](FieldReader& r) { return MakeEncode("one_hot", r); });
  RegisterTransform("multi_hot", [](FieldReader& r) { return MakeEncode("multi_hot", r); });
  RegisterTransform("reshape", MakeReshape);
  RegisterTransform("pad_or_truncate", MakePadOrTruncate);
  RegisterTransform("length", [](FieldReader& r) -> TransformPtr {
    return std::make_shared<Length>(ReadFieldKeys(r));
  });
  RegisterTransform("next_token", MakeNextToken);
  RegisterTransform("select",
                    [](FieldReader& r) { return MakeChoose("select", Choose::Kind::kSelect, r); });
  RegisterTransform("drop",
                    [](FieldReader& r) { return MakeChoose("drop", Choose::Kind::kDrop, r); });
  RegisterTransform("rename",
                    [](FieldReader& r) { return MakeChoose("rename", Choose::Kind::kRename, r); });
  RegisterTransform("concat", MakeConcat);
  const std::pair<const char*, float (*)(float)> functions[] = {
      {"log1p", [](float x) { return std::log1p(x); }},
      {"log", [](float x) { return std::log(x); }},
      {"exp", [](float x) { return std::exp(x); }},
      {"sqrt", [](float x) { return std::sqrt(x); }},
      {"abs", [](float x) { return std::fabs(x); }}};
  for (const auto& [name, function] : functions) {
    RegisterTransform(name, [name = std::string(name), function](FieldReader& r) -> TransformPtr {
      return std::make_shared<Elementwise>(name, ReadFieldKeys(r), function);
    });
  }
}

}  // namespace flatout::data
