// Loops of our own as kernels: rows divided into pieces, pieces among the library's threads, sums
// over rows put together in the pieces' order. Pieces depend on sizes only, so results are the same
// for any number of threads.
#include <algorithm>
#include <cmath>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/kernels/loops.h"
#include "flatout/kernels/onednn.h"
#include "flatout/kernels/spec.h"

namespace flatout::kernels {
namespace {

using Arguments = std::span<void* const>;

float* Floats(void* data) { return static_cast<float*>(data); }

class LoopKernel : public Kernel {
 public:
  explicit LoopKernel(const LoopSpec& spec)
      : spec_(spec), loops_(LoopsFor(OneDnn::Get()->isa)), piece_(PieceRows(spec)) {
    implementation = "own loop";
    const int64_t size = spec.rows * spec.columns, rows = spec.rows, columns = spec.columns;
    switch (spec.loop) {
      case Loop::kCrossEntropy:  // logits, index -> loss, shift, sum
        operand_sizes = {size, rows};
        result_sizes = {rows, rows, rows};
        break;
      case Loop::kCrossEntropyGradient:  // logits, index, shift, sum, by -> dx
        operand_sizes = {size, rows, rows, rows, rows};
        result_sizes = {size};
        break;
      case Loop::kSoftmax:  // x -> y
      case Loop::kGelu:
        operand_sizes = {size};
        result_sizes = {size};
        break;
      case Loop::kSoftmaxGradient:  // y, dy -> dx
      case Loop::kGeluGradient:     // x, dy -> dx
        operand_sizes = {size, size};
        result_sizes = {size};
        break;
      case Loop::kLayerNorm:  // x, gamma, beta -> y, mean, deviation
        operand_sizes = {size, columns, columns};
        result_sizes = {size, rows, rows};
        break;
      case Loop::kLayerNormGradient:  // x, gamma, mean, deviation, dy -> dx, by gamma, by beta
        operand_sizes = {size, columns, rows, rows, size};
        result_sizes = {size, columns, columns};
        scratch_bytes = Pieces() * 2 * columns * sizeof(float);
        break;
      case Loop::kBatchNorm:  // x, gamma, beta, weight, count, (residual) -> y, mean, variance
        operand_sizes = {size, columns, columns, rows / spec.cells, 1};
        if (spec.residual) operand_sizes.push_back(size);
        result_sizes = {size, columns, columns};
        // Partial sums, then the factor.
        scratch_bytes = (Pieces() * 2 + 1) * columns * sizeof(float);
        break;
      case Loop::kBatchNormGradient:
        // x, gamma, weight, count, mean, variance, dy, (result) -> dx, by gamma, by beta
        operand_sizes = {size, columns, rows / spec.cells, 1, columns, columns, size};
        if (spec.relu) operand_sizes.push_back(size);
        result_sizes = {size, columns, columns};
        // Partial sums; deviation and factor; two more factors for each piece.
        scratch_bytes = (Pieces() * 4 + 2) * columns * sizeof(float);
        break;
      case Loop::kColumnSums:  // x -> sums
        operand_sizes = {size};
        result_sizes = {columns};
        scratch_bytes = Pieces() * columns * sizeof(float);
        break;
    }
  }

  void Run(Arguments in, Arguments out, char* scratch) override {
    float* const partial = reinterpret_cast<float*>(scratch);
    const auto x = [&](void* data) { return Array{data, spec_.x == ir::DType::kBF16}; };
    const auto y = [&](void* data) { return Array{data, spec_.y == ir::DType::kBF16}; };
    const int64_t columns = spec_.columns;
    switch (spec_.loop) {
      case Loop::kCrossEntropy:
        return OverRows([&](int64_t, int64_t begin, int64_t end) {
          loops_.cross_entropy(x(in[0]), static_cast<const int32_t*>(in[1]), Floats(out[0]),
                               Floats(out[1]), Floats(out[2]), columns, begin, end);
        });
      case Loop::kCrossEntropyGradient:
        return OverRows([&](int64_t, int64_t begin, int64_t end) {
          loops_.cross_entropy_gradient(x(in[0]), static_cast<const int32_t*>(in[1]), Floats(in[2]),
                                        Floats(in[3]), Floats(in[4]), x(out[0]), columns, begin,
                                        end);
        });
      case Loop::kSoftmax:
        return OverRows([&](int64_t, int64_t begin, int64_t end) {
          loops_.softmax(Floats(in[0]), y(out[0]), columns, spec_.causal_rows, begin, end);
        });
      case Loop::kSoftmaxGradient:
        return OverRows([&](int64_t, int64_t begin, int64_t end) {
          loops_.softmax_gradient(y(in[0]), y(in[1]), x(out[0]), columns, begin, end);
        });
      case Loop::kLayerNorm:
        return OverRows([&](int64_t, int64_t begin, int64_t end) {
          loops_.layer_norm(x(in[0]), Floats(in[1]), Floats(in[2]),
                            static_cast<float>(spec_.epsilon), y(out[0]), Floats(out[1]),
                            Floats(out[2]), columns, begin, end);
        });
      case Loop::kLayerNormGradient:
        OverRows([&](int64_t piece, int64_t begin, int64_t end) {
          loops_.layer_norm_gradient(x(in[0]), Floats(in[1]), Floats(in[2]), Floats(in[3]),
                                     y(in[4]), x(out[0]), partial + piece * 2 * columns, columns,
                                     begin, end);
        });
        return Add(partial, {Floats(out[1]), Floats(out[2])});
      case Loop::kGelu:
        return OverRows([&](int64_t, int64_t begin, int64_t end) {
          loops_.gelu(x(in[0]), x(out[0]), begin * columns, end * columns);
        });
      case Loop::kGeluGradient:
        return OverRows([&](int64_t, int64_t begin, int64_t end) {
          loops_.gelu_gradient(x(in[0]), x(in[1]), x(out[0]), begin * columns, end * columns);
        });
      case Loop::kBatchNorm:
        return BatchNorm(in, out, partial);
      case Loop::kBatchNormGradient:
        return BatchNormGradient(in, out, partial);
      case Loop::kColumnSums:
        OverRows([&](int64_t piece, int64_t begin, int64_t end) {
          loops_.column_sums(x(in[0]), partial + piece * columns, columns, begin, end);
        });
        return Add(partial, {Floats(out[0])});
    }
  }

