#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/data/files.h"
#include "flatout/data/order.h"
#include "flatout/data/register.h"
#include "flatout/data/require.h"
#include "flatout/data/sources/image_folder.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;

// Folders below a class's; more are links in a circle.
constexpr int kMostDepth = 32;

bool EndsWithIgnoringCase(std::string_view name, std::string_view lower_end) {
  if (name.size() < lower_end.size()) return false;
  name = name.substr(name.size() - lower_end.size());
  return std::equal(name.begin(), name.end(), lower_end.begin(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// The names in a folder, sorted: folders and files (what links point at), without those that begin
// with ".".
struct Listing {
  std::vector<std::string> folders, files;
};

Listing List(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code status_error;
    const fs::file_status status = it->status(status_error);
    if (fs::is_directory(status)) {
      listing.folders.push_back(std::move(name));
    } else {
      // What cannot be looked at (a link to nowhere) counts too, so that reading it complains.
      listing.files.push_back(std::move(name));
    }
  }
  if (error) {
    throw BadData("{}: the folder cannot be read: {}", folder.string(), error.message());
  }
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

struct ClassFiles {
  std::vector<std::string> names;  // below the root
  int64_t left_out = 0;
};

void ListClass(const fs::path& root, const std::string& below, int depth, ClassFiles& files) {
  if (depth > kMostDepth) {
    throw BadData(
        "{}: more than {} folders deep: links in a circle? Remove the link that leads back",
        (root / below).string(), kMostDepth);
  }
  const Listing listing = List(root / below);
  for (const std::string& name : listing.files) {
    if (IsNoPictureByName(name)) {
      ++files.left_out;
    } else {
      files.names.push_back(fmt::format("{}/{}", below, name));
    }
  }
  for (const std::string& name : listing.folders) {
    ListClass(root, fmt::format("{}/{}", below, name), depth + 1, files);
  }
}

// Files of the index, in order; what a split is.
class ImageFolderSource : public Source {
 public:
  ImageFolderSource(std::shared_ptr<const ImageFolderIndex> index, std::vector<int64_t> files,
                    bool path_field, std::string_view split)
      : index_(std::move(index)), files_(std::move(files)) {
    fields_.push_back(TextField("image"));
    fields_.push_back(Field{"label", ir::Shape::Scalar(ir::DType::kI32),
                            static_cast<int64_t>(index_->classes.size())});
    if (path_field) fields_.push_back(TextField("path"));
    std::vector<int64_t> counts(index_->classes.size(), 0);
    for (int64_t file : files_) {
      ++counts[static_cast<size_t>(index_->labels[static_cast<size_t>(file)])];
    }
    std::string classes;
    constexpr size_t kShown = 12;
    for (size_t c = 0; c < counts.size() && c < kShown; ++c) {
      classes += fmt::format("{}{} {}", c == 0 ? "" : ", ", index_->classes[c], counts[c]);
    }
    if (counts.size() > kShown) {
      const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
      classes += fmt::format(", ...; {} to {} files each", *least, *most);
    }
    description_ =
        fmt::format("image_folder {}: {} records of {} ({} classes: {}), {}", split, files_.size(),
                    index_->root, counts.size(), classes, DescribeFields(fields_));
    if (index_->left_out > 0) {
      description_ +=
          fmt::format("; {} files left out that are no pictures by name", index_->left_out);
    }
    if (!index_->classes_left_out.empty()) {
      description_ += fmt::format("; {} folders left out that `classes` does not name",
                                  index_->classes_left_out.size());
    }
  }

  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  const std::vector<Field>& fields() const override { return fields_; }
  const std::string& description() const override { return description_; }

  void Read(ReadContext& context, int64_t epoch, std::span<const int64_t> records,
            Block& out) const override {
    (void)epoch;
    static const std::string kStage = "read";
    ReadContext::Stage stage(context, kStage, static_cast<int64_t>(records.size()));
    out.set_origin([this, records = std::vector<int64_t>(records.begin(), records.end())](
                       int64_t row) { return PathOf(records[static_cast<size_t>(row)]); });
    for (size_t i = 0; i < records.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      const int64_t file = files_[static_cast<size_t>(records[i])];
      *out.as<int32_t>(1, row) = index_->labels[static_cast<size_t>(file)];
      if (fields_.size() > 2) out.SetTextView(2, row, index_->name(file));
      try {
        stage.AddBytes(ReadFile(PathOf(records[i]), row, out));
      } catch (const DataError& error) {
        out.Bad(row, error);
      }
    }
  }

 private:
  std::string PathOf(int64_t record) const {
    return fmt::format("{}/{}", index_->root, index_->name(files_[static_cast<size_t>(record)]));
  }

  // The whole file into the block's memory; gives its size.
  static int64_t ReadFile(const std::string& path, int64_t row, Block& out) {
    auto fail = [&](const char* what) {
      throw BadData("{}: {}: {}", path, what, std::strerror(errno));
    };
    struct Descriptor {
      int fd;
      ~Descriptor() {
        if (fd >= 0) close(fd);
      }
    } file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.fd < 0) fail("the file cannot be opened");
    struct stat status;
    if (fstat(file.fd, &status) != 0) fail("the file cannot be looked at");
    if (!S_ISREG(status.st_mode)) {
      throw BadData("{}: expected a file, found a folder, pipe or device", path);
    }
    const auto size = static_cast<int64_t>(status.st_size);
    std::byte* memory = out.Allocate(size);
    int64_t have = 0;
    while (have < size) {
      const ssize_t got = read(file.fd, memory + have, static_cast<size_t>(size - have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("the file cannot be read");
      if (got == 0) {
        throw BadData("{}: the file became shorter while it was read: expected {} bytes, found {}",
                      path, size, have);
      }
      have += got;
    }
    Cell& cell = out.cell(0, row);
    cell.data = memory;
    cell.bytes = size;
    return size;
  }

  const std::shared_ptr<const ImageFolderIndex> index_;
  const std::vector<int64_t> files_;  // of the index, by record
  std::vector<Field> fields_;
  std::string description_;
};

std::vector<int64_t> Sequence(int64_t size) {
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) numbers[static_cast<size_t>(i)] = i;
  return numbers;
}

std::function<SourcePtr(std::string_view)> OpenImageFolder(FieldReader& reader) {
  ImageFolderOptions options;
  options.Visit(reader);
  auto check = [&](const char* key, bool right, const char* rule) {
    Require(reader.Take(key), right, rule);
  };
  const double split = options.validation_split;
  check("validation_split", split >= 0 && (split < 1 || split == std::floor(split)) && split < 1e15,
        "a share of the training files (0 to 1) or a whole number of them");
  check("limit", options.limit >= 0, "a number of records, or 0 for all");
  if (split > 0) {
    check("validation_split", !options.path.empty(), "`path` beside it, to take files from");
    check("validation_split", options.validation_path.empty(),
          "one of validation_split and validation_path, not both");
  }
  std::vector<std::string> sorted = options.classes;
  std::sort(sorted.begin(), sorted.end());
  check("classes", std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
        "each class once");
  if (options.path.empty() && options.validation_path.empty() && options.test_path.empty()) {
    reader.Required("path", options.path);
    throw Invalid("image_folder: expected `path`, the folder that holds one folder per class");
  }
  if (options.path.empty() && options.classes.empty()) {
    // Labels would depend on which folder is looked at.
    check("validation_path", false, "`path` or `classes` beside it, which say what the labels are");
    check("test_path", false, "`path` or `classes` beside it, which say what the labels are");
  }
  return [options](std::string_view split) { return OpenImageFolderSplit(options, split); };
}

}  // namespace

bool IsNoPictureByName(std::string_view name) {
  if (name.starts_with('.')) return true;
  for (std::string_view end :
       {"thumbs.db", "desktop.ini", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".md",
        ".html", ".yaml", ".yml", ".py", ".log", ".mat", ".db"}) {
    if (EndsWithIgnoringCase(name, end)) return true;
  }
  return false;
}

ImageFolderIndex ListImageFolder(const std::string& root, const std::vector<std::string>& classes,
                                 bool need_all) {
  ImageFolderIndex index;
  index.root = root;
  while (index.root.size() > 1 && index.root.ends_with('/')) index.root.pop_back();
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (!fs::is_directory(status)) {
    const fs::path path(index.root);
    std::string near;
    fs::path parent = path.parent_path();
    if (parent.empty()) parent = ".";
    if (!fs::exists(status) && fs::is_directory(parent, error)) {
      near = DidYouMean(path.filename().string(), List(parent).folders);
    }
    throw BadData("{}: expected a folder that holds one folder per class, found {}{}", root,
                  fs::exists(status) ? "a file" : "nothing", near);
  }
  const Listing listing = List(index.root);
  if (listing.folders.empty()) {
    throw BadData(
        "{}: expected one folder per class (path/cat/1.jpg), found {} files and no folders", root,
        listing.files.size());
  }
  index.left_out = static_cast<int64_t>(listing.files.size());
  index.classes = classes.empty() ? listing.folders : classes;
  for (const std::string& folder : listing.folders) {
    if (std::find(index.classes.begin(), index.classes.end(), folder) == index.classes.end()) {
      index.classes_left_out.push_back(folder);
    }
  }
  std::vector<ClassFiles> found(index.classes.size());
  std::vector<bool> exists(index.classes.size());
  for (size_t c = 0; c < index.classes.size(); ++c) {
    const std::string& name = index.classes[c];
    exists[c] = std::binary_search(listing.folders.begin(), listing.folders.end(), name);
    if (!exists[c] && need_all) {
      throw BadData("{}: there is no folder for the class \"{}\"{}", root, name,
                    DidYouMean(name, listing.folders));
    }
  }
  ForEachFile(index.classes.size(), [&](size_t c) {
    if (exists[c]) ListClass(index.root, index.classes[c], 0, found[c]);
  });
  for (size_t c = 0; c < index.classes.size(); ++c) {
    if (found[c].names.empty() && need_all) {
      throw BadData(
          "{}/{}: the class has no pictures. Remove the folder, or name the classes that "
          "are meant in `classes`",
          index.root, index.classes[c]);
    }
    index.counts.push_back(static_cast<int64_t>(found[c].names.size()));
    index.left_out += found[c].left_out;
    for (const std::string& name : found[c].names) {
      index.names += name;
      index.ends.push_back(index.names.size());
      index.labels.push_back(static_cast<int32_t>(c));
    }
  }
  return index;
}

SourcePtr OpenImageFolderSplit(const ImageFolderOptions& options, std::string_view split) {
  const bool held_out = options.validation_path.empty() && options.validation_split > 0;
  const bool from_train = split == "train" || (split == "validation" && held_out);
  const std::string& root = from_train              ? options.path
                            : split == "validation" ? options.validation_path
                                                    : options.test_path;
  if (root.empty()) return nullptr;
  std::vector<std::string> classes = options.classes;
  if (!from_train && classes.empty()) {
    // The labels are the training split's.
    classes = ListImageFolder(options.path, {}, true).classes;
  }
  auto index = std::make_shared<const ImageFolderIndex>(
      ListImageFolder(root, classes, /*need_all=*/from_train));
  if (!from_train && options.classes.empty() && !index->classes_left_out.empty()) {
    const std::string& name = index->classes_left_out.front();
    throw BadData("{}/{}: there is no such class in the training split, {}{}", root, name,
                  options.path, DidYouMean(name, classes));
  }
  if (index->size() == 0) throw BadData("image_folder {}: no pictures in {}", split, root);
  std::vector<int64_t> files = Sequence(index->size());
  if (from_train && held_out) {
    const double asked = options.validation_split;
    const int64_t size = index->size();
    const int64_t held =
        asked < 1 ? std::llround(asked * static_cast<double>(size)) : static_cast<int64_t>(asked);
    if (held <= 0 || held >= size) {
      throw BadData(
          "image_folder: validation_split = {} takes {} of the {} training files in {}: both "
          "splits "
          "need at least one",
          asked, held, size, root);
    }
    // The last of a random order: the files themselves stand class by class.
    Permutation(static_cast<uint64_t>(options.validation_seed), 0, size).Apply(files);
    if (split == "train") {
      files.resize(static_cast<size_t>(size - held));
    } else {
      files.erase(files.begin(), files.end() - held);
    }
    std::sort(files.begin(), files.end());
  }
  if (options.limit > 0 && options.limit < static_cast<int64_t>(files.size())) {
    std::vector<int64_t> some;
    some.reserve(static_cast<size_t>(options.limit));
    const auto size = static_cast<int64_t>(files.size());
    for (int64_t i = 0; i < options.limit; ++i) {
      some.push_back(files[static_cast<size_t>(static_cast<__int128>(i) * size / options.limit)]);
    }
    files = std::move(some);
  }
  return std::make_shared<ImageFolderSource>(std::move(index), std::move(files), options.path_field,
                                             split);
}

FLATOUT_REGISTER(image_folder_source) { RegisterSource("image_folder", OpenImageFolder); }

}  // namespace flatout::data
