module @not_u32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<4xui32>) -> (tensor<4xui32>) {
    %0 = "stablehlo.not"(%arg0) : (tensor<4xui32>) -> tensor<4xui32>
    "func.return"(%0) : (tensor<4xui32>) -> ()
  }
}
