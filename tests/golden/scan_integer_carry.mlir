module @scan_integer_carry attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x2xf32>, %arg1: tensor<i32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<4xi32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %1 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<4xi32>
    %31:6 = "stablehlo.while"(%0, %arg0, %arg1, %arg2, %arg3, %2) ({
    ^bb0(%3: tensor<i32>, %4: tensor<3x2xf32>, %5: tensor<i32>, %6: tensor<2xf32>, %7: tensor<2xf32>, %8: tensor<4xi32>):
      %9 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %10 = "stablehlo.compare"(%3, %9) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%10) : (tensor<i1>) -> ()
    }, {
    ^bb0(%11: tensor<i32>, %12: tensor<3x2xf32>, %13: tensor<i32>, %14: tensor<2xf32>, %15: tensor<2xf32>, %16: tensor<4xi32>):
      %17 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %18 = "stablehlo.remainder"(%13, %17) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %19 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %20 = "stablehlo.dynamic_slice"(%12, %18, %19) {slice_sizes = array<i64: 1, 2>} : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
      %21 = "stablehlo.reshape"(%20) : (tensor<1x2xf32>) -> tensor<2xf32>
      %22 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %23 = "stablehlo.add"(%13, %22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %24 = "stablehlo.constant"() {value = dense<5.000000e-01> : tensor<2xf32>} : () -> tensor<2xf32>
      %25 = "stablehlo.multiply"(%14, %24) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %26 = "stablehlo.add"(%25, %21) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %27 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %28 = "stablehlo.add"(%11, %27) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %29 = "stablehlo.reshape"(%13) : (tensor<i32>) -> tensor<1xi32>
      %30 = "stablehlo.dynamic_update_slice"(%16, %29, %11) : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
      "stablehlo.return"(%28, %12, %23, %26, %15, %30) : (tensor<i32>, tensor<3x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<4xi32>) -> ()
    }) : (tensor<i32>, tensor<3x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<4xi32>) -> (tensor<i32>, tensor<3x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<4xi32>)
    "func.return"(%31#2, %31#3, %31#4, %31#5) : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<4xi32>) -> ()
  }
}
