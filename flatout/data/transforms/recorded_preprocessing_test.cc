// Transforms of tables and text against what Keras, TensorFlow, Hugging Face's tokenizers and
// tiktoken give (tests/recorded/preprocessing.json, tokenizers.json).
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "flatout/base/file.h"
#include "flatout/data/formats/bpe.h"
#include "flatout/data/source_testing.h"
#include "flatout/data/testing.h"
#include "flatout/data/transforms/field_transform.h"

namespace flatout::data {
namespace {

using nlohmann::json;
using testing::ApplyTo;
using testing::RowOf;

json LoadRecorded(const std::string& name) {
  return json::parse(ReadFile(std::string(FLATOUT_SOURCE_DIR) + "/tests/recorded/" + name));
}

Config ToConfig(const json& value) {
  if (value.is_boolean()) return Config(value.get<bool>());
  if (value.is_number_integer()) return Config(value.get<int64_t>());
  if (value.is_number()) return Config(value.get<double>());
  if (value.is_string()) return Config(value.get<std::string>());
  std::vector<Config> items;
  for (const json& item : value) items.push_back(ToConfig(item));
  return Config::Array(std::move(items));
}

double Double(const json& value) {
  if (value == "nan") return std::nan("");
  if (value == "inf") return HUGE_VAL;
  if (value == "-inf") return -HUGE_VAL;
  return value.get<double>();
}

std::vector<int64_t> DimsOf(const json& tensor) {
  return tensor["shape"].get<std::vector<int64_t>>();
}

// The first dimension becomes the rows.
Block ToBlock(const std::string& name, const json& tensor) {
  Block block;
  if (tensor.contains("rows")) {
    const auto lists = tensor["rows"].get<std::vector<std::vector<std::string>>>();
    block.Reset({TextField(name, {kAny})}, static_cast<int64_t>(lists.size()));
    for (size_t i = 0; i < lists.size(); ++i) {
      const std::vector<std::string_view> views(lists[i].begin(), lists[i].end());
      const int64_t dims[] = {static_cast<int64_t>(views.size())};
      block.SetTexts(0, static_cast<int64_t>(i), dims, views);
    }
    return block;
  }
  std::vector<int64_t> dims = DimsOf(tensor);
  const int64_t rows = dims.front();
  if (tensor["dtype"] == "string") {
    block.Reset({TextField(name)}, rows);
    for (int64_t row = 0; row < rows; ++row) {
      block.SetText(0, row, tensor["data"][static_cast<size_t>(row)].get<std::string>());
    }
    return block;
  }
  const ir::Shape shape(ir::ParseDType(tensor["dtype"].get<std::string>()),
                        {dims.begin() + 1, dims.end()});
  block.Reset({Field{name, shape}}, rows);
  std::vector<double> values;
  for (const json& value : tensor["data"]) values.push_back(Double(value));
  ConvertElements(ir::DType::kF64, reinterpret_cast<const std::byte*>(values.data()), shape.dtype,
                  block.data(0), static_cast<int64_t>(values.size()));
  return block;
}

// One field for each input.
Block SideBySide(const json& inputs) {
  std::vector<Block> blocks;
  std::vector<Field> fields;
  for (const auto& [name, tensor] : inputs.items()) {
    blocks.push_back(ToBlock(name, tensor));
    fields.push_back(blocks.back().fields()[0]);
  }
  Block block;
  block.Reset(fields, blocks[0].rows());
  for (size_t f = 0; f < fields.size(); ++f) block.ShareColumn(f, blocks[f], 0);
  return block;
}

void ExpectTexts(const Block& found, const json& output) {
  const bool ragged = output.contains("rows");
  for (int64_t row = 0; row < found.rows(); ++row) {
    const auto i = static_cast<size_t>(row);
    if (!ragged) {
      EXPECT_EQ(found.text(0, row), output["data"][i].get<std::string>());
      continue;
    }
    std::vector<std::string> words;
    for (std::string_view word : found.texts(0, row)) words.emplace_back(word);
    EXPECT_EQ(words, output["rows"][i].get<std::vector<std::string>>()) << row;
  }
}

void ExpectNumbers(const Block& found, const json& output, double tolerance) {
  const ir::DType dtype = found.fields()[0].shape.dtype;
  size_t at = 0;
  for (int64_t row = 0; row < found.rows(); ++row) {
    const Elements e = ElementsOf(found, 0, row);
    for (int64_t i = 0; i < e.count; ++i, ++at) {
      double value = 0;
      ConvertElements(dtype, e.data + i * ir::ByteSize(dtype), ir::DType::kF64,
                      reinterpret_cast<std::byte*>(&value), 1);
      double expected = Double(output["data"].at(at));
      // Written as the shortest decimal that reads back as the same f32.
      if (ir::IsFloat(dtype) && dtype != ir::DType::kF64) expected = static_cast<float>(expected);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(value)) << at;
      } else if (tolerance == 0 || std::isinf(expected)) {
        EXPECT_EQ(value, expected) << at;
      } else {
        EXPECT_NEAR(value, expected, tolerance * std::max(1.0, std::fabs(expected))) << at;
      }
    }
  }
  EXPECT_EQ(at, output["data"].size());
}

