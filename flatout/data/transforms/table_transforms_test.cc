#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "flatout/data/source_testing.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::ApplyTo;
using testing::ColumnOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::RowOf;
using testing::TransformOf;

const float kNan = std::numeric_limits<float>::quiet_NaN();

// Rows of one fixed field.
template <typename T>
Block Rows(const Field& field, const std::vector<T>& values) {
  Block block;
  block.Reset({field}, static_cast<int64_t>(values.size()) / field.shape.size());
  std::memcpy(block.data(0), values.data(), values.size() * sizeof(T));
  return block;
}
Block Floats(const std::vector<float>& values, std::vector<int64_t> dims = {}) {
  return Rows(Field{"x", ir::Shape(ir::DType::kF32, std::move(dims))}, values);
}
Block Ints(const std::vector<int32_t>& values, std::vector<int64_t> dims = {}, int64_t bound = 0) {
  return Rows(Field{"x", ir::Shape(ir::DType::kI32, std::move(dims)), bound}, values);
}
// Rows of x i32[?].
Block Lists(const std::vector<std::vector<int32_t>>& lists, int64_t bound = 0) {
  Block block;
  block.Reset({Field{"x", ir::Shape(ir::DType::kI32, {kAny}), bound}},
              static_cast<int64_t>(lists.size()));
  for (size_t i = 0; i < lists.size(); ++i) {
    const int64_t dims[] = {static_cast<int64_t>(lists[i].size())};
    std::byte* to = block.SetCell(0, static_cast<int64_t>(i), dims);
    if (!lists[i].empty()) std::memcpy(to, lists[i].data(), lists[i].size() * sizeof(int32_t));
  }
  return block;
}
Block Texts(const std::vector<std::string>& texts) {
  Block block;
  block.Reset({TextField("x")}, static_cast<int64_t>(texts.size()));
  for (size_t i = 0; i < texts.size(); ++i) block.SetText(0, static_cast<int64_t>(i), texts[i]);
  return block;
}
// x f32[], y i32[2], z text[].
Block Table() {
  Block block;
  block.Reset({Field{"x", ir::Shape::Scalar(ir::DType::kF32)},
               Field{"y", ir::Shape(ir::DType::kI32, {2}), 10}, TextField("z")},
              2);
  for (int64_t row = 0; row < 2; ++row) {
    *block.as<float>(0, row) = static_cast<float>(row) + 0.5f;
    block.as<int32_t>(1, row)[0] = static_cast<int32_t>(row);
    block.as<int32_t>(1, row)[1] = 7;
    block.SetText(2, row, row == 0 ? "a" : "b");
  }
  return block;
}
Block Apply(const std::string& toml, const Block& in, BadRecords* bad = nullptr) {
  return ApplyTo(*TransformOf(toml), in, bad);
}
std::string Described(const std::string& toml, const Block& in) {
  return DescribeFields(TransformOf(toml)->Fields(in.fields()));
}
std::string Refused(const std::string& toml, const Block& in) {
  return MessageOf<UserError>([&] { TransformOf(toml)->Fields(in.fields()); });
}
std::string Complaint(const std::string& toml) {
  return MessageOf<UserError>([&] { TransformOf(toml); });
}

TEST(CastTest, ChecksWhatFits) {
  BadRecords bad(5);
  const Block out = Apply("op = 'cast'\nfield = 'x'\ndtype = 'u8'", Ints({0, 255, 256, -1}), &bad);
  EXPECT_THAT(ColumnOf<uint8_t>(out, 0), ElementsAre(0, 255, 0, 0));
  EXPECT_THAT(bad.messages(),
              ElementsAre(HasSubstr("cast: field x: the value 256 does not fit u8 (0 to 255)"),
                          HasSubstr("the value -1")));
  EXPECT_FALSE(out.bad(1));
  EXPECT_TRUE(out.bad(2));
}

TEST(CastTest, KeepsShapeAndBound) {
  EXPECT_EQ(Described("op = 'cast'\nfield = 'x'\ndtype = 'float32'", Lists({{1}})), "x f32[?]");
  const Block out = Apply("op = 'cast'\nfield = 'x'\ndtype = 'f32'", Lists({{1, 2}, {}}));
  EXPECT_THAT(RowOf<float>(out, 0, 0), ElementsAre(1, 2));
  EXPECT_THAT(RowOf<float>(out, 0, 1), IsEmpty());
}

