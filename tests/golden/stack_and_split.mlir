module @stack_and_split attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) {
    %0 = "stablehlo.reshape"(%arg0) : (tensor<2xf32>) -> tensor<2x1xf32>
    %1 = "stablehlo.reshape"(%arg1) : (tensor<2xf32>) -> tensor<2x1xf32>
    %2 = "stablehlo.concatenate"(%0, %1) {dimension = 1 : i64} : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
    %3 = "stablehlo.slice"(%2) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 2>, strides = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %4 = "stablehlo.slice"(%2) {start_indices = array<i64: 1, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<1x2xf32>
    %5 = "stablehlo.slice"(%2) {start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32>
    %6 = "stablehlo.reshape"(%5) : (tensor<2x1xf32>) -> tensor<2xf32>
    "func.return"(%3, %4, %2, %6) : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> ()
  }
}
