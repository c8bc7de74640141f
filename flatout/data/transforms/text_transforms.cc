// Transforms of text: lower, upper, strip_punctuation, regex_replace, split_words, ngrams,
// tokenize, and those that number what is said: lookup, hash, cross.
#include <farmhash.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <clocale>
#include <cwctype>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "flatout/data/files.h"
#include "flatout/data/formats/bpe.h"
#include "flatout/data/register.h"
#include "flatout/data/transforms/field_transform.h"
#include "flatout/data/transforms/text_hash.h"

namespace flatout::data {

uint64_t Fingerprint64(std::string_view text) {
  return NAMESPACE_FOR_HASH_FUNCTIONS::Fingerprint64(text.data(), text.size());
}

uint64_t FingerprintCat64(uint64_t first, uint64_t second) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995u;
  auto mix = [](uint64_t value) { return value ^ value >> 47; };
  uint64_t result = (first ^ kMul ^ mix(second * kMul) * kMul) * kMul;
  result = mix(result) * kMul;
  return mix(result);
}

uint64_t SipHash24(uint64_t key0, uint64_t key1, std::string_view text) {
  uint64_t v0 = key0 ^ 0x736f6d6570736575u, v1 = key1 ^ 0x646f72616e646f6du;
  uint64_t v2 = key0 ^ 0x6c7967656e657261u, v3 = key1 ^ 0x7465646279746573u;
  auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };
  auto take = [&](uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  const size_t whole = text.size() / 8 * 8;
  for (size_t at = 0; at < whole; at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    take(word);
  }
  uint64_t last = static_cast<uint64_t>(text.size()) << 56;
  for (size_t i = whole; i < text.size(); ++i) {
    last |= static_cast<uint64_t>(static_cast<unsigned char>(text[i])) << (8 * (i - whole));
  }
  take(last);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

namespace {

// ---- text to text ----

// Every string by itself.
class MapText : public FieldTransform {
 public:
  using Function = std::function<std::string(std::string_view)>;
  MapText(std::string name, FieldKeys keys, Function function)
      : FieldTransform(std::move(name), std::move(keys)), function_(std::move(function)) {}

 protected:
  Field Result(const Field& in) const override {
    NeedText(in);
    return in;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    const bool scalar = in.fields()[f].shape.rank() == 0;
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      try {
        if (scalar) {
          out.SetText(g, row, function_(in.text(f, row)));
          continue;
        }
        std::vector<std::string> made;
        for (std::string_view text : in.texts(f, row)) made.push_back(function_(text));
        const std::vector<std::string_view> views(made.begin(), made.end());
        out.SetTexts(g, row, in.dims(f, row), views);
      } catch (const DataError& error) {
        out.Bad(row, Bad(in.fields()[f], error.message()));
      }
    }
  }

 private:
  Function function_;
};

std::string AsciiLower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return result;
}
std::string AsciiUpper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
  }
  return result;
}

// One code point of UTF-8 at `at`; bytes that are none count as one by one (-1).
int32_t DecodePoint(std::string_view text, size_t at, size_t* length) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  *length = 1;
  if (first < 0x80) return first;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (size == 0 || first > 0xf4 || at + size > text.size()) return -1;
  auto point = static_cast<int32_t>(first & (0xffu >> (size + 1)));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return -1;
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr int32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kLeast[size] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return -1;
  *length = size;
  return point;
}
void AppendPoint(std::string& text, uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0 | point >> 6);
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0 | point >> 12);
    text += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | point >> 18);
    text += static_cast<char>(0x80 | (point >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  }
}

// Unicode's simple mapping, one letter to one, by the C library's own UTF-8 locale.
std::string UnicodeCase(std::string_view text, bool lower) {
  static const locale_t kLocale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    const int32_t point = DecodePoint(text, at, &length);
    if (point < 0x80 || kLocale == nullptr) {
      std::string part(text.substr(at, length));
      result += lower ? AsciiLower(part) : AsciiUpper(part);
    } else {
      const auto wide = static_cast<wint_t>(point);
      AppendPoint(result, lower ? towlower_l(wide, kLocale) : towupper_l(wide, kLocale));
    }
    at += length;
  }
  return result;
}

