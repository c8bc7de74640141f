#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "flatout/data/file_bytes.h"
#include "flatout/data/loading.h"
#include "flatout/data/register.h"
#include "flatout/data/require.h"
#include "flatout/data/sources/idx.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;

struct Header {
  ir::Shape shape;
  size_t size = 0;  // of the header, bytes
};

std::optional<ir::DType> ElementType(unsigned code) {
  switch (code) {
    case 0x08:
      return ir::DType::kU8;
    case 0x09:
      return ir::DType::kI8;
    case 0x0b:
      return ir::DType::kI16;
    case 0x0c:
      return ir::DType::kI32;
    case 0x0d:
      return ir::DType::kF32;
    case 0x0e:
      return ir::DType::kF64;
    default:
      return std::nullopt;
  }
}

uint32_t BigEndian32(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint32_t>(bytes[i]);
  return value;
}

Header ParseHeader(const std::string& path, std::span<const std::byte> head) {
  if (head.size() < 4) {
    throw BadData("{}: the file is short: expected an idx header of at least 8 bytes, found {}",
                  path, head.size());
  }
  auto code = static_cast<unsigned>(head[2]);
  auto rank = static_cast<size_t>(head[3]);
  std::optional<ir::DType> dtype = ElementType(code);
  if (head[0] != std::byte{0} || head[1] != std::byte{0} || !dtype) {
    throw BadData(
        "{}: not an idx file: expected at byte 0 the magic 00 00, an element type (08, 09, 0b, 0c, "
        "0d or 0e) and the number of dimensions, found {}. Fetch the file again or name an idx "
        "file",
        path, HexBytes(head.first(4)));
  }
  if (rank == 0) {
    throw BadData("{}: expected at least one dimension at byte 3 of the idx header, found 0", path);
  }
  Header header;
  header.size = 4 + 4 * rank;
  if (head.size() < header.size) {
    throw BadData(
        "{}: the file is short: expected an idx header of {} bytes ({} dimensions), found "
        "{} bytes in all",
        path, header.size, rank, head.size());
  }
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    auto dim = static_cast<int64_t>(BigEndian32(head.subspan(4 + 4 * i, 4)));
    if (dim == 0) {
      throw BadData("{}: dimension {} (byte {}) is zero: {}", path, i, 4 + 4 * i,
                    i == 0 ? "the file holds no records" : "its records hold no values");
    }
    if (__builtin_mul_overflow(count, dim, &count) || count > (int64_t{1} << 50)) {
      throw BadData(
          "{}: dimension {} (byte {}) is {}: more values than any file can hold; the "
          "header is corrupt",
          path, i, 4 + 4 * i, dim);
    }
    dims.push_back(dim);
  }
  header.shape = ir::Shape(*dtype, std::move(dims));
  return header;
}

template <typename Word>
void SwapWords(std::byte* data, int64_t count, Word (*swap)(Word)) {
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, data + i * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    word = swap(word);
    std::memcpy(data + i * static_cast<int64_t>(sizeof(Word)), &word, sizeof(Word));
  }
}

void ToHostOrder(std::byte* data, const ir::Shape& shape) {
  if constexpr (std::endian::native == std::endian::big) return;
  switch (ir::ByteSize(shape.dtype)) {
    case 2:
      return SwapWords<uint16_t>(
          data, shape.size(), +[](uint16_t w) { return __builtin_bswap16(w); });
    case 4:
      return SwapWords<uint32_t>(
          data, shape.size(), +[](uint32_t w) { return __builtin_bswap32(w); });
    case 8:
      return SwapWords<uint64_t>(
          data, shape.size(), +[](uint64_t w) { return __builtin_bswap64(w); });
    default:
      return;
  }
}

// Reads the values behind the header into the memory that `begin` is told of.
void Load(const std::string& path, const std::string& remedy,
          const std::function<void(const Header&, const std::shared_ptr<std::byte[]>&)>& begin) {
  Header header;
  LoadOptions options;
  options.remedy = remedy;
  options.expected_size = [&](std::span<const std::byte> head) {
    header = ParseHeader(path, head);
    return static_cast<int64_t>(header.size) + header.shape.bytes();
  };
  options.begun = [&](const std::shared_ptr<std::byte[]>& data) { begin(header, data); };
  FileBytes file = LoadFile(path, options);
  const int64_t expected = static_cast<int64_t>(header.size) + header.shape.bytes();
  const auto found = static_cast<int64_t>(file.size);
  const char* packed = file.gzip ? " (unpacked)" : "";
  if (found < expected) {
    int64_t row = header.shape.bytes() / header.shape.dims[0];
    throw BadData(
        "{}: the file is short: its header says {} ({} bytes in all), found {} bytes{}, which end "
        "in "
        "record {}. Fetch the file again",
        path, header.shape.ToString(), expected, found, packed,
        (found - static_cast<int64_t>(header.size)) / row);
  }
  if (found > expected) {
    throw BadData(
        "{}: trailing bytes: its header says {}, which ends at byte {}{}, found more data "
        "there",
        path, header.shape.ToString(), expected, packed);
  }
  ToHostOrder(file.data.get() + header.size, header.shape);
}

