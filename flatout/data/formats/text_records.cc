#include "flatout/data/formats/text_records.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"

namespace flatout::data {
namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kLookahead = 4096;  // how far a line of spaces is followed past its chunk

// Bit i: whether p[i] == c, for 64 bytes.
uint64_t Equal(const char* p, char c) {
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(c);
  uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p) + i);
    const auto bits = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
    mask |= static_cast<uint64_t>(bits) << (16 * i);
  }
  return mask;
#else
  uint64_t mask = 0;
  for (int i = 0; i < 64; ++i) mask |= static_cast<uint64_t>(p[i] == c) << i;
  return mask;
#endif
}

// Bit i: whether an odd number of bits 0..i is set.
uint64_t PrefixXor(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// What one chunk says.
struct Chunk {
  // Where records begin, from the chunk's first byte, if it begins outside ([0]) or inside ([1])
  // quotes.
  std::vector<uint32_t> begins[2];
  int64_t lines = 0;  // that begin in it
  bool odd = false;   // an odd number of quotes
};

// The bytes of a chunk are data[0, size); data[size, size + ahead) may be looked at. `before`: the
// byte in front of it, LF for the very first.
Chunk ScanChunk(const char* data, size_t size, size_t ahead, char before, const RecordScan& scan) {
  Chunk chunk;
  const bool keep_blank = scan.blank == RecordScan::Blank::kKeep;
  uint64_t inside = 0;  // all ones when inside quotes
  uint64_t after_lf = before == '\n' ? 1 : 0;
  uint64_t after_cr = before == '\r' && scan.lone_cr ? 1 : 0;
  char last[64];
  for (size_t at = 0; at < size; at += 64) {
    const char* p = data + at;
    uint64_t valid = ~uint64_t{0};
    if (size - at < 64) {
      std::memset(last, 0, sizeof(last));
      std::memcpy(last, p, size - at);
      p = last;
      valid = (uint64_t{1} << (size - at)) - 1;
    }
    const uint64_t lf = Equal(p, '\n');
    const uint64_t ends = scan.lone_cr ? Equal(p, '\r') : 0;  // of lines, with LF
    // A line begins after LF, and after CR unless LF follows it.
    uint64_t begins = ((lf << 1 | after_lf) | ((ends << 1 | after_cr) & ~lf)) & valid;
    after_lf = lf >> 63;
    after_cr = ends >> 63;
    chunk.lines += std::popcount(begins);
    uint64_t quoted = inside;
    if (scan.quote != 0) {
      if (const uint64_t quotes = Equal(p, scan.quote) & valid; quotes != 0) {
        const uint64_t parity = PrefixXor(quotes) ^ inside;
        // Of the bytes before each byte.
        quoted = parity << 1 | (inside & 1);
        inside = (parity >> 63) != 0 ? ~uint64_t{0} : 0;
      }
    }
    if (!keep_blank) begins &= ~(lf | ends);
    while (begins != 0) {
      const int bit = std::countr_zero(begins);
      begins &= begins - 1;
      if (scan.blank == RecordScan::Blank::kSkipSpace) {
        size_t i = at + static_cast<size_t>(bit);
        while (i < size + ahead && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r')) ++i;
        const bool file_ends = i == size + ahead && ahead < kLookahead;
        if (file_ends || (i < size + ahead && data[i] == '\n')) continue;
      } else if (!keep_blank && p[bit] == '\r') {
        // Only CRLF is a line end here (with lone_cr the CR was one).
        const size_t next = at + static_cast<size_t>(bit) + 1;
        if (next < size + ahead && data[next] == '\n') continue;
      }
      chunk.begins[quoted >> bit & 1].push_back(static_cast<uint32_t>(at) +
                                                static_cast<uint32_t>(bit));
    }
  }
  chunk.odd = inside != 0;
  return chunk;
}

// Comments may hold a single quote, so only reading in order tells. One byte at a time; files with
// comments are written by hand, and small.
class OrderedScan {
 public:
  explicit OrderedScan(const RecordScan& scan) : scan_(scan) {}
  void Take(int64_t offset, std::string_view text, std::vector<int64_t>& begins) {
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const bool begins_line = before_ == '\n' || (scan_.lone_cr && before_ == '\r' && c != '\n');
      before_ = c;
      if (begins_line) {
        ++lines;
        if (!quoted_) {
          comment_ = scan_.comment != 0 && c == scan_.comment;
          const bool blank = c == '\n' || c == '\r';
          if (!comment_ && (!blank || scan_.blank == RecordScan::Blank::kKeep)) {
            begins.push_back(offset + static_cast<int64_t>(i));
          }
        }
      }
      if (!comment_ && scan_.quote != 0 && c == scan_.quote) quoted_ = !quoted_;
    }
  }
  int64_t lines = 0;

 private:
  RecordScan scan_;
  char before_ = '\n';
  bool quoted_ = false, comment_ = false;
};

void RefuseWideText(const std::string& path, std::span<const std::byte> head) {
  auto starts = [&](std::initializer_list<unsigned> mark) {
    size_t i = 0;
    for (const unsigned byte : mark) {
      if (i >= head.size() || static_cast<unsigned>(head[i++]) != byte) return false;
    }
    return true;
  };
  const char* name = starts({0xff, 0xfe, 0, 0}) || starts({0, 0, 0xfe, 0xff}) ? "UTF-32"
                     : starts({0xff, 0xfe}) || starts({0xfe, 0xff})           ? "UTF-16"
                                                                              : nullptr;
  if (name != nullptr) {
    throw BadData(
        "{}: the byte-order mark at byte 0 says {}, expected UTF-8. Convert it: iconv -f {} -t "
        "UTF-8",
        path, name, name);
  }
}

bool EndsLine(char c, const RecordScan& scan) { return c == '\n' || (scan.lone_cr && c == '\r'); }

}  // namespace

