module @matmul_broadcasts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x1x2x4xf32>, %arg1: tensor<3x4x2xf32>) -> (tensor<2x3x2x2xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1, 2, 3>} : (tensor<3x4x2xf32>) -> tensor<2x3x4x2xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x2x4xf32>) -> tensor<2x3x2x4xf32>
    %2 = "stablehlo.dot_general"(%1, %0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0,1], rhs_batching_dimensions = [0,1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x2x4xf32>, tensor<2x3x4x2xf32>) -> tensor<2x3x2x2xf32>
    "func.return"(%2) : (tensor<2x3x2x2xf32>) -> ()
  }
}
