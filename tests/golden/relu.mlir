module @relu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<5xf32>) -> (tensor<5xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<5xf32>} : () -> tensor<5xf32>
    %1 = "stablehlo.maximum"(%arg0, %0) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    "func.return"(%1) : (tensor<5xf32>) -> ()
  }
}
