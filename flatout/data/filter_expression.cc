#include "flatout/data/filter_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "flatout/base/config.h"
#include "flatout/base/error.h"
#include "flatout/data/elements.h"

namespace flatout::data {
namespace {

// Deeper than any expression that a person writes; keeps the recursion short.
constexpr int kDeepest = 100;

enum class Compare { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct Operand {
  enum class Kind { kField, kLength, kInt, kFloat, kText, kMissing };
  Kind kind = Kind::kMissing;
  size_t column = 0;
  std::string text;  // a field's name or a text
  int64_t integer = 0;
  double real = 0;

  bool is_field() const { return kind == Kind::kField || kind == Kind::kLength; }
};

template <typename... Args>
UserError At(size_t column, fmt::format_string<Args...> format, Args&&... args) {
  return Invalid("column {}: {}", column, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

struct FilterExpression::Node {
  enum class Kind { kOr, kAnd, kNot, kCompare, kIn, kIsMissing, kTrue };
  Kind kind = Kind::kTrue;
  size_t column = 0;
  std::vector<std::shared_ptr<const Node>> children;  // kOr, kAnd, kNot
  std::vector<Operand>
      operands;  // kCompare: both sides; kIn: the left side, then the list; else one
  Compare compare = Compare::kEqual;
};

// ---- text to tree -------------------------------------------------------------------------------

class FilterExpression::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { Advance(); }

  std::shared_ptr<const Node> Parse() {
    if (token_.kind == Token::Kind::kEnd) {
      throw At(1, "the filter is empty; leave the key out to keep all records");
    }
    std::shared_ptr<const Node> node = ParseOr();
    if (token_.kind != Token::Kind::kEnd) {
      throw At(token_.column, "expected \"and\", \"or\" or the end, found {}", Found());
    }
    return node;
  }

 private:
  struct Token {
    enum class Kind { kEnd, kName, kQuotedName, kInt, kFloat, kText, kSymbol };
    Kind kind = Kind::kEnd;
    size_t column = 0;
    std::string text;
    int64_t integer = 0;
    double real = 0;
  };

  static bool NameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
  static bool NameInside(char c) {
    return NameStart(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '/' ||
           c == ':' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
  }

  std::string Found() const {
    switch (token_.kind) {
      case Token::Kind::kEnd:
        return "the end";
      case Token::Kind::kText:
        return fmt::format("the text \"{}\"", token_.text);
      default:
        return fmt::format("\"{}\"", token_.text);
    }
  }

  // Reads the next token into token_.
  void Advance() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    token_ = Token();
    token_.column = at_ + 1;
    if (at_ == text_.size()) return;
    const char c = text_[at_];
    if (NameStart(c) || static_cast<unsigned char>(c) >= 0x80) {
      const size_t begin = at_;
      while (at_ < text_.size() && NameInside(text_[at_])) ++at_;
      token_.kind = Token::Kind::kName;
      token_.text = std::string(text_.substr(begin, at_ - begin));
    } else if (std::isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+' || c == '.') {
      Number();
    } else if (c == '"' || c == '\'' || c == '`') {
      Quoted(c);
    } else {
      Symbol();
    }
  }

  void Number() {
    const size_t begin = at_;
    if (text_[at_] == '+' || text_[at_] == '-') ++at_;
    const auto part_of_number = [&] {
      const char c = text_[at_];
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_') return true;
      return (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    };
    while (at_ < text_.size() && part_of_number()) ++at_;
    token_.text = std::string(text_.substr(begin, at_ - begin));
    std::string digits = token_.text;
    std::erase(digits, '_');
    if (digits.starts_with('+')) digits.erase(0, 1);
    const char* end = digits.data() + digits.size();
    const auto whole = std::from_chars(digits.data(), end, token_.integer);
    if (whole.ec == std::errc() && whole.ptr == end) {
      token_.kind = Token::Kind::kInt;
      return;
    }
    const auto real = std::from_chars(digits.data(), end, token_.real);
    if (real.ec != std::errc() || real.ptr != end || !std::isfinite(token_.real)) {
      throw At(token_.column, "\"{}\" is no number", token_.text);
    }
    token_.kind = Token::Kind::kFloat;
  }

  void Quoted(char quote) {
    token_.kind = quote == '`' ? Token::Kind::kQuotedName : Token::Kind::kText;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      char c = text_[at_];
      if (c == '\\' && quote != '`' && at_ + 1 < text_.size()) {
        c = text_[++at_];
        if (c == 'n') {
          c = '\n';
        } else if (c == 't') {
          c = '\t';
        } else if (c != '\\' && c != '"' && c != '\'') {
          throw At(at_, "expected one of \\\\ \\\" \\' \\n \\t, found \\{}", c);
        }
      }
      token_.text += c;
    }
    if (at_ == text_.size()) throw At(token_.column, "the text that begins here has no end");
    ++at_;
  }

  void Symbol() {
    static constexpr std::string_view kSymbols[] = {"==", "!=", "<=", ">=", "<", ">",
                                                    "(",  ")",  "[",  "]",  ","};
    static constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
        {"&&", "and"}, {"||", "or"}, {"<>", "!="}, {"=", "=="},
        {"&", "and"},  {"|", "or"},  {"!", "not"}};
    const std::string_view rest = text_.substr(at_);
    for (const auto& [symbol, ours] : kForeign) {
      const bool longer = rest.starts_with("==") || rest.starts_with("!=");
      if (!longer && rest.starts_with(symbol)) {
        throw At(token_.column, "\"{}\" is not known here; write {}", symbol, ours);
      }
    }
    for (const std::string_view symbol : kSymbols) {
      if (!rest.starts_with(symbol)) continue;
      token_.kind = Token::Kind::kSymbol;
      token_.text = std::string(symbol);
      at_ += symbol.size();
      return;
    }
    throw At(token_.column, "\"{}\" has no meaning here", rest[0]);
  }

  bool IsWord(std::string_view word) const {
    return token_.kind == Token::Kind::kName && token_.text == word;
  }
  bool IsSymbol(std::string_view symbol) const {
    return token_.kind == Token::Kind::kSymbol && token_.text == symbol;
  }
  bool TakeWord(std::string_view word) {
    if (!IsWord(word)) return false;
    Advance();
    return true;
  }
  bool TakeSymbol(std::string_view symbol) {
    if (!IsSymbol(symbol)) return false;
    Advance();
    return true;
  }
  void Expect(std::string_view symbol) {
    if (!TakeSymbol(symbol)) {
      throw At(token_.column, "expected \"{}\", found {}", symbol, Found());
    }
  }

  // Counts how deep the recursion is.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepest) {
        throw At(parser_.token_.column, "more than {} parentheses or \"not\" inside each other",
                 kDeepest);
      }
    }
    ~Depth() { --parser_.depth_; }

