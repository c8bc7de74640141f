// Graphs of flatout/optim on the CPU. For tests only.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "flatout/ir/graph.h"
#include "flatout/ir/stablehlo.h"
#include "flatout/xla/pjrt.h"

namespace flatout::optim::testing {

// A graph compiled for the CPU. Arguments and results are numbers of the graph's own dtypes, held
// as `Number`.
template <typename Number>
class CpuProgram {
 public:
  using Tensors = std::vector<std::vector<Number>>;

  explicit CpuProgram(const ir::Graph& graph)
      : graph_(graph), program_(Client().Compile(ir::ToStablehlo(graph), {})) {}

  Tensors Run(const Tensors& arguments) const {
    std::vector<xla::Buffer> buffers;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ir::Shape& shape = graph_.parameters()[i].shape();
      std::vector<std::byte> bytes(static_cast<size_t>(shape.bytes()));
      const auto size = static_cast<size_t>(ir::ByteSize(shape.dtype));
      for (size_t k = 0; k < arguments[i].size(); ++k) {
        ir::StoreElement(shape.dtype, arguments[i][k], bytes.data() + k * size);
      }
      buffers.push_back(Client().FromHost(bytes.data(), shape, program_->device(0)));
    }
    std::vector<const xla::Buffer*> pointers;
    for (const xla::Buffer& buffer : buffers) pointers.push_back(&buffer);
    const xla::Execution run = program_->Execute(pointers);
    run.Await();
    Tensors results;
    for (const xla::Buffer& output : run.outputs[0]) {
      const auto bytes = output.ToVector<std::byte>();
      const auto size = static_cast<size_t>(ir::ByteSize(output.shape().dtype));
      std::vector<Number>& numbers = results.emplace_back();
      for (size_t at = 0; at < bytes.size(); at += size) {
        numbers.push_back(
            static_cast<Number>(ir::LoadElement(output.shape().dtype, bytes.data() + at)));
      }
    }
    return results;
  }

 private:
  static xla::Client& Client() {
    static const std::shared_ptr<xla::Client> client =
        xla::Client::Create(xla::Plugin::Load("cpu"), {});
    return *client;
  }

  const ir::Graph& graph_;
  std::shared_ptr<xla::Executable> program_;
};

}  // namespace flatout::optim::testing
