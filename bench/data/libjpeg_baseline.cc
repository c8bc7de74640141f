// Plain libjpeg-turbo on one thread: every picture of the folder read and decoded in full to RGB
// with the library's defaults, nothing else. The yardstick of the pipeline "jpeg" (protocol.py).
#include <cstdio>

// jpeglib.h needs FILE and size_t from before it.
#include <jpeglib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

// The version is a macro without quotes: 2.1.5.
#define QUOTED(text) #text
#define VERSION_TEXT(macro) QUOTED(macro)

namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// Returns the sum of a few bytes, so that nothing is left out.
int Decode(const std::string& path, std::vector<unsigned char>& pixels) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  std::vector<char> data(static_cast<size_t>(stream.tellg()));
  stream.seekg(0);
  stream.read(data.data(), static_cast<std::streamsize>(data.size()));
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(data.data()), data.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  const size_t row = size_t{jpeg.output_width} * 3;
  pixels.resize(row * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    unsigned char* out = pixels.data() + row * jpeg.output_scanline;
    jpeg_read_scanlines(&jpeg, &out, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  return pixels.front() + pixels.back();
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--data") folder = argv[i + 1];
  }
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/jpeg", error)) {
    if (entry.path().extension() == ".jpg") files.push_back(entry.path().string());
  }
  if (files.empty()) {
    std::cerr << "usage: libjpeg_baseline --data FOLDER, with pictures in FOLDER/jpeg\n";
    return 2;
  }
  std::sort(files.begin(), files.end());
  std::vector<unsigned char> pixels;
  volatile int sum = 0;
  size_t next = 0;
  const auto one = [&] {
    sum = sum + Decode(files[next], pixels);
    next = (next + 1) % files.size();
  };
  one();
  std::cout << R"({"ready":true,"version":"libjpeg-turbo )" << VERSION_TEXT(LIBJPEG_TURBO_VERSION)
            << "\"}" << std::endl;
  std::string command;
  while (std::cin >> command) {
    if (command != "run") {
      std::cout << "{}" << std::endl;
      continue;
    }
    double seconds = 0;
    std::cin >> seconds;
    for (const auto begin = Clock::now(); Seconds(begin) < 0.3;) one();
    int64_t records = 0;
    const auto begin = Clock::now();
    for (; Seconds(begin) < seconds; ++records) one();
    std::cout << R"({"records":)" << records << R"(,"seconds":)" << Seconds(begin) << "}"
              << std::endl;
  }
  return 0;
}