// What Keras's TextVectorization strips.
std::string StripPunctuation(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (char c : text) {
    if (std::string_view("!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'").find(c) == std::string_view::npos) {
      result += c;
    }
  }
  return result;
}

// ---- text to words ----

class SplitWords : public FieldTransform {
 public:
  // Without a separator at blanks; with "" into characters.
  SplitWords(FieldKeys keys, std::optional<std::string> separator)
      : FieldTransform("split_words", std::move(keys)), separator_(std::move(separator)) {}

 protected:
  Field Result(const Field& in) const override {
    NeedText(in);
    if (in.shape.rank() != 0) throw Invalid("expected one string per record, found several");
    return TextField("", {kAny});
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    std::vector<std::string_view> words;
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      words.clear();
      Split(in.text(f, row), words);
      const int64_t dims[] = {static_cast<int64_t>(words.size())};
      out.SetTexts(g, row, dims, words);
    }
  }

 private:
  void Split(std::string_view text, std::vector<std::string_view>& words) const {
    if (!separator_) {
      constexpr std::string_view kBlanks = " \t\n\v\f\r";
      for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;
           at = text.find_first_not_of(kBlanks, at)) {
        const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
      }
      return;
    }
    if (separator_->empty()) {
      for (size_t at = 0; at < text.size();) {
        size_t length = 1;
        DecodePoint(text, at, &length);
        words.push_back(text.substr(at, length));
        at += length;
      }
      return;
    }
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(*separator_, at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end + separator_->size();
    }
  }
  std::optional<std::string> separator_;
};

// Runs of neighbouring words, of each width in turn, as tf.strings.ngrams.
class Ngrams : public FieldTransform {
 public:
  Ngrams(FieldKeys keys, std::vector<int64_t> widths, std::string separator)
      : FieldTransform("ngrams", std::move(keys)),
        widths_(std::move(widths)),
        separator_(std::move(separator)) {}

 protected:
  Field Result(const Field& in) const override {
    NeedText(in);
    if (in.shape.rank() != 1) throw Invalid("expected words, text[?]. Use split_words first");
    return TextField("", {kAny});
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      const std::span<const std::string_view> words = in.texts(f, row);
      std::vector<std::string> made;
      for (int64_t width : widths_) {
        const auto n = static_cast<size_t>(width);
        for (size_t i = 0; i + n <= words.size(); ++i) {
          std::string gram(words[i]);
          for (size_t j = 1; j < n; ++j) gram.append(separator_).append(words[i + j]);
          made.push_back(std::move(gram));
        }
      }
      const std::vector<std::string_view> views(made.begin(), made.end());
      const int64_t dims[] = {static_cast<int64_t>(views.size())};
      out.SetTexts(g, row, dims, views);
    }
  }

 private:
  std::vector<int64_t> widths_;
  std::string separator_;
};

// ---- strings and integers to numbers ----

// Calls body(text) for each string of a row, or for each integer as decimal digits.
template <typename Body>
void ForKeys(const Block& in, size_t f, int64_t row, Body body) {
  const Field& field = in.fields()[f];
  if (field.text) {
    std::string_view single;
    for (std::string_view text : StringsOf(in, f, row, single)) body(text);
    return;
  }
  const Elements e = ElementsOf(in, f, row);
  WithElementType(field.shape.dtype, [&]<typename T>(T) {
    for (int64_t i = 0; i < e.count; ++i) {
      const auto value = Number(Load<T>(e.data, i));
      char digits[24];
      std::to_chars_result end{};
      if constexpr (std::is_floating_point_v<decltype(value)>) {
        // As Keras's Hashing: floats are cut to integers first.
        end = std::to_chars(digits, digits + sizeof(digits),
                            Convert<int64_t>(value).value_or(std::numeric_limits<int64_t>::min()));
      } else if constexpr (std::is_same_v<T, bool>) {
        end = std::to_chars(digits, digits + sizeof(digits), value ? 1 : 0);
      } else {
        end = std::to_chars(digits, digits + sizeof(digits), value);
      }
      body(std::string_view(digits, static_cast<size_t>(end.ptr - digits)));
    }
  });
}

// A string or an integer as the text by which it is compared.
std::string KeyOf(const Config& value) {
  return value.is_string() ? value.AsString() : fmt::format("{}", value.AsInt());
}

