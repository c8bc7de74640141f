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
    %11 = "stablehlo.constant"() {value = dense<3> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
    %12 = "stablehlo.slice"(%10) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 2, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x1xf32>
    %13 = "stablehlo.slice"(%12) {start_indices = array<i64: 0, 1, 0, 0>, limit_indices = array<i64: 2, 2, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x1xf32>) -> tensor<2x1x2x1xf32>
    %14 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %15 = "stablehlo.reshape"(%13) : (tensor<2x1x2x1xf32>) -> tensor<2x2xf32>
    %16 = "stablehlo.compare"(%15, %4) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %17 = "stablehlo.broadcast_in_dim"(%14) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %18 = "stablehlo.select"(%16, %17, %11) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %19 = "stablehlo.slice"(%10) {start_indices = array<i64: 0, 0, 0, 1>, limit_indices = array<i64: 2, 2, 2, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x1xf32>
    %20 = "stablehlo.slice"(%19) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 1, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x1xf32>) -> tensor<2x1x2x1xf32>
    %21 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %22 = "stablehlo.reshape"(%20) : (tensor<2x1x2x1xf32>) -> tensor<2x2xf32>
    %23 = "stablehlo.compare"(%22, %4) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %24 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %25 = "stablehlo.select"(%23, %24, %18) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %26 = "stablehlo.slice"(%10) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 2, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x1xf32>
    %27 = "stablehlo.slice"(%26) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 2, 1, 2, 1>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x2x2x1xf32>) -> tensor<2x1x2x1xf32>
    %28 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %29 = "stablehlo.reshape"(%27) : (tensor<2x1x2x1xf32>) -> tensor<2x2xf32>
    %30 = "stablehlo.compare"(%29, %4) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %31 = "stablehlo.broadcast_in_dim"(%28) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %32 = "stablehlo.select"(%30, %31, %25) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %33 = "stablehlo.reshape"(%32) : (tensor<2x2xi32>) -> tensor<2x1x2x1xi32>
    %34 = "stablehlo.broadcast_in_dim"(%33) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x2x1xi32>) -> tensor<2x2x2x2xi32>
    %35 = "stablehlo.iota"() {iota_dimension = 3 : i64} : () -> tensor<2x2x2x2xi32>
    %36 = "stablehlo.subtract"(%34, %35) : (tensor<2x2x2x2xi32>, tensor<2x2x2x2xi32>) -> tensor<2x2x2x2xi32>
    %37 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2x2x2x2xi32>
    %38 = "stablehlo.subtract"(%36, %37) : (tensor<2x2x2x2xi32>, tensor<2x2x2x2xi32>) -> tensor<2x2x2x2xi32>
    %39 = "stablehlo.subtract"(%38, %37) : (tensor<2x2x2x2xi32>, tensor<2x2x2x2xi32>) -> tensor<2x2x2x2xi32>
    %40 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %41 = "stablehlo.broadcast_in_dim"(%40) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2x2x2xi32>
    %42 = "stablehlo.compare"(%39, %41) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2x2x2xi32>, tensor<2x2x2x2xi32>) -> tensor<2x2x2x2xi1>
    %43 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %44 = "stablehlo.reshape"(%9) : (tensor<2x2xf32>) -> tensor<2x1x2x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x2x1xf32>) -> tensor<2x2x2x2xf32>
    %46 = "stablehlo.broadcast_in_dim"(%43) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2x2x2xf32>
    %47 = "stablehlo.select"(%42, %45, %46) : (tensor<2x2x2x2xi1>, tensor<2x2x2x2xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>
    %48 = "stablehlo.reshape"(%47) : (tensor<2x2x2x2xf32>) -> tensor<4x4xf32>
    "func.return"(%48) : (tensor<4x4xf32>) -> ()
  }
}
