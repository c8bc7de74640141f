#include "flatout/kernels/spec.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "flatout/base/error.h"
#include "flatout/kernels/onednn.h"

namespace flatout::kernels {
namespace {

struct Writer {
  std::vector<int64_t> numbers;
  template <typename T>
  void operator()(const T& value) {
    if constexpr (std::is_same_v<T, Dims>) {
      numbers.push_back(static_cast<int64_t>(value.size()));
      numbers.insert(numbers.end(), value.begin(), value.end());
    } else if constexpr (std::is_same_v<T, double>) {
      numbers.push_back(std::bit_cast<int64_t>(value));
    } else {
      numbers.push_back(static_cast<int64_t>(value));
    }
  }
};

struct Reader {
  std::span<const int64_t> numbers;
  int64_t Next() {
    if (numbers.empty()) throw Internal("a kernel's numbers end too early");
    const int64_t next = numbers.front();
    numbers = numbers.subspan(1);
    return next;
  }
  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, Dims>) {
      const int64_t size = Next();
      if (size < 0 || size > static_cast<int64_t>(numbers.size())) {
        throw Internal("a kernel's numbers hold a list of {}", size);
      }
      value.clear();
      for (int64_t i = 0; i < size; ++i) value.push_back(Next());
    } else if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(Next());
    } else {
      value = static_cast<T>(Next());
    }
  }
};

int64_t Product(const Dims& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

class PlanKernel : public Kernel {
 public:
  explicit PlanKernel(Plan plan) : plan_(std::move(plan)) {
    scratch_bytes = plan_.scratch_bytes();
    implementation = plan_.implementation();
  }
  void Run(std::span<void* const> operands, std::span<void* const> results,
           char* scratch) override {
    plan_.Run(operands, results, scratch);
  }

 private:
  Plan plan_;
};

// What the library takes for lack of anything made for this processor; slower than XLA.
bool IsReference(const std::string& implementation) {
  return implementation.find("ref") != std::string::npos;
}

// Whether a primitive came of it that is worth having.
bool Usable(dnnl_status_t status, const PrimitiveDesc& desc, std::string* why_not) {
  if (status != dnnl_success) {
    *why_not = fmt::format("oneDNN has no kernel for it (status {})", static_cast<int>(status));
    return false;
  }
  const std::string implementation = ImplementationOf(desc);
  if (!IsReference(implementation)) return true;
  *why_not = fmt::format("oneDNN has only its reference ({})", implementation);
  return false;
}

}  // namespace

template <typename Spec>
std::vector<int64_t> Encode(Spec spec) {
  Writer writer;
  spec.Visit(writer);
  return std::move(writer.numbers);
}
template std::vector<int64_t> Encode(MatmulSpec);
template std::vector<int64_t> Encode(ConvolutionSpec);
template std::vector<int64_t> Encode(LoopSpec);

template <typename Spec>
Spec Decode(std::span<const int64_t> numbers) {
  Reader reader{numbers};
  Spec spec;
  spec.Visit(reader);
  if (!reader.numbers.empty())
    throw Internal("a kernel has {} numbers too many", reader.numbers.size());
  return spec;
}
template MatmulSpec Decode(std::span<const int64_t>);
template ConvolutionSpec Decode(std::span<const int64_t>);
template LoopSpec Decode(std::span<const int64_t>);