   private:
    Parser& parser_;
  };

  std::shared_ptr<const Node> Join(Node::Kind kind, std::string_view word,
                                   std::shared_ptr<const Node> (Parser::*part)()) {
    const size_t column = token_.column;
    std::shared_ptr<const Node> first = (this->*part)();
    if (!IsWord(word)) return first;
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->column = column;
    node->children.push_back(std::move(first));
    while (TakeWord(word)) node->children.push_back((this->*part)());
    return node;
  }
  std::shared_ptr<const Node> ParseOr() { return Join(Node::Kind::kOr, "or", &Parser::ParseAnd); }
  std::shared_ptr<const Node> ParseAnd() {
    return Join(Node::Kind::kAnd, "and", &Parser::ParseNot);
  }

  std::shared_ptr<const Node> ParseNot() {
    const Depth depth(*this);
    const size_t column = token_.column;
    if (TakeWord("not")) {
      auto node = std::make_shared<Node>();
      node->kind = Node::Kind::kNot;
      node->column = column;
      node->children.push_back(ParseNot());
      return node;
    }
    if (TakeSymbol("(")) {
      std::shared_ptr<const Node> node = ParseOr();
      Expect(")");
      return node;
    }
    return ParseTest();
  }

  Operand ParseOperand(bool literal_only = false) {
    Operand operand;
    operand.column = token_.column;
    operand.text = token_.text;
    switch (token_.kind) {
      case Token::Kind::kInt:
        operand.kind = Operand::Kind::kInt;
        operand.integer = token_.integer;
        break;
      case Token::Kind::kFloat:
        operand.kind = Operand::Kind::kFloat;
        operand.real = token_.real;
        break;
      case Token::Kind::kText:
        operand.kind = Operand::Kind::kText;
        break;
      case Token::Kind::kName:
        if (token_.text == "true" || token_.text == "false") {
          operand.kind = Operand::Kind::kInt;
          operand.integer = token_.text == "true" ? 1 : 0;
          break;
        }
        if (token_.text == "missing") {
          operand.kind = Operand::Kind::kMissing;
          break;
        }
        for (const char* word : {"and", "or", "not", "in", "is"}) {
          if (token_.text == word) {
            throw At(token_.column, "expected a field, a number or a text, found {}", Found());
          }
        }
        [[fallthrough]];
      case Token::Kind::kQuotedName: {
        const bool plain = token_.kind == Token::Kind::kName;
        operand.kind = Operand::Kind::kField;
        if (literal_only) {
          throw At(token_.column, "expected a number or a text in quotes, found {}", Found());
        }
        Advance();
        if (plain && operand.text == "length" && TakeSymbol("(")) {
          if (token_.kind != Token::Kind::kName && token_.kind != Token::Kind::kQuotedName) {
            throw At(token_.column, "expected a field's name, found {}", Found());
          }
          operand.kind = Operand::Kind::kLength;
          operand.column = token_.column;
          operand.text = token_.text;
          Advance();
          Expect(")");
        }
        return operand;
      }
      default:
        throw At(token_.column, "expected a field, a number or a text, found {}", Found());
    }
    Advance();
    return operand;
  }

