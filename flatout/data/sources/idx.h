// idx files (the format of MNIST and its kin) as a source.
//
// Format: two zero bytes, an element type, the number of dimensions D, D big-endian 32-bit sizes,
// then the values in row-major order, big-endian. Source: the file format section of the MNIST
// page.
#pragma once

#include <functional>
#include <future>
#include <string>

#include "flatout/data/arrays.h"
#include "flatout/data/source.h"

namespace flatout::data {

// One idx file, plain or gzip (told by content), unpacked into memory in the host's byte order.
struct IdxFile {
  std::string path;
  ir::Shape shape;  // u8, i8, i16, i32, f32 or f64; dims[0] counts the records
  std::shared_ptr<const std::byte> data;
  std::shared_future<void> loaded;  // over when `data` is whole; throws what ReadIdx throws
};

// Throws DataError: missing, not idx, unknown element type, zero or too many records for the file,
// short, trailing bytes. A file that is still held by somebody is not read twice unless it changed.
IdxFile ReadIdx(const std::string& path, const std::string& remedy = "");
// The same as soon as the header is known; the values come in on a thread.
IdxFile BeginIdx(const std::string& path, const std::string& remedy = "");

struct IdxOptions {
  std::string train_images, train_labels;
  std::string validation_images, validation_labels;
  std::string test_images, test_labels;
  // Without validation files: that many records (>= 1), or that share (< 1), of the end of train.
  double validation_split = 0;
  int64_t classes = 0;  // labels must lie in [0, classes); 0: not checked
  int64_t limit = 0;    // at most that many records of each split; 0: all
  // Dimensions of one image; by default those of the file, with one channel added to height and
  // width, as convolutions want it: 28x28 becomes [28, 28, 1].
  std::vector<int64_t> image_shape;

  template <class V>
  void Visit(V& v) {
    v("train_images", train_images);
    v("train_labels", train_labels);
    v("validation_images", validation_images);
    v("validation_labels", validation_labels);
    v("test_images", test_images);
    v("test_labels", test_labels);
    v("validation_split", validation_split);
    v("classes", classes);
    v("limit", limit);
    v("image_shape", image_shape);
  }
};

// Fields "image" (the file's element type) and "label" (i32 for integer labels). Returns nullptr
// for a split without files. `remedy` is said when a file is missing. The images are read while
// other things begin: what is wrong in them behind the header is found by the first Read.
SourcePtr OpenIdxSplit(const std::string& name, const IdxOptions& options, std::string_view split,
                       const std::string& remedy = "");

std::function<SourcePtr(std::string_view)> OpenIdx(FieldReader& reader);
// The data set of Debian's package dataset-fashion-mnist: 60000 and 10000 images u8[28,28,1] of 10
// classes. Keys: path, validation_split, limit.
std::function<SourcePtr(std::string_view)> OpenFashionMnist(FieldReader& reader);

}  // namespace flatout::data
