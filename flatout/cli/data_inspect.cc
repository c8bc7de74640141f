// flatout data inspect: what records there are, what they look like.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "flatout/base/error.h"
#include "flatout/base/text.h"
#include "flatout/cli/data.h"
#include "flatout/data/elements.h"
#include "flatout/data/scan.h"

namespace flatout::cli {
namespace {

// Integers with at most so many different values are counted one by one.
constexpr size_t kMostClasses = 100;

struct Options {
  DataArguments data;
  std::string split;
  int64_t records = 3;
  int64_t sample = 1000;
  bool transforms = false;
  bool json = false;
};

// What is known of one field's values in the sample.
struct Statistics {
  int64_t numbers = 0, missing = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double sum = 0;
  std::map<int64_t, int64_t> classes;  // of integer scalars; empty when there are too many
  bool too_many = false;
  // Of fields that differ in size: elements or bytes.
  int64_t shortest = std::numeric_limits<int64_t>::max(), longest = 0;

  double mean() const { return sum / static_cast<double>(numbers); }

  void Add(const Statistics& other) {
    numbers += other.numbers;
    missing += other.missing;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    sum += other.sum;
    shortest = std::min(shortest, other.shortest);
    longest = std::max(longest, other.longest);
    too_many |= other.too_many;
    for (const auto& [value, count] : other.classes) classes[value] += count;
    CheckClasses();
  }
  void CheckClasses() {
    if (classes.size() > kMostClasses) too_many = true;
    if (too_many) classes.clear();
  }
};

void AddRow(const data::Block& block, size_t f, int64_t row, Statistics& statistics) {
  const data::Field& field = block.fields()[f];
  int64_t count = 1;
  for (const int64_t dim : block.dims(f, row)) count *= dim;
  if (field.text) {
    int64_t length = 0;
    if (field.shape.rank() == 0) {
      length = static_cast<int64_t>(block.text(f, row).size());
      if (length == 0) ++statistics.missing;
    } else {
      length = count;
    }
    statistics.shortest = std::min(statistics.shortest, length);
    statistics.longest = std::max(statistics.longest, length);
    return;
  }
  if (!field.fixed()) {
    statistics.shortest = std::min(statistics.shortest, count);
    statistics.longest = std::max(statistics.longest, count);
  }
  const std::byte* memory = block.bytes(f, row).data();
  const bool countable =
      count == 1 && !ir::IsFloat(field.shape.dtype) && field.fixed() && !statistics.too_many;
  data::WithElementType(field.shape.dtype, [&]<typename T>(T) {
    for (int64_t i = 0; i < count; ++i) {
      const auto number = data::Number(data::Load<T>(memory, i));
      const auto value = static_cast<double>(number);
      if (std::isnan(value)) {
        ++statistics.missing;
        continue;
      }
      ++statistics.numbers;
      statistics.least = std::min(statistics.least, value);
      statistics.most = std::max(statistics.most, value);
      statistics.sum += value;
      if (countable) ++statistics.classes[static_cast<int64_t>(number)];
    }
  });
  if (countable) statistics.CheckClasses();
}

struct Sample {
  int64_t records = 0;
  std::vector<Statistics> fields;
  data::BadRecords bad{std::numeric_limits<int64_t>::max(), [](const DataError&) {}};
};

void TakeSample(const data::Source& source, int64_t wanted, Sample& sample) {
  sample.fields.resize(source.fields().size());
  std::vector<int64_t> records;
  const int64_t size = source.size();
  if (wanted > 0 && wanted < size) {
    // Spread evenly: files are often sorted by class.
    for (int64_t i = 0; i < wanted; ++i) {
      records.push_back(static_cast<int64_t>(static_cast<double>(i) * static_cast<double>(size) /
                                             static_cast<double>(wanted)));
    }
  }
  std::mutex mutex;
  ProgressLine line;
  data::ScanOptions options;
  options.records = records;
  options.bad = &sample.bad;
  options.failed = [&](int64_t, const DataError& error) { sample.bad.Report(error); };
  options.progress = [&](const data::ScanProgress& progress) {
    line.Show("reading", static_cast<double>(progress.done) / static_cast<double>(progress.total),
              fmt::format("{}/{}", progress.done, progress.total));
    return true;
  };
  data::Scan(source, options, [&](std::span<const int64_t> numbers, const data::Block& block) {
    std::vector<Statistics> own(block.fields().size());
    int64_t good = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      if (block.bad(row)) continue;
      ++good;
      for (size_t f = 0; f < own.size(); ++f) AddRow(block, f, row, own[f]);
    }
    std::lock_guard lock(mutex);
    sample.records += good;
    for (size_t f = 0; f < own.size(); ++f) sample.fields[f].Add(own[f]);
  });
}

// One record for people: values in the order of the fields; or why it cannot be read.
std::vector<std::string> DescribeRecord(const data::Source& source, int64_t record) {
  data::BadRecords bad(1, [](const DataError&) {});
  data::ReadContext context(&bad);
  data::Block block;
  block.Reset(source.fields(), 1);
  block.set_bad_records(&bad);
  try {
    source.Read(context, 0, {&record, 1}, block);
  } catch (const DataError& error) {
    return {fmt::format("bad: {}", error.what())};
  }
  if (block.bad(0)) return {fmt::format("bad: {}", bad.messages().at(0))};
  std::vector<std::string> values;
  for (size_t f = 0; f < source.fields().size(); ++f) {
    values.push_back(DescribeValue(block, f, 0));
  }
  return values;
}

std::string DescribeStatistics(const data::Field& field, const Statistics& statistics) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (statistics.longest > 0 || statistics.shortest <= statistics.longest) {
    const char* unit = field.text && field.shape.rank() == 0 ? "bytes" : "elements";
    add(statistics.shortest == statistics.longest
            ? fmt::format("{} {}", statistics.longest, unit)
            : fmt::format("{} to {} {}", statistics.shortest, statistics.longest, unit));
  }
  if (statistics.numbers > 0) {
    add(fmt::format("{:.6g} to {:.6g}, mean {:.4g}", statistics.least, statistics.most,
                    statistics.mean()));
  }
  if (statistics.missing > 0) {
    add(fmt::format("{} missing", HumanCount(statistics.missing)));
  }
  if (!statistics.classes.empty()) {
    std::string classes;
    size_t shown = 0;
    for (const auto& [value, count] : statistics.classes) {
      if (++shown > 20) break;
      classes += fmt::format("{}{}: {}", classes.empty() ? "" : "  ", value, HumanCount(count));
    }
    if (statistics.classes.size() > 20) {
      classes += fmt::format("  ... {} values in all", statistics.classes.size());
    }
    add("counts " + classes);
  }
  return text.empty() ? "no values" : text;
}

