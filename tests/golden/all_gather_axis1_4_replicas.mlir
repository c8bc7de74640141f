module @all_gather_axis1_4_replicas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func @main(%arg0: tensor<2xf32>) -> (tensor<2x4xf32>) {
    %0 = "stablehlo.reshape"(%arg0) : (tensor<2xf32>) -> tensor<2x1xf32>
    %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2x1xf32>) -> tensor<2x4xf32>
    "func.return"(%1) : (tensor<2x4xf32>) -> ()
  }
}
