#include "flatout/xla/error_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flatout::xla {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

template <typename E>
E Caught(Code code, const std::string& message, std::string_view program = {}) {
  try {
    std::rethrow_exception(Translate({code, message}, "doing it", program));
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E));
    return error;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another type of error: " << error.what();
    throw;
  }
}

TEST(ErrorTextTest, LackOfMemoryIsTheUsersToMend) {
  const auto error =
      Caught<UserError>(Code::kResourceExhausted, "Out of memory allocating 99 bytes.");
  EXPECT_EQ(error.code(), Code::kResourceExhausted);
  EXPECT_EQ(error.exit_code(), kExitOutOfMemory);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("global_batch"), HasSubstr("allocating 99 bytes")));
  // Some allocators say it under another code.
  EXPECT_EQ(Caught<UserError>(Code::kInternal, "CUDA_ERROR: out of memory").exit_code(),
            kExitOutOfMemory);
}

TEST(ErrorTextTest, ShowsTheLineThatIsRefused) {
  const auto error =
      Caught<InternalError>(Code::kInvalidArgument,
                            "-:2:7: error: expected '='\n<unknown>:0: error: \nFailed to parse "
                            "using StableHLO v1.20.0, this "
                            "could indicate forward incompatibility, >12w old unsupported plugin.",
                            "module {\n  %0 add\n}\n");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("line 2, column 7"), HasSubstr("\n    %0 add\n"),
                                  HasSubstr("expected '='"), HasSubstr("report it"),
                                  Not(HasSubstr("incompatibility")), Not(HasSubstr("<unknown>"))));
  EXPECT_EQ(error.exit_code(), kExitInternal);
}

TEST(ErrorTextTest, PlacesOutsideTheProgramAreLeftAlone) {
  const auto error =
      Caught<InternalError>(Code::kInvalidArgument, "-:99:1: error: odd", "one line");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("-:99:1: error: odd"), Not(HasSubstr("at line"))));
  // Times and ratios are no places.
  EXPECT_THAT(Caught<InternalError>(Code::kUnknown, "at 12:30:59 it broke", "one line").what(),
              Not(HasSubstr("at line")));
}

TEST(ErrorTextTest, KeepsTheCode) {
  EXPECT_EQ(Caught<UserError>(Code::kUnavailable, "gone").code(), Code::kUnavailable);
  EXPECT_EQ(Caught<UserError>(Code::kDeadlineExceeded, "late").code(), Code::kDeadlineExceeded);
  EXPECT_EQ(Caught<Error>(Code::kInternal, "broken").code(), Code::kInternal);
  EXPECT_THAT(Caught<Error>(Code::kUnknown, "broken").what(),
              AllOf(HasSubstr("doing it"), HasSubstr("broken")));
}

TEST(ErrorTextTest, KnowsCommonTroubles) {
  EXPECT_THAT(
      Caught<UserError>(Code::kInvalidArgument,
                        "Unexpected PJRT_Client_Create_Args size: expected 40, got 16. The "
                        "plugin is likely built with a later version than the framework. This "
                        "plugin is built with PJRT API version 0.115.")
          .what(),
      AllOf(HasSubstr("0.115"), HasSubstr("PJRT 0.81"), HasSubstr("deps/install")));
  EXPECT_THAT(Caught<UserError>(Code::kFailedPrecondition, "No visible GPU devices.").what(),
              HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(Caught<UserError>(Code::kInvalidArgument,
                                "Unexpected option name passed to PJRT_Client_Create: bogus")
                  .what(),
              HasSubstr("bogus"));
  EXPECT_THAT(
      Caught<InternalError>(Code::kUnimplemented, "No FFI handler registered for my.op").what(),
      HasSubstr("my.op"));
}

TEST(ErrorTextTest, LongMessagesAreCut) {
  const std::string what = Caught<Error>(Code::kInternal, std::string(100'000, 'x')).what();
  EXPECT_LT(what.size(), 5000u);
  EXPECT_THAT(what, HasSubstr("(100000 characters)"));
}

}  // namespace
}  // namespace flatout::xla
