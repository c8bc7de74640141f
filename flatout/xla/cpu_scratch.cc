#include "flatout/xla/cpu_scratch.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flatout::xla {
namespace {

// What oneDNN's sgemm takes for itself on each thread that is in it (measured).
constexpr int64_t kGemmBytes = 74176;
// Eigen's memory comes in cache lines, with one more so that it can be aligned.
constexpr int64_t kLine = 64;
constexpr int64_t kFloat = 4;

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t a, int64_t b) { return CeilDivide(a, b) * b; }

// ---- products ----

// Eigen's kernel as the plugins are built, for any x86-64: packets of 4 floats, 8 x 4 results in
// registers. Sums are divided into multiples of kDepth.
constexpr int64_t kPacket = 4, kMr = 8, kNr = 4, kDepth = 8;

struct Blocks {
  int64_t k, m, n;
};

// Block sizes by the caches: a block of the right operand in the second level, one of the left in a
// thread's part of the third, and no more of k than hides the latency of results.
Blocks SharedCacheBlocks(int64_t k, int64_t m, int64_t n, int64_t threads, const CpuFacts& cpu) {
  constexpr int64_t kPanel = (kMr + kNr) * kFloat, kResults = kMr * kNr * kFloat, kMostK = 320;
  const int64_t most_k = std::max<int64_t>(8, std::min((cpu.l1 - kResults) / kPanel, kMostK));
  if (most_k < k) k = most_k - most_k % 8;
  const int64_t in_l2 = (cpu.l2 - cpu.l1) / (kNr * kFloat * k);
  const int64_t n_each = CeilDivide(n, threads);
  n = in_l2 <= n_each ? std::max(in_l2 - in_l2 % kNr, kNr) : std::min(n, RoundUp(n_each, kNr));
  if (cpu.l3 > cpu.l2) {
    const int64_t in_l3 = (cpu.l3 - cpu.l2) / (kFloat * k * threads);
    const int64_t m_each = CeilDivide(m, threads);
    m = in_l3 < m_each && in_l3 >= kMr ? in_l3 - in_l3 % kMr : std::min(m, RoundUp(m_each, kMr));
  }
  return {k, m, n};
}

// The same for one thread.
Blocks OwnCacheBlocks(int64_t k, int64_t m, int64_t n, const CpuFacts& cpu) {
  if (std::max({k, m, n}) < 48) return {k, m, n};
  constexpr int64_t kPanel = (kMr + kNr) * kFloat, kResults = kMr * kNr * kFloat;
  constexpr int64_t kCache = 1572864;  // Eigen's guess at one core's part of the last level
  // The last block is made as large as it can be with the same number of blocks.
  const auto even = [](int64_t size, int64_t block, int64_t unit, int64_t slack) {
    if (size % block == 0) return block;
    return block - unit * ((block - slack - size % block) / (unit * (size / block + 1)));
  };
  const int64_t most_k = std::max<int64_t>((cpu.l1 - kResults) / kPanel / 8 * 8, 1), whole_k = k;
  if (k > most_k) k = even(k, most_k, 8, 1);
  const int64_t left_in_l1 = cpu.l1 - kResults - m * k * kFloat;
  const int64_t most_n = left_in_l1 >= kNr * kFloat * k ? left_in_l1 / (k * kFloat)
                                                        : 3 * kCache / (4 * most_k * kFloat);
  const int64_t block_n = std::min(kCache / (2 * k * kFloat), most_n) / kNr * kNr;
  if (block_n > 0 && n > block_n) {
    n = even(n, block_n, kNr, 0);
  } else if (whole_k == k) {
    const int64_t right = k * n * kFloat;
    int64_t cache = kCache, most_m = m;
    if (right <= 1024) {
      cache = cpu.l1;
    } else if (right <= 32768) {
      cache = cpu.l2;
      most_m = std::min<int64_t>(576, most_m);
    }
    int64_t block_m = std::min(cache / (3 * k * kFloat), most_m);
    if (block_m > kMr) block_m -= block_m % kMr;
    if (block_m > 0) m = even(m, block_m, kMr, 0);
  }
  return {k, m, n};
}

