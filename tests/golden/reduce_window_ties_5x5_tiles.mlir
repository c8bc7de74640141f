module @reduce_window_ties_5x5_tiles attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<5x5xf32>) -> (tensor<5x5xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 5, 5>, window_strides = array<i64: 5, 5>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<5x5xf32>, tensor<f32>) -> tensor<1x1xf32>
    %5 = "stablehlo.constant"() {value = dense<[[2.000000e+00]]> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
    %6 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %7 = "stablehlo.reshape"(%6) : (tensor<f32>) -> tensor<1x1xf32>
    %8 = "stablehlo.multiply"(%7, %5) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %9 = "stablehlo.reshape"(%arg0) : (tensor<5x5xf32>) -> tensor<1x5x1x5xf32>
    %10 = "stablehlo.iota"() {iota_dimension = 3 : i64} : () -> tensor<1x5x1x5xi32>
    %11 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<1x5x1x5xi32>
    %12 = "stablehlo.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %13 = "stablehlo.broadcast_in_dim"(%12) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x5x1x5xi32>
    %14 = "stablehlo.multiply"(%11, %13) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %15 = "stablehlo.add"(%10, %14) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %16 = "stablehlo.constant"() {value = dense<24> : tensor<i32>} : () -> tensor<i32>
    %17 = "stablehlo.reshape"(%4) : (tensor<1x1xf32>) -> tensor<1x1x1x1xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<1x1x1x1xf32>) -> tensor<1x5x1x5xf32>
    %19 = "stablehlo.compare"(%9, %18) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x5x1x5xf32>, tensor<1x5x1x5xf32>) -> tensor<1x5x1x5xi1>
    %20 = "stablehlo.broadcast_in_dim"(%16) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x5x1x5xi32>
    %21 = "stablehlo.select"(%19, %15, %20) : (tensor<1x5x1x5xi1>, tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %22 = "stablehlo.constant"() {value = dense<2147483647> : tensor<i32>} : () -> tensor<i32>
    %26 = "stablehlo.reduce"(%21, %22) ({
    ^bb0(%23: tensor<i32>, %24: tensor<i32>):
      %25 = "stablehlo.minimum"(%23, %24) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%25) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 1, 3>} : (tensor<1x5x1x5xi32>, tensor<i32>) -> tensor<1x1xi32>
    %27 = "stablehlo.reshape"(%26) : (tensor<1x1xi32>) -> tensor<1x1x1x1xi32>
    %28 = "stablehlo.broadcast_in_dim"(%27) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<1x1x1x1xi32>) -> tensor<1x5x1x5xi32>
    %29 = "stablehlo.iota"() {iota_dimension = 3 : i64} : () -> tensor<1x5x1x5xi32>
    %30 = "stablehlo.subtract"(%28, %29) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %31 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<1x5x1x5xi32>
    %32 = "stablehlo.subtract"(%30, %31) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %33 = "stablehlo.subtract"(%32, %31) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %34 = "stablehlo.subtract"(%33, %31) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %35 = "stablehlo.subtract"(%34, %31) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %36 = "stablehlo.subtract"(%35, %31) : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi32>
    %37 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %38 = "stablehlo.broadcast_in_dim"(%37) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x5x1x5xi32>
    %39 = "stablehlo.compare"(%36, %38) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x5x1x5xi32>, tensor<1x5x1x5xi32>) -> tensor<1x5x1x5xi1>
    %40 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %41 = "stablehlo.reshape"(%8) : (tensor<1x1xf32>) -> tensor<1x1x1x1xf32>
    %42 = "stablehlo.broadcast_in_dim"(%41) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<1x1x1x1xf32>) -> tensor<1x5x1x5xf32>
    %43 = "stablehlo.broadcast_in_dim"(%40) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x5x1x5xf32>
    %44 = "stablehlo.select"(%39, %42, %43) : (tensor<1x5x1x5xi1>, tensor<1x5x1x5xf32>, tensor<1x5x1x5xf32>) -> tensor<1x5x1x5xf32>
    %45 = "stablehlo.reshape"(%44) : (tensor<1x5x1x5xf32>) -> tensor<5x5xf32>
    "func.return"(%45) : (tensor<5x5xf32>) -> ()
  }
}
