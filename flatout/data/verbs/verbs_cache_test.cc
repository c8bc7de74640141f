// cache: in memory and in a file, over records with numbers and over streams.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "flatout/base/file.h"
#include "flatout/base/log.h"
#include "flatout/data/testing.h"
#include "flatout/data/verbs/verbs_testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::AsStream;
using testing::Epoch;
using testing::ExpectOneOrder;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Rest;

// Record i: a text, a list of texts, a list of numbers, a number; counts how many were made.
Dataset Counted(int64_t size, std::atomic<int64_t>& made) {
  return Dataset::FromFunction({TextField("text"), TextField("words", {kAny}),
                                Field{"list", ir::Shape(ir::DType::kI32, {kAny, 2})},
                                Field{"value", ir::Shape::Scalar(ir::DType::kI64)}},
                               size, [&made](int64_t record, Block& out, int64_t row) {
                                 ++made;
                                 out.SetText(0, row, fmt::format("number {}", record));
                                 const std::vector<std::string> words(
                                     static_cast<size_t>(record % 4), "word");
                                 std::vector<std::string_view> views(words.begin(), words.end());
                                 const int64_t count[] = {record % 4}, dims[] = {record % 3, 2};
                                 out.SetTexts(1, row, count, views);
                                 auto* list = reinterpret_cast<int32_t*>(out.SetCell(2, row, dims));
                                 for (int64_t i = 0; i < 2 * dims[0]; ++i)
                                   list[i] = static_cast<int32_t>(record + i);
                                 *out.as<int64_t>(3, row) = record;
                               });
}

Dataset Fixed(int64_t size, std::atomic<int64_t>& made) {
  return Counted(size, made)
      .Map({Field{"value", ir::Shape::Scalar(ir::DType::kI64)}},
           [](const Block& in, Block& out) { out.ShareColumn(0, in, 3); });
}

std::string Log(const std::function<void()>& body) {
  std::string all;
  SetLogSink([](LogLevel, const std::string& line,
                void* to) { *static_cast<std::string*>(to) += line + "\n"; },
             &all);
  body();
  SetLogSink(nullptr, nullptr);
  return all;
}

TEST(CacheInMemory, ReadsEachRecordOnce) {
  for (const bool stream : {false, true}) {
    std::atomic<int64_t> made = 0;
    const Dataset plain = Counted(40, made);
    const std::vector<std::string> expected = Epoch(plain);
    made = 0;
    const Dataset cached = (stream ? AsStream(plain) : plain).Cache();
    Iterator it = cached.MakeIterator();
    for (int epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(Rest(it), expected);
    EXPECT_EQ(made, 40);
    // Another iterator over it too.
    EXPECT_EQ(Epoch(cached.Take(20)).size(), 20u);
    EXPECT_EQ(made, 40);
    if (!stream) {
      made = 0;
      const Dataset fixed = Fixed(40, made).Cache().Shuffle(1).Repeat(3);
      EXPECT_EQ(Epoch(fixed).size(), 120u);
      EXPECT_EQ(made, 40);
    }
  }
}

TEST(CacheInMemory, FromAnyState) {
  std::atomic<int64_t> made = 0;
  ExpectOneOrder(Counted(20, made).Cache().Shuffle(3), 50, 7);
  ExpectOneOrder(Fixed(20, made).Cache().Shuffle(3).Batch(3), 20, 3);
  ExpectOneOrder(AsStream(Counted(20, made)).Cache(), 50, 7);
  // States of a stream's later epochs, in a process that has kept nothing yet.
  Iterator it = AsStream(Counted(20, made)).Cache().MakeIterator();
  testing::Following(it, 21 + 21 + 6);
  const IteratorState state = it.state();
  const std::vector<std::string> expected = Rest(it);
  Iterator fresh = AsStream(Counted(20, made)).Cache().MakeIterator();
  fresh.Restore(state);
  EXPECT_EQ(Rest(fresh), expected);
  made = 0;
  EXPECT_EQ(Rest(fresh).size(), 20u);  // and has kept all by then
  EXPECT_EQ(made, 0);
}

TEST(CacheInMemory, HoldsEpochZero) {
  std::atomic<int64_t> made = 0;
  const Dataset cached = Fixed(20, made).Shuffle(3).Cache();
  const std::vector<std::string> first = Epoch(cached);
  EXPECT_EQ(Epoch(cached, 1), first);
  // Whatever epoch is read first.
  Iterator it = Fixed(20, made).Shuffle(3).Cache().MakeIterator();
  it.Restore({3, 5, 0, 20, {}});
  EXPECT_EQ(Rest(it), first);
}

TEST(CacheInMemory, KeepsToTheBudget) {
  std::atomic<int64_t> made = 0;
  EXPECT_THAT(MessageOf<UserError>([&] { Fixed(1000, made).Cache(7999); }),
              AllOf(HasSubstr("Cache(path)"), HasSubstr("7.8")));
  Epoch(Fixed(1000, made).Cache(8000));
  EXPECT_THAT(MessageOf<UserError>([&] { Epoch(Counted(100, made).Cache(20000)); }),
              HasSubstr("Cache(path)"));
  EXPECT_THAT(MessageOf<UserError>([&] { Epoch(AsStream(Counted(1000, made)).Cache(5000)); }),
              HasSubstr("Cache(path)"));
  EXPECT_THROW(Fixed(10, made).Cache(-1), UserError);
  EXPECT_THROW(Fixed(10, made).Repeat().Cache(), UserError);
  EXPECT_EQ(Fixed(0, made).Cache().size(), 0);
}

TEST(CacheInFile, IsUsedAgain) {
  for (const bool stream : {false, true}) {
    const testing::Scratch scratch;
    const std::string path = scratch / "deep/records.cache";
    std::atomic<int64_t> made = 0;
    const auto cached = [&](const std::string& version) {
      const Dataset plain = Counted(300, made);
      return (stream ? AsStream(plain) : plain.Shuffle(2)).Cache(path, version);
    };
    const std::vector<std::string> expected =
        stream ? Epoch(Counted(300, made)) : Epoch(Counted(300, made).Shuffle(2));
    made = 0;
    {
      Iterator it = cached("").MakeIterator();
      EXPECT_EQ(Rest(it), expected);
      EXPECT_EQ(Rest(it), expected);
      EXPECT_EQ(made, 300);
    }
    EXPECT_EQ(Log([&] { EXPECT_EQ(Epoch(cached("")), expected); }), "");
    EXPECT_EQ(made, 300);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch / "deep"), {}), 1);
    ExpectOneOrder(cached(""), 400, 97);
    // Of another version it is made anew.
    made = 0;
    EXPECT_THAT(Log([&] { EXPECT_EQ(Epoch(cached("2")), expected); }), HasSubstr("made anew"));
    EXPECT_EQ(made, 300);
    EXPECT_EQ(Log([&] { EXPECT_EQ(Epoch(cached("2")), expected); }), "");
    EXPECT_EQ(made, 300);
  }
}