// XLA's own touch: blocks as oneDNN's kernels like them, and k in nearly equal slices.
Blocks BlocksOf(int64_t k, int64_t m, int64_t n, int64_t threads, bool by_column,
                const CpuFacts& cpu) {
  Blocks blocks{};
  if (threads == 1) {
    blocks = OwnCacheBlocks(k, m, n, cpu);
  } else if (by_column) {
    blocks = SharedCacheBlocks(k, m, n, threads, cpu);
  } else {
    blocks = SharedCacheBlocks(k, n, m, threads, cpu);
    std::swap(blocks.m, blocks.n);
  }
  const int64_t slices = std::max<int64_t>(1, CeilDivide(k, blocks.k));
  return {std::min(k, RoundUp(k / slices, kDepth)), std::min(m, RoundUp(blocks.m * 3 / 2, 48)),
          std::min(n, RoundUp(blocks.n, 24))};
}

int64_t PackedBytes(int64_t rows, int64_t columns) {
  return RoundUp(rows * columns * kFloat, kLine);
}

// Whether threads divide the columns rather than the rows.
bool ByColumn(int64_t m, int64_t n, int64_t threads) {
  const int64_t rows = m / threads, columns = n / threads, unit = threads * kNr;
  if (rows >= kNr &&
      (columns < kNr || (columns < 4 * kNr && n % unit != 0 && (m % unit == 0 || m / n >= 6)))) {
    return false;
  }
  return !(columns < 16 * kNr && m > n * 32);
}

// Eigen's cycles for a multiplication and addition, without FMA, as the plugins are built.
double Bandwidth(bool by_column, int64_t m, int64_t n, int64_t k) {
  if (k == 1) return 4;
  return (by_column ? n : m) < kNr || (by_column ? m : n) < kMr ? 2 : 1;
}
constexpr double kCyclesPerByte = 11.0 / 64;  // of the second level's cache

struct Contraction {
  int64_t bytes = 0;
  bool parallel = false;
};

// What reading one element of the right operand costs Eigen: a load, or finding it in an image.
struct Reading {
  double bytes = kFloat, cycles = 0;
};
constexpr Reading kOfPatch = {.bytes = 0, .cycles = 86.0 / kPacket};

