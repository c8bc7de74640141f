module @composite_batch_normalization attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x2x2x5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<5xf32>) -> (tensor<3x2x2x5xf32>, tensor<5xf32>, tensor<5xf32>) {
    %0 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<3xf32>
    %1 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3xf32>} : () -> tensor<3xf32>
    %2 = "stablehlo.subtract"(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %3 = "stablehlo.multiply"(%2, %2) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %4 = "stablehlo.constant"() {value = dense<8.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %5 = "stablehlo.reshape"(%3) : (tensor<3xf32>) -> tensor<3x1x1x1xf32>
    %6 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<3x1x1x1xf32>) -> tensor<3x2x2x5xf32>
    %7 = "stablehlo.multiply"(%arg0, %6) : (tensor<3x2x2x5xf32>, tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
    %8 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %12 = "stablehlo.reduce"(%7, %8) ({
    ^bb0(%9: tensor<f32>, %10: tensor<f32>):
      %11 = "stablehlo.add"(%9, %10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<3x2x2x5xf32>, tensor<f32>) -> tensor<5xf32>
    %13 = "stablehlo.broadcast_in_dim"(%4) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<5xf32>
    %14 = "stablehlo.divide"(%12, %13) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %15 = "stablehlo.broadcast_in_dim"(%14) {broadcast_dimensions = array<i64: 3>} : (tensor<5xf32>) -> tensor<3x2x2x5xf32>
    %16 = "stablehlo.subtract"(%arg0, %15) : (tensor<3x2x2x5xf32>, tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
    %17 = "stablehlo.multiply"(%16, %16) : (tensor<3x2x2x5xf32>, tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
    %18 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<3x1x1x1xf32>) -> tensor<3x2x2x5xf32>
    %19 = "stablehlo.multiply"(%17, %18) : (tensor<3x2x2x5xf32>, tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
    %20 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%19, %20) ({
    ^bb0(%21: tensor<f32>, %22: tensor<f32>):
      %23 = "stablehlo.add"(%21, %22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%23) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<3x2x2x5xf32>, tensor<f32>) -> tensor<5xf32>
    %25 = "stablehlo.broadcast_in_dim"(%4) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<5xf32>
    %26 = "stablehlo.divide"(%24, %25) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %27 = "stablehlo.constant"() {value = dense<1.000000e-03> : tensor<5xf32>} : () -> tensor<5xf32>
    %28 = "stablehlo.add"(%26, %27) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %29 = "stablehlo.rsqrt"(%28) : (tensor<5xf32>) -> tensor<5xf32>
    %30 = "stablehlo.multiply"(%29, %arg1) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %31 = "stablehlo.broadcast_in_dim"(%30) {broadcast_dimensions = array<i64: 3>} : (tensor<5xf32>) -> tensor<3x2x2x5xf32>
    %32 = "stablehlo.multiply"(%16, %31) : (tensor<3x2x2x5xf32>, tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
    %33 = "stablehlo.broadcast_in_dim"(%arg2) {broadcast_dimensions = array<i64: 3>} : (tensor<5xf32>) -> tensor<3x2x2x5xf32>
    %34 = "stablehlo.add"(%32, %33) : (tensor<3x2x2x5xf32>, tensor<3x2x2x5xf32>) -> tensor<3x2x2x5xf32>
    "func.return"(%34, %14, %26) : (tensor<3x2x2x5xf32>, tensor<5xf32>, tensor<5xf32>) -> ()
  }
}
