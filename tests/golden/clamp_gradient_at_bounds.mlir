module @clamp_gradient_at_bounds attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<5xf32>) -> (tensor<5xf32>) {
    %0 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %1 = "stablehlo.constant"() {value = dense<-1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<5xf32>
    %3 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<5xf32>
    %4 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<5xf32>} : () -> tensor<5xf32>
    %5 = "stablehlo.compare"(%arg0, %2) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
    %6 = "stablehlo.compare"(%arg0, %3) {comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
    %7 = "stablehlo.or"(%5, %6) : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
    %8 = "stablehlo.not"(%7) : (tensor<5xi1>) -> tensor<5xi1>
    %9 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<5xf32>} : () -> tensor<5xf32>
    %10 = "stablehlo.select"(%8, %4, %9) : (tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    "func.return"(%10) : (tensor<5xf32>) -> ()
  }
}
