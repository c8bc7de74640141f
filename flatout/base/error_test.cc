#include "flatout/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace flatout {
namespace {

using ::testing::HasSubstr;

TEST(Error, KindsCarryTheirCodeAndExitCode) {
  EXPECT_EQ(Invalid("x").code(), Code::kInvalidArgument);
  EXPECT_EQ(Invalid("x").exit_code(), kExitUsage);
  EXPECT_EQ(NotFound("x").code(), Code::kNotFound);
  EXPECT_EQ(BadData("x").code(), Code::kDataLoss);
  EXPECT_EQ(BadData("x").exit_code(), kExitBadData);
  EXPECT_EQ(Internal("x").exit_code(), kExitInternal);
  EXPECT_EQ(UserError(Code::kResourceExhausted, "x").exit_code(), kExitOutOfMemory);
  EXPECT_EQ(UserError(Code::kUnavailable, "x").set_exit_code(kExitPeerLost).exit_code(),
            kExitPeerLost);
}

TEST(Error, BytesOutOfFilesNeitherCutAMessageNorReachATerminal) {
  const std::string name("a\0b\x1b[2J\r\x7f", 9);
  DataError error = BadData("feature \"{}\"\n\tis not declared", name);
  error.AddContext(std::string("file\0x", 6));
  EXPECT_STREQ(error.what(),
               "file\\x00x: feature \"a\\x00b\\x1b[2J\\x0d\\x7f\"\n\tis not declared");
  EXPECT_STREQ(Invalid("\u00fcber {}", "\u65e5").what(), "\u00fcber \u65e5");
}

TEST(Error, UserAndInternalErrorsAreTold) {
  EXPECT_THROW(throw Invalid("x"), UserError);
  EXPECT_THROW(throw BadData("x"), UserError);
  bool internal = false;
  try {
    throw Internal("node {} has no type", 7);
  } catch (const UserError&) {
    internal = false;
  } catch (const InternalError& error) {
    internal = true;
    EXPECT_THAT(error.what(), HasSubstr("node 7 has no type"));
    EXPECT_THAT(error.what(), HasSubstr("report"));
  }
  EXPECT_TRUE(internal);
}

TEST(Error, ContextIsPutInFrontOnTheWayUp) {
  try {
    WithContext("run cnn.toml",
                [] { WithContext("layer dense_1", [] { throw Invalid("units is {}", -1); }); });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "run cnn.toml: layer dense_1: units is -1");
    EXPECT_EQ(error.message(), "units is -1");
    EXPECT_THAT(error.context(), ::testing::ElementsAre("run cnn.toml", "layer dense_1"));
  }
}

TEST(Error, ContextReturnsTheBodysValue) {
  EXPECT_EQ(WithContext("a", [] { return 3; }), 3);
}

TEST(Error, CodesHaveTheNamesOfAbsl) {
  EXPECT_EQ(CodeName(Code::kInvalidArgument), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeName(Code::kDataLoss), "DATA_LOSS");
  EXPECT_EQ(CodeName(static_cast<Code>(99)), "UNKNOWN");
}

TEST(Error, ContextIsNotSaidTwice) {
  UserError error(Code::kInvalidArgument, "loss mse: shapes differ");
  error.AddContext("loss mse");
  EXPECT_STREQ(error.what(), "loss mse: shapes differ");
  error.AddContext("layer a: add");
  error.AddContext("layer a");
  EXPECT_STREQ(error.what(), "layer a: add: loss mse: shapes differ");
  // The beginning of another word is another context.
  error.AddContext("lay");
  EXPECT_STREQ(error.what(), "lay: layer a: add: loss mse: shapes differ");
}

}  // namespace
}  // namespace flatout
