#include "flatout/data/formats/tar.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <random>

#include "flatout/base/file.h"
#include "flatout/data/formats/tar_testing.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::PaxRecord;
using testing::Scratch;
using testing::Sign;
using testing::Tar;
using testing::TarEnd;
using testing::TarEntry;
using testing::TarHeader;

// "name=content" of each regular file, "name" of others.
std::vector<std::string> Members(const std::string& file) {
  const auto size = static_cast<int64_t>(file.size());
  const ReadBytes read = [&](int64_t offset, int64_t count, std::vector<std::byte>&) {
    if (offset < 0 || count < 0 || offset + count > size) {
      throw Internal("read of {} bytes at {} of {}", count, offset, size);
    }
    return std::as_bytes(std::span(file))
        .subspan(static_cast<size_t>(offset), static_cast<size_t>(count));
  };
  std::vector<std::string> members;
  int64_t at = 0;
  while (const auto member = ReadTarMember("x.tar", size, read, at)) {
    if (member->next <= at) throw Internal("no way forward at {}", at);
    at = member->next;
    members.push_back(member->name);
    if (member->regular) {
      members.back() +=
          "=" + file.substr(static_cast<size_t>(member->data), static_cast<size_t>(member->size));
    }
  }
  return members;
}
std::string Refused(const std::string& file) {
  return MessageOf<DataError>([&] { Members(file); });
}

TEST(TarTest, ReadsMembers) {
  EXPECT_THAT(Members(Tar({{"a.txt", "hello"}, {"d/b.cls", "7"}, {"empty", ""}})),
              ElementsAre("a.txt=hello", "d/b.cls=7", "empty="));
  EXPECT_THAT(Members(TarEnd()), ElementsAre());
  // A file name of 100 bytes has no zero after it.
  const std::string longest(100, 'n');
  EXPECT_THAT(Members(Tar({{longest, "x"}})), ElementsAre(longest + "=x"));
}

TEST(TarTest, ReadsNamesOfAllKinds) {
  const std::string name = std::string(150, 'd') + "/" + std::string(80, 'f');
  EXPECT_THAT(Members(TarEntry(std::string(80, 'f'), "x", '0', std::string(150, 'd')) + TarEnd()),
              ElementsAre(name + "=x"));
  EXPECT_THAT(
      Members(TarEntry("././@LongLink", name + '\0', 'L') + TarEntry("cut", "x") + TarEnd()),
      ElementsAre(name + "=x"));
  EXPECT_THAT(Members(TarEntry("pax", PaxRecord("mtime", "1.5") + PaxRecord("path", name), 'x') +
                      TarEntry("cut", "x") + TarEntry("own", "y") + TarEnd()),
              ElementsAre(name + "=x", "own=y"));
  EXPECT_THAT(
      Members(TarEntry("global", PaxRecord("comment", "c"), 'g') + TarEntry("a", "x") + TarEnd()),
      ElementsAre("a=x"));
}

TEST(TarTest, ReadsSizesOfAllKinds) {
  std::string base256 = TarHeader("a", 0);
  std::memset(base256.data() + 124, 0, 12);
  base256[124] = static_cast<char>(0x80);
  base256[135] = 3;
  Sign(base256);
  EXPECT_THAT(Members(base256 + "abc" + std::string(509, '\0') + TarEnd()), ElementsAre("a=abc"));
  std::string pax_sized = TarHeader("a", 0);
  EXPECT_THAT(Members(TarEntry("pax", PaxRecord("size", "3"), 'x') + pax_sized + "abc" +
                      std::string(509, '\0') + TarEnd()),
              ElementsAre("a=abc"));
}

TEST(TarTest, LeavesOutWhatIsNoFile) {
  EXPECT_THAT(Members(TarHeader("folder/", 0, '5') + TarHeader("link", 5, '2') +
                      TarHeader("hard", 5, '1') + TarEntry("a", "x") + TarEnd()),
              ElementsAre("folder/", "link", "hard", "a=x"));
}

TEST(TarTest, ReadsWhatTarWrites) {
  const Scratch scratch;
  const std::string name = std::string(120, 'a') + ".txt";
  scratch.Write(name, "long");
  scratch.Write("b.txt", std::string(5000, 'b'));
  for (const std::string format : {"gnu", "pax", "posix", "oldgnu"}) {
    const std::string command =
        "cd '" + scratch.path() + "' && tar --format=" + format + " -cf x.tar " + name + " b.txt";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_THAT(Members(ReadFile(scratch / "x.tar")),
                ElementsAre(name + "=long", "b.txt=" + std::string(5000, 'b')))
        << format;
  }
  for (const std::string format : {"ustar", "v7"}) {
    const std::string command =
        "cd '" + scratch.path() + "' && tar --format=" + format + " -cf x.tar b.txt";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_THAT(Members(ReadFile(scratch / "x.tar")),
                ElementsAre("b.txt=" + std::string(5000, 'b')))
        << format;
  }
}