  std::optional<Compare> TakeCompare() {
    static constexpr std::pair<std::string_view, Compare> kCompares[] = {
        {"==", Compare::kEqual},     {"!=", Compare::kNotEqual}, {"<", Compare::kLess},
        {"<=", Compare::kLessEqual}, {">", Compare::kGreater},   {">=", Compare::kGreaterEqual}};
    for (const auto& [symbol, compare] : kCompares) {
      if (TakeSymbol(symbol)) return compare;
    }
    return std::nullopt;
  }

  static std::shared_ptr<Node> MakeNode(Node::Kind kind, const Operand& operand) {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->column = operand.column;
    node->operands.push_back(operand);
    return node;
  }
  static std::shared_ptr<const Node> Negated(std::shared_ptr<const Node> inner) {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::kNot;
    node->column = inner->column;
    node->children.push_back(std::move(inner));
    return node;
  }

  std::shared_ptr<const Node> ParseTest() {
    Operand left = ParseOperand();
    std::vector<std::shared_ptr<const Node>> chain;
    while (true) {
      const size_t column = token_.column;
      const std::optional<Compare> compare = TakeCompare();
      if (!compare) break;
      Operand right = ParseOperand();
      if (left.kind == Operand::Kind::kMissing || right.kind == Operand::Kind::kMissing) {
        const bool both = left.kind == right.kind;
        if (both || (*compare != Compare::kEqual && *compare != Compare::kNotEqual)) {
          throw At(column, "missing can only be compared with == and != and a field");
        }
        std::shared_ptr<const Node> node =
            MakeNode(Node::Kind::kIsMissing, left.kind == Operand::Kind::kMissing ? right : left);
        if (*compare == Compare::kNotEqual) node = Negated(node);
        chain.push_back(std::move(node));
      } else {
        std::shared_ptr<Node> node = MakeNode(Node::Kind::kCompare, left);
        node->operands.push_back(right);
        node->compare = *compare;
        node->column = column;
        chain.push_back(std::move(node));
      }
      left = std::move(right);
    }
    if (!chain.empty()) {
      if (chain.size() == 1) return chain.front();
      auto node = std::make_shared<Node>();
      node->kind = Node::Kind::kAnd;
      node->column = chain.front()->column;
      node->children = std::move(chain);
      return node;
    }
    if (left.kind == Operand::Kind::kMissing) {
      throw At(left.column, "missing can only be compared with == and != and a field");
    }
    if (TakeWord("is")) {
      const bool negated = TakeWord("not");
      if (!TakeWord("missing")) {
        throw At(token_.column, "expected \"missing\" or \"not missing\", found {}", Found());
      }
      std::shared_ptr<const Node> node = MakeNode(Node::Kind::kIsMissing, left);
      return negated ? Negated(node) : node;
    }
    const bool negated = TakeWord("not");
    if (TakeWord("in")) {
      std::shared_ptr<Node> node = MakeNode(Node::Kind::kIn, left);
      Expect("[");
      do {
        node->operands.push_back(ParseOperand(/*literal_only=*/true));
        if (node->operands.back().kind == Operand::Kind::kMissing) {
          throw At(node->operands.back().column,
                   "missing can only be compared with == and != and a field");
        }
      } while (TakeSymbol(","));
      if (!IsSymbol("]")) throw At(token_.column, "expected \",\" or \"]\", found {}", Found());
      Advance();
      return negated ? Negated(node) : node;
    }
    if (negated) throw At(token_.column, "expected \"in\" after \"not\", found {}", Found());
    if (!left.is_field()) {
      throw At(left.column, "expected a comparison, found a value alone");
    }
    return MakeNode(Node::Kind::kTrue, left);
  }