// Returns when there is a header and memory, or nothing can come of it.
IdxFile BeginUncached(const std::string& path, const std::string& remedy) {
  auto begun = std::make_shared<std::promise<IdxFile>>();
  std::future<IdxFile> beginning = begun->get_future();
  std::shared_future<void> loaded = std::async(std::launch::async, [path, remedy, begun] {
    bool told = false;
    try {
      Load(path, remedy, [&](const Header& header, const std::shared_ptr<std::byte[]>& data) {
        told = true;
        begun->set_value({path,
                          header.shape,
                          std::shared_ptr<const std::byte>(data, data.get() + header.size),
                          {}});
      });
    } catch (...) {
      if (!told) begun->set_exception(std::current_exception());
      throw;
    }
  });
  IdxFile file = beginning.get();
  AddLoad(file.data, loaded);
  file.loaded = std::move(loaded);
  return file;
}

ir::Shape RecordShape(const IdxFile& file) {
  return ir::Shape(file.shape.dtype, {file.shape.dims.begin() + 1, file.shape.dims.end()});
}

// Labels as i32 (integers) or as they are (floats).
Array Labels(const IdxFile& file, int64_t classes) {
  ir::Shape record = RecordShape(file);
  const int64_t records = file.shape.dims[0];
  if (ir::IsFloat(record.dtype)) {
    if (classes > 0) {
      throw BadData("{}: classes is {}, so labels must be integers, found {}", file.path, classes,
                    file.shape.ToString());
    }
    return Array{Field{"label", record}, file.data, records};
  }
  const int64_t count = file.shape.size();
  std::shared_ptr<int32_t[]> labels =
      std::make_shared_for_overwrite<int32_t[]>(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int32_t value = 0;
    switch (record.dtype) {
      case ir::DType::kU8:
        value = static_cast<uint8_t>(file.data.get()[i]);
        break;
      case ir::DType::kI8:
        value = static_cast<int8_t>(file.data.get()[i]);
        break;
      case ir::DType::kI16: {
        int16_t word;
        std::memcpy(&word, file.data.get() + 2 * i, 2);
        value = word;
        break;
      }
      default:
        std::memcpy(&value, file.data.get() + 4 * i, 4);
    }
    if (classes > 0 && (value < 0 || value >= classes)) {
      throw BadData(
          "{}: record {}: label {} is outside the {} classes: expected 0 to {}. Correct the "
          "file or set classes",
          file.path, i / (count / records), value, classes, classes - 1);
    }
    labels[static_cast<size_t>(i)] = value;
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(labels.get());
  return Array{Field{"label", record.WithDType(ir::DType::kI32), classes},
               std::shared_ptr<const std::byte>(labels, bytes), records};
}

Array Images(const IdxFile& file, const IdxOptions& options) {
  ir::Shape record = RecordShape(file);
  if (!options.image_shape.empty()) {
    ir::Shape wanted = record.WithDims(options.image_shape);
    if (wanted.size() != record.size()) {
      throw BadData("{}: image_shape {} has {} values, but the file's records {} have {}",
                    file.path, ir::DimsToString(wanted.dims), wanted.size(),
                    ir::DimsToString(record.dims), record.size());
    }
    record = wanted;
  } else if (record.rank() == 2) {
    record.dims = {record.dims[0], record.dims[1], 1};
  }
  return Array{Field{"image", record}, file.data, file.shape.dims[0]};
}

// Shared by both kinds: the rules of single values, said with their place in the run file.
void CheckCommon(const Config* validation_split, const Config* limit, const IdxOptions& options) {
  double split = options.validation_split;
  Require(validation_split, split >= 0 && (split < 1 || split == std::floor(split)),
          "a share of the training records (0 to 1) or a whole number of them");
  Require(limit, options.limit >= 0, "a number of records, or 0 for all");
}

}  // namespace

IdxFile ReadIdx(const std::string& path, const std::string& remedy) {
  IdxFile file = BeginIdx(path, remedy);
  file.loaded.get();
  return file;
}

IdxFile BeginIdx(const std::string& path, const std::string& remedy) {
  // Train and validation come from the same files: whoever holds one spares the other the reading.
  struct Entry {
    fs::file_time_type time;
    uintmax_t size;
    ir::Shape shape;
    std::weak_ptr<const std::byte> data;
    std::shared_future<void> loaded;
  };
  static std::mutex mutex;
  static std::map<std::string, Entry> cache;
  std::error_code error;
  fs::path full = fs::absolute(path, error);
  fs::file_time_type time = fs::last_write_time(full, error);
  uintmax_t size = error ? 0 : fs::file_size(full, error);
  std::lock_guard lock(mutex);
  if (!error) {
    auto it = cache.find(full.string());
    if (it != cache.end() && it->second.time == time && it->second.size == size) {
      if (std::shared_ptr<const std::byte> data = it->second.data.lock()) {
        return IdxFile{path, it->second.shape, data, it->second.loaded};
      }
    }
  }
  IdxFile file = BeginUncached(path, remedy);
  if (!error) cache[full.string()] = Entry{time, size, file.shape, file.data, file.loaded};
  return file;
}

