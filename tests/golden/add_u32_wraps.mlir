module @add_u32_wraps attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3xui32>, %arg1: tensor<3xui32>) -> (tensor<3xui32>) {
    %0 = "stablehlo.add"(%arg0, %arg1) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
    "func.return"(%0) : (tensor<3xui32>) -> ()
  }
}
