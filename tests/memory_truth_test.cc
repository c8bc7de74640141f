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
    EXPECT_GE(static_cast<double>(measured.peak), 0.88 * static_cast<double>(planned) - (1 << 19))
        << plan.ToString();
    EXPECT_LE(static_cast<double>(measured.peak), 1.10 * static_cast<double>(planned) + (1 << 19))
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

// The chosen micro-batch against the true maximum, with the same compiler. More rows take more
// memory, so that one program with a twentieth more rows that does not fit proves the choice, and
// so does one with the rows of one piece less. FLATOUT_MEMORY_WORKLOADS=1 takes all five workloads,
// at small sizes, under two caps each, instead of two of them under one.
TEST(MemoryTruthTest, TheChosenBatchIsNearTheTrueMaximum) {
  struct Case {
    MemoryChoice choice;
    std::vector<double> shares;  // of what the whole batch needs beyond what one row does
  };
  std::vector<Case> cases = {
      {{.model = "mlp", .size = 3, .rows = 1024}, {0.7}},
      {{.model = "cnn", .rows = 128}, {0.6}},
  };
  if (FromEnvironment("FLATOUT_MEMORY_WORKLOADS", 0) != 0) {
    cases = {
        {{.model = "mlp", .size = 3, .rows = 1024}, {0.35, 0.7}},
        {{.model = "cnn", .rows = 128}, {0.2, 0.6}},
        {{.model = "resnet18", .rows = 32, .optimizer = "{class = 'SGD', momentum = 0.9}"},
         {0.4, 0.7}},
        {{.model = "transformer", .rows = 32, .policy = "mixed_bfloat16"}, {0.35, 0.7}},
        {{.model = "dlrm", .rows = 2048, .optimizer = "'SGD'"}, {0.25, 0.6}},
    };
  }
  const std::shared_ptr<xla::Client> client = Client("cpu");
  for (const Case& each : cases) {
    MemoryCase made = MakeMemoryCase(each.choice);
    const int64_t rows = each.choice.rows;
    std::map<int64_t, xla::ProgramMemory> compiled;
    int asked = 0;
    const auto compile = [&](const step::StepSpec& spec) {
      ++asked;
      const int64_t key = spec.micro_rows > 0 ? spec.micro_rows : rows;
      const auto [found, added] = compiled.try_emplace(key);
      if (added) {
        const step::Program program = step::BuildTrainProgram(spec);
        found->second =
            client->Compile(ir::ToStablehlo(*program.graph), {.num_replicas = 1})->memory().value();
      }
      return found->second;
    };
    const auto bytes = [&](int64_t micro_rows) {
      step::StepSpec spec = made.spec;
      spec.micro_rows = micro_rows >= rows ? 0 : micro_rows;
      return plan::PlanMemory(spec, 1, compile(spec)).total();
    };
    for (const double share : each.shares) {
      SCOPED_TRACE(fmt::format("{}, cap {}", made.title, share));
      const int64_t limit =
          bytes(1) + static_cast<int64_t>(share * static_cast<double>(bytes(rows) - bytes(1)));
      asked = 0;
      const plan::BatchChoice choice = plan::ChooseMicroBatch(made.spec, limit, 1, compile);
      EXPECT_EQ(choice.compiles, asked);
      fmt::print("{}: limit {} of {}; {}, with {} rows expected\n", made.title, plan::Bytes(limit),
                 plan::Bytes(bytes(rows)), choice.ToString(), choice.largest_rows);
      std::fflush(stdout);
      ASSERT_TRUE(choice.fits);
      EXPECT_LE(choice.compiles, 3);
      EXPECT_LE(bytes(choice.micro_rows), limit);
      ASSERT_GT(choice.micro_batches, 1) << "the cap splits nothing";
      const auto is_near = [&](int64_t percent) {
        const int64_t more = choice.micro_rows * 100 / percent + 1;
        const int64_t a_piece_less = (rows + choice.micro_batches - 2) / (choice.micro_batches - 1);
        return bytes(more) > limit || bytes(a_piece_less) > limit;
      };
      const bool near = is_near(95);
      fmt::print("  {} 95 % of the true maximum, or the fewest pieces\n",
                 near ? "at least" : "NOT");
      // What libraries pack their operands into jumps with the rows: now and then that costs a
      // little more.
      EXPECT_TRUE(near || is_near(85)) << choice.micro_rows << " rows";
    }
  }
}

}  // namespace
}  // namespace flatout
