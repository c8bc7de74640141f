module @scalar_operators attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0 = "stablehlo.negate"(%arg0) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %2 = "stablehlo.subtract"(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %3 = "stablehlo.multiply"(%2, %arg0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %4 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %5 = "stablehlo.add"(%4, %3) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %6 = "stablehlo.constant"() {value = dense<3.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %7 = "stablehlo.subtract"(%6, %arg0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %8 = "stablehlo.constant"() {value = dense<3.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %9 = "stablehlo.divide"(%7, %8) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %10 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %11 = "stablehlo.multiply"(%arg0, %10) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %12 = "stablehlo.constant"() {value = dense<1.000000e-01> : tensor<3xf32>} : () -> tensor<3xf32>
    %13 = "stablehlo.add"(%11, %12) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %14 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %15 = "stablehlo.divide"(%14, %13) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %16 = "stablehlo.subtract"(%15, %9) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %17 = "stablehlo.add"(%16, %5) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %18 = "stablehlo.multiply"(%arg0, %arg0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %19 = "stablehlo.constant"() {value = dense<3.300000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %20 = "stablehlo.minimum"(%18, %19) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %21 = "stablehlo.constant"() {value = dense<1.700000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %22 = "stablehlo.maximum"(%20, %21) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %23 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %24 = "stablehlo.compare"(%arg0, %23) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %25 = "stablehlo.convert"(%24) : (tensor<3xi1>) -> tensor<3xf32>
    %26 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %27 = "stablehlo.compare"(%arg0, %26) {comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %28 = "stablehlo.convert"(%27) : (tensor<3xi1>) -> tensor<3xf32>
    %29 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %30 = "stablehlo.compare"(%arg0, %29) {comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %31 = "stablehlo.convert"(%30) : (tensor<3xi1>) -> tensor<3xf32>
    %32 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %33 = "stablehlo.compare"(%arg0, %32) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %34 = "stablehlo.convert"(%33) : (tensor<3xi1>) -> tensor<3xf32>
    "func.return"(%17, %22, %25, %28, %31, %34) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> ()
  }
}
