// Headers of NumPy's .npy files, and zip archives as .npz files are.
//
// .npy: the magic 93 "NUMPY", major and minor version, the header's length (2 bytes in version 1,
// 4 in 2 and 3, little-endian), a Python literal such as
//   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
// then the elements. Source: numpy.lib.format. .npz: a zip archive of such files, stored or
// deflated. Source: PKWARE's APPNOTE, sections 4.3 to 4.5. Whatever is read is checked against the
// file's size before it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/data/formats/read_bytes.h"
#include "flatout/ir/shape.h"

namespace flatout::data {

struct NpyHeader {
  ir::Shape shape;       // of the whole array
  bool swap = false;     // elements are of the other byte order than this machine's
  bool fortran = false;  // the first dimension changes fastest
  int64_t size = 0;      // of the header, bytes
};

inline constexpr size_t kNpyPrefix = 12;  // bytes from which NpyHeaderBytes can tell
// The bytes that the header takes. Throws DataError where `head`, the file's first kNpyPrefix bytes
// or all there are, do not begin one.
int64_t NpyHeaderBytes(const std::string& where, std::span<const std::byte> head);
// From the header's bytes or more. `where` is for messages. Throws DataError: cut, no npy file, an
// element type that is no number (structured, strings, objects, complex), more elements than any
// file can hold; where the first dimension counts `records`, no such dimension and empty ones.
NpyHeader ParseNpyHeader(const std::string& where, std::span<const std::byte> head,
                         bool records = true);

// ---- zip ----

struct ZipMember {
  std::string name;
  bool deflated = false;  // else stored
  uint32_t crc = 0;       // CRC-32 of the content
  int64_t packed = 0;     // bytes in the archive
  int64_t size = 0;       // bytes unpacked
  int64_t header = 0;     // byte offset of its local header
};
bool LooksLikeZip(std::span<const std::byte> head);
// The members that the central directory lists, in its order. `size`: of the file. Throws
// DataError: no or a cut archive, a damaged directory, several discs, encryption, a packing other
// than stored and deflated.
std::vector<ZipMember> ReadZipDirectory(const std::string& path, int64_t size,
                                        const ReadBytes& read);
// The byte offset of the member's content, by its local header.
int64_t ZipContentOffset(const std::string& path, int64_t size, const ReadBytes& read,
                         const ZipMember& member);
// The member's content, unpacked and checked against its checksum. Throws DataError.
std::shared_ptr<const std::byte> UnpackZipMember(const std::string& path, int64_t size,
                                                 const ReadBytes& read, const ZipMember& member);

}  // namespace flatout::data
