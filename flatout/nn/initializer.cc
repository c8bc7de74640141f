#include "flatout/nn/initializer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <thread>

#include "flatout/base/error.h"
#include "flatout/base/thread_pool.h"

namespace flatout::nn {
namespace {

// Standard deviation of a unit normal cut at two deviations: what Keras divides by so that variance
// scaling gives the asked variance after the cut.
constexpr double kCutDeviation = 0.87962566103423978;
// Probability that a unit normal lies below -2.
constexpr double kBelowTwo = 0.022750131948179195;

struct Kind {
  std::string_view name;        // snake_case
  std::string_view class_name;  // as Keras's class
  std::string_view alias;       // Keras's short form, or ""
  // Variance scaling kinds: what they fix (scale 0: not such a kind).
  double scale = 0;
  std::string_view mode = "", distribution = "";
};

constexpr std::array<Kind, 15> kKinds = {{
    {"zeros", "Zeros", "zero"},
    {"ones", "Ones", "one"},
    {"constant", "Constant", ""},
    {"random_uniform", "RandomUniform", "uniform"},
    {"random_normal", "RandomNormal", "normal"},
    {"truncated_normal", "TruncatedNormal", ""},
    {"glorot_uniform", "GlorotUniform", "", 1, "fan_avg", "uniform"},
    {"glorot_normal", "GlorotNormal", "", 1, "fan_avg", "truncated_normal"},
    {"he_uniform", "HeUniform", "", 2, "fan_in", "uniform"},
    {"he_normal", "HeNormal", "", 2, "fan_in", "truncated_normal"},
    {"lecun_uniform", "LecunUniform", "", 1, "fan_in", "uniform"},
    {"lecun_normal", "LecunNormal", "", 1, "fan_in", "truncated_normal"},
    {"variance_scaling", "VarianceScaling", ""},
    {"orthogonal", "Orthogonal", "OrthogonalInitializer"},
    {"identity", "Identity", "IdentityInitializer"},
}};

const Kind* FindKind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name || name == kind.class_name) return &kind;
    if (!kind.alias.empty() && name == kind.alias) return &kind;
  }
  return nullptr;
}

UserError UnknownKind(std::string_view name) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  return Invalid("unknown initializer \"{}\"{}; known are {}", name, DidYouMean(name, names), all);
}

const Kind& GetKind(std::string_view name) {
  if (const Kind* kind = FindKind(name)) return *kind;
  throw UnknownKind(name);
}

void Check(const Initializer& i) {
  if (i.stddev < 0)
    throw Invalid("stddev of an initializer must be at least 0, found {}", i.stddev);
  if (i.maxval < i.minval) {
    throw Invalid("random_uniform needs minval <= maxval, found minval {} and maxval {}", i.minval,
                  i.maxval);
  }
  if (i.scale <= 0) {
    throw Invalid("scale of variance_scaling must be positive, found {}", i.scale);
  }
  if (i.mode != "fan_in" && i.mode != "fan_out" && i.mode != "fan_avg") {
    throw Invalid("mode of variance_scaling must be fan_in, fan_out or fan_avg, found \"{}\"",
                  i.mode);
  }
  if (i.distribution != "truncated_normal" && i.distribution != "untruncated_normal" &&
      i.distribution != "uniform" && i.distribution != "normal") {
    throw Invalid(
        "distribution of variance_scaling must be truncated_normal, untruncated_normal or uniform, "
        "found \"{}\"",
        i.distribution);
  }
}

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose outputs over a counter
// pass for random.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// One key per (seed, path): FNV-1a over the path, mixed with the seed.
uint64_t StreamKey(uint64_t seed, std::string_view path) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return Mix(Mix(seed + 0x9e3779b97f4a7c15ULL) ^ hash);
}

