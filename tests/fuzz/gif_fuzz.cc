// GIF pictures.
#include "tests/fuzz/image_fuzz.h"

namespace flatout::fuzz {

FUZZ_TARGET(bytes) { DecodePicture(bytes, data::ImageFormat::kGif); }

}  // namespace flatout::fuzz
