#include "flatout/cli/session.h"

#include <algorithm>
#include <future>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/process.h"
#include "flatout/checkpoint/store.h"
#include "flatout/train/saver.h"

namespace flatout::cli {

nn::Model MakeModel(const train::RunConfig& config, const std::vector<data::Field>& fields) {
  // The fields that the trainer will feed: all but the target, or those that train.inputs names.
  std::vector<std::string> names;
  std::vector<ir::Shape> shapes;
  const std::string target = config.train.target.empty() ? fields.back().name : config.train.target;
  std::vector<std::string> all;
  for (const data::Field& field : fields) all.push_back(field.name);
  if (std::find(all.begin(), all.end(), target) == all.end()) {
    throw Invalid("train.target names \"{}\", but the data has {}{}", target,
                  data::DescribeFields(fields), DidYouMean(target, all));
  }
  const auto add = [&](const data::Field& field) {
    names.push_back(field.name);
    shapes.push_back(field.shape);
  };
  for (const std::string& name : config.train.inputs) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const data::Field& field) { return field.name == name; });
    if (found == fields.end()) {
      throw Invalid("train.inputs names \"{}\", but the data has {}", name,
                    data::DescribeFields(fields));
    }
    add(*found);
  }
  if (config.train.inputs.empty()) {
    for (const data::Field& field : fields) {
      if (field.name != target) add(field);
    }
  }
  return nn::Model::FromConfig(config.model, names, shapes);
}

Session MakeSession(const train::RunConfig& config) {
  Session session;
  session.ledger = std::make_shared<watch::Ledger>(SecondsSinceProcessStart());
  // Loading a plugin and reading data both take a good part of a second.
  std::future<std::shared_ptr<train::Runtime>> runtime = std::async(
      std::launch::async, [&] { return std::make_shared<train::Runtime>(config.train); });
  session.sources = train::OpenSources(config);
  const data::SourcePtr any = session.sources.train        ? session.sources.train
                              : session.sources.validation ? session.sources.validation
                                                           : session.sources.test;
  if (any == nullptr) throw Invalid("there is no data: no split of [data] holds records");
  nn::Model model = MakeModel(config, any->fields());
  session.trainer = std::make_unique<train::Trainer>(config, std::move(model), session.sources,
                                                     runtime.get(), session.ledger);
  return session;
}

TrainedRun FindTrainedRun(const std::string& path, const std::string& weights,
                          const std::vector<std::string>& assignments) {
  TrainedRun run;
  const std::string run_file = path + "/run.toml";
  if (FileExists(run_file)) {
    run.config = train::LoadRunConfig(run_file, assignments);
    const std::string best = path + "/best.safetensors";
    std::string last = path + "/weights.safetensors";
    // A run that was killed has its last weights in its newest snapshot.
    if (!FileExists(last)) {
      for (const checkpoint::Inspection& snapshot :
           checkpoint::Store(train::CheckpointFolder(path)).List()) {
        if (snapshot.condition != checkpoint::Condition::kComplete) continue;
        last = snapshot.path + "/" + train::kWeightsGroup + ".safetensors";
        break;
      }
    }
    if (weights.empty()) {
      run.weights_path = FileExists(best) ? best : last;
    } else {
      run.weights_path = weights == "best" ? best : weights == "last" ? last : weights;
    }
  } else {
    if (!path.ends_with(".toml")) {
      throw NotFound(
          "{} is no run folder: it has no run.toml. Give the folder that flatout train "
          "wrote, or a run file and --weights",
          path);
    }
    if (weights.empty()) {
      throw Invalid(
          "{} is a run file; say with --weights which weights to use, or give a run folder", path);
    }
    run.config = train::LoadRunConfig(path, assignments);
    run.weights_path = weights;
  }
  if (!FileExists(run.weights_path)) {
    throw NotFound("there are no weights at {}; has the run saved any?", run.weights_path);
  }
  return run;
}

}  // namespace flatout::cli
