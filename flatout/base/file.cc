#include "flatout/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/crc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "flatout/base/error.h"

namespace flatout {
namespace {

UserError SystemError(std::string_view verb, const std::string& path, int error) {
  Code code = Code::kFailedPrecondition;
  if (error == ENOENT || error == ENOTDIR) code = Code::kNotFound;
  if (error == EACCES || error == EPERM || error == EROFS) code = Code::kPermissionDenied;
  return UserError(code, SystemMessage(verb, path, error));
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // Closes now and returns what close() said: on network file systems that is where a full disk
  // shows.
  int Close() {
    const int fd = fd_;
    fd_ = -1;
    return close(fd);
  }

 private:
  int fd_;
};

std::string Folder(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Removes the temporary file unless it got its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  void Keep() { path_.clear(); }

 private:
  std::string path_;
};

}  // namespace

std::string SystemMessage(std::string_view verb, const std::string& path, int error) {
  std::string remedy;
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      remedy = " (free some space there, or choose another folder)";
      break;
    case EACCES:
    case EPERM:
      remedy = " (change the permissions, run as their owner, or choose another folder)";
      break;
    case EROFS:
      remedy = " (the file system is mounted read-only; choose another folder)";
      break;
    case EMFILE:
    case ENFILE:
      remedy = " (raise the limit: ulimit -n)";
      break;
    default:
      break;
  }
  return fmt::format("cannot {} {}: {}{}", verb, path, std::generic_category().message(error),
                     remedy);
}

namespace {

// "a pipe", of the mode of what is no regular file.
const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string ReadAll(const Descriptor& file, const std::string& path, const struct stat& info) {
  std::string content;
  // The size is a hint: files in /proc say 0, and a file may grow while it is read.
  size_t used = 0;
  content.resize(info.st_size > 0 ? static_cast<size_t>(info.st_size) + 1 : 4096);
  while (true) {
    if (used == content.size()) content.resize(content.size() * 2);
    const ssize_t got = read(file.get(), content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError("read", path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  content.resize(used);
  return content;
}

}  // namespace

std::string ReadFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw SystemError("read", path, errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) throw SystemError("read", path, errno);
  return ReadAll(file, path, info);
}

std::string ReadRegularFile(const std::string& path, int64_t most_bytes) {
  struct stat info {};
  const auto check = [&] {
    if (S_ISREG(info.st_mode)) return;
    throw UserError(Code::kFailedPrecondition,
                    fmt::format("{} is {} where a file is expected; nothing is read from it", path,
                                KindOf(info.st_mode)));
  };
  // Before it is opened, which may do something to a device, and after, in case it has changed.
  if (stat(path.c_str(), &info) != 0) throw SystemError("read", path, errno);
  check();
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 || fstat(file.get(), &info) != 0) throw SystemError("read", path, errno);
  check();
  if (info.st_size > most_bytes) {
    throw UserError(
        Code::kFailedPrecondition,
        fmt::format("{} has {} bytes, and no such file has more than {}; it is not read", path,
                    info.st_size, most_bytes));
  }
  return ReadAll(file, path, info);
}

bool IsRegularFile(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

void AtomicWriteFile(const std::string& path, std::string_view content) {
  // Process and counter make the name this call's own, so that several writers do not meet in it.
  static std::atomic<uint64_t> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, getpid(), counter++);
  Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) throw SystemError("write", path, errno);
  TemporaryFile guard(temporary);
  for (size_t done = 0; done < content.size();) {
    const ssize_t wrote = write(file.get(), content.data() + done, content.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw SystemError("write", path, errno);
    done += static_cast<size_t>(wrote);
  }
  if (fsync(file.get()) != 0) throw SystemError("write", path, errno);
  if (file.Close() != 0) throw SystemError("write", path, errno);
  if (rename(temporary.c_str(), path.c_str()) != 0) throw SystemError("write", path, errno);
  guard.Keep();
  // Without this the rename itself could be lost in a power cut.
  const std::string folder = Folder(path);
  const Descriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) throw SystemError("sync the folder", folder, errno);
  // Some network file systems have no sync for folders and say EINVAL.
  if (fsync(directory.get()) != 0 && errno != EINVAL) {
    throw SystemError("sync the folder", folder, errno);
  }
}