  std::string_view text_;
  size_t at_ = 0;
  Token token_;
  int depth_ = 0;
};

FilterExpression FilterExpression::Parse(std::string_view text) {
  FilterExpression expression;
  expression.root_ = Parser(text).Parse();
  return expression;
}

std::vector<std::string> FilterExpression::FieldNames() const {
  std::vector<std::string> names;
  const std::function<void(const Node&)> visit = [&](const Node& node) {
    for (const Operand& operand : node.operands) {
      if (operand.is_field() &&
          std::find(names.begin(), names.end(), operand.text) == names.end()) {
        names.push_back(operand.text);
      }
    }
    for (const auto& child : node.children) visit(*child);
  };
  visit(*root_);
  return names;
}

// ---- tree to predicate --------------------------------------------------------------------------

namespace {

struct Value {
  enum class Kind { kInt, kFloat, kText };
  Kind kind = Kind::kInt;
  int64_t integer = 0;
  double real = 0;
  std::string_view text;
};

// An operand for blocks of certain fields.
struct BoundOperand {
  enum class Kind { kConstant, kNumber, kText, kLength };
  Kind kind = Kind::kConstant;
  size_t field = 0;
  Field of;
  Value constant;
  std::string text;  // what constant.text points to
};

Value Whole(int64_t value) { return {.kind = Value::Kind::kInt, .integer = value, .text = {}}; }
Value Real(double value) { return {.kind = Value::Kind::kFloat, .real = value, .text = {}}; }

Value LoadNumber(ir::DType dtype, const std::byte* bytes) {
  return WithElementType(dtype, [&]<typename T>(T) -> Value {
    const auto number = Number(Load<T>(bytes, 0));
    if constexpr (std::is_floating_point_v<T> || kIsSmallFloat<T>) {
      return Real(number);
    } else {
      if constexpr (std::is_same_v<T, uint64_t>) {
        if (!std::in_range<int64_t>(number)) return Real(static_cast<double>(number));
      }
      return Whole(static_cast<int64_t>(number));
    }
  });
}

Value ValueOf(const BoundOperand& operand, const Block& block, int64_t row) {
  switch (operand.kind) {
    case BoundOperand::Kind::kConstant:
      return operand.constant;
    case BoundOperand::Kind::kNumber:
      return LoadNumber(operand.of.shape.dtype, block.data(operand.field, row));
    case BoundOperand::Kind::kText:
      return {.kind = Value::Kind::kText, .text = block.text(operand.field, row)};
    case BoundOperand::Kind::kLength: {
      if (operand.of.text && operand.of.shape.rank() == 0) {
        return Whole(static_cast<int64_t>(block.text(operand.field, row).size()));
      }
      int64_t elements = 1;
      for (const int64_t dim : block.dims(operand.field, row)) elements *= dim;
      return Whole(elements);
    }
  }
  throw Internal("an operand of no kind");
}

template <typename T>
bool Holds(Compare compare, const T& left, const T& right) {
  switch (compare) {
    case Compare::kEqual:
      return left == right;
    case Compare::kNotEqual:
      return left != right;
    case Compare::kLess:
      return left < right;
    case Compare::kLessEqual:
      return left <= right;
    case Compare::kGreater:
      return left > right;
    case Compare::kGreaterEqual:
      return left >= right;
  }
  return false;
}

bool Holds(Compare compare, const Value& left, const Value& right) {
  if (left.kind == Value::Kind::kText) return Holds(compare, left.text, right.text);
  if (left.kind == Value::Kind::kInt && right.kind == Value::Kind::kInt) {
    return Holds(compare, left.integer, right.integer);
  }
  const auto real = [](const Value& value) {
    return value.kind == Value::Kind::kInt ? static_cast<double>(value.integer) : value.real;
  };
  return Holds(compare, real(left), real(right));
}

bool IsText(const BoundOperand& operand) {
  return operand.kind == BoundOperand::Kind::kText ||
         (operand.kind == BoundOperand::Kind::kConstant &&
          operand.constant.kind == Value::Kind::kText);
}

// The tree with its operands bound.
struct BoundNode {
  enum class Kind { kOr, kAnd, kNot, kCompare, kIn, kIsMissing, kTrue };
  Kind kind = Kind::kTrue;
  std::vector<BoundNode> children;
  std::vector<BoundOperand> operands;
  Compare compare = Compare::kEqual;
};

bool Evaluate(const BoundNode& node, const Block& block, int64_t row) {
  switch (node.kind) {
    case BoundNode::Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(),
                         [&](const BoundNode& child) { return Evaluate(child, block, row); });
    case BoundNode::Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(),
                         [&](const BoundNode& child) { return Evaluate(child, block, row); });
    case BoundNode::Kind::kNot:
      return !Evaluate(node.children[0], block, row);
    case BoundNode::Kind::kCompare:
      return Holds(node.compare, ValueOf(node.operands[0], block, row),
                   ValueOf(node.operands[1], block, row));
    case BoundNode::Kind::kIn: {
      const Value left = ValueOf(node.operands[0], block, row);
      for (size_t i = 1; i < node.operands.size(); ++i) {
        if (Holds(Compare::kEqual, left, ValueOf(node.operands[i], block, row))) return true;
      }
      return false;
    }
    case BoundNode::Kind::kIsMissing: {
      const Value value = ValueOf(node.operands[0], block, row);
      if (value.kind == Value::Kind::kText) return value.text.empty();
      return value.kind == Value::Kind::kFloat && std::isnan(value.real);
    }
    case BoundNode::Kind::kTrue: {
      const Value value = ValueOf(node.operands[0], block, row);
      return value.kind == Value::Kind::kInt ? value.integer != 0
                                             : value.real != 0 && !std::isnan(value.real);
    }
  }
  return false;
}

}  // namespace

