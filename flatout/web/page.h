// A run as HTML: the sections that the live page and the report share, and the page around them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flatout/watch/run_status.h"

namespace flatout::web {

// One part of the page: its id, and what is in it. An empty one is not shown.
struct Section {
  std::string id;
  std::string html;
};
// "head", "tiles", "verdict", "curves", "time", "input", "devices", "checkpoints", "log". Always
// all of them, in this order.
std::vector<Section> Sections(const watch::RunStatus& status);

// "● training · 42 % · cnn": for the title of a window.
std::string Title(const watch::RunStatus& status);

// The live page, which fills itself. `nonce` goes to the one script that may run.
std::string LivePage(const std::string& nonce);

// Whole documents, without script and without anything from elsewhere, of one run or of several
// beside each other. They stand on their own in any browser.
std::string Report(const std::vector<watch::RunStatus>& runs);

// What programs get: the status as JSON; numbers that are not known are null.
std::string StatusJson(const watch::RunStatus& status);
// What the live page gets: {"title": ..., "sections": {id: html}}.
std::string SectionsJson(const watch::RunStatus& status);

}  // namespace flatout::web
