module @log_plus_one_small attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<5xf32>) -> (tensor<5xf32>) {
    %0 = "stablehlo.log_plus_one"(%arg0) : (tensor<5xf32>) -> tensor<5xf32>
    "func.return"(%0) : (tensor<5xf32>) -> ()
  }
}