class FilterExpression::Binder {
 public:
  explicit Binder(const std::vector<Field>& fields) : fields_(fields) {}

  BoundNode Bind(const Node& node) const {
    BoundNode bound;
    bound.kind = static_cast<BoundNode::Kind>(node.kind);
    bound.compare = node.compare;
    for (const auto& child : node.children) bound.children.push_back(Bind(*child));
    for (const Operand& operand : node.operands) bound.operands.push_back(Bind(operand));
    // Their texts may have moved with them.
    for (BoundOperand& operand : bound.operands) {
      if (IsText(operand)) operand.constant.text = operand.text;
    }
    for (size_t i = 1; i < bound.operands.size(); ++i) {
      if (IsText(bound.operands[i]) != IsText(bound.operands[0])) {
        throw At(node.kind == Node::Kind::kIn ? node.operands[i].column : node.column,
                 "{} cannot be compared with {}", Describe(node.operands[0], bound.operands[0]),
                 Describe(node.operands[i], bound.operands[i]));
      }
    }
    if (node.kind == Node::Kind::kTrue && IsText(bound.operands[0])) {
      throw At(node.column, "\"{}\" is text: compare it, as in {} == \"...\"",
               node.operands[0].text, node.operands[0].text);
    }
    if (node.kind == Node::Kind::kIsMissing) {
      const BoundOperand& operand = bound.operands[0];
      if (operand.kind != BoundOperand::Kind::kText &&
          !(operand.kind == BoundOperand::Kind::kNumber && ir::IsFloat(operand.of.shape.dtype))) {
        throw At(node.column, "{} is never missing: only text and floating-point fields can be",
                 Describe(node.operands[0], operand));
      }
    }
    return bound;
  }

