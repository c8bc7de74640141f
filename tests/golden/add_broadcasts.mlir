module @add_broadcasts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x1x3xf32>, %arg1: tensor<4x1xf32>) -> (tensor<2x4x3xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<2x1x3xf32>) -> tensor<2x4x3xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
    "func.return"(%2) : (tensor<2x4x3xf32>) -> ()
  }
}
