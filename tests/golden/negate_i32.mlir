module @negate_i32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<6xi32>) -> (tensor<6xi32>) {
    %0 = "stablehlo.negate"(%arg0) : (tensor<6xi32>) -> tensor<6xi32>
    "func.return"(%0) : (tensor<6xi32>) -> ()
  }
}
