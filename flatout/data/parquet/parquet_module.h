// What libflatout_parquet.so offers: Parquet files, by the C++ library that the pyarrow wheel
// carries. It is a library of its own, loaded when a run file names the source "parquet", so that
// no other run waits for Arrow to be loaded or needs it. Plain C: nothing of Arrow, and no
// exception, crosses the border.
#pragma once

#include <cstdint>

extern "C" {

enum FlatoutParquetKind : int32_t {
  kParquetBool,
  kParquetI8,
  kParquetI16,
  kParquetI32,
  kParquetI64,
  kParquetU8,
  kParquetU16,
  kParquetU32,
  kParquetU64,
  kParquetF16,
  kParquetF32,
  kParquetF64,
  kParquetText,
  kParquetOther,  // cannot be read; `why` says what it is
};

struct FlatoutParquetColumn {
  const char* name;  // "age", or "point.x" for a member of a structure
  int32_t kind;
  int32_t list;     // 1: a row holds any number of values
  const char* why;  // of kParquetOther
};

// One column of one row group. Elements lie at their own width (booleans one byte); text is the
// strings one after the other.
struct FlatoutParquetChunk {
  int64_t rows, values;
  const void* data;
  const int64_t* text_ends;  // of each value; nullptr unless text
  const int64_t* list_ends;  // of each row, in values; nullptr unless list
  const uint8_t* missing;    // of each value, 1: it is null (and zero or empty); nullptr: none is
  void* owner;
};

// All functions return 0, or -1 with a message in `error`.
struct FlatoutParquetApi {
  int (*open)(const char* path, void** file, char* error, int64_t error_bytes);
  void (*close)(void* file);
  int64_t (*row_groups)(void* file);
  int64_t (*group_rows)(void* file, int64_t group);
  int64_t (*columns)(void* file);
  FlatoutParquetColumn (*column)(void* file, int64_t column);
  // May be called from several threads at once.
  int (*read)(void* file, int64_t group, int64_t column, FlatoutParquetChunk* chunk, char* error,
              int64_t error_bytes);
  void (*release)(FlatoutParquetChunk* chunk);
};

// The library's one symbol.
__attribute__((visibility("default"))) const FlatoutParquetApi* flatout_parquet_api();
}
