#include "flatout/cli/save_tuned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flatout/base/error.h"

namespace flatout::cli {
namespace {

std::string With(const std::string& text) {
  return WithDataKeys(text, "run.toml", {{"workers", 3}, {"prefetch", 16}});
}

TEST(SaveTuned, ReplacesValuesInTheirPlace) {
  EXPECT_EQ(With("# mine\n[data] # here\nsource = \"idx\"\nworkers = \"auto\"  # tuned\n"
                 "prefetch=4 # launches\n[train]\nepochs = 3\n"),
            "# mine\n[data] # here\nsource = \"idx\"\nworkers = 3  # tuned\n"
            "prefetch=16 # launches\n[train]\nepochs = 3\n");
  EXPECT_EQ(With("[data]\nworkers = 'auto'\nprefetch = 1_0\n"),
            "[data]\nworkers = 3\nprefetch = 16\n");
  EXPECT_EQ(With("data = { source = \"idx\", workers = 1, prefetch = 2 }\n"),
            "data = { source = \"idx\", workers = 3, prefetch = 16 }\n");
}

TEST(SaveTuned, AddsLinesBelowTheTable) {
  EXPECT_EQ(With("[train]\nepochs = 1\n\n[data]\n# from disk\nsource = \"idx\"\n"),
            "[train]\nepochs = 1\n\n[data]\nprefetch = 16\nworkers = 3\n# from disk\n"
            "source = \"idx\"\n");
  EXPECT_EQ(With("[data]\r\nsource = \"idx\"\r\n"),
            "[data]\r\nprefetch = 16\r\nworkers = 3\r\nsource = \"idx\"\r\n");
  EXPECT_EQ(With("[ data ]"), "[ data ]\nprefetch = 16\nworkers = 3\n");
}

TEST(SaveTuned, RefusesWhatItCannotChange) {
  // A table written inline takes no lines, and text is no table.
  EXPECT_THROW(With("data = { source = \"idx\" }\n"), UserError);
  EXPECT_THROW(With("note = '''\n[data]\n'''\ndata.source = \"idx\"\n"), UserError);
  EXPECT_THROW(With("[data.features]\nx = 1\n"), UserError);
}

}  // namespace
}  // namespace flatout::cli