// Uniform in (0, 1), never either end.
double UniformAt(uint64_t key, uint64_t i) {
  const uint64_t bits = Mix(key + (i + 1) * 0x9e3779b97f4a7c15ULL);
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

// The quantile of the standard normal: algorithm AS 241, PPND7 (Wichura 1988), relative error about
// 1e-7, which is float32's own.
double NormalQuantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * (((59.10937472 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.1875636 * r + 78.757757664) * r + 17.895169469) * r + 1.0);
  }
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double value;
  if (r <= 5) {
    r -= 1.6;
    value = (((0.17023821103 * r + 1.3067284816) * r + 2.75681539) * r + 1.4234372777) /
            ((0.12021132975 * r + 0.7370016425) * r + 1.0);
  } else {
    r -= 5;
    value = (((0.017337203997 * r + 0.42868294337) * r + 3.081226386) * r + 6.657905115) /
            ((0.012258202635 * r + 0.24197894225) * r + 1.0);
  }
  return q < 0 ? -value : value;
}

// out[i] = draw(i), in parallel where that pays. Elements do not depend on each other, so neither
// do they on the number of threads.
template <typename Draw>
void Fill(std::span<float> out, Draw draw) {
  constexpr size_t kChunk = size_t{1} << 16;
  const size_t chunks = (out.size() + kChunk - 1) / kChunk;
  const auto one = [&](int64_t chunk) {
    const size_t begin = static_cast<size_t>(chunk) * kChunk;
    const size_t end = std::min(out.size(), begin + kChunk);
    for (size_t i = begin; i < end; ++i) out[i] = static_cast<float>(draw(i));
  };
  const unsigned threads = std::min(std::thread::hardware_concurrency(), 16u);
  if (chunks < 8 || threads < 2) {
    for (size_t chunk = 0; chunk < chunks; ++chunk) one(static_cast<int64_t>(chunk));
    return;
  }
  ThreadPool pool(static_cast<int>(threads - 1), "initialize");
  pool.ParallelFor(static_cast<int64_t>(chunks), one);
}

void FillUniform(uint64_t key, double low, double high, std::span<float> out) {
  // A value next to `high` may round up to it in float32; Keras's interval is half open.
  const float top = std::nextafter(static_cast<float>(high), static_cast<float>(low));
  Fill(out, [=](size_t i) {
    return std::min(static_cast<float>(low + (high - low) * UniformAt(key, i)), top);
  });
}

void FillNormal(uint64_t key, double mean, double stddev, std::span<float> out) {
  Fill(out, [=](size_t i) { return mean + stddev * NormalQuantile(UniformAt(key, i)); });
}

// Normal within two deviations of the mean, by the quantile of a uniform over that part.
void FillTruncatedNormal(uint64_t key, double mean, double stddev, std::span<float> out) {
  Fill(out, [=](size_t i) {
    const double p = kBelowTwo + (1 - 2 * kBelowTwo) * UniformAt(key, i);
    return mean + stddev * NormalQuantile(p);
  });
}

// Keras's fans: the last two dimensions are channels in and out, the others the receptive field.
std::pair<double, double> Fans(const ir::Shape& shape) {
  const int64_t rank = shape.rank();
  if (rank == 0) return {1, 1};
  if (rank == 1) return {shape.dims[0], shape.dims[0]};
  double field = 1;
  for (int64_t i = 0; i + 2 < rank; ++i) field *= static_cast<double>(shape.dims[i]);
  return {static_cast<double>(shape.dims[rank - 2]) * field,
          static_cast<double>(shape.dims[rank - 1]) * field};
}

void FillVarianceScaling(uint64_t key, double scale, std::string_view mode,
                         std::string_view distribution, const ir::Shape& shape,
                         std::span<float> out) {
  const auto [fan_in, fan_out] = Fans(shape);
  const double fan = mode == "fan_in"    ? fan_in
                     : mode == "fan_out" ? fan_out
                                         : (fan_in + fan_out) / 2;
  const double variance = scale / std::max(1.0, fan);
  if (distribution == "uniform") {
    const double limit = std::sqrt(3 * variance);
    FillUniform(key, -limit, limit, out);
  } else if (distribution == "untruncated_normal") {
    FillNormal(key, 0, std::sqrt(variance), out);
  } else {
    FillTruncatedNormal(key, 0, std::sqrt(variance) / kCutDeviation, out);
  }
}

