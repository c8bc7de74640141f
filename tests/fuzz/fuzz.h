// tests/fuzz: every parser of training data against bytes that nobody meant.
//
// NAME_fuzz.cc is one target: FUZZ_TARGET(bytes) { ... } hands the bytes to a parser and checks
// what must hold for any bytes: the parser refuses them with a UserError that says something, or
// what it gives is consistent. Crashes, leaks, endless loops and allocations that the input does
// not justify are found by whoever drives the target:
//   - clang: libFuzzer with the address and undefined-behaviour sanitizers, as long as one likes
//     (make fuzz SECONDS=600, see tests/fuzz/run);
//   - any compiler: replay.cc runs the seeds in corpus/NAME and a fixed number of mutations of
//   them,
//     the same each time. That is the test fuzz_NAME.
// FUZZ_TARGET stands within namespace flatout::fuzz.
//
// An input that ever crashed a parser is kept as corpus/NAME/crash-*.
#pragma once

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "flatout/base/error.h"

namespace flatout::fuzz {

// Ends the program where `condition` does not hold.
#define FUZZ_CHECK(condition)                                                           \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fmt::print(stderr, "{}:{}: does not hold: {}\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                     \
    }                                                                                   \
  } while (false)

// Runs `body`; false where it refuses the input with a UserError (shown where FUZZ_SHOW is set).
// Anything else it throws ends the program: an InternalError is a fault of ours whatever the input.
template <typename Body>
bool Accepts(Body&& body) {
  try {
    std::forward<Body>(body)();
    return true;
  } catch (const UserError& error) {
    static const bool show = std::getenv("FUZZ_SHOW") != nullptr;
    if (show) fmt::print(stderr, "refused: {}\n", error.what());
    FUZZ_CHECK(std::string_view(error.what()).size() > 10);
    return false;
  }
}

inline std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes pieces from the front of the input, zeros when it is used up: for options that the fuzzer
// is to choose.
class Choices {
 public:
  explicit Choices(std::span<const std::byte>& bytes) : bytes_(bytes) {}
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto value = static_cast<uint8_t>(bytes_[0]);
    bytes_ = bytes_.subspan(1);
    return value;
  }
  bool Flag() { return (Byte() & 1) != 0; }
  // [0, count)
  int Of(int count) { return Byte() % count; }

 private:
  std::span<const std::byte>& bytes_;
};

// The bytes as a file, for parsers that take a path. In memory; goes with the object.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    // Nothing of these files is to be kept: all have the same name.
    static const int no_cache = setenv("FLATOUT_CACHE", "off", 1);
    FUZZ_CHECK(fd_ >= 0 && no_cache == 0);
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t wrote = write(fd_, bytes.data() + done, bytes.size() - done);
      FUZZ_CHECK(wrote > 0);
      done += static_cast<size_t>(wrote);
    }
    path_ = fmt::format("/proc/{}/fd/{}", getpid(), fd_);
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

void Target(std::span<const std::byte> bytes);

}  // namespace flatout::fuzz

#define FUZZ_TARGET(bytes)                                                   \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  \
    flatout::fuzz::Target({reinterpret_cast<const std::byte*>(data), size}); \
    return 0;                                                                \
  }                                                                          \
  void Target(std::span<const std::byte> bytes)
