module @round_nearest_even attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<10xf32>) -> (tensor<10xf32>) {
    %0 = "stablehlo.round_nearest_even"(%arg0) : (tensor<10xf32>) -> tensor<10xf32>
    "func.return"(%0) : (tensor<10xf32>) -> ()
  }
}
