module @convert_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3xbf16>) -> (tensor<3xbf16>) {
    %0 = "stablehlo.constant"() {value = dense<3.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %1 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %2 = "stablehlo.multiply"(%1, %0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %3 = "stablehlo.convert"(%2) : (tensor<3xf32>) -> tensor<3xbf16>
    "func.return"(%3) : (tensor<3xbf16>) -> ()
  }
}
