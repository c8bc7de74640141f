module @convolution_pointwise_oi attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x3x4x3xf32>, %arg1: tensor<5x3x1x1xf32>) -> (tensor<2x3x4x5xf32>) {
    %0 = "stablehlo.reshape"(%arg1) : (tensor<5x3x1x1xf32>) -> tensor<5x3xf32>
    %1 = "stablehlo.dot_general"(%arg0, %0) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x4x3xf32>, tensor<5x3xf32>) -> tensor<2x3x4x5xf32>
    "func.return"(%1) : (tensor<2x3x4x5xf32>) -> ()
  }
}
