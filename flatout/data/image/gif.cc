// GIF, by its specification (GIF89a, CompuServe 1990). An own decoder: the format is small, and the
// usual library takes memory as the header of each frame asks.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "flatout/base/error.h"
#include "flatout/data/image/codecs.h"

namespace flatout::data {
namespace {

struct Frame {
  int64_t x = 0, y = 0, width = 0, height = 0;  // on the canvas; not clipped to it
  bool interlaced = false;
  int transparent = -1;                // index of the colour that is transparent
  std::span<const std::byte> palette;  // 3 bytes each
  unsigned code_bits = 0;
  size_t data = 0;  // of the first data block
};

struct Gif {
  int64_t width = 0, height = 0;  // canvas
  Frame frame;                    // the first
  bool opaque() const {
    return frame.transparent < 0 && frame.x <= 0 && frame.y <= 0 &&
           frame.x + frame.width >= width && frame.y + frame.height >= height;
  }
};

[[noreturn]] void Cut(size_t at) {
  throw BadData(
      "the GIF file is cut: it ends at byte {} before its first picture is complete. "
      "Fetch it again",
      at);
}

// Up to the first frame's data.
Gif ParseGif(std::span<const std::byte> bytes) {
  Gif gif;
  ByteCursor in(bytes);
  in.Skip(6);
  gif.width = in.LittleU16();
  gif.height = in.LittleU16();
  const unsigned flags = in.U8();
  in.Skip(2);  // background colour (viewers ignore it), aspect
  std::span<const std::byte> palette;
  if (flags & 0x80) palette = in.Take(size_t{3} << ((flags & 7) + 1));
  for (;;) {
    const size_t begin = in.position();
    const unsigned block = in.U8();
    if (in.cut()) Cut(bytes.size());
    if (block == 0x21) {  // extension
      const unsigned label = in.U8();
      unsigned size = in.U8();
      if (label == 0xf9 && size == 4) {  // graphic control
        const unsigned control = in.U8();
        in.Skip(2);  // delay
        const unsigned index = in.U8();
        gif.frame.transparent = control & 1 ? static_cast<int>(index) : -1;
        size = in.U8();
      }
      while (size > 0 && !in.cut()) {
        in.Skip(size);
        size = in.U8();
      }
    } else if (block == 0x2c) {  // frame
      Frame& frame = gif.frame;
      frame.x = in.LittleU16();
      frame.y = in.LittleU16();
      frame.width = in.LittleU16();
      frame.height = in.LittleU16();
      const unsigned frame_flags = in.U8();
      frame.interlaced = (frame_flags & 0x40) != 0;
      frame.palette = frame_flags & 0x80 ? in.Take(size_t{3} << ((frame_flags & 7) + 1)) : palette;
      frame.code_bits = in.U8();
      if (in.cut()) Cut(bytes.size());
      if (frame.width == 0 || frame.height == 0) {
        throw BadData("the GIF file's frame at byte {} has no pixels: {} by {}", begin, frame.width,
                      frame.height);
      }
      if (frame.code_bits < 1 || frame.code_bits > 8) {
        throw BadData(
            "the GIF file's frame at byte {} is damaged: expected codes of 1 to 8 bit, "
            "found {}",
            begin, frame.code_bits);
      }
      if (frame.palette.empty()) {
        throw BadData("the GIF file's frame at byte {} has no palette", begin);
      }
      frame.data = in.position();
      break;
    } else if (block == 0x3b) {
      throw BadData("the GIF file ends at byte {} before any picture", begin);
    } else {
      throw BadData(
          "the GIF file is damaged: expected a block (21, 2C or 3B) at byte {}, found "
          "{:02X}",
          begin, block);
    }
  }
  // A canvas of no size takes the first frame's, as browsers do.
  if (gif.width == 0 || gif.height == 0) {
    gif.width = gif.frame.x + gif.frame.width;
    gif.height = gif.frame.y + gif.frame.height;
  }
  return gif;
}

// The bits of a frame's data blocks, low bit first.
class CodeReader {
 public:
  CodeReader(std::span<const std::byte> bytes, size_t position) : in_(bytes) { in_.Seek(position); }
  // -1 at the end of the data.
  int Next(unsigned bits) {
    while (have_ < bits) {
      if (block_ == 0) {
        block_ = in_.U8();
        if (block_ == 0 || in_.cut()) {
          cut_ = in_.cut();
          return -1;
        }
      }
      const unsigned byte = in_.U8();
      if (in_.cut()) {
        cut_ = true;
        return -1;
      }
      buffer_ |= byte << have_;
      have_ += 8;
      --block_;
    }
    const int code = static_cast<int>(buffer_ & ((1u << bits) - 1));
    buffer_ >>= bits;
    have_ -= bits;
    return code;
  }
  bool cut() const { return cut_; }
  size_t position() const { return in_.position(); }

