// A folder per class as a source: the usual shape of image data sets.
//   path/cat/1.jpg
//   path/cat/more/2.png
//   path/dog/3.webp
// The label is the class's number, in the order of the names' bytes. Pictures come as they are
// stored; the transform decode_image makes pixels of them, so what is no picture is found there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/source.h"

namespace flatout::data {

struct ImageFolderOptions {
  std::string path;             // training split
  std::string validation_path;  // further splits; their classes must be among the training split's
  std::string test_path;
  // Without validation_path: that share of the training files (below 1), or their number. They are
  // drawn at random, by validation_seed, the same for every run.
  double validation_split = 0;
  int64_t validation_seed = 0;
  // Names of the classes in the order of their labels, and no others; by default all, sorted.
  std::vector<std::string> classes;
  // At most that many records of each split, spread evenly over its files; 0: all.
  int64_t limit = 0;
  bool path_field = false;  // a text field "path" with the name below the folder

  template <class V>
  void Visit(V& v) {
    v("path", path);
    v("validation_path", validation_path);
    v("test_path", test_path);
    v("validation_split", validation_split);
    v("validation_seed", validation_seed);
    v("classes", classes);
    v("limit", limit);
    v("path_field", path_field);
  }
};

// The files of a folder per class.
struct ImageFolderIndex {
  std::string root;
  std::vector<std::string> classes;
  std::vector<int64_t> counts;  // files by class
  int64_t left_out = 0;         // files that are no pictures by name
  std::vector<std::string> classes_left_out;
  std::vector<int32_t> labels;  // by file
  std::string names;            // "cat/1.jpg" and so on, one after the other, without separator
  std::vector<uint64_t> ends;   // of each name in `names`

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  std::string_view name(int64_t file) const {
    const uint64_t begin = file == 0 ? 0 : ends[static_cast<size_t>(file) - 1];
    return std::string_view(names).substr(begin, ends[static_cast<size_t>(file)] - begin);
  }
};

// Lists `root`, classes side by side. `classes`: those wanted, in this order; empty: all. Without
// `need_all` a class may have no folder. Throws DataError: a missing folder (with the nearest
// name), no folders for classes in it, a wanted class without a folder, a class without files, a
// folder that cannot be read or holds links in a circle.
ImageFolderIndex ListImageFolder(const std::string& root, const std::vector<std::string>& classes,
                                 bool need_all);

// Whether a file of that name is left out of an image folder: what begins with ".", and Thumbs.db,
// desktop.ini, *.txt, *.csv, *.tsv, *.json, *.jsonl, *.xml, *.md, *.html, *.yaml, *.yml, *.py,
// *.log, *.mat and *.db in any case of letters. Everything else counts as a picture.
bool IsNoPictureByName(std::string_view name);

// Fields image (text), label i32[] and, if asked for, path (text). nullptr for a split that the
// options do not define.
SourcePtr OpenImageFolderSplit(const ImageFolderOptions& options, std::string_view split);

}  // namespace flatout::data
