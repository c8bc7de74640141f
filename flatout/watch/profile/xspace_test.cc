#include "flatout/watch/profile/xspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/proto.h"
#include "flatout/watch/profile/testing.h"

namespace flatout::watch::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

TEST(XSpace, AddsUpKernelsOverStreams) {
  const std::vector<DeviceProfile> devices = ReadDevices(PlayedSpace());
  ASSERT_THAT(devices, SizeIs(1)) << "the host's plane is no device";
  const DeviceProfile& device = devices[0];
  EXPECT_EQ(device.name, "/device:GPU:0");
  ASSERT_THAT(device.kernels, SizeIs(2));
  EXPECT_EQ(device.kernels[0].name, "gemm_fusion");
  EXPECT_EQ(device.kernels[0].op, "dot.3");
  EXPECT_EQ(device.kernels[0].count, 2);
  EXPECT_NEAR(device.kernels[0].seconds, 3e-3, 1e-9);
  EXPECT_EQ(device.kernels[1].name, "MemcpyH2D");
  EXPECT_EQ(device.kernels[1].op, "");
  // The copy runs beside the first kernel for half of its time.
  EXPECT_NEAR(device.busy, 3.5e-3, 1e-9);
  EXPECT_NEAR(device.end - device.begin, 5e-3, 1e-6);
}

TEST(XSpace, IsShownAsATable) {
  const std::vector<DeviceProfile> devices = ReadDevices(PlayedSpace());
  const std::string table = KernelTable(devices);
  EXPECT_THAT(table, HasSubstr("/device:GPU:0: kernels and copies ran 70.0 % of 5.00 ms"));
  EXPECT_THAT(table, HasSubstr("75.0%     3.00 ms        2     1.50 ms  gemm_fusion (dot.3)"));
  const std::string one = KernelTable(devices, 1);
  EXPECT_THAT(one, HasSubstr("and 1 more"));
  EXPECT_THAT(one, Not(HasSubstr("MemcpyH2D")));
}

TEST(XSpace, RefusesWhatIsNone) {
  EXPECT_THAT(ReadDevices(""), IsEmpty());
  const std::string space = PlayedSpace();
  int refused = 0;
  for (size_t cut = 1; cut < space.size(); ++cut) {
    try {
      ReadDevices(space.substr(0, cut));
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(space.size()) - 5) << "it may end between two planes";
}

TEST(XSpace, IsWrittenWhereTensorBoardLooks) {
  const std::string folder = ::testing::TempDir() + "flatout_xspace_" + std::to_string(getpid());
  const std::string session = NewSession();
  EXPECT_THAT(session, MatchesRegex("[0-9]{4}(_[0-9]{2}){5}"));
  const std::string path = WriteProfile(folder, session, "space");
  EXPECT_THAT(path, MatchesRegex(".*/plugins/profile/" + session + "/.+\\.xplane\\.pb"));
  EXPECT_EQ(ReadFile(path), "space");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace flatout::watch::profile
