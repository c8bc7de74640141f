// Arrays that lie in files, as records: the first dimension counts them. What the sources of .npy,
// .npz and safetensors files share.
//
// Small fields, and arrays that must be turned over, are loaded (and converted) once; of large ones
// each record is read at its place, so that a data set may be larger than memory.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/files.h"
#include "flatout/data/source.h"

namespace flatout::data {

// One array in one file, checked to lie within it.
struct StoredArray {
  std::string where;                     // "x.npy", "mnist.npz: x_train": for messages
  std::shared_ptr<const ByteFile> file;  // either it lies here from byte `offset` on,
  int64_t offset = 0;
  std::shared_ptr<const std::byte> memory;  // or it was unpacked to here
  ir::Shape shape;                          // of the whole; dims[0] counts the records
  bool swap = false;                        // of the other byte order
  bool fortran = false;                     // the first dimension changes fastest
};

// What `make` made of the file, kept for as long as somebody holds it: train and validation come
// from the same files. `name` says what of the file.
std::shared_ptr<const std::byte> MadeOnce(
    const std::string& path, const std::string& name,
    const std::function<std::shared_ptr<const std::byte>()>& make);

// One field: the records of its arrays, one array after the other.
struct StoredField {
  Field field;  // the name, and the dtype and bound that are wanted
  std::vector<StoredArray> arrays;
};

// The dtype that arrays are given when nothing else is asked for: f32 for f64, i32 for i64, u64 and
// u32, else their own. Values that do not fit are bad data.
ir::DType DefaultDType(ir::DType stored);

// Records [begin, end) of the fields, which must have equally many, of the same shape within each.
// `what` starts the description. Throws DataError, as where a value that is loaded does not fit its
// dtype or bound; in a record that is read later that is a bad record.
SourcePtr MakeStoredArraysSource(const std::string& what, const std::vector<StoredField>& fields,
                                 int64_t begin, int64_t end);
// How many records that are. Throws DataError.
int64_t CountRecords(const std::string& what, const std::vector<StoredField>& fields);

// ---- keys ----
//   file = "mnist.npz"                               with validation_file and test_file
//   fields = { image = "x_train", label = "y_train" } with validation_fields and test_fields
//   dtypes = { image = "f32" }                        to convert to; "keep": as stored
//   bound = { label = 10 }                            integers lie in [0, 10)
struct StoredArrayOptions {
  std::string file, validation_file, test_file;
  Config fields, validation_fields, test_fields;
  Config dtypes, bound;
  double validation_split = 0;
  int64_t limit = 0;

  template <class V>
  void Visit(V& v) {
    v("file", file);
    v("validation_file", validation_file);
    v("test_file", test_file);
    v("fields", fields);
    v("validation_fields", validation_fields);
    v("test_fields", test_fields);
    v("dtypes", dtypes);
    v("bound", bound);
    v("validation_split", validation_split);
    v("limit", limit);
  }
};

// How one format finds its arrays.
struct StoredArrayFormat {
  std::string name;  // of the source
  // The array called `array` of the file, or the only one where it is "".
  std::function<StoredArray(const std::string& path, const std::string& array)> open;
  // The names of all arrays of the file.
  std::function<std::vector<std::string>(const std::string& path)> list;
};
// Reads the keys through the reader and gives what SourceOpener gives.
std::function<SourcePtr(std::string_view split)> OpenStoredArrays(FieldReader& reader,
                                                                  StoredArrayFormat format);

}  // namespace flatout::data
