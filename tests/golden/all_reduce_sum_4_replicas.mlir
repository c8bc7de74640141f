module @all_reduce_sum_4_replicas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<2xf32>} : () -> tensor<2xf32>
    %1 = "stablehlo.multiply"(%arg0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %2 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%arg0, %2) ({
    ^bb0(%3: tensor<f32>, %4: tensor<f32>):
      %5 = "stablehlo.add"(%3, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%5) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %7 = "stablehlo.convert"(%arg0) : (tensor<2xf32>) -> tensor<2xi32>
    %11 = "stablehlo.all_reduce"(%7) ({
    ^bb0(%8: tensor<i32>, %9: tensor<i32>):
      %10 = "stablehlo.add"(%8, %9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%10) : (tensor<i32>) -> ()
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xi32>) -> tensor<2xi32>
    %15:3 = "stablehlo.all_reduce"(%arg0, %1, %6) ({
    ^bb0(%12: tensor<f32>, %13: tensor<f32>):
      %14 = "stablehlo.add"(%12, %13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%14) : (tensor<f32>) -> ()
    }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<f32>)
    %16 = "stablehlo.convert"(%11) : (tensor<2xi32>) -> tensor<2xf32>
    "func.return"(%15#0, %15#1, %15#2, %16) : (tensor<2xf32>, tensor<2xf32>, tensor<f32>, tensor<2xf32>) -> ()
  }
}