std::unique_ptr<Kernel> MakeMatmul(const MatmulSpec& spec, std::string* why_not) {
  const OneDnn& library = *OneDnn::Get();
  const auto with = [&](int64_t rows, int64_t columns) {
    Dims dims = spec.batch;
    dims.push_back(rows);
    dims.push_back(columns);
    return dims;
  };
  const MemoryDesc a = Strided(spec.in, with(spec.m, spec.k), spec.a_strides);
  const MemoryDesc b = Strided(spec.in, with(spec.k, spec.n), spec.b_strides);
  const MemoryDesc c = Strided(spec.out, with(spec.m, spec.n), spec.c_strides);
  MemoryDesc bias;
  if (spec.bias) {
    Dims dims(spec.batch.size() + 2, 1), strides(dims.size(), spec.n);
    dims.back() = spec.n;
    strides.back() = 1;
    bias = Strided(spec.out, dims, strides);
  }
  const PrimitiveAttr attr = Attr(spec.relu);
  PrimitiveDesc desc;
  const dnnl_status_t status = library.matmul_primitive_desc_create(
      desc.put(), library.engine, a.get(), b.get(), bias.get(), c.get(), attr.get());
  if (!Usable(status, desc, why_not)) return nullptr;
  Plan plan;
  std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, plan.At(Plan::Place::kOperand, 0, a)},
                                           {DNNL_ARG_WEIGHTS, plan.At(Plan::Place::kOperand, 1, b)},
                                           {DNNL_ARG_DST, plan.At(Plan::Place::kResult, 0, c)}};
  if (spec.bias) args.emplace_back(DNNL_ARG_BIAS, plan.At(Plan::Place::kOperand, 2, bias));
  plan.Add(desc, args);
  auto kernel = std::make_unique<PlanKernel>(std::move(plan));
  const int64_t batch = Product(spec.batch);
  kernel->operand_sizes = {batch * spec.m * spec.k, batch * spec.k * spec.n};
  if (spec.bias) kernel->operand_sizes.push_back(spec.n);
  kernel->result_sizes = {batch * spec.m * spec.n};
  return kernel;
}

namespace {

// Strides of [batch, channels, spatial...] where channels lie last.
Dims ChannelsLast(int64_t channels, const Dims& size) {
  Dims strides(size.size() + 2);
  strides[1] = 1;
  int64_t step = channels;
  for (size_t i = size.size(); i-- > 0;) {
    strides[i + 2] = step;
    step *= size[i];
  }
  strides[0] = step;
  return strides;
}

Dims Joined(Dims first, const Dims& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

}  // namespace

namespace {

// A gradient by weights as the sum of those of equal parts of the batch, each by one thread. The
// library's own bfloat16 kernel of several threads has them wait for each other in a loop that does
// nothing else: where other processes use the cores, too, that takes tens of times as long.
class ByWeightsInParts : public Kernel {
 public:
  ByWeightsInParts(std::vector<std::unique_ptr<Kernel>> parts, ir::DType in, ir::DType out)
      : parts_(std::move(parts)), in_bytes_(ir::ByteSize(in)), out_(out) {
    const auto count = static_cast<int64_t>(parts_.size());
    implementation = parts_[0]->implementation;
    operand_sizes = parts_[0]->operand_sizes;
    for (int64_t& size : operand_sizes) size *= count;
    result_sizes = parts_[0]->result_sizes;
    part_scratch_ = Aligned(parts_[0]->scratch_bytes);
    part_result_ = Aligned(result_sizes[0] * ir::ByteSize(ir::DType::kF32));
    scratch_bytes = count * (part_scratch_ + part_result_);
  }

  void Run(std::span<void* const> operands, std::span<void* const> results,
           char* scratch) override {
    const auto count = static_cast<int64_t>(parts_.size());
    char* const sums = scratch + count * part_scratch_;
    ForEach(count, [&](int64_t i) {
      void* mine[2];
      for (size_t k = 0; k < 2; ++k) {
        mine[k] = static_cast<char*>(operands[k]) + i * parts_[i]->operand_sizes[k] * in_bytes_;
      }
      void* const result[] = {sums + i * part_result_};
      parts_[i]->Run(mine, result, scratch + i * part_scratch_);
    });
    constexpr int64_t kPiece = 1 << 14;
    const int64_t size = result_sizes[0];
    ForEach((size + kPiece - 1) / kPiece, [&](int64_t piece) {
      const int64_t begin = piece * kPiece, end = std::min(size, begin + kPiece);
      float* const sum = reinterpret_cast<float*>(sums);
      for (int64_t k = 1; k < count; ++k) {
        const float* const part = reinterpret_cast<const float*>(sums + k * part_result_);
        for (int64_t i = begin; i < end; ++i) sum[i] += part[i];
      }
      if (out_ == ir::DType::kF32) {
        std::copy(sum + begin, sum + end, static_cast<float*>(results[0]) + begin);
        return;
      }
      auto* const to = static_cast<uint16_t*>(results[0]);
      for (int64_t i = begin; i < end; ++i) to[i] = Narrowed(sum[i]);
    });
  }

