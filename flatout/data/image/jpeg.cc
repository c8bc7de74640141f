#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

// jpeglib.h needs FILE and size_t from before it.
#include <jerror.h>
#include <jpeglib.h>

#include "flatout/base/error.h"
#include "flatout/data/image/codecs.h"

namespace flatout::data {
namespace {

// A progressive file may have thousands of scans, each of which visits every block; real ones have
// about ten.
constexpr int kMostScans = 500;

ImageInfo ParseHeaders(std::span<const std::byte> bytes) {
  ImageInfo info;
  info.format = ImageFormat::kJpeg;
  ByteCursor in(bytes);
  in.Skip(2);  // SOI
  int64_t blocks = 0;
  bool huffman = true;
  for (;;) {
    // A marker is FF and a code; any number of FF may stand before it, and libjpeg passes over
    // other bytes as well.
    const size_t begin = in.position();
    unsigned byte = in.U8();
    while (!in.cut() && byte != 0xff) byte = in.U8();
    unsigned marker = in.U8();
    while (!in.cut() && marker == 0xff) marker = in.U8();
    if (in.cut()) {
      throw BadData("the JPEG file is cut: expected a marker at byte {}, found the end of the data",
                    begin);
    }
    if (marker == 0 || marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    if (marker == 0xd9) {
      throw BadData("the JPEG file ends (marker D9 at byte {}) before any picture", begin);
    }
    const size_t length_at = in.position();
    const unsigned length = in.BigU16();
    if (in.cut() || length < 2 || in.left() < length - 2) {
      throw BadData(
          "the JPEG file is cut: segment {:02X} at byte {} says {} bytes, found {} up to the end",
          marker, begin, length, bytes.size() - length_at);
    }
    ByteCursor segment(in.Take(length - 2));
    const bool frame =
        marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame && info.height == 0) {
      huffman = marker <= 0xc2;
      const unsigned precision = segment.U8();
      info.height = segment.BigU16();
      info.width = segment.BigU16();
      const unsigned components = segment.U8();
      if (segment.cut() || info.height == 0 || info.width == 0 || segment.left() < 3 * components) {
        throw BadData(
            "the JPEG file's frame header at byte {} makes no sense: {} by {} pixels, {} "
            "components",
            begin, info.width, info.height, components);
      }
      if (precision != 8) {
        throw BadData(
            "the JPEG file has {} bit per value (byte {}); expected 8, as all JPEG files in "
            "common use have. Convert it to PNG",
            precision, begin);
      }
      if (components != 1 && components != 3 && components != 4) {
        throw BadData(
            "the JPEG file has {} components (byte {}); expected 1 (grey), 3 (colour) or "
            "4 (CMYK)",
            components, begin);
      }
      info.channels = components == 1 ? 1 : 3;
      int64_t across[4], down[4], most_across = 1, most_down = 1;
      for (unsigned c = 0; c < components; ++c) {
        segment.U8();
        const unsigned sampling = segment.U8();
        segment.U8();
        across[c] = sampling >> 4;
        down[c] = sampling & 15;
        most_across = std::max(most_across, across[c]);
        most_down = std::max(most_down, down[c]);
      }
      for (unsigned c = 0; c < components; ++c) {
        blocks +=
            (info.width * across[c] / most_across / 8) * (info.height * down[c] / most_down / 8);
      }
    } else if (marker == 0xe1 && info.orientation == 1) {
      std::span<const std::byte> exif = segment.Take(segment.left());
      if (StartsWith(exif, std::string_view("Exif\0\0", 6))) {
        info.orientation = ExifOrientation(exif.subspan(6));
      }
    } else if (marker == 0xda) {
      if (info.height == 0) {
        throw BadData("the JPEG file has no frame header before its first scan at byte {}", begin);
      }
      info.data_at = static_cast<int64_t>(in.position());
      break;
    }
  }
  // Every block takes at least one bit of a Huffman code, so that a few bytes cannot claim memory
  // for a picture of gigapixels.
  if (huffman && blocks / 8 > static_cast<int64_t>(bytes.size())) {
    throw BadData(
        "the JPEG file is cut: {} bytes cannot hold {} by {} pixels (at least one bit for each of "
        "{} blocks)",
        bytes.size(), info.width, info.height, blocks);
  }
  return info;
}

// Whether the end marker stands somewhere behind the first scan's begin. From the end backwards,
// where it usually is.
bool HasEnd(std::span<const std::byte> bytes, int64_t data_at) {
  const auto scan = static_cast<size_t>(data_at);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t end = bytes.size();
  while (end > scan + 1) {
    const void* found = memrchr(data + scan + 1, 0xd9, end - scan - 1);
    if (found == nullptr) return false;
    const size_t at = static_cast<size_t>(static_cast<const unsigned char*>(found) - data);
    if (data[at - 1] == 0xff) return true;
    end = at;
  }
  return false;
}

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  bool recover = false;
  char message[JMSG_LENGTH_MAX];
};

ErrorManager* ErrorsOf(j_common_ptr info) { return reinterpret_cast<ErrorManager*>(info->err); }

[[noreturn]] void OnError(j_common_ptr info) {
  ErrorManager* errors = ErrorsOf(info);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

// Level -1 is a warning: libjpeg goes on with made-up data. Those after which pixels are missing or
// wrong are errors here.
void OnMessage(j_common_ptr info, int level) {
  if (level >= 0) return;
  ++info->err->num_warnings;
  if (ErrorsOf(info)->recover) return;
  switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:       // the data ends
    case JWRN_HIT_MARKER:     // a scan's data ends before its last block
    case JWRN_HUFF_BAD_CODE:  // damaged
    case JWRN_MUST_RESYNC:    // data between restart markers is missing
      OnError(info);
    default:  // what does no harm: bytes too many, versions, order of scans
      return;
  }
}

void OnOutput(j_common_ptr info) {
  // Only JPEG_WARN and traces come here, and those are not printed.
  (void)info;
}

void OnProgress(j_common_ptr info) {
  if (!info->is_decompressor) return;
  auto* decompress = reinterpret_cast<j_decompress_ptr>(info);
  if (decompress->input_scan_number > kMostScans) {
    std::snprintf(ErrorsOf(info)->message, JMSG_LENGTH_MAX, "more than %d scans", kMostScans);
    std::longjmp(ErrorsOf(info)->jump, 1);
  }
}

// One part to decode, in what libjpeg calls it; plain data, for it is used where longjmp may pass.
struct Part {
  JDIMENSION x, y, width, height;  // at the output's scale
  JDIMENSION left, right;          // columns that are really decoded, [left, right)
  bool finish;                     // read on to the end of the file
  unsigned char* out;
  int64_t stride;
  int64_t offset;  // of column x in a row of `out`; set by Decode
  // CMYK to RGB: four channels come in.
  unsigned char* cmyk;
  int channels;
  bool inverted;
};

constexpr JDIMENSION kRowsAtOnce = 16;

void FromCmyk(const unsigned char* in, int64_t pixels, bool inverted, unsigned char* out,
              int channels) {
  for (int64_t i = 0; i < pixels; ++i, in += 4, out += channels) {
    // Adobe's files hold 255 minus the ink, others the ink. A colour is what light both its own ink
    // and black let through. The division cuts, as TensorFlow's does.
    const int k = inverted ? in[3] : 255 - in[3];
    int rgb[3];
    for (int c = 0; c < 3; ++c) rgb[c] = (inverted ? in[c] : 255 - in[c]) * k / 255;
    if (channels == 1) {
      out[0] = static_cast<unsigned char>(
          (19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16);
      continue;
    }
    for (int c = 0; c < 3; ++c) out[c] = static_cast<unsigned char>(rgb[c]);
    if (channels == 4) out[3] = 255;
  }
}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct info = {};
  jpeg_progress_mgr progress = {};
  ErrorManager errors = {};
  PixelBuffer pixels, cmyk;

  // The three below hold no object with a destructor while libjpeg runs, for it leaves by longjmp.
  // They return false with errors.message set.
  bool Create() {
    info.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = OnError;
    errors.base.emit_message = OnMessage;
    errors.base.output_message = OnOutput;
    if (setjmp(errors.jump) != 0) return false;
    jpeg_create_decompress(&info);
    progress.progress_monitor = OnProgress;
    info.progress = &progress;
    return true;
  }

  bool Start(const unsigned char* data, size_t size, int eighths, int channels) {
    if (setjmp(errors.jump) != 0) {
      jpeg_abort_decompress(&info);
      return false;
    }
    // A new object for each file (some microseconds): an old one keeps the tables of the file
    // before, and a damaged file without its own would be decoded with those.
    jpeg_destroy_decompress(&info);
    jpeg_create_decompress(&info);
    info.progress = &progress;
    jpeg_mem_src(&info, data, size);
    jpeg_read_header(&info, TRUE);
    info.scale_num = static_cast<unsigned>(eighths);
    info.scale_denom = 8;
    info.dct_method = JDCT_ISLOW;  // exact; TensorFlow's and PIL's default
    info.do_fancy_upsampling = TRUE;
    if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) {
      info.out_color_space = JCS_CMYK;
    } else {
      info.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_EXT_RGBA;
    }
    jpeg_calc_output_dimensions(&info);
    return true;
  }

