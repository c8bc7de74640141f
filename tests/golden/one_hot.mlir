module @one_hot attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x2xi32>) -> (tensor<2x2x3xf32>) {
    %0 = "stablehlo.iota"() {iota_dimension = 2 : i64} : () -> tensor<2x2x3xi32>
    %1 = "stablehlo.reshape"(%arg0) : (tensor<2x2xi32>) -> tensor<2x2x1xi32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<2x2x1xi32>) -> tensor<2x2x3xi32>
    %3 = "stablehlo.compare"(%0, %2) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2x3xi32>, tensor<2x2x3xi32>) -> tensor<2x2x3xi1>
    %4 = "stablehlo.convert"(%3) : (tensor<2x2x3xi1>) -> tensor<2x2x3xf32>
    "func.return"(%4) : (tensor<2x2x3xf32>) -> ()
  }
}