TEST(CastTest, ParsesText) {
  BadRecords bad(9);
  const Block out = Apply("op = 'cast'\nfield = 'x'\ndtype = 'i32'",
                          Texts({" 7", "-2147483648", "2147483648", "1.5", "", "0x7"}), &bad);
  EXPECT_THAT(ColumnOf<int32_t>(out, 0), ElementsAre(7, -2147483647 - 1, 0, 0, 0, 0));
  EXPECT_EQ(bad.count(), 4);
  EXPECT_THAT(bad.messages()[1], AllOf(HasSubstr("expected an integer (-2147483648 to 2147483647)"),
                                       HasSubstr("found \"1.5\"")));
  EXPECT_THAT(Complaint("op = 'cast'\nfield = 'x'\ndtype = 'f33'"), HasSubstr("run.toml:3:"));
  EXPECT_THAT(Complaint("op = 'cast'\nfield = 'x'"), HasSubstr("dtype"));
}

TEST(ScaleTest, TakesOneNumberOrOnePerColumn) {
  EXPECT_THAT(ColumnOf<float>(Apply("op = 'scale'\nfield = 'x'\nscale = 2", Ints({1, 2})), 0),
              ElementsAre(2, 4));
  EXPECT_THAT(ColumnOf<float>(Apply("op = 'scale'\nfield = 'x'\nscale = [1, 10]\noffset = 1",
                                    Floats({1, 2, 3, 4}, {2})),
                              0),
              ElementsAre(2, 21, 4, 41));
  EXPECT_THAT(Refused("op = 'scale'\nfield = 'x'\nscale = [1, 2, 3]", Floats({1, 2}, {2})),
              AllOf(HasSubstr("scale: field x f32[2]"), HasSubstr("last dimension must be 3")));
  EXPECT_THAT(Complaint("op = 'scale'\nfield = 'x'\nscale = [1, 2, 3]\noffset = [1, 2]"),
              HasSubstr("as many as the other list"));
  EXPECT_THAT(Refused("op = 'scale'\nfield = 'x'", Texts({"a"})), HasSubstr("found text"));
  EXPECT_THAT(Complaint("op = 'normalize'\nfield = 'x'\nmean = 1\nstd = 0"),
              HasSubstr("values above 0"));
  EXPECT_THAT(Complaint("op = 'normalize'\nfield = 'x'\nmean = 1"),
              HasSubstr("either std or variance"));
}

TEST(ScaleTest, TakesSeveralFieldsAndNamesTheResult) {
  EXPECT_EQ(Described("op = 'scale'\nfield = ['x', 'y']", Table()), "x f32[], y f32[2], z text[]");
  const Block out = Apply("op = 'scale'\nfield = 'y'\nscale = 3\noutput = 'w'", Table());
  EXPECT_EQ(DescribeFields(out.fields()), "x f32[], y i32[2], z text[], w f32[2]");
  EXPECT_THAT(ColumnOf<float>(out, 3), ElementsAre(0, 21, 3, 21));
  EXPECT_THAT(ColumnOf<int32_t>(out, 1), ElementsAre(0, 7, 1, 7));
  EXPECT_EQ(out.text(2, 1), "b");
  EXPECT_THAT(Refused("op = 'scale'\nfield = 'y'\noutput = 'x'", Table()),
              HasSubstr("there is a field of that name already"));
  EXPECT_THAT(Complaint("op = 'scale'\nfield = ['x', 'y']\noutput = 'w'"), HasSubstr("one field"));
  EXPECT_THAT(Refused("op = 'scale'\nfield = 'zz'", Table()), HasSubstr("zz"));
}

