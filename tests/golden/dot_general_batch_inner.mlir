module @dot_general_batch_inner attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x2x4xf32>, %arg1: tensor<4x2x3xf32>) -> (tensor<2x3x3xf32>) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2x4xf32>, tensor<4x2x3xf32>) -> tensor<2x3x3xf32>
    "func.return"(%0) : (tensor<2x3x3xf32>) -> ()
  }
}
