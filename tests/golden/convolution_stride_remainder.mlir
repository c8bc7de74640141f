module @convolution_stride_remainder attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x6x8x2xf32>, %arg1: tensor<2x2x2x3xf32>) -> (tensor<2x2x2x3xf32>) {
    %0 = "stablehlo.convolution"(%arg0, %arg1) {window_strides = array<i64: 3, 5>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x6x8x2xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
    "func.return"(%0) : (tensor<2x2x2x3xf32>) -> ()
  }
}
