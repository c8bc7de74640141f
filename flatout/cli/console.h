// What people see of a run: a progress bar on a terminal, plain lines elsewhere.
#pragma once

#include <memory>
#include <string>

#include "flatout/train/observer.h"

namespace flatout::cli {

// A run as lines of text, wherever they go.
class Lines : public train::Observer {
 public:
  void OnStart(const train::RunStart& run) override;
  void OnLog(const train::Progress& progress) override;
  void OnEpochEnd(const train::EpochEnd& end) override;
  void OnMessage(const std::string& message) override { Line(message); }

 protected:
  virtual void Line(const std::string& line) = 0;
};

// `mode`: "auto", "bar", "plain" or "none". Writes to standard output.
std::unique_ptr<train::Observer> MakeConsole(const std::string& mode);

}  // namespace flatout::cli
