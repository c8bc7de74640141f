module @composite_cross_entropy attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x5xf32>, %arg1: tensor<3xi32>) -> (tensor<3xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %5 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %6 = "stablehlo.is_finite"(%4) : (tensor<3xf32>) -> tensor<3xi1>
    %7 = "stablehlo.select"(%6, %4, %5) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %8 = "stablehlo.reshape"(%7) : (tensor<3xf32>) -> tensor<3x1xf32>
    %9 = "stablehlo.broadcast_in_dim"(%8) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<3x1xf32>) -> tensor<3x5xf32>
    %10 = "stablehlo.subtract"(%arg0, %9) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %11 = "stablehlo.exponential"(%10) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %12 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%11, %12) ({
    ^bb0(%13: tensor<f32>, %14: tensor<f32>):
      %15 = "stablehlo.add"(%13, %14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %17 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<3x5xi32>
    %18 = "stablehlo.reshape"(%arg1) : (tensor<3xi32>) -> tensor<3x1xi32>
    %19 = "stablehlo.broadcast_in_dim"(%18) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<3x1xi32>) -> tensor<3x5xi32>
    %20 = "stablehlo.compare"(%17, %19) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<3x5xi1>
    %21 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<3x5xf32>
    %23 = "stablehlo.select"(%20, %arg0, %22) : (tensor<3x5xi1>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %24 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %28 = "stablehlo.reduce"(%23, %24) ({
    ^bb0(%25: tensor<f32>, %26: tensor<f32>):
      %27 = "stablehlo.add"(%25, %26) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%27) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %29 = "stablehlo.log"(%16) : (tensor<3xf32>) -> tensor<3xf32>
    %30 = "stablehlo.add"(%29, %7) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %31 = "stablehlo.subtract"(%30, %28) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%31) : (tensor<3xf32>) -> ()
  }
}
