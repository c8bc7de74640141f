module @threefry_known_2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xui32>, %arg1: tensor<2xui32>) -> (tensor<2xui32>) {
    %0 = "stablehlo.slice"(%arg1) {start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %1 = "stablehlo.reshape"(%0) : (tensor<1xui32>) -> tensor<ui32>
    %2 = "stablehlo.slice"(%arg1) {start_indices = array<i64: 1>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1xui32>) -> tensor<ui32>
    %4 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %5 = "stablehlo.reshape"(%4) : (tensor<1xui32>) -> tensor<ui32>
    %6 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 1>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %7 = "stablehlo.reshape"(%6) : (tensor<1xui32>) -> tensor<ui32>
    %8 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %9 = "stablehlo.xor"(%5, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %10 = "stablehlo.xor"(%9, %8) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %11 = "stablehlo.add"(%1, %5) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %12 = "stablehlo.add"(%3, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %13 = "stablehlo.add"(%11, %12) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %14 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %15 = "stablehlo.shift_right_logical"(%12, %14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %16 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %17 = "stablehlo.shift_left"(%12, %16) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %18 = "stablehlo.or"(%17, %15) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %19 = "stablehlo.xor"(%18, %13) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %20 = "stablehlo.add"(%13, %19) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %21 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %22 = "stablehlo.shift_right_logical"(%19, %21) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %23 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %24 = "stablehlo.shift_left"(%19, %23) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %25 = "stablehlo.or"(%24, %22) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %26 = "stablehlo.xor"(%25, %20) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %27 = "stablehlo.add"(%20, %26) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %28 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %29 = "stablehlo.shift_right_logical"(%26, %28) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %30 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %31 = "stablehlo.shift_left"(%26, %30) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %32 = "stablehlo.or"(%31, %29) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %33 = "stablehlo.xor"(%32, %27) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %34 = "stablehlo.add"(%27, %33) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %35 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %36 = "stablehlo.shift_right_logical"(%33, %35) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %37 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %38 = "stablehlo.shift_left"(%33, %37) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %39 = "stablehlo.or"(%38, %36) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %40 = "stablehlo.xor"(%39, %34) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %41 = "stablehlo.add"(%34, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %42 = "stablehlo.constant"() {value = dense<1> : tensor<ui32>} : () -> tensor<ui32>
    %43 = "stablehlo.add"(%10, %42) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %44 = "stablehlo.add"(%40, %43) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %45 = "stablehlo.add"(%41, %44) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %46 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %47 = "stablehlo.shift_right_logical"(%44, %46) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %48 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %49 = "stablehlo.shift_left"(%44, %48) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %50 = "stablehlo.or"(%49, %47) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %51 = "stablehlo.xor"(%50, %45) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %52 = "stablehlo.add"(%45, %51) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %53 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %54 = "stablehlo.shift_right_logical"(%51, %53) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %55 = "stablehlo.constant"() {value = dense<29> : tensor<ui32>} : () -> tensor<ui32>
    %56 = "stablehlo.shift_left"(%51, %55) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %57 = "stablehlo.or"(%56, %54) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %58 = "stablehlo.xor"(%57, %52) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %59 = "stablehlo.add"(%52, %58) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %60 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %61 = "stablehlo.shift_right_logical"(%58, %60) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %62 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %63 = "stablehlo.shift_left"(%58, %62) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %64 = "stablehlo.or"(%63, %61) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %65 = "stablehlo.xor"(%64, %59) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %66 = "stablehlo.add"(%59, %65) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %67 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %68 = "stablehlo.shift_right_logical"(%65, %67) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %69 = "stablehlo.constant"() {value = dense<24> : tensor<ui32>} : () -> tensor<ui32>
    %70 = "stablehlo.shift_left"(%65, %69) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %71 = "stablehlo.or"(%70, %68) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %72 = "stablehlo.xor"(%71, %66) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %73 = "stablehlo.add"(%66, %10) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %74 = "stablehlo.constant"() {value = dense<2> : tensor<ui32>} : () -> tensor<ui32>
    %75 = "stablehlo.add"(%5, %74) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %76 = "stablehlo.add"(%72, %75) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %77 = "stablehlo.add"(%73, %76) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %78 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %79 = "stablehlo.shift_right_logical"(%76, %78) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %80 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %81 = "stablehlo.shift_left"(%76, %80) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %82 = "stablehlo.or"(%81, %79) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %83 = "stablehlo.xor"(%82, %77) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %84 = "stablehlo.add"(%77, %83) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %85 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %86 = "stablehlo.shift_right_logical"(%83, %85) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %87 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %88 = "stablehlo.shift_left"(%83, %87) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %89 = "stablehlo.or"(%88, %86) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %90 = "stablehlo.xor"(%89, %84) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %91 = "stablehlo.add"(%84, %90) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %92 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %93 = "stablehlo.shift_right_logical"(%90, %92) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %94 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %95 = "stablehlo.shift_left"(%90, %94) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %96 = "stablehlo.or"(%95, %93) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %97 = "stablehlo.xor"(%96, %91) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %98 = "stablehlo.add"(%91, %97) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %99 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %100 = "stablehlo.shift_right_logical"(%97, %99) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %101 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %102 = "stablehlo.shift_left"(%97, %101) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %103 = "stablehlo.or"(%102, %100) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %104 = "stablehlo.xor"(%103, %98) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %105 = "stablehlo.add"(%98, %5) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %106 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %107 = "stablehlo.add"(%7, %106) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %108 = "stablehlo.add"(%104, %107) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %109 = "stablehlo.add"(%105, %108) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %110 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %111 = "stablehlo.shift_right_logical"(%108, %110) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %112 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %113 = "stablehlo.shift_left"(%108, %112) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %114 = "stablehlo.or"(%113, %111) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %115 = "stablehlo.xor"(%114, %109) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %116 = "stablehlo.add"(%109, %115) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %117 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %118 = "stablehlo.shift_right_logical"(%115, %117) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %119 = "stablehlo.constant"() {value = dense<29> : tensor<ui32>} : () -> tensor<ui32>
    %120 = "stablehlo.shift_left"(%115, %119) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %121 = "stablehlo.or"(%120, %118) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %122 = "stablehlo.xor"(%121, %116) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %123 = "stablehlo.add"(%116, %122) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %124 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %125 = "stablehlo.shift_right_logical"(%122, %124) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %126 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %127 = "stablehlo.shift_left"(%122, %126) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %128 = "stablehlo.or"(%127, %125) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %129 = "stablehlo.xor"(%128, %123) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %130 = "stablehlo.add"(%123, %129) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %131 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %132 = "stablehlo.shift_right_logical"(%129, %131) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %133 = "stablehlo.constant"() {value = dense<24> : tensor<ui32>} : () -> tensor<ui32>
    %134 = "stablehlo.shift_left"(%129, %133) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %135 = "stablehlo.or"(%134, %132) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %136 = "stablehlo.xor"(%135, %130) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %137 = "stablehlo.add"(%130, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %138 = "stablehlo.constant"() {value = dense<4> : tensor<ui32>} : () -> tensor<ui32>
    %139 = "stablehlo.add"(%10, %138) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %140 = "stablehlo.add"(%136, %139) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %141 = "stablehlo.add"(%137, %140) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %142 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %143 = "stablehlo.shift_right_logical"(%140, %142) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %144 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %145 = "stablehlo.shift_left"(%140, %144) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %146 = "stablehlo.or"(%145, %143) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %147 = "stablehlo.xor"(%146, %141) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %148 = "stablehlo.add"(%141, %147) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %149 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %150 = "stablehlo.shift_right_logical"(%147, %149) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %151 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %152 = "stablehlo.shift_left"(%147, %151) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %153 = "stablehlo.or"(%152, %150) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %154 = "stablehlo.xor"(%153, %148) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %155 = "stablehlo.add"(%148, %154) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %156 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %157 = "stablehlo.shift_right_logical"(%154, %156) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %158 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %159 = "stablehlo.shift_left"(%154, %158) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %160 = "stablehlo.or"(%159, %157) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %161 = "stablehlo.xor"(%160, %155) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %162 = "stablehlo.add"(%155, %161) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %163 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %164 = "stablehlo.shift_right_logical"(%161, %163) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %165 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %166 = "stablehlo.shift_left"(%161, %165) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %167 = "stablehlo.or"(%166, %164) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %168 = "stablehlo.xor"(%167, %162) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %169 = "stablehlo.add"(%162, %10) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %170 = "stablehlo.constant"() {value = dense<5> : tensor<ui32>} : () -> tensor<ui32>
    %171 = "stablehlo.add"(%5, %170) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %172 = "stablehlo.add"(%168, %171) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %173 = "stablehlo.reshape"(%169) : (tensor<ui32>) -> tensor<1xui32>
    %174 = "stablehlo.reshape"(%172) : (tensor<ui32>) -> tensor<1xui32>
    %175 = "stablehlo.concatenate"(%173, %174) {dimension = 0 : i64} : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    "func.return"(%175) : (tensor<2xui32>) -> ()
  }
}
