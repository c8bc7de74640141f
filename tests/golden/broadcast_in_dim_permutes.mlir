module @broadcast_in_dim_permutes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x1x3xf32>) -> (tensor<3x4x2x5xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 2, 1, 0>} : (tensor<2x1x3xf32>) -> tensor<3x4x2x5xf32>
    "func.return"(%0) : (tensor<3x4x2x5xf32>) -> ()
  }
}
