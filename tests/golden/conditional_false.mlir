module @conditional_false attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<i1>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %4:2 = "stablehlo.if"(%arg0) ({
      %0 = "stablehlo.multiply"(%arg1, %arg2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = "stablehlo.multiply"(%arg1, %arg1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> ()
    }, {
      %2 = "stablehlo.subtract"(%arg1, %arg2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %3 = "stablehlo.constant"() {value = dense<4.000000e+00> : tensor<2xf32>} : () -> tensor<2xf32>
      "stablehlo.return"(%2, %3) : (tensor<2xf32>, tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>)
    "func.return"(%4#0, %4#1) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }
}