class Hash : public FieldTransform {
 public:
  struct Options {
    int64_t num_bins = 0;
    std::optional<std::string> mask_value;
    std::optional<std::pair<uint64_t, uint64_t>> salt;
  };
  Hash(FieldKeys keys, Options options)
      : FieldTransform("hash", std::move(keys)), options_(std::move(options)) {}

 protected:
  Field Result(const Field& in) const override {
    Field result = in;
    result.text = false;
    result.shape.dtype = ir::DType::kI32;
    result.bound = options_.num_bins;
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    // With a mask value bin 0 is for it alone.
    const bool mask = options_.mask_value && options_.num_bins > 1;
    const auto bins = static_cast<uint64_t>(options_.num_bins - (mask ? 1 : 0));
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      auto* to = reinterpret_cast<int32_t*>(PlaceFor(out, g, row, in.dims(f, row)));
      ForKeys(in, f, row, [&](std::string_view key) {
        const uint64_t hash = options_.salt
                                  ? SipHash24(options_.salt->first, options_.salt->second, key)
                                  : Fingerprint64(key);
        auto bin = static_cast<int32_t>(hash % bins);
        if (mask) bin = key == *options_.mask_value ? 0 : bin + 1;
        *to++ = bin;
      });
    }
  }

 private:
  Options options_;
};

// Keras's HashedCrossing: the number of a combination of values.
class Cross : public Transform {
 public:
  Cross(std::vector<std::string> fields, std::string output, int64_t num_bins)
      : fields_(std::move(fields)), output_(std::move(output)), num_bins_(num_bins) {}

  const std::string& name() const override { return name_; }
  std::vector<Field> Fields(const std::vector<Field>& in) const override {
    for (const std::string& name : fields_) {
      const size_t f = WithContext(name_, [&] { return FindField(in, name); });
      WithContext(name_ + ": field " + in[f].ToString(), [&] {
        if (!in[f].text) NeedIntegers(in[f]);
        if (in[f].text ? in[f].shape.rank() != 0 : !in[f].fixed() || in[f].shape.size() != 1) {
          throw Invalid("expected one value per record");
        }
      });
    }
    std::vector<Field> result = in;
    for (const Field& other : in) {
      if (other.name == output_) {
        throw Invalid("{}: output = \"{}\": there is a field of that name already", name_, output_);
      }
    }
    result.push_back(Field{output_, ir::Shape::Scalar(ir::DType::kI32), num_bins_});
    return result;
  }
  void Apply(const Block& in, Block& out, std::span<const uint64_t>) const override {
    const size_t g = in.fields().size();
    for (size_t f = 0; f < g; ++f) out.ShareColumn(f, in, f);
    std::vector<uint64_t> hashes(static_cast<size_t>(in.rows()),
                                 0xDECAFCAFFEu);  // TensorFlow's key
    for (const std::string& name : fields_) {
      const size_t f = FindField(in.fields(), name);
      const Field& field = in.fields()[f];
      for (int64_t row = 0; row < in.rows(); ++row) {
        if (in.bad(row)) continue;
        uint64_t value = 0;
        if (field.text) {
          value = Fingerprint64(in.text(f, row));
        } else {
          WithElementType(field.shape.dtype, [&]<typename T>(T) {
            value = static_cast<uint64_t>(Number(Load<T>(in.data(f, row), 0)));
          });
        }
        uint64_t& hash = hashes[static_cast<size_t>(row)];
        hash = FingerprintCat64(hash, value);
      }
    }
    for (int64_t row = 0; row < in.rows(); ++row) {
      *out.as<int32_t>(g, row) =
          static_cast<int32_t>(hashes[static_cast<size_t>(row)] % static_cast<uint64_t>(num_bins_));
    }
  }

 private:
  const std::string name_ = "cross";
  std::vector<std::string> fields_;
  std::string output_;
  int64_t num_bins_;
};