TEST(ClipTest, KeepsTheType) {
  EXPECT_THAT(ColumnOf<int32_t>(Apply("op = 'clip'\nfield = 'x'\nmin = -1\nmax = 5000000000",
                                      Ints({-5, 0, 2147483647})),
                                0),
              ElementsAre(-1, 0, 2147483647));
  const Block out = Apply("op = 'clip'\nfield = 'x'\nmax = 2", Floats({kNan, 3, -9}));
  EXPECT_TRUE(std::isnan(*out.as<float>(0, 0)));
  EXPECT_EQ(*out.as<float>(0, 1), 2);
  EXPECT_EQ(*out.as<float>(0, 2), -9);
  EXPECT_THAT(Refused("op = 'clip'\nfield = 'x'\nmin = 0.5", Ints({1})),
              HasSubstr("whole numbers"));
  EXPECT_THAT(Complaint("op = 'clip'\nfield = 'x'\nmin = 1\nmax = 0"), HasSubstr("not below min"));
}

TEST(FillMissingTest, FillsNumbersAndText) {
  EXPECT_THAT(
      ColumnOf<float>(Apply("op = 'fill_missing'\nfield = 'x'\nvalue = -1", Floats({kNan, 2})), 0),
      ElementsAre(-1, 2));
  const Block out = Apply("op = 'fill_missing'\nfield = 'x'\nvalue = '?'", Texts({"", "a"}));
  EXPECT_EQ(out.text(0, 0), "?");
  EXPECT_EQ(out.text(0, 1), "a");
  EXPECT_THAT(Refused("op = 'fill_missing'\nfield = 'x'\nvalue = 0", Ints({1})),
              HasSubstr("no value is missing"));
  EXPECT_THAT(Refused("op = 'fill_missing'\nfield = 'x'\nvalue = 'a'", Floats({1})),
              HasSubstr("must be a number"));
  EXPECT_THAT(Refused("op = 'fill_missing'\nfield = 'x'\nvalue = 1", Texts({"a"})),
              HasSubstr("must be a string"));
}

TEST(BucketizeTest, CountsBoundariesNotAbove) {
  const std::string toml = "op = 'bucketize'\nfield = 'x'\nboundaries = [0, 10]";
  const Block out = Apply(toml, Ints({-1, 0, 9, 10}));
  EXPECT_THAT(ColumnOf<int32_t>(out, 0), ElementsAre(0, 1, 1, 2));
  EXPECT_EQ(out.fields()[0].bound, 3);
  EXPECT_THAT(Complaint("op = 'bucketize'\nfield = 'x'\nboundaries = [1, 0]"),
              HasSubstr("rising numbers"));
}

