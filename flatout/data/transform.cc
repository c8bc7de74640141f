#include "flatout/data/transform.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/registry.h"

namespace flatout::data {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, TransformMaker> kinds;
};

Registry& Bare() {
  static Registry registry;
  return registry;
}

Registry& TheRegistry() {
  registry::RegisterAll();
  return Bare();
}

}  // namespace

void RegisterTransform(std::string name, TransformMaker maker) {
  Registry& registry = Bare();
  std::lock_guard lock(registry.mutex);
  auto [it, fresh] = registry.kinds.emplace(std::move(name), std::move(maker));
  if (!fresh) throw Invalid("a transform called \"{}\" is registered already", it->first);
}

std::vector<std::string> TransformKinds() {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, maker] : registry.kinds) names.push_back(name);
  return names;
}

TransformPtr MakeTransform(const Config& table) {
  if (!table.is_table()) {
    throw table.Complain(
        "a transform is a table such as { op = \"cast\", field = \"x\", dtype = "
        "\"f32\" }, found " +
        table.Describe());
  }
  const Config* op = table.Find("op");
  if (op == nullptr) throw table.Complain("a transform needs the key \"op\", its name");
  const std::string& name = op->AsString();
  TransformMaker maker;
  {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    auto it = registry.kinds.find(name);
    if (it != registry.kinds.end()) maker = it->second;
  }
  if (!maker) {
    const std::vector<std::string> kinds = TransformKinds();
    throw op->Complain(fmt::format("no transform is called \"{}\"{} (known: {})", name,
                                   DidYouMean(name, kinds), fmt::join(kinds, ", ")));
  }
  FieldReader reader(table, "transform " + name);
  reader.Take("op");
  reader.Take("splits");
  TransformPtr transform = maker(reader);
  reader.Finish();
  return transform;
}

std::vector<TransformPtr> Fuse(std::vector<TransformPtr> transforms) {
  std::vector<TransformPtr> fused;
  for (TransformPtr& next : transforms) {
    TransformPtr both = fused.empty() ? nullptr : fused.back()->FuseWith(next);
    if (both) {
      fused.back() = std::move(both);
    } else {
      fused.push_back(std::move(next));
    }
  }
  return fused;
}

}  // namespace flatout::data
