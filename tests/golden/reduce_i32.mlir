module @reduce_i32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<4xi32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<i32>, %2: tensor<i32>):
      %3 = "stablehlo.add"(%1, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%3) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    %5 = "stablehlo.constant"() {value = dense<-2147483648> : tensor<i32>} : () -> tensor<i32>
    %9 = "stablehlo.reduce"(%arg0, %5) ({
    ^bb0(%6: tensor<i32>, %7: tensor<i32>):
      %8 = "stablehlo.maximum"(%6, %7) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%8) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    %10 = "stablehlo.constant"() {value = dense<2147483647> : tensor<i32>} : () -> tensor<i32>
    %14 = "stablehlo.reduce"(%arg0, %10) ({
    ^bb0(%11: tensor<i32>, %12: tensor<i32>):
      %13 = "stablehlo.minimum"(%11, %12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%13) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    %15 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %19 = "stablehlo.reduce"(%arg0, %15) ({
    ^bb0(%16: tensor<i32>, %17: tensor<i32>):
      %18 = "stablehlo.multiply"(%16, %17) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%18) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    %20 = "stablehlo.constant"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
    %24 = "stablehlo.reduce"(%arg0, %20) ({
    ^bb0(%21: tensor<i32>, %22: tensor<i32>):
      %23 = "stablehlo.and"(%21, %22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%23) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    %25 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %29 = "stablehlo.reduce"(%arg0, %25) ({
    ^bb0(%26: tensor<i32>, %27: tensor<i32>):
      %28 = "stablehlo.or"(%26, %27) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%28) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    "func.return"(%4, %9, %14, %19, %24, %29) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  }
}