// Keras's StringLookup and IntegerLookup: [mask, oov..., vocabulary...].
class Lookup : public FieldTransform {
 public:
  struct Options {
    std::vector<std::string> vocabulary;
    bool integers = false;  // the vocabulary is of integers; of a file: either
    bool from_file = false;
    int64_t num_oov_indices = 1;
    std::optional<std::string> mask_token;
  };
  Lookup(FieldKeys keys, Options options)
      : FieldTransform("lookup", std::move(keys)), options_(std::move(options)) {
    oov_begin_ = options_.mask_token ? 1 : 0;
    int64_t next = oov_begin_ + options_.num_oov_indices;
    table_.reserve(options_.vocabulary.size());
    for (const std::string& token : options_.vocabulary) {
      if (!table_.emplace(token, static_cast<int32_t>(next++)).second) {
        throw Invalid("lookup: the vocabulary has {} twice", Shown(token));
      }
    }
    bound_ = next;
  }

 protected:
  Field Result(const Field& in) const override {
    if (!in.text) NeedIntegers(in);
    if (!options_.from_file && !options_.vocabulary.empty() && in.text == options_.integers) {
      throw Invalid("the vocabulary is of {}, but the field is {}",
                    options_.integers ? "integers" : "strings", in.text ? "text" : "integers");
    }
    Field result = in;
    result.text = false;
    result.shape.dtype = ir::DType::kI32;
    result.bound = bound_;
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    const Field& field = in.fields()[f];
    const int64_t oov = options_.num_oov_indices;
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      auto* to = reinterpret_cast<int32_t*>(PlaceFor(out, g, row, in.dims(f, row)));
      std::optional<std::string> unknown;
      ForKeys(in, f, row, [&](std::string_view key) {
        int32_t& index = *to++;
        if (options_.mask_token && key == *options_.mask_token) {
          index = 0;
        } else if (const auto found = table_.find(key); found != table_.end()) {
          index = found->second;
        } else if (oov == 1) {
          index = static_cast<int32_t>(oov_begin_);
        } else if (oov > 1) {
          index = static_cast<int32_t>(oov_begin_ + Bucket(field, key, oov));
        } else {
          index = 0;
          if (!unknown) unknown = std::string(key);
        }
      });
      if (unknown) {
        out.Bad(row, Bad(field, fmt::format("{} is not in the vocabulary of {} (num_oov_indices = "
                                            "0; 1 gives the unknown a number)",
                                            Shown(*unknown), options_.vocabulary.size())));
      }
    }
  }

 private:
  // As Keras: strings by their fingerprint, integers by their remainder from 0 on.
  static int64_t Bucket(const Field& field, std::string_view key, int64_t oov) {
    if (field.text) return static_cast<int64_t>(Fingerprint64(key) % static_cast<uint64_t>(oov));
    if (key.front() == '-') {
      int64_t value = 0;
      std::from_chars(key.data(), key.data() + key.size(), value);
      return (value % oov + oov) % oov;
    }
    uint64_t value = 0;
    std::from_chars(key.data(), key.data() + key.size(), value);
    return static_cast<int64_t>(value % static_cast<uint64_t>(oov));
  }

  Options options_;
  std::unordered_map<std::string_view, int32_t> table_;  // views into options_.vocabulary
  int64_t oov_begin_ = 0, bound_ = 0;
};

// ---- tokenize ----

class Tokenize : public FieldTransform {
 public:
  struct Options {
    std::shared_ptr<const BytePairEncoder> encoder;  // nullptr: bytes
    std::shared_ptr<const TextPattern> pattern;      // nullptr: the text is one piece
    std::vector<std::pair<std::string, int32_t>> special;
    std::vector<int32_t> prepend, append;
  };
  Tokenize(FieldKeys keys, Options options)
      : FieldTransform("tokenize", std::move(keys)), options_(std::move(options)) {
    bound_ = options_.encoder != nullptr ? options_.encoder->bound() : 256;
    auto take = [&](int32_t id) { bound_ = std::max<int64_t>(bound_, int64_t{id} + 1); };
    for (const auto& [text, id] : options_.special) take(id);
    for (int32_t id : options_.prepend) take(id);
    for (int32_t id : options_.append) take(id);
    static std::atomic<uint64_t> count = 0;
    serial_ = ++count;
  }