Contraction Contract(int64_t m, int64_t n, int64_t k, const CpuFacts& cpu, Reading right = {}) {
  if (m <= 0 || n <= 0 || k <= 0) return {};
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  const int64_t threads = std::max(cpu.threads, 1);

  // How many threads are worth it, first with blocks for two.
  bool by_column = ByColumn(m, n, 2);
  Blocks b = BlocksOf(k, m, n, 2, by_column, cpu);
  const auto per_result = [&](bool packed) {
    double cycles = real(b.k) * Bandwidth(false, b.m, b.n, b.k) / kPacket + kFloat * kCyclesPerByte;
    if (packed) return cycles;
    // Of the two operands, the one that threads do not share is read from memory.
    cycles += right.cycles * real(b.k) / real(m);
    return cycles + kCyclesPerByte * (by_column ? right.bytes * real(b.k) / real(m)
                                                : kFloat * real(b.k) / real(n));
  };
  const double cycles = per_result(false) * real(m) * real(n);
  int64_t used = std::clamp<int64_t>(
      static_cast<int64_t>(std::min((cycles - 1e5) / 1e5 + 0.9, 1e6)), 1, threads);

  // Or divide k, and add up the parts.
  const double of_all =
      real(k) * (Bandwidth(true, m, n, k) * real(m) * real(n) / kPacket + kFloat * kCyclesPerByte +
                 (right.cycles + right.bytes * kCyclesPerByte) * real(n));
  const double reduction = real(m) * real(n) * (3 * kCyclesPerByte + 1.0 / kPacket);
  int64_t parts = 1;
  double least = of_all;
  for (int64_t t = 2; t <= threads; t += 2) {
    const double cost = of_all / real(t) + 1e5 + real(t) * (reduction + 3000);
    if (cost < least) {
      parts = t;
      least = cost;
    }
  }
  const int64_t result_bytes = m * n * kFloat;
  if (n > 1 && parts >= 2 && parts >= used && result_bytes <= cpu.l3 / parts &&
      k / parts >= 2 * kNr &&
      (std::max(m, n) / used < kNr ||
       (k / parts > 8 * kNr && (std::min(m, n) < 2 * kNr || parts > used)))) {
    const int64_t part =
        std::min(k, std::max<int64_t>(12 * kPacket, RoundUp(CeilDivide(k, parts), kDepth)));
    const int64_t count = CeilDivide(k, part);
    const Blocks of_part = BlocksOf(part, m, n, count, true, cpu);
    const int64_t packed = PackedBytes(of_part.m, of_part.k) + PackedBytes(of_part.n, of_part.k);
    return {(count - 1) * (result_bytes + kLine) + std::min(count, threads) * (packed + kLine),
            true};
  }
  if (n == 1) return {};  // a vector is not packed
  if (used == 1) {
    b = BlocksOf(k, m, n, 1, true, cpu);
    return {PackedBytes(b.m, b.k) + PackedBytes(b.n, b.k) + kLine, false};
  }

  by_column = ByColumn(m, n, used);
  b = BlocksOf(k, m, n, used, by_column, cpu);
  const int64_t blocks_m = CeilDivide(m, b.m), blocks_n = CeilDivide(n, b.n),
                slices = CeilDivide(k, b.k);
  // Blocks that one task takes together, so that it is worth a task.
  int64_t grain_m = 1, grain_n = 1;
  const auto parallelism = [&](int64_t gm, int64_t gn) {
    const int64_t tasks = CeilDivide(blocks_m, gm) * CeilDivide(blocks_n, gn);
    return real(tasks) / real(RoundUp(tasks, used));
  };
  const auto coarsen = [&](bool rows) {
    const int64_t blocks = rows ? blocks_m : blocks_n;
    int64_t grain = 1, next = 1, count = blocks;
    while (true) {
      while (next <= blocks && count == CeilDivide(blocks, next)) ++next;
      if (next > blocks) return grain;
      const int64_t gm = rows ? next : grain_m, gn = rows ? grain_n : next;
      const double size = per_result(true) * real(b.m) * real(gm) * real(b.n) * real(gn) / 40000;
      if (size > 2) return grain;
      count = CeilDivide(blocks, next);
      const double now = parallelism(gm, gn);
      const double before = parallelism(rows ? grain : grain_m, rows ? grain_n : grain);
      if (size < 1 || now > before || now == 1) grain = next;
    }
  };
  if (by_column) {
    grain_m = coarsen(true);
    grain_n = coarsen(false);
  } else {
    grain_n = coarsen(false);
    grain_m = coarsen(true);
  }
  const int64_t left_block = PackedBytes(b.m, b.k), right_block = PackedBytes(b.n, b.k);
  // Two slices of k are under way at once.
  int64_t bytes =
      (blocks_m * left_block + blocks_n * right_block) * std::min<int64_t>(slices, 2) + kLine;
  // With tasks enough in one direction, threads keep blocks of their own besides.
  const int64_t tasks = by_column ? CeilDivide(blocks_n, grain_n) : CeilDivide(blocks_m, grain_m);
  const double enough = threads <= 4    ? 8
                        : threads <= 8  ? 4
                        : threads <= 16 ? 2
                        : threads <= 32 ? 1
                        : threads <= 64 ? 0.8
                                        : 0.6;
  if (real(tasks) >= enough * real(threads)) {
    bytes += threads * (by_column ? grain_n * right_block : grain_m * left_block) + kLine;
  }
  return {bytes, true};
}

// ---- the serialised program ----

