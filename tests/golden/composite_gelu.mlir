module @composite_gelu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x6xf32>) -> (tensor<3x6xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0x3FB504F3> : tensor<3x6xf32>} : () -> tensor<3x6xf32>
    %1 = "stablehlo.multiply"(%arg0, %0) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %2 = "stablehlo.constant"() {value = dense<5.000000e-01> : tensor<3x6xf32>} : () -> tensor<3x6xf32>
    %3 = "stablehlo.multiply"(%1, %2) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %4 = "chlo.erf"(%3) : (tensor<3x6xf32>) -> tensor<3x6xf32>
    %5 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x6xf32>} : () -> tensor<3x6xf32>
    %6 = "stablehlo.add"(%4, %5) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %7 = "stablehlo.constant"() {value = dense<5.000000e-01> : tensor<3x6xf32>} : () -> tensor<3x6xf32>
    %8 = "stablehlo.multiply"(%6, %7) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %9 = "stablehlo.multiply"(%arg0, %8) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    "func.return"(%9) : (tensor<3x6xf32>) -> ()
  }
}
