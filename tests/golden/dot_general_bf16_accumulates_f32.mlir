module @dot_general_bf16_accumulates_f32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<1x3xbf16>, %arg1: tensor<3x1xbf16>) -> (tensor<1x3xbf16>, tensor<3x1xbf16>, tensor<1x1xf32>) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x3xbf16>, tensor<3x1xbf16>) -> tensor<1x1xf32>
    %1 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.reshape"(%1) : (tensor<f32>) -> tensor<1x1xf32>
    %3 = "stablehlo.convert"(%2) : (tensor<1x1xf32>) -> tensor<1x1xbf16>
    %4 = "stablehlo.dot_general"(%3, %arg1) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x1xbf16>, tensor<3x1xbf16>) -> tensor<1x3xf32>
    %5 = "stablehlo.dot_general"(%arg0, %3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x3xbf16>, tensor<1x1xbf16>) -> tensor<3x1xf32>
    %6 = "stablehlo.convert"(%4) : (tensor<1x3xf32>) -> tensor<1x3xbf16>
    %7 = "stablehlo.convert"(%5) : (tensor<3x1xf32>) -> tensor<3x1xbf16>
    "func.return"(%6, %7, %0) : (tensor<1x3xbf16>, tensor<3x1xbf16>, tensor<1x1xf32>) -> ()
  }
}
