#include "flatout/xla/cards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "flatout/base/error.h"

namespace flatout::xla {
namespace {

using ir::DType;
using ::testing::HasSubstr;

std::string ErrorOf(auto call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), kExitUsage);
    return error.what();
  }
  return "no error";
}

TEST(Cards, TheOnesPeopleRentAreThere) {
  for (const char* name :
       {"t4", "l4", "a10g", "v100", "a100-40", "a100-80", "h100", "h100-pcie", "h200", "b200"}) {
    EXPECT_EQ(FindCard(name).name, name);
  }
}

TEST(Cards, EveryNumberIsPlausible) {
  for (const Card& card : Cards()) {
    SCOPED_TRACE(card.name);
    EXPECT_FALSE(card.title.empty());
    EXPECT_THAT(card.source, HasSubstr("data sheet"));
    EXPECT_FALSE(card.device_kinds.empty());
    // 10 GB to 1 TB; 100 GB/s to 20 TB/s.
    EXPECT_GT(card.memory_bytes, int64_t{10'000'000'000});
    EXPECT_LT(card.memory_bytes, int64_t{1'000'000'000'000});
    EXPECT_GT(card.memory_bandwidth, 100e9);
    EXPECT_LT(card.memory_bandwidth, 20e12);
    // A multiply-add per unit and clock: the data sheet's float32 peak within 10 %.
    const double units = static_cast<double>(card.cores * card.fpus_per_core);
    EXPECT_NEAR(card.peak_flops.at(DType::kF32) / (units * 2 * card.clock_ghz * 1e9), 1, 0.1);
    for (const auto& [dtype, peak] : card.peak_flops) {
      EXPECT_GE(peak, card.peak_flops.at(DType::kF32)) << ir::Name(dtype);
      EXPECT_LT(peak, 1e16) << ir::Name(dtype);
    }
    // Before Ampere (8.0) there is neither bf16 nor TF32; after it both.
    EXPECT_EQ(card.peak_flops.contains(DType::kBF16), card.capability_major >= 8);
    EXPECT_EQ(card.tf32_flops > 0, card.capability_major >= 8);
    EXPECT_LE(card.tf32_flops, card.peak_flops.at(DType::kF16));
    EXPECT_GE(card.link_bandwidth, card.pcie_bandwidth);
    EXPECT_GE(card.pcie_bandwidth, 10e9);
    EXPECT_FALSE(card.link.empty());
    EXPECT_GE(card.capability_major, 7);
    EXPECT_GE(card.capability_minor, 0);
    EXPECT_GT(card.l2_bytes, 1 << 20);
    EXPECT_GE(card.shared_memory_per_block_optin, 49152);
    EXPECT_GE(card.shared_memory_per_core, card.shared_memory_per_block_optin);
    EXPECT_GE(card.threads_per_core, 1024);
  }
}

TEST(Cards, NamesAliasesAndDeviceKindsAreUnique) {
  std::set<std::string> names, kinds;
  for (const Card& card : Cards()) {
    EXPECT_TRUE(names.insert(card.name).second) << card.name;
    for (const std::string& alias : card.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    for (const std::string& kind : card.device_kinds)
      EXPECT_TRUE(kinds.insert(kind).second) << kind;
  }
}

TEST(Cards, AreFoundByNameAndAlias) {
  EXPECT_EQ(&FindCard("H100"), &FindCard("h100-sxm"));
  EXPECT_EQ(FindCard(" a100 ").name, "a100-80");
}

TEST(Cards, AnUnknownOneNamesTheNearestAndAll) {
  const std::string said = ErrorOf([] { FindCard("h1000"); });
  EXPECT_THAT(said, HasSubstr("there is no card \"h1000\", did you mean \"h100\"?"));
  for (const Card& card : Cards()) EXPECT_THAT(said, HasSubstr(card.name));
  EXPECT_THAT(ErrorOf([] { FindCard("something else entirely"); }), HasSubstr("(known are t4"));
  EXPECT_THAT(ErrorOf([] { FindCard(""); }), HasSubstr("(known are t4"));
}

TEST(Cards, ADeviceIsKnownByWhatItsDriverCallsIt) {
  EXPECT_EQ(CardOfDevice("NVIDIA H100 80GB HBM3"), &FindCard("h100"));
  EXPECT_EQ(CardOfDevice("NVIDIA H100 PCIe"), &FindCard("h100-pcie"));
  EXPECT_EQ(CardOfDevice("Tesla T4"), &FindCard("t4"));
  // Not a prefix: another card, of which nothing is known.
  EXPECT_EQ(CardOfDevice("NVIDIA L40S"), nullptr);
  EXPECT_EQ(CardOfDevice("cpu"), nullptr);
  EXPECT_EQ(CardOfDevice(""), nullptr);
}

TEST(Cards, ProductsRunAtTheRateOfTheUnitsThatXlaUses) {
  const Card& h100 = FindCard("h100");
  EXPECT_EQ(h100.MatmulPeak(DType::kF32), h100.tf32_flops);
  EXPECT_EQ(h100.MatmulPeak(DType::kBF16), h100.peak_flops.at(DType::kBF16));
  const Card& t4 = FindCard("t4");
  EXPECT_EQ(t4.MatmulPeak(DType::kF32), t4.peak_flops.at(DType::kF32));
  EXPECT_EQ(t4.MatmulPeak(DType::kBF16), t4.peak_flops.at(DType::kF32));
  EXPECT_EQ(t4.MatmulPeak(DType::kF16), 65e12);
}

TEST(Cards, AListIsReadInItsOrder) {
  const std::vector<const Card*> cards = ParseCards("a100-80, h100,l4");
  ASSERT_EQ(cards.size(), 3u);
  EXPECT_EQ(cards[0]->name, "a100-80");
  EXPECT_EQ(cards[1]->name, "h100");
  EXPECT_EQ(cards[2]->name, "l4");
  EXPECT_THAT(ErrorOf([] { ParseCards("h100,,l4"); }), HasSubstr("empty place"));
  EXPECT_THAT(ErrorOf([] { ParseCards("a100,a100-80"); }),
              HasSubstr("names the card a100-80 twice"));
  EXPECT_THAT(ErrorOf([] { ParseCards(""); }), HasSubstr("no card is named"));
  EXPECT_THAT(ErrorOf([] { ParseCards("h10O"); }), HasSubstr("did you mean \"h100\""));
}

}  // namespace
}  // namespace flatout::xla
