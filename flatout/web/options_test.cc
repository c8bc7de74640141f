#include "flatout/web/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace flatout::web {
namespace {

using ::testing::HasSubstr;

template <typename Options>
Options Read(const std::string& toml) {
  Options options;
  ReadConfig(Config::ParseToml(toml, "run.toml"), options);
  return options;
}

template <typename Options>
std::string Complaint(const std::string& toml) {
  try {
    Read<Options>(toml);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(HttpOptions, AsWritten) {
  const auto options = Read<HttpOptions>("port = 8090\naddress = \"0.0.0.0\"\nlinger_seconds = 5");
  EXPECT_EQ(options.port, 8090);
  EXPECT_EQ(options.address, "0.0.0.0");
  EXPECT_EQ(options.linger_seconds, 5);
  EXPECT_EQ(Read<HttpOptions>("").port, 0);
}

TEST(HttpOptions, WhatIsWrong) {
  EXPECT_THAT(Complaint<HttpOptions>("port = 70000"),
              HasSubstr("run.toml:1:1: port: must be a port"));
  EXPECT_THAT(Complaint<HttpOptions>("port = -1"), HasSubstr("must be a port"));
  EXPECT_THAT(Complaint<HttpOptions>("prot = 1"), HasSubstr("did you mean \"port\"?"));
  EXPECT_THAT(Complaint<HttpOptions>("port_in_use = \"wait\""), HasSubstr("\"next\" or \"error\""));
  EXPECT_THAT(Complaint<HttpOptions>("address = \"\""), HasSubstr("must be an address"));
  EXPECT_THAT(Complaint<HttpOptions>("linger_seconds = -1"), HasSubstr("must not be negative"));
  EXPECT_THAT(Complaint<PushOptions>("address = \"gateway:9091\""), HasSubstr("http://"));
  EXPECT_THAT(Complaint<PushOptions>("every_seconds = 0"), HasSubstr("must be positive"));
  EXPECT_THAT(Complaint<PushOptions>("job = \"\""), HasSubstr("must not be empty"));
}

TEST(Token, FromAFileOrTheEnvironment) {
  const std::string path = ::testing::TempDir() + "flatout_token_file";
  unsetenv("FLATOUT_HTTP_TOKEN");
  EXPECT_EQ(ReadToken({}), "");
  setenv("FLATOUT_HTTP_TOKEN", "from-environment", 1);
  EXPECT_EQ(ReadToken({}), "from-environment");
  std::ofstream(path) << "  from-file\n";
  EXPECT_EQ(ReadToken({.token_file = path}), "from-file");
  std::ofstream(path) << "\n";
  EXPECT_THROW(ReadToken({.token_file = path}), UserError);
  std::ofstream(path) << "two words\n";
  EXPECT_THROW(ReadToken({.token_file = path}), UserError);
  std::filesystem::remove(path);
  EXPECT_THROW(ReadToken({.token_file = path}), UserError);
  unsetenv("FLATOUT_HTTP_TOKEN");
}

}  // namespace
}  // namespace flatout::web
