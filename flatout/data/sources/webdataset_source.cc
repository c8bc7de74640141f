#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "flatout/data/elements.h"
#include "flatout/data/files.h"
#include "flatout/data/formats/npy.h"
#include "flatout/data/formats/stored_array.h"
#include "flatout/data/formats/tar.h"
#include "flatout/data/register.h"
#include "flatout/data/sources/webdataset.h"

namespace flatout::data {
namespace {

constexpr size_t kHead = 2;  // numbers of a sample before those of its fields
constexpr size_t kMostNames = 1'000'000;

enum class Decode { kBytes, kNumber, kNpy, kKey };

// One field and the members that it is made of.
struct Spec {
  Field field;
  std::vector<std::string> extensions;  // the first that a sample has
  Decode decode = Decode::kBytes;
  bool dtype_known = false, shape_known = false;  // of npy; else as the first sample has them
};

// The extensions that webdataset's decoders read as integers.
bool IsIntegerExtension(std::string_view extension) {
  const size_t dot = extension.rfind('.');
  if (dot != std::string_view::npos) extension = extension.substr(dot + 1);
  for (std::string_view known : {"cls", "cls2", "class", "count", "index", "inx", "id"}) {
    if (extension == known) return true;
  }
  return false;
}
Decode DecodeOf(std::string_view extension) {
  if (IsIntegerExtension(extension)) return Decode::kNumber;
  return extension == "npy" || extension.ends_with(".npy") ? Decode::kNpy : Decode::kBytes;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void ExpandInto(const std::string& pattern, std::vector<std::string>& names) {
  const size_t open = pattern.find('{');
  const size_t close = open == std::string::npos ? open : pattern.find('}', open);
  if (close == std::string::npos) {
    if (names.size() >= kMostNames) {
      throw BadData("{}: the pattern names more than {} files", pattern, kMostNames);
    }
    names.push_back(pattern);
    return;
  }
  const std::string before = pattern.substr(0, open), after = pattern.substr(close + 1);
  const std::string inside = pattern.substr(open + 1, close - open - 1);
  const size_t dots = inside.find("..");
  if (dots != std::string::npos) {
    const std::string first = inside.substr(0, dots), last = inside.substr(dots + 2);
    int64_t begin = 0, end = 0;
    auto number = [](const std::string& text, int64_t& value) {
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && stop == text.data() + text.size() && value >= 0;
    };
    if (!number(first, begin) || !number(last, end) || begin > end) {
      throw BadData("{}: expected a range such as {{000..010}}, found {{{}}}", pattern, inside);
    }
    if (end - begin >= static_cast<int64_t>(kMostNames)) {
      throw BadData("{}: the pattern names more than {} files", pattern, kMostNames);
    }
    // Zeros are filled up where one of the ends shows them.
    const bool filled =
        (first.size() > 1 && first[0] == '0') || (last.size() > 1 && last[0] == '0');
    const size_t width = filled ? std::max(first.size(), last.size()) : 0;
    for (int64_t i = begin; i <= end; ++i) {
      ExpandInto(fmt::format("{}{:0{}}{}", before, i, width, after), names);
    }
    return;
  }
  for (size_t at = 0; at <= inside.size();) {
    const size_t comma = std::min(inside.find(',', at), inside.size());
    ExpandInto(before + inside.substr(at, comma - at) + after, names);
    at = comma + 1;
  }
}

// Reads headers and small members through a window, to ask the disk less often.
ReadBytes Windowed(const std::shared_ptr<const ByteFile>& file) {
  struct Window {
    std::vector<std::byte> memory;
    std::span<const std::byte> bytes;
    int64_t begin = 0;
  };
  return [file, window = std::make_shared<Window>()](int64_t offset, int64_t count,
                                                     std::vector<std::byte>& scratch) {
    constexpr int64_t kWindow = int64_t{1} << 14;
    if (file->resident() || count > kWindow) return file->Read(offset, count, scratch);
    const auto held = static_cast<int64_t>(window->bytes.size());
    if (offset < window->begin || offset + count > window->begin + held) {
      window->begin = offset;
      window->bytes = file->Read(offset, std::min(kWindow, file->size() - offset), window->memory);
    }
    return window->bytes.subspan(static_cast<size_t>(offset - window->begin),
                                 static_cast<size_t>(count));
  };
}

const std::string kRead = "read";

class WebDatasetSource : public Source {
 public:
  WebDatasetSource(const std::vector<std::string>& paths, std::vector<Spec> specs)
      : specs_(std::move(specs)) {
    shards_.resize(paths.size());
    for (size_t i = 0; i < paths.size(); ++i) {
      shards_[i].file = ByteFile::Open(paths[i], LooksLikeTar);
    }
    if (specs_.empty()) InferFields();
    std::vector<std::vector<std::string>> extensions;
    std::string kind = "webdataset 1";
    for (const Spec& spec : specs_) {
      extensions.push_back(spec.extensions);
      kind += " |";
      for (const std::string& extension : spec.extensions) kind += " " + extension;
    }
    ForEachFile(shards_.size(), [&](size_t i) {
      const std::shared_ptr<const ByteFile>& file = shards_[i].file;
      shards_[i].index = CachedIndex(paths[i], kind, [&] {
        return IndexSamples(paths[i], file->size(), Windowed(file), extensions);
      });
    });
    stride_ = kHead + 2 * specs_.size();
    for (Shard& shard : shards_) {
      shard.first = size_;
      size_ += static_cast<int64_t>(shard.index.size() / stride_);
    }
    if (size_ == 0) {
      throw BadData("{}: the {} hold no samples: expected members such as \"0001.jpg\"",
                    paths.front(), paths.size() == 1 ? "archive does" : "archives do");
    }
    for (size_t f = 0; f < specs_.size(); ++f) {
      if (specs_[f].decode == Decode::kNpy && !specs_[f].shape_known) InferShape(f);
      fields_.push_back(specs_[f].field);
    }
    description_ = fmt::format("webdataset: {} records of {} archives, {}", size_, shards_.size(),
                               DescribeFields(fields_));
  }

  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t, std::span<const int64_t> records,
            Block& out) const override {
    ReadContext::Stage stage(context, kRead, static_cast<int64_t>(records.size()));
    std::vector<std::span<const std::byte>> members(specs_.size());
    for (size_t i = 0; i < records.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const Shard& shard = ShardOf(records[i]);
      const std::span<const int64_t> sample = Sample(shard, records[i]);
      try {
        stage.AddBytes(ReadMembers(shard, sample, out, members));
        for (size_t f = 0; f < specs_.size(); ++f) {
          WithContext([&] { return Where(shard, sample, specs_[f], sample[kHead + 2 * f]); },
                      [&] { Fill(shard, sample, f, members[f], out, row); });
        }
      } catch (const DataError& error) {
        out.Bad(row, error);
      }
    }
    // For what transforms find bad.
    out.set_origin(
        [this, records = std::vector<int64_t>(records.begin(), records.end())](int64_t row) {
          const int64_t record = records[static_cast<size_t>(row)];
          const Shard& shard = ShardOf(record);
          const int64_t begin = Sample(shard, record)[0];
          return fmt::format("{}: byte {}: sample \"{}\"", shard.file->path(), begin,
                             Key(shard, begin));
        });
  }

 private:
  struct Shard {
    std::shared_ptr<const ByteFile> file;
    std::vector<int64_t> index;
    int64_t first = 0;  // number of its first record
  };

  const Shard& ShardOf(int64_t record) const {
    const auto after =
        std::upper_bound(shards_.begin(), shards_.end(), record,
                         [](int64_t r, const Shard& shard) { return r < shard.first; });
    return *(after - 1);
  }
  std::span<const int64_t> Sample(const Shard& shard, int64_t record) const {
    return std::span(shard.index)
        .subspan(static_cast<size_t>(record - shard.first) * stride_, stride_);
  }
  std::string Key(const Shard& shard, int64_t begin) const {
    const ByteFile& file = *shard.file;
    const std::optional<TarMember> member = ReadTarMember(
        file.path(), file.size(),
        [&](int64_t offset, int64_t count, std::vector<std::byte>& scratch) {
          return file.Read(offset, count, scratch);
        },
        begin);
    return member ? std::string(SplitMemberName(member->name).first) : "";
  }
  std::string Where(const Shard& shard, std::span<const int64_t> sample, const Spec& spec,
                    int64_t offset) const {
    return fmt::format("{}: byte {}: sample \"{}\", field {}", shard.file->path(),
                       offset < 0 ? sample[0] : offset, Key(shard, sample[0]), spec.field.name);
  }
  // As flatout::WithContext, with a context that is made only where it is needed.
  template <typename Context, typename Body>
  static void WithContext(Context context, Body body) {
    try {
      body();
    } catch (Error& error) {
      error.AddContext(context());
      throw;
    }
  }

  // All members of a sample; from a file that is not in memory in one go where they lie together,
  // into the block's memory. Returns the bytes read.
  int64_t ReadMembers(const Shard& shard, std::span<const int64_t> sample, Block& out,
                      std::vector<std::span<const std::byte>>& members) const {
    const ByteFile& file = *shard.file;
    if (sample[1] == kSampleDamaged) {
      // Says what is wrong there once more.
      ReadTarMember(file.path(), file.size(), Windowed(shard.file), sample[0]);
      throw BadData(
          "{}: byte {}: the archive was damaged here when it was indexed, and is not any "
          "more: let nothing write to data files during a run",
          file.path(), sample[0]);
    }
    if (sample[1] == kSampleTwice) {
      throw BadData(
          "{}: byte {}: sample \"{}\" has two members of one extension: expected each once. Were "
          "two data sets written with the same names?",
          file.path(), sample[0], Key(shard, sample[0]));
    }
    int64_t begin = std::numeric_limits<int64_t>::max(), end = 0, sum = 0;
    for (size_t f = 0; f < specs_.size(); ++f) {
      if (specs_[f].decode == Decode::kKey) continue;
      const int64_t offset = sample[kHead + 2 * f], bytes = sample[kHead + 2 * f + 1];
      if (offset < 0) {
        throw BadData("{}: byte {}: sample \"{}\" has no member \"{}\", which field {} is made of",
                      file.path(), sample[0], Key(shard, sample[0]), Joined(specs_[f].extensions),
                      specs_[f].field.name);
      }
      begin = std::min(begin, offset);
      end = std::max(end, offset + bytes);
      sum += bytes;
    }
    std::vector<std::byte> none;
    // Between members lie headers and padding; other members are worth a read of their own.
    const bool together =
        end > begin && end - begin <= sum + 2048 * static_cast<int64_t>(specs_.size());
    std::span<std::byte> whole;
    if (!file.resident() && together) {
      whole = {out.Allocate(end - begin), static_cast<size_t>(end - begin)};
      file.ReadInto(begin, whole);
    }
    for (size_t f = 0; f < specs_.size(); ++f) {
      if (specs_[f].decode == Decode::kKey) continue;
      const int64_t offset = sample[kHead + 2 * f], bytes = sample[kHead + 2 * f + 1];
      if (file.resident()) {
        members[f] = file.Read(offset, bytes, none);
      } else if (together) {
        members[f] = whole.subspan(static_cast<size_t>(offset - begin), static_cast<size_t>(bytes));
      } else {
        std::span<std::byte> memory(out.Allocate(bytes), static_cast<size_t>(bytes));
        file.ReadInto(offset, memory);
        members[f] = memory;
      }
    }
    return sum;
  }

  void Fill(const Shard& shard, std::span<const int64_t> sample, size_t f,
            std::span<const std::byte> bytes, Block& out, int64_t row) const {
    const Spec& spec = specs_[f];
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    switch (spec.decode) {
      case Decode::kBytes:
        return out.SetTextView(f, row, text);
      case Decode::kKey:
        return out.SetText(f, row, Key(shard, sample[0]));
      case Decode::kNumber:
        return FillNumber(spec, text, out.data(f, row));
      case Decode::kNpy:
        return FillNpy(spec, f, bytes, out, row);
    }
  }

  static void FillNumber(const Spec& spec, std::string_view text, std::byte* to) {
    std::string_view number = text;
    while (!number.empty() && std::isspace(static_cast<unsigned char>(number.front()))) {
      number.remove_prefix(1);
    }
    while (!number.empty() && std::isspace(static_cast<unsigned char>(number.back()))) {
      number.remove_suffix(1);
    }
    const ir::DType dtype = spec.field.shape.dtype;
    bool fits = false, parsed = false;
    auto take = [&](auto value, ir::DType from) {
      const auto [stop, error] =
          std::from_chars(number.data(), number.data() + number.size(), value);
      parsed = error == std::errc() && stop == number.data() + number.size() && !number.empty();
      if (!parsed) return;
      std::byte memory[sizeof(value)];
      std::memcpy(memory, &value, sizeof(value));
      fits = ConvertElements(from, memory, dtype, to, 1) == 1;
    };
    if (ir::IsFloat(dtype)) {
      take(double{}, ir::DType::kF64);
    } else if (dtype == ir::DType::kU64) {
      take(uint64_t{}, ir::DType::kU64);
    } else {
      take(int64_t{}, ir::DType::kI64);
    }
    if (!parsed || !fits) {
      std::string shown(text.substr(0, 40));
      for (char& c : shown) {
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
      }
      throw BadData("expected {} ({}), found \"{}\"",
                    ir::IsFloat(dtype) ? "a number" : "an integer", RangeOf(dtype), shown);
    }
    CheckBound(spec, to, 1);
  }

  static void CheckBound(const Spec& spec, const std::byte* data, int64_t count) {
    if (spec.field.bound <= 0) return;
    const int64_t good = FirstOutOfBound(spec.field.shape.dtype, data, count, spec.field.bound);
    if (good < count) {
      throw BadData("expected 0 to {} (bound = {}), found {}", spec.field.bound - 1,
                    spec.field.bound, ElementToString(spec.field.shape.dtype, data, good));
    }
  }

  // Header and elements of an array, which must fill the member.
  static NpyHeader ParseArray(std::span<const std::byte> bytes) {
    NpyHeader header = ParseNpyHeader("its array", bytes, /*records=*/false);
    const int64_t expected = header.size + header.shape.bytes();
    if (static_cast<int64_t>(bytes.size()) != expected) {
      throw BadData("its array {} takes {} bytes with its header, but the member has {}",
                    header.shape.ToString(), expected, bytes.size());
    }
    return header;
  }

  static void FillNpy(const Spec& spec, size_t f, std::span<const std::byte> bytes, Block& out,
                      int64_t row) {
    const NpyHeader header = ParseArray(bytes);
    const Field& field = spec.field;
    if (header.fortran) {
      throw BadData("its array is in Fortran order: save numpy.ascontiguousarray(x) instead");
    }
    const std::vector<int64_t>& dims = header.shape.dims;
    bool same = dims.size() == field.shape.dims.size();
    for (size_t d = 0; same && d < dims.size(); ++d) {
      same = field.shape.dims[d] == kAny || field.shape.dims[d] == dims[d];
    }
    if (!same) {
      throw BadData(
          "expected an array of shape {}, found {}. Where shapes differ, declare it as "
          "shape = [-1]",
          field.ToString(), ir::DimsToString(dims));
    }
    std::byte* to = field.fixed() ? out.data(f, row) : out.SetCell(f, row, dims);
    const std::byte* from = bytes.data() + header.size;
    const int64_t count = header.shape.size();
    static thread_local std::vector<std::byte> swapped;
    if (header.swap) {
      swapped.assign(from, from + header.shape.bytes());
      SwapBytes(header.shape.dtype, swapped.data(), count);
      from = swapped.data();
    }
    const int64_t done = ConvertElements(header.shape.dtype, from, field.shape.dtype, to, count);
    if (done < count) {
      throw BadData("its array has the value {}, which does not fit {} ({})",
                    ElementToString(header.shape.dtype, from, done), ir::Name(field.shape.dtype),
                    RangeOf(field.shape.dtype));
    }
    CheckBound(spec, to, count);
  }

  // The first sample's extensions as fields.
  void InferFields() {
    const std::shared_ptr<const ByteFile>& file = shards_.front().file;
    const ReadBytes read = Windowed(file);
    std::string key;
    int64_t at = 0;
    while (const std::optional<TarMember> member =
               ReadTarMember(file->path(), file->size(), read, at)) {
      at = member->next;
      if (!member->regular) continue;
      const auto [member_key, extension] = SplitMemberName(member->name);
      if (extension.empty()) continue;
      if (!specs_.empty() && member_key != key) break;
      key = member_key;
      Spec spec;
      spec.extensions = {extension};
      spec.decode = DecodeOf(extension);
      std::string name = extension;
      std::replace(name.begin(), name.end(), '.', '_');
      if (spec.decode == Decode::kNumber) {
        spec.field = Field{name, ir::Shape::Scalar(ir::DType::kI32)};
      } else if (spec.decode == Decode::kNpy) {
        spec.field.name = name;
      } else {
        spec.field = TextField(name);
      }
      const bool known = std::any_of(specs_.begin(), specs_.end(),
                                     [&](const Spec& other) { return other.field.name == name; });
      if (!known) specs_.push_back(std::move(spec));
    }
    if (specs_.empty()) {
      throw BadData(
          "{}: the archive holds no samples: expected members such as \"0001.jpg\" and "
          "\"0001.cls\"",
          file->path());
    }
  }

  // Dtype and shape of an npy field as the first sample has it.
  void InferShape(size_t f) {
    Field& field = specs_[f].field;
    for (const Shard& shard : shards_) {
      for (size_t s = 0; s * stride_ < shard.index.size(); ++s) {
        const int64_t offset = shard.index[s * stride_ + kHead + 2 * f];
        const int64_t bytes = shard.index[s * stride_ + kHead + 2 * f + 1];
        if (offset < 0) continue;
        std::vector<std::byte> scratch;
        try {
          const NpyHeader header = ParseArray(shard.file->Read(offset, bytes, scratch));
          if (!specs_[f].dtype_known) field.shape.dtype = DefaultDType(header.shape.dtype);
          field.shape.dims = header.shape.dims;
        } catch (Error& error) {
          error.AddContext(
              fmt::format("{}: byte {}: field {}: the first array, by which its shape is known",
                          shard.file->path(), offset, field.name));
          throw;
        }
        return;
      }
    }
    for (const Shard& shard : shards_) {  // none because of damage?
      for (size_t s = 0; s * stride_ < shard.index.size(); ++s) {
        if (shard.index[s * stride_ + 1] != kSampleDamaged) continue;
        ReadTarMember(shard.file->path(), shard.file->size(), Windowed(shard.file),
                      shard.index[s * stride_]);
      }
    }
    throw BadData("{}: no sample has a member \"{}\", which field {} is made of",
                  shards_.front().file->path(), Joined(specs_[f].extensions), field.name);
  }

  static std::string Joined(const std::vector<std::string>& extensions) {
    std::string text;
    for (const std::string& extension : extensions) {
      text += (text.empty() ? "" : ";") + extension;
    }
    return text;
  }

  std::vector<Spec> specs_;
  std::vector<Shard> shards_;
  std::vector<Field> fields_;
  size_t stride_ = 0;
  int64_t size_ = 0;
  std::string description_;
};

}  // namespace

std::vector<std::string> ExpandBraces(const std::string& pattern) {
  std::vector<std::string> names;
  ExpandInto(pattern, names);
  return names;
}

std::pair<std::string_view, std::string> SplitMemberName(std::string_view name) {
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const std::string_view file = name.substr(base);
  const size_t dot = file.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == file.size()) return {};
  if (file.starts_with("__") && file.substr(0, dot).ends_with("__")) return {};
  return {name.substr(0, base + dot), Lower(file.substr(dot + 1))};
}