std::string RecordScan::ToString() const {
  return fmt::format("quote {} comment {} cr {} blank {}", static_cast<int>(quote),
                     static_cast<int>(comment), static_cast<int>(lone_cr), static_cast<int>(blank));
}

std::vector<int64_t> RecordIndex::Encode(const std::vector<int64_t>& begins, int64_t bytes,
                                         const std::vector<int64_t>& lines) {
  bool wide = false;
  for (size_t g = 0; g < begins.size(); g += kGroup) {
    const size_t last = std::min(begins.size(), g + static_cast<size_t>(kGroup)) - 1;
    wide = wide || begins[last] - begins[g] > int64_t{0xffffffff};
  }
  std::vector<int64_t> words = {kVersion << 1 | static_cast<int64_t>(wide),
                                static_cast<int64_t>(begins.size()), bytes,
                                static_cast<int64_t>(lines.size())};
  words.insert(words.end(), lines.begin(), lines.end());
  if (wide) {
    words.insert(words.end(), begins.begin(), begins.end());
    return words;
  }
  words.reserve(words.size() + (begins.size() + kGroup - 1) / kGroup * kGroupWords);
  for (size_t g = 0; g < begins.size(); g += kGroup) {
    const size_t at = words.size();
    words.resize(at + kGroupWords);
    words[at] = begins[g];
    for (size_t i = 1; i < static_cast<size_t>(kGroup) && g + i < begins.size(); ++i) {
      const auto distance = static_cast<uint64_t>(begins[g + i] - begins[g]);
      words[at + 1 + (i - 1) / 2] |= static_cast<int64_t>(distance << ((i - 1) % 2 * 32));
    }
  }
  return words;
}

