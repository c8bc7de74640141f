module @argmax_i32_last_axis attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x3xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
    %0 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi32>
    %1 = "stablehlo.constant"() {value = dense<-2147483648> : tensor<i32>} : () -> tensor<i32>
    %2 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %14:2 = "stablehlo.reduce"(%arg0, %0, %1, %2) ({
    ^bb0(%3: tensor<i32>, %4: tensor<i32>, %5: tensor<i32>, %6: tensor<i32>):
      %7 = "stablehlo.compare"(%3, %5) {comparison_direction = #stablehlo<comparison_direction GT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %8 = "stablehlo.compare"(%3, %5) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %9 = "stablehlo.compare"(%4, %6) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %10 = "stablehlo.and"(%8, %9) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %11 = "stablehlo.or"(%7, %10) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %12 = "stablehlo.select"(%11, %3, %5) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %13 = "stablehlo.select"(%11, %4, %6) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%12, %13) : (tensor<i32>, tensor<i32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
    %15 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x3xi32>
    %16 = "stablehlo.constant"() {value = dense<2147483647> : tensor<i32>} : () -> tensor<i32>
    %17 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %29:2 = "stablehlo.reduce"(%arg0, %15, %16, %17) ({
    ^bb0(%18: tensor<i32>, %19: tensor<i32>, %20: tensor<i32>, %21: tensor<i32>):
      %22 = "stablehlo.compare"(%18, %20) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %23 = "stablehlo.compare"(%18, %20) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %24 = "stablehlo.compare"(%19, %21) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %25 = "stablehlo.and"(%23, %24) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %26 = "stablehlo.or"(%22, %25) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %27 = "stablehlo.select"(%26, %18, %20) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %28 = "stablehlo.select"(%26, %19, %21) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%27, %28) : (tensor<i32>, tensor<i32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
    "func.return"(%14#1, %29#1) : (tensor<2xi32>, tensor<2xi32>) -> ()
  }
}