 protected:
  Field Result(const Field& in) const override {
    NeedText(in);
    if (in.shape.rank() != 0) throw Invalid("expected one string per record, found several");
    Field result;
    result.shape = ir::Shape(ir::DType::kI32, {kAny});
    result.bound = bound_;
    return result;
  }
  void Column(const Block& in, size_t f, Block& out, size_t g) const override {
    std::vector<int32_t> ids;
    for (int64_t row = 0; row < in.rows(); ++row) {
      if (in.bad(row)) continue;
      ids = options_.prepend;
      try {
        Encode(in.text(f, row), ids);
      } catch (const DataError& error) {
        out.Bad(row, Bad(in.fields()[f], error.message()));
        continue;
      }
      ids.insert(ids.end(), options_.append.begin(), options_.append.end());
      const int64_t dims[] = {static_cast<int64_t>(ids.size())};
      std::byte* to = out.SetCell(g, row, dims);
      if (!ids.empty()) std::memcpy(to, ids.data(), ids.size() * sizeof(int32_t));
    }
  }

 private:
  // Special tokens, and what lies between them.
  void Encode(std::string_view text, std::vector<int32_t>& ids) const {
    while (!options_.special.empty()) {
      size_t first = std::string_view::npos;
      const std::pair<std::string, int32_t>* found = nullptr;
      for (const auto& special : options_.special) {  // longer ones come first
        const size_t at = text.find(special.first);
        if (at < first) {
          first = at;
          found = &special;
        }
      }
      if (found == nullptr) break;
      EncodeOrdinary(text.substr(0, first), ids);
      ids.push_back(found->second);
      text.remove_prefix(first + found->first.size());
    }
    EncodeOrdinary(text, ids);
  }

  void EncodeOrdinary(std::string_view text, std::vector<int32_t>& ids) const {
    if (options_.encoder == nullptr) {
      for (char c : text) ids.push_back(static_cast<unsigned char>(c));
      return;
    }
    if (options_.pattern == nullptr) return EncodePiece(text, ids);
    static thread_local std::vector<std::string_view> pieces;
    pieces.clear();
    options_.pattern->Split(text, pieces);
    for (std::string_view piece : pieces) EncodePiece(piece, ids);
  }

  // Words come again and again: each thread remembers the last ones by their hash.
  void EncodePiece(std::string_view piece, std::vector<int32_t>& ids) const {
    struct Known {
      uint64_t serial = 0;
      std::string piece;
      std::vector<int32_t> ids;
    };
    constexpr size_t kPlaces = 1 << 13, kLongest = 32;
    if (piece.size() > kLongest) return EncodeNew(piece, ids);
    static thread_local std::vector<Known> known(kPlaces);
    Known& place = known[(Fingerprint64(piece) + serial_) % kPlaces];
    if (place.serial != serial_ || place.piece != piece) {
      place.serial = 0;
      place.ids.clear();
      EncodeNew(piece, place.ids);
      place.piece = piece;
      place.serial = serial_;
    }
    ids.insert(ids.end(), place.ids.begin(), place.ids.end());
  }
  void EncodeNew(std::string_view piece, std::vector<int32_t>& ids) const {
    if (!options_.encoder->EncodePiece(piece, ids)) {
      throw BadData("{} has a byte that is no token of the vocabulary", Shown(piece));
    }
  }

  Options options_;
  int64_t bound_ = 0;
  uint64_t serial_ = 0;  // of this transform, in the threads' memory
};

// ---- keys ----

