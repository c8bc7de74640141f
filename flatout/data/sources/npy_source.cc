// The source "numpy": arrays of .npy and .npz files.
#include <algorithm>
#include <cstring>
#include <utility>

#include "flatout/data/formats/npy.h"
#include "flatout/data/formats/stored_array.h"
#include "flatout/data/register.h"

namespace flatout::data {
namespace {

std::string_view MemberName(std::string_view name) {
  return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

std::shared_ptr<const ByteFile> OpenFile(const std::string& path) { return ByteFile::Open(path); }

ReadBytes Reader(const std::shared_ptr<const ByteFile>& file) {
  return [file](int64_t offset, int64_t count, std::vector<std::byte>& scratch) {
    return file->Read(offset, count, scratch);
  };
}

std::span<const std::byte> Head(const ByteFile& file, int64_t offset, int64_t count,
                                std::vector<std::byte>& scratch) {
  return file.Read(offset, std::min(count, file.size() - offset), scratch);
}

// Takes the header into the array; `bytes` is what header and elements take together.
void TakeHeader(const NpyHeader& header, int64_t bytes, StoredArray& array) {
  const int64_t expected = header.size + header.shape.bytes();
  if (bytes < expected) {
    throw BadData(
        "{}: the file is short: its header says {} ({} bytes in all), found {} bytes, which end "
        "in record {}. Fetch it again or save it again",
        array.where, header.shape.ToString(), expected, bytes,
        std::max<int64_t>(0, bytes - header.size) / (header.shape.bytes() / header.shape.dims[0]));
  }
  if (bytes > expected) {
    throw BadData(
        "{}: trailing bytes: its header says {}, which ends at byte {}, found {} bytes. Save each "
        "array to a file of its own",
        array.where, header.shape.ToString(), expected, bytes);
  }
  array.shape = header.shape;
  array.swap = header.swap;
  array.fortran = header.fortran;
}

NpyHeader HeaderAt(const std::string& where, const ByteFile& file, int64_t offset, int64_t bytes) {
  std::vector<std::byte> scratch;
  const int64_t prefix = std::min<int64_t>(kNpyPrefix, bytes);
  const int64_t size = NpyHeaderBytes(where, Head(file, offset, prefix, scratch));
  return ParseNpyHeader(where, Head(file, offset, std::min(size, bytes), scratch));
}

StoredArray OpenMember(const std::shared_ptr<const ByteFile>& file, const ZipMember& member) {
  const std::string& path = file->path();
  const ReadBytes read = Reader(file);
  StoredArray array;
  array.where = fmt::format("{}: {}", path, MemberName(member.name));
  const auto unpack = [&] {
    return MadeOnce(path, member.name,
                    [&] { return UnpackZipMember(path, file->size(), read, member); });
  };
  if (!member.deflated) {
    const int64_t offset = ZipContentOffset(path, file->size(), read, member);
    const NpyHeader header = HeaderAt(array.where, *file, offset, member.size);
    TakeHeader(header, member.size, array);
    // Small ones are checked against their checksum; large ones are read in parts.
    constexpr int64_t kCheckBytes = int64_t{64} << 20;
    if (member.size <= kCheckBytes) {
      std::shared_ptr<const std::byte> content = unpack();
      array.memory = {content, content.get() + header.size};
      return array;
    }
    array.file = file;
    array.offset = offset + header.size;
    return array;
  }
  std::shared_ptr<const std::byte> content = unpack();
  const NpyHeader header =
      ParseNpyHeader(array.where, std::span(content.get(), static_cast<size_t>(member.size)));
  TakeHeader(header, member.size, array);
  array.memory = {content, content.get() + header.size};
  return array;
}

bool IsZip(const ByteFile& file) {
  std::vector<std::byte> scratch;
  return LooksLikeZip(Head(file, 0, 4, scratch));
}

StoredArray Open(const std::string& path, const std::string& name) {
  std::shared_ptr<const ByteFile> file = OpenFile(path);
  if (!IsZip(*file)) {
    if (!name.empty()) {
      // Neither an archive nor, perhaps, an npy file; the latter's error is the better one then.
      HeaderAt(path, *file, 0, file->size());
      throw BadData(
          "{}: the array \"{}\" was asked for, but the file is one npy array without a name. Leave "
          "`file` out and write the path in `fields`",
          path, name);
    }
    StoredArray array;
    array.where = path;
    const NpyHeader header = HeaderAt(path, *file, 0, file->size());
    TakeHeader(header, file->size(), array);
    array.file = file;
    array.offset = header.size;
    return array;
  }
  const std::vector<ZipMember> members = ReadZipDirectory(path, file->size(), Reader(file));
  std::vector<std::string> names;
  for (const ZipMember& member : members) names.emplace_back(MemberName(member.name));
  if (name.empty() && members.size() == 1) return OpenMember(file, members.front());
  for (const ZipMember& member : members) {
    if (!name.empty() && (member.name == name || MemberName(member.name) == MemberName(name))) {
      return OpenMember(file, member);
    }
  }
  std::string list;
  for (size_t i = 0; i < names.size() && i < 20; ++i) {
    list += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i]);
  }
  if (name.empty()) {
    throw BadData(
        "{}: the archive has {} arrays ({}): name it in `file`, and its arrays in `fields`", path,
        members.size(), list);
  }
  throw BadData("{}: there is no array \"{}\" in the archive{}. It has {}", path, name,
                DidYouMean(name, names), list.empty() ? "none" : list);
}

std::vector<std::string> List(const std::string& path) {
  std::shared_ptr<const ByteFile> file = OpenFile(path);
  if (!IsZip(*file)) {
    throw BadData("{}: no npz archive: without `fields` the arrays of an archive are the fields",
                  path);
  }
  std::vector<std::string> names;
  for (const ZipMember& member : ReadZipDirectory(path, file->size(), Reader(file))) {
    names.emplace_back(MemberName(member.name));
  }
  if (names.empty()) throw BadData("{}: the archive holds no arrays", path);
  return names;
}

}  // namespace

FLATOUT_REGISTER(npy_source) {
  RegisterSource("numpy", [](FieldReader& reader) {
    return OpenStoredArrays(reader, StoredArrayFormat{"numpy", Open, List});
  });
}

}  // namespace flatout::data