SourcePtr OpenIdxSplit(const std::string& name, const IdxOptions& options, std::string_view split,
                       const std::string& remedy) {
  const bool own_validation = !options.validation_images.empty();
  const bool from_train = split == "train" || (split == "validation" && !own_validation &&
                                               options.validation_split > 0);
  const std::string& images_path = from_train              ? options.train_images
                                   : split == "validation" ? options.validation_images
                                                           : options.test_images;
  const std::string& labels_path = from_train              ? options.train_labels
                                   : split == "validation" ? options.validation_labels
                                                           : options.test_labels;
  if (images_path.empty() && labels_path.empty()) return nullptr;
  if (images_path.empty() || labels_path.empty()) {
    throw Invalid("{}: the {} split has {} but no {}: both are needed", name, split,
                  images_path.empty() ? "labels" : "images",
                  images_path.empty() ? "images" : "labels");
  }
  IdxFile images = BeginIdx(images_path, remedy);
  IdxFile labels = ReadIdx(labels_path, remedy);
  const int64_t records = images.shape.dims[0];
  if (records != labels.shape.dims[0]) {
    throw BadData(
        "{} holds {} images but {} holds {} labels: there must be equally many. Are they of "
        "the same set?",
        images.path, records, labels.path, labels.shape.dims[0]);
  }
  int64_t begin = 0, end = records;
  if (from_train && !own_validation && options.validation_split > 0) {
    double asked = options.validation_split;
    int64_t held = asked < 1 ? std::llround(asked * static_cast<double>(records))
                             : static_cast<int64_t>(asked);
    if (held <= 0 || held >= records) {
      throw BadData(
          "{}: validation_split = {} takes {} of the {} training records in {}: both splits "
          "need at least one",
          name, asked, held, records, images.path);
    }
    (split == "train" ? end : begin) = records - held;
  }
  if (options.limit > 0) end = std::min(end, begin + options.limit);
  return std::make_shared<ArraysSource>(
      fmt::format("{} {}", name, split),
      std::vector<Array>{Images(images, options), Labels(labels, options.classes)}, begin, end,
      [loaded = images.loaded] { loaded.get(); });
}

std::function<SourcePtr(std::string_view)> OpenIdx(FieldReader& reader) {
  IdxOptions options;
  options.Visit(reader);
  CheckCommon(reader.Take("validation_split"), reader.Take("limit"), options);
  Require(reader.Take("classes"), options.classes >= 0, "a number of classes, or 0 for any");
  for (int64_t dim : options.image_shape) {
    Require(reader.Take("image_shape"), dim > 0, "positive dimensions");
  }
  if (options.train_images.empty() && options.test_images.empty()) {
    throw Invalid(
        "data: an idx source needs train_images and train_labels, or test_images and "
        "test_labels");
  }
  return [options](std::string_view split) { return OpenIdxSplit("idx", options, split); };
}

std::function<SourcePtr(std::string_view)> OpenFashionMnist(FieldReader& reader) {
  const std::string package_path = "/usr/share/datasets/fashion-mnist";
  std::string path = package_path;
  IdxOptions options;
  reader("path", path);
  reader("validation_split", options.validation_split);
  reader("limit", options.limit);
  CheckCommon(reader.Take("validation_split"), reader.Take("limit"), options);
  options.classes = 10;
  auto file = [&](const char* stem) {
    fs::path plain = fs::path(path) / stem;
    fs::path packed = plain.string() + ".gz";
    // Unpacked copies are as good, and quicker to read.
    std::error_code ignored;
    return fs::exists(plain, ignored) && !fs::exists(packed, ignored) ? plain.string()
                                                                      : packed.string();
  };
  options.train_images = file("train-images-idx3-ubyte");
  options.train_labels = file("train-labels-idx1-ubyte");
  options.test_images = file("t10k-images-idx3-ubyte");
  options.test_labels = file("t10k-labels-idx1-ubyte");
  std::string remedy = fmt::format(
      "install Debian's package dataset-fashion-mnist (apt-get install dataset-fashion-mnist){}",
      path == package_path ? "" : ", or correct the data path");
  return [options, remedy](std::string_view split) {
    return OpenIdxSplit("fashion_mnist", options, split, remedy);
  };
}

FLATOUT_REGISTER(idx_source) {
  RegisterSource("idx", OpenIdx);
  RegisterSource("fashion_mnist", OpenFashionMnist);
}

}  // namespace flatout::data