 private:
  ByteCursor in_;
  uint32_t buffer_ = 0;
  unsigned have_ = 0, block_ = 0;
  bool cut_ = false;
};

// Where a frame's pixels come out, in the order in which they are stored.
class Canvas {
 public:
  Canvas(const Gif& gif, int channels, std::byte* out, int64_t stride)
      : gif_(gif), channels_(channels), out_(out), stride_(stride) {
    StartRow();
  }
  // False when the frame is full.
  bool Put(unsigned index) {
    const Frame& frame = gif_.frame;
    const int64_t x = frame.x + x_;
    if (row_ != nullptr && x < gif_.width) {
      // An index beyond the palette is black, as browsers have it.
      std::byte* pixel = row_ + x * channels_;
      if (3 * (size_t{index} + 1) <= frame.palette.size()) {
        std::memcpy(pixel, frame.palette.data() + 3 * size_t{index}, 3);
      } else {
        std::memset(pixel, 0, 3);
      }
      if (channels_ == 4) {
        pixel[3] = static_cast<int>(index) == frame.transparent ? std::byte{0} : std::byte{255};
      }
    }
    if (++x_ < frame.width) return true;
    x_ = 0;
    if (!frame.interlaced) {
      ++y_;
    } else {
      // Rows 0, 8, ...; 4, 12, ...; 2, 6, ...; 1, 3, ...
      constexpr int64_t kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
      y_ += kStep[pass_];
      while (y_ >= frame.height && pass_ < 3) y_ = kFirst[++pass_];
    }
    if (++rows_ >= frame.height) return false;
    StartRow();
    return true;
  }
  int64_t rows() const { return rows_; }

 private:
  void StartRow() {
    const int64_t y = gif_.frame.y + y_;
    row_ = y < gif_.height ? out_ + y * stride_ : nullptr;
  }
  const Gif& gif_;
  const int channels_;
  std::byte* const out_;
  const int64_t stride_;
  std::byte* row_ = nullptr;
  int64_t x_ = 0, y_ = 0, rows_ = 0;
  int pass_ = 0;
};

}  // namespace

ImageInfo ProbeGif(std::span<const std::byte> bytes) {
  const Gif gif = ParseGif(bytes);
  ImageInfo info;
  info.format = ImageFormat::kGif;
  info.width = gif.width;
  info.height = gif.height;
  info.channels = gif.opaque() ? 3 : 4;
  return info;
}

Pixels ReadGif(std::span<const std::byte> bytes, const ImageInfo& info, PixelBuffer& buffer) {
  const Gif gif = ParseGif(bytes);
  Pixels pixels;
  pixels.height = info.height;
  pixels.width = info.width;
  pixels.channels = info.channels;
  pixels.stride = (pixels.width * pixels.channels + 63) / 64 * 64;
  std::byte* out = buffer.Get(pixels.stride * pixels.height);
  if (info.channels == 4) {
    std::memset(out, 0, static_cast<size_t>(pixels.stride * pixels.height));
  }
  pixels.data = out;

  Canvas canvas(gif, info.channels, out, pixels.stride);
  CodeReader codes(bytes, gif.frame.data);
  // LZW: a code is a pixel, "clear", "end", or the text of an earlier code and one pixel more.
  constexpr unsigned kMostCodes = 4096;
  std::array<uint16_t, kMostCodes> before;
  std::array<uint8_t, kMostCodes> last, first;
  std::array<uint8_t, kMostCodes> text;
  const unsigned clear = 1u << gif.frame.code_bits;
  for (unsigned i = 0; i < clear; ++i) {
    last[i] = first[i] = static_cast<uint8_t>(i);
    before[i] = 0;
  }
  unsigned bits = gif.frame.code_bits + 1, next = clear + 2;
  int previous = -1;
  for (;;) {
    const int code = codes.Next(bits);
    const bool end = code < 0 || static_cast<unsigned>(code) == clear + 1;
    if (end) {
      throw BadData(
          "the GIF file is {}: its first picture ends at byte {} after {} of {} rows. Fetch it "
          "again",
          codes.cut() ? "cut" : "damaged", codes.position(), canvas.rows(), gif.frame.height);
    }
    auto current = static_cast<unsigned>(code);
    if (current == clear) {
      bits = gif.frame.code_bits + 1;
      next = clear + 2;
      previous = -1;
      continue;
    }
    if (current > next || (current == next && previous < 0)) {
      throw BadData("the GIF file is damaged: code {} near byte {} stands for nothing yet", current,
                    codes.position());
    }
    if (previous >= 0 && next < kMostCodes) {
      before[next] = static_cast<uint16_t>(previous);
      first[next] = first[static_cast<unsigned>(previous)];
      last[next] = first[current == next ? static_cast<unsigned>(previous) : current];
      ++next;
      if (next == (1u << bits) && bits < 12) ++bits;
    } else if (current == next) {
      throw BadData("the GIF file is damaged: code {} near byte {} stands for nothing yet", current,
                    codes.position());
    }
    previous = static_cast<int>(current);
    unsigned length = 0;
    while (current >= clear) {
      text[length++] = last[current];
      current = before[current];
    }
    bool more = canvas.Put(current);
    while (more && length > 0) more = canvas.Put(text[--length]);
    if (!more) return pixels;
  }
}

}  // namespace flatout::data