RecordIndex RecordIndex::Decode(std::vector<int64_t> words, bool& valid) {
  RecordIndex index;
  valid = false;
  const auto size = static_cast<int64_t>(words.size());
  if (size < kHead || words[0] >> 1 != kVersion || words[1] < 0 || words[1] > words[2] ||
      words[2] > int64_t{1} << 62 || words[3] != (words[2] + kLineStep - 1) / kLineStep) {
    return index;
  }
  index.wide_ = (words[0] & 1) != 0;
  index.records_ = words[1];
  index.bytes_ = words[2];
  index.at_ = kHead + words[3];
  const int64_t rest = index.wide_ ? words[1] : (words[1] + kGroup - 1) / kGroup * kGroupWords;
  if (size - rest != index.at_) return index;
  index.words_ = std::move(words);
  // Offsets that rise within the file, so that nothing read by them can be out of it.
  int64_t before = -1;
  for (int64_t i = 0; i < index.records_; ++i) {
    const int64_t begin = index.begin(i);
    if (begin <= before || begin >= index.bytes_) return index;
    before = begin;
  }
  valid = true;
  return index;
}

RecordIndex IndexRecords(
    const std::string& path, int64_t bytes,
    const std::function<std::span<const std::byte>(int64_t, int64_t, std::vector<std::byte>&)>&
        read,
    const RecordScan& scan, bool parallel) {
  std::vector<std::byte> scratch;
  std::span<const std::byte> head = read(0, std::min<int64_t>(bytes, 4), scratch);
  RefuseWideText(path, head);
  const bool mark = head.size() >= 3 && head[0] == std::byte{0xef} && head[1] == std::byte{0xbb} &&
                    head[2] == std::byte{0xbf};
  const int64_t first = mark ? 3 : 0;

  const auto chunks =
      static_cast<size_t>((bytes + RecordIndex::kLineStep - 1) / RecordIndex::kLineStep);
  auto chunk_begin = [&](size_t k) {
    return std::max(first, static_cast<int64_t>(k) * RecordIndex::kLineStep);
  };
  auto chunk_end = [&](size_t k) {
    return std::min(bytes, static_cast<int64_t>(k + 1) * RecordIndex::kLineStep);
  };
  std::vector<int64_t> begins, lines(chunks);
  if (scan.comment != 0) {
    OrderedScan ordered(scan);
    for (size_t k = 0; k < chunks; ++k) {
      lines[k] = ordered.lines;
      std::span<const std::byte> data =
          read(chunk_begin(k), chunk_end(k) - chunk_begin(k), scratch);
      ordered.Take(chunk_begin(k), {reinterpret_cast<const char*>(data.data()), data.size()},
                   begins);
    }
  } else {
    std::vector<Chunk> found(chunks);
    auto scan_chunk = [&](size_t k) {
      thread_local std::vector<std::byte> buffer;
      const int64_t begin = chunk_begin(k);
      const int64_t before = k == 0 ? 0 : 1;
      const int64_t ahead =
          std::min<int64_t>(static_cast<int64_t>(kLookahead), bytes - chunk_end(k));
      std::span<const std::byte> data =
          read(begin - before, before + chunk_end(k) - begin + ahead, buffer);
      const char* p = reinterpret_cast<const char*>(data.data());
      found[k] = ScanChunk(p + before, static_cast<size_t>(chunk_end(k) - begin),
                           static_cast<size_t>(ahead), before == 0 ? '\n' : p[0], scan);
    };
    if (parallel) {
      ForEachFile(chunks, scan_chunk);
    } else {
      for (size_t k = 0; k < chunks; ++k) scan_chunk(k);
    }
    size_t quoted = 0, total = 0;
    for (const Chunk& chunk : found) {
      total += chunk.begins[quoted].size();
      if (chunk.odd) quoted ^= 1;
    }
    begins.reserve(total);
    quoted = 0;
    int64_t line = 0;
    for (size_t k = 0; k < chunks; ++k) {
      lines[k] = line;
      line += found[k].lines;
      for (const uint32_t begin : found[k].begins[quoted]) {
        begins.push_back(chunk_begin(k) + begin);
      }
      if (found[k].odd) quoted ^= 1;
      found[k] = {};
    }
  }
  bool valid;
  RecordIndex index = RecordIndex::Decode(RecordIndex::Encode(begins, bytes, lines), valid);
  if (!valid) throw Internal("{}: the index of its records does not rise", path);
  return index;
}

