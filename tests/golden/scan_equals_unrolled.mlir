module @scan_equals_unrolled attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x2xf64>, %arg1: tensor<2xf64>, %arg2: tensor<3x2xf64>, %arg3: tensor<4x3x2xf64>) -> (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %1 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %3 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %4 = "stablehlo.broadcast_in_dim"(%3) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %38:7 = "stablehlo.while"(%0, %arg0, %arg1, %arg2, %arg3, %2, %4) ({
    ^bb0(%5: tensor<i32>, %6: tensor<2x2xf64>, %7: tensor<2xf64>, %8: tensor<3x2xf64>, %9: tensor<4x3x2xf64>, %10: tensor<4x3x2xf64>, %11: tensor<4x3x2xf64>):
      %12 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %13 = "stablehlo.compare"(%5, %12) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%13) : (tensor<i1>) -> ()
    }, {
    ^bb0(%14: tensor<i32>, %15: tensor<2x2xf64>, %16: tensor<2xf64>, %17: tensor<3x2xf64>, %18: tensor<4x3x2xf64>, %19: tensor<4x3x2xf64>, %20: tensor<4x3x2xf64>):
      %21 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %22 = "stablehlo.dynamic_slice"(%18, %14, %21, %21) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %23 = "stablehlo.reshape"(%22) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %24 = "stablehlo.dot_general"(%17, %15) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %25 = "stablehlo.add"(%24, %23) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %26 = "stablehlo.broadcast_in_dim"(%16) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
      %27 = "stablehlo.add"(%25, %26) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %28 = "stablehlo.tanh"(%27) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %29 = "stablehlo.multiply"(%28, %23) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %30 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %31 = "stablehlo.add"(%14, %30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %32 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %33 = "stablehlo.reshape"(%29) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %34 = "stablehlo.dynamic_update_slice"(%19, %33, %14, %32, %32) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %35 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %36 = "stablehlo.reshape"(%17) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %37 = "stablehlo.dynamic_update_slice"(%20, %36, %14, %35, %35) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      "stablehlo.return"(%31, %15, %16, %28, %18, %34, %37) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> ()
    }) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>)
    %39 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %40 = "stablehlo.reshape"(%39) : (tensor<f64>) -> tensor<1x1xf64>
    %41 = "stablehlo.broadcast_in_dim"(%40) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf64>) -> tensor<3x2xf64>
    %42 = "stablehlo.cosine"(%38#3) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %43 = "stablehlo.multiply"(%41, %42) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %44 = "stablehlo.reshape"(%39) : (tensor<f64>) -> tensor<1x1x1xf64>
    %45 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x1xf64>) -> tensor<4x3x2xf64>
    %46 = "stablehlo.sine"(%38#5) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %47 = "stablehlo.multiply"(%45, %46) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %48 = "stablehlo.negate"(%47) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %49 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x2xf64>} : () -> tensor<2x2xf64>
    %50 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf64>} : () -> tensor<2xf64>
    %51 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %52 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %53 = "stablehlo.broadcast_in_dim"(%52) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %54 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %55 = "stablehlo.broadcast_in_dim"(%54) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %56 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %57 = "stablehlo.broadcast_in_dim"(%56) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x2x2xf64>
    %58 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %59 = "stablehlo.broadcast_in_dim"(%58) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x2xf64>
    %137:13 = "stablehlo.while"(%51, %arg0, %arg1, %43, %49, %50, %arg3, %38#6, %48, %53, %55, %57, %59) ({
    ^bb0(%60: tensor<i32>, %61: tensor<2x2xf64>, %62: tensor<2xf64>, %63: tensor<3x2xf64>, %64: tensor<2x2xf64>, %65: tensor<2xf64>, %66: tensor<4x3x2xf64>, %67: tensor<4x3x2xf64>, %68: tensor<4x3x2xf64>, %69: tensor<4x3x2xf64>, %70: tensor<4x3x2xf64>, %71: tensor<4x2x2xf64>, %72: tensor<4x2xf64>):
      %73 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %74 = "stablehlo.compare"(%60, %73) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%74) : (tensor<i1>) -> ()
    }, {
    ^bb0(%75: tensor<i32>, %76: tensor<2x2xf64>, %77: tensor<2xf64>, %78: tensor<3x2xf64>, %79: tensor<2x2xf64>, %80: tensor<2xf64>, %81: tensor<4x3x2xf64>, %82: tensor<4x3x2xf64>, %83: tensor<4x3x2xf64>, %84: tensor<4x3x2xf64>, %85: tensor<4x3x2xf64>, %86: tensor<4x2x2xf64>, %87: tensor<4x2xf64>):
      %88 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %89 = "stablehlo.subtract"(%88, %75) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %90 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %91 = "stablehlo.dynamic_slice"(%81, %89, %90, %90) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %92 = "stablehlo.reshape"(%91) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %93 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %94 = "stablehlo.dynamic_slice"(%82, %89, %93, %93) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %95 = "stablehlo.reshape"(%94) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %96 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %97 = "stablehlo.dynamic_slice"(%83, %89, %96, %96) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %98 = "stablehlo.reshape"(%97) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %99 = "stablehlo.dot_general"(%95, %76) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %100 = "stablehlo.add"(%99, %92) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %101 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
      %102 = "stablehlo.add"(%100, %101) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %103 = "stablehlo.tanh"(%102) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %104 = "stablehlo.multiply"(%98, %92) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %105 = "stablehlo.multiply"(%98, %103) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %106 = "stablehlo.add"(%78, %104) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %107 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %108 = "stablehlo.subtract"(%107, %103) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %109 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %110 = "stablehlo.add"(%109, %103) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %111 = "stablehlo.multiply"(%110, %108) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %112 = "stablehlo.multiply"(%106, %111) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %113 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
      %117 = "stablehlo.reduce"(%112, %113) ({
      ^bb0(%114: tensor<f64>, %115: tensor<f64>):
        %116 = "stablehlo.add"(%114, %115) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%116) : (tensor<f64>) -> ()
      }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
      %118 = "stablehlo.add"(%105, %112) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %119 = "stablehlo.dot_general"(%112, %76) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %120 = "stablehlo.dot_general"(%95, %112) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %121 = "stablehlo.add"(%79, %120) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %122 = "stablehlo.add"(%80, %117) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %123 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %124 = "stablehlo.add"(%75, %123) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %125 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %126 = "stablehlo.reshape"(%118) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %127 = "stablehlo.dynamic_update_slice"(%84, %126, %89, %125, %125) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %128 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %129 = "stablehlo.reshape"(%78) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %130 = "stablehlo.dynamic_update_slice"(%85, %129, %89, %128, %128) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %131 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %132 = "stablehlo.reshape"(%79) : (tensor<2x2xf64>) -> tensor<1x2x2xf64>
      %133 = "stablehlo.dynamic_update_slice"(%86, %132, %89, %131, %131) : (tensor<4x2x2xf64>, tensor<1x2x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x2xf64>
      %134 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %135 = "stablehlo.reshape"(%80) : (tensor<2xf64>) -> tensor<1x2xf64>
      %136 = "stablehlo.dynamic_update_slice"(%87, %135, %89, %134) : (tensor<4x2xf64>, tensor<1x2xf64>, tensor<i32>, tensor<i32>) -> tensor<4x2xf64>
      "stablehlo.return"(%124, %76, %77, %119, %121, %122, %81, %82, %83, %127, %130, %133, %136) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>) -> ()
    }) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>) -> (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>)
    %138 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %139 = "stablehlo.reshape"(%138) : (tensor<f64>) -> tensor<1x1xf64>
    %140 = "stablehlo.broadcast_in_dim"(%139) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf64>) -> tensor<2x2xf64>
    %141 = "stablehlo.cosine"(%137#4) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %142 = "stablehlo.multiply"(%140, %141) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %143 = "stablehlo.reshape"(%138) : (tensor<f64>) -> tensor<1x1x1xf64>
    %144 = "stablehlo.broadcast_in_dim"(%143) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x1xf64>) -> tensor<4x3x2xf64>
    %145 = "stablehlo.multiply"(%144, %137#9) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %146 = "stablehlo.multiply"(%144, %137#9) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %147 = "stablehlo.add"(%145, %146) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %148 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %149 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf64>} : () -> tensor<2xf64>
    %150 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x2xf64>} : () -> tensor<2x2xf64>
    %151 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf64>} : () -> tensor<2xf64>
    %152 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %153 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %154 = "stablehlo.broadcast_in_dim"(%153) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %155 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %156 = "stablehlo.broadcast_in_dim"(%155) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %157 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %158 = "stablehlo.broadcast_in_dim"(%157) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %283:18 = "stablehlo.while"(%152, %arg0, %arg1, %148, %142, %149, %150, %151, %arg3, %38#6, %48, %137#10, %137#11, %137#12, %147, %154, %156, %158) ({
    ^bb0(%159: tensor<i32>, %160: tensor<2x2xf64>, %161: tensor<2xf64>, %162: tensor<3x2xf64>, %163: tensor<2x2xf64>, %164: tensor<2xf64>, %165: tensor<2x2xf64>, %166: tensor<2xf64>, %167: tensor<4x3x2xf64>, %168: tensor<4x3x2xf64>, %169: tensor<4x3x2xf64>, %170: tensor<4x3x2xf64>, %171: tensor<4x2x2xf64>, %172: tensor<4x2xf64>, %173: tensor<4x3x2xf64>, %174: tensor<4x3x2xf64>, %175: tensor<4x3x2xf64>, %176: tensor<4x3x2xf64>):
      %177 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %178 = "stablehlo.compare"(%159, %177) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%178) : (tensor<i1>) -> ()
    }, {
    ^bb0(%179: tensor<i32>, %180: tensor<2x2xf64>, %181: tensor<2xf64>, %182: tensor<3x2xf64>, %183: tensor<2x2xf64>, %184: tensor<2xf64>, %185: tensor<2x2xf64>, %186: tensor<2xf64>, %187: tensor<4x3x2xf64>, %188: tensor<4x3x2xf64>, %189: tensor<4x3x2xf64>, %190: tensor<4x3x2xf64>, %191: tensor<4x2x2xf64>, %192: tensor<4x2xf64>, %193: tensor<4x3x2xf64>, %194: tensor<4x3x2xf64>, %195: tensor<4x3x2xf64>, %196: tensor<4x3x2xf64>):
      %197 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %198 = "stablehlo.dynamic_slice"(%187, %179, %197, %197) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %199 = "stablehlo.reshape"(%198) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %200 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %201 = "stablehlo.dynamic_slice"(%188, %179, %200, %200) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %202 = "stablehlo.reshape"(%201) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %203 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %204 = "stablehlo.dynamic_slice"(%189, %179, %203, %203) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %205 = "stablehlo.reshape"(%204) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %206 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %207 = "stablehlo.dynamic_slice"(%190, %179, %206, %206) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %208 = "stablehlo.reshape"(%207) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %209 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %210 = "stablehlo.dynamic_slice"(%191, %179, %209, %209) {slice_sizes = array<i64: 1, 2, 2>} : (tensor<4x2x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf64>
      %211 = "stablehlo.reshape"(%210) : (tensor<1x2x2xf64>) -> tensor<2x2xf64>
      %212 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %213 = "stablehlo.dynamic_slice"(%192, %179, %212) {slice_sizes = array<i64: 1, 2>} : (tensor<4x2xf64>, tensor<i32>, tensor<i32>) -> tensor<1x2xf64>
      %214 = "stablehlo.reshape"(%213) : (tensor<1x2xf64>) -> tensor<2xf64>
      %215 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %216 = "stablehlo.dynamic_slice"(%193, %179, %215, %215) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %217 = "stablehlo.reshape"(%216) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %218 = "stablehlo.dot_general"(%202, %180) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %219 = "stablehlo.add"(%218, %199) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %220 = "stablehlo.broadcast_in_dim"(%181) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
      %221 = "stablehlo.add"(%219, %220) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %222 = "stablehlo.tanh"(%221) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %223 = "stablehlo.multiply"(%205, %199) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %224 = "stablehlo.add"(%208, %223) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %225 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %226 = "stablehlo.subtract"(%225, %222) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %227 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %228 = "stablehlo.add"(%227, %222) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %229 = "stablehlo.multiply"(%228, %226) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %230 = "stablehlo.multiply"(%224, %229) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %231 = "stablehlo.dot_general"(%183, %230) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
      %232 = "stablehlo.dot_general"(%202, %183) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %233 = "stablehlo.transpose"(%231) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
      %234 = "stablehlo.dot_general"(%182, %180) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %235 = "stablehlo.dot_general"(%230, %182) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %236 = "stablehlo.transpose"(%235) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
      %237 = "stablehlo.add"(%232, %234) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %238 = "stablehlo.add"(%237, %217) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %239 = "stablehlo.reshape"(%184) : (tensor<2xf64>) -> tensor<1x2xf64>
      %240 = "stablehlo.broadcast_in_dim"(%239) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x2xf64>) -> tensor<3x2xf64>
      %241 = "stablehlo.add"(%238, %240) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %242 = "stablehlo.multiply"(%241, %229) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %243 = "stablehlo.multiply"(%241, %224) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %244 = "stablehlo.multiply"(%243, %226) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %245 = "stablehlo.multiply"(%243, %228) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %246 = "stablehlo.negate"(%245) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %247 = "stablehlo.add"(%244, %246) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %248 = "stablehlo.multiply"(%217, %222) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %249 = "stablehlo.multiply"(%217, %205) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %250 = "stablehlo.add"(%247, %249) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %251 = "stablehlo.multiply"(%242, %199) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %252 = "stablehlo.multiply"(%242, %205) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %253 = "stablehlo.add"(%248, %251) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %254 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %255 = "stablehlo.subtract"(%254, %222) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %256 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %257 = "stablehlo.add"(%256, %222) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %258 = "stablehlo.multiply"(%257, %255) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %259 = "stablehlo.multiply"(%250, %258) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %260 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
      %264 = "stablehlo.reduce"(%259, %260) ({
      ^bb0(%261: tensor<f64>, %262: tensor<f64>):
        %263 = "stablehlo.add"(%261, %262) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%263) : (tensor<f64>) -> ()
      }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
      %265 = "stablehlo.add"(%252, %259) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %266 = "stablehlo.dot_general"(%259, %180) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %267 = "stablehlo.dot_general"(%202, %259) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %268 = "stablehlo.add"(%233, %266) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %269 = "stablehlo.add"(%236, %267) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %270 = "stablehlo.add"(%185, %269) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %271 = "stablehlo.add"(%186, %264) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %272 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %273 = "stablehlo.add"(%179, %272) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %274 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %275 = "stablehlo.reshape"(%265) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %276 = "stablehlo.dynamic_update_slice"(%194, %275, %179, %274, %274) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %277 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %278 = "stablehlo.reshape"(%268) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %279 = "stablehlo.dynamic_update_slice"(%195, %278, %179, %277, %277) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %280 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %281 = "stablehlo.reshape"(%253) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %282 = "stablehlo.dynamic_update_slice"(%196, %281, %179, %280, %280) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      "stablehlo.return"(%273, %180, %181, %242, %183, %184, %270, %271, %187, %188, %189, %190, %191, %192, %193, %276, %279, %282) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> ()
    }) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>)
    %284 = "stablehlo.negate"(%283#17) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %285 = "stablehlo.multiply"(%284, %45) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %286 = "stablehlo.cosine"(%38#5) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %287 = "stablehlo.multiply"(%285, %286) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %288 = "stablehlo.multiply"(%283#3, %41) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %289 = "stablehlo.sine"(%38#3) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %290 = "stablehlo.multiply"(%288, %289) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %291 = "stablehlo.negate"(%290) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %292 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x2xf64>} : () -> tensor<2x2xf64>
    %293 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf64>} : () -> tensor<2xf64>
    %294 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %295 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %296 = "stablehlo.broadcast_in_dim"(%295) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %365:11 = "stablehlo.while"(%294, %arg0, %arg1, %291, %292, %293, %arg3, %38#6, %287, %283#16, %296) ({
    ^bb0(%297: tensor<i32>, %298: tensor<2x2xf64>, %299: tensor<2xf64>, %300: tensor<3x2xf64>, %301: tensor<2x2xf64>, %302: tensor<2xf64>, %303: tensor<4x3x2xf64>, %304: tensor<4x3x2xf64>, %305: tensor<4x3x2xf64>, %306: tensor<4x3x2xf64>, %307: tensor<4x3x2xf64>):
      %308 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %309 = "stablehlo.compare"(%297, %308) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%309) : (tensor<i1>) -> ()
    }, {
    ^bb0(%310: tensor<i32>, %311: tensor<2x2xf64>, %312: tensor<2xf64>, %313: tensor<3x2xf64>, %314: tensor<2x2xf64>, %315: tensor<2xf64>, %316: tensor<4x3x2xf64>, %317: tensor<4x3x2xf64>, %318: tensor<4x3x2xf64>, %319: tensor<4x3x2xf64>, %320: tensor<4x3x2xf64>):
      %321 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %322 = "stablehlo.subtract"(%321, %310) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %323 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %324 = "stablehlo.dynamic_slice"(%316, %322, %323, %323) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %325 = "stablehlo.reshape"(%324) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %326 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %327 = "stablehlo.dynamic_slice"(%317, %322, %326, %326) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %328 = "stablehlo.reshape"(%327) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %329 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %330 = "stablehlo.dynamic_slice"(%318, %322, %329, %329) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %331 = "stablehlo.reshape"(%330) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %332 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %333 = "stablehlo.dynamic_slice"(%319, %322, %332, %332) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %334 = "stablehlo.reshape"(%333) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %335 = "stablehlo.dot_general"(%328, %311) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %336 = "stablehlo.add"(%335, %325) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %337 = "stablehlo.broadcast_in_dim"(%312) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
      %338 = "stablehlo.add"(%336, %337) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %339 = "stablehlo.tanh"(%338) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %340 = "stablehlo.multiply"(%331, %325) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %341 = "stablehlo.multiply"(%331, %339) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %342 = "stablehlo.add"(%313, %340) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %343 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %344 = "stablehlo.subtract"(%343, %339) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %345 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %346 = "stablehlo.add"(%345, %339) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %347 = "stablehlo.multiply"(%346, %344) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %348 = "stablehlo.multiply"(%342, %347) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %349 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
      %353 = "stablehlo.reduce"(%348, %349) ({
      ^bb0(%350: tensor<f64>, %351: tensor<f64>):
        %352 = "stablehlo.add"(%350, %351) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%352) : (tensor<f64>) -> ()
      }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
      %354 = "stablehlo.add"(%341, %348) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %355 = "stablehlo.dot_general"(%348, %311) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %356 = "stablehlo.dot_general"(%328, %348) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %357 = "stablehlo.add"(%355, %334) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %358 = "stablehlo.add"(%314, %356) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %359 = "stablehlo.add"(%315, %353) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %360 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %361 = "stablehlo.add"(%310, %360) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %362 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %363 = "stablehlo.reshape"(%354) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %364 = "stablehlo.dynamic_update_slice"(%320, %363, %322, %362, %362) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      "stablehlo.return"(%361, %311, %312, %357, %358, %359, %316, %317, %318, %319, %364) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> ()
    }) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>)
    %366 = "stablehlo.add"(%283#6, %365#4) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %367 = "stablehlo.add"(%283#7, %365#5) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %368 = "stablehlo.add"(%283#15, %365#10) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %369 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 0, 0, 0>, limit_indices = array<i64: 1, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %370 = "stablehlo.reshape"(%369) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %371 = "stablehlo.dot_general"(%arg2, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %372 = "stablehlo.add"(%371, %370) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %373 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %374 = "stablehlo.add"(%372, %373) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %375 = "stablehlo.tanh"(%374) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %376 = "stablehlo.multiply"(%375, %370) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %377 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 1, 0, 0>, limit_indices = array<i64: 2, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %378 = "stablehlo.reshape"(%377) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %379 = "stablehlo.dot_general"(%375, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %380 = "stablehlo.add"(%379, %378) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %381 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %382 = "stablehlo.add"(%380, %381) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %383 = "stablehlo.tanh"(%382) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %384 = "stablehlo.multiply"(%383, %378) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %385 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 2, 0, 0>, limit_indices = array<i64: 3, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %386 = "stablehlo.reshape"(%385) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %387 = "stablehlo.dot_general"(%383, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %388 = "stablehlo.add"(%387, %386) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %389 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %390 = "stablehlo.add"(%388, %389) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %391 = "stablehlo.tanh"(%390) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %392 = "stablehlo.multiply"(%391, %386) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %393 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 3, 0, 0>, limit_indices = array<i64: 4, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %394 = "stablehlo.reshape"(%393) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %395 = "stablehlo.dot_general"(%391, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %396 = "stablehlo.add"(%395, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %397 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %398 = "stablehlo.add"(%396, %397) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %399 = "stablehlo.tanh"(%398) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %400 = "stablehlo.multiply"(%399, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %401 = "stablehlo.reshape"(%376) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %402 = "stablehlo.reshape"(%384) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %403 = "stablehlo.reshape"(%392) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %404 = "stablehlo.reshape"(%400) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %405 = "stablehlo.concatenate"(%401, %402, %403, %404) {dimension = 0 : i64} : (tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>) -> tensor<4x3x2xf64>
    %406 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %407 = "stablehlo.reshape"(%406) : (tensor<f64>) -> tensor<1x1xf64>
    %408 = "stablehlo.broadcast_in_dim"(%407) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf64>) -> tensor<3x2xf64>
    %409 = "stablehlo.cosine"(%399) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %410 = "stablehlo.multiply"(%408, %409) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %411 = "stablehlo.reshape"(%406) : (tensor<f64>) -> tensor<1x1x1xf64>
    %412 = "stablehlo.broadcast_in_dim"(%411) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x1xf64>) -> tensor<4x3x2xf64>
    %413 = "stablehlo.sine"(%405) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %414 = "stablehlo.multiply"(%412, %413) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %415 = "stablehlo.negate"(%414) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %416 = "stablehlo.slice"(%415) {start_indices = array<i64: 0, 0, 0>, limit_indices = array<i64: 1, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %417 = "stablehlo.slice"(%415) {start_indices = array<i64: 1, 0, 0>, limit_indices = array<i64: 2, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %418 = "stablehlo.slice"(%415) {start_indices = array<i64: 2, 0, 0>, limit_indices = array<i64: 3, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %419 = "stablehlo.slice"(%415) {start_indices = array<i64: 3, 0, 0>, limit_indices = array<i64: 4, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %420 = "stablehlo.reshape"(%419) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %421 = "stablehlo.reshape"(%418) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %422 = "stablehlo.reshape"(%417) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %423 = "stablehlo.reshape"(%416) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %424 = "stablehlo.multiply"(%420, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %425 = "stablehlo.multiply"(%420, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %426 = "stablehlo.add"(%410, %424) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %427 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %428 = "stablehlo.subtract"(%427, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %429 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %430 = "stablehlo.add"(%429, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %431 = "stablehlo.multiply"(%430, %428) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %432 = "stablehlo.multiply"(%426, %431) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %433 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %437 = "stablehlo.reduce"(%432, %433) ({
    ^bb0(%434: tensor<f64>, %435: tensor<f64>):
      %436 = "stablehlo.add"(%434, %435) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%436) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %438 = "stablehlo.add"(%425, %432) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %439 = "stablehlo.dot_general"(%432, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %440 = "stablehlo.dot_general"(%391, %432) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %441 = "stablehlo.reshape"(%438) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %442 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %443 = "stablehlo.pad"(%441, %442) {edge_padding_low = array<i64: 3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %444 = "stablehlo.multiply"(%421, %386) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %445 = "stablehlo.multiply"(%421, %391) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %446 = "stablehlo.add"(%439, %444) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %447 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %448 = "stablehlo.subtract"(%447, %391) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %449 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %450 = "stablehlo.add"(%449, %391) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %451 = "stablehlo.multiply"(%450, %448) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %452 = "stablehlo.multiply"(%446, %451) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %453 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %457 = "stablehlo.reduce"(%452, %453) ({
    ^bb0(%454: tensor<f64>, %455: tensor<f64>):
      %456 = "stablehlo.add"(%454, %455) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%456) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %458 = "stablehlo.add"(%437, %457) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %459 = "stablehlo.add"(%445, %452) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %460 = "stablehlo.dot_general"(%452, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %461 = "stablehlo.dot_general"(%383, %452) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %462 = "stablehlo.add"(%440, %461) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %463 = "stablehlo.reshape"(%459) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %464 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %465 = "stablehlo.pad"(%463, %464) {edge_padding_low = array<i64: 2, 0, 0>, edge_padding_high = array<i64: 1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %466 = "stablehlo.add"(%443, %465) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %467 = "stablehlo.multiply"(%422, %378) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %468 = "stablehlo.multiply"(%422, %383) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %469 = "stablehlo.add"(%460, %467) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %470 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %471 = "stablehlo.subtract"(%470, %383) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %472 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %473 = "stablehlo.add"(%472, %383) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %474 = "stablehlo.multiply"(%473, %471) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %475 = "stablehlo.multiply"(%469, %474) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %476 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %480 = "stablehlo.reduce"(%475, %476) ({
    ^bb0(%477: tensor<f64>, %478: tensor<f64>):
      %479 = "stablehlo.add"(%477, %478) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%479) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %481 = "stablehlo.add"(%458, %480) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %482 = "stablehlo.add"(%468, %475) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %483 = "stablehlo.dot_general"(%475, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %484 = "stablehlo.dot_general"(%375, %475) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %485 = "stablehlo.add"(%462, %484) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %486 = "stablehlo.reshape"(%482) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %487 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %488 = "stablehlo.pad"(%486, %487) {edge_padding_low = array<i64: 1, 0, 0>, edge_padding_high = array<i64: 2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %489 = "stablehlo.add"(%466, %488) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %490 = "stablehlo.multiply"(%423, %370) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %491 = "stablehlo.multiply"(%423, %375) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %492 = "stablehlo.add"(%483, %490) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %493 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %494 = "stablehlo.subtract"(%493, %375) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %495 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %496 = "stablehlo.add"(%495, %375) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %497 = "stablehlo.multiply"(%496, %494) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %498 = "stablehlo.multiply"(%492, %497) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %499 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %503 = "stablehlo.reduce"(%498, %499) ({
    ^bb0(%500: tensor<f64>, %501: tensor<f64>):
      %502 = "stablehlo.add"(%500, %501) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%502) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %504 = "stablehlo.add"(%481, %503) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %505 = "stablehlo.add"(%491, %498) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %506 = "stablehlo.dot_general"(%498, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %507 = "stablehlo.dot_general"(%arg2, %498) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %508 = "stablehlo.add"(%485, %507) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %509 = "stablehlo.reshape"(%505) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %510 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %511 = "stablehlo.pad"(%509, %510) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %512 = "stablehlo.add"(%489, %511) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %513 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %514 = "stablehlo.reshape"(%513) : (tensor<f64>) -> tensor<1x1xf64>
    %515 = "stablehlo.broadcast_in_dim"(%514) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf64>) -> tensor<2x2xf64>
    %516 = "stablehlo.cosine"(%508) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %517 = "stablehlo.multiply"(%515, %516) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %518 = "stablehlo.reshape"(%513) : (tensor<f64>) -> tensor<1x1x1xf64>
    %519 = "stablehlo.broadcast_in_dim"(%518) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x1xf64>) -> tensor<4x3x2xf64>
    %520 = "stablehlo.multiply"(%519, %512) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %521 = "stablehlo.multiply"(%519, %512) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %522 = "stablehlo.add"(%520, %521) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %523 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %524 = "stablehlo.pad"(%522, %523) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: -3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %525 = "stablehlo.reshape"(%524) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %526 = "stablehlo.dot_general"(%517, %498) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %527 = "stablehlo.dot_general"(%arg2, %517) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %528 = "stablehlo.transpose"(%526) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %529 = "stablehlo.add"(%527, %525) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %530 = "stablehlo.multiply"(%529, %497) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %531 = "stablehlo.multiply"(%529, %492) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %532 = "stablehlo.multiply"(%531, %494) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %533 = "stablehlo.multiply"(%531, %496) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %534 = "stablehlo.negate"(%533) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %535 = "stablehlo.add"(%532, %534) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %536 = "stablehlo.multiply"(%525, %375) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %537 = "stablehlo.multiply"(%525, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %538 = "stablehlo.add"(%535, %537) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %539 = "stablehlo.multiply"(%530, %370) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %540 = "stablehlo.multiply"(%530, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %541 = "stablehlo.add"(%536, %539) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %542 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %543 = "stablehlo.pad"(%522, %542) {edge_padding_low = array<i64: -1, 0, 0>, edge_padding_high = array<i64: -2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %544 = "stablehlo.reshape"(%543) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %545 = "stablehlo.dot_general"(%517, %475) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %546 = "stablehlo.dot_general"(%375, %517) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %547 = "stablehlo.transpose"(%545) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %548 = "stablehlo.add"(%538, %547) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %549 = "stablehlo.dot_general"(%530, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %550 = "stablehlo.dot_general"(%475, %530) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %551 = "stablehlo.transpose"(%550) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %552 = "stablehlo.add"(%546, %549) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %553 = "stablehlo.add"(%552, %544) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %554 = "stablehlo.multiply"(%553, %474) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %555 = "stablehlo.multiply"(%553, %469) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %556 = "stablehlo.multiply"(%555, %471) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %557 = "stablehlo.multiply"(%555, %473) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %558 = "stablehlo.negate"(%557) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %559 = "stablehlo.add"(%556, %558) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %560 = "stablehlo.multiply"(%544, %383) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %561 = "stablehlo.multiply"(%544, %422) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %562 = "stablehlo.add"(%559, %561) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %563 = "stablehlo.multiply"(%554, %378) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %564 = "stablehlo.multiply"(%554, %422) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %565 = "stablehlo.add"(%560, %563) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %566 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %567 = "stablehlo.pad"(%522, %566) {edge_padding_low = array<i64: -2, 0, 0>, edge_padding_high = array<i64: -1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %568 = "stablehlo.reshape"(%567) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %569 = "stablehlo.dot_general"(%517, %452) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %570 = "stablehlo.dot_general"(%383, %517) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %571 = "stablehlo.transpose"(%569) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %572 = "stablehlo.add"(%562, %571) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %573 = "stablehlo.dot_general"(%554, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %574 = "stablehlo.dot_general"(%452, %554) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %575 = "stablehlo.transpose"(%574) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %576 = "stablehlo.add"(%570, %573) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %577 = "stablehlo.add"(%551, %575) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %578 = "stablehlo.add"(%576, %568) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %579 = "stablehlo.multiply"(%578, %451) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %580 = "stablehlo.multiply"(%578, %446) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %581 = "stablehlo.multiply"(%580, %448) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %582 = "stablehlo.multiply"(%580, %450) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %583 = "stablehlo.negate"(%582) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %584 = "stablehlo.add"(%581, %583) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %585 = "stablehlo.multiply"(%568, %391) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %586 = "stablehlo.multiply"(%568, %421) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %587 = "stablehlo.add"(%584, %586) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %588 = "stablehlo.multiply"(%579, %386) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %589 = "stablehlo.multiply"(%579, %421) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %590 = "stablehlo.add"(%585, %588) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %591 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %592 = "stablehlo.pad"(%522, %591) {edge_padding_low = array<i64: -3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %593 = "stablehlo.reshape"(%592) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %594 = "stablehlo.dot_general"(%517, %432) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %595 = "stablehlo.dot_general"(%391, %517) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %596 = "stablehlo.transpose"(%594) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %597 = "stablehlo.add"(%587, %596) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %598 = "stablehlo.dot_general"(%579, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %599 = "stablehlo.dot_general"(%432, %579) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %600 = "stablehlo.transpose"(%599) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %601 = "stablehlo.add"(%595, %598) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %602 = "stablehlo.add"(%577, %600) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %603 = "stablehlo.add"(%601, %593) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %604 = "stablehlo.multiply"(%603, %431) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %605 = "stablehlo.multiply"(%603, %426) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %606 = "stablehlo.multiply"(%605, %428) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %607 = "stablehlo.multiply"(%605, %430) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %608 = "stablehlo.negate"(%607) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %609 = "stablehlo.add"(%606, %608) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %610 = "stablehlo.multiply"(%593, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %611 = "stablehlo.multiply"(%593, %420) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %612 = "stablehlo.add"(%609, %611) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %613 = "stablehlo.multiply"(%604, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %614 = "stablehlo.multiply"(%604, %420) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %615 = "stablehlo.add"(%610, %613) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %616 = "stablehlo.reshape"(%541) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %617 = "stablehlo.reshape"(%565) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %618 = "stablehlo.reshape"(%590) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %619 = "stablehlo.reshape"(%615) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %620 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %621 = "stablehlo.pad"(%619, %620) {edge_padding_low = array<i64: 3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %622 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %623 = "stablehlo.pad"(%618, %622) {edge_padding_low = array<i64: 2, 0, 0>, edge_padding_high = array<i64: 1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %624 = "stablehlo.add"(%621, %623) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %625 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %626 = "stablehlo.pad"(%617, %625) {edge_padding_low = array<i64: 1, 0, 0>, edge_padding_high = array<i64: 2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %627 = "stablehlo.add"(%624, %626) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %628 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %629 = "stablehlo.pad"(%616, %628) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %630 = "stablehlo.add"(%627, %629) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %631 = "stablehlo.negate"(%630) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %632 = "stablehlo.multiply"(%631, %412) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %633 = "stablehlo.cosine"(%405) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %634 = "stablehlo.multiply"(%632, %633) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %635 = "stablehlo.multiply"(%604, %408) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %636 = "stablehlo.sine"(%399) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %637 = "stablehlo.multiply"(%635, %636) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %638 = "stablehlo.negate"(%637) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %639 = "stablehlo.add"(%612, %638) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %640 = "stablehlo.slice"(%634) {start_indices = array<i64: 0, 0, 0>, limit_indices = array<i64: 1, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %641 = "stablehlo.slice"(%634) {start_indices = array<i64: 1, 0, 0>, limit_indices = array<i64: 2, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %642 = "stablehlo.slice"(%634) {start_indices = array<i64: 2, 0, 0>, limit_indices = array<i64: 3, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %643 = "stablehlo.slice"(%634) {start_indices = array<i64: 3, 0, 0>, limit_indices = array<i64: 4, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %644 = "stablehlo.reshape"(%643) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %645 = "stablehlo.reshape"(%642) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %646 = "stablehlo.reshape"(%641) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %647 = "stablehlo.reshape"(%640) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %648 = "stablehlo.multiply"(%644, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %649 = "stablehlo.multiply"(%644, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %650 = "stablehlo.add"(%639, %648) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %651 = "stablehlo.add"(%614, %649) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %652 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %653 = "stablehlo.subtract"(%652, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %654 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %655 = "stablehlo.add"(%654, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %656 = "stablehlo.multiply"(%655, %653) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %657 = "stablehlo.multiply"(%650, %656) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %658 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %662 = "stablehlo.reduce"(%657, %658) ({
    ^bb0(%659: tensor<f64>, %660: tensor<f64>):
      %661 = "stablehlo.add"(%659, %660) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%661) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %663 = "stablehlo.add"(%651, %657) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %664 = "stablehlo.dot_general"(%657, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %665 = "stablehlo.dot_general"(%391, %657) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %666 = "stablehlo.add"(%597, %664) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %667 = "stablehlo.add"(%602, %665) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %668 = "stablehlo.reshape"(%663) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %669 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %670 = "stablehlo.pad"(%668, %669) {edge_padding_low = array<i64: 3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %671 = "stablehlo.multiply"(%645, %386) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %672 = "stablehlo.multiply"(%645, %391) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %673 = "stablehlo.add"(%666, %671) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %674 = "stablehlo.add"(%589, %672) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %675 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %676 = "stablehlo.subtract"(%675, %391) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %677 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %678 = "stablehlo.add"(%677, %391) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %679 = "stablehlo.multiply"(%678, %676) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %680 = "stablehlo.multiply"(%673, %679) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %681 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %685 = "stablehlo.reduce"(%680, %681) ({
    ^bb0(%682: tensor<f64>, %683: tensor<f64>):
      %684 = "stablehlo.add"(%682, %683) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%684) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %686 = "stablehlo.add"(%662, %685) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %687 = "stablehlo.add"(%674, %680) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %688 = "stablehlo.dot_general"(%680, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %689 = "stablehlo.dot_general"(%383, %680) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %690 = "stablehlo.add"(%572, %688) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %691 = "stablehlo.add"(%667, %689) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %692 = "stablehlo.reshape"(%687) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %693 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %694 = "stablehlo.pad"(%692, %693) {edge_padding_low = array<i64: 2, 0, 0>, edge_padding_high = array<i64: 1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %695 = "stablehlo.add"(%670, %694) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %696 = "stablehlo.multiply"(%646, %378) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %697 = "stablehlo.multiply"(%646, %383) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %698 = "stablehlo.add"(%690, %696) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %699 = "stablehlo.add"(%564, %697) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %700 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %701 = "stablehlo.subtract"(%700, %383) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %702 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %703 = "stablehlo.add"(%702, %383) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %704 = "stablehlo.multiply"(%703, %701) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %705 = "stablehlo.multiply"(%698, %704) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %706 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %710 = "stablehlo.reduce"(%705, %706) ({
    ^bb0(%707: tensor<f64>, %708: tensor<f64>):
      %709 = "stablehlo.add"(%707, %708) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%709) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %711 = "stablehlo.add"(%686, %710) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %712 = "stablehlo.add"(%699, %705) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %713 = "stablehlo.dot_general"(%705, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %714 = "stablehlo.dot_general"(%375, %705) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %715 = "stablehlo.add"(%548, %713) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %716 = "stablehlo.add"(%691, %714) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %717 = "stablehlo.reshape"(%712) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %718 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %719 = "stablehlo.pad"(%717, %718) {edge_padding_low = array<i64: 1, 0, 0>, edge_padding_high = array<i64: 2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %720 = "stablehlo.add"(%695, %719) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %721 = "stablehlo.multiply"(%647, %370) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %722 = "stablehlo.multiply"(%647, %375) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %723 = "stablehlo.add"(%715, %721) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %724 = "stablehlo.add"(%540, %722) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %725 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %726 = "stablehlo.subtract"(%725, %375) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %727 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %728 = "stablehlo.add"(%727, %375) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %729 = "stablehlo.multiply"(%728, %726) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %730 = "stablehlo.multiply"(%723, %729) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %731 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %735 = "stablehlo.reduce"(%730, %731) ({
    ^bb0(%732: tensor<f64>, %733: tensor<f64>):
      %734 = "stablehlo.add"(%732, %733) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%734) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %736 = "stablehlo.add"(%711, %735) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %737 = "stablehlo.add"(%724, %730) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %738 = "stablehlo.dot_general"(%730, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %739 = "stablehlo.dot_general"(%arg2, %730) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %740 = "stablehlo.add"(%528, %738) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %741 = "stablehlo.add"(%716, %739) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %742 = "stablehlo.reshape"(%737) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %743 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %744 = "stablehlo.pad"(%742, %743) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %745 = "stablehlo.add"(%720, %744) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %746 = "stablehlo.subtract"(%38#3, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %747 = "stablehlo.abs"(%746) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %748 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %752 = "stablehlo.reduce"(%747, %748) ({
    ^bb0(%749: tensor<f64>, %750: tensor<f64>):
      %751 = "stablehlo.maximum"(%749, %750) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%751) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %753 = "stablehlo.subtract"(%38#5, %405) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %754 = "stablehlo.abs"(%753) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %755 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %759 = "stablehlo.reduce"(%754, %755) ({
    ^bb0(%756: tensor<f64>, %757: tensor<f64>):
      %758 = "stablehlo.maximum"(%756, %757) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%758) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<f64>
    %760 = "stablehlo.subtract"(%137#4, %508) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %761 = "stablehlo.abs"(%760) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %762 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %766 = "stablehlo.reduce"(%761, %762) ({
    ^bb0(%763: tensor<f64>, %764: tensor<f64>):
      %765 = "stablehlo.maximum"(%763, %764) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%765) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    %767 = "stablehlo.subtract"(%137#5, %504) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %768 = "stablehlo.abs"(%767) : (tensor<2xf64>) -> tensor<2xf64>
    %769 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %773 = "stablehlo.reduce"(%768, %769) ({
    ^bb0(%770: tensor<f64>, %771: tensor<f64>):
      %772 = "stablehlo.maximum"(%770, %771) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%772) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %774 = "stablehlo.subtract"(%137#3, %506) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %775 = "stablehlo.abs"(%774) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %776 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %780 = "stablehlo.reduce"(%775, %776) ({
    ^bb0(%777: tensor<f64>, %778: tensor<f64>):
      %779 = "stablehlo.maximum"(%777, %778) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%779) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %781 = "stablehlo.subtract"(%137#9, %512) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %782 = "stablehlo.abs"(%781) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %783 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %787 = "stablehlo.reduce"(%782, %783) ({
    ^bb0(%784: tensor<f64>, %785: tensor<f64>):
      %786 = "stablehlo.maximum"(%784, %785) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%786) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<f64>
    %788 = "stablehlo.subtract"(%366, %741) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %789 = "stablehlo.abs"(%788) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %790 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %794 = "stablehlo.reduce"(%789, %790) ({
    ^bb0(%791: tensor<f64>, %792: tensor<f64>):
      %793 = "stablehlo.maximum"(%791, %792) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%793) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    %795 = "stablehlo.subtract"(%367, %736) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %796 = "stablehlo.abs"(%795) : (tensor<2xf64>) -> tensor<2xf64>
    %797 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %801 = "stablehlo.reduce"(%796, %797) ({
    ^bb0(%798: tensor<f64>, %799: tensor<f64>):
      %800 = "stablehlo.maximum"(%798, %799) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%800) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %802 = "stablehlo.subtract"(%365#3, %740) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %803 = "stablehlo.abs"(%802) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %804 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %808 = "stablehlo.reduce"(%803, %804) ({
    ^bb0(%805: tensor<f64>, %806: tensor<f64>):
      %807 = "stablehlo.maximum"(%805, %806) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%807) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %809 = "stablehlo.subtract"(%368, %745) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %810 = "stablehlo.abs"(%809) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %811 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %815 = "stablehlo.reduce"(%810, %811) ({
    ^bb0(%812: tensor<f64>, %813: tensor<f64>):
      %814 = "stablehlo.maximum"(%812, %813) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%814) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<f64>
    "func.return"(%752, %759, %766, %773, %780, %787, %794, %801, %808, %815) : (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> ()
  }
}
