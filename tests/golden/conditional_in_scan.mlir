module @conditional_in_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<3x2xf32>) -> (tensor<2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %24:3 = "stablehlo.while"(%0, %arg0, %arg1) ({
    ^bb0(%1: tensor<i32>, %2: tensor<2xf32>, %3: tensor<3x2xf32>):
      %4 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %5 = "stablehlo.compare"(%1, %4) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%5) : (tensor<i1>) -> ()
    }, {
    ^bb0(%6: tensor<i32>, %7: tensor<2xf32>, %8: tensor<3x2xf32>):
      %9 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %10 = "stablehlo.dynamic_slice"(%8, %6, %9) {slice_sizes = array<i64: 1, 2>} : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
      %11 = "stablehlo.reshape"(%10) : (tensor<1x2xf32>) -> tensor<2xf32>
      %12 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
      %16 = "stablehlo.reduce"(%11, %12) ({
      ^bb0(%13: tensor<f32>, %14: tensor<f32>):
        %15 = "stablehlo.add"(%13, %14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%15) : (tensor<f32>) -> ()
      }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
      %17 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
      %18 = "stablehlo.compare"(%16, %17) {comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %21 = "stablehlo.if"(%18) ({
        %19 = "stablehlo.multiply"(%7, %11) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        "stablehlo.return"(%19) : (tensor<2xf32>) -> ()
      }, {
        %20 = "stablehlo.add"(%7, %11) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        "stablehlo.return"(%20) : (tensor<2xf32>) -> ()
      }) : (tensor<i1>) -> tensor<2xf32>
      %22 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %23 = "stablehlo.add"(%6, %22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%23, %21, %8) : (tensor<i32>, tensor<2xf32>, tensor<3x2xf32>) -> ()
    }) : (tensor<i32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<i32>, tensor<2xf32>, tensor<3x2xf32>)
    "func.return"(%24#1) : (tensor<2xf32>) -> ()
  }
}