// Sums with eight partial sums, so that the compiler may use vector units.
float Dot(const float* a, const float* b, size_t n) {
  float part[8] = {};
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (size_t j = 0; j < 8; ++j) part[j] += a[i + j] * b[i + j];
  }
  float sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (float p : part) sum += p;
  return sum;
}

// Orthogonal as in Saxe et al. 2014: the Q of a normal matrix with R's diagonal made positive. The
// kernel is seen as [prod(all but the last), last]; its longer side holds the orthonormal vectors'
// elements. Householder QR on columns that lie one after the other.
void FillOrthogonal(uint64_t key, double gain, const ir::Shape& shape, std::span<float> out) {
  if (shape.rank() < 2) {
    throw Invalid("the orthogonal initializer needs a shape of at least 2 dimensions, found {}",
                  ir::DimsToString(shape.dims));
  }
  const size_t cols = static_cast<size_t>(shape.dims.back());
  const size_t rows = cols == 0 ? 0 : out.size() / cols;
  const size_t m = std::max(rows, cols), n = std::min(rows, cols);
  std::vector<float> a(m * n);  // column j at a[j * m]
  FillNormal(key, 0, 1, a);
  std::vector<float> sign(n), beta(n);
  for (size_t j = 0; j < n; ++j) {
    float* v = &a[j * m];
    const float norm = std::sqrt(Dot(v + j, v + j, m - j));
    const float alpha = v[j] > 0 ? -norm : norm;  // R's diagonal element
    sign[j] = alpha < 0 ? -1.0f : 1.0f;
    v[j] -= alpha;
    const float vv = Dot(v + j, v + j, m - j);
    beta[j] = vv > 0 ? 2 / vv : 0;
    for (size_t k = j + 1; k < n; ++k) {
      float* c = &a[k * m];
      const float factor = beta[j] * Dot(v + j, c + j, m - j);
      for (size_t i = j; i < m; ++i) c[i] -= factor * v[i];
    }
  }
  // Q's first n columns: the reflections in falling order applied to unit vectors.
  std::vector<float> q(m * n, 0);
  for (size_t k = 0; k < n; ++k) q[k * m + k] = 1;
  for (size_t j = n; j-- > 0;) {
    const float* v = &a[j * m];
    for (size_t k = j; k < n; ++k) {
      float* c = &q[k * m];
      const float factor = beta[j] * Dot(v + j, c + j, m - j);
      for (size_t i = j; i < m; ++i) c[i] -= factor * v[i];
    }
  }
  for (size_t k = 0; k < n; ++k) {
    const float factor = sign[k] * static_cast<float>(gain);
    for (size_t i = 0; i < m; ++i) {
      const float value = factor * q[k * m + i];
      // Tall: column k of the kernel; wide: row k.
      (rows >= cols ? out[i * cols + k] : out[k * cols + i]) = value;
    }
  }
}

void FillIdentity(double gain, const ir::Shape& shape, std::span<float> out) {
  if (shape.rank() != 2) {
    throw Invalid("the identity initializer needs a shape of 2 dimensions, found {}",
                  ir::DimsToString(shape.dims));
  }
  std::fill(out.begin(), out.end(), 0.0f);
  const int64_t cols = shape.dims[1];
  for (int64_t i = 0; i < std::min(shape.dims[0], cols); ++i) {
    out[static_cast<size_t>(i * cols + i)] = static_cast<float>(gain);
  }
}

}  // namespace