TEST(CacheInFile, PartsOfAnEpochLeaveNothing) {
  for (const bool stream : {false, true}) {
    const testing::Scratch scratch;
    std::atomic<int64_t> made = 0;
    {
      const Dataset plain = Counted(30, made);
      const Dataset cached = (stream ? AsStream(plain) : plain).Cache(scratch / "c").Take(10);
      EXPECT_EQ(Epoch(cached), Epoch(plain.Take(10)));
      made = 0;
      EXPECT_EQ(Epoch(cached).size(), 10u);
      // What was read is there, though not all is.
      if (!stream) {
        EXPECT_EQ(made, 0);
      }
    }
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
    // Leftovers of a run that was killed go.
    scratch.Write("c.partial-1-0", "half of it");
    Epoch((stream ? AsStream(Counted(30, made)) : Counted(30, made)).Cache(scratch / "c"));
    EXPECT_TRUE(FileExists(scratch / "c"));
    EXPECT_FALSE(FileExists(scratch / "c.partial-1-0"));
  }
}

TEST(CacheInFile, DamageIsFound) {
  const testing::Scratch scratch;
  const std::string path = scratch / "c";
  std::atomic<int64_t> made = 0;
  const std::vector<std::string> expected = Epoch(Counted(30, made));
  Epoch(Counted(30, made).Cache(path));
  const std::string good = ReadFile(path);
  // Whatever byte is changed, wherever the file is cut: the records come out right, and it is said.
  for (size_t at = 0; at < good.size(); at += at < 120 || at > 4090 ? 13 : 997) {
    for (const bool cut : {false, true}) {
      if (cut && at % 5 != 0) continue;
      std::string bad = good;
      if (cut) {
        bad.resize(at);
      } else {
        bad[at] = static_cast<char>(bad[at] ^ 0x40);
      }
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
      const std::string log =
          Log([&] { EXPECT_EQ(Epoch(Counted(30, made).Cache(path)), expected) << at; });
      // Between header and records, and between records, there are bytes that nobody reads.
      if (cut || at < 104) {
        EXPECT_THAT(log, HasSubstr("made anew")) << at;
      }
    }
  }
  scratch.Write("c", good);
  std::string bad = good;
  bad[4096] = static_cast<char>(bad[4096] ^ 1);
  scratch.Write("c", bad);
  EXPECT_THAT(Log([&] { EXPECT_EQ(Epoch(Counted(30, made).Cache(path)), expected); }),
              HasSubstr("record 0 at byte 4096 is damaged"));
  scratch.Write("c", "text");
  EXPECT_THAT(Log([&] { EXPECT_EQ(Epoch(Counted(30, made).Cache(path)), expected); }),
              HasSubstr("4 bytes"));
  // A stream's record has no other source.
  Epoch(AsStream(Counted(30, made)).Cache(scratch / "s"));
  bad = ReadFile(scratch / "s");
  bad[4096] = static_cast<char>(bad[4096] ^ 1);
  scratch.Write("s", bad);
  Log([&] { EXPECT_THROW(Epoch(AsStream(Counted(30, made)).Cache(scratch / "s")), DataError); });
}

