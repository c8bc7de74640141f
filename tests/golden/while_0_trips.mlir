module @while_0_trips attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<i32>, %arg1: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %12:3 = "stablehlo.while"(%0, %arg0, %arg1) ({
    ^bb0(%1: tensor<i32>, %2: tensor<i32>, %3: tensor<2xf32>):
      %4 = "stablehlo.compare"(%1, %2) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%4) : (tensor<i1>) -> ()
    }, {
    ^bb0(%5: tensor<i32>, %6: tensor<i32>, %7: tensor<2xf32>):
      %8 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %9 = "stablehlo.add"(%5, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %10 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<2xf32>} : () -> tensor<2xf32>
      %11 = "stablehlo.multiply"(%7, %10) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      "stablehlo.return"(%9, %6, %11) : (tensor<i32>, tensor<i32>, tensor<2xf32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>)
    "func.return"(%12#0, %12#2) : (tensor<i32>, tensor<2xf32>) -> ()
  }
}
