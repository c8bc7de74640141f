// Drives a fuzz target without libFuzzer: replay [--mutations N] FOLDER|FILE...
// Runs the files and N mutations of each (default 400), which depend on nothing but the file's name
// and content. Where the target fails, the input goes to the standard error as hexadecimal.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

// ---- what is running, for whoever has to repeat it ----

const char* current_file = "";
int current_mutation = -1;
const Bytes* current_input = nullptr;

// Only what a signal handler may do.
void Say(const char* text) {
  if (write(2, text, std::strlen(text)) < 0) std::_Exit(1);
}

void Report(int signal) {
  Say("\nfuzz input ");
  Say(current_file);
  Say(", mutation ");
  char number[16];
  int at = sizeof(number) - 1;
  number[at] = 0;
  for (int rest = current_mutation + 1; at > 0 && (rest > 0 || number[at] == 0); rest /= 10) {
    number[--at] = static_cast<char>('0' + rest % 10);
  }
  Say(number + at);
  Say(" (0: the file itself) ends with this signal; its bytes:\n");
  if (current_input != nullptr) {
    for (uint8_t byte : *current_input) {
      const char* digits = "0123456789abcdef";
      const char text[3] = {digits[byte >> 4], digits[byte & 15], 0};
      Say(text);
    }
  }
  Say("\n");
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// ---- mutations ----

// splitmix64
struct Random {
  uint64_t state;
  uint64_t Next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  size_t Below(size_t bound) { return bound == 0 ? 0 : Next() % bound; }
};

constexpr uint64_t kInteresting[] = {0,
                                     1,
                                     2,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     uint64_t{1} << 62,
                                     ~uint64_t{0} >> 1,
                                     uint64_t{1} << 63,
                                     ~uint64_t{0},
                                     ~uint64_t{0} - 15};
constexpr size_t kMostBytes = 1 << 16;

void Mutate(Bytes& bytes, const std::vector<Bytes>& others, Random& random) {
  const size_t at = random.Below(bytes.size() + 1);
  const size_t left = bytes.size() - at;
  auto begin = bytes.begin() + static_cast<ptrdiff_t>(at);
  switch (random.Below(9)) {
    case 0:  // a bit
      if (left > 0) bytes[at] ^= static_cast<uint8_t>(1 << random.Below(8));
      break;
    case 1:  // a byte
      if (left > 0) bytes[at] = static_cast<uint8_t>(random.Next());
      break;
    case 2: {  // a number of 1, 2, 4 or 8 bytes in either order
      const size_t width = size_t{1} << random.Below(4);
      const uint64_t value = kInteresting[random.Below(std::size(kInteresting))];
      const bool big = random.Below(2) != 0;
      for (size_t i = 0; i < width && i < left; ++i) {
        bytes[at + i] = static_cast<uint8_t>(value >> 8 * (big ? width - 1 - i : i));
      }
      break;
    }
    case 3:  // without a piece
      bytes.erase(begin,
                  begin + static_cast<ptrdiff_t>(random.Below(std::min<size_t>(left, 64) + 1)));
      break;
    case 4:  // cut
      if (random.Below(3) == 0) bytes.resize(at);
      break;
    case 5: {  // a piece twice
      const Bytes piece(
          begin, begin + static_cast<ptrdiff_t>(random.Below(std::min<size_t>(left, 64) + 1)));
      bytes.insert(begin, piece.begin(), piece.end());
      break;
    }
    case 6: {  // a few bytes more
      const Bytes piece(1 + random.Below(8), static_cast<uint8_t>(random.Next()));
      bytes.insert(begin, piece.begin(), piece.end());
      break;
    }
    case 7: {  // a piece of another file
      const Bytes& other = others[random.Below(others.size())];
      const size_t from = random.Below(other.size() + 1);
      const size_t count = random.Below(std::min<size_t>(other.size() - from, 256) + 1);
      const size_t over = random.Below(2) != 0 ? std::min(count, left) : 0;
      bytes.erase(begin, begin + static_cast<ptrdiff_t>(over));
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at),
                   other.begin() + static_cast<ptrdiff_t>(from),
                   other.begin() + static_cast<ptrdiff_t>(from + count));
      break;
    }
    default: {  // characters that text formats care about
      constexpr char kSyntax[] = "\"\\,;:\t\r\n{}[]()'.-+eE0123456789nulltruefalse#/ ";
      const char c = kSyntax[random.Below(sizeof(kSyntax) - 1)];
      if (left > 0) bytes[at] = static_cast<uint8_t>(c);
    }
  }
  if (bytes.size() > kMostBytes) bytes.resize(kMostBytes);
}

void RunOne(const Bytes& bytes) {
  current_input = &bytes;
  // A copy of exactly its size, so that a sanitizer sees any byte read behind it.
  Bytes copy(bytes);
  copy.shrink_to_fit();
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
  current_input = nullptr;
}

}  // namespace

// ---- allocations ----
// A sanitizer brings its own allocator and limit (max_allocation_size_mb).
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {
// Far above what files of kMostBytes justify, far below what a length made up by one would ask for.
constexpr size_t kLargestAllocation = FUZZ_LARGEST_ALLOCATION;

void* Allocate(size_t size, size_t alignment) {
  if (size > kLargestAllocation) {
    Say("one allocation above the limit, far more than the input justifies\n");
    std::abort();
  }
  void* memory = std::aligned_alloc(
      alignment, (std::max<size_t>(size, 1) + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(size_t size) { return Allocate(size, alignof(std::max_align_t)); }
void* operator new[](size_t size) { return Allocate(size, alignof(std::max_align_t)); }
void* operator new(size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  int mutations = 400;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      mutations = std::atoi(argv[++i]);
    } else if (fs::is_directory(argument)) {
      for (const auto& entry : fs::directory_iterator(argument))
        files.push_back(entry.path().string());
    } else {
      files.push_back(argument);
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    fmt::print(stderr, "usage: {} [--mutations N] FOLDER|FILE...; no files found\n", argv[0]);
    return 2;
  }
  std::vector<Bytes> contents;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      fmt::print(stderr, "{}: cannot be read\n", file);
      return 2;
    }
    contents.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM})
    std::signal(signal, Report);
  int64_t runs = 0;
  for (size_t f = 0; f < files.size(); ++f) {
    current_file = files[f].c_str();
    current_mutation = -1;
    RunOne(contents[f]);
    // FNV-1a of the file's name without its folder.
    Random random{14695981039346656037u};
    for (char c : fs::path(files[f]).filename().string()) {
      random.state = (random.state ^ static_cast<uint8_t>(c)) * 1099511628211u;
    }
    for (current_mutation = 0; current_mutation < mutations; ++current_mutation) {
      Bytes bytes = contents[f];
      for (size_t step = 1 + random.Below(4); step > 0; --step) Mutate(bytes, contents, random);
      RunOne(bytes);
    }
    runs += 1 + mutations;
  }
  fmt::print("{} files, {} inputs: no fault\n", files.size(), runs);
  return 0;
}
