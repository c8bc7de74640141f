#include "flatout/nn/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace flatout::nn {

Layer::Layer(std::string_view type, CommonOptions common)
    : type_(type), common_(std::move(common)) {
  // A misspelt policy should be known when the layer is made, not when it first runs.
  if (!common_.dtype.empty()) Policy::Named(common_.dtype);
}

std::string SnakeCase(std::string_view type) {
  const auto upper = [&](size_t i) {
    return i < type.size() && std::isupper(static_cast<unsigned char>(type[i])) != 0;
  };
  const auto lower = [&](size_t i) {
    return i < type.size() && std::islower(static_cast<unsigned char>(type[i])) != 0;
  };
  std::string result;
  for (size_t i = 0; i < type.size(); ++i) {
    if (i > 0 && upper(i) && (lower(i + 1) || lower(i - 1))) result += '_';
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(type[i])));
  }
  return result;
}

std::string Shown(ir::Value value) {
  std::string result = fmt::format("{}[", ir::Name(value.dtype()));
  for (int64_t i = 0; i < value.rank(); ++i) {
    if (i > 0) result += ',';
    result += i == 0 ? "None" : fmt::format("{}", value.dim(i));
  }
  return result + "]";
}

LayerPtr LayerPtr::Named(std::string name) const {
  (*this)->set_name(std::move(name));
  return *this;
}

std::span<const LayerDef> LayerTable() {
  static const std::vector<LayerDef> table = [] {
    std::vector<LayerDef> all;
    for (const auto& part :
         {CoreLayers(), ConvolutionLayers(), PoolingLayers(), NormalizationLayers(),
          RegularizationLayers(), ReshapingLayers(), MergingLayers(), AttentionLayers(),
          RecurrentLayers(), PreprocessingLayers(), AugmentationLayers()}) {
      std::copy(part.begin(), part.end(), std::back_inserter(all));
    }
    return all;
  }();
  return table;
}

const LayerDef* FindLayer(std::string_view type) {
  for (const LayerDef& def : LayerTable()) {
    if (def.type == type) return &def;
  }
  return nullptr;
}

LayerPtr LayerFromConfig(const Config& table) {
  if (!table.is_table()) {
    throw table.Complain(fmt::format(
        "expected a layer such as {{class = \"Dense\", units = 10}}, found {}", table.Describe()));
  }
  const Config* type = table.Find("class");
  if (type == nullptr) {
    throw table.Complain(
        "this layer has no key \"class\"; it names the kind, as in class = "
        "\"Dense\"");
  }
  const LayerDef* def = FindLayer(type->AsString());
  if (def == nullptr) {
    std::vector<std::string> names;
    for (const LayerDef& known : LayerTable()) names.emplace_back(known.type);
    // All the names only where none is near: there are many.
    std::string hint = DidYouMean(type->AsString(), names);
    if (hint.empty()) hint = fmt::format(" (known: {})", fmt::join(names, ", "));
    throw type->Complain(fmt::format("no layer is called \"{}\"{}", type->AsString(), hint));
  }
  if (const Config* dtype = table.Find("dtype"); dtype != nullptr && dtype->is_string()) {
    // Said at the key itself, which is nearer than the place of the layer.
    try {
      Policy::Named(dtype->AsString());
    } catch (const UserError& error) {
      throw dtype->Complain(error.message());
    }
  }
  return def->make(WithoutKey(table, "class"));
}

}  // namespace flatout::nn
