#include "flatout/data/transform.h"

#include <fmt/format.h>

#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/registry.h"

namespace flatout::data {
namespace {

registry::Kinds<TransformMaker>& Kinds() {
  static registry::Kinds<TransformMaker> kinds("a transform");
  return kinds;
}

}  // namespace

void RegisterTransform(std::string name, TransformMaker maker) {
  Kinds().Add(std::move(name), std::move(maker));
}

std::vector<std::string> TransformKinds() { return Kinds().Names(); }

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
  const TransformMaker maker = Kinds().Find(name);
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