TEST(TarTest, RefusesDamage) {
  const std::string good = Tar({{"a.txt", std::string(600, 'a')}, {"b.txt", "b"}});
  std::string sum = good;
  sum[3] = 'X';
  EXPECT_THAT(Refused(sum), AllOf(HasSubstr("x.tar: byte 0: expected a tar header"),
                                  HasSubstr("the file is no tar archive")));
  std::string second = good;
  second[1536 + 3] = 'X';
  EXPECT_THAT(Refused(second), AllOf(HasSubstr("byte 1536"), HasSubstr("the archive is damaged")));
  EXPECT_THAT(Refused(good.substr(0, 700)),
              AllOf(HasSubstr("\"a.txt\" should have 600 bytes"), HasSubstr("after 188 of them")));
  EXPECT_THAT(Refused(good.substr(0, 1600)), HasSubstr("byte 1536: the archive ends without"));
  EXPECT_THAT(Refused(good.substr(0, 2560)), HasSubstr("ends without the zeros"));
  EXPECT_THAT(Refused(""), HasSubstr("ends without the zeros"));
  // One header of zeros is enough.
  EXPECT_EQ(Members(good.substr(0, good.size() - 512)).size(), 2u);
  EXPECT_THAT(Refused(good + Tar({{"c", "d"}})),
              AllOf(HasSubstr("byte 3584: more data after the archive's end"), HasSubstr("cat")));
  EXPECT_THAT(Refused(std::string(512, '\0') + good), HasSubstr("zeros amid the archive"));
}

TEST(TarTest, RefusesAbsurdNumbers) {
  std::string size = TarHeader("a", 0);
  std::memcpy(size.data() + 124, "77777777777", 11);
  Sign(size);
  EXPECT_THAT(Refused(size + TarEnd()), HasSubstr("should have 8589934591 bytes"));
  std::memset(size.data() + 124, 0xff, 12);
  Sign(size);
  EXPECT_THAT(Refused(size + TarEnd()), HasSubstr("size is no number"));
  std::memset(size.data() + 124, 0x7f, 12);
  size[124] = static_cast<char>(0x80);
  Sign(size);
  EXPECT_THAT(Refused(size + TarEnd()), HasSubstr("size is no number"));
  std::string name = TarHeader("@LongLink", 2 << 20, 'L');
  EXPECT_THAT(Refused(name + std::string(3 << 20, 'a')), HasSubstr("expected at most 1048576"));
  std::string many;
  for (int i = 0; i < 20; ++i) many += TarEntry("@LongLink", "n", 'L');
  EXPECT_THAT(Refused(many + TarEntry("a", "x") + TarEnd()), HasSubstr("more than 16 headers"));
  EXPECT_THAT(Refused(TarEntry("@LongLink", "n", 'L') + TarEnd()),
              HasSubstr("found the archive's"));
}

TEST(TarTest, RefusesWhatItCannotRead) {
  EXPECT_THAT(Refused(TarEntry("a", "x", 'S') + TarEnd()), HasSubstr("sparse"));
  EXPECT_THAT(Refused(TarEntry("p", PaxRecord("GNU.sparse.major", "1"), 'x') + TarEntry("a", "x") +
                      TarEnd()),
              HasSubstr("sparse"));
  EXPECT_THAT(Refused(TarEntry("label", "", 'V') + TarEnd()), HasSubstr("several volumes"));
  for (const std::string record :
       {"9999 path=a\n", "x", "5 a\n", "3 \n", "8 path=a\n", "0 a=b\n"}) {
    EXPECT_THAT(Refused(TarEntry("p", record, 'x') + TarEntry("a", "x") + TarEnd()),
                HasSubstr("pax record"))
        << record;
  }
  EXPECT_THAT(Refused(TarEntry("p", PaxRecord("size", "-1"), 'x') + TarEntry("a", "x") + TarEnd()),
              HasSubstr("impossible size"));
}

TEST(TarTest, EveryCutAndFlippedByteIsAnErrorOrRead) {
  const std::string good = TarEntry("p", PaxRecord("path", "n"), 'x') + TarEntry("a", "abc") +
                           TarEntry("@LongLink", "long", 'L') + TarEntry("b", "def") + TarEnd();
  for (size_t size = 0; size + 512 < good.size(); ++size) {
    EXPECT_NE(Refused(good.substr(0, size)), "") << size;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string file = good;
    const size_t block = random() % (file.size() / 512) * 512;
    file[block + random() % 512] = static_cast<char>(random());
    file[random() % file.size()] = static_cast<char>(random());
    // With the right sum, to come past it.
    std::string header = file.substr(block, 512);
    Sign(header);
    file.replace(block, 512, header);
    try {
      Members(file);
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace flatout::data