// A protocol buffer's fields, read as they come. Bad bytes end it.
class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}
  bool good() const { return good_; }
  // The next field; false at the end.
  bool Next() {
    if (bytes_.empty() || !good_) return false;
    const uint64_t key = Varint();
    field = static_cast<int>(key >> 3);
    wire = static_cast<int>(key & 7);
    switch (wire) {
      case 0:
        number = static_cast<int64_t>(Varint());
        break;
      case 1:
        Skip(8);
        break;
      case 2:
        text = Take(Varint());
        break;
      case 5:
        Skip(4);
        break;
      default:
        good_ = false;
    }
    return good_;
  }
  int field = 0, wire = 0;
  int64_t number = 0;
  std::string_view text;

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    good_ = false;
    return 0;
  }
  std::string_view Take(uint64_t size) {
    if (size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  void Skip(uint64_t size) { Take(size); }

  std::string_view bytes_;
  bool good_ = true;
};

std::string_view Text(std::string_view message, int field) {
  std::string_view found;
  for (Message m(message); m.Next();) {
    if (m.field == field && m.wire == 2) found = m.text;
  }
  return found;
}
bool HasText(std::string_view message, int field) {
  for (Message m(message); m.Next();) {
    if (m.field == field && m.wire == 2) return true;
  }
  return false;
}
int64_t Number(std::string_view message, int field, int64_t otherwise = 0) {
  int64_t found = otherwise;
  for (Message m(message); m.Next();) {
    if (m.field == field && m.wire == 0) found = m.number;
  }
  return found;
}
std::vector<std::string_view> Texts(std::string_view message, int field) {
  std::vector<std::string_view> all;
  for (Message m(message); m.Next();) {
    if (m.field == field && m.wire == 2) all.push_back(m.text);
  }
  return all;
}
// Repeated integers, packed or not.
std::vector<int64_t> Numbers(std::string_view message, int field) {
  std::vector<int64_t> all;
  for (Message m(message); m.Next();) {
    if (m.field != field) continue;
    if (m.wire == 0) all.push_back(m.number);
    if (m.wire != 2) continue;
    // One field number before each makes them fields.
    for (std::string_view rest = m.text; !rest.empty();) {
      uint64_t value = 0;
      int shift = 0;
      bool more = true;
      while (more && !rest.empty() && shift < 64) {
        const auto byte = static_cast<uint8_t>(rest.front());
        rest.remove_prefix(1);
        value |= static_cast<uint64_t>(byte & 127) << shift;
        shift += 7;
        more = byte >= 128;
      }
      all.push_back(static_cast<int64_t>(value));
    }
  }
  return all;
}

struct Slice {
  int64_t allocation = 0, offset = 0, size = 0;
};
Slice ReadSlice(std::string_view slice) {
  return {Number(slice, 3), Number(slice, 1), Number(slice, 2)};
}

struct Array {
  std::vector<int64_t> dims, minor_to_major;
  Slice slice;
  int64_t size() const {
    int64_t product = 1;
    for (const int64_t dim : dims) product *= dim;
    return product;
  }
  // The dimension's extent; 1 for one that it has not.
  int64_t dim(int64_t i) const {
    return i >= 0 && i < static_cast<int64_t>(dims.size()) ? dims[static_cast<size_t>(i)] : 1;
  }
  int64_t product(const std::vector<int64_t>& which) const {
    int64_t all = 1;
    for (const int64_t i : which) all *= dim(i);
    return all;
  }
};
Array ReadArray(std::string_view shaped_slice) {
  const std::string_view shape = Text(shaped_slice, 1);
  Array array;
  array.dims = Numbers(shape, 3);
  array.minor_to_major = Numbers(Text(shape, 5), 1);
  array.slice = ReadSlice(Text(shaped_slice, 2));
  return array;
}

// One thing that XLA runs: what it reads and writes, what it allocates, how long it takes (in
// seconds on one core, very roughly: only the order of ends matters).
struct Piece {
  std::vector<Slice> reads, writes;
  int64_t bytes = 0;
  int64_t lingers = 0;    // of them, what is given back only after the next pieces are started
  bool gemm = false;      // oneDNN's kernel is in it
  bool parallel = false;  // runs on XLA's threads while others are started
  double work = 0;
};

struct Reader {
  const CpuFacts& cpu;
  int64_t pieces = 0;

  std::optional<int64_t> PeakOf(std::string_view sequence, std::vector<Slice>* reads,
                                std::vector<Slice>* writes);
  bool Read(std::string_view thunk, Piece& piece);
  void ReadDot(std::string_view dot, Piece& piece) const;
  void ReadConvolution(std::string_view convolution, Piece& piece) const;
  void ReadYnn(std::string_view fusion, Piece& piece) const;
};

// Fields of ThunkProto that say what a piece is.
enum Kind {
  kCall = 3,
  kConditional = 4,
  kSort = 5,
  kDot = 7,
  kWhile = 10,
  kKernel = 11,
  kCopy = 12,
  kCustomCall = 16,
  kConvolution = 17,
  kCollective = 18,
  kYnn = 21,
};

void Reader::ReadDot(std::string_view dot, Piece& piece) const {
  const std::string_view dimensions = Text(dot, 1);
  const Array left = ReadArray(Text(dot, 2)), right = ReadArray(Text(dot, 3)),
              out = ReadArray(Text(dot, 4));
  piece.reads = {left.slice, right.slice};
  piece.writes = {out.slice};
  const int64_t batch = std::max<int64_t>(left.product(Numbers(dimensions, 3)), 1);
  const int64_t k = std::max<int64_t>(left.product(Numbers(dimensions, 1)), 1);
  int64_t m = left.size() / batch / k, n = right.size() / batch / k;
  const std::vector<int64_t>& order = left.minor_to_major;
  const bool column_major = order.size() >= 2 && order[0] < order[1];
  if (!column_major) std::swap(m, n);
  const Contraction one = Contract(m, n, k, cpu);
  // All products of a batch are started at once; those of one thread run through one by one.
  piece.bytes = one.parallel ? batch * one.bytes : one.bytes;
  piece.parallel = one.parallel;
  piece.gemm = n > 1;
  piece.work = 2e-11 * static_cast<double>(batch * m) * static_cast<double>(n * k) + 1e-6;
}

void Reader::ReadConvolution(std::string_view convolution, Piece& piece) const {
  const std::string_view dimensions = Text(convolution, 1);
  const Array input = ReadArray(Text(convolution, 4)), kernel = ReadArray(Text(convolution, 5)),
              out = ReadArray(Text(convolution, 6));
  piece.reads = {input.slice, kernel.slice};
  piece.writes = {out.slice};
  const int64_t groups = std::max<int64_t>(Number(convolution, 3, 1), 1);
  const int64_t batch = input.dim(Number(dimensions, 7));
  const int64_t channels = kernel.dim(Number(dimensions, 3));
  const int64_t filters = kernel.dim(Number(dimensions, 4));
  const int64_t taps = kernel.product(Numbers(dimensions, 6));
  const int64_t in_places = input.product(Numbers(dimensions, 11));
  const int64_t out_places = out.product(Numbers(dimensions, 12));
  bool base_dilated = false, window_plain = true;
  for (const std::string_view window : Texts(Text(convolution, 2), 1)) {
    base_dilated = base_dilated || Number(window, 6, 1) > 1;
    window_plain = window_plain && Number(window, 5, 1) <= 1 && Number(window, 2, 1) <= 1;
  }
  piece.gemm = piece.parallel = true;
  piece.work = 3e-11 * static_cast<double>(batch * out_places * filters) *
               static_cast<double>(channels * taps);
  if (base_dilated && window_plain && groups == 1) {
    // A product into a matrix of all patches, which are then added to the result.
    // XLA goes on from within it, so that the matrix is still there when others are started.
    piece.lingers = batch * in_places * taps * filters * kFloat;
    piece.bytes = piece.lingers + Contract(taps * filters, batch * in_places, channels, cpu).bytes;
    return;
  }
  const Contraction one =
      Contract(filters / groups, batch * out_places, taps * channels, cpu, kOfPatch);
  piece.parallel = one.parallel || groups > 1;
  piece.bytes = groups * one.bytes;
  // A group's results are no matrix of their own in the output: they are made aside.
  if (groups > 1) {
    piece.bytes += groups * (batch * out_places * (filters / groups) * kFloat + kLine);
  }
}

// YNNPACK packs the right operand where it is larger than the first level's cache: the kernel of a
// convolution as a whole, of a product some columns on each thread.
void Reader::ReadYnn(std::string_view fusion, Piece& piece) const {
  constexpr int64_t kSmall = 64 << 10, kColumns = 64, kElements = 32 << 10, kOneThread = 300000,
                    kDeepest = 4096, kFewColumns = 16;
  std::vector<Array> operands;
  for (const std::string_view argument : Texts(fusion, 3)) {
    operands.push_back(ReadArray(argument));
    piece.reads.push_back(operands.back().slice);
  }
  Array out;
  for (const std::string_view result : Texts(fusion, 4)) {
    out = ReadArray(result);
    piece.writes.push_back(out.slice);
  }
  piece.parallel = true;
  piece.work = 1e-5;
  if (operands.size() != 2 || operands[0].dims.size() < 2 || operands[1].dims.size() < 2) return;
  const Array &left = operands[0], &right = operands[1];
  const size_t rank = out.dims.size();
  if (left.dims.size() != rank || right.dims.size() != rank || out.size() == 0) return;
  int64_t batch = 1;
  size_t same = 0;
  while (same + 2 < rank && left.dims[same] == right.dims[same] &&
         left.dims[same] == out.dims[same]) {
    batch *= left.dims[same++];
  }
  if (same + 2 == rank) {
    const double square = static_cast<double>(left.size()) * static_cast<double>(right.size()) /
                          static_cast<double>(out.size()) / static_cast<double>(batch);
    int64_t k = 1;
    while (static_cast<double>(k + 1) * static_cast<double>(k + 1) <= square + 0.5) ++k;
    const int64_t n = out.dims[rank - 1];
    piece.work += 2e-11 * static_cast<double>(out.size()) * static_cast<double>(k);
    if (k * n * kFloat <= kSmall) return;
    int64_t columns = kColumns;
    while (2 * columns * k <= kElements && 2 * columns <= n) columns *= 2;
    if (n < kColumns) {
      // Few columns: as a whole, or, with few rows, not at all.
      const bool few_rows = out.size() / batch / n < kNr;
      piece.bytes = n <= kFewColumns || !few_rows ? n * k * kFloat : 0;
      return;
    }
    // Large results, and long sums, are divided among threads.
    const int64_t used = out.size() / batch > kOneThread || k > 4 * kDeepest ? cpu.threads : 1;
    const int64_t deep = std::min(k, kDeepest);
    piece.bytes = std::min<int64_t>(used, CeilDivide(n, columns)) * columns * deep * kFloat;
    return;
  }
  if (rank != 4 || right.size() * kFloat <= kSmall) return;
  piece.work += 2e-11 * static_cast<double>(out.size()) *
                static_cast<double>(right.size() / std::max<int64_t>(right.dims[3], 1));
  piece.bytes = right.dims[0] * right.dims[1] * RoundUp(right.dims[2], 4) * right.dims[3] * kFloat;
}

bool Reader::Read(std::string_view thunk, Piece& piece) {
  ++pieces;
  const auto nested = [&](std::string_view sequence) {
    const std::optional<int64_t> peak = PeakOf(sequence, &piece.reads, &piece.writes);
    if (peak) piece.bytes = std::max(piece.bytes, *peak);
    piece.work = 1e-3;
    return peak.has_value();
  };
  const auto both = [&](const std::vector<std::string_view>& reads,
                        const std::vector<std::string_view>& writes) {
    for (const std::string_view array : reads) piece.reads.push_back(ReadArray(array).slice);
    for (const std::string_view array : writes) piece.writes.push_back(ReadArray(array).slice);
  };
  Message message(thunk);
  while (message.Next()) {
    if (message.field < 3 || message.wire != 2) continue;
    const std::string_view body = message.text;
    switch (message.field) {
      case kCall:
        if (!nested(Text(body, 1))) return false;
        break;
      case kConditional:
        for (const std::string_view branch : Texts(body, 1)) {
          if (!nested(branch)) return false;
        }
        piece.reads.push_back(ReadSlice(Text(body, 2)));
        break;
      case kWhile:
        if (!nested(Text(body, 1)) || !nested(Text(body, 2))) return false;
        break;
      case kDot:
        ReadDot(body, piece);
        break;
      case kConvolution:
        ReadConvolution(body, piece);
        break;
      case kYnn:
        ReadYnn(body, piece);
        break;
      case kKernel:
        // Older plugins write slices, newer ones slices with shapes.
        for (const int field : {5, 6}) {
          for (const std::string_view argument : Texts(body, field)) {
            const bool shaped = HasText(argument, 1) || HasText(argument, 2);
            (field == 5 ? piece.reads : piece.writes)
                .push_back(ReadSlice(shaped ? Text(argument, 1) : argument));
          }
        }
        break;
      case kCopy:
        piece.reads.push_back(ReadArray(Text(body, 1)).slice);
        piece.writes.push_back(ReadArray(Text(body, 2)).slice);
        break;
      case kSort:
        both(Texts(body, 5), Texts(body, 5));
        break;
      case kCustomCall:
        both(Texts(Text(body, 4), 1), Texts(Text(body, 4), 2));
        break;
      case kCollective:
        both(Texts(Text(body, 2), 1), Texts(Text(body, 2), 2));
        break;
      default:
        break;  // nothing of any size
    }
  }
  if (piece.work == 0) {
    int64_t bytes = 0;
    for (const Slice& slice : piece.reads) bytes += slice.size;
    for (const Slice& slice : piece.writes) bytes += slice.size;
    piece.work = static_cast<double>(bytes) / 4e9 + 3e-6;
  }
  return message.good();
}

// Runs the pieces of a sequence as XLA does: in order of the memory they share; what is ready is
// started, pieces on XLA's threads go on beside the others, and share the processors.
std::optional<int64_t> Reader::PeakOf(std::string_view sequence, std::vector<Slice>* reads,
                                      std::vector<Slice>* writes) {
  std::vector<Piece> all;
  for (const std::string_view thunk : Texts(sequence, 1)) {
    if (!Read(thunk, all.emplace_back())) return std::nullopt;
    if (reads != nullptr) {
      reads->insert(reads->end(), all.back().reads.begin(), all.back().reads.end());
      writes->insert(writes->end(), all.back().writes.begin(), all.back().writes.end());
    }
  }
  const size_t count = all.size();
  struct Use {
    size_t piece;
    bool write;
    int64_t begin, end;
  };
  std::map<int64_t, std::vector<Use>> uses;
  std::vector<std::vector<size_t>> followers(count);
  std::vector<int> waits(count, 0);
  bool chain = true, small = true;
  for (size_t i = 0; i < count; ++i) {
    std::vector<size_t> before;
    const auto look = [&](const std::vector<Slice>& slices, bool write) {
      for (const Slice& slice : slices) {
        small = small && slice.size <= 512;
        for (const Use& use : uses[slice.allocation]) {
          if (use.piece != i && (write || use.write) && use.begin < slice.offset + slice.size &&
              slice.offset < use.end) {
            before.push_back(use.piece);
          }
        }
      }
    };
    const auto note = [&](const std::vector<Slice>& slices, bool write) {
      for (const Slice& slice : slices) {
        uses[slice.allocation].push_back({i, write, slice.offset, slice.offset + slice.size});
      }
    };
    look(all[i].reads, false);
    look(all[i].writes, true);
    note(all[i].reads, false);
    note(all[i].writes, true);
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const size_t j : before) followers[j].push_back(i);
    waits[i] = static_cast<int>(before.size());
    chain = chain && (i == 0 || (!before.empty() && before.back() == i - 1));
  }
  const int64_t threads = std::max(cpu.threads, 1);
  const auto gemms = [&](const Piece& piece) {
    return !piece.gemm ? int64_t{0} : piece.parallel ? threads : int64_t{1};
  };
  int64_t peak = 0;
  // XLA runs short and simple sequences one by one.
  if (chain || small || count <= 8) {
    for (const Piece& piece : all) {
      peak = std::max(peak, piece.bytes + gemms(piece) * kGemmBytes);
    }
    return peak;
  }
  std::vector<size_t> ready, active;
  std::vector<double> left(count);
  for (size_t i = 0; i < count; ++i) {
    left[i] = all[i].work;
    if (waits[i] == 0) ready.push_back(i);
  }
  constexpr size_t kNone = static_cast<size_t>(-1);
  int64_t lingering = 0;
  size_t here = kNone, next = 0;  // the piece that runs where others are started from
  while (true) {
    while (here == kNone && next < ready.size()) {
      const size_t i = ready[next++];
      if (all[i].parallel) {
        active.push_back(i);
      } else {
        here = i;
      }
    }
    if (here == kNone && active.empty()) break;
    int64_t now = lingering, in_gemm = 0;
    double until = here == kNone ? 1e300 : left[here];
    const double cores =
        static_cast<double>(here == kNone ? threads : std::max<int64_t>(threads - 1, 1));
    const double share = active.empty() ? 0 : cores / static_cast<double>(active.size());
    for (const size_t i : active) {
      now += all[i].bytes;
      in_gemm += gemms(all[i]);
      until = std::min(until, left[i] / share);
    }
    if (here != kNone) {
      now += all[here].bytes;
      in_gemm += gemms(all[here]);
    }
    peak = std::max(peak, now + std::min(in_gemm, threads) * kGemmBytes);
    if (here == kNone) lingering = 0;
    std::vector<size_t> ended, still;
    for (const size_t i : active) {
      left[i] -= share * until;
      (left[i] <= 1e-12 ? ended : still).push_back(i);
    }
    active = std::move(still);
    if (here != kNone && (left[here] -= until) <= 1e-12) {
      ended.push_back(here);
      here = kNone;
    }
    for (const size_t i : ended) {
      lingering += all[i].lingers;
      for (const size_t follower : followers[i]) {
        if (--waits[follower] == 0) ready.push_back(follower);
      }
    }
  }
  return peak;
}

