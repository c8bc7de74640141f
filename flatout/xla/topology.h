// Compiling for a card that this machine does not have.
//
// The CUDA plugin compiles against a description of the card (cards.h) as it would on a machine
// with it, driver and toolkit or not. What it cannot do without the card is to time kernels, so
// autotuning is off here: the programs are right and their memory is what the compiler plans, but
// on the real card XLA may pick faster kernels, and cuDNN may ask for other workspace.
//
//   auto topology = xla::Topology::Create(xla::LoadPlanningPlugin(), xla::FindCard("h100"), 8);
//   xla::AotProgram program = topology->Compile(stablehlo, {});
//   program.memory.total();   // bytes on each card
//
// Results are kept on disk (AotOptions::cache_folder), so the second plan of the same program for
// the same card compiles nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flatout/xla/cards.h"
#include "flatout/xla/pjrt.h"

namespace flatout::xla {

// The CUDA plugin for planning. Throws UserError where it is not installed, with the command that
// installs it.
std::shared_ptr<Plugin> LoadPlanningPlugin();

struct AotOptions {
  int num_replicas = 1;  // at most the topology's GPUs
  // XLA flags for this program alone; autotuning is off unless set here.
  std::map<std::string, std::string> env_overrides;
  // Where results are kept: "" for CompileCache::DefaultFolder(), "off" for nowhere.
  std::string cache_folder;
  // Keep the compiled program itself, too (several MB with code for all kernels): for writing it to
  // a cache that a machine with the card uses.
  bool keep_serialized = false;
};

// What the compiler says of a program for a card.
struct AotProgram {
  ProgramMemory memory;         // bytes on each card
  std::optional<double> flops;  // by the compiler's count, each card; nullopt where it doesn't say
  std::optional<double> bytes_accessed;  // memory traffic by its count, each card
  std::string serialized;                // empty unless AotOptions::keep_serialized
  double compile_seconds = 0;            // of the compile, also when it was an earlier one
  bool from_cache = false;
};

// A number of equal cards in one machine. May be used from any number of threads at once.
class Topology {
 public:
  // `gpus` from 1 to 1024. Throws UserError for a plugin that knows no GPU topologies.
  static std::shared_ptr<Topology> Create(std::shared_ptr<Plugin> plugin, const Card& card,
                                          int gpus);
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const Card& card() const;
  int gpus() const;
  const Plugin& plugin() const;

  // Compiles StableHLO text for these cards, or takes the result from the cache. Throws UserError
  // UNIMPLEMENTED when the compiler can do nothing for the card, RESOURCE_EXHAUSTED (exit code 4)
  // when it says that the program cannot fit, InternalError with the offending line when the text
  // is not valid. A cache that cannot be read or written costs a compile, nothing else.
  AotProgram Compile(std::string_view stablehlo, const AotOptions& options) const;
  // Compiles (or takes from the cache) and puts the program into a compile cache at `folder`, under
  // the name that training with the same plugin on a machine with these cards, devices 0, 1, ...,
  // looks for; returns the file's path. The program is as it was compiled here, with kernels that
  // were not timed. Throws where the folder cannot be written, or as Compile.
  std::string WriteCache(const std::string& folder, std::string_view stablehlo,
                         const AotOptions& options) const;
  // The name of the cache's file for that program.
  std::string Key(std::string_view stablehlo, const AotOptions& options) const;

 private:
  struct State;
  explicit Topology(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace flatout::xla
