module @dot_general_batch_two attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x3x2x4xf32>, %arg1: tensor<2x3x4x3xf32>) -> (tensor<2x3x2x3xf32>) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0,1], rhs_batching_dimensions = [0,1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x2x4xf32>, tensor<2x3x4x3xf32>) -> tensor<2x3x2x3xf32>
    "func.return"(%0) : (tensor<2x3x2x3xf32>) -> ()
  }
}
