module @reduce_window_ties_overlap attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x5xf32>) -> (tensor<3x5xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x2xf32>
    %8 = "stablehlo.reduce_window"(%4, %0) ({
    ^bb0(%5: tensor<f32>, %6: tensor<f32>):
      %7 = "stablehlo.maximum"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<3x2xf32>, tensor<f32>) -> tensor<1x2xf32>
    %9 = "stablehlo.constant"() {value = dense<[[1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
    %10 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %11 = "stablehlo.reshape"(%10) : (tensor<f32>) -> tensor<1x1xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<1x2xf32>
    %13 = "stablehlo.multiply"(%12, %9) : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %14 = "stablehlo.constant"() {value = dense<8> : tensor<1x2xi32>} : () -> tensor<1x2xi32>
    %15 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 2, 1>, limit_indices = array<i64: 3, 4>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %16 = "stablehlo.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
    %17 = "stablehlo.compare"(%15, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %18 = "stablehlo.broadcast_in_dim"(%16) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %19 = "stablehlo.select"(%17, %18, %14) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %20 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 2, 0>, limit_indices = array<i64: 3, 3>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %21 = "stablehlo.constant"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
    %22 = "stablehlo.compare"(%20, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %23 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %24 = "stablehlo.select"(%22, %23, %19) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %25 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 1, 2>, limit_indices = array<i64: 2, 5>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %26 = "stablehlo.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %27 = "stablehlo.compare"(%25, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %28 = "stablehlo.broadcast_in_dim"(%26) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %29 = "stablehlo.select"(%27, %28, %24) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %30 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 1, 1>, limit_indices = array<i64: 2, 4>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %31 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %32 = "stablehlo.compare"(%30, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %33 = "stablehlo.broadcast_in_dim"(%31) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %34 = "stablehlo.select"(%32, %33, %29) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %35 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 1, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %36 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %37 = "stablehlo.compare"(%35, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %38 = "stablehlo.broadcast_in_dim"(%36) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %39 = "stablehlo.select"(%37, %38, %34) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %40 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 2>, limit_indices = array<i64: 1, 5>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %41 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %42 = "stablehlo.compare"(%40, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %43 = "stablehlo.broadcast_in_dim"(%41) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %44 = "stablehlo.select"(%42, %43, %39) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %45 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 1>, limit_indices = array<i64: 1, 4>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %46 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %47 = "stablehlo.compare"(%45, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %48 = "stablehlo.broadcast_in_dim"(%46) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %49 = "stablehlo.select"(%47, %48, %44) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %50 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 3>, strides = array<i64: 1, 2>} : (tensor<3x5xf32>) -> tensor<1x2xf32>
    %51 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %52 = "stablehlo.compare"(%50, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xi1>
    %53 = "stablehlo.broadcast_in_dim"(%51) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %54 = "stablehlo.select"(%52, %53, %49) : (tensor<1x2xi1>, tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi32>
    %55 = "stablehlo.optimization_barrier"(%54) : (tensor<1x2xi32>) -> tensor<1x2xi32>
    %56 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %57 = "stablehlo.broadcast_in_dim"(%56) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %58 = "stablehlo.compare"(%55, %57) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %59 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %61 = "stablehlo.select"(%58, %13, %60) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %62 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %63 = "stablehlo.broadcast_in_dim"(%62) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %64 = "stablehlo.compare"(%55, %63) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %65 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %67 = "stablehlo.select"(%64, %13, %66) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %68 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %69 = "stablehlo.broadcast_in_dim"(%68) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %70 = "stablehlo.compare"(%55, %69) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %71 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %72 = "stablehlo.broadcast_in_dim"(%71) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %73 = "stablehlo.select"(%70, %13, %72) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %74 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %75 = "stablehlo.broadcast_in_dim"(%74) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %76 = "stablehlo.compare"(%55, %75) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %77 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %79 = "stablehlo.select"(%76, %13, %78) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %80 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %81 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %82 = "stablehlo.compare"(%55, %81) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %83 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %85 = "stablehlo.select"(%82, %13, %84) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %86 = "stablehlo.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %87 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %88 = "stablehlo.compare"(%55, %87) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %89 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %90 = "stablehlo.broadcast_in_dim"(%89) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %91 = "stablehlo.select"(%88, %13, %90) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %92 = "stablehlo.constant"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
    %93 = "stablehlo.broadcast_in_dim"(%92) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %94 = "stablehlo.compare"(%55, %93) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %95 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %96 = "stablehlo.broadcast_in_dim"(%95) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %97 = "stablehlo.select"(%94, %13, %96) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %98 = "stablehlo.constant"() {value = dense<7> : tensor<i32>} : () -> tensor<i32>
    %99 = "stablehlo.broadcast_in_dim"(%98) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %100 = "stablehlo.compare"(%55, %99) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %101 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%101) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %103 = "stablehlo.select"(%100, %13, %102) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %104 = "stablehlo.constant"() {value = dense<8> : tensor<i32>} : () -> tensor<i32>
    %105 = "stablehlo.broadcast_in_dim"(%104) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1x2xi32>
    %106 = "stablehlo.compare"(%55, %105) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<1x2xi1>
    %107 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %108 = "stablehlo.broadcast_in_dim"(%107) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1x2xf32>
    %109 = "stablehlo.select"(%106, %13, %108) : (tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %110 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %111 = "stablehlo.pad"(%61, %110) {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 2, 1>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %112 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %113 = "stablehlo.pad"(%73, %112) {edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 2, 0>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %114 = "stablehlo.add"(%111, %113) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %115 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %116 = "stablehlo.pad"(%79, %115) {edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 1, 1>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %117 = "stablehlo.add"(%114, %116) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %118 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %119 = "stablehlo.pad"(%91, %118) {edge_padding_low = array<i64: 1, 1>, edge_padding_high = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %120 = "stablehlo.add"(%117, %119) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %121 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %122 = "stablehlo.pad"(%97, %121) {edge_padding_low = array<i64: 2, 0>, edge_padding_high = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %123 = "stablehlo.add"(%120, %122) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %124 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %125 = "stablehlo.pad"(%109, %124) {edge_padding_low = array<i64: 2, 1>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %126 = "stablehlo.add"(%123, %125) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %127 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %128 = "stablehlo.pad"(%67, %127) {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 2, 1>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %129 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %130 = "stablehlo.pad"(%85, %129) {edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 1, 1>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %131 = "stablehlo.add"(%128, %130) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %132 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %133 = "stablehlo.pad"(%103, %132) {edge_padding_low = array<i64: 2, 0>, edge_padding_high = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<3x3xf32>
    %134 = "stablehlo.add"(%131, %133) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %135 = "stablehlo.reshape"(%126) : (tensor<3x3xf32>) -> tensor<3x3x1xf32>
    %136 = "stablehlo.reshape"(%134) : (tensor<3x3xf32>) -> tensor<3x3x1xf32>
    %137 = "stablehlo.concatenate"(%135, %136) {dimension = 2 : i64} : (tensor<3x3x1xf32>, tensor<3x3x1xf32>) -> tensor<3x3x2xf32>
    %138 = "stablehlo.reshape"(%137) : (tensor<3x3x2xf32>) -> tensor<3x6xf32>
    %139 = "stablehlo.slice"(%138) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 3, 5>, strides = array<i64: 1, 1>} : (tensor<3x6xf32>) -> tensor<3x5xf32>
    "func.return"(%139) : (tensor<3x5xf32>) -> ()
  }
}