RecordIndex IndexRecords(std::string_view text, const RecordScan& scan) {
  return IndexRecords(
      "text", static_cast<int64_t>(text.size()),
      [&](int64_t offset, int64_t count, std::vector<std::byte>&) {
        return std::as_bytes(
            std::span(text).subspan(static_cast<size_t>(offset), static_cast<size_t>(count)));
      },
      scan, false);
}

// A file in the address space. Reading beyond the end of a file that was cut meanwhile would end
// the process by a signal, so Check looks now and then whether the file is what it was.
class RecordFiles::Mapping {
 public:
  // nullptr where mapping is unwise (network file systems, whose errors would be signals too) or
  // does not work.
  static std::shared_ptr<const Mapping> Open(const ByteFile& file) {
    if (!file.packing().empty() || file.resident() || file.size() == 0) return nullptr;
    const int descriptor = open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    std::shared_ptr<Mapping> mapping;
    struct stat status;
    struct statfs system;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == file.size() && fstatfs(descriptor, &system) == 0 && IsLocal(system) &&
        mapped_bytes_ + file.size() <= Share()) {
      void* memory =
          mmap(nullptr, static_cast<size_t>(file.size()), PROT_READ, MAP_SHARED, descriptor, 0);
      if (memory != MAP_FAILED) {
        mapping = std::make_shared<Mapping>();
        mapping->path_ = file.path();
        mapping->data_ = static_cast<const char*>(memory);
        mapping->status_ = status;
        mapped_bytes_ += file.size();
      }
    }
    close(descriptor);
    return mapping;
  }
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data_ != nullptr) {
      munmap(const_cast<char*>(data_), static_cast<size_t>(status_.st_size));
      mapped_bytes_ -= status_.st_size;
    }
  }

  const char* data() const { return data_; }
  void Check() const {
    struct stat status;
    // A file that was removed or replaced lives on in the mapping.
    if (stat(path_.c_str(), &status) == 0 && status.st_ino == status_.st_ino &&
        status.st_dev == status_.st_dev &&
        (status.st_size != status_.st_size || status.st_mtim.tv_sec != status_.st_mtim.tv_sec ||
         status.st_mtim.tv_nsec != status_.st_mtim.tv_nsec)) {
      throw BadData(
          "{}: the file was changed while it was in use: expected {} bytes as when it was opened, "
          "found {}{}. Let nothing write to data files during a run",
          path_, status_.st_size, status.st_size,
          status.st_size == status_.st_size ? " and a later time of change" : "");
    }
  }

 private:
  static int64_t Share() {
    static const int64_t share = [] {
      const int64_t usable = ReadCgroup().memory.usable;
      return usable > 0 ? usable / 4 : int64_t{1} << 30;
    }();
    return share;
  }
  static bool IsLocal(const struct statfs& system) {
    // NFS, SMB, CIFS, SMB2, FUSE, Ceph, AFS, 9P, Coda, Lustre, GPFS.
    for (const uint32_t type :
         {0x6969u, 0x517bu, 0xff534d42u, 0xfe534d42u, 0x65735546u, 0x00c36400u, 0x5346414fu,
          0x01021997u, 0x73757245u, 0x0bd00bd0u, 0x47504653u}) {
      if (static_cast<uint32_t>(system.f_type) == type) return false;
    }
    return true;
  }

  std::string path_;
  const char* data_ = nullptr;
  struct stat status_ = {};
  static inline std::atomic<int64_t> mapped_bytes_ = 0;
};

