// tf.train.SequenceExample: by a declared list of features, and by what inference finds.
#include <optional>
#include <vector>

#include "flatout/data/formats/example.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

using data::Block;
using data::ExampleFormat;
using data::ExampleInference;
using data::ExampleParser;
using data::FeatureKind;
using data::FeatureSpec;

namespace {

const ExampleParser& Declared() {
  static const ExampleParser parser(
      ExampleFormat::kSequenceExample,
      {FeatureSpec{.name = "label", .kind = FeatureKind::kInt64},
       FeatureSpec{.name = "name", .kind = FeatureKind::kBytes, .default_text = ""},
       FeatureSpec{.name = "frames", .kind = FeatureKind::kFloat, .sequence = true, .shape = {2}},
       FeatureSpec{.name = "words", .kind = FeatureKind::kBytes, .sequence = true}});
  return parser;
}

void Parse(const ExampleParser& parser, std::span<const std::byte> bytes) {
  Block block;
  block.Reset(parser.fields(), 1);
  ExampleParser::Scratch scratch;
  if (!Accepts([&] { parser.Parse(bytes, block, 0, scratch); })) return;
  for (size_t f = 0; f < parser.fields().size(); ++f) {
    const data::Field& field = parser.fields()[f];
    const auto dims = block.dims(f, 0);
    FUZZ_CHECK(dims.size() == field.shape.dims.size());
    int64_t count = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      FUZZ_CHECK(dims[d] >= 0);
      FUZZ_CHECK(field.shape.dims[d] == data::kAny || field.shape.dims[d] == dims[d]);
      count *= dims[d];
    }
    if (field.text && !dims.empty()) {
      FUZZ_CHECK(static_cast<int64_t>(block.texts(f, 0).size()) == count);
      for (std::string_view text : block.texts(f, 0)) FUZZ_CHECK(text.size() <= bytes.size());
    } else if (!field.text) {
      FUZZ_CHECK(static_cast<int64_t>(block.bytes(f, 0).size()) ==
                 count * ir::ByteSize(field.shape.dtype));
    }
  }
}

}  // namespace

FUZZ_TARGET(bytes) {
  Parse(Declared(), bytes);
  ExampleInference inference;
  if (!inference.Add(bytes) || inference.empty()) return;
  std::optional<ExampleParser> inferred;
  if (Accepts([&] { inferred.emplace(ExampleFormat::kSequenceExample, inference.Specs()); })) {
    Parse(*inferred, bytes);
  }
}

}  // namespace flatout::fuzz