// A file that is cut while it is mapped: its records come from where they came from first.
TEST(CacheInFile, CutWhileInUse) {
  const testing::Scratch scratch;
  const std::string path = scratch / "cache";
  std::atomic<int64_t> made = 0;
  const Dataset cached = Counted(200, made).Cache(path);
  Iterator it = cached.MakeIterator();
  while (it.Next() != nullptr) continue;
  EXPECT_EQ(made, 200);
  for (int i = 0; i < 10; ++i) ASSERT_NE(it.Next(), nullptr);
  EXPECT_EQ(made, 200);
  std::filesystem::resize_file(path, 4096);
  const std::string log = Log([&] {
    for (int64_t record = 10; record < 200; ++record) {
      const Element* element = it.Next();
      ASSERT_NE(element, nullptr);
      EXPECT_EQ(element->Values<int64_t>("value")[0], record);
    }
  });
  EXPECT_GT(made, 300);  // a few were read from the file ahead of the cut
  EXPECT_THAT(log, HasSubstr("somebody cut it"));
}

TEST(CacheInFile, Refused) {
  const testing::Scratch scratch;
  std::atomic<int64_t> made = 0;
  EXPECT_THROW(Fixed(10, made).Cache(std::string()), UserError);
  EXPECT_THROW(Fixed(10, made).Repeat().Cache(scratch / "c"), UserError);
  scratch.Write("file", "");
  EXPECT_THROW(Epoch(Fixed(10, made).Cache(scratch / "file/c")), UserError);
}

TEST(CacheInFile, BadRecordsStayBad) {
  const testing::Scratch scratch;
  const auto cached = [&] {
    return Dataset::FromFunction({Field{"value", ir::Shape::Scalar(ir::DType::kI64)}}, 6,
                                 [](int64_t record, Block& out, int64_t row) {
                                   if (record == 2) throw BadData("record 2 is broken");
                                   *out.as<int64_t>(0, row) = record;
                                 })
        .Cache(scratch / "c")
        .WithOptions({.max_bad_records = 1});
  };
  Log([&] {
    EXPECT_EQ(testing::Values(cached(), 1), (std::vector<int64_t>{0, 1, 3, 4, 5}));
    EXPECT_TRUE(FileExists(scratch / "c"));
    Iterator it = cached().MakeIterator();
    EXPECT_EQ(Rest(it).size(), 5u);
    EXPECT_EQ(it.bad_records(), 1);
    EXPECT_THAT(MessageOf<DataError>([&] { Epoch(cached().WithOptions({})); }),
                HasSubstr("record 2 is broken"));
  });
}

TEST(CacheInFile, ProcessesAtOnce) {
  const testing::Scratch scratch;
  std::atomic<int64_t> made = 0;
  const std::vector<std::string> expected = Epoch(Counted(200, made));
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool right = true;
      try {
        Iterator it = Counted(200, made).Cache(scratch / "c").MakeIterator();
        for (int epoch = 0; epoch < 3; ++epoch) right = right && Rest(it) == expected;
      } catch (...) {
        right = false;
      }
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  made = 0;
  EXPECT_EQ(Epoch(Counted(200, made).Cache(scratch / "c")), expected);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

TEST(CacheInFile, ThreadsAtOnce) {
  const testing::Scratch scratch;
  std::atomic<int64_t> made = 0;
  const std::vector<std::string> expected = Epoch(Counted(2000, made));
  for (const bool file : {true, false}) {
    const Dataset plain = Counted(2000, made);
    const Dataset cached = file ? plain.Cache(scratch / "c") : plain.Cache();
    Iterator it = cached.Prefetch(16).WithOptions({.workers = 4}).MakeIterator();
    for (int epoch = 0; epoch < 4; ++epoch) EXPECT_EQ(Rest(it), expected);
  }
}

}  // namespace
}  // namespace flatout::data