// A file of text, packed or not.
std::string ReadText(const std::string& path) {
  const std::shared_ptr<const ByteFile> file = ByteFile::Open(path);
  constexpr int64_t kMost = int64_t{1} << 30;
  if (file->size() > kMost) {
    throw BadData("{}: expected a vocabulary of at most {} bytes, found {}", path, kMost,
                  file->size());
  }
  std::vector<std::byte> scratch;
  const std::span<const std::byte> bytes = file->Read(0, file->size(), scratch);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TransformPtr MakeCase(const std::string& name, FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::string encoding = "ascii";
  reader("encoding", encoding);
  CheckKey(reader, "encoding", encoding == "ascii" || encoding == "utf-8",
           "\"ascii\" or \"utf-8\"");
  const bool lower = name == "lower";
  if (encoding == "utf-8") {
    return std::make_shared<MapText>(
        name, std::move(keys), [lower](std::string_view text) { return UnicodeCase(text, lower); });
  }
  return std::make_shared<MapText>(name, std::move(keys), lower ? AsciiLower : AsciiUpper);
}

TransformPtr MakeRegexReplace(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::string expression, replacement;
  reader.Required("pattern", expression);
  reader("replacement", replacement);
  std::shared_ptr<const TextPattern> pattern;
  try {
    pattern = std::make_shared<TextPattern>(expression);
  } catch (const UserError& error) {
    throw reader.Take("pattern")->Complain(error.message());
  }
  try {
    pattern->Replace("", replacement);
  } catch (const UserError& error) {
    const Config* place = reader.Take("replacement");
    throw place != nullptr ? place->Complain(error.message()) : error;
  }
  return std::make_shared<MapText>("regex_replace", std::move(keys),
                                   [pattern, replacement](std::string_view text) {
                                     return pattern->Replace(text, replacement);
                                   });
}

TransformPtr MakeSplitWords(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::optional<std::string> separator;
  reader("separator", separator);
  return std::make_shared<SplitWords>(std::move(keys), std::move(separator));
}

TransformPtr MakeNgrams(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::vector<int64_t> widths;
  std::string separator = " ";
  reader.Required("widths", widths);
  reader("separator", separator);
  const bool right = !widths.empty() && std::all_of(widths.begin(), widths.end(),
                                                    [](int64_t w) { return w >= 1 && w <= 1000; });
  CheckKey(reader, "widths", right, "one or more numbers from 1 to 1000");
  return std::make_shared<Ngrams>(std::move(keys), std::move(widths), std::move(separator));
}

TransformPtr MakeHash(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  Hash::Options options;
  reader.Required("num_bins", options.num_bins);
  CheckKey(reader, "num_bins",
           options.num_bins > 0 && options.num_bins <= std::numeric_limits<int32_t>::max(),
           "a number of bins from 1 to 2147483647");
  if (const Config* value = reader.Take("mask_value")) options.mask_value = KeyOf(*value);
  std::vector<int64_t> salt;
  reader("salt", salt);
  if (reader.Take("salt") != nullptr) {
    CheckKey(reader, "salt", salt.size() == 1 || salt.size() == 2, "one or two integers");
    options.salt = {static_cast<uint64_t>(salt.front()), static_cast<uint64_t>(salt.back())};
  }
  return std::make_shared<Hash>(std::move(keys), std::move(options));
}

TransformPtr MakeCross(FieldReader& reader) {
  std::vector<std::string> fields;
  std::string output;
  int64_t num_bins = 0;
  reader.Required("fields", fields);
  reader.Required("output", output);
  reader.Required("num_bins", num_bins);
  CheckKey(reader, "fields", fields.size() >= 2, "two fields or more");
  CheckKey(reader, "num_bins", num_bins > 0 && num_bins <= std::numeric_limits<int32_t>::max(),
           "a number of bins from 1 to 2147483647");
  return std::make_shared<Cross>(std::move(fields), std::move(output), num_bins);
}

TransformPtr MakeLookup(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  Lookup::Options options;
  Config vocabulary;
  reader.Required("vocabulary", vocabulary);
  reader("num_oov_indices", options.num_oov_indices);
  CheckKey(reader, "num_oov_indices",
           options.num_oov_indices >= 0 && options.num_oov_indices <= (int64_t{1} << 30),
           "a number from 0 on");
  if (const Config* value = reader.Take("mask_token")) options.mask_token = KeyOf(*value);
  if (vocabulary.is_string()) {
    options.from_file = true;
    const std::string path = vocabulary.AsString();
    const std::string text = ReadText(path);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      if (line.ends_with('\r')) line.pop_back();
      options.vocabulary.push_back(std::move(line));
      at = end + 1;
    }
    if (options.vocabulary.empty()) throw BadData("{}: the vocabulary is empty", path);
  } else {
    CheckKey(reader, "vocabulary", vocabulary.is_array() && !vocabulary.items().empty(),
             "a list of strings or integers, or a file with one a line");
    options.integers = !vocabulary.items().front().is_string();
    for (const Config& item : vocabulary.items()) {
      if (item.is_string() == options.integers) {
        throw item.Complain("expected strings only or integers only");
      }
      options.vocabulary.push_back(KeyOf(item));
    }
  }
  try {
    return std::make_shared<Lookup>(std::move(keys), std::move(options));
  } catch (const UserError& error) {
    throw reader.Take("vocabulary")->Complain(error.message());
  }
}