 private:
  // As many rows as the caches next to a core hold; of one weight each where rows have weights.
  static int64_t PieceRows(const LoopSpec& spec) {
    constexpr int64_t kElements = 16384;
    int64_t rows = std::max<int64_t>(1, kElements / std::max<int64_t>(1, spec.columns));
    // Few partial sums, which have to be added up.
    if (spec.loop == Loop::kLayerNormGradient || spec.loop == Loop::kColumnSums) {
      rows = std::max<int64_t>(rows, spec.rows / 32 + 1);
    }
    if (!HasWeights(spec)) return std::min(rows, spec.rows);
    const int64_t parts = (spec.cells + rows - 1) / rows;
    return (spec.cells + parts - 1) / parts;
  }
  static bool HasWeights(const LoopSpec& spec) {
    return spec.loop == Loop::kBatchNorm || spec.loop == Loop::kBatchNormGradient;
  }
  int64_t PiecesPerWeight() const {
    const int64_t rows = HasWeights(spec_) ? spec_.cells : spec_.rows;
    return (rows + piece_ - 1) / piece_;
  }
  int64_t Pieces() const {
    return PiecesPerWeight() * (HasWeights(spec_) ? spec_.rows / spec_.cells : 1);
  }
  std::pair<int64_t, int64_t> RowsOf(int64_t piece) const {
    const int64_t group = HasWeights(spec_) ? spec_.cells : spec_.rows;
    const int64_t first = piece / PiecesPerWeight() * group;
    const int64_t begin = first + piece % PiecesPerWeight() * piece_;
    return {begin, std::min(begin + piece_, first + group)};
  }

  // body(piece, begin, end).
  template <typename Body>
  void OverRows(const Body& body) const {
    const auto one = [&](int64_t piece) {
      const auto [begin, end] = RowsOf(piece);
      body(piece, begin, end);
    };
    // Where waking a thread costs more than it saves.
    constexpr int64_t kAlone = 1 << 14;
    if (spec_.rows * spec_.columns <= kAlone) {
      for (int64_t piece = 0; piece < Pieces(); ++piece) one(piece);
    } else {
      ForEach(Pieces(), one);
    }
  }

  // Sums of the pieces' partial sums, one list of columns after the other in each.
  void Add(const float* partial, std::vector<float*> results) const {
    const int64_t columns = spec_.columns, count = static_cast<int64_t>(results.size());
    for (int64_t k = 0; k < count; ++k) {
      std::fill_n(results[k], columns, 0.0F);
      for (int64_t piece = 0; piece < Pieces(); ++piece) {
        const float* const from = partial + (piece * count + k) * columns;
        for (int64_t i = 0; i < columns; ++i) results[k][i] += from[i];
      }
    }
  }

  float WeightOf(const float* weights, int64_t piece) const {
    return weights[piece / PiecesPerWeight()];
  }

