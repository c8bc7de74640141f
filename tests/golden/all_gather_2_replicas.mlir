module @all_gather_2_replicas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func @main(%arg0: tensor<2xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
    %0 = "stablehlo.all_gather"(%arg0) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
    %1 = "stablehlo.reshape"(%arg0) : (tensor<2xf32>) -> tensor<1x2xf32>
    %2 = "stablehlo.all_gather"(%1) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1x2xf32>) -> tensor<2x2xf32>
    "func.return"(%0, %2) : (tensor<4xf32>, tensor<2x2xf32>) -> ()
  }
}
