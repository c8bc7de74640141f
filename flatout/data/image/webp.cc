#include <webp/decode.h>
#include <webp/demux.h>

#include <cstring>
#include <memory>

#include "flatout/base/error.h"
#include "flatout/data/image/codecs.h"

namespace flatout::data {
namespace {

const uint8_t* Data(std::span<const std::byte> bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

}  // namespace

ImageInfo ProbeWebp(std::span<const std::byte> bytes) {
  ByteCursor in(bytes);
  in.Skip(4);
  // The size counts what follows it, and odd chunks are padded.
  const uint64_t claimed = uint64_t{in.LittleU32()} + 8;
  if (claimed > bytes.size()) {
    throw BadData(
        "the WebP file is cut: expected {} bytes (its header, byte 4), found {}. Fetch "
        "it again",
        claimed, bytes.size());
  }
  WebPBitstreamFeatures features;
  const VP8StatusCode status = WebPGetFeatures(Data(bytes), bytes.size(), &features);
  if (status != VP8_STATUS_OK || features.width <= 0 || features.height <= 0) {
    throw BadData("the WebP file's header makes no sense or is cut (libwebp's status {})",
                  static_cast<int>(status));
  }
  ImageInfo info;
  info.format = ImageFormat::kWebp;
  info.width = features.width;
  info.height = features.height;
  info.channels = features.has_alpha ? 4 : 3;
  info.animated = features.has_animation != 0;
  // Files with EXIF data are of the extended kind: chunks of a name, a size and bytes.
  in.Seek(12);
  while (in.left() >= 8) {
    const std::span<const std::byte> name = in.Take(4);
    const uint32_t size = in.LittleU32();
    if (size > in.left()) break;
    const std::span<const std::byte> chunk = in.Take(size);
    if (StartsWith(name, "EXIF")) {
      // Some writers put JPEG's prefix in front.
      const bool prefix = StartsWith(chunk, std::string_view("Exif\0\0", 6));
      info.orientation = ExifOrientation(prefix ? chunk.subspan(6) : chunk);
      break;
    }
    if (size % 2 == 1) in.Skip(1);
  }
  return info;
}

Pixels ReadWebp(std::span<const std::byte> bytes, const ImageInfo& info, PixelBuffer& buffer) {
  Pixels pixels;
  pixels.height = info.height;
  pixels.width = info.width;
  pixels.channels = info.channels;
  pixels.stride = (pixels.width * pixels.channels + 63) / 64 * 64;
  auto fail = [&] {
    throw BadData("the WebP file ({} by {}, {} bytes) is cut or damaged. Fetch it again",
                  info.width, info.height, bytes.size());
  };
  if (info.animated) {
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options)) throw Internal("libwebpdemux: other version");
    options.color_mode = MODE_RGBA;
    options.use_threads = 0;
    const WebPData data = {Data(bytes), bytes.size()};
    std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
        WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
    uint8_t* frame = nullptr;
    int time = 0;
    if (decoder == nullptr || !WebPAnimDecoderGetNext(decoder.get(), &frame, &time)) fail();
    std::byte* out = buffer.Get(pixels.stride * pixels.height);
    for (int64_t y = 0; y < pixels.height; ++y) {
      const uint8_t* from = frame + y * pixels.width * 4;
      std::byte* to = out + y * pixels.stride;
      if (pixels.channels == 4) {
        std::memcpy(to, from, static_cast<size_t>(pixels.width * 4));
        continue;
      }
      for (int64_t x = 0; x < pixels.width; ++x) std::memcpy(to + 3 * x, from + 4 * x, 3);
    }
    pixels.data = out;
    return pixels;
  }
  std::byte* out = buffer.Get(pixels.stride * pixels.height);
  auto* to = reinterpret_cast<uint8_t*>(out);
  const auto size = static_cast<size_t>(pixels.stride * pixels.height);
  const int stride = static_cast<int>(pixels.stride);
  const uint8_t* result = pixels.channels == 4
                              ? WebPDecodeRGBAInto(Data(bytes), bytes.size(), to, size, stride)
                              : WebPDecodeRGBInto(Data(bytes), bytes.size(), to, size, stride);
  if (result == nullptr) fail();
  pixels.data = out;
  return pixels;
}

}  // namespace flatout::data