  void BatchNorm(Arguments in, Arguments out, float* partial) const {
    const int64_t columns = spec_.columns;
    const Array x{in[0], spec_.x == ir::DType::kBF16}, y{out[0], spec_.y == ir::DType::kBF16};
    const float *gamma = Floats(in[1]), *beta = Floats(in[2]), *weights = Floats(in[3]);
    const double count = *Floats(in[4]);
    float *mean = Floats(out[1]), *variance = Floats(out[2]);
    OverRows([&](int64_t piece, int64_t begin, int64_t end) {
      loops_.moments(x, partial + piece * 2 * columns, columns, begin, end);
    });
    // Chan, Golub and LeVeque 1979: moments of parts to moments of the whole.
    float* const factor = partial + Pieces() * 2 * columns;
    for (int64_t i = 0; i < columns; ++i) {
      double sum = 0;
      for (int64_t piece = 0; piece < Pieces(); ++piece) {
        const auto [begin, end] = RowsOf(piece);
        sum += static_cast<double>(WeightOf(weights, piece)) * static_cast<double>(end - begin) *
               partial[piece * 2 * columns + i];
      }
      const double m = sum / count;
      double squares = 0;
      for (int64_t piece = 0; piece < Pieces(); ++piece) {
        const auto [begin, end] = RowsOf(piece);
        const double off = partial[piece * 2 * columns + i] - m;
        squares +=
            static_cast<double>(WeightOf(weights, piece)) *
            (partial[(piece * 2 + 1) * columns + i] + static_cast<double>(end - begin) * off * off);
      }
      mean[i] = static_cast<float>(m);
      variance[i] = static_cast<float>(squares / count);
      factor[i] = gamma[i] / std::sqrt(variance[i] + static_cast<float>(spec_.epsilon));
    }
    const Array residual{spec_.residual ? in[5] : nullptr, y.narrow};
    OverRows([&](int64_t, int64_t begin, int64_t end) {
      loops_.scale(x, mean, factor, beta, spec_.residual ? &residual : nullptr, spec_.relu, y,
                   columns, begin, end);
    });
  }

  void BatchNormGradient(Arguments in, Arguments out, float* partial) const {
    const int64_t columns = spec_.columns;
    const Array x{in[0], spec_.x == ir::DType::kBF16}, dx{out[0], x.narrow};
    const Array dy{in[6], spec_.y == ir::DType::kBF16};
    const Array result{spec_.relu ? in[7] : nullptr, dy.narrow};
    const Array* const counted = spec_.relu ? &result : nullptr;
    const float *gamma = Floats(in[1]), *weights = Floats(in[2]), count = *Floats(in[3]);
    const float *mean = Floats(in[4]), *variance = Floats(in[5]);
    float *by_gamma = Floats(out[1]), *by_beta = Floats(out[2]);
    float* const deviation = partial + Pieces() * 2 * columns;
    float* const factor = deviation + columns;
    float* const more = factor + columns;
    for (int64_t i = 0; i < columns; ++i) {
      deviation[i] = 1.0F / std::sqrt(variance[i] + static_cast<float>(spec_.epsilon));
      factor[i] = gamma[i] * deviation[i];
    }
    OverRows([&](int64_t piece, int64_t begin, int64_t end) {
      loops_.channel_sums(x, dy, counted, mean, deviation, partial + piece * 2 * columns, columns,
                          begin, end);
    });
    Add(partial, {by_gamma, by_beta});
    OverRows([&](int64_t piece, int64_t begin, int64_t end) {
      float* const a = more + piece * 2 * columns;
      float* const b = a + columns;
      const float share = -WeightOf(weights, piece) / count;
      for (int64_t i = 0; i < columns; ++i) {
        a[i] = share * factor[i] * deviation[i] * by_gamma[i];
        b[i] = share * factor[i] * by_beta[i];
      }
      loops_.channel_gradient(x, dy, counted, mean, factor, a, b, dx, columns, begin, end);
    });
  }

  LoopSpec spec_;
  const Loops& loops_;
  int64_t piece_;  // rows of one
};

}  // namespace

const Loops& LoopsFor(std::string_view isa) {
#if defined(__x86_64__)
  // The library's limit may be above what the processor has only in name; both must allow it.
  if (isa.starts_with("avx512") && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return kLoopsAvx512;
  }
  if ((isa.starts_with("avx2") || isa.starts_with("avx512")) && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma")) {
    return kLoopsAvx2;
  }
#endif
  return kLoopsBase;
}

std::unique_ptr<Kernel> MakeLoop(const LoopSpec& spec, std::string* why_not) {
  for (const ir::DType dtype : {spec.x, spec.y}) {
    if (dtype != ir::DType::kF32 && dtype != ir::DType::kBF16) {
      *why_not = fmt::format("there are no loops for {}", ir::Name(dtype));
      return nullptr;
    }
  }
  constexpr int64_t kLongestSoftmax = 4096;
  if (spec.loop == Loop::kSoftmax && spec.columns > kLongestSoftmax) {
    *why_not = fmt::format("rows of {} are too long (to {})", spec.columns, kLongestSoftmax);
    return nullptr;
  }
  return std::make_unique<LoopKernel>(spec);
}

}  // namespace flatout::kernels
