// tf.train.Example: by a declared list of features, and by what inference finds.
#include <optional>
#include <string>
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
      ExampleFormat::kExample,
      {FeatureSpec{
           .name = "image", .kind = FeatureKind::kBytes, .shape = {2, 2}, .as = ir::DType::kU8},
       FeatureSpec{.name = "x", .kind = FeatureKind::kFloat, .shape = {3}},
       FeatureSpec{.name = "label", .kind = FeatureKind::kInt64, .bound = 10},
       FeatureSpec{.name = "names", .kind = FeatureKind::kBytes, .shape = {data::kAny}},
       FeatureSpec{.name = "ids",
                   .kind = FeatureKind::kInt64,
                   .shape = {data::kAny},
                   .as = ir::DType::kI64},
       FeatureSpec{.name = "weight", .kind = FeatureKind::kFloat, .default_numbers = {1}}});
  return parser;
}

void Parse(const ExampleParser& parser, std::span<const std::byte> bytes) {
  Block block;
  block.Reset(parser.fields(), 1);
  ExampleParser::Scratch scratch;
  if (!Accepts([&] { parser.Parse(bytes, block, 0, scratch); })) return;
  // What was taken can be written and read back to the same.
  std::string text;
  data::SerializeExample(block, 0, text);
  Block second;
  second.Reset(parser.fields(), 1);
  parser.Parse(std::as_bytes(std::span<const char>(text)), second, 0, scratch);
  for (size_t f = 0; f < parser.fields().size(); ++f) {
    const auto a = block.dims(f, 0), b = second.dims(f, 0);
    FUZZ_CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    if (parser.fields()[f].text) {
      const auto x = block.texts(f, 0), y = second.texts(f, 0);
      FUZZ_CHECK(std::equal(x.begin(), x.end(), y.begin(), y.end()));
    } else {
      const auto x = block.bytes(f, 0), y = second.bytes(f, 0);
      FUZZ_CHECK(std::equal(x.begin(), x.end(), y.begin(), y.end()));
    }
  }
}

}  // namespace

FUZZ_TARGET(bytes) {
  Parse(Declared(), bytes);
  ExampleInference inference;
  if (!inference.Add(bytes) || inference.empty() || inference.sequence()) return;
  // What inference says of a record reads that record.
  std::vector<FeatureSpec> specs;
  if (!Accepts([&] { specs = inference.Specs(); })) return;
  std::optional<ExampleParser> inferred;
  if (!Accepts([&] { inferred.emplace(ExampleFormat::kExample, specs); })) return;
  Block block;
  block.Reset(inferred->fields(), 1);
  ExampleParser::Scratch scratch;
  Accepts([&] { inferred->Parse(bytes, block, 0, scratch); });
}

}  // namespace flatout::fuzz
