module @dynamic_index attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) -> (tensor<2xf32>, tensor<3x2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %1 = "stablehlo.dynamic_slice"(%arg0, %arg2, %0) {slice_sizes = array<i64: 1, 2>} : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %2 = "stablehlo.reshape"(%1) : (tensor<1x2xf32>) -> tensor<2xf32>
    %3 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %4 = "stablehlo.reshape"(%arg1) : (tensor<2xf32>) -> tensor<1x2xf32>
    %5 = "stablehlo.dynamic_update_slice"(%arg0, %4, %arg2, %3) : (tensor<3x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
    "func.return"(%2, %5) : (tensor<2xf32>, tensor<3x2xf32>) -> ()
  }
}
