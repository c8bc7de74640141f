module @scan_reverse attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<3x2xf32>, %arg3: tensor<4x3x2xf32>) -> (tensor<3x2xf32>, tensor<4x3x2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %1 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4x3x2xf32>
    %33:6 = "stablehlo.while"(%0, %arg0, %arg1, %arg2, %arg3, %2) ({
    ^bb0(%3: tensor<i32>, %4: tensor<2x2xf32>, %5: tensor<2xf32>, %6: tensor<3x2xf32>, %7: tensor<4x3x2xf32>, %8: tensor<4x3x2xf32>):
      %9 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %10 = "stablehlo.compare"(%3, %9) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%10) : (tensor<i1>) -> ()
    }, {
    ^bb0(%11: tensor<i32>, %12: tensor<2x2xf32>, %13: tensor<2xf32>, %14: tensor<3x2xf32>, %15: tensor<4x3x2xf32>, %16: tensor<4x3x2xf32>):
      %17 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %18 = "stablehlo.subtract"(%17, %11) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %19 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %20 = "stablehlo.dynamic_slice"(%15, %18, %19, %19) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf32>
      %21 = "stablehlo.reshape"(%20) : (tensor<1x3x2xf32>) -> tensor<3x2xf32>
      %22 = "stablehlo.dot_general"(%14, %12) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
      %23 = "stablehlo.add"(%22, %21) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      %24 = "stablehlo.broadcast_in_dim"(%13) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf32>) -> tensor<3x2xf32>
      %25 = "stablehlo.add"(%23, %24) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      %26 = "stablehlo.tanh"(%25) : (tensor<3x2xf32>) -> tensor<3x2xf32>
      %27 = "stablehlo.multiply"(%26, %21) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
      %28 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %29 = "stablehlo.add"(%11, %28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %30 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %31 = "stablehlo.reshape"(%27) : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
      %32 = "stablehlo.dynamic_update_slice"(%16, %31, %18, %30, %30) : (tensor<4x3x2xf32>, tensor<1x3x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf32>
      "stablehlo.return"(%29, %12, %13, %26, %15, %32) : (tensor<i32>, tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>) -> ()
    }) : (tensor<i32>, tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>) -> (tensor<i32>, tensor<2x2xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<4x3x2xf32>, tensor<4x3x2xf32>)
    "func.return"(%33#3, %33#5) : (tensor<3x2xf32>, tensor<4x3x2xf32>) -> ()
  }
}
