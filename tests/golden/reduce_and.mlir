module @reduce_and attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x3xi1>) -> (tensor<2xi1>) {
    %0 = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<i1>, %2: tensor<i1>):
      %3 = "stablehlo.and"(%1, %2) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%3) : (tensor<i1>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>
    "func.return"(%4) : (tensor<2xi1>) -> ()
  }
}
