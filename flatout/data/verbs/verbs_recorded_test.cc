// Every pipeline of tests/recorded/datasets.json gives what tf.data gives: over records with
// numbers and over a stream, on demand and ahead.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "flatout/data/dataset.h"
#include "flatout/data/verbs/verbs_testing.h"

namespace flatout::data {
namespace {

using nlohmann::json;

const Field kValue{"value", ir::Shape::Scalar(ir::DType::kI64)};

// The numbers of the list `shape`, from `first` on.
void Count(Block& out, int64_t row, std::vector<int64_t> shape, int64_t first) {
  auto* to = reinterpret_cast<int64_t*>(out.SetCell(0, row, shape));
  int64_t size = 1;
  for (int64_t dim : shape) size *= dim;
  for (int64_t i = 0; i < size; ++i) to[i] = first + i;
}

// The field "value" under another name.
Dataset Renamed(const Dataset& dataset, const std::string& name) {
  return dataset.Map({Field{name, dataset.fields()[0].shape}},
                     [](const Block& in, Block& out) { out.ShareColumn(0, in, 0); });
}

// `stream`: every source is a stream.
Dataset Build(const json& pipeline, bool stream) {
  const json& source = pipeline.at("source");
  const std::string kind = source.at(0);
  const auto dataset = [&]() -> Dataset {
    if (kind == "range") {
      if (source.size() == 2) return Dataset::Range(0, source[1]);
      return Dataset::Range(source[1], source[2], source.size() > 3 ? source[3].get<int64_t>() : 1);
    }
    if (kind == "ragged") {
      const auto lengths = source[1].get<std::vector<int64_t>>();
      return Dataset::FromFunction(
          {Field{"value", ir::Shape(ir::DType::kI64, {kAny})}},
          static_cast<int64_t>(lengths.size()), [lengths](int64_t record, Block& out, int64_t row) {
            Count(out, row, {lengths[static_cast<size_t>(record)]}, 10 * record);
          });
    }
    if (kind == "matrices") {
      const auto rows = source[1].get<std::vector<int64_t>>();
      const auto columns = source[2].get<std::vector<int64_t>>();
      return Dataset::FromFunction({Field{"value", ir::Shape(ir::DType::kI64, {kAny, kAny})}},
                                   static_cast<int64_t>(rows.size()),
                                   [rows, columns](int64_t record, Block& out, int64_t row) {
                                     const auto i = static_cast<size_t>(record);
                                     Count(out, row, {rows[i], columns[i]}, 100 * record);
                                   });
    }
    std::vector<Dataset> inputs;
    for (const json& input : source.at(1)) inputs.push_back(Build(input, stream));
    if (kind == "interleave") return Dataset::Interleave(inputs, source[2], source[3]);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = Renamed(inputs[i], "value" + std::to_string(i));
    }
    return Dataset::Zip(inputs);
  };
  Dataset result = dataset();
  if (stream && result.size() != kUnknown) result = testing::AsStream(result);
  for (const json& step : pipeline.value("steps", json::array())) {
    const std::string verb = step.at(0);
    const auto number = [&](size_t i) { return step.at(i).get<int64_t>(); };
    if (verb == "take") {
      result = result.Take(number(1));
    } else if (verb == "skip") {
      result = result.Skip(number(1));
    } else if (verb == "repeat") {
      result = result.Repeat(step.size() > 1 ? number(1) : -1);
    } else if (verb == "shard") {
      result = result.Shard(number(1), number(2));
    } else if (verb == "concatenate") {
      result = result.Concatenate(Build(step.at(1), stream));
    } else if (verb == "batch") {
      result = result.Batch(number(1), step.at(2));
    } else if (verb == "window") {
      result = result.Window(number(1), number(2), number(3), step.at(4));
    } else if (verb == "unbatch") {
      result = result.Unbatch();
    } else if (verb == "rebatch") {
      result = result.Rebatch(number(1), step.at(2));
    } else if (verb == "padded_batch") {
      PaddedBatchOptions options;
      options.size = number(1);
      options.drop_remainder = step.at(2);
      if (!step.at(3).is_null()) {
        options.shapes = {{"value", step.at(3).get<std::vector<int64_t>>()}};
      }
      options.values = {{"value", step.at(4).get<double>()}};
      result = result.PaddedBatch(options);
    } else if (verb == "bucket") {
      BucketOptions options;
      options.length = [](const Block& block, int64_t row) { return block.dims(0, row)[0]; };
      options.boundaries = step.at(1).get<std::vector<int64_t>>();
      options.batch_sizes = step.at(2).get<std::vector<int64_t>>();
      options.pad_to_boundary = step.at(3);
      options.drop_remainder = step.at(4);
      result = result.BucketByLength(options);
    } else {
      ADD_FAILURE() << "no verb " << verb;
    }
  }
  return result;
}

// Component f of the element, "[2,3] 1 2 3 4 5 6"; of a batch only the rows that are no padding,
// which must stand at its end and hold nothing but the padding value.
std::string Component(const Element& element, size_t f, double padding) {
  const Block& block = element.block();
  const Field& field = block.fields()[f];
  const auto found = block.dims(f, element.row());
  std::vector<int64_t> dims(found.begin(), found.end());
  auto values = element.Values<int64_t>(field.name);
  const Field& last = block.fields().back();
  if (last.name == "weight") {
    const auto weights = element.Values<float>("weight");
    EXPECT_EQ(static_cast<int64_t>(weights.size()), dims[0]);
    const auto rows = std::count(weights.begin(), weights.end(), 1.0f);
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_EQ(weights[i], static_cast<int64_t>(i) < rows ? 1 : 0);
    }
    const size_t each = dims[0] == 0 ? 0 : values.size() / static_cast<size_t>(dims[0]);
    for (size_t i = static_cast<size_t>(rows) * each; i < values.size(); ++i) {
      EXPECT_EQ(static_cast<double>(values[i]), padding);
    }
    values = values.first(static_cast<size_t>(rows) * each);
    dims[0] = rows;
  }
  return fmt::format("[{}] {}", fmt::join(dims, ","), fmt::join(values, " "));
}

