module @reduce_scatter_gradient_4_replicas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<4x1xi32>
    %1 = "stablehlo.convert"(%0) : (tensor<4x1xi32>) -> tensor<4x1xf32>
    %2 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf32>) -> tensor<4x2xf32>
    %3 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x2xf32>
    %4 = "stablehlo.add"(%2, %3) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %8 = "stablehlo.reduce_scatter"(%4) ({
    ^bb0(%5: tensor<f32>, %6: tensor<f32>):
      %7 = "stablehlo.add"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<4x2xf32>) -> tensor<1x2xf32>
    %9 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %10 = "stablehlo.reshape"(%9) : (tensor<f32>) -> tensor<1x1xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<1x2xf32>
    %12 = "stablehlo.multiply"(%11, %8) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %13 = "stablehlo.multiply"(%11, %8) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %14 = "stablehlo.constant"() {value = dense<0x7FC00000> : tensor<f32>} : () -> tensor<f32>
    %15 = "stablehlo.is_finite"(%12) : (tensor<1x2xf32>) -> tensor<1x2xi1>
    %16 = "stablehlo.broadcast_in_dim"(%14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %17 = "stablehlo.select"(%15, %12, %16) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %18 = "stablehlo.add"(%17, %13) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %19 = "stablehlo.all_gather"(%18) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<1x2xf32>) -> tensor<4x2xf32>
    %20 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%19, %20) ({
    ^bb0(%21: tensor<f32>, %22: tensor<f32>):
      %23 = "stablehlo.add"(%21, %22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%23) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
    "func.return"(%24) : (tensor<2xf32>) -> ()
  }
}
