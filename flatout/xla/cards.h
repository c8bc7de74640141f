// Graphics cards that can be planned for without having one: memory, speed and the limits that the
// compiler asks about. The numbers stand, with their sources, in cards.toml, which is compiled in.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/ir/shape.h"

namespace flatout::xla {

struct Card {
  std::string name;                  // "h100": what users write
  std::vector<std::string> aliases;  // {"h100-sxm", "h100-80"}
  std::string title;                 // "NVIDIA H100 SXM, 80 GB"
  // What the driver calls it (Device::kind()), {"NVIDIA H100 80GB HBM3"}.
  std::vector<std::string> device_kinds;
  std::string source;  // where the numbers are from

  // Bytes that the driver reports as the card's total: less than the number on the box where ECC
  // takes a part. A process gets less than this still: the driver's context and the libraries' code
  // take some 0.5 GB, which only a run can tell exactly.
  int64_t memory_bytes = 0;
  double memory_bandwidth = 0;  // bytes a second, the data sheet's peak
  // Dense peak, FLOP a second, no sparsity: kF32 is that of the CUDA cores, kF16 and kBF16 are
  // those of the tensor cores with float32 sums. A dtype the card has no fast way for is absent.
  std::map<ir::DType, double> peak_flops;
  // Of the tensor cores on float32 operands rounded to TF32; 0 where the card has none. XLA uses it
  // for float32 products of precision DEFAULT.
  double tf32_flops = 0;
  // Between the cards of one machine, bytes a second and direction, all links of a card together.
  double link_bandwidth = 0;
  std::string link;            // "NVLink 4", "PCIe 4 x16"
  double pcie_bandwidth = 0;   // to the host, bytes a second and direction
  std::string compiler_issue;  // what this plugin's compiler cannot do for it, or ""

  // What XLA asks about (GpuDeviceInfoProto).
  int64_t capability_major = 0, capability_minor = 0;  // compute capability
  bool accelerated_features = false;                   // sm_90a, sm_100a
  double clock_ghz = 0;                                // boost
  int64_t cores = 0;                                   // streaming multiprocessors
  int64_t fpus_per_core = 0;
  int64_t l2_bytes = 0;
  int64_t shared_memory_per_core = 0;
  int64_t shared_memory_per_block_optin = 0;
  int64_t threads_per_core = 0;

  // The dense peak of matrix products whose operands are `dtype` as XLA runs them, FLOP a second:
  // TF32 for float32 where the card has it, the tensor cores for halves, and float32's CUDA cores
  // for a half that the card has no fast way for (bf16 before Ampere).
  double MatmulPeak(ir::DType dtype) const;
  // The text of XLA's GpuTargetConfigProto.
  std::string TargetConfig() const;
};

// All known cards, from the smallest to the largest.
std::span<const Card> Cards();
// By name or alias, whatever its case. Throws UserError NOT_FOUND with the nearest name and all
// known ones.
const Card& FindCard(std::string_view name);
// The card that a device of this kind is, or nullptr: FLOP/s of an unknown device are unknown.
const Card* CardOfDevice(std::string_view device_kind);
// The cards of such a text as "a100-80, h100": what --gpu takes. Throws as FindCard, and Invalid
// for an empty list and for a card named twice.
std::vector<const Card*> ParseCards(std::string_view list);

}  // namespace flatout::xla
