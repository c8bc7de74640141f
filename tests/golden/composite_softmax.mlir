module @composite_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<4x7xf32>) -> (tensor<4x7xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<4xf32>) -> tensor<4x1xf32>
    %6 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x7xf32>
    %7 = "stablehlo.subtract"(%arg0, %6) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %8 = "stablehlo.exponential"(%7) : (tensor<4x7xf32>) -> tensor<4x7xf32>
    %9 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %13 = "stablehlo.reduce"(%8, %9) ({
    ^bb0(%10: tensor<f32>, %11: tensor<f32>):
      %12 = "stablehlo.add"(%10, %11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%12) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
    %14 = "stablehlo.reshape"(%13) : (tensor<4xf32>) -> tensor<4x1xf32>
    %15 = "stablehlo.broadcast_in_dim"(%14) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x7xf32>
    %16 = "stablehlo.divide"(%8, %15) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    "func.return"(%16) : (tensor<4x7xf32>) -> ()
  }
}
