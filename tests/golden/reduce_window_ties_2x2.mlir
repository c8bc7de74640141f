module @reduce_window_ties_2x2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<2x2xf32>
    %5 = "stablehlo.constant"() {value = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
    %6 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %7 = "stablehlo.reshape"(%6) : (tensor<f32>) -> tensor<1x1xf32>
    %8 = "stablehlo.broadcast_in_dim"(%7) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<2x2xf32>
    %9 = "stablehlo.multiply"(%8, %5) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %10 = "stablehlo.reshape"(%arg0) : (tensor<4x4xf32>) -> tensor<2x2x2x2xf32>
    %11 = "stablehlo.iota"() {iota_dimension = 3 : i64} : () -> tensor<2x2x2x2xi32>
    %12 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x2x2x2xi32>
    %13 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %14 = "stablehlo.broadcast_in_dim"(%13) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2x2x2xi32>
    %15 = "stablehlo.multiply"(%12, %14) : (tensor<2x2x2x2xi32>, tensor<2x2x2x2xi32>) -> tensor<2x2x2x2xi32>
    %16 = "stablehlo.add"(%11, %15) : (tensor<2x2x2x2xi32>, tensor<2x2x2x2xi32>) -> tensor<2x2x2x2xi32>
    %17 = "stablehlo.constant"() {value = dense<3> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
    %18 = "stablehlo.slice"(%10) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 2, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x1xf32>
    %19 = "stablehlo.slice"(%18) {start_indices = array<i64: 0, 1, 0, 0>, limit_indices = array<i64: 2, 2, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x1xf32>) -> tensor<2x1x2x1xf32>
    %20 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %21 = "stablehlo.reshape"(%19) : (tensor<2x1x2x1xf32>) -> tensor<2x2xf32>
    %22 = "stablehlo.compare"(%21, %4) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %23 = "stablehlo.broadcast_in_dim"(%20) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %24 = "stablehlo.select"(%22, %23, %17) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %25 = "stablehlo.slice"(%10) {start_indices = array<i64: 0, 0, 0, 1>, limit_indices = array<i64: 2, 2, 2, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x1xf32>
    %26 = "stablehlo.slice"(%25) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 1, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x1xf32>) -> tensor<2x1x2x1xf32>
    %27 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %28 = "stablehlo.reshape"(%26) : (tensor<2x1x2x1xf32>) -> tensor<2x2xf32>
    %29 = "stablehlo.compare"(%28, %4) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %30 = "stablehlo.broadcast_in_dim"(%27) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %31 = "stablehlo.select"(%29, %30, %24) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %32 = "stablehlo.slice"(%10) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 2, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x1xf32>
    %33 = "stablehlo.slice"(%32) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 1, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x1xf32>) -> tensor<2x1x2x1xf32>
    %34 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %35 = "stablehlo.reshape"(%33) : (tensor<2x1x2x1xf32>) -> tensor<2x2xf32>
    %36 = "stablehlo.compare"(%35, %4) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %37 = "stablehlo.broadcast_in_dim"(%34) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %38 = "stablehlo.select"(%36, %37, %31) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %39 = "stablehlo.reshape"(%38) : (tensor<2x2xi32>) -> tensor<2x1x2x1xi32>
    %40 = "stablehlo.broadcast_in_dim"(%39) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x2x1xi32>) -> tensor<2x2x2x2xi32>
    %41 = "stablehlo.compare"(%16, %40) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2x2x2xi32>, tensor<2x2x2x2xi32>) -> tensor<2x2x2x2xi1>
    %42 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %43 = "stablehlo.reshape"(%9) : (tensor<2x2xf32>) -> tensor<2x1x2x1xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x2x1xf32>) -> tensor<2x2x2x2xf32>
    %45 = "stablehlo.broadcast_in_dim"(%42) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2x2x2xf32>
    %46 = "stablehlo.select"(%41, %44, %45) : (tensor<2x2x2x2xi1>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
    %47 = "stablehlo.reshape"(%46) : (tensor<2x2x2x2xf32>) -> tensor<4x4xf32>
    "func.return"(%47) : (tensor<4x4xf32>) -> ()
  }
}
