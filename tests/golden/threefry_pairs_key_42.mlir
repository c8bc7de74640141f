module @threefry_pairs_key_42 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xui32>, %arg1: tensor<8xui32>, %arg2: tensor<8xui32>) -> (tensor<8xui32>, tensor<8xui32>) {
    %0 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %1 = "stablehlo.reshape"(%0) : (tensor<1xui32>) -> tensor<ui32>
    %2 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 1>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1xui32>) -> tensor<ui32>
    %4 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %5 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<8xui32>
    %6 = "stablehlo.broadcast_in_dim"(%3) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<8xui32>
    %7 = "stablehlo.xor"(%1, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %8 = "stablehlo.xor"(%7, %4) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<8xui32>
    %10 = "stablehlo.add"(%arg1, %5) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %11 = "stablehlo.add"(%arg2, %6) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %12 = "stablehlo.add"(%10, %11) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %13 = "stablehlo.constant"() {value = dense<19> : tensor<8xui32>} : () -> tensor<8xui32>
    %14 = "stablehlo.shift_right_logical"(%11, %13) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %15 = "stablehlo.constant"() {value = dense<13> : tensor<8xui32>} : () -> tensor<8xui32>
    %16 = "stablehlo.shift_left"(%11, %15) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %17 = "stablehlo.or"(%16, %14) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %18 = "stablehlo.xor"(%17, %12) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %19 = "stablehlo.add"(%12, %18) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %20 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %21 = "stablehlo.shift_right_logical"(%18, %20) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %22 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %23 = "stablehlo.shift_left"(%18, %22) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %24 = "stablehlo.or"(%23, %21) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %25 = "stablehlo.xor"(%24, %19) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %26 = "stablehlo.add"(%19, %25) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %27 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %28 = "stablehlo.shift_right_logical"(%25, %27) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %29 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %30 = "stablehlo.shift_left"(%25, %29) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %31 = "stablehlo.or"(%30, %28) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %32 = "stablehlo.xor"(%31, %26) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %33 = "stablehlo.add"(%26, %32) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %34 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %35 = "stablehlo.shift_right_logical"(%32, %34) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %36 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %37 = "stablehlo.shift_left"(%32, %36) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %38 = "stablehlo.or"(%37, %35) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %39 = "stablehlo.xor"(%38, %33) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %40 = "stablehlo.add"(%33, %6) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %41 = "stablehlo.constant"() {value = dense<1> : tensor<8xui32>} : () -> tensor<8xui32>
    %42 = "stablehlo.add"(%9, %41) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %43 = "stablehlo.add"(%39, %42) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %44 = "stablehlo.add"(%40, %43) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %45 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %46 = "stablehlo.shift_right_logical"(%43, %45) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %47 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %48 = "stablehlo.shift_left"(%43, %47) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %49 = "stablehlo.or"(%48, %46) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %50 = "stablehlo.xor"(%49, %44) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %51 = "stablehlo.add"(%44, %50) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %52 = "stablehlo.constant"() {value = dense<3> : tensor<8xui32>} : () -> tensor<8xui32>
    %53 = "stablehlo.shift_right_logical"(%50, %52) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %54 = "stablehlo.constant"() {value = dense<29> : tensor<8xui32>} : () -> tensor<8xui32>
    %55 = "stablehlo.shift_left"(%50, %54) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %56 = "stablehlo.or"(%55, %53) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %57 = "stablehlo.xor"(%56, %51) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %58 = "stablehlo.add"(%51, %57) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %59 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %60 = "stablehlo.shift_right_logical"(%57, %59) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %61 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %62 = "stablehlo.shift_left"(%57, %61) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %63 = "stablehlo.or"(%62, %60) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %64 = "stablehlo.xor"(%63, %58) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %65 = "stablehlo.add"(%58, %64) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %66 = "stablehlo.constant"() {value = dense<8> : tensor<8xui32>} : () -> tensor<8xui32>
    %67 = "stablehlo.shift_right_logical"(%64, %66) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %68 = "stablehlo.constant"() {value = dense<24> : tensor<8xui32>} : () -> tensor<8xui32>
    %69 = "stablehlo.shift_left"(%64, %68) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %70 = "stablehlo.or"(%69, %67) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %71 = "stablehlo.xor"(%70, %65) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %72 = "stablehlo.add"(%65, %9) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %73 = "stablehlo.constant"() {value = dense<2> : tensor<8xui32>} : () -> tensor<8xui32>
    %74 = "stablehlo.add"(%5, %73) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %75 = "stablehlo.add"(%71, %74) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %76 = "stablehlo.add"(%72, %75) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %77 = "stablehlo.constant"() {value = dense<19> : tensor<8xui32>} : () -> tensor<8xui32>
    %78 = "stablehlo.shift_right_logical"(%75, %77) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %79 = "stablehlo.constant"() {value = dense<13> : tensor<8xui32>} : () -> tensor<8xui32>
    %80 = "stablehlo.shift_left"(%75, %79) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %81 = "stablehlo.or"(%80, %78) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %82 = "stablehlo.xor"(%81, %76) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %83 = "stablehlo.add"(%76, %82) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %84 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %85 = "stablehlo.shift_right_logical"(%82, %84) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %86 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %87 = "stablehlo.shift_left"(%82, %86) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %88 = "stablehlo.or"(%87, %85) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %89 = "stablehlo.xor"(%88, %83) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %90 = "stablehlo.add"(%83, %89) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %91 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %92 = "stablehlo.shift_right_logical"(%89, %91) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %93 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %94 = "stablehlo.shift_left"(%89, %93) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %95 = "stablehlo.or"(%94, %92) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %96 = "stablehlo.xor"(%95, %90) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %97 = "stablehlo.add"(%90, %96) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %98 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %99 = "stablehlo.shift_right_logical"(%96, %98) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %100 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %101 = "stablehlo.shift_left"(%96, %100) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %102 = "stablehlo.or"(%101, %99) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %103 = "stablehlo.xor"(%102, %97) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %104 = "stablehlo.add"(%97, %5) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %105 = "stablehlo.constant"() {value = dense<3> : tensor<8xui32>} : () -> tensor<8xui32>
    %106 = "stablehlo.add"(%6, %105) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %107 = "stablehlo.add"(%103, %106) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %108 = "stablehlo.add"(%104, %107) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %109 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %110 = "stablehlo.shift_right_logical"(%107, %109) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %111 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %112 = "stablehlo.shift_left"(%107, %111) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %113 = "stablehlo.or"(%112, %110) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %114 = "stablehlo.xor"(%113, %108) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %115 = "stablehlo.add"(%108, %114) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %116 = "stablehlo.constant"() {value = dense<3> : tensor<8xui32>} : () -> tensor<8xui32>
    %117 = "stablehlo.shift_right_logical"(%114, %116) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %118 = "stablehlo.constant"() {value = dense<29> : tensor<8xui32>} : () -> tensor<8xui32>
    %119 = "stablehlo.shift_left"(%114, %118) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %120 = "stablehlo.or"(%119, %117) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %121 = "stablehlo.xor"(%120, %115) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %122 = "stablehlo.add"(%115, %121) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %123 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %124 = "stablehlo.shift_right_logical"(%121, %123) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %125 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %126 = "stablehlo.shift_left"(%121, %125) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %127 = "stablehlo.or"(%126, %124) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %128 = "stablehlo.xor"(%127, %122) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %129 = "stablehlo.add"(%122, %128) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %130 = "stablehlo.constant"() {value = dense<8> : tensor<8xui32>} : () -> tensor<8xui32>
    %131 = "stablehlo.shift_right_logical"(%128, %130) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %132 = "stablehlo.constant"() {value = dense<24> : tensor<8xui32>} : () -> tensor<8xui32>
    %133 = "stablehlo.shift_left"(%128, %132) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %134 = "stablehlo.or"(%133, %131) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %135 = "stablehlo.xor"(%134, %129) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %136 = "stablehlo.add"(%129, %6) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %137 = "stablehlo.constant"() {value = dense<4> : tensor<8xui32>} : () -> tensor<8xui32>
    %138 = "stablehlo.add"(%9, %137) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %139 = "stablehlo.add"(%135, %138) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %140 = "stablehlo.add"(%136, %139) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %141 = "stablehlo.constant"() {value = dense<19> : tensor<8xui32>} : () -> tensor<8xui32>
    %142 = "stablehlo.shift_right_logical"(%139, %141) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %143 = "stablehlo.constant"() {value = dense<13> : tensor<8xui32>} : () -> tensor<8xui32>
    %144 = "stablehlo.shift_left"(%139, %143) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %145 = "stablehlo.or"(%144, %142) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %146 = "stablehlo.xor"(%145, %140) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %147 = "stablehlo.add"(%140, %146) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %148 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %149 = "stablehlo.shift_right_logical"(%146, %148) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %150 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %151 = "stablehlo.shift_left"(%146, %150) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %152 = "stablehlo.or"(%151, %149) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %153 = "stablehlo.xor"(%152, %147) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %154 = "stablehlo.add"(%147, %153) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %155 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %156 = "stablehlo.shift_right_logical"(%153, %155) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %157 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %158 = "stablehlo.shift_left"(%153, %157) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %159 = "stablehlo.or"(%158, %156) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %160 = "stablehlo.xor"(%159, %154) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %161 = "stablehlo.add"(%154, %160) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %162 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %163 = "stablehlo.shift_right_logical"(%160, %162) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %164 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %165 = "stablehlo.shift_left"(%160, %164) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %166 = "stablehlo.or"(%165, %163) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %167 = "stablehlo.xor"(%166, %161) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %168 = "stablehlo.add"(%161, %9) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %169 = "stablehlo.constant"() {value = dense<5> : tensor<8xui32>} : () -> tensor<8xui32>
    %170 = "stablehlo.add"(%5, %169) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %171 = "stablehlo.add"(%167, %170) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    "func.return"(%168, %171) : (tensor<8xui32>, tensor<8xui32>) -> ()
  }
}
