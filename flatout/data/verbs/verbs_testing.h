// What the tests of verbs share: elements as text, whole epochs, and checks that hold for any data
// set.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flatout/data/dataset.h"

namespace flatout::data::testing {

inline std::string RenderNumbers(const Field& field, std::span<const std::byte> bytes) {
  std::string text;
  const auto add = [&]<typename T>(T) {
    for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + i, sizeof(T));
      if constexpr (sizeof(T) == 1) {
        text += fmt::format("{}{}", text.empty() ? "" : " ", static_cast<int>(value));
      } else {
        text += fmt::format("{}{}", text.empty() ? "" : " ", value);
      }
    }
  };
  switch (field.shape.dtype) {
    case ir::DType::kI64:
      add(int64_t{});
      break;
    case ir::DType::kI32:
      add(int32_t{});
      break;
    case ir::DType::kI16:
      add(int16_t{});
      break;
    case ir::DType::kI8:
      add(int8_t{});
      break;
    case ir::DType::kU8:
      add(uint8_t{});
      break;
    case ir::DType::kF32:
      add(float{});
      break;
    case ir::DType::kF64:
      add(double{});
      break;
    default:
      add(uint16_t{});
      break;
  }
  return text;
}

// "value 3", "value [2] 3 4, weight [2] 1 1", "name \"a\"": everything in an element.
inline std::string Render(const Element& element) {
  std::string all;
  const Block& block = element.block();
  for (size_t f = 0; f < block.fields().size(); ++f) {
    const Field& field = block.fields()[f];
    all += fmt::format("{}{}", all.empty() ? "" : ", ", field.name);
    const auto dims = block.dims(f, element.row());
    if (!dims.empty()) all += fmt::format(" [{}]", fmt::join(dims, ","));
    if (field.text) {
      for (std::string_view text : element.Texts(field.name)) all += fmt::format(" \"{}\"", text);
    } else {
      const std::string numbers = RenderNumbers(field, block.bytes(f, element.row()));
      if (!numbers.empty()) all += " " + numbers;
    }
  }
  return all;
}

// The rest of the iterator's epoch.
inline std::vector<std::string> Rest(Iterator& it) {
  std::vector<std::string> all;
  while (const Element* element = it.Next()) all.push_back(Render(*element));
  return all;
}
inline std::vector<std::string> Epoch(const Dataset& dataset, int64_t epoch = 0) {
  Iterator it = dataset.MakeIterator();
  for (int64_t e = 0; e < epoch; ++e) Rest(it);
  return Rest(it);
}

// The first `count` things that Next gives, "end" for the end of an epoch.
inline std::vector<std::string> Following(Iterator& it, size_t count) {
  std::vector<std::string> all;
  while (all.size() < count) {
    const Element* element = it.Next();
    all.push_back(element == nullptr ? "end" : Render(*element));
  }
  return all;
}

// The numbers of the field "value", of all elements of an epoch.
inline std::vector<int64_t> Values(const Dataset& dataset, int64_t epoch = 0) {
  Iterator it = dataset.MakeIterator();
  std::vector<int64_t> all;
  for (int64_t e = 0; e <= epoch; ++e) {
    all.clear();
    while (const Element* element = it.Next()) {
      for (int64_t value : element->Values<int64_t>("value")) all.push_back(value);
    }
  }
  return all;
}

// The element at a position of an epoch, by Source::Read.
inline std::string ReadOne(const Dataset& dataset, int64_t epoch, int64_t position) {
  ReadContext context;
  Block block;
  block.Reset(dataset.fields(), 1);
  const int64_t records[] = {position};
  dataset.source()->Read(context, epoch, records, block);
  return Render(Element(&block, 0));
}

// That any way of reading the data set gives the same: on demand or ahead, with any number of
// threads and any depth; from any saved state on; and record by record where it has numbers.
// Checks `things` elements and ends of epochs, and every `step`-th state.
inline void ExpectOneOrder(const Dataset& dataset, size_t things, size_t step = 1) {
  SCOPED_TRACE(dataset.source()->description());
  Iterator whole = dataset.MakeIterator();
  std::vector<std::string> expected;
  std::vector<IteratorState> states = {whole.state()};
  while (expected.size() < things) {
    const Element* element = whole.Next();
    expected.push_back(element == nullptr ? "end" : Render(*element));
    states.push_back(whole.state());
  }
  for (const auto& [depth, workers] : {std::pair{0, 0}, {1, 1}, {3, 2}, {64, 3}}) {
    DatasetOptions options;
    options.workers = workers;
    Iterator it = dataset.Prefetch(depth).WithOptions(options).MakeIterator();
    ASSERT_EQ(Following(it, things), expected) << depth << " ahead on " << workers << " threads";
  }
  for (size_t s = 0; s < states.size(); s += step) {
    const size_t rest = things - s;
    const std::vector<std::string> suffix(expected.begin() + static_cast<int64_t>(s),
                                          expected.end());
    for (const bool ahead : {false, true}) {
      Iterator it = (ahead ? dataset.Prefetch(2) : dataset).MakeIterator();
      if (s % 2 == 1) it.Next();  // what it did before does not matter
      it.Restore(states[s]);
      ASSERT_EQ(it.state(), states[s]) << "after " << s;
      ASSERT_EQ(Following(it, rest), suffix) << "from " << s << " on, ahead: " << ahead;
    }
    // States of iterators that read ahead are as good.
    Iterator first = dataset.Prefetch(3).MakeIterator();
    Following(first, s);
    Iterator second = dataset.MakeIterator();
    second.Restore(first.state());
    ASSERT_EQ(Following(second, rest), suffix) << "from a state ahead, " << s;
  }
  if (dataset.size() == kUnknown) return;
  int64_t epoch = 0, position = 0;
  for (const std::string& thing : expected) {
    if (thing == "end") {
      EXPECT_EQ(position, dataset.size());
      ++epoch;
      position = 0;
    } else {
      ASSERT_EQ(ReadOne(dataset, epoch, position++), thing);
    }
  }
}

// A data set as a stream: the same elements, but it has no numbers.
inline Dataset AsStream(const Dataset& dataset) {
  return dataset.Filter([](const Block&, int64_t) { return true; }, "all");
}

}  // namespace flatout::data::testing
