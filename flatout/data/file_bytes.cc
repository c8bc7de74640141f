#include "flatout/data/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/data/files.h"
#include "flatout/data/unpack.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHead = 4096;
constexpr size_t kChunk = size_t{1} << 18;
// No deflate stream unpacks to more than this many times its size (zlib's documented limit).
constexpr size_t kMostRatio = 1032;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Growing memory that is not cleared first.
class Growing {
 public:
  explicit Growing(size_t reserve) { Reserve(reserve); }

  size_t size() const { return size_; }
  std::byte* tail() { return data_.get() + size_; }
  size_t room() const { return capacity_ - size_; }
  void Added(size_t n) { size_ += n; }
  void Reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    std::shared_ptr<std::byte[]> larger = std::make_shared_for_overwrite<std::byte[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
    capacity_ = capacity;
  }
  void MakeRoom() {
    if (room() == 0) Reserve(std::max(capacity_ * 2, kHead));
  }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }
  const std::shared_ptr<std::byte[]>& data() const { return data_; }
  FileBytes Release(bool gzip) { return FileBytes{std::move(data_), size_, gzip}; }

 private:
  std::shared_ptr<std::byte[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

class Loader {
 public:
  Loader(const std::string& path, const LoadOptions& options) : path_(path), options_(options) {
    std::error_code error;
    fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) throw NoSuchFile(path, options.remedy);
    if (fs::is_directory(status)) throw BadData("{}: expected a file, found a folder", path);
    if (!error && !fs::is_regular_file(status)) {
      throw BadData(
          "{}: expected a file, found a pipe or device: write what it gives to a file first", path);
    }
    file_.reset(std::fopen(path.c_str(), "rb"));
    if (!file_) throw BadData("{}: cannot be opened: {}", path, std::strerror(errno));
    // Only a hint.
    uintmax_t size = fs::file_size(path, error);
    if (!error) file_size_ = static_cast<size_t>(size);
  }

  FileBytes Load() {
    input_.resize(kChunk);
    Refill();
    if (input_size_ == 0) throw BadData("{}: the file is empty (0 bytes)", path_);
    bool gzip = input_size_ >= 2 && input_[0] == std::byte{0x1f} && input_[1] == std::byte{0x8b};
    return gzip ? LoadGzip() : LoadPlain();
  }

 private:
  // The next piece of the file into input_; input_size_ is 0 at the end.
  void Refill() {
    offset_ += input_size_;
    input_size_ = std::fread(input_.data(), 1, input_.size(), file_.get());
    if (std::ferror(file_.get())) {
      throw BadData("{}: reading failed at byte {}: {}", path_, offset_ + input_size_,
                    std::strerror(errno));
    }
  }

  // True when enough was read: one byte more than expected.
  bool Enough(Growing& content, bool at_end, size_t most) {
    if (!asked_ && options_.expected_size && (content.size() >= kHead || at_end)) {
      asked_ = true;
      expected_ = static_cast<size_t>(
          options_.expected_size(content.bytes().first(std::min(content.size(), kHead))));
      // A header can claim anything; memory is taken only for what the file can hold.
      content.Reserve(std::min(expected_, most) + 1);
      if (options_.begun && expected_ <= most) options_.begun(content.data());
    }
    return asked_ && content.size() > expected_;
  }

  FileBytes LoadPlain() {
    Growing content(options_.expected_size ? kHead : file_size_ + 1);
    size_t used = 0;
    while (input_size_ > 0) {
      content.MakeRoom();
      size_t n = std::min(content.room(), input_size_ - used);
      std::memcpy(content.tail(), input_.data() + used, n);
      content.Added(n);
      used += n;
      if (used == input_size_) {
        Refill();
        used = 0;
      }
      if (Enough(content, input_size_ == 0, file_size_)) break;
    }
    return content.Release(false);
  }

  FileBytes LoadGzip() {
    Growing content(kHead);
    const size_t most = file_size_ * kMostRatio;
    size_t used = 0;  // of input_, which holds the file's beginning
    Unpack(
        path_, Packing::kGzip,
        [&](std::span<std::byte> out) {
          if (used == input_size_) {
            Refill();
            used = 0;
          }
          const size_t n = std::min(out.size(), input_size_ - used);
          std::memcpy(out.data(), input_.data() + used, n);
          used += n;
          return n;
        },
        [&](std::span<const std::byte> piece) {
          while (!piece.empty()) {
            content.MakeRoom();
            const size_t n = std::min(content.room(), piece.size());
            std::memcpy(content.tail(), piece.data(), n);
            content.Added(n);
            piece = piece.subspan(n);
            if (Enough(content, false, most)) return false;
          }
          return true;
        });
    Enough(content, true, most);
    return content.Release(true);
  }

  const std::string& path_;
  const LoadOptions& options_;
  File file_;
  size_t file_size_ = 0;
  std::vector<std::byte> input_;
  size_t input_size_ = 0;
  size_t offset_ = 0;  // of input_ in the file
  bool asked_ = false;
  size_t expected_ = 0;
};

}  // namespace

FileBytes LoadFile(const std::string& path, const LoadOptions& options) {
  return Loader(path, options).Load();
}

std::string HexBytes(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte b : bytes) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned>(b));
  }
  return text;
}

}  // namespace flatout::data
