module @multiply_i32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<5xi32>, %arg1: tensor<5xi32>) -> (tensor<5xi32>) {
    %0 = "stablehlo.multiply"(%arg0, %arg1) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
    "func.return"(%0) : (tensor<5xi32>) -> ()
  }
}