std::vector<int64_t> IndexSamples(const std::string& path, int64_t size, const ReadBytes& read,
                                  const std::vector<std::vector<std::string>>& extensions) {
  const size_t stride = kHead + 2 * extensions.size();
  std::vector<int64_t> index;
  std::string key;
  bool open = false;           // the last sample of the index may grow
  std::vector<size_t> chosen;  // of the open sample: which of a field's extensions it has
  const auto begin_sample = [&](int64_t offset, SampleProblem problem) {
    index.push_back(offset);
    index.push_back(problem);
    index.insert(index.end(), 2 * extensions.size(), -1);
  };
  // A sample that has none of what is asked for is no sample of this data set.
  const auto end_sample = [&] {
    const auto sample = std::span(index).last(open ? stride : 0);
    const bool any =
        std::any_of(chosen.begin(), chosen.end(), [](size_t c) { return c != SIZE_MAX; });
    const bool wanted = std::any_of(extensions.begin(), extensions.end(),
                                    [](const auto& list) { return !list.empty(); });
    if (open && wanted && !any && sample[1] == kSampleGood) index.resize(index.size() - stride);
    open = false;
  };
  int64_t at = 0;
  try {
    while (const std::optional<TarMember> member = ReadTarMember(path, size, read, at)) {
      at = member->next;
      if (!member->regular) continue;
      const auto [member_key, extension] = SplitMemberName(member->name);
      if (extension.empty()) continue;
      if (!open || member_key != key) {
        end_sample();
        open = true;
        key = member_key;
        begin_sample(member->begin, kSampleGood);
        chosen.assign(extensions.size(), SIZE_MAX);
      }
      int64_t* sample = &index[index.size() - stride];
      for (size_t f = 0; f < extensions.size(); ++f) {
        for (size_t e = 0; e < extensions[f].size(); ++e) {
          if (extensions[f][e] != extension) continue;
          if (chosen[f] == e) sample[1] = kSampleTwice;
          if (chosen[f] != SIZE_MAX && chosen[f] < e) break;
          chosen[f] = e;
          sample[kHead + 2 * f] = member->data;
          sample[kHead + 2 * f + 1] = member->size;
          break;
        }
      }
    }
    end_sample();
  } catch (const DataError&) {
    if (at == 0) throw;  // no archive at all
    // What follows is lost; reading this last sample says so. A sample that was begun is whole only
    // if it has all its members.
    if (open) {
      const bool whole = [&] {
        for (size_t f = 0; f < extensions.size(); ++f) {
          if (!extensions[f].empty() && chosen[f] == SIZE_MAX) return false;
        }
        return true;
      }();
      if (!whole) index.resize(index.size() - stride);
    }
    begin_sample(at, kSampleDamaged);
  }
  return index;
}

