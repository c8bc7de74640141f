module @is_finite attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<5xf32>) -> (tensor<5xi1>) {
    %0 = "stablehlo.is_finite"(%arg0) : (tensor<5xf32>) -> tensor<5xi1>
    "func.return"(%0) : (tensor<5xi1>) -> ()
  }
}
