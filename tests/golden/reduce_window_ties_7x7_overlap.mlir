module @reduce_window_ties_7x7_overlap attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce_window"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 1, 7>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x2xf32>
    %8 = "stablehlo.reduce_window"(%4, %0) ({
    ^bb0(%5: tensor<f32>, %6: tensor<f32>):
      %7 = "stablehlo.maximum"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 7, 1>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<2x2xf32>
    %9 = "stablehlo.constant"() {value = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
    %10 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %11 = "stablehlo.reshape"(%10) : (tensor<f32>) -> tensor<1x1xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf32>) -> tensor<2x2xf32>
    %13 = "stablehlo.multiply"(%12, %9) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %14 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %18 = "stablehlo.reduce_window"(%arg0, %14) ({
    ^bb0(%15: tensor<f32>, %16: tensor<f32>):
      %17 = "stablehlo.maximum"(%15, %16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%17) : (tensor<f32>) -> ()
    }) {window_dimensions = array<i64: 1, 7>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x2xf32>
    %19 = "stablehlo.constant"() {value = dense<6> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
    %20 = "stablehlo.slice"(%18) {start_indices = array<i64: 5, 0>, limit_indices = array<i64: 7, 2>, strides = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<2x2xf32>
    %21 = "stablehlo.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %22 = "stablehlo.compare"(%20, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %23 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %24 = "stablehlo.select"(%22, %23, %19) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %25 = "stablehlo.slice"(%18) {start_indices = array<i64: 4, 0>, limit_indices = array<i64: 6, 2>, strides = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<2x2xf32>
    %26 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %27 = "stablehlo.compare"(%25, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %28 = "stablehlo.broadcast_in_dim"(%26) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %29 = "stablehlo.select"(%27, %28, %24) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %30 = "stablehlo.slice"(%18) {start_indices = array<i64: 3, 0>, limit_indices = array<i64: 5, 2>, strides = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<2x2xf32>
    %31 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %32 = "stablehlo.compare"(%30, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %33 = "stablehlo.broadcast_in_dim"(%31) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %34 = "stablehlo.select"(%32, %33, %29) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %35 = "stablehlo.slice"(%18) {start_indices = array<i64: 2, 0>, limit_indices = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<2x2xf32>
    %36 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %37 = "stablehlo.compare"(%35, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %38 = "stablehlo.broadcast_in_dim"(%36) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %39 = "stablehlo.select"(%37, %38, %34) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %40 = "stablehlo.slice"(%18) {start_indices = array<i64: 1, 0>, limit_indices = array<i64: 3, 2>, strides = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<2x2xf32>
    %41 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %42 = "stablehlo.compare"(%40, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %43 = "stablehlo.broadcast_in_dim"(%41) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %44 = "stablehlo.select"(%42, %43, %39) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %45 = "stablehlo.slice"(%18) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<8x2xf32>) -> tensor<2x2xf32>
    %46 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %47 = "stablehlo.compare"(%45, %8) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
    %48 = "stablehlo.broadcast_in_dim"(%46) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %49 = "stablehlo.select"(%47, %48, %44) : (tensor<2x2xi1>, tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
    %50 = "stablehlo.optimization_barrier"(%49) : (tensor<2x2xi32>) -> tensor<2x2xi32>
    %51 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %52 = "stablehlo.broadcast_in_dim"(%51) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %53 = "stablehlo.compare"(%50, %52) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %54 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2xf32>
    %56 = "stablehlo.select"(%53, %13, %55) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %57 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %58 = "stablehlo.broadcast_in_dim"(%57) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %59 = "stablehlo.compare"(%50, %58) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %60 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %61 = "stablehlo.broadcast_in_dim"(%60) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2xf32>
    %62 = "stablehlo.select"(%59, %13, %61) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %63 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %64 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %65 = "stablehlo.compare"(%50, %64) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %66 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %67 = "stablehlo.broadcast_in_dim"(%66) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2xf32>
    %68 = "stablehlo.select"(%65, %13, %67) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %69 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %70 = "stablehlo.broadcast_in_dim"(%69) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %71 = "stablehlo.compare"(%50, %70) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %72 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %73 = "stablehlo.broadcast_in_dim"(%72) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2xf32>
    %74 = "stablehlo.select"(%71, %13, %73) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %75 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %76 = "stablehlo.broadcast_in_dim"(%75) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %77 = "stablehlo.compare"(%50, %76) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %78 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2xf32>
    %80 = "stablehlo.select"(%77, %13, %79) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %81 = "stablehlo.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %82 = "stablehlo.broadcast_in_dim"(%81) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %83 = "stablehlo.compare"(%50, %82) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %84 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %85 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2xf32>
    %86 = "stablehlo.select"(%83, %13, %85) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %87 = "stablehlo.constant"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
    %88 = "stablehlo.broadcast_in_dim"(%87) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<2x2xi32>
    %89 = "stablehlo.compare"(%50, %88) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %90 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %91 = "stablehlo.broadcast_in_dim"(%90) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2xf32>
    %92 = "stablehlo.select"(%89, %13, %91) : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %93 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %94 = "stablehlo.pad"(%56, %93) {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 6, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %95 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %96 = "stablehlo.pad"(%62, %95) {edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 5, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %97 = "stablehlo.add"(%94, %96) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %98 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %99 = "stablehlo.pad"(%68, %98) {edge_padding_low = array<i64: 2, 0>, edge_padding_high = array<i64: 4, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %100 = "stablehlo.add"(%97, %99) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %101 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %102 = "stablehlo.pad"(%74, %101) {edge_padding_low = array<i64: 3, 0>, edge_padding_high = array<i64: 3, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %103 = "stablehlo.add"(%100, %102) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %104 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %105 = "stablehlo.pad"(%80, %104) {edge_padding_low = array<i64: 4, 0>, edge_padding_high = array<i64: 2, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %106 = "stablehlo.add"(%103, %105) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %107 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %108 = "stablehlo.pad"(%86, %107) {edge_padding_low = array<i64: 5, 0>, edge_padding_high = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %109 = "stablehlo.add"(%106, %108) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %110 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %111 = "stablehlo.pad"(%92, %110) {edge_padding_low = array<i64: 6, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<8x2xf32>
    %112 = "stablehlo.add"(%109, %111) : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %113 = "stablehlo.constant"() {value = dense<6> : tensor<8x2xi32>} : () -> tensor<8x2xi32>
    %114 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 5>, limit_indices = array<i64: 8, 7>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %115 = "stablehlo.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %116 = "stablehlo.compare"(%114, %18) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xi1>
    %117 = "stablehlo.broadcast_in_dim"(%115) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %118 = "stablehlo.select"(%116, %117, %113) : (tensor<8x2xi1>, tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi32>
    %119 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 4>, limit_indices = array<i64: 8, 6>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %120 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %121 = "stablehlo.compare"(%119, %18) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xi1>
    %122 = "stablehlo.broadcast_in_dim"(%120) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %123 = "stablehlo.select"(%121, %122, %118) : (tensor<8x2xi1>, tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi32>
    %124 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 3>, limit_indices = array<i64: 8, 5>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %125 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %126 = "stablehlo.compare"(%124, %18) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xi1>
    %127 = "stablehlo.broadcast_in_dim"(%125) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %128 = "stablehlo.select"(%126, %127, %123) : (tensor<8x2xi1>, tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi32>
    %129 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 2>, limit_indices = array<i64: 8, 4>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %130 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %131 = "stablehlo.compare"(%129, %18) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xi1>
    %132 = "stablehlo.broadcast_in_dim"(%130) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %133 = "stablehlo.select"(%131, %132, %128) : (tensor<8x2xi1>, tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi32>
    %134 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 1>, limit_indices = array<i64: 8, 3>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %135 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %136 = "stablehlo.compare"(%134, %18) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xi1>
    %137 = "stablehlo.broadcast_in_dim"(%135) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %138 = "stablehlo.select"(%136, %137, %133) : (tensor<8x2xi1>, tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi32>
    %139 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 8, 2>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x2xf32>
    %140 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %141 = "stablehlo.compare"(%139, %18) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xi1>
    %142 = "stablehlo.broadcast_in_dim"(%140) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %143 = "stablehlo.select"(%141, %142, %138) : (tensor<8x2xi1>, tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi32>
    %144 = "stablehlo.optimization_barrier"(%143) : (tensor<8x2xi32>) -> tensor<8x2xi32>
    %145 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %146 = "stablehlo.broadcast_in_dim"(%145) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %147 = "stablehlo.compare"(%144, %146) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %148 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %149 = "stablehlo.broadcast_in_dim"(%148) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x2xf32>
    %150 = "stablehlo.select"(%147, %112, %149) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %151 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %152 = "stablehlo.broadcast_in_dim"(%151) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %153 = "stablehlo.compare"(%144, %152) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %154 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %155 = "stablehlo.broadcast_in_dim"(%154) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x2xf32>
    %156 = "stablehlo.select"(%153, %112, %155) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %157 = "stablehlo.constant"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
    %158 = "stablehlo.broadcast_in_dim"(%157) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %159 = "stablehlo.compare"(%144, %158) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %160 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %161 = "stablehlo.broadcast_in_dim"(%160) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x2xf32>
    %162 = "stablehlo.select"(%159, %112, %161) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %163 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %164 = "stablehlo.broadcast_in_dim"(%163) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %165 = "stablehlo.compare"(%144, %164) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %166 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %167 = "stablehlo.broadcast_in_dim"(%166) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x2xf32>
    %168 = "stablehlo.select"(%165, %112, %167) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %169 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %170 = "stablehlo.broadcast_in_dim"(%169) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %171 = "stablehlo.compare"(%144, %170) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %172 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %173 = "stablehlo.broadcast_in_dim"(%172) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x2xf32>
    %174 = "stablehlo.select"(%171, %112, %173) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %175 = "stablehlo.constant"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
    %176 = "stablehlo.broadcast_in_dim"(%175) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %177 = "stablehlo.compare"(%144, %176) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %178 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %179 = "stablehlo.broadcast_in_dim"(%178) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x2xf32>
    %180 = "stablehlo.select"(%177, %112, %179) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %181 = "stablehlo.constant"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
    %182 = "stablehlo.broadcast_in_dim"(%181) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<8x2xi32>
    %183 = "stablehlo.compare"(%144, %182) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<8x2xi32>, tensor<8x2xi32>) -> tensor<8x2xi1>
    %184 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %185 = "stablehlo.broadcast_in_dim"(%184) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x2xf32>
    %186 = "stablehlo.select"(%183, %112, %185) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    %187 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %188 = "stablehlo.pad"(%150, %187) {edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 6>, interior_padding = array<i64: 0, 0>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x8xf32>
    %189 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %190 = "stablehlo.pad"(%156, %189) {edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 0, 5>, interior_padding = array<i64: 0, 0>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x8xf32>
    %191 = "stablehlo.add"(%188, %190) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %192 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %193 = "stablehlo.pad"(%162, %192) {edge_padding_low = array<i64: 0, 2>, edge_padding_high = array<i64: 0, 4>, interior_padding = array<i64: 0, 0>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x8xf32>
    %194 = "stablehlo.add"(%191, %193) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %195 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %196 = "stablehlo.pad"(%168, %195) {edge_padding_low = array<i64: 0, 3>, edge_padding_high = array<i64: 0, 3>, interior_padding = array<i64: 0, 0>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x8xf32>
    %197 = "stablehlo.add"(%194, %196) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %198 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %199 = "stablehlo.pad"(%174, %198) {edge_padding_low = array<i64: 0, 4>, edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 0>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x8xf32>
    %200 = "stablehlo.add"(%197, %199) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %201 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %202 = "stablehlo.pad"(%180, %201) {edge_padding_low = array<i64: 0, 5>, edge_padding_high = array<i64: 0, 1>, interior_padding = array<i64: 0, 0>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x8xf32>
    %203 = "stablehlo.add"(%200, %202) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %204 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %205 = "stablehlo.pad"(%186, %204) {edge_padding_low = array<i64: 0, 6>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x8xf32>
    %206 = "stablehlo.add"(%203, %205) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    "func.return"(%206) : (tensor<8x8xf32>) -> ()
  }
}