int64_t CacheSize(int name, int64_t otherwise) {
  const long size = sysconf(name);
  return size > 0 ? size : otherwise;
}

}  // namespace

CpuFacts CpuFacts::Here() {
  CpuFacts facts;
  facts.l1 = CacheSize(_SC_LEVEL1_DCACHE_SIZE, facts.l1);
  facts.l2 = CacheSize(_SC_LEVEL2_CACHE_SIZE, facts.l2);
  facts.l3 = CacheSize(_SC_LEVEL3_CACHE_SIZE, facts.l3);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) facts.threads = std::max(CPU_COUNT(&set), 1);
  return facts;
}

int64_t ContractionScratch(int64_t m, int64_t n, int64_t k, const CpuFacts& cpu) {
  return Contract(m, n, k, cpu).bytes;
}

std::optional<int64_t> CpuScratch(std::string_view program, const CpuFacts& cpu) {
  // ExecutableAndOptionsProto.serialized_executable, and in it CompilationResultProto's thunks.
  const std::string_view sequence = Text(Text(program, 1), 6);
  if (sequence.empty()) return std::nullopt;
  Reader reader{cpu};
  const std::optional<int64_t> peak = reader.PeakOf(sequence, nullptr, nullptr);
  if (!peak || reader.pieces == 0) return std::nullopt;
  // XLA counts down what each piece waits for in a record of its own.
  return *peak + kLine * reader.pieces;
}

}  // namespace flatout::xla