Initializer::Initializer(const char* keras_name) : Initializer(std::string_view(keras_name)) {}

Initializer::Initializer(std::string_view keras_name) : name(GetKind(keras_name).name) {}

Initializer Initializer::Constant(double value) {
  Initializer initializer("constant");
  initializer.value = value;
  return initializer;
}

void ReadConfig(const Config& value, Initializer& field) {
  if (value.is_string()) {
    const Kind* kind = FindKind(value.AsString());
    if (kind == nullptr) throw value.Complain(UnknownKind(value.AsString()).message());
    field = Initializer(kind->name);
    return;
  }
  if (!value.is_table()) {
    throw value.Complain("expected an initializer's name or a table {class = \"...\"}, found " +
                         value.Describe());
  }
  const Config* class_name = value.Find("class");
  if (class_name == nullptr) {
    throw value.Complain(
        "an initializer's table needs its name, for example {class = \"RandomNormal\", stddev = "
        "0.02}");
  }
  const Kind* kind = FindKind(class_name->AsString());
  if (kind == nullptr) throw class_name->Complain(UnknownKind(class_name->AsString()).message());
  field = Initializer(kind->name);
  FieldReader reader(value, "initializer " + std::string(kind->class_name));
  reader.Take("class");
  const std::string_view name = kind->name;
  if (name == "constant") reader("value", field.value);
  if (name == "random_uniform") {
    reader("minval", field.minval);
    reader("maxval", field.maxval);
  }
  if (name == "random_normal" || name == "truncated_normal") {
    reader("mean", field.mean);
    reader("stddev", field.stddev);
  }
  if (name == "variance_scaling") {
    reader("scale", field.scale);
    reader("mode", field.mode);
    reader("distribution", field.distribution);
  }
  if (name == "orthogonal" || name == "identity") reader("gain", field.gain);
  reader.Finish();
  try {
    Check(field);
  } catch (const UserError& error) {
    throw value.Complain(error.message());
  }
}

void Initialize(const Initializer& initializer, const ir::Shape& shape, uint64_t seed,
                std::string_view path, std::span<float> out) {
  if (static_cast<int64_t>(out.size()) != shape.size()) {
    throw Internal("Initialize: {} elements given for {} of shape {}", out.size(), path,
                   shape.ToString());
  }
  const Kind& kind = GetKind(initializer.name);
  Check(initializer);
  const uint64_t key = StreamKey(seed, path);
  const std::string_view name = kind.name;
  WithContext(fmt::format("weight {}", path), [&] {
    if (name == "zeros") {
      std::fill(out.begin(), out.end(), 0.0f);
    } else if (name == "ones") {
      std::fill(out.begin(), out.end(), 1.0f);
    } else if (name == "constant") {
      std::fill(out.begin(), out.end(), static_cast<float>(initializer.value));
    } else if (name == "random_uniform") {
      FillUniform(key, initializer.minval, initializer.maxval, out);
    } else if (name == "random_normal") {
      FillNormal(key, initializer.mean, initializer.stddev, out);
    } else if (name == "truncated_normal") {
      FillTruncatedNormal(key, initializer.mean, initializer.stddev, out);
    } else if (name == "variance_scaling") {
      FillVarianceScaling(key, initializer.scale, initializer.mode, initializer.distribution, shape,
                          out);
    } else if (name == "orthogonal") {
      FillOrthogonal(key, initializer.gain, shape, out);
    } else if (name == "identity") {
      FillIdentity(initializer.gain, shape, out);
    } else {
      FillVarianceScaling(key, kind.scale, kind.mode, kind.distribution, shape, out);
    }
    if (initializer.unit_forget_bias && shape.rank() > 0) {
      const auto last = static_cast<size_t>(shape.dims.back());
      for (size_t row = 0; row < out.size(); row += last) {
        std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(row + last / 4), last / 4, 1.0f);
      }
    }
  });
}

}  // namespace flatout::nn
