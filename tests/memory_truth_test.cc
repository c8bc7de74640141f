// Planned against real memory, on the CPU device.
//
// XLA's CPU plugins keep no allocator statistics. But they get all memory from the C library, so
// this program puts its own malloc in front of that (count_allocations.h) and adds up, from before
// the state is uploaded to after the last launch has ended, what is asked for and given back, and
// looks at the most that was alive at once. The code of the program is in neither number: it exists
// before.
//
// FLATOUT_MEMORY_COMBINATIONS sets how many combinations of model, size, batch, optimizer, policy,
// steps per launch and micro-batch are drawn, FLATOUT_MEMORY_FIRST the first of them, and
// FLATOUT_MEMORY_SHOW=1 shows the blocks at the peak with who asked for them; docs/memory.md says
// what came out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

#include "flatout/ir/stablehlo.h"
#include "flatout/plan/batch_choice.h"
#include "flatout/plan/memory_plan.h"
#include "flatout/xla/pjrt.h"
#include "tests/count_allocations.h"
#include "tests/memory_cases.h"

namespace flatout {
namespace {

std::shared_ptr<xla::Client> Client(const std::string& plugin) {
  static std::map<std::string, std::shared_ptr<xla::Client>> clients;
  std::shared_ptr<xla::Client>& client = clients[plugin];
  if (!client) client = xla::Client::Create(xla::Plugin::Load(plugin), {});
  return client;
}

// Uploads state and `launches` batches, runs a launch with each, `times` over, one after the other,
// and returns what was allocated.
CountAllocations::Result Measure(const xla::Client& client, const xla::Executable& executable,
                                 const step::Program& program, int32_t steps, int launches,
                                 int times, bool callers = false) {
  const ir::Graph& graph = *program.graph;
  std::vector<std::vector<std::byte>> host;
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    std::vector<std::byte>& bytes =
        host.emplace_back(static_cast<size_t>(graph.parameters()[i].shape().bytes()));
    if (graph.parameter_name(i) == "steps") std::memcpy(bytes.data(), &steps, 4);
  }
  const auto upload = [&](size_t i) {
    return client.FromHost(host[i].data(), graph.parameters()[i].shape(), client.devices()[0]);
  };
  const size_t num_state = static_cast<size_t>(program.num_state);
  const int64_t temporaries = executable.memory()->temp;
  CountAllocations count(callers);
  {
    std::vector<xla::Buffer> state;
    for (size_t i = 0; i < num_state; ++i) state.push_back(upload(i));
    std::vector<std::vector<xla::Buffer>> batches(static_cast<size_t>(launches));
    for (auto& batch : batches) {
      for (size_t i = num_state; i < graph.parameters().size(); ++i) batch.push_back(upload(i));
    }
    std::vector<xla::Execution> executions(static_cast<size_t>(launches));
    for (int run = 0; run < launches * times; ++run) {
      const int launch = run % launches;
      std::vector<const xla::Buffer*> arguments;
      for (const xla::Buffer& buffer : state) arguments.push_back(&buffer);
      for (const xla::Buffer& buffer : batches[static_cast<size_t>(launch)]) {
        arguments.push_back(&buffer);
      }
      xla::Execution& execution = executions[static_cast<size_t>(launch)];
      const int64_t before = CountAllocations::InUse();
      executable.Execute(arguments, execution);
      for (size_t i = 0; i < num_state; ++i) state[i] = std::move(execution.outputs[0][i]);
      execution.Await();
      // A program's temporaries are given back a little after its results are there, when the next
      // launch might have taken its own: for a moment there would be two of them.
      for (int wait = 0; wait < 2000 && CountAllocations::InUse() > before + temporaries / 2;
           ++wait) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
  return count.Stop();
}

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

void Show(const CountAllocations::Result& measured) {
  for (const CountAllocations::Block& block : measured.at_peak) {
    fmt::print("    {:9}  {}\n", block.bytes, block.Callers());
  }
}

TEST(MemoryTruthTest, PlannedIsMeasured) {
  const int first = FromEnvironment("FLATOUT_MEMORY_FIRST", 0);
  const int combinations = FromEnvironment("FLATOUT_MEMORY_COMBINATIONS", 6);
  const bool show = FromEnvironment("FLATOUT_MEMORY_SHOW", 0) != 0;
  std::vector<double> offs;
  for (int i = first; i < first + combinations; ++i) {
    const std::string plugin = i % 2 == 0 ? "cpu-0.115" : "cpu-0.81";
    const int launches = 1 + i / 2 % 2;
    MemoryCase made = RandomMemoryCase(static_cast<uint64_t>(i));
    SCOPED_TRACE(fmt::format("{} {} on {}, {} in flight", i, made.title, plugin, launches));
    const std::shared_ptr<xla::Client> client = Client(plugin);
    const step::Program program = step::BuildTrainProgram(made.spec);
    const auto executable = client->Compile(ir::ToStablehlo(*program.graph), {.num_replicas = 1});
    ASSERT_TRUE(executable->memory().has_value());
    const plan::MemoryPlan plan = plan::PlanMemory(made.spec, launches, executable->memory());
    const plan::MemoryPlan estimate = plan::PlanMemory(made.spec, launches);
    EXPECT_GT(plan.scratch, 0) << "the serialised program was not understood";
    const int32_t steps = static_cast<int32_t>(made.spec.steps_per_launch);
    // What XLA's threads take once for themselves is not the program's.
    Measure(*client, *executable, program, steps, 1, 1);
    // What runs side by side is not the same in all launches: a run takes the most of many.
    const CountAllocations::Result measured =
        Measure(*client, *executable, program, steps, launches, 8 / launches, show);
    const int64_t planned = plan.total() - plan.code;
    const double off = static_cast<double>(measured.peak) / static_cast<double>(planned) - 1;
    offs.push_back(off);
    fmt::print(
        "{:3} {:9} {:9} planned, {:9} of it scratch, {:9} measured, {:+6.2f} %; {:9} temporaries "
        "estimated as {:9}: {}\n",
        i, plugin, planned, plan.scratch, measured.peak, 100 * off, executable->memory()->temp,
        estimate.temporaries(), made.title);
    if (show) Show(measured);
    std::fflush(stdout);
    // docs/memory.md has the distribution. In the smallest programs XLA's own objects and chance in
    // what runs side by side count for more: hence the bytes.
    EXPECT_GE(static_cast<double>(measured.peak), 0.90 * static_cast<double>(planned) - (1 << 19))
        << plan.ToString();
    EXPECT_LE(static_cast<double>(measured.peak), 1.05 * static_cast<double>(planned) + (1 << 19))
        << plan.ToString();
  }
  std::vector<double> sizes;
  for (const double off : offs) sizes.push_back(std::abs(off));
  std::sort(sizes.begin(), sizes.end());
  std::sort(offs.begin(), offs.end());
  const auto within = [&](double most) {
    return std::upper_bound(sizes.begin(), sizes.end(), most) - sizes.begin();
  };
  fmt::print(
      "of {}: {} within 2 %, {} within 5 %; half within {:.2f} %, nine of ten within {:.2f} %; "
      "measured from {:+.2f} % to {:+.2f} % of planned\n",
      sizes.size(), within(0.02), within(0.05), 100 * sizes[sizes.size() / 2],
      100 * sizes[(sizes.size() * 9 - 1) / 10], 100 * offs.front(), 100 * offs.back());
}

// The chosen micro-batch against the true maximum, found by bisection with the same compiler.
TEST(MemoryTruthTest, TheChosenBatchIsNearTheTrueMaximum) {
  struct Case {
    MemoryChoice choice;
    double share;  // of what the whole batch needs beyond the state and the batch
  };
  const std::vector<Case> cases = {
      {{.model = "mlp", .rows = 256}, 0.5},
      {{.model = "dlrm", .rows = 512, .optimizer = "'SGD'"}, 0.7},
  };
  const std::shared_ptr<xla::Client> client = Client("cpu");
  for (const Case& each : cases) {
    MemoryCase made = MakeMemoryCase(each.choice);
    SCOPED_TRACE(made.title);
    std::map<int64_t, int64_t> known;
    int compiles = 0;
    const auto compile = [&](const step::StepSpec& spec) {
      ++compiles;
      const step::Program program = step::BuildTrainProgram(spec);
      return client->Compile(ir::ToStablehlo(*program.graph), {.num_replicas = 1})
          ->memory()
          .value();
    };
    const auto with = [&](int64_t rows) {
      step::StepSpec spec = made.spec;
      spec.micro_rows = rows >= each.choice.rows ? 0 : rows;
      return spec;
    };
    const auto bytes = [&](int64_t rows) {
      if (!known.contains(rows)) {
        known[rows] = plan::PlanMemory(with(rows), 1, compile(with(rows))).total();
      }
      return known[rows];
    };
    const plan::MemoryPlan whole = plan::PlanMemory(made.spec, 1);
    const int64_t fixed = whole.total() - whole.temporaries();
    const int64_t limit =
        fixed +
        static_cast<int64_t>(each.share * static_cast<double>(bytes(each.choice.rows) - fixed));
    // The largest that fits below the whole batch, which does not.
    int64_t fits = 0, too_many = each.choice.rows;
    while (too_many - fits > 1) {
      const int64_t middle = (fits + too_many) / 2;
      (bytes(middle) <= limit ? fits : too_many) = middle;
    }
    compiles = 0;
    const plan::BatchChoice choice = plan::ChooseMicroBatch(made.spec, limit, 1, compile);
    EXPECT_EQ(choice.compiles, compiles);
    fmt::print("{}: limit {}, {} rows fit; {}, with {} rows expected\n", made.title,
               plan::Bytes(limit), fits, choice.ToString(), choice.largest_rows);
    std::fflush(stdout);
    ASSERT_EQ(choice.fits, fits > 0);
    if (fits == 0) continue;
    EXPECT_LE(choice.compiles, 3);
    EXPECT_LE(bytes(choice.micro_rows), limit);
    EXPECT_TRUE(choice.micro_rows * 100 >= fits * 95 ||
                choice.micro_batches == (each.choice.rows + fits - 1) / fits)
        << choice.micro_rows << " of " << fits;
  }
}

}  // namespace
}  // namespace flatout
