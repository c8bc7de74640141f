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
    %141:13 = "stablehlo.while"(%51, %arg0, %arg1, %43, %49, %50, %arg3, %38#6, %48, %53, %55, %57, %59) ({
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
      %118 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
      %119 = "stablehlo.is_finite"(%105) : (tensor<3x2xf64>) -> tensor<3x2xi1>
      %120 = "stablehlo.broadcast_in_dim"(%118) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
      %121 = "stablehlo.select"(%119, %105, %120) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %122 = "stablehlo.add"(%121, %112) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %123 = "stablehlo.dot_general"(%112, %76) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %124 = "stablehlo.dot_general"(%95, %112) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %125 = "stablehlo.add"(%79, %124) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %126 = "stablehlo.add"(%80, %117) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %127 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %128 = "stablehlo.add"(%75, %127) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %129 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %130 = "stablehlo.reshape"(%122) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %131 = "stablehlo.dynamic_update_slice"(%84, %130, %89, %129, %129) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %132 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %133 = "stablehlo.reshape"(%78) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %134 = "stablehlo.dynamic_update_slice"(%85, %133, %89, %132, %132) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %135 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %136 = "stablehlo.reshape"(%79) : (tensor<2x2xf64>) -> tensor<1x2x2xf64>
      %137 = "stablehlo.dynamic_update_slice"(%86, %136, %89, %135, %135) : (tensor<4x2x2xf64>, tensor<1x2x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x2x2xf64>
      %138 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %139 = "stablehlo.reshape"(%80) : (tensor<2xf64>) -> tensor<1x2xf64>
      %140 = "stablehlo.dynamic_update_slice"(%87, %139, %89, %138) : (tensor<4x2xf64>, tensor<1x2xf64>, tensor<i32>, tensor<i32>) -> tensor<4x2xf64>
      "stablehlo.return"(%128, %76, %77, %123, %125, %126, %81, %82, %83, %131, %134, %137, %140) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>) -> ()
    }) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>) -> (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>)
    %142 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %143 = "stablehlo.reshape"(%142) : (tensor<f64>) -> tensor<1x1xf64>
    %144 = "stablehlo.broadcast_in_dim"(%143) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf64>) -> tensor<2x2xf64>
    %145 = "stablehlo.cosine"(%141#4) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %146 = "stablehlo.multiply"(%144, %145) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %147 = "stablehlo.reshape"(%142) : (tensor<f64>) -> tensor<1x1x1xf64>
    %148 = "stablehlo.broadcast_in_dim"(%147) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x1xf64>) -> tensor<4x3x2xf64>
    %149 = "stablehlo.multiply"(%148, %141#9) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %150 = "stablehlo.multiply"(%148, %141#9) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %151 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %152 = "stablehlo.is_finite"(%149) : (tensor<4x3x2xf64>) -> tensor<4x3x2xi1>
    %153 = "stablehlo.broadcast_in_dim"(%151) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %154 = "stablehlo.select"(%152, %149, %153) : (tensor<4x3x2xi1>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %155 = "stablehlo.add"(%154, %150) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %156 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %157 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf64>} : () -> tensor<2xf64>
    %158 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x2xf64>} : () -> tensor<2x2xf64>
    %159 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf64>} : () -> tensor<2xf64>
    %160 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %161 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %162 = "stablehlo.broadcast_in_dim"(%161) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %163 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %164 = "stablehlo.broadcast_in_dim"(%163) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %165 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %166 = "stablehlo.broadcast_in_dim"(%165) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %303:18 = "stablehlo.while"(%160, %arg0, %arg1, %156, %146, %157, %158, %159, %arg3, %38#6, %48, %141#10, %141#11, %141#12, %155, %162, %164, %166) ({
    ^bb0(%167: tensor<i32>, %168: tensor<2x2xf64>, %169: tensor<2xf64>, %170: tensor<3x2xf64>, %171: tensor<2x2xf64>, %172: tensor<2xf64>, %173: tensor<2x2xf64>, %174: tensor<2xf64>, %175: tensor<4x3x2xf64>, %176: tensor<4x3x2xf64>, %177: tensor<4x3x2xf64>, %178: tensor<4x3x2xf64>, %179: tensor<4x2x2xf64>, %180: tensor<4x2xf64>, %181: tensor<4x3x2xf64>, %182: tensor<4x3x2xf64>, %183: tensor<4x3x2xf64>, %184: tensor<4x3x2xf64>):
      %185 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %186 = "stablehlo.compare"(%167, %185) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%186) : (tensor<i1>) -> ()
    }, {
    ^bb0(%187: tensor<i32>, %188: tensor<2x2xf64>, %189: tensor<2xf64>, %190: tensor<3x2xf64>, %191: tensor<2x2xf64>, %192: tensor<2xf64>, %193: tensor<2x2xf64>, %194: tensor<2xf64>, %195: tensor<4x3x2xf64>, %196: tensor<4x3x2xf64>, %197: tensor<4x3x2xf64>, %198: tensor<4x3x2xf64>, %199: tensor<4x2x2xf64>, %200: tensor<4x2xf64>, %201: tensor<4x3x2xf64>, %202: tensor<4x3x2xf64>, %203: tensor<4x3x2xf64>, %204: tensor<4x3x2xf64>):
      %205 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %206 = "stablehlo.dynamic_slice"(%195, %187, %205, %205) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %207 = "stablehlo.reshape"(%206) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %208 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %209 = "stablehlo.dynamic_slice"(%196, %187, %208, %208) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %210 = "stablehlo.reshape"(%209) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %211 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %212 = "stablehlo.dynamic_slice"(%197, %187, %211, %211) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %213 = "stablehlo.reshape"(%212) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %214 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %215 = "stablehlo.dynamic_slice"(%198, %187, %214, %214) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %216 = "stablehlo.reshape"(%215) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %217 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %218 = "stablehlo.dynamic_slice"(%199, %187, %217, %217) {slice_sizes = array<i64: 1, 2, 2>} : (tensor<4x2x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf64>
      %219 = "stablehlo.reshape"(%218) : (tensor<1x2x2xf64>) -> tensor<2x2xf64>
      %220 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %221 = "stablehlo.dynamic_slice"(%200, %187, %220) {slice_sizes = array<i64: 1, 2>} : (tensor<4x2xf64>, tensor<i32>, tensor<i32>) -> tensor<1x2xf64>
      %222 = "stablehlo.reshape"(%221) : (tensor<1x2xf64>) -> tensor<2xf64>
      %223 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %224 = "stablehlo.dynamic_slice"(%201, %187, %223, %223) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %225 = "stablehlo.reshape"(%224) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %226 = "stablehlo.dot_general"(%210, %188) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %227 = "stablehlo.add"(%226, %207) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %228 = "stablehlo.broadcast_in_dim"(%189) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
      %229 = "stablehlo.add"(%227, %228) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %230 = "stablehlo.tanh"(%229) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %231 = "stablehlo.multiply"(%213, %207) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %232 = "stablehlo.multiply"(%213, %230) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %233 = "stablehlo.add"(%216, %231) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %234 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %235 = "stablehlo.subtract"(%234, %230) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %236 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %237 = "stablehlo.add"(%236, %230) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %238 = "stablehlo.multiply"(%237, %235) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %239 = "stablehlo.multiply"(%233, %238) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %240 = "stablehlo.is_finite"(%232) : (tensor<3x2xf64>) -> tensor<3x2xi1>
      %241 = "stablehlo.dot_general"(%191, %239) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
      %242 = "stablehlo.dot_general"(%210, %191) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %243 = "stablehlo.transpose"(%241) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
      %244 = "stablehlo.dot_general"(%190, %188) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %245 = "stablehlo.dot_general"(%239, %190) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %246 = "stablehlo.transpose"(%245) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
      %247 = "stablehlo.add"(%242, %244) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %248 = "stablehlo.add"(%247, %225) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %249 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %250 = "stablehlo.select"(%240, %225, %249) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %251 = "stablehlo.reshape"(%192) : (tensor<2xf64>) -> tensor<1x2xf64>
      %252 = "stablehlo.broadcast_in_dim"(%251) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x2xf64>) -> tensor<3x2xf64>
      %253 = "stablehlo.add"(%248, %252) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %254 = "stablehlo.multiply"(%253, %238) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %255 = "stablehlo.multiply"(%253, %233) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %256 = "stablehlo.multiply"(%255, %235) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %257 = "stablehlo.multiply"(%255, %237) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %258 = "stablehlo.negate"(%257) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %259 = "stablehlo.add"(%256, %258) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %260 = "stablehlo.multiply"(%250, %230) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %261 = "stablehlo.multiply"(%250, %213) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %262 = "stablehlo.add"(%259, %261) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %263 = "stablehlo.multiply"(%254, %207) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %264 = "stablehlo.multiply"(%254, %213) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %265 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
      %266 = "stablehlo.is_finite"(%260) : (tensor<3x2xf64>) -> tensor<3x2xi1>
      %267 = "stablehlo.broadcast_in_dim"(%265) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
      %268 = "stablehlo.select"(%266, %260, %267) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %269 = "stablehlo.add"(%268, %263) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %270 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %271 = "stablehlo.subtract"(%270, %230) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %272 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %273 = "stablehlo.add"(%272, %230) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %274 = "stablehlo.multiply"(%273, %271) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %275 = "stablehlo.multiply"(%262, %274) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %276 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
      %280 = "stablehlo.reduce"(%275, %276) ({
      ^bb0(%277: tensor<f64>, %278: tensor<f64>):
        %279 = "stablehlo.add"(%277, %278) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%279) : (tensor<f64>) -> ()
      }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
      %281 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
      %282 = "stablehlo.is_finite"(%264) : (tensor<3x2xf64>) -> tensor<3x2xi1>
      %283 = "stablehlo.broadcast_in_dim"(%281) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
      %284 = "stablehlo.select"(%282, %264, %283) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %285 = "stablehlo.add"(%284, %275) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %286 = "stablehlo.dot_general"(%275, %188) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %287 = "stablehlo.dot_general"(%210, %275) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %288 = "stablehlo.add"(%243, %286) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %289 = "stablehlo.add"(%246, %287) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %290 = "stablehlo.add"(%193, %289) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %291 = "stablehlo.add"(%194, %280) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %292 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %293 = "stablehlo.add"(%187, %292) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %294 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %295 = "stablehlo.reshape"(%285) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %296 = "stablehlo.dynamic_update_slice"(%202, %295, %187, %294, %294) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %297 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %298 = "stablehlo.reshape"(%288) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %299 = "stablehlo.dynamic_update_slice"(%203, %298, %187, %297, %297) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      %300 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %301 = "stablehlo.reshape"(%269) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %302 = "stablehlo.dynamic_update_slice"(%204, %301, %187, %300, %300) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      "stablehlo.return"(%293, %188, %189, %254, %191, %192, %290, %291, %195, %196, %197, %198, %199, %200, %201, %296, %299, %302) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> ()
    }) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x2x2xf64>, tensor<4x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>)
    %304 = "stablehlo.negate"(%303#17) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %305 = "stablehlo.multiply"(%304, %45) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %306 = "stablehlo.cosine"(%38#5) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %307 = "stablehlo.multiply"(%305, %306) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %308 = "stablehlo.multiply"(%303#3, %41) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %309 = "stablehlo.sine"(%38#3) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %310 = "stablehlo.multiply"(%308, %309) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %311 = "stablehlo.negate"(%310) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %312 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x2xf64>} : () -> tensor<2x2xf64>
    %313 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2xf64>} : () -> tensor<2xf64>
    %314 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %315 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %316 = "stablehlo.broadcast_in_dim"(%315) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %389:11 = "stablehlo.while"(%314, %arg0, %arg1, %311, %312, %313, %arg3, %38#6, %307, %303#16, %316) ({
    ^bb0(%317: tensor<i32>, %318: tensor<2x2xf64>, %319: tensor<2xf64>, %320: tensor<3x2xf64>, %321: tensor<2x2xf64>, %322: tensor<2xf64>, %323: tensor<4x3x2xf64>, %324: tensor<4x3x2xf64>, %325: tensor<4x3x2xf64>, %326: tensor<4x3x2xf64>, %327: tensor<4x3x2xf64>):
      %328 = "stablehlo.constant"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
      %329 = "stablehlo.compare"(%317, %328) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%329) : (tensor<i1>) -> ()
    }, {
    ^bb0(%330: tensor<i32>, %331: tensor<2x2xf64>, %332: tensor<2xf64>, %333: tensor<3x2xf64>, %334: tensor<2x2xf64>, %335: tensor<2xf64>, %336: tensor<4x3x2xf64>, %337: tensor<4x3x2xf64>, %338: tensor<4x3x2xf64>, %339: tensor<4x3x2xf64>, %340: tensor<4x3x2xf64>):
      %341 = "stablehlo.constant"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
      %342 = "stablehlo.subtract"(%341, %330) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %343 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %344 = "stablehlo.dynamic_slice"(%336, %342, %343, %343) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %345 = "stablehlo.reshape"(%344) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %346 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %347 = "stablehlo.dynamic_slice"(%337, %342, %346, %346) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %348 = "stablehlo.reshape"(%347) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %349 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %350 = "stablehlo.dynamic_slice"(%338, %342, %349, %349) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %351 = "stablehlo.reshape"(%350) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %352 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %353 = "stablehlo.dynamic_slice"(%339, %342, %352, %352) {slice_sizes = array<i64: 1, 3, 2>} : (tensor<4x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xf64>
      %354 = "stablehlo.reshape"(%353) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
      %355 = "stablehlo.dot_general"(%348, %331) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %356 = "stablehlo.add"(%355, %345) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %357 = "stablehlo.broadcast_in_dim"(%332) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
      %358 = "stablehlo.add"(%356, %357) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %359 = "stablehlo.tanh"(%358) : (tensor<3x2xf64>) -> tensor<3x2xf64>
      %360 = "stablehlo.multiply"(%351, %345) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %361 = "stablehlo.multiply"(%351, %359) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %362 = "stablehlo.add"(%333, %360) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %363 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %364 = "stablehlo.subtract"(%363, %359) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %365 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
      %366 = "stablehlo.add"(%365, %359) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %367 = "stablehlo.multiply"(%366, %364) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %368 = "stablehlo.multiply"(%362, %367) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %369 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
      %373 = "stablehlo.reduce"(%368, %369) ({
      ^bb0(%370: tensor<f64>, %371: tensor<f64>):
        %372 = "stablehlo.add"(%370, %371) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "stablehlo.return"(%372) : (tensor<f64>) -> ()
      }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
      %374 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
      %375 = "stablehlo.is_finite"(%361) : (tensor<3x2xf64>) -> tensor<3x2xi1>
      %376 = "stablehlo.broadcast_in_dim"(%374) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
      %377 = "stablehlo.select"(%375, %361, %376) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %378 = "stablehlo.add"(%377, %368) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %379 = "stablehlo.dot_general"(%368, %331) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
      %380 = "stablehlo.dot_general"(%348, %368) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
      %381 = "stablehlo.add"(%379, %354) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
      %382 = "stablehlo.add"(%334, %380) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
      %383 = "stablehlo.add"(%335, %373) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
      %384 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
      %385 = "stablehlo.add"(%330, %384) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %386 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
      %387 = "stablehlo.reshape"(%378) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
      %388 = "stablehlo.dynamic_update_slice"(%340, %387, %342, %386, %386) : (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x3x2xf64>
      "stablehlo.return"(%385, %331, %332, %381, %382, %383, %336, %337, %338, %339, %388) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> ()
    }) : (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> (tensor<i32>, tensor<2x2xf64>, tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>)
    %390 = "stablehlo.add"(%303#6, %389#4) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %391 = "stablehlo.add"(%303#7, %389#5) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %392 = "stablehlo.add"(%303#15, %389#10) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %393 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 0, 0, 0>, limit_indices = array<i64: 1, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %394 = "stablehlo.reshape"(%393) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %395 = "stablehlo.dot_general"(%arg2, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %396 = "stablehlo.add"(%395, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %397 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %398 = "stablehlo.add"(%396, %397) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %399 = "stablehlo.tanh"(%398) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %400 = "stablehlo.multiply"(%399, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %401 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 1, 0, 0>, limit_indices = array<i64: 2, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %402 = "stablehlo.reshape"(%401) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %403 = "stablehlo.dot_general"(%399, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %404 = "stablehlo.add"(%403, %402) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %405 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %406 = "stablehlo.add"(%404, %405) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %407 = "stablehlo.tanh"(%406) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %408 = "stablehlo.multiply"(%407, %402) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %409 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 2, 0, 0>, limit_indices = array<i64: 3, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %410 = "stablehlo.reshape"(%409) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %411 = "stablehlo.dot_general"(%407, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %412 = "stablehlo.add"(%411, %410) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %413 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %414 = "stablehlo.add"(%412, %413) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %415 = "stablehlo.tanh"(%414) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %416 = "stablehlo.multiply"(%415, %410) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %417 = "stablehlo.slice"(%arg3) {start_indices = array<i64: 3, 0, 0>, limit_indices = array<i64: 4, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %418 = "stablehlo.reshape"(%417) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %419 = "stablehlo.dot_general"(%415, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %420 = "stablehlo.add"(%419, %418) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %421 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 1>} : (tensor<2xf64>) -> tensor<3x2xf64>
    %422 = "stablehlo.add"(%420, %421) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %423 = "stablehlo.tanh"(%422) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %424 = "stablehlo.multiply"(%423, %418) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %425 = "stablehlo.reshape"(%400) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %426 = "stablehlo.reshape"(%408) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %427 = "stablehlo.reshape"(%416) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %428 = "stablehlo.reshape"(%424) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %429 = "stablehlo.concatenate"(%425, %426, %427, %428) {dimension = 0 : i64} : (tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>) -> tensor<4x3x2xf64>
    %430 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %431 = "stablehlo.reshape"(%430) : (tensor<f64>) -> tensor<1x1xf64>
    %432 = "stablehlo.broadcast_in_dim"(%431) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf64>) -> tensor<3x2xf64>
    %433 = "stablehlo.cosine"(%423) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %434 = "stablehlo.multiply"(%432, %433) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %435 = "stablehlo.reshape"(%430) : (tensor<f64>) -> tensor<1x1x1xf64>
    %436 = "stablehlo.broadcast_in_dim"(%435) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x1xf64>) -> tensor<4x3x2xf64>
    %437 = "stablehlo.sine"(%429) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %438 = "stablehlo.multiply"(%436, %437) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %439 = "stablehlo.negate"(%438) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %440 = "stablehlo.slice"(%439) {start_indices = array<i64: 0, 0, 0>, limit_indices = array<i64: 1, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %441 = "stablehlo.slice"(%439) {start_indices = array<i64: 1, 0, 0>, limit_indices = array<i64: 2, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %442 = "stablehlo.slice"(%439) {start_indices = array<i64: 2, 0, 0>, limit_indices = array<i64: 3, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %443 = "stablehlo.slice"(%439) {start_indices = array<i64: 3, 0, 0>, limit_indices = array<i64: 4, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %444 = "stablehlo.reshape"(%443) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %445 = "stablehlo.reshape"(%442) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %446 = "stablehlo.reshape"(%441) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %447 = "stablehlo.reshape"(%440) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %448 = "stablehlo.multiply"(%444, %418) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %449 = "stablehlo.multiply"(%444, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %450 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %451 = "stablehlo.is_finite"(%434) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %452 = "stablehlo.broadcast_in_dim"(%450) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %453 = "stablehlo.select"(%451, %434, %452) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %454 = "stablehlo.add"(%453, %448) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %455 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %456 = "stablehlo.subtract"(%455, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %457 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %458 = "stablehlo.add"(%457, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %459 = "stablehlo.multiply"(%458, %456) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %460 = "stablehlo.multiply"(%454, %459) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %461 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %465 = "stablehlo.reduce"(%460, %461) ({
    ^bb0(%462: tensor<f64>, %463: tensor<f64>):
      %464 = "stablehlo.add"(%462, %463) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%464) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %466 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %467 = "stablehlo.is_finite"(%449) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %468 = "stablehlo.broadcast_in_dim"(%466) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %469 = "stablehlo.select"(%467, %449, %468) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %470 = "stablehlo.add"(%469, %460) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %471 = "stablehlo.dot_general"(%460, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %472 = "stablehlo.dot_general"(%415, %460) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %473 = "stablehlo.reshape"(%470) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %474 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %475 = "stablehlo.pad"(%473, %474) {edge_padding_low = array<i64: 3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %476 = "stablehlo.multiply"(%445, %410) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %477 = "stablehlo.multiply"(%445, %415) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %478 = "stablehlo.add"(%471, %476) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %479 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %480 = "stablehlo.subtract"(%479, %415) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %481 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %482 = "stablehlo.add"(%481, %415) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %483 = "stablehlo.multiply"(%482, %480) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %484 = "stablehlo.multiply"(%478, %483) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %485 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %489 = "stablehlo.reduce"(%484, %485) ({
    ^bb0(%486: tensor<f64>, %487: tensor<f64>):
      %488 = "stablehlo.add"(%486, %487) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%488) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %490 = "stablehlo.add"(%465, %489) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %491 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %492 = "stablehlo.is_finite"(%477) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %493 = "stablehlo.broadcast_in_dim"(%491) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %494 = "stablehlo.select"(%492, %477, %493) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %495 = "stablehlo.add"(%494, %484) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %496 = "stablehlo.dot_general"(%484, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %497 = "stablehlo.dot_general"(%407, %484) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %498 = "stablehlo.add"(%472, %497) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %499 = "stablehlo.reshape"(%495) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %500 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %501 = "stablehlo.pad"(%499, %500) {edge_padding_low = array<i64: 2, 0, 0>, edge_padding_high = array<i64: 1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %502 = "stablehlo.add"(%475, %501) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %503 = "stablehlo.multiply"(%446, %402) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %504 = "stablehlo.multiply"(%446, %407) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %505 = "stablehlo.add"(%496, %503) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %506 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %507 = "stablehlo.subtract"(%506, %407) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %508 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %509 = "stablehlo.add"(%508, %407) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %510 = "stablehlo.multiply"(%509, %507) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %511 = "stablehlo.multiply"(%505, %510) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %512 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %516 = "stablehlo.reduce"(%511, %512) ({
    ^bb0(%513: tensor<f64>, %514: tensor<f64>):
      %515 = "stablehlo.add"(%513, %514) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%515) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %517 = "stablehlo.add"(%490, %516) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %518 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %519 = "stablehlo.is_finite"(%504) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %520 = "stablehlo.broadcast_in_dim"(%518) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %521 = "stablehlo.select"(%519, %504, %520) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %522 = "stablehlo.add"(%521, %511) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %523 = "stablehlo.dot_general"(%511, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %524 = "stablehlo.dot_general"(%399, %511) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %525 = "stablehlo.add"(%498, %524) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %526 = "stablehlo.reshape"(%522) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %527 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %528 = "stablehlo.pad"(%526, %527) {edge_padding_low = array<i64: 1, 0, 0>, edge_padding_high = array<i64: 2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %529 = "stablehlo.add"(%502, %528) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %530 = "stablehlo.multiply"(%447, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %531 = "stablehlo.multiply"(%447, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %532 = "stablehlo.add"(%523, %530) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %533 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %534 = "stablehlo.subtract"(%533, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %535 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %536 = "stablehlo.add"(%535, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %537 = "stablehlo.multiply"(%536, %534) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %538 = "stablehlo.multiply"(%532, %537) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %539 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %543 = "stablehlo.reduce"(%538, %539) ({
    ^bb0(%540: tensor<f64>, %541: tensor<f64>):
      %542 = "stablehlo.add"(%540, %541) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%542) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %544 = "stablehlo.add"(%517, %543) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %545 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %546 = "stablehlo.is_finite"(%531) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %547 = "stablehlo.broadcast_in_dim"(%545) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %548 = "stablehlo.select"(%546, %531, %547) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %549 = "stablehlo.add"(%548, %538) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %550 = "stablehlo.dot_general"(%538, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %551 = "stablehlo.dot_general"(%arg2, %538) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %552 = "stablehlo.add"(%525, %551) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %553 = "stablehlo.reshape"(%549) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %554 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %555 = "stablehlo.pad"(%553, %554) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %556 = "stablehlo.add"(%529, %555) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %557 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %558 = "stablehlo.reshape"(%557) : (tensor<f64>) -> tensor<1x1xf64>
    %559 = "stablehlo.broadcast_in_dim"(%558) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x1xf64>) -> tensor<2x2xf64>
    %560 = "stablehlo.cosine"(%552) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %561 = "stablehlo.multiply"(%559, %560) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %562 = "stablehlo.reshape"(%557) : (tensor<f64>) -> tensor<1x1x1xf64>
    %563 = "stablehlo.broadcast_in_dim"(%562) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x1xf64>) -> tensor<4x3x2xf64>
    %564 = "stablehlo.multiply"(%563, %556) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %565 = "stablehlo.multiply"(%563, %556) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %566 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %567 = "stablehlo.is_finite"(%564) : (tensor<4x3x2xf64>) -> tensor<4x3x2xi1>
    %568 = "stablehlo.broadcast_in_dim"(%566) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<4x3x2xf64>
    %569 = "stablehlo.select"(%567, %564, %568) : (tensor<4x3x2xi1>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %570 = "stablehlo.add"(%569, %565) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %571 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %572 = "stablehlo.pad"(%570, %571) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: -3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %573 = "stablehlo.reshape"(%572) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %574 = "stablehlo.dot_general"(%561, %538) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %575 = "stablehlo.dot_general"(%arg2, %561) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %576 = "stablehlo.transpose"(%574) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %577 = "stablehlo.add"(%575, %573) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %578 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %579 = "stablehlo.select"(%546, %573, %578) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %580 = "stablehlo.multiply"(%577, %537) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %581 = "stablehlo.multiply"(%577, %532) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %582 = "stablehlo.multiply"(%581, %534) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %583 = "stablehlo.multiply"(%581, %536) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %584 = "stablehlo.negate"(%583) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %585 = "stablehlo.add"(%582, %584) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %586 = "stablehlo.multiply"(%579, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %587 = "stablehlo.multiply"(%579, %447) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %588 = "stablehlo.add"(%585, %587) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %589 = "stablehlo.multiply"(%580, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %590 = "stablehlo.multiply"(%580, %447) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %591 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %592 = "stablehlo.is_finite"(%586) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %593 = "stablehlo.broadcast_in_dim"(%591) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %594 = "stablehlo.select"(%592, %586, %593) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %595 = "stablehlo.add"(%594, %589) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %596 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %597 = "stablehlo.pad"(%570, %596) {edge_padding_low = array<i64: -1, 0, 0>, edge_padding_high = array<i64: -2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %598 = "stablehlo.reshape"(%597) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %599 = "stablehlo.dot_general"(%561, %511) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %600 = "stablehlo.dot_general"(%399, %561) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %601 = "stablehlo.transpose"(%599) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %602 = "stablehlo.add"(%588, %601) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %603 = "stablehlo.dot_general"(%580, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %604 = "stablehlo.dot_general"(%511, %580) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %605 = "stablehlo.transpose"(%604) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %606 = "stablehlo.add"(%600, %603) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %607 = "stablehlo.add"(%606, %598) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %608 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %609 = "stablehlo.select"(%519, %598, %608) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %610 = "stablehlo.multiply"(%607, %510) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %611 = "stablehlo.multiply"(%607, %505) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %612 = "stablehlo.multiply"(%611, %507) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %613 = "stablehlo.multiply"(%611, %509) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %614 = "stablehlo.negate"(%613) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %615 = "stablehlo.add"(%612, %614) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %616 = "stablehlo.multiply"(%609, %407) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %617 = "stablehlo.multiply"(%609, %446) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %618 = "stablehlo.add"(%615, %617) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %619 = "stablehlo.multiply"(%610, %402) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %620 = "stablehlo.multiply"(%610, %446) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %621 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %622 = "stablehlo.is_finite"(%616) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %623 = "stablehlo.broadcast_in_dim"(%621) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %624 = "stablehlo.select"(%622, %616, %623) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %625 = "stablehlo.add"(%624, %619) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %626 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %627 = "stablehlo.pad"(%570, %626) {edge_padding_low = array<i64: -2, 0, 0>, edge_padding_high = array<i64: -1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %628 = "stablehlo.reshape"(%627) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %629 = "stablehlo.dot_general"(%561, %484) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %630 = "stablehlo.dot_general"(%407, %561) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %631 = "stablehlo.transpose"(%629) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %632 = "stablehlo.add"(%618, %631) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %633 = "stablehlo.dot_general"(%610, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %634 = "stablehlo.dot_general"(%484, %610) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %635 = "stablehlo.transpose"(%634) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %636 = "stablehlo.add"(%630, %633) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %637 = "stablehlo.add"(%605, %635) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %638 = "stablehlo.add"(%636, %628) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %639 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %640 = "stablehlo.select"(%492, %628, %639) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %641 = "stablehlo.multiply"(%638, %483) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %642 = "stablehlo.multiply"(%638, %478) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %643 = "stablehlo.multiply"(%642, %480) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %644 = "stablehlo.multiply"(%642, %482) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %645 = "stablehlo.negate"(%644) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %646 = "stablehlo.add"(%643, %645) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %647 = "stablehlo.multiply"(%640, %415) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %648 = "stablehlo.multiply"(%640, %445) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %649 = "stablehlo.add"(%646, %648) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %650 = "stablehlo.multiply"(%641, %410) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %651 = "stablehlo.multiply"(%641, %445) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %652 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %653 = "stablehlo.is_finite"(%647) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %654 = "stablehlo.broadcast_in_dim"(%652) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %655 = "stablehlo.select"(%653, %647, %654) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %656 = "stablehlo.add"(%655, %650) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %657 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %658 = "stablehlo.pad"(%570, %657) {edge_padding_low = array<i64: -3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<1x3x2xf64>
    %659 = "stablehlo.reshape"(%658) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %660 = "stablehlo.dot_general"(%561, %460) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x2xf64>, tensor<3x2xf64>) -> tensor<2x3xf64>
    %661 = "stablehlo.dot_general"(%415, %561) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %662 = "stablehlo.transpose"(%660) {permutation = array<i64: 1, 0>} : (tensor<2x3xf64>) -> tensor<3x2xf64>
    %663 = "stablehlo.add"(%649, %662) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %664 = "stablehlo.dot_general"(%641, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %665 = "stablehlo.dot_general"(%460, %641) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %666 = "stablehlo.transpose"(%665) {permutation = array<i64: 1, 0>} : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %667 = "stablehlo.add"(%661, %664) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %668 = "stablehlo.add"(%637, %666) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %669 = "stablehlo.add"(%667, %659) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %670 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %671 = "stablehlo.select"(%467, %659, %670) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %672 = "stablehlo.multiply"(%669, %459) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %673 = "stablehlo.multiply"(%669, %454) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %674 = "stablehlo.multiply"(%673, %456) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %675 = "stablehlo.multiply"(%673, %458) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %676 = "stablehlo.negate"(%675) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %677 = "stablehlo.add"(%674, %676) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %678 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %679 = "stablehlo.select"(%451, %672, %678) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %680 = "stablehlo.multiply"(%671, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %681 = "stablehlo.multiply"(%671, %444) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %682 = "stablehlo.add"(%677, %681) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %683 = "stablehlo.multiply"(%672, %418) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %684 = "stablehlo.multiply"(%672, %444) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %685 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %686 = "stablehlo.is_finite"(%680) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %687 = "stablehlo.broadcast_in_dim"(%685) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %688 = "stablehlo.select"(%686, %680, %687) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %689 = "stablehlo.add"(%688, %683) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %690 = "stablehlo.reshape"(%595) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %691 = "stablehlo.reshape"(%625) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %692 = "stablehlo.reshape"(%656) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %693 = "stablehlo.reshape"(%689) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %694 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %695 = "stablehlo.pad"(%693, %694) {edge_padding_low = array<i64: 3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %696 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %697 = "stablehlo.pad"(%692, %696) {edge_padding_low = array<i64: 2, 0, 0>, edge_padding_high = array<i64: 1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %698 = "stablehlo.add"(%695, %697) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %699 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %700 = "stablehlo.pad"(%691, %699) {edge_padding_low = array<i64: 1, 0, 0>, edge_padding_high = array<i64: 2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %701 = "stablehlo.add"(%698, %700) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %702 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %703 = "stablehlo.pad"(%690, %702) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %704 = "stablehlo.add"(%701, %703) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %705 = "stablehlo.negate"(%704) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %706 = "stablehlo.multiply"(%705, %436) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %707 = "stablehlo.cosine"(%429) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %708 = "stablehlo.multiply"(%706, %707) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %709 = "stablehlo.multiply"(%679, %432) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %710 = "stablehlo.sine"(%423) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %711 = "stablehlo.multiply"(%709, %710) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %712 = "stablehlo.negate"(%711) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %713 = "stablehlo.add"(%682, %712) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %714 = "stablehlo.slice"(%708) {start_indices = array<i64: 0, 0, 0>, limit_indices = array<i64: 1, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %715 = "stablehlo.slice"(%708) {start_indices = array<i64: 1, 0, 0>, limit_indices = array<i64: 2, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %716 = "stablehlo.slice"(%708) {start_indices = array<i64: 2, 0, 0>, limit_indices = array<i64: 3, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %717 = "stablehlo.slice"(%708) {start_indices = array<i64: 3, 0, 0>, limit_indices = array<i64: 4, 3, 2>, strides = array<i64: 1, 1, 1>} : (tensor<4x3x2xf64>) -> tensor<1x3x2xf64>
    %718 = "stablehlo.reshape"(%717) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %719 = "stablehlo.reshape"(%716) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %720 = "stablehlo.reshape"(%715) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %721 = "stablehlo.reshape"(%714) : (tensor<1x3x2xf64>) -> tensor<3x2xf64>
    %722 = "stablehlo.multiply"(%718, %418) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %723 = "stablehlo.multiply"(%718, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %724 = "stablehlo.add"(%713, %722) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %725 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %726 = "stablehlo.is_finite"(%684) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %727 = "stablehlo.broadcast_in_dim"(%725) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %728 = "stablehlo.select"(%726, %684, %727) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %729 = "stablehlo.add"(%728, %723) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %730 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %731 = "stablehlo.subtract"(%730, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %732 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %733 = "stablehlo.add"(%732, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %734 = "stablehlo.multiply"(%733, %731) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %735 = "stablehlo.multiply"(%724, %734) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %736 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %740 = "stablehlo.reduce"(%735, %736) ({
    ^bb0(%737: tensor<f64>, %738: tensor<f64>):
      %739 = "stablehlo.add"(%737, %738) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%739) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %741 = "stablehlo.add"(%729, %735) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %742 = "stablehlo.dot_general"(%735, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %743 = "stablehlo.dot_general"(%415, %735) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %744 = "stablehlo.add"(%663, %742) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %745 = "stablehlo.add"(%668, %743) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %746 = "stablehlo.reshape"(%741) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %747 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %748 = "stablehlo.pad"(%746, %747) {edge_padding_low = array<i64: 3, 0, 0>, edge_padding_high = array<i64: 0, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %749 = "stablehlo.multiply"(%719, %410) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %750 = "stablehlo.multiply"(%719, %415) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %751 = "stablehlo.add"(%744, %749) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %752 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %753 = "stablehlo.is_finite"(%651) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %754 = "stablehlo.broadcast_in_dim"(%752) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %755 = "stablehlo.select"(%753, %651, %754) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %756 = "stablehlo.add"(%755, %750) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %757 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %758 = "stablehlo.subtract"(%757, %415) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %759 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %760 = "stablehlo.add"(%759, %415) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %761 = "stablehlo.multiply"(%760, %758) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %762 = "stablehlo.multiply"(%751, %761) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %763 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %767 = "stablehlo.reduce"(%762, %763) ({
    ^bb0(%764: tensor<f64>, %765: tensor<f64>):
      %766 = "stablehlo.add"(%764, %765) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%766) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %768 = "stablehlo.add"(%740, %767) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %769 = "stablehlo.add"(%756, %762) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %770 = "stablehlo.dot_general"(%762, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %771 = "stablehlo.dot_general"(%407, %762) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %772 = "stablehlo.add"(%632, %770) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %773 = "stablehlo.add"(%745, %771) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %774 = "stablehlo.reshape"(%769) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %775 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %776 = "stablehlo.pad"(%774, %775) {edge_padding_low = array<i64: 2, 0, 0>, edge_padding_high = array<i64: 1, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %777 = "stablehlo.add"(%748, %776) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %778 = "stablehlo.multiply"(%720, %402) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %779 = "stablehlo.multiply"(%720, %407) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %780 = "stablehlo.add"(%772, %778) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %781 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %782 = "stablehlo.is_finite"(%620) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %783 = "stablehlo.broadcast_in_dim"(%781) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %784 = "stablehlo.select"(%782, %620, %783) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %785 = "stablehlo.add"(%784, %779) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %786 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %787 = "stablehlo.subtract"(%786, %407) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %788 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %789 = "stablehlo.add"(%788, %407) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %790 = "stablehlo.multiply"(%789, %787) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %791 = "stablehlo.multiply"(%780, %790) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %792 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %796 = "stablehlo.reduce"(%791, %792) ({
    ^bb0(%793: tensor<f64>, %794: tensor<f64>):
      %795 = "stablehlo.add"(%793, %794) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%795) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %797 = "stablehlo.add"(%768, %796) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %798 = "stablehlo.add"(%785, %791) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %799 = "stablehlo.dot_general"(%791, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %800 = "stablehlo.dot_general"(%399, %791) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %801 = "stablehlo.add"(%602, %799) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %802 = "stablehlo.add"(%773, %800) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %803 = "stablehlo.reshape"(%798) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %804 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %805 = "stablehlo.pad"(%803, %804) {edge_padding_low = array<i64: 1, 0, 0>, edge_padding_high = array<i64: 2, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %806 = "stablehlo.add"(%777, %805) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %807 = "stablehlo.multiply"(%721, %394) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %808 = "stablehlo.multiply"(%721, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %809 = "stablehlo.add"(%801, %807) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %810 = "stablehlo.constant"() {value = dense<0x7FF8000000000000> : tensor<f64>} : () -> tensor<f64>
    %811 = "stablehlo.is_finite"(%590) : (tensor<3x2xf64>) -> tensor<3x2xi1>
    %812 = "stablehlo.broadcast_in_dim"(%810) {broadcast_dimensions = array<i64>} : (tensor<f64>) -> tensor<3x2xf64>
    %813 = "stablehlo.select"(%811, %590, %812) : (tensor<3x2xi1>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %814 = "stablehlo.add"(%813, %808) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %815 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %816 = "stablehlo.subtract"(%815, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %817 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<3x2xf64>} : () -> tensor<3x2xf64>
    %818 = "stablehlo.add"(%817, %399) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %819 = "stablehlo.multiply"(%818, %816) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %820 = "stablehlo.multiply"(%809, %819) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %821 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %825 = "stablehlo.reduce"(%820, %821) ({
    ^bb0(%822: tensor<f64>, %823: tensor<f64>):
      %824 = "stablehlo.add"(%822, %823) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%824) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<2xf64>
    %826 = "stablehlo.add"(%797, %825) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %827 = "stablehlo.add"(%814, %820) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %828 = "stablehlo.dot_general"(%820, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
    %829 = "stablehlo.dot_general"(%arg2, %820) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
    %830 = "stablehlo.add"(%576, %828) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %831 = "stablehlo.add"(%802, %829) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %832 = "stablehlo.reshape"(%827) : (tensor<3x2xf64>) -> tensor<1x3x2xf64>
    %833 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f64>} : () -> tensor<f64>
    %834 = "stablehlo.pad"(%832, %833) {edge_padding_low = array<i64: 0, 0, 0>, edge_padding_high = array<i64: 3, 0, 0>, interior_padding = array<i64: 0, 0, 0>} : (tensor<1x3x2xf64>, tensor<f64>) -> tensor<4x3x2xf64>
    %835 = "stablehlo.add"(%806, %834) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %836 = "stablehlo.subtract"(%38#3, %423) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %837 = "stablehlo.abs"(%836) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %838 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %842 = "stablehlo.reduce"(%837, %838) ({
    ^bb0(%839: tensor<f64>, %840: tensor<f64>):
      %841 = "stablehlo.maximum"(%839, %840) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%841) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %843 = "stablehlo.subtract"(%38#5, %429) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %844 = "stablehlo.abs"(%843) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %845 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %849 = "stablehlo.reduce"(%844, %845) ({
    ^bb0(%846: tensor<f64>, %847: tensor<f64>):
      %848 = "stablehlo.maximum"(%846, %847) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%848) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<f64>
    %850 = "stablehlo.subtract"(%141#4, %552) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %851 = "stablehlo.abs"(%850) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %852 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %856 = "stablehlo.reduce"(%851, %852) ({
    ^bb0(%853: tensor<f64>, %854: tensor<f64>):
      %855 = "stablehlo.maximum"(%853, %854) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%855) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    %857 = "stablehlo.subtract"(%141#5, %544) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %858 = "stablehlo.abs"(%857) : (tensor<2xf64>) -> tensor<2xf64>
    %859 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %863 = "stablehlo.reduce"(%858, %859) ({
    ^bb0(%860: tensor<f64>, %861: tensor<f64>):
      %862 = "stablehlo.maximum"(%860, %861) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%862) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %864 = "stablehlo.subtract"(%141#3, %550) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %865 = "stablehlo.abs"(%864) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %866 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %870 = "stablehlo.reduce"(%865, %866) ({
    ^bb0(%867: tensor<f64>, %868: tensor<f64>):
      %869 = "stablehlo.maximum"(%867, %868) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%869) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %871 = "stablehlo.subtract"(%141#9, %556) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %872 = "stablehlo.abs"(%871) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %873 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %877 = "stablehlo.reduce"(%872, %873) ({
    ^bb0(%874: tensor<f64>, %875: tensor<f64>):
      %876 = "stablehlo.maximum"(%874, %875) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%876) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<f64>
    %878 = "stablehlo.subtract"(%390, %831) : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
    %879 = "stablehlo.abs"(%878) : (tensor<2x2xf64>) -> tensor<2x2xf64>
    %880 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %884 = "stablehlo.reduce"(%879, %880) ({
    ^bb0(%881: tensor<f64>, %882: tensor<f64>):
      %883 = "stablehlo.maximum"(%881, %882) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%883) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xf64>, tensor<f64>) -> tensor<f64>
    %885 = "stablehlo.subtract"(%391, %826) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
    %886 = "stablehlo.abs"(%885) : (tensor<2xf64>) -> tensor<2xf64>
    %887 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %891 = "stablehlo.reduce"(%886, %887) ({
    ^bb0(%888: tensor<f64>, %889: tensor<f64>):
      %890 = "stablehlo.maximum"(%888, %889) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%890) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %892 = "stablehlo.subtract"(%389#3, %830) : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
    %893 = "stablehlo.abs"(%892) : (tensor<3x2xf64>) -> tensor<3x2xf64>
    %894 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %898 = "stablehlo.reduce"(%893, %894) ({
    ^bb0(%895: tensor<f64>, %896: tensor<f64>):
      %897 = "stablehlo.maximum"(%895, %896) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%897) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<3x2xf64>, tensor<f64>) -> tensor<f64>
    %899 = "stablehlo.subtract"(%392, %835) : (tensor<4x3x2xf64>, tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %900 = "stablehlo.abs"(%899) : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
    %901 = "stablehlo.constant"() {value = dense<0xFFF0000000000000> : tensor<f64>} : () -> tensor<f64>
    %905 = "stablehlo.reduce"(%900, %901) ({
    ^bb0(%902: tensor<f64>, %903: tensor<f64>):
      %904 = "stablehlo.maximum"(%902, %903) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "stablehlo.return"(%904) : (tensor<f64>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<4x3x2xf64>, tensor<f64>) -> tensor<f64>
    "func.return"(%842, %849, %856, %863, %870, %877, %884, %891, %898, %905) : (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> ()
  }
}
