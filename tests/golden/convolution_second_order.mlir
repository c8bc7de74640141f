module @convolution_second_order attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<1x5x4x2xf32>, %arg1: tensor<3x2x1x4xf32>) -> (tensor<1x5x4x2xf32>, tensor<3x2x1x4xf32>) {
    %0 = "stablehlo.convolution"(%arg0, %arg1) {window_strides = array<i64: 2, 1>, padding = dense<[[1, 1], [1, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x5x4x2xf32>, tensor<3x2x1x4xf32>) -> tensor<1x3x3x4xf32>
    %1 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.reshape"(%1) : (tensor<f32>) -> tensor<1x1x1x1xf32>
    %3 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<1x1x1x1xf32>) -> tensor<1x3x3x4xf32>
    %4 = "stablehlo.cosine"(%0) : (tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
    %5 = "stablehlo.multiply"(%3, %4) : (tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
    %6 = "stablehlo.reshape"(%arg1) : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x2x2xf32>
    %7 = "stablehlo.transpose"(%6) {permutation = array<i64: 0, 1, 3, 2, 4>} : (tensor<3x2x1x2x2xf32>) -> tensor<3x2x2x1x2xf32>
    %8 = "stablehlo.reshape"(%7) : (tensor<3x2x2x1x2xf32>) -> tensor<3x2x2x2xf32>
    %9 = "stablehlo.reverse"(%8) {dimensions = array<i64: 0, 1>} : (tensor<3x2x2x2xf32>) -> tensor<3x2x2x2xf32>
    %10 = "stablehlo.transpose"(%9) {permutation = array<i64: 0, 1, 3, 2>} : (tensor<3x2x2x2xf32>) -> tensor<3x2x2x2xf32>
    %11 = "stablehlo.convolution"(%5, %10) {window_strides = array<i64: 1, 1>, padding = dense<[[1, 1], [1, 2]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 2, 1>, rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x3x3x4xf32>, tensor<3x2x2x2xf32>) -> tensor<1x5x4x2xf32>
    %12 = "stablehlo.transpose"(%arg0) {permutation = array<i64: 3, 1, 2, 0>} : (tensor<1x5x4x2xf32>) -> tensor<2x5x4x1xf32>
    %13 = "stablehlo.transpose"(%5) {permutation = array<i64: 1, 2, 0, 3>} : (tensor<1x3x3x4xf32>) -> tensor<3x3x1x4xf32>
    %14 = "stablehlo.convolution"(%12, %13) {window_strides = array<i64: 1, 2>, padding = dense<[[1, 1], [1, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: false, false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x1xf32>, tensor<3x3x1x4xf32>) -> tensor<1x3x2x4xf32>
    %15 = "stablehlo.transpose"(%14) {permutation = array<i64: 1, 2, 0, 3>} : (tensor<1x3x2x4xf32>) -> tensor<3x2x1x4xf32>
    "func.return"(%11, %15) : (tensor<1x5x4x2xf32>, tensor<3x2x1x4xf32>) -> ()
  }
}