  bool Decode(Part* part) {
    if (setjmp(errors.jump) != 0) {
      jpeg_abort_decompress(&info);
      return false;
    }
    jpeg_start_decompress(&info);
    JDIMENSION left = part->left;
    JDIMENSION width = part->right - part->left;
    if (width != info.output_width) {
      jpeg_crop_scanline(&info, &left, &width);
    } else {
      left = 0;
    }
    part->offset = static_cast<int64_t>(part->x - left) * part->channels;
    if (part->y > 0) jpeg_skip_scanlines(&info, part->y);
    const JDIMENSION bottom = part->y + part->height;
    unsigned char* rows[kRowsAtOnce];
    if (part->cmyk != nullptr) {
      rows[0] = part->cmyk;
      for (JDIMENSION y = part->y; y < bottom;) {
        if (jpeg_read_scanlines(&info, rows, 1) == 0) continue;
        FromCmyk(part->cmyk, width, part->inverted,
                 part->out + static_cast<int64_t>(y - part->y) * part->stride, part->channels);
        ++y;
      }
    } else {
      while (info.output_scanline < bottom) {
        JDIMENSION count = bottom - info.output_scanline;
        if (count > kRowsAtOnce) count = kRowsAtOnce;
        for (JDIMENSION i = 0; i < count; ++i) {
          rows[i] =
              part->out + static_cast<int64_t>(info.output_scanline - part->y + i) * part->stride;
        }
        jpeg_read_scanlines(&info, rows, count);
      }
    }
    if (part->finish) {
      if (info.output_scanline < info.output_height) {
        jpeg_skip_scanlines(&info, info.output_height - info.output_scanline);
      }
      jpeg_finish_decompress(&info);
    } else {
      jpeg_abort_decompress(&info);
    }
    return true;
  }
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  if (!state_->Create()) throw Internal("libjpeg does not start: {}", state_->errors.message);
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->info); }

