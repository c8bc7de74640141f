module @scan_without_carry attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x2xf32>) -> (tensor<3xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %1 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<3xf32>
    %24:3 = "stablehlo.while"(%0, %arg0, %2) ({
    ^bb0(%3: tensor<i32>, %4: tensor<3x2xf32>, %5: tensor<3xf32>):
      %6 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %7 = "stablehlo.compare"(%3, %6) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%7) : (tensor<i1>) -> ()
    }, {
    ^bb0(%8: tensor<i32>, %9: tensor<3x2xf32>, %10: tensor<3xf32>):
      %11 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %12 = "stablehlo.dynamic_slice"(%9, %8, %11) {slice_sizes = array<i64: 1, 2>} : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
      %13 = "stablehlo.reshape"(%12) : (tensor<1x2xf32>) -> tensor<2xf32>
      %14 = "stablehlo.multiply"(%13, %13) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %15 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
      %19 = "stablehlo.reduce"(%14, %15) ({
      ^bb0(%16: tensor<f32>, %17: tensor<f32>):
        %18 = "stablehlo.add"(%16, %17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%18) : (tensor<f32>) -> ()
      }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
      %20 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %21 = "stablehlo.add"(%8, %20) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %22 = "stablehlo.reshape"(%19) : (tensor<f32>) -> tensor<1xf32>
      %23 = "stablehlo.dynamic_update_slice"(%10, %22, %8) : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
      "stablehlo.return"(%21, %9, %23) : (tensor<i32>, tensor<3x2xf32>, tensor<3xf32>) -> ()
    }) : (tensor<i32>, tensor<3x2xf32>, tensor<3xf32>) -> (tensor<i32>, tensor<3x2xf32>, tensor<3xf32>)
    "func.return"(%24#2) : (tensor<3xf32>) -> ()
  }
}
