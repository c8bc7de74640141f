module @scan_nested attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<2xf32>, %arg2: tensor<3x2xf32>) -> (tensor<2xf32>, tensor<3x3x2xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %1 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<3x3x2xf32>
    %51:5 = "stablehlo.while"(%0, %arg0, %arg1, %arg2, %2) ({
    ^bb0(%3: tensor<i32>, %4: tensor<3xf32>, %5: tensor<2xf32>, %6: tensor<3x2xf32>, %7: tensor<3x3x2xf32>):
      %8 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %9 = "stablehlo.compare"(%3, %8) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%9) : (tensor<i1>) -> ()
    }, {
    ^bb0(%10: tensor<i32>, %11: tensor<3xf32>, %12: tensor<2xf32>, %13: tensor<3x2xf32>, %14: tensor<3x3x2xf32>):
      %15 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %16 = "stablehlo.dynamic_slice"(%13, %10, %15) {slice_sizes = array<i64: 1, 2>} : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
      %17 = "stablehlo.reshape"(%16) : (tensor<1x2xf32>) -> tensor<2xf32>
      %18 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %19 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
      %20 = "stablehlo.broadcast_in_dim"(%19) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<3x2xf32>
      %45:5 = "stablehlo.while"(%18, %17, %12, %11, %20) ({
      ^bb0(%21: tensor<i32>, %22: tensor<2xf32>, %23: tensor<2xf32>, %24: tensor<3xf32>, %25: tensor<3x2xf32>):
        %26 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
        %27 = "stablehlo.compare"(%21, %26) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%27) : (tensor<i1>) -> ()
      }, {
      ^bb0(%28: tensor<i32>, %29: tensor<2xf32>, %30: tensor<2xf32>, %31: tensor<3xf32>, %32: tensor<3x2xf32>):
        %33 = "stablehlo.dynamic_slice"(%31, %28) {slice_sizes = array<i64: 1>} : (tensor<3xf32>, tensor<i32>) -> tensor<1xf32>
        %34 = "stablehlo.reshape"(%33) : (tensor<1xf32>) -> tensor<f32>
        %35 = "stablehlo.broadcast_in_dim"(%34) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2xf32>
        %36 = "stablehlo.multiply"(%30, %35) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %37 = "stablehlo.sine"(%36) : (tensor<2xf32>) -> tensor<2xf32>
        %38 = "stablehlo.add"(%37, %29) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %39 = "stablehlo.multiply"(%38, %38) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %40 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
        %41 = "stablehlo.add"(%28, %40) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %42 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
        %43 = "stablehlo.reshape"(%39) : (tensor<2xf32>) -> tensor<1x2xf32>
        %44 = "stablehlo.dynamic_update_slice"(%32, %43, %28, %42) : (tensor<3x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
        "stablehlo.return"(%41, %29, %38, %31, %44) : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3x2xf32>) -> ()
      }) : (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3x2xf32>) -> (tensor<i32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3x2xf32>)
      %46 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %47 = "stablehlo.add"(%10, %46) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %48 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %49 = "stablehlo.reshape"(%45#4) : (tensor<3x2xf32>) -> tensor<1x3x2xf32>
      %50 = "stablehlo.dynamic_update_slice"(%14, %49, %10, %48, %48) : (tensor<3x3x2xf32>, tensor<1x3x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x3x2xf32>
      "stablehlo.return"(%47, %11, %45#2, %13, %50) : (tensor<i32>, tensor<3xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<3x3x2xf32>) -> ()
    }) : (tensor<i32>, tensor<3xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<3x3x2xf32>) -> (tensor<i32>, tensor<3xf32>, tensor<2xf32>, tensor<3x2xf32>, tensor<3x3x2xf32>)
    "func.return"(%51#2, %51#4) : (tensor<2xf32>, tensor<3x3x2xf32>) -> ()
  }
}
