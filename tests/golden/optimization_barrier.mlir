module @optimization_barrier attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
    %0:2 = "stablehlo.optimization_barrier"(%arg0, %arg1) : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
    %1 = "stablehlo.sine"(%0#0) : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1, %0#1) : (tensor<2xf32>, tensor<3xf32>) -> ()
  }
}