TEST(Recorded, EqualsTensorFlow) {
  std::ifstream file(std::string(FLATOUT_SOURCE_DIR) + "/tests/recorded/datasets.json");
  const json recorded = json::parse(file);
  ASSERT_GT(recorded.at("cases").size(), 250u);
  for (const json& one : recorded.at("cases")) {
    const json& pipeline = one.at("pipeline");
    SCOPED_TRACE(pipeline.dump());
    double padding = 0;
    for (const json& step : pipeline.value("steps", json::array())) {
      if (step.at(0) == "padded_batch") padding = step.at(4);
    }
    std::vector<std::string> expected;
    for (const json& element : one.at("elements")) {
      std::string text;
      for (const json& component : element) {
        text += fmt::format("[{}] {};",
                            fmt::join(component.at("shape").get<std::vector<int64_t>>(), ","),
                            fmt::join(component.at("data").get<std::vector<int64_t>>(), " "));
      }
      expected.push_back(text);
    }
    for (const bool stream : {false, true}) {
      for (const bool ahead : {false, true}) {
        Dataset dataset = Build(pipeline, stream);
        if (dataset.size() != kUnknown) {
          EXPECT_EQ(dataset.size(), static_cast<int64_t>(expected.size()));
        }
        if (ahead) dataset = dataset.Prefetch(2).WithOptions({.workers = 1});
        Iterator it = dataset.MakeIterator();
        std::vector<std::string> found;
        while (const Element* element = it.Next()) {
          std::string text;
          for (size_t f = 0; f < element->block().fields().size(); ++f) {
            if (element->block().fields()[f].name == "weight") continue;
            text += Component(*element, f, padding) + ";";
          }
          found.push_back(text);
        }
        EXPECT_EQ(found, expected)
            << (stream ? "a stream" : "with numbers") << (ahead ? ", ahead" : "");
      }
    }
  }
}

}  // namespace
}  // namespace flatout::data