TEST(RecordedPreprocessing, MatchesKerasAndTensorFlow) {
  const json recorded = LoadRecorded("preprocessing.json");
  ASSERT_GE(recorded["cases"].size(), 59u);
  for (const json& one : recorded["cases"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    Config table = Config::Table();
    table.Set("op", Config(one["op"].get<std::string>()));
    if (one.contains("input")) table.Set("field", Config(std::string("x")));
    for (const auto& [key, value] : one["config"].items()) table.Set(key, ToConfig(value));
    Block in;
    if (one.contains("input")) {
      in = ToBlock("x", one["input"]);
    } else {
      in = SideBySide(one["inputs"]);
      table.Set("output", Config(std::string("c")));
    }
    Block out = ApplyTo(*MakeTransform(table), in);
    if (!one.contains("input")) {
      out = ApplyTo(*testing::TransformOf("op = 'select'\nfields = 'c'"), out);
    }
    const json& output = one["output"];
    if (output["dtype"] == "string") {
      ExpectTexts(out, output);
      continue;
    }
    // The logarithm is the library's own, to its last digit or one beside it.
    ExpectNumbers(out, output, one["op"] == "log1p" ? 1e-7 : 0);
  }
}

class RecordedTokenizers : public ::testing::Test {
 protected:
  RecordedTokenizers() {
    scratch_.Write("vocab.json", recorded_["vocab"].dump());
    std::string merges = "#version: 0.2\n";
    for (const json& merge : recorded_["merges"]) merges += merge.get<std::string>() + "\n";
    scratch_.Write("merges.txt", merges);
    scratch_.Write("small.tiktoken", recorded_["ranks"].get<std::string>());
  }
  void Expect(const std::string& keys, const std::string& name) {
    TransformPtr transform = testing::TransformOf("op = 'tokenize'\nfield = 'x'\n" + keys);
    Block in;
    const json& cases = recorded_["cases"];
    ASSERT_GE(cases.size(), 24u);
    in.Reset({TextField("x")}, static_cast<int64_t>(cases.size()));
    for (size_t i = 0; i < cases.size(); ++i) {
      in.SetText(0, static_cast<int64_t>(i), cases[i]["text"].get<std::string>());
    }
    // Twice: the second time from what is remembered.
    for (int time = 0; time < 2; ++time) {
      const Block out = ApplyTo(*transform, in);
      for (size_t i = 0; i < cases.size(); ++i) {
        EXPECT_EQ(RowOf<int32_t>(out, 0, static_cast<int64_t>(i)),
                  cases[i][name].get<std::vector<int32_t>>())
            << name << ": " << cases[i]["text"];
      }
    }
  }
  const json recorded_ = LoadRecorded("tokenizers.json");
  testing::Scratch scratch_;
};

TEST_F(RecordedTokenizers, MatchHuggingFace) {
  Expect("vocabulary = '" + (scratch_ / "vocab.json") + "'\nmerges = '" +
             (scratch_ / "merges.txt") + "'",
         "huggingface");
}

TEST_F(RecordedTokenizers, MatchTiktoken) {
  const std::string keys = "vocabulary = '" + (scratch_ / "small.tiktoken") + "'\n";
  Expect(keys, "cl100k");
  for (const char* pattern : {"gpt2", "cl100k", "o200k"}) {
    Expect(keys + "pattern = '" + pattern + "'", pattern);
  }
}

}  // namespace
}  // namespace flatout::data
