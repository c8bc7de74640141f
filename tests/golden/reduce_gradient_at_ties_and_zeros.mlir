module @reduce_gradient_at_ties_and_zeros attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<3x3xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %5 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %6 = "stablehlo.reshape"(%5) : (tensor<f32>) -> tensor<1xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) {broadcast_dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<2xf32>
    %8 = "stablehlo.reshape"(%4) : (tensor<2xf32>) -> tensor<2x1xf32>
    %9 = "stablehlo.broadcast_in_dim"(%8) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %10 = "stablehlo.compare"(%arg0, %9) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %11 = "stablehlo.convert"(%10) : (tensor<2x3xi1>) -> tensor<2x3xf32>
    %12 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%11, %12) ({
    ^bb0(%13: tensor<f32>, %14: tensor<f32>):
      %15 = "stablehlo.add"(%13, %14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %17 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
    %18 = "stablehlo.divide"(%7, %16) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %19 = "stablehlo.reshape"(%18) : (tensor<2xf32>) -> tensor<2x1xf32>
    %20 = "stablehlo.broadcast_in_dim"(%19) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %21 = "stablehlo.select"(%10, %20, %17) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %22 = "stablehlo.reshape"(%5) : (tensor<f32>) -> tensor<1xf32>
    %23 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64: 0>} : (tensor<1xf32>) -> tensor<3xf32>
    %24 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %25 = "stablehlo.pad"(%arg1, %24) {edge_padding_low = array<i64: 0, -1>, edge_padding_high = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %26 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %27 = "stablehlo.pad"(%25, %26) {edge_padding_low = array<i64: 0, -1>, edge_padding_high = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %28 = "stablehlo.multiply"(%25, %27) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %29 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %30 = "stablehlo.pad"(%28, %29) {edge_padding_low = array<i64: 0, -2>, edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 0>} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %31 = "stablehlo.multiply"(%28, %30) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %32 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %33 = "stablehlo.pad"(%arg1, %32) {edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 0, -1>, interior_padding = array<i64: 0, 0>} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %34 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %35 = "stablehlo.pad"(%33, %34) {edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 0, -1>, interior_padding = array<i64: 0, 0>} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %36 = "stablehlo.multiply"(%33, %35) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %37 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %38 = "stablehlo.pad"(%36, %37) {edge_padding_low = array<i64: 0, 2>, edge_padding_high = array<i64: 0, -2>, interior_padding = array<i64: 0, 0>} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %39 = "stablehlo.multiply"(%36, %38) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %40 = "stablehlo.multiply"(%39, %31) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %41 = "stablehlo.reshape"(%23) : (tensor<3xf32>) -> tensor<3x1xf32>
    %42 = "stablehlo.broadcast_in_dim"(%41) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<3x1xf32>) -> tensor<3x3xf32>
    %43 = "stablehlo.multiply"(%40, %42) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    "func.return"(%21, %43) : (tensor<2x3xf32>, tensor<3x3xf32>) -> ()
  }
}
