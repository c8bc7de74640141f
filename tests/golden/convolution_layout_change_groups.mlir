module @convolution_layout_change_groups attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x4x5x4xf32>, %arg1: tensor<6x2x3x2xf32>) -> (tensor<2x3x4x6xf32>) {
    %0 = "stablehlo.transpose"(%arg0) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x4x5x4xf32>) -> tensor<2x5x4x4xf32>
    %1 = "stablehlo.transpose"(%arg1) {permutation = array<i64: 2, 3, 1, 0>} : (tensor<6x2x3x2xf32>) -> tensor<3x2x2x6xf32>
    %2 = "stablehlo.convolution"(%0, %1) {window_strides = array<i64: 2, 1>, padding = dense<[[1, 1], [1, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x5x4x4xf32>, tensor<3x2x2x6xf32>) -> tensor<2x3x4x6xf32>
    "func.return"(%2) : (tensor<2x3x4x6xf32>) -> ()
  }
}
