module @logsumexp_of_nothing attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x2xf32>) -> (tensor<2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<2xf32>) -> tensor<2x1xf32>
    %6 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
    %7 = "stablehlo.is_finite"(%5) : (tensor<2x1xf32>) -> tensor<2x1xi1>
    %8 = "stablehlo.select"(%7, %5, %6) : (tensor<2x1xi1>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %9 = "stablehlo.broadcast_in_dim"(%8) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x2xf32>
    %10 = "stablehlo.subtract"(%arg0, %9) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %11 = "stablehlo.exponential"(%10) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %12 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%11, %12) ({
    ^bb0(%13: tensor<f32>, %14: tensor<f32>):
      %15 = "stablehlo.add"(%13, %14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
    %17 = "stablehlo.reshape"(%16) : (tensor<2xf32>) -> tensor<2x1xf32>
    %18 = "stablehlo.log"(%17) : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %19 = "stablehlo.add"(%18, %8) : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %20 = "stablehlo.reshape"(%19) : (tensor<2x1xf32>) -> tensor<2xf32>
    "func.return"(%20) : (tensor<2xf32>) -> ()
  }
}
