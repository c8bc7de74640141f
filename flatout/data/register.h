// FLATOUT_REGISTER: how a file makes its sources or transforms known by name.
//
//   // sources/csv_source.cc
//   FLATOUT_REGISTER(csv_source) { RegisterSource("csv", OpenCsv); }
//
// The files sources/*_source.cc and transforms/*_transforms.cc each hold one, named like the file;
// CMake finds them and generates the code that calls them all. (A static object per file would be
// left out by the linker, which takes from a static library only what is asked for.)
#pragma once

#define FLATOUT_REGISTER(stem) \
  namespace registry {         \
  void Register_##stem();      \
  }                            \
  void registry::Register_##stem()
