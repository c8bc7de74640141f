// What cli.cc needs of each subcommand.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace flatout::cli {

// Adds the subcommand to the parser; what it should do when chosen is stored in *run, which returns
// the exit code.
using Run = std::function<int()>;
void AddTrain(CLI::App& app, Run* run);       // train.cc
void AddEvaluate(CLI::App& app, Run* run);    // evaluate.cc
void AddPredict(CLI::App& app, Run* run);     // evaluate.cc
void AddDevices(CLI::App& app, Run* run);     // devices.cc
void AddModels(CLI::App& app, Run* run);      // models.cc
void AddDoctor(CLI::App& app, Run* run);      // doctor.cc
void AddPlan(CLI::App& app, Run* run);        // plan.cc
void AddPlugin(CLI::App& app, Run* run);      // plugin.cc
void AddProfile(CLI::App& app, Run* run);     // profile.cc
void AddData(CLI::App& app, Run* run);        // data.cc
void AddCheckpoint(CLI::App& app, Run* run);  // checkpoint.cc
void AddSupervise(CLI::App& app, Run* run);   // supervise.cc
void AddReport(CLI::App& app, Run* run);      // report.cc
void AddTop(CLI::App& app, Run* run);         // report.cc

// "flatout: message" on standard error, after what standard output still holds.
void PrintError(const std::string& message);

}  // namespace flatout::cli
