module @not_bool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xi1>) -> (tensor<2xi1>) {
    %0 = "stablehlo.not"(%arg0) : (tensor<2xi1>) -> tensor<2xi1>
    "func.return"(%0) : (tensor<2xi1>) -> ()
  }
}
