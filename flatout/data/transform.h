// Built-in maps: each changes every record by itself. In a run file:
//   [[data.transforms]]
//   op = "decode_image"
//   field = "image"
// and in C++: dataset.Apply(MakeTransform(config)) or dataset.Apply(std::make_shared<Resize>(...)).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/block.h"
#include "flatout/data/field.h"

namespace flatout::data {

class Transform;
using TransformPtr = std::shared_ptr<const Transform>;

class Transform {
 public:
  virtual ~Transform() = default;
  // The stage's name in times and messages: "decode_image".
  virtual const std::string& name() const = 0;
  // The fields of the result for these of the input. Throws UserError, naming the field, where the
  // input does not suit.
  virtual std::vector<Field> Fields(const std::vector<Field>& in) const = 0;
  // Fills `out` (rows() as `in`, fields Fields(in.fields())) from `in`. Columns that stay as they
  // are go by out.ShareColumn. A record that cannot be changed is told to out.Bad(row, ...); rows
  // that are bad in `in` are to be left alone (their cells are empty): the caller marks them.
  // keys[row]: a random word of (seed, epoch, record), the same for any order of reading; empty
  // unless random(). Thread-safe.
  virtual void Apply(const Block& in, Block& out, std::span<const uint64_t> keys) const = 0;
  // Whether Apply uses keys.
  virtual bool random() const { return false; }
  // This transform and `next` as one, where that is cheaper; nullptr where it is not.
  virtual TransformPtr FuseWith(const TransformPtr& next) const {
    (void)next;
    return nullptr;
  }
};

// Reads the transform's own keys (all but op and splits) through the reader; does not call Finish.
using TransformMaker = std::function<TransformPtr(FieldReader&)>;
// Makes one more kind of transform known. Throws when the name is taken.
void RegisterTransform(std::string name, TransformMaker maker);
// All known kinds, sorted.
std::vector<std::string> TransformKinds();
// From one table, { op = "resize", size = [224, 224] }; throws UserError at the place of what is
// wrong. The keys `op` and `splits` are not the maker's.
TransformPtr MakeTransform(const Config& table);
// The list with neighbours fused where they can be.
std::vector<TransformPtr> Fuse(std::vector<TransformPtr> transforms);

}  // namespace flatout::data