ImageInfo ProbeJpeg(std::span<const std::byte> bytes) { return ParseHeaders(bytes); }

Pixels JpegDecoder::Read(std::span<const std::byte> bytes, const ImageInfo& image,
                         const ImageRect& rect, int eighths, int channels, bool recover,
                         std::byte* out, int64_t out_stride) {
  jpeg_decompress_struct& info = state_->info;
  state_->errors.recover = recover;
  auto fail = [&] {
    std::string_view message = state_->errors.message;
    const bool cut = message.find("remature end") != std::string_view::npos;
    throw BadData("the JPEG file ({} by {}, {} bytes) is {}: {}{}", image.width, image.height,
                  bytes.size(), cut ? "cut" : "damaged", message, cut ? ". Fetch it again" : "");
  };
  if (!state_->Start(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), eighths,
                     channels)) {
    fail();
  }
  if (info.image_width != static_cast<JDIMENSION>(image.width) ||
      info.image_height != static_cast<JDIMENSION>(image.height)) {
    jpeg_abort_decompress(&info);
    throw BadData("the JPEG file has two frame headers that differ: {} by {} and {} by {}",
                  image.width, image.height, info.image_width, info.image_height);
  }
  // A pixel of the output is 8 / eighths pixels wide.
  auto first = [&](int64_t at) { return static_cast<JDIMENSION>(at * eighths / 8); };
  auto last = [&](int64_t at) { return static_cast<JDIMENSION>((at * eighths + 7) / 8); };
  Part part = {};
  part.x = first(rect.x);
  part.width = std::min(last(rect.x + rect.width), info.output_width) - part.x;
  part.y = first(rect.y);
  part.height = std::min(last(rect.y + rect.height), info.output_height) - part.y;
  part.channels = channels;
  const bool cmyk = info.out_color_space == JCS_CMYK;
  part.inverted = info.saw_Adobe_marker;
  // Columns at the border of what is decoded lack the neighbours that smooth chroma upsampling
  // takes in. Two more on each side make the rest equal to the whole picture's.
  part.left = part.x > 2 ? part.x - 2 : 0;
  part.right = std::min(part.x + part.width + 2, info.output_width);
  // Whole MCUs are decoded anyway; few columns are saved at high cost in calls when the part is
  // nearly as wide as the picture.
  const JDIMENSION saved = info.output_width - (part.right - part.left);
  const bool narrow = saved >= 32 && saved * 16 > info.output_width;
  if (!narrow) {
    part.left = 0;
    part.right = info.output_width;
  }
  const bool whole = part.y + part.height == info.output_height;
  // A file without its end is read through, so that being cut does not depend on the part.
  part.finish = whole || (!recover && !HasEnd(bytes, image.data_at));
  // libjpeg can start a row of the cut-out at any MCU to the left, at most 32 pixels (4 blocks).
  const int64_t decoded =
      std::min<int64_t>(part.right - part.left + 64, info.output_width) * channels;
  const bool direct = out != nullptr && part.left == 0 && part.x == 0 &&
                      part.right == info.output_width && part.width == info.output_width;
  if (direct) {
    part.out = reinterpret_cast<unsigned char*>(out);
    part.stride = out_stride;
  } else {
    part.stride = (decoded + 63) / 64 * 64;
    // Rows that begin at odd addresses: into aligned ones libjpeg-turbo writes past the cache, from
    // which the next step is about to read.
    constexpr int64_t kOff = 8;
    part.out = reinterpret_cast<unsigned char*>(
        state_->pixels.Get(part.stride * static_cast<int64_t>(part.height) + kOff) + kOff);
  }
  if (cmyk) {
    part.cmyk = reinterpret_cast<unsigned char*>(
        state_->cmyk.Get(4 * static_cast<int64_t>(info.output_width)));
  }
  if (!state_->Decode(&part)) fail();
  Pixels result;
  result.data = reinterpret_cast<const std::byte*>(part.out) + part.offset;
  result.height = part.height;
  result.width = part.width;
  result.channels = channels;
  result.stride = part.stride;
  if (out != nullptr && !direct) {
    for (int64_t y = 0; y < result.height; ++y) {
      std::memcpy(out + y * out_stride, result.row(y),
                  static_cast<size_t>(result.width * channels));
    }
    result.data = out;
    result.stride = out_stride;
  }
  return result;
}

}  // namespace flatout::data
