// The [data] table of a run file: a source, what is done to its records, and how they are fed.
//   [data]
//   source = "tfrecord"
//   files = "train-*.tfrecord"
//   validation_split = 0.1
//   filter = "label < 5"
//   cache = "memory"
//   workers = "auto"
//   [[data.transforms]]
//   op = "decode_image"
//   field = "image"
//   [[data.transforms]]
//   op = "random_flip"
//   field = "image"
//   splits = ["train"]
//
// A split's records go through, in this order: the source (with its limit and validation_split);
// the filter, which sees the source's fields; the transforms as listed, as far as they name the
// split. One that is random and has no `splits` is for training only, any other for all splits. The
// cache holds what comes before the first random transform.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/dataset.h"
#include "flatout/data/source.h"

namespace flatout::data {

// The keys of [data] that are about the pipeline, whatever the source.
struct PipelineOptions {
  bool shuffle = true;         // the training split only
  int64_t shuffle_window = 0;  // shuffle within runs of so many records only; 0: over all
  Config prefetch = Config(std::string("auto"));         // launches made ahead of the step
  Config prefetch_memory = Config(std::string("auto"));  // that they may take in all: "256MiB"
  Config workers = Config(std::string("auto"));          // threads that make them
  int64_t max_bad_records = 0;     // records that may be left out before it is an error
  std::string cache;               // "": none; "memory"; or a folder for files of the records
  std::string filter;              // which records to keep: filter_expression.h
  std::vector<Config> transforms;  // each { op = "...", splits = ["train"], ... }

  template <class V>
  void Visit(V& v) {
    v("shuffle", shuffle);
    v("shuffle_window", shuffle_window);
    v("prefetch", prefetch);
    v("prefetch_memory", prefetch_memory);
    v("workers", workers);
    v("max_bad_records", max_bad_records);
    v("cache", cache);
    v("filter", filter);
    v("transforms", transforms);
  }
  // Throws UserError with the place of a value out of range.
  void Check(const Config& table) const;
  // 0 stands for "auto".
  int prefetch_depth() const;
  int64_t prefetch_bytes() const;
  int worker_threads() const;
};
// These keys of the table; the others are left to OpenSource.
PipelineOptions ReadPipelineOptions(const Config& table);

// Opens the source that the table's key `source` names, with the table's filter, cache and
// transforms for that split on top of it; an indexed source, not shuffled. Every key of the table
// is checked. Returns nullptr when the table does not define that split (validation_split = 0,
// say). `seed` is for random transforms. Throws UserError for a wrong table or split and DataError
// for bad data; a split that is defined but holds no records is an error, and so are transforms
// that give the splits different fields. The first time a filter is used on some files all their
// records are read; which of them it keeps is remembered beside the indices (files.h).
SourcePtr OpenSource(const Config& table, std::string_view split, uint64_t seed = 0);
// The same without filter, cache and transforms: what the files hold.
SourcePtr OpenPlainSource(const Config& table, std::string_view split);

// Whether the transform that the table describes is for that split: one of its `splits`; without
// that key all, or for a random transform train.
bool IsForSplit(const Config& transform_table, const Transform& transform, std::string_view split);

struct Splits {
  SourcePtr train, validation, test;
};
// All splits that the table defines. Throws UserError too where their fields differ in name, shape
// or type.
Splits OpenSplits(const Config& table, uint64_t seed = 0);

}  // namespace flatout::data
