// The hashes by which TensorFlow and Keras put strings into buckets.
#pragma once

#include <cstdint>
#include <string_view>

namespace flatout::data {

// FarmHash's Fingerprint64: tf.strings.to_hash_bucket_fast, Keras Hashing without salt.
uint64_t Fingerprint64(std::string_view text);
// SipHash-2-4 (Aumasson and Bernstein 2012): tf.strings.to_hash_bucket_strong, Keras Hashing with a
// salt.
uint64_t SipHash24(uint64_t key0, uint64_t key1, std::string_view text);

// TensorFlow's FingerprintCat64: one fingerprint of two, by which tf.sparse.cross_hashed crosses.
uint64_t FingerprintCat64(uint64_t first, uint64_t second);

}  // namespace flatout::data