 private:
  std::string Describe(const Operand& operand, const BoundOperand& bound) const {
    switch (operand.kind) {
      case Operand::Kind::kField:
        return fmt::format("the field {}", bound.of.ToString());
      case Operand::Kind::kLength:
        return fmt::format("length({})", operand.text);
      case Operand::Kind::kText:
        return fmt::format("the text \"{}\"", operand.text);
      default:
        return fmt::format("the number {}", operand.text);
    }
  }

  BoundOperand Bind(const Operand& operand) const {
    BoundOperand bound;
    bound.text = operand.text;
    switch (operand.kind) {
      case Operand::Kind::kInt:
        bound.constant = Whole(operand.integer);
        return bound;
      case Operand::Kind::kFloat:
        bound.constant = Real(operand.real);
        return bound;
      case Operand::Kind::kText:
        bound.constant = {.kind = Value::Kind::kText, .text = {}};
        return bound;
      case Operand::Kind::kMissing:
        throw Internal("\"missing\" as an operand");
      case Operand::Kind::kField:
      case Operand::Kind::kLength:
        break;
    }
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const Field& field) { return field.name == operand.text; });
    if (found == fields_.end()) {
      std::vector<std::string> names;
      for (const Field& field : fields_) names.push_back(field.name);
      throw At(operand.column, "no field is called \"{}\"{}; there are {}", operand.text,
               DidYouMean(operand.text, names), DescribeFields(fields_));
    }
    bound.field = static_cast<size_t>(found - fields_.begin());
    bound.of = *found;
    if (operand.kind == Operand::Kind::kLength) {
      bound.kind = BoundOperand::Kind::kLength;
    } else if (found->text && found->shape.rank() == 0) {
      bound.kind = BoundOperand::Kind::kText;
    } else if (found->fixed() && found->shape.size() == 1) {
      bound.kind = BoundOperand::Kind::kNumber;
    } else {
      throw At(operand.column,
               "the field {} is neither a single number nor a single text; only length({}) can be "
               "compared",
               found->ToString(), operand.text);
    }
    return bound;
  }

  const std::vector<Field>& fields_;
};

FilterExpression::Predicate FilterExpression::Bind(const std::vector<Field>& fields) const {
  auto bound = std::make_shared<const BoundNode>(Binder(fields).Bind(*root_));
  return [bound](const Block& block, int64_t row) { return Evaluate(*bound, block, row); };
}

}  // namespace flatout::data
