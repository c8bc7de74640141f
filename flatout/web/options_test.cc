#include "flatout/web/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace flatout::web {
namespace {

using ::testing::AllOf;
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
  for (const char* none : {"-1", "inf", "nan", "1e300"}) {
    EXPECT_THAT(Complaint<HttpOptions>(std::string("linger_seconds = ") + none),
                HasSubstr("run.toml:1:1: linger_seconds: must be a number of seconds from 0 to "));
    EXPECT_THAT(Complaint<PushOptions>(std::string("every_seconds = ") + none),
                HasSubstr("must be a number of seconds from 0.1 to "));
  }
  EXPECT_THAT(Complaint<PushOptions>("every_seconds = 0"), HasSubstr("from 0.1 to"));
  EXPECT_THAT(Complaint<PushOptions>("job = \"\""), HasSubstr("must not be empty"));
}

// One value where a table is meant: what to write instead is said.
TEST(HttpOptions, ValuesInPlaceOfTables) {
  const auto complaint = [](const std::string& text, auto options) -> std::string {
    const Config tree = Config::ParseToml("value = " + text, "run.toml");
    try {
      ReadConfig(*tree.Find("value"), options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("9000", HttpOptions()), HasSubstr("write value.port = 9000"));
  EXPECT_THAT(complaint("true", HttpOptions()), HasSubstr("write value.port = 8090"));
  EXPECT_THAT(complaint("\"http://g:1\"", PushOptions()),
              HasSubstr("write value.address = \"http://g:1\""));
  EXPECT_THAT(complaint("9091", PushOptions()), HasSubstr("write value.address = \"http://"));
}

TEST(PushOptions, AddressesThatNameAGateway) {
  struct Case {
    const char* address;
    const char* base;
    const char* host;
    int port;
    const char* prefix;
  };
  for (const auto& [address, base, host, port, prefix] :
       {Case{"http://gateway:9091", "http://gateway:9091", "gateway", 9091, ""},
        Case{"https://a.b.c/x/y//", "https://a.b.c", "a.b.c", 443, "/x/y"},
        Case{"http://127.0.0.1/", "http://127.0.0.1", "127.0.0.1", 80, ""},
        Case{"http://[::1]:65535/p", "http://[::1]:65535", "::1", 65535, "/p"}}) {
    const GatewayAddress parsed = ParseGateway(address);
    EXPECT_EQ(parsed.base, base);
    EXPECT_EQ(parsed.host, host);
    EXPECT_EQ(parsed.port, port);
    EXPECT_EQ(parsed.prefix, prefix);
  }
}

TEST(PushOptions, AddressesThatNameNone) {
  for (const char* address : {"gateway:9091",
                              "ftp://gateway",
                              "http://",
                              "http:///metrics",
                              "http://:9091",
                              "https://:1/",
                              "http://g:0",
                              "http://g:65536",
                              "http://g:99999999999",
                              "http://g:port",
                              "http://g:",
                              "http://[::1",
                              "http://[]:9091",
                              "http://::1:9091",
                              "http://[::1]9091",
                              "http://a b",
                              "http://g/?x=1",
                              "http://g#x",
                              "http://user:word@g",
                              "http",
                              "://g"}) {
    EXPECT_THAT(Complaint<PushOptions>(std::string("address = \"") + address + "\""),
                AllOf(HasSubstr("run.toml:1:1: address: "), HasSubstr("write it as")))
        << address;
  }
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