nlohmann::ordered_json Number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json FieldJson(const data::Field& field) {
  nlohmann::ordered_json json;
  json["name"] = field.name;
  json["type"] = field.text ? std::string("text") : std::string(ir::Name(field.shape.dtype));
  json["shape"] = nlohmann::ordered_json::array();
  for (const int64_t dim : field.shape.dims) {
    json["shape"].push_back(dim == data::kAny ? nlohmann::ordered_json(nullptr)
                                              : nlohmann::ordered_json(dim));
  }
  if (field.bound > 0) json["bound"] = field.bound;
  return json;
}

nlohmann::ordered_json StatisticsJson(const Statistics& statistics) {
  nlohmann::ordered_json json;
  json["missing"] = statistics.missing;
  if (statistics.numbers > 0) {
    json["min"] = Number(statistics.least);
    json["max"] = Number(statistics.most);
    json["mean"] = Number(statistics.mean());
  }
  if (statistics.shortest <= statistics.longest) {
    json["shortest"] = statistics.shortest;
    json["longest"] = statistics.longest;
  }
  for (const auto& [value, count] : statistics.classes)
    json["counts"][std::to_string(value)] = count;
  return json;
}

// JSON strings must be UTF-8; file names and values need not be.
std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

int Inspect(const Options& options) {
  if (options.records < 0 || options.sample < 0) {
    throw Invalid("--records and --sample take numbers from 0 on");
  }
  const DataInput input = FindDataInput(options.data);
  const NamedSplits splits = OpenNamedSplits(input, options.split, options.transforms);
  const auto& [shown_name, shown] = splits.front();
  Sample sample;
  TakeSample(*shown, options.sample, sample);
  const int64_t first = std::min(options.records, shown->size());
  if (options.json) {
    nlohmann::ordered_json json;
    json["data"] = input.origin;
    json["source"] = input.table().Find("source")->AsString();
    for (const auto& [name, source] : splits) {
      json["splits"][name] = {{"records", source->size()}, {"description", source->description()}};
    }
    for (const data::Field& field : shown->fields()) json["fields"].push_back(FieldJson(field));
    json["split"] = shown_name;
    json["first"] = nlohmann::ordered_json::array();
    for (int64_t record = 0; record < first; ++record) {
      const std::vector<std::string> values = DescribeRecord(*shown, record);
      nlohmann::ordered_json row;
      for (size_t f = 0; f < values.size(); ++f) {
        row[values.size() == shown->fields().size() ? shown->fields()[f].name : "error"] =
            values[f];
      }
      json["first"].push_back(std::move(row));
    }
    json["sample"]["records"] = sample.records;
    json["sample"]["bad"] = sample.bad.messages();
    for (size_t f = 0; f < sample.fields.size(); ++f) {
      json["sample"]["fields"][shown->fields()[f].name] = StatisticsJson(sample.fields[f]);
    }
    std::printf("%s\n", Dump(json).c_str());
    return kExitDone;
  }
  std::printf("%s\n", input.origin.c_str());
  for (const auto& [name, source] : splits) {
    std::printf("  %-10s  %12s records   (%s)\n", name.c_str(), HumanCount(source->size()).c_str(),
                source->description().c_str());
  }
  size_t width = 0;
  for (const data::Field& field : shown->fields()) width = std::max(width, field.name.size());
  std::printf("fields%s\n", options.transforms ? " after the transforms" : "");
  for (const data::Field& field : shown->fields()) {
    std::string line = field.ToString();
    if (field.bound > 0) line += fmt::format(", 0 to {}", field.bound - 1);
    std::printf("  %s\n", line.c_str());
  }
  if (!options.transforms && !input.pipeline.transforms.empty()) {
    const data::SourcePtr whole = data::OpenSource(input.table(), shown_name, input.seed);
    std::printf("after the transforms of %s\n", shown_name.c_str());
    for (const data::Field& field : whole->fields()) {
      std::printf("  %s\n", field.ToString().c_str());
    }
  }
  for (int64_t record = 0; record < first; ++record) {
    std::printf("record %lld of %s\n", static_cast<long long>(record), shown_name.c_str());
    const std::vector<std::string> values = DescribeRecord(*shown, record);
    for (size_t f = 0; f < values.size(); ++f) {
      const bool good = values.size() == shown->fields().size();
      std::printf("  %-*s  %s\n", static_cast<int>(width),
                  good ? shown->fields()[f].name.c_str() : "", values[f].c_str());
    }
  }
  const bool all = sample.records + sample.bad.count() >= shown->size();
  std::printf("%s\n", all ? fmt::format("values of all records of {}", shown_name).c_str()
                          : fmt::format("values of {} records spread over {}",
                                        HumanCount(sample.records), shown_name)
                                .c_str());
  for (size_t f = 0; f < sample.fields.size(); ++f) {
    std::printf("  %-*s  %s\n", static_cast<int>(width), shown->fields()[f].name.c_str(),
                DescribeStatistics(shown->fields()[f], sample.fields[f]).c_str());
  }
  if (sample.bad.count() > 0) {
    std::printf("%s of them cannot be read, such as:\n  %s\n(flatout data verify lists all)\n",
                HumanCount(sample.bad.count()).c_str(), sample.bad.messages().at(0).c_str());
  }
  return kExitDone;
}

}  // namespace

void AddDataInspect(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show splits, fields, first records, and what values there are");
  auto options = std::make_shared<Options>();
  AddDataArguments(command, options->data);
  command->add_option("--split", options->split, "Only this split (train, validation or test)")
      ->check(CLI::IsMember({"train", "validation", "test"}));
  command->add_option("--records", options->records, "First records to show")
      ->capture_default_str();
  command
      ->add_option("--sample", options->sample, "Records to look at for the values; 0: all of them")
      ->capture_default_str();
  command->add_flag("--transforms", options->transforms,
                    "Show what training gets: after filter and transforms");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  flatout data inspect examples/fashion_mnist/cnn.toml\n"
      "  flatout data inspect run.toml --split validation --transforms\n"
      "  flatout data inspect train-00000.tfrecord.gz\n"
      "  flatout data inspect --source csv --files 'logs/*.csv' --sample 0 --json");
  command->callback([options, run] { *run = [options] { return Inspect(*options); }; });
}

}  // namespace flatout::cli