RecordFiles::RecordFiles(const std::vector<std::string>& paths, const RecordScan& scan,
                         const std::string& kind, bool map)
    : scan_(scan), files_(paths.size()) {
  // One file is indexed by all threads, several are indexed by one thread each.
  const bool parallel = paths.size() == 1;
  auto open = [&](size_t i) {
    File& file = files_[i];
    file.bytes = ByteFile::Open(paths[i]);
    const ByteFile& bytes = *file.bytes;
    if (map) file.mapping = Mapping::Open(bytes);
    auto build = [&] {
      return IndexRecords(
          paths[i], bytes.size(),
          [&](int64_t offset, int64_t count, std::vector<std::byte>& scratch) {
            return bytes.Read(offset, count, scratch);
          },
          scan, parallel);
    };
    bool valid = false;
    // The index of a small file is made faster than it is found in the cache.
    constexpr int64_t kWorthCaching = int64_t{4} << 20;
    if (bytes.size() >= kWorthCaching) {
      file.index = RecordIndex::Decode(
          CachedIndex(paths[i], kind + " " + scan.ToString(), [&] { return build().words(); }),
          valid);
    }
    // What the cache gave may be of another size or no index.
    if (!valid || file.index.bytes() != bytes.size()) file.index = build();
  };
  if (parallel) {
    open(0);
  } else {
    ForEachFile(paths.size(), open);
  }
  begin_.assign(files_.size() + 1, 0);
  for (size_t i = 0; i < files_.size(); ++i) begin_[i + 1] = begin_[i] + files_[i].index.size();
}

void RecordFiles::Skip(size_t file, int64_t count) {
  files_[file].skip = std::min(count, files_[file].index.size());
  for (size_t i = 0; i < files_.size(); ++i) {
    begin_[i + 1] = begin_[i] + files_[i].index.size() - files_[i].skip;
  }
}

int64_t RecordFiles::bytes() const {
  int64_t sum = 0;
  for (const File& file : files_) sum += file.bytes->size();
  return sum;
}

std::string RecordFiles::Text(size_t file, int64_t record, int64_t* offset) const {
  const File& f = files_[file];
  const int64_t begin = f.index.begin(record);
  const int64_t count = std::min(f.index.end(record) - begin, kMostRecordBytes);
  std::vector<std::byte> scratch;
  std::span<const std::byte> data = f.bytes->Read(begin, count, scratch);
  std::string text(reinterpret_cast<const char*>(data.data()), data.size());
  if (text.empty() || !EndsLine(text.back(), scan_)) text += '\n';
  if (offset != nullptr) *offset = begin;
  return text;
}