TransformPtr MakeTokenize(FieldReader& reader) {
  FieldKeys keys = ReadFieldKeys(reader);
  std::string vocabulary = "bytes", merges, pattern;
  reader("vocabulary", vocabulary);
  reader("merges", merges);
  reader("pattern", pattern);
  Config special, prepend, append;
  reader("special_tokens", special);
  reader("prepend", prepend);
  reader("append", append);
  Tokenize::Options options;
  if (vocabulary != "bytes") {
    if (merges.empty()) {
      options.encoder = std::make_shared<BytePairEncoder>(
          vocabulary, ParseTiktoken(vocabulary, ReadText(vocabulary)));
    } else {
      options.encoder = std::make_shared<BytePairEncoder>(
          merges, ParseVocabJson(vocabulary, ReadText(vocabulary)),
          ParseMerges(merges, ReadText(merges)));
    }
    if (pattern.empty()) pattern = merges.empty() ? "cl100k" : "gpt2";
    if (pattern != "none") {
      const std::string named = NamedPattern(pattern);
      try {
        options.pattern = std::make_shared<TextPattern>(named.empty() ? pattern : named);
      } catch (const UserError& error) {
        throw reader.Take("pattern")->Complain(error.message());
      }
    }
  } else {
    CheckKey(reader, "merges", merges.empty(), "a vocabulary beside it");
    CheckKey(reader, "pattern", pattern.empty(), "a vocabulary beside it");
  }
  if (!special.is_none()) {
    CheckKey(reader, "special_tokens", special.is_table(),
             "a table of texts and numbers, such as { \"<|endoftext|>\" = 50256 }");
    for (const auto& [text, id] : special.entries()) {
      if (text.empty() || id.AsInt() < 0 || id.AsInt() > std::numeric_limits<int32_t>::max() - 1) {
        throw id.Complain("expected a token's text and its number, 0 to 2147483646");
      }
      options.special.emplace_back(text, static_cast<int32_t>(id.AsInt()));
    }
    std::stable_sort(options.special.begin(), options.special.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }
  auto ids = [&](const Config& value) {
    std::vector<int32_t> result;
    if (value.is_none()) return result;
    std::vector<Config> items = value.is_array() ? value.items() : std::vector<Config>{value};
    for (const Config& item : items) {
      if (!item.is_string()) {
        if (item.AsInt() < 0 || item.AsInt() > std::numeric_limits<int32_t>::max() - 1) {
          throw item.Complain("expected a token's number, 0 to 2147483646");
        }
        result.push_back(static_cast<int32_t>(item.AsInt()));
        continue;
      }
      const auto found =
          std::find_if(options.special.begin(), options.special.end(),
                       [&](const auto& token) { return token.first == item.AsString(); });
      if (found == options.special.end()) {
        throw item.Complain(fmt::format("{} is not among special_tokens", Shown(item.AsString())));
      }
      result.push_back(found->second);
    }
    return result;
  };
  options.prepend = ids(prepend);
  options.append = ids(append);
  return std::make_shared<Tokenize>(std::move(keys), std::move(options));
}

}  // namespace

FLATOUT_REGISTER(text_transforms) {
  RegisterTransform("lower", [](FieldReader& r) { return MakeCase("lower", r); });
  RegisterTransform("upper", [](FieldReader& r) { return MakeCase("upper", r); });
  RegisterTransform("strip_punctuation", [](FieldReader& r) -> TransformPtr {
    return std::make_shared<MapText>("strip_punctuation", ReadFieldKeys(r), StripPunctuation);
  });
  RegisterTransform("regex_replace", MakeRegexReplace);
  RegisterTransform("split_words", MakeSplitWords);
  RegisterTransform("ngrams", MakeNgrams);
  RegisterTransform("tokenize", MakeTokenize);
  RegisterTransform("lookup", MakeLookup);
  RegisterTransform("hash", MakeHash);
  RegisterTransform("cross", MakeCross);
}

}  // namespace flatout::data