// ---- keys ----

namespace {

struct WebDatasetOptions {
  SplitOptions split;
  Config fields;

  template <class V>
  void Visit(V& v) {
    split.Visit(v);
    v("fields", fields);
  }
};

struct FieldOptions {
  std::string extension, dtype;
  std::optional<std::vector<int64_t>> shape;
  int64_t bound = 0;

  template <class V>
  void Visit(V& v) {
    v.Required("extension", extension);
    v("dtype", dtype);
    v("shape", shape);
    v("bound", bound);
  }
};

Spec ReadSpec(const std::string& name, const Config& value) {
  FieldOptions options;
  const Config* shape = nullptr;
  const Config* dtype = nullptr;
  if (value.is_table()) {
    FieldReader reader(value, "field " + name);
    options.Visit(reader);
    shape = reader.Take("shape");
    dtype = reader.Take("dtype");
    reader.Finish();
  } else {
    options.extension = value.AsString();
  }
  Spec spec;
  spec.field.name = name;
  spec.field.bound = options.bound;
  if (options.bound < 0) throw value.Complain("expected a bound above 0");
  if (options.extension == "__key__") {
    spec.decode = Decode::kKey;
    spec.field = TextField(name);
    return spec;
  }
  for (size_t at = 0; at <= options.extension.size();) {
    const size_t end = std::min(options.extension.find(';', at), options.extension.size());
    std::string extension = Lower(options.extension.substr(at, end - at));
    if (extension.starts_with('.')) extension.erase(0, 1);
    if (extension.empty()) {
      throw value.Complain("expected an extension such as \"jpg\", or several: \"jpg;png\"");
    }
    spec.extensions.push_back(std::move(extension));
    at = end + 1;
  }
  spec.decode = DecodeOf(spec.extensions.front());
  const bool text = options.dtype == "text" || options.dtype == "bytes";
  if (text) spec.decode = Decode::kBytes;
  if (!options.dtype.empty() && !text && spec.decode == Decode::kBytes) {
    spec.decode = Decode::kNumber;
  }
  if (options.dtype.empty()) {
    for (const std::string& extension : spec.extensions) {
      if (DecodeOf(extension) == spec.decode) continue;
      throw value.Complain(
          fmt::format("\"{}\" and \"{}\" are decoded differently: say with dtype what they are",
                      spec.extensions.front(), extension));
    }
  }
  if (spec.decode == Decode::kBytes) {
    if (shape != nullptr) throw shape->Complain("expected no shape, since the field is text");
    spec.field = TextField(name);
    return spec;
  }
  spec.field.shape.dtype = ir::DType::kI32;
  if (dtype != nullptr) {
    try {
      spec.field.shape.dtype = ir::ParseDType(options.dtype);
    } catch (const UserError& error) {
      throw dtype->Complain(error.message());
    }
    spec.dtype_known = true;
  }
  if (spec.decode == Decode::kNumber) {
    if (shape != nullptr) throw shape->Complain("expected no shape, since the field is one number");
    return spec;
  }
  if (options.shape) {
    for (int64_t dim : *options.shape) {
      if (dim < -1 || dim == 0) {
        throw shape->Complain("expected dimensions above 0, or -1 where they differ");
      }
    }
    spec.field.shape.dims = *options.shape;
    if (!spec.field.fixed() && spec.field.shape.dims.size() > kMostRank) {
      throw shape->Complain(fmt::format("expected at most {} dimensions", kMostRank));
    }
    if (!spec.dtype_known) {
      // The dtype is as the data has it, the shape as declared: said together or not at all.
      throw shape->Complain("expected a dtype beside the shape, such as dtype = \"f32\"");
    }
    spec.shape_known = true;
  }
  return spec;
}

std::function<SourcePtr(std::string_view split)> OpenWebDataset(FieldReader& reader) {
  WebDatasetOptions options;
  options.Visit(reader);
  options.split.Check(reader);
  std::vector<Spec> specs;
  if (!options.fields.is_none()) {
    if (!options.fields.is_table() || options.fields.entries().empty()) {
      throw options.fields.Complain(
          "expected a table of field names and extensions, such as { image = \"jpg;png\", label = "
          "\"cls\" }");
    }
    for (const auto& [name, value] : options.fields.entries()) {
      specs.push_back(ReadSpec(name, value));
    }
  }
  for (std::vector<std::string>* files :
       {&options.split.files, &options.split.validation_files, &options.split.test_files}) {
    std::vector<std::string> expanded;
    for (const std::string& pattern : *files) {
      std::error_code ignored;
      if (std::filesystem::exists(pattern, ignored)) {
        expanded.push_back(pattern);
        continue;
      }
      for (std::string& name : ExpandBraces(pattern)) expanded.push_back(std::move(name));
    }
    *files = std::move(expanded);
  }
  return [options, specs](std::string_view split) {
    return OpenSplit("webdataset", options.split, split,
                     [&](const std::vector<std::string>& files) -> SourcePtr {
                       return std::make_shared<WebDatasetSource>(files, specs);
                     });
  };
}

}  // namespace

FLATOUT_REGISTER(webdataset_source) { RegisterSource("webdataset", OpenWebDataset); }

}  // namespace flatout::data