 private:
  static int64_t Aligned(int64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
  // bf16 nearest to x, ties to even; what is not a number stays so.
  static uint16_t Narrowed(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    return static_cast<uint16_t>(x == x ? rounded : (bits >> 16) | 0x40U);
  }

  std::vector<std::unique_ptr<Kernel>> parts_;
  int64_t in_bytes_, part_scratch_ = 0, part_result_ = 0;
  ir::DType out_;
};

std::unique_ptr<Kernel> MakeWholeConvolution(const ConvolutionSpec& spec, std::string* why_not);

// nullptr where parts are not what is wanted.
std::unique_ptr<Kernel> MakeByWeightsInParts(const ConvolutionSpec& spec, std::string* why_not) {
  const OneDnn& library = *OneDnn::Get();
  // More parts than that would take more memory and time to add up than waiting does.
  constexpr int kMostParts = 8;
  const int parts = library.threads;
  if (spec.direction != ConvolutionSpec::Direction::kByWeights || spec.in != ir::DType::kBF16 ||
      parts < 2 || parts > kMostParts || spec.batch % parts != 0) {
    return nullptr;
  }
  ConvolutionSpec part = spec;
  part.batch /= parts;
  part.out = ir::DType::kF32;
  std::vector<std::unique_ptr<Kernel>> kernels;
  // A kernel is made for as many threads as there are when it is made.
  library.set_threads(1);
  for (int i = 0; i < parts; ++i) {
    kernels.push_back(MakeWholeConvolution(part, why_not));
    if (kernels.back() == nullptr) break;
  }
  library.set_threads(library.threads);
  if (kernels.back() == nullptr) return nullptr;
  return std::make_unique<ByWeightsInParts>(std::move(kernels), spec.in, spec.out);
}

}  // namespace

std::unique_ptr<Kernel> MakeConvolution(const ConvolutionSpec& spec, std::string* why_not) {
  if (std::unique_ptr<Kernel> kernel = MakeByWeightsInParts(spec, why_not)) return kernel;
  return MakeWholeConvolution(spec, why_not);
}

namespace {

std::unique_ptr<Kernel> MakeWholeConvolution(const ConvolutionSpec& spec, std::string* why_not) {
  using Direction = ConvolutionSpec::Direction;
  const OneDnn& library = *OneDnn::Get();
  const bool by_weights = spec.direction == Direction::kByWeights;
  const bool by_data = spec.direction == Direction::kByData;
  const ir::DType x_type = by_data ? spec.out : spec.in;
  const ir::DType y_type = spec.direction == Direction::kForward ? spec.out : spec.in;
  const ir::DType w_type = by_weights ? spec.out : spec.in;
  const MemoryDesc x = Strided(x_type, Joined({spec.batch, spec.in_channels}, spec.in_size),
                               ChannelsLast(spec.in_channels, spec.in_size));
  const MemoryDesc y = Strided(y_type, Joined({spec.batch, spec.out_channels}, spec.out_size),
                               ChannelsLast(spec.out_channels, spec.out_size));
  // Kernels of several groups have the group as a dimension of its own.
  const int64_t out = spec.out_channels / spec.groups, in = spec.in_channels / spec.groups;
  Dims w_dims = {out, in}, w_strides = {spec.kernel_out_stride, spec.kernel_in_stride};
  if (spec.groups > 1) {
    w_dims.insert(w_dims.begin(), spec.groups);
    // Forward and by weights the groups divide the kernel's output channels; by data (where the
    // pass hands over the kernel with the roles of both exchanged) its input channels.
    w_strides.insert(w_strides.begin(),
                     by_data ? in * spec.kernel_in_stride : out * spec.kernel_out_stride);
  }
  const MemoryDesc w =
      Strided(w_type, Joined(w_dims, spec.kernel), Joined(w_strides, spec.kernel_strides));
  const MemoryDesc any = AnyLayout(w_type, Joined(w_dims, spec.kernel));
  MemoryDesc bias;
  if (spec.bias) bias = Strided(spec.out, {spec.out_channels}, {1});
  Dims dilation = spec.dilation;
  for (int64_t& step : dilation) --step;  // the library counts what is left out

  const PrimitiveAttr attr = Attr(spec.relu);
  PrimitiveDesc forward, desc;
  const auto algorithm = dnnl_convolution_direct;
  if (spec.direction == Direction::kForward) {
    const dnnl_status_t status = library.convolution_forward_primitive_desc_create(
        desc.put(), library.engine, dnnl_forward_training, algorithm, x.get(), any.get(),
        bias.get(), y.get(), spec.strides.data(), dilation.data(), spec.pad_low.data(),
        spec.pad_high.data(), attr.get());
    if (!Usable(status, desc, why_not)) return nullptr;
  } else {
    // The gradients want the forward primitive as a hint. Its types are all the operands'.
    const MemoryDesc hint_x = Strided(spec.in, Joined({spec.batch, spec.in_channels}, spec.in_size),
                                      ChannelsLast(spec.in_channels, spec.in_size));
    const MemoryDesc hint_y =
        Strided(spec.in, Joined({spec.batch, spec.out_channels}, spec.out_size),
                ChannelsLast(spec.out_channels, spec.out_size));
    const MemoryDesc hint_w = AnyLayout(spec.in, Joined(w_dims, spec.kernel));
    dnnl_status_t status = library.convolution_forward_primitive_desc_create(
        forward.put(), library.engine, dnnl_forward_training, algorithm, hint_x.get(), hint_w.get(),
        nullptr, hint_y.get(), spec.strides.data(), dilation.data(), spec.pad_low.data(),
        spec.pad_high.data(), attr.get());
    if (status == dnnl_success && by_data) {
      status = library.convolution_backward_data_primitive_desc_create(
          desc.put(), library.engine, algorithm, x.get(), any.get(), y.get(), spec.strides.data(),
          dilation.data(), spec.pad_low.data(), spec.pad_high.data(), forward.get(), attr.get());
    } else if (status == dnnl_success) {
      status = library.convolution_backward_weights_primitive_desc_create(
          desc.put(), library.engine, algorithm, x.get(), any.get(), nullptr, y.get(),
          spec.strides.data(), dilation.data(), spec.pad_low.data(), spec.pad_high.data(),
          forward.get(), attr.get());
    }
    if (!Usable(status, desc, why_not)) return nullptr;
  }

  using Place = Plan::Place;
  Plan plan;
  // The kernel in the layout that the primitive likes, by way of scratch memory.
  const_dnnl_memory_desc_t liked = library.primitive_desc_query_md(
      desc.get(), by_weights ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
  const bool reorders = library.memory_desc_equal(liked, w.get()) == 0;
  const int given = by_weights ? plan.At(Place::kResult, 0, w) : plan.At(Place::kOperand, 1, w);
  const int weights = reorders ? plan.Scratch(liked) : given;
  if (reorders && !by_weights) plan.AddReorder(given, w.get(), weights, liked);
  if (spec.direction == Direction::kForward) {
    std::vector<std::pair<int, int>> args = {{DNNL_ARG_SRC, plan.At(Place::kOperand, 0, x)},
                                             {DNNL_ARG_WEIGHTS, weights},
                                             {DNNL_ARG_DST, plan.At(Place::kResult, 0, y)}};
    if (spec.bias) args.emplace_back(DNNL_ARG_BIAS, plan.At(Place::kOperand, 2, bias));
    plan.Add(desc, args);
  } else if (by_data) {
    plan.Add(desc, {{DNNL_ARG_DIFF_DST, plan.At(Place::kOperand, 0, y)},
                    {DNNL_ARG_WEIGHTS, weights},
                    {DNNL_ARG_DIFF_SRC, plan.At(Place::kResult, 0, x)}});
  } else {
    plan.Add(desc, {{DNNL_ARG_SRC, plan.At(Place::kOperand, 0, x)},
                    {DNNL_ARG_DIFF_DST, plan.At(Place::kOperand, 1, y)},
                    {DNNL_ARG_DIFF_WEIGHTS, weights}});
    if (reorders) plan.AddReorder(weights, liked, given, w.get());
  }
  auto kernel = std::make_unique<PlanKernel>(std::move(plan));
  const int64_t x_size = spec.batch * spec.in_channels * Product(spec.in_size);
  const int64_t y_size = spec.batch * spec.out_channels * Product(spec.out_size);
  const int64_t w_size = Product(w_dims) * Product(spec.kernel);
  kernel->operand_sizes = {by_data ? y_size : x_size, by_weights ? y_size : w_size};
  if (spec.bias) kernel->operand_sizes.push_back(spec.out_channels);
  kernel->result_sizes = {by_weights ? w_size : by_data ? x_size : y_size};
  return kernel;
}

}  // namespace

}  // namespace flatout::kernels