void MakeDirs(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw SystemError("make the folder", path, error.value());
  // create_directories is content with a file in the place of the last folder on some systems.
  if (!std::filesystem::is_directory(path, error)) {
    throw SystemError("make the folder", path, ENOTDIR);
  }
}

int64_t FileSize(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) throw SystemError("read the size of", path, errno);
  return info.st_size;
}

bool FileExists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

uint32_t Crc32c(std::string_view data, uint32_t crc) {
  // isa-l works on the register without the inversions at both ends, and takes an int length.
  uint32_t state = ~crc;
  constexpr size_t kPiece = std::numeric_limits<int>::max() / 2;
  while (!data.empty()) {
    const std::string_view piece = data.substr(0, kPiece);
    // The parameter is not const by an oversight of isa-l's; it only reads.
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    state = crc32_iscsi(bytes, static_cast<int>(piece.size()), state);
    data.remove_prefix(piece.size());
  }
  return ~state;
}

uint32_t MaskedCrc32c(std::string_view data) {
  const uint32_t sum = Crc32c(data);
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8U;
}

namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4
// section 4.2.2), computed exactly: floor(cbrt(p) * 2^32) by integer bisection.
constexpr std::array<uint32_t, 64> Sha256Constants() {
  std::array<uint32_t, 64> table{};
  size_t count = 0;
  for (unsigned candidate = 2; count < 64; ++candidate) {
    bool prime = true;
    for (unsigned d = 2; d * d <= candidate; ++d) prime = prime && candidate % d != 0;
    if (!prime) continue;
    // The largest r with r^3 <= p * 2^96. r < 2^35, so r^3 < 2^105 fits.
    unsigned __int128 low = 0;
    unsigned __int128 high = static_cast<unsigned __int128>(1) << 35;
    const unsigned __int128 target = static_cast<unsigned __int128>(candidate) << 96;
    while (high - low > 1) {
      const unsigned __int128 middle = (low + high) / 2;
      (middle * middle * middle <= target ? low : high) = middle;
    }
    table[count++] = static_cast<uint32_t>(low);
  }
  return table;
}
constexpr std::array<uint32_t, 64> kRound = Sha256Constants();
static_assert(kRound[0] == 0x428a2f98 && kRound[63] == 0xc67178f2);

}  // namespace

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      pending_{} {}

void Sha256::Block(const unsigned char* block) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) {
    w[i] = static_cast<uint32_t>(block[4 * i]) << 24 |
           static_cast<uint32_t>(block[4 * i + 1]) << 16 |
           static_cast<uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15];
    const uint32_t b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                        ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<uint32_t, 8> sum = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += sum[i];
}

Sha256& Sha256::Update(std::string_view data) {
  size_t filled = size_ % 64;
  size_ += data.size();
  while (!data.empty()) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
    if (filled == 0 && data.size() >= 64) {
      Block(bytes);
      data.remove_prefix(64);
      continue;
    }
    const size_t take = std::min(64 - filled, data.size());
    std::memcpy(pending_.data() + filled, bytes, take);
    filled += take;
    data.remove_prefix(take);
    if (filled == 64) {
      Block(pending_.data());
      filled = 0;
    }
  }
  return *this;
}

Sha256& Sha256::Field(std::string_view data) {
  return Update(fmt::format("{}:", data.size())).Update(data);
}

std::string Sha256::HexDigest() {
  const uint64_t bits = size_ * 8;
  Update(std::string_view("\x80", 1));
  while (size_ % 64 != 56) Update(std::string_view("\0", 1));
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  Update(length);
  std::string hex;
  for (const uint32_t word : state_) hex += fmt::format("{:08x}", word);
  return hex;
}

std::string Sha256Hex(std::string_view data) { return Sha256().Update(data).HexDigest(); }

}  // namespace flatout
