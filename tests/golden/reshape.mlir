module @reshape attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x4x2xf32>) -> (tensor<4x6xf32>) {
    %0 = "stablehlo.reshape"(%arg0) : (tensor<3x4x2xf32>) -> tensor<4x6xf32>
    "func.return"(%0) : (tensor<4x6xf32>) -> ()
  }
}
