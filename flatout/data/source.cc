#include "flatout/data/source.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "flatout/data/clicks.h"
#include "flatout/data/dataset.h"
#include "flatout/data/idx.h"
#include "flatout/data/text.h"

namespace flatout::data {
namespace {

struct Registry {
  std::mutex mutex;
  // Named here, not by static objects in each file: a linker drops those of a static library.
  std::map<std::string, SourceOpener> kinds = {
      {"fashion_mnist", OpenFashionMnist},
      {"idx", OpenIdx},
      {"text", OpenText},
      {"clicks", OpenClicks},
  };
};

Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

}  // namespace

void RegisterSource(std::string name, SourceOpener opener) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  auto [it, fresh] = registry.kinds.emplace(std::move(name), std::move(opener));
  if (!fresh) throw Invalid("a source called \"{}\" is registered already", it->first);
}

std::vector<std::string> SourceKinds() {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, opener] : registry.kinds) names.push_back(name);
  return names;
}

SourcePtr OpenSource(const Config& table, std::string_view split) {
  if (std::find(std::begin(kSplits), std::end(kSplits), split) == std::end(kSplits)) {
    throw Invalid("no split is called \"{}\"{} The splits are train, validation and test.", split,
                  DidYouMean(split, {std::begin(kSplits), std::end(kSplits)}));
  }
  FieldReader reader(table, "data");
  std::string name;
  reader.Required("source", name);
  SourceOpener opener;
  {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    auto it = registry.kinds.find(name);
    if (it != registry.kinds.end()) opener = it->second;
  }
  if (!opener) {
    std::vector<std::string> kinds = SourceKinds();
    std::string all;
    for (const std::string& kind : kinds) all += (all.empty() ? "" : ", ") + kind;
    throw table.Find("source")->Complain(fmt::format("no source is called \"{}\"{} (known: {})",
                                                     name, DidYouMean(name, kinds), all));
  }
  std::function<SourcePtr(std::string_view)> open = opener(reader);
  PipelineOptions options;
  options.Visit(reader);
  reader.Finish();
  options.Check(table);
  return open(split);
}

std::string DescribeFields(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    if (!text.empty()) text += ", ";
    text += field.name + " " + field.shape.ToString();
  }
  return text;
}

}  // namespace flatout::data
