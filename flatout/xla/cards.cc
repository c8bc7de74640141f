#include "flatout/xla/cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "flatout/base/config.h"

namespace flatout::xla {

// cards.toml, written into a source file by CMake.
extern const std::string_view kCardsToml;

namespace {

// One [[card]] as the file has it.
struct CardEntry {
  Card card;
  double f32 = 0, bf16 = 0, f16 = 0;
  std::vector<int64_t> capability;

  template <class V>
  void Visit(V& v) {
    v.Required("name", card.name);
    v("aliases", card.aliases);
    v.Required("title", card.title);
    v.Required("device_kinds", card.device_kinds);
    v.Required("source", card.source);
    v.Required("memory_bytes", card.memory_bytes);
    v.Required("memory_bandwidth", card.memory_bandwidth);
    v.Required("f32_flops", f32);
    v("tf32_flops", card.tf32_flops);
    v("bf16_flops", bf16);
    v.Required("f16_flops", f16);
    v.Required("link_bandwidth", card.link_bandwidth);
    v.Required("link", card.link);
    v.Required("pcie_bandwidth", card.pcie_bandwidth);
    v("compiler_issue", card.compiler_issue);
    v.Required("capability", capability);
    v("accelerated_features", card.accelerated_features);
    v.Required("clock_ghz", card.clock_ghz);
    v.Required("cores", card.cores);
    v.Required("fpus_per_core", card.fpus_per_core);
    v.Required("l2_bytes", card.l2_bytes);
    v.Required("shared_memory_per_core", card.shared_memory_per_core);
    v.Required("shared_memory_per_block_optin", card.shared_memory_per_block_optin);
    v.Required("threads_per_core", card.threads_per_core);
  }
};

std::vector<Card> ReadCards() {
  const Config file = Config::ParseToml(kCardsToml, "cards.toml");
  std::vector<Card> cards;
  for (const Config& table : file.Find("card")->items()) {
    CardEntry entry;
    ReadOptions(table, "card", entry);
    if (entry.capability.size() != 2) {
      throw table.Complain("capability is [major, minor]");
    }
    Card& card = entry.card;
    card.capability_major = entry.capability[0];
    card.capability_minor = entry.capability[1];
    card.peak_flops[ir::DType::kF32] = entry.f32;
    card.peak_flops[ir::DType::kF16] = entry.f16;
    if (entry.bf16 > 0) card.peak_flops[ir::DType::kBF16] = entry.bf16;
    cards.push_back(std::move(card));
  }
  return cards;
}

std::string Lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view Trimmed(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

double Card::MatmulPeak(ir::DType dtype) const {
  const double f32 = peak_flops.at(ir::DType::kF32);
  if (dtype == ir::DType::kF32) return std::max(f32, tf32_flops);
  const auto found = peak_flops.find(dtype);
  return found == peak_flops.end() ? f32 : found->second;
}

std::string Card::TargetConfig() const {
  // The limits that are spelled out are the same on every card from compute capability 7.0 on (CUDA
  // C++ Programming Guide, "Technical Specifications per Compute Capability"). The versions of
  // cuDNN and CUDA are those of the pinned plugin's own requirements.
  return fmt::format(
      R"(gpu_device_info {{
  cuda_compute_capability {{ major: {} minor: {} feature_extension: {} }}
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {}
  shared_memory_per_block_optin: {}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  threads_per_core_limit: {}
  core_count: {}
  fpus_per_core: {}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {:.0f}
  l2_cache_size: {}
  clock_rate_ghz: {}
  device_memory_size: {}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 patch: 0 }}
runtime_version {{ major: 13 minor: 0 patch: 0 }}
device_description_str: "{}"
)",
      capability_major, capability_minor, accelerated_features ? "ACCELERATED_FEATURES" : "NONE",
      shared_memory_per_core, shared_memory_per_block_optin, threads_per_core, cores, fpus_per_core,
      memory_bandwidth, l2_bytes, clock_ghz, memory_bytes, device_kinds.front());
}

std::span<const Card> Cards() {
  static const std::vector<Card>& cards = *new std::vector<Card>(ReadCards());
  return cards;
}

const Card& FindCard(std::string_view name) {
  const std::string wanted = Lower(Trimmed(name));
  // Names before aliases, so that of two equally near ones the name is proposed.
  std::vector<std::string> names;
  for (const Card& card : Cards()) {
    if (card.name == wanted) return card;
    names.push_back(card.name);
  }
  const std::string known = fmt::format("{}", fmt::join(names, ", "));
  for (const Card& card : Cards()) {
    for (const std::string& alias : card.aliases) {
      if (alias == wanted) return card;
      names.push_back(alias);
    }
  }
  throw NotFound("there is no card \"{}\"{} (known are {})", name, DidYouMean(wanted, names),
                 known);
}

const Card* CardOfDevice(std::string_view device_kind) {
  for (const Card& card : Cards()) {
    for (const std::string& kind : card.device_kinds) {
      if (kind == device_kind) return &card;
    }
  }
  return nullptr;
}

std::vector<const Card*> ParseCards(std::string_view list) {
  std::vector<const Card*> cards;
  for (std::string_view rest = list; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = Trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (name.empty()) {
      throw Invalid("\"{}\" has an empty place; expected names of cards, as in \"a100-80,h100\"",
                    list);
    }
    const Card& card = FindCard(name);
    if (std::find(cards.begin(), cards.end(), &card) != cards.end()) {
      throw Invalid("\"{}\" names the card {} twice", list, card.name);
    }
    cards.push_back(&card);
  }
  if (cards.empty()) {
    throw Invalid("no card is named; expected names such as \"a100-80,h100\" (known are: {})", [] {
      std::string known;
      for (const Card& card : Cards()) known += (known.empty() ? "" : ", ") + card.name;
      return known;
    }());
  }
  return cards;
}

}  // namespace flatout::xla
