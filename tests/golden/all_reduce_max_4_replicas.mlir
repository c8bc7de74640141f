module @all_reduce_max_4_replicas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %3 = "stablehlo.all_reduce"(%arg0) ({
    ^bb0(%0: tensor<f32>, %1: tensor<f32>):
      %2 = "stablehlo.maximum"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%3) : (tensor<2xf32>) -> ()
  }
}
