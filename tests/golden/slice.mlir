module @slice attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x4x2xf32>) -> (tensor<2x3x2xf32>) {
    %0 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 1, 0>, limit_indices = array<i64: 3, 4, 2>, strides = array<i64: 2, 1, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x2xf32>
    "func.return"(%0) : (tensor<2x3x2xf32>) -> ()
  }
}