int64_t RecordFiles::Read(ReadContext& context, std::span<const int64_t> records, Block& out,
                          const std::function<void(const RecordText&)>& use) const {
  // What lies between two records is read with them when a read of its own would take longer.
  constexpr int64_t kGap = 4096;
  constexpr int64_t kMost = int64_t{1} << 20;  // read before it is parsed
  static const std::string kRead = "read";
  // Neighbouring records of one file, order[first] to order[last - 1].
  struct Run {
    size_t file, first, last;
    int64_t begin, end;
    const char* data;  // of byte `begin`
  };
  struct Memory {
    std::vector<std::byte> bytes;
    std::vector<uint32_t> order;
    std::vector<Run> runs;
  };
  thread_local Memory memory;
  std::vector<uint32_t>& order = memory.order;
  std::vector<Run>& runs = memory.runs;
  const size_t rows = records.size();
  order.resize(rows);
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(records.begin(), records.end())) {
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return records[a] < records[b] || (records[a] == records[b] && a < b);
    });
  }
  std::string tail;  // a record that ends the file without a line end
  int64_t total = 0;
  size_t f = 0;
  const File* checked = nullptr;
  for (size_t i = 0; i < rows;) {
    // Some runs at a time: what has to be read for them fits into kMost, or is one record; and what
    // is asked for ahead of its use fits into the processor's near caches.
    constexpr size_t kRuns = 64, kIndexAhead = 32;
    constexpr int64_t kLine = 64, kPrefetch = 8 * kLine;
    runs.clear();
    int64_t to_read = 0;
    while (i < rows && runs.size() < kRuns) {
      const int64_t record = records[order[i]];
      if (i + kIndexAhead < rows) {
        const int64_t later = records[order[i + kIndexAhead]];
        if (later < begin_[f + 1]) files_[f].index.Prefetch(later + files_[f].skip - begin_[f]);
      }
      if (record < begin_[f] || record >= begin_[f + 1]) {
        f = static_cast<size_t>(std::upper_bound(begin_.begin(), begin_.end(), record) -
                                begin_.begin()) -
            1;
      }
      const File& file = files_[f];
      const RecordIndex& index = file.index;
      const int64_t shift = file.skip - begin_[f];  // from record numbers to the index's
      const int64_t begin = index.begin(record + shift);
      int64_t end = index.end(record + shift);
      if (end - begin > kMostRecordBytes) {
        out.Bad(order[i],
                BadData("{}: record {} takes {} bytes, more than the {} that a record may have{}",
                        Where(f, begin), record - begin_[f], end - begin, kMostRecordBytes,
                        scan_.quote == 0
                            ? std::string(". Is it a text file?")
                            : fmt::format(". A quote ({}) that is never closed does that: close "
                                          "it, or set quote = \"\" if quotes are plain characters "
                                          "in this file",
                                          scan_.quote)));
        ++i;
        continue;
      }
      const bool in_memory = file.mapping != nullptr || file.bytes->resident();
      if (!in_memory && to_read > 0 && to_read + (end - begin) > kMost) break;
      Run run = {f, i, i + 1, begin, end, nullptr};
      for (; run.last < rows; ++run.last) {
        const int64_t next = records[order[run.last]];
        if (next >= begin_[f + 1]) break;
        const int64_t next_begin = index.begin(next + shift), next_end = index.end(next + shift);
        if (next_end - next_begin > kMostRecordBytes) break;
        if (next_begin > end + (in_memory ? 0 : kGap)) break;
        if (!in_memory && to_read + next_end - begin > kMost) break;
        end = next_end;
      }
      run.end = end;
      if (file.mapping != nullptr) {
        if (checked != &file) file.mapping->Check();
        checked = &file;
        run.data = file.mapping->data() + begin;
      } else if (in_memory) {
        run.data = reinterpret_cast<const char*>(
            file.bytes->Read(begin, end - begin, memory.bytes).data());
      } else {
        to_read += end - begin;
      }
      if (run.data != nullptr) {
        for (int64_t at = 0; at < std::min(end - begin, kPrefetch); at += kLine) {
          __builtin_prefetch(run.data + at);
        }
      }
      i = run.last;
      runs.push_back(run);
    }
    if (to_read > 0) {
      ReadContext::Stage stage(context, kRead, 0);
      if (memory.bytes.size() < static_cast<size_t>(to_read)) {
        memory.bytes.resize(static_cast<size_t>(to_read));
      }
      std::byte* to = memory.bytes.data();
      for (Run& run : runs) {
        if (run.data != nullptr) continue;
        files_[run.file].bytes->ReadInto(run.begin, {to, static_cast<size_t>(run.end - run.begin)});
        run.data = reinterpret_cast<const char*>(to);
        to += run.end - run.begin;
      }
    }
    for (const Run& run : runs) {
      const File& file = files_[run.file];
      RecordText text;
      text.file = run.file;
      text.resident = file.mapping == nullptr && file.bytes->resident();
      for (size_t k = run.first; k < run.last; ++k) {
        text.row = order[k];
        text.record = records[order[k]] - begin_[run.file];
        text.offset = file.index.begin(text.record + file.skip);
        const int64_t length = file.index.end(text.record + file.skip) - text.offset;
        text.text = {run.data + (text.offset - run.begin), static_cast<size_t>(length)};
        text.readable = run.data + (run.end - run.begin);
        total += length;
        if (!EndsLine(text.text.back(), scan_)) {
          tail.assign(text.text);
          tail += '\n';
          text.text = tail;
          text.readable = tail.data() + tail.size();
          text.resident = false;
        }
        use(text);
      }
    }
  }
  // For what transforms find bad.
  out.set_origin(
      [this, records = std::vector<int64_t>(records.begin(), records.end())](int64_t row) {
        const int64_t record = records[static_cast<size_t>(row)];
        const auto after = std::upper_bound(begin_.begin(), begin_.end(), record);
        const auto of = static_cast<size_t>(after - begin_.begin()) - 1;
        const int64_t number = record - begin_[of];
        return fmt::format("{}: record {}",
                           Where(of, files_[of].index.begin(number + files_[of].skip)), number);
      });
  // One large record is no reason to hold on to its memory.
  if (memory.bytes.size() > 4 * static_cast<size_t>(kMost))
    std::vector<std::byte>().swap(memory.bytes);
  return total;
}

