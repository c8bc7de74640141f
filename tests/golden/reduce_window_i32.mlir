module @reduce_window_i32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %4 = "stablehlo.reduce_window"(%arg0, %0) ({
    ^bb0(%1: tensor<i32>, %2: tensor<i32>):
      %3 = "stablehlo.add"(%1, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%3) : (tensor<i32>) -> ()
    }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>
    %5 = "stablehlo.constant"() {value = dense<-2147483648> : tensor<i32>} : () -> tensor<i32>
    %9 = "stablehlo.reduce_window"(%arg0, %5) ({
    ^bb0(%6: tensor<i32>, %7: tensor<i32>):
      %8 = "stablehlo.maximum"(%6, %7) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%8) : (tensor<i32>) -> ()
    }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>
    %10 = "stablehlo.constant"() {value = dense<2147483647> : tensor<i32>} : () -> tensor<i32>
    %14 = "stablehlo.reduce_window"(%arg0, %10) ({
    ^bb0(%11: tensor<i32>, %12: tensor<i32>):
      %13 = "stablehlo.minimum"(%11, %12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%13) : (tensor<i32>) -> ()
    }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, base_dilations = array<i64: 1>, window_dilations = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>
    "func.return"(%4, %9, %14) : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> ()
  }
}
