#include "flatout/train/runtime.h"

#include <gmock/gmock.h>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"

namespace flatout::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TrainOptions Options(const std::string& device, Config devices = Config(int64_t{1})) {
  TrainOptions options;
  options.device = device;
  options.devices = std::move(devices);
  return options;
}

std::string MessageOf(const TrainOptions& options) {
  try {
    const Runtime runtime(options);
  } catch (const UserError& error) {
    EXPECT_EQ(error.exit_code(), kExitUsage);
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

TEST(RuntimeTest, AsManyDevicesAsAskedFor) {
  for (int64_t count : {1, 3}) {
    const Runtime runtime(Options("cpu", Config(count)));
    EXPECT_EQ(runtime.replicas(), count);
    EXPECT_THAT(runtime.Describe(), AllOf(HasSubstr(std::to_string(count) + " x cpu"),
                                          HasSubstr("plugin cpu"), HasSubstr("PJRT 0.")));
  }
}

TEST(RuntimeTest, AllCpusAreTheUsableCores) {
  const Runtime runtime(Options("cpu", Config(std::string("all"))));
  EXPECT_EQ(runtime.replicas(), std::max<int64_t>(1, ReadCgroup().cpu.usable));
}

TEST(RuntimeTest, OneDeviceByItsNumber) {
  const Runtime runtime(Options("cpu:2"));
  ASSERT_EQ(runtime.replicas(), 1);
  EXPECT_EQ(runtime.devices()[0].index(), 2);
}

TEST(RuntimeTest, WhatThereIsNotIsNamed) {
  EXPECT_THAT(MessageOf(Options("tpu")), AllOf(HasSubstr("\"tpu\""), HasSubstr("cpu")));
  EXPECT_THAT(MessageOf(Options("cpu:")), HasSubstr("number"));
  EXPECT_THAT(MessageOf(Options("cpu:x")), HasSubstr("\"cpu:x\""));
  EXPECT_THAT(MessageOf(Options("cpu:-1")), HasSubstr("\"cpu:-1\""));
  EXPECT_THAT(MessageOf(Options("cpu:99999")), HasSubstr("\"cpu:99999\""));
  EXPECT_THAT(MessageOf(Options("cpu:1", Config(int64_t{2}))), HasSubstr("one device"));
  EXPECT_THAT(MessageOf(Options("cpu:1", Config(std::string("all")))), HasSubstr("one device"));
  EXPECT_THAT(MessageOf(Options("cpu", Config(int64_t{257}))),
              AllOf(HasSubstr("256"), HasSubstr("257")));
  EXPECT_THAT(MessageOf(Options("/no/such/plugin.so")), HasSubstr("/no/such/plugin.so"));
}

}  // namespace
}  // namespace flatout::train