TEST(EncodeTest, RefusesWhatIsOutOfRange) {
  BadRecords bad(5);
  const Block out = Apply("op = 'one_hot'\nfield = 'x'\ndepth = 3", Ints({0, 3, -1, 2}), &bad);
  EXPECT_THAT(ColumnOf<float>(out, 0), ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(bad.messages(),
              ElementsAre(HasSubstr("one_hot: field x: expected 0 to 2 (depth = 3), found 3"),
                          HasSubstr("found -1")));
}

TEST(EncodeTest, TakesTheDepthFromTheField) {
  EXPECT_EQ(Described("op = 'one_hot'\nfield = 'x'\ndtype = 'u8'", Ints({1}, {}, 4)), "x u8[4]");
  EXPECT_THAT(Refused("op = 'one_hot'\nfield = 'x'", Ints({1})), HasSubstr("give depth"));
  EXPECT_THAT(Refused("op = 'one_hot'\nfield = 'x'\ndepth = 2", Floats({1})),
              HasSubstr("expected integers"));
}

TEST(EncodeTest, MultiHotOfLists) {
  const Block in = Lists({{0, 2, 2}, {}, {-1, 1}});
  EXPECT_EQ(Described("op = 'multi_hot'\nfield = 'x'\ndepth = 3", in), "x f32[3]");
  EXPECT_THAT(
      ColumnOf<float>(Apply("op = 'multi_hot'\nfield = 'x'\ndepth = 3\nignore = -1", in), 0),
      ElementsAre(1, 0, 1, 0, 0, 0, 0, 1, 0));
  EXPECT_THAT(ColumnOf<int32_t>(Apply("op = 'multi_hot'\nfield = 'x'\ndepth = 3\nignore = -1\n"
                                      "count = true\ndtype = 'i32'",
                                      in),
                                0),
              ElementsAre(1, 0, 2, 0, 0, 0, 0, 1, 0));
}

TEST(ReshapeTest, WorksOutOneDimension) {
  const Block in = Ints({1, 2, 3, 4, 5, 6, 7, 8}, {4});
  const Block out = Apply("op = 'reshape'\nfield = 'x'\nshape = [2, -1]", in);
  EXPECT_EQ(DescribeFields(out.fields()), "x i32[2,2]");
  EXPECT_THAT(RowOf<int32_t>(out, 0, 1), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(Refused("op = 'reshape'\nfield = 'x'\nshape = [3]", in),
              HasSubstr("4 elements do not make [3]"));
  EXPECT_THAT(Refused("op = 'reshape'\nfield = 'x'\nshape = [3, -1]", in),
              HasSubstr("do not make"));
  EXPECT_THAT(Refused("op = 'reshape'\nfield = 'x'\nshape = [1]", Lists({{1}})),
              HasSubstr("fixed shape"));
  EXPECT_THAT(Complaint("op = 'reshape'\nfield = 'x'\nshape = [-1, -1]"), HasSubstr("one of them"));
}

TEST(PadOrTruncateTest, FillsAndCutsOnEitherSide) {
  const Block in = Lists({{1, 2}, {3, 4, 5, 6}, {}, {7, 8, 9}});
  const std::string toml = "op = 'pad_or_truncate'\nfield = 'x'\nlength = 3\nvalue = -1\n";
  const Block right = Apply(toml + "mask = 'm'", in);
  EXPECT_EQ(DescribeFields(right.fields()), "x i32[3], m f32[3]");
  EXPECT_THAT(ColumnOf<int32_t>(right, 0), ElementsAre(1, 2, -1, 3, 4, 5, -1, -1, -1, 7, 8, 9));
  EXPECT_THAT(ColumnOf<float>(right, 1), ElementsAre(1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1));
  const Block left = Apply(toml + "pad = 'left'\ntruncate = 'left'\nmask = 'm'", in);
  EXPECT_THAT(ColumnOf<int32_t>(left, 0), ElementsAre(-1, 1, 2, 4, 5, 6, -1, -1, -1, 7, 8, 9));
  EXPECT_THAT(RowOf<float>(left, 1, 0), ElementsAre(0, 1, 1));
}

TEST(PadOrTruncateTest, RefusesWhatDoesNotFit) {
  const std::string toml = "op = 'pad_or_truncate'\nfield = 'x'\nlength = 3\n";
  EXPECT_THAT(Refused(toml + "value = 9", Lists({{1}}, 9)), HasSubstr("outside the field's"));
  EXPECT_THAT(Refused(toml + "value = 0.5", Lists({{1}})), HasSubstr("no whole number"));
  EXPECT_THAT(Refused(toml + "value = 1e10", Lists({{1}})), HasSubstr("does not fit i32"));
  EXPECT_THAT(Refused(toml, Ints({1})), HasSubstr("at least one dimension"));
  EXPECT_THAT(Refused(toml + "mask = 'x'", Lists({{1}})), HasSubstr("already"));
  EXPECT_THAT(Complaint("op = 'pad_or_truncate'\nfield = 'x'\nlength = 0"),
              HasSubstr("a length above 0"));
  EXPECT_THAT(Complaint(toml + "pad = 'up'"), HasSubstr("\"right\" or \"left\""));
}

TEST(LengthTest, OfListsAndText) {
  EXPECT_THAT(ColumnOf<int32_t>(Apply("op = 'length'\nfield = 'x'", Lists({{1, 2}, {}})), 0),
              ElementsAre(2, 0));
  EXPECT_THAT(
      ColumnOf<int32_t>(Apply("op = 'length'\nfield = 'x'\noutput = 'n'", Texts({"abc", ""})), 1),
      ElementsAre(3, 0));
  EXPECT_THAT(Refused("op = 'length'\nfield = 'x'", Ints({1})), HasSubstr("at least one"));
}

TEST(NextTokenTest, ShiftsByOne) {
  const Block out = Apply("op = 'next_token'\nfield = 'x'", Ints({1, 2, 3, 4, 5, 6}, {3}, 9));
  EXPECT_EQ(DescribeFields(out.fields()), "x i32[2], targets i32[2]");
  EXPECT_EQ(out.fields()[1].bound, 9);
  EXPECT_THAT(ColumnOf<int32_t>(out, 0), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(ColumnOf<int32_t>(out, 1), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(Refused("op = 'next_token'\nfield = 'x'", Lists({{1, 2}})), HasSubstr("known size"));
}

TEST(ChooseTest, SelectsDropsAndRenames) {
  const Block in = Table();
  const Block selected = Apply("op = 'select'\nfields = ['z', 'x']", in);
  EXPECT_EQ(DescribeFields(selected.fields()), "z text[], x f32[]");
  EXPECT_EQ(selected.text(0, 1), "b");
  EXPECT_EQ(Described("op = 'drop'\nfields = 'y'", in), "x f32[], z text[]");
  const Block renamed = Apply("op = 'rename'\nfields = { x = 'y', y = 'x' }", in);
  EXPECT_EQ(DescribeFields(renamed.fields()), "y f32[], x i32[2], z text[]");
  EXPECT_THAT(ColumnOf<float>(renamed, 0), ElementsAre(0.5f, 1.5f));
  EXPECT_THAT(Refused("op = 'rename'\nfields = { x = 'z' }", in), HasSubstr("two fields"));
  EXPECT_THAT(Refused("op = 'drop'\nfields = ['x', 'y', 'z']", in), HasSubstr("no field"));
  EXPECT_THAT(Refused("op = 'select'\nfields = ['q']", in), HasSubstr("q"));
  EXPECT_THAT(Complaint("op = 'rename'\nfields = ['x']"), HasSubstr("a table of old and new"));
}

TEST(ConcatTest, PutsColumnsSideBySide) {
  const Block out = Apply("op = 'concat'\nfields = ['y', 'x']\noutput = 'features'", Table());
  EXPECT_EQ(DescribeFields(out.fields()), "z text[], features f32[3]");
  EXPECT_THAT(ColumnOf<float>(out, 1), ElementsAre(0, 7, 0.5f, 1, 7, 1.5f));
  EXPECT_EQ(
      Described("op = 'concat'\nfields = ['x']\noutput = 'f'\nkeep = true\ndtype = 'f64'", Table()),
      "x f32[], y i32[2], z text[], f f64[1]");
  EXPECT_THAT(Refused("op = 'concat'\nfields = ['x', 'z']\noutput = 'f'", Table()),
              HasSubstr("field z text[]"));
  EXPECT_THAT(Refused("op = 'concat'\nfields = ['x']\noutput = 'z'", Table()),
              HasSubstr("already"));
}

// Every transform leaves rows alone that are bad already, also where their cells are empty.
TEST(TableTransformsTest, LeavesBadRowsAlone) {
  for (const std::string toml :
       {"op = 'cast'\nfield = 'x'\ndtype = 'f32'", "op = 'scale'\nfield = 'x'",
        "op = 'clip'\nfield = 'x'", "op = 'bucketize'\nfield = 'x'\nboundaries = [1]",
        "op = 'multi_hot'\nfield = 'x'\ndepth = 4", "op = 'length'\nfield = 'x'",
        "op = 'pad_or_truncate'\nfield = 'x'\nlength = 2", "op = 'one_hot'\nfield = 'x'\ndepth = 4",
        "op = 'hash'\nfield = 'x'\nnum_bins = 3",
        "op = 'lookup'\nfield = 'x'\nvocabulary = [1]\nnum_oov_indices = 0"}) {
    SCOPED_TRACE(toml);
    Block in = Lists({{1}, {1}});
    BadRecords bad(9);
    in.set_bad_records(&bad);
    in.Bad(0, BadData("damaged"));
    const Block out = Apply(toml, in, &bad);
    EXPECT_TRUE(out.bad(0));
    EXPECT_FALSE(out.bad(1));
    EXPECT_EQ(bad.count(), 1);
  }
}

}  // namespace
}  // namespace flatout::data