std::string RecordFiles::Where(size_t file, int64_t offset) const {
  const File& f = files_[file];
  const int64_t step =
      std::min(offset, std::max<int64_t>(f.bytes->size() - 1, 0)) / RecordIndex::kLineStep;
  if (f.bytes->size() == 0) return f.bytes->path() + ":1:1";
  std::vector<std::byte> scratch;
  int64_t line = f.index.lines(step);
  int64_t line_begin = -1;
  char before = '\n';
  // Lines that begin in this step up to the place; then, for the column, back to where its line
  // begins, which may be steps earlier.
  for (int64_t k = step; k >= 0 && line_begin < 0; --k) {
    const int64_t begin = k * RecordIndex::kLineStep;
    const int64_t end =
        k == step ? std::min(offset + 1, f.bytes->size()) : begin + RecordIndex::kLineStep;
    const int64_t extra = begin > 0 ? 1 : 0;
    std::span<const std::byte> data = f.bytes->Read(begin - extra, end - begin + extra, scratch);
    const char* p = reinterpret_cast<const char*>(data.data());
    before = extra != 0 ? p[0] : '\n';
    for (int64_t i = extra; i < static_cast<int64_t>(data.size()); ++i) {
      const char c = p[i];
      if (before == '\n' || (scan_.lone_cr && before == '\r' && c != '\n')) {
        if (k == step) ++line;
        line_begin = begin - extra + i;
      }
      before = c;
    }
  }
  line_begin = std::max<int64_t>(line_begin, 0);
  int64_t column = 1;
  for (int64_t at = line_begin; at < offset;) {
    const int64_t count = std::min(offset - at, RecordIndex::kLineStep);
    for (const std::byte byte : f.bytes->Read(at, count, scratch)) {
      column += (static_cast<unsigned>(byte) & 0xc0) != 0x80;  // not within a character
    }
    at += count;
  }
  // A byte-order mark is no character.
  if (line_begin == 0 && offset >= 3) {
    std::span<const std::byte> head = f.bytes->Read(0, 3, scratch);
    if (head[0] == std::byte{0xef} && head[1] == std::byte{0xbb} && head[2] == std::byte{0xbf}) {
      --column;
    }
  }
  return fmt::format("{}:{}:{}", f.bytes->path(), line, column);
}

std::string ShowText(std::string_view text, size_t most) {
  std::string out = "\"";
  size_t i = 0;
  for (; i < text.size() && i < most; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else {
      out += text[i];
    }
  }
  // Not in the middle of a character.
  for (; i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80 && i < most + 3;
       ++i) {
    out += text[i];
  }
  if (i < text.size()) out += "...";
  return out + "\"";
}

}  // namespace flatout::data
