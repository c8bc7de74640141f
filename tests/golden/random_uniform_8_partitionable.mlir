module @random_uniform_8_partitionable attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xui32>) -> (tensor<8xf32>) {
    %0 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %1 = "stablehlo.reshape"(%0) : (tensor<1xui32>) -> tensor<ui32>
    %2 = "stablehlo.slice"(%arg0) {start_indices = array<i64: 1>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<2xui32>) -> tensor<1xui32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1xui32>) -> tensor<ui32>
    %4 = "stablehlo.constant"() {value = dense<0> : tensor<8xui32>} : () -> tensor<8xui32>
    %5 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<8xui32>
    %6 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %7 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<8xui32>
    %8 = "stablehlo.broadcast_in_dim"(%3) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<8xui32>
    %9 = "stablehlo.xor"(%1, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %10 = "stablehlo.xor"(%9, %6) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %11 = "stablehlo.broadcast_in_dim"(%10) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<8xui32>
    %12 = "stablehlo.add"(%4, %7) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %13 = "stablehlo.add"(%5, %8) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %14 = "stablehlo.add"(%12, %13) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %15 = "stablehlo.constant"() {value = dense<19> : tensor<8xui32>} : () -> tensor<8xui32>
    %16 = "stablehlo.shift_right_logical"(%13, %15) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %17 = "stablehlo.constant"() {value = dense<13> : tensor<8xui32>} : () -> tensor<8xui32>
    %18 = "stablehlo.shift_left"(%13, %17) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %19 = "stablehlo.or"(%18, %16) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %20 = "stablehlo.xor"(%19, %14) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %21 = "stablehlo.add"(%14, %20) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %22 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %23 = "stablehlo.shift_right_logical"(%20, %22) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %24 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %25 = "stablehlo.shift_left"(%20, %24) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %26 = "stablehlo.or"(%25, %23) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %27 = "stablehlo.xor"(%26, %21) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %28 = "stablehlo.add"(%21, %27) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %29 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %30 = "stablehlo.shift_right_logical"(%27, %29) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %31 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %32 = "stablehlo.shift_left"(%27, %31) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %33 = "stablehlo.or"(%32, %30) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %34 = "stablehlo.xor"(%33, %28) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %35 = "stablehlo.add"(%28, %34) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %36 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %37 = "stablehlo.shift_right_logical"(%34, %36) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %38 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %39 = "stablehlo.shift_left"(%34, %38) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %40 = "stablehlo.or"(%39, %37) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %41 = "stablehlo.xor"(%40, %35) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %42 = "stablehlo.add"(%35, %8) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %43 = "stablehlo.constant"() {value = dense<1> : tensor<8xui32>} : () -> tensor<8xui32>
    %44 = "stablehlo.add"(%11, %43) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %45 = "stablehlo.add"(%41, %44) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %46 = "stablehlo.add"(%42, %45) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %47 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %48 = "stablehlo.shift_right_logical"(%45, %47) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %49 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %50 = "stablehlo.shift_left"(%45, %49) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %51 = "stablehlo.or"(%50, %48) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %52 = "stablehlo.xor"(%51, %46) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %53 = "stablehlo.add"(%46, %52) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %54 = "stablehlo.constant"() {value = dense<3> : tensor<8xui32>} : () -> tensor<8xui32>
    %55 = "stablehlo.shift_right_logical"(%52, %54) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %56 = "stablehlo.constant"() {value = dense<29> : tensor<8xui32>} : () -> tensor<8xui32>
    %57 = "stablehlo.shift_left"(%52, %56) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %58 = "stablehlo.or"(%57, %55) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %59 = "stablehlo.xor"(%58, %53) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %60 = "stablehlo.add"(%53, %59) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %61 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %62 = "stablehlo.shift_right_logical"(%59, %61) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %63 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %64 = "stablehlo.shift_left"(%59, %63) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %65 = "stablehlo.or"(%64, %62) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %66 = "stablehlo.xor"(%65, %60) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %67 = "stablehlo.add"(%60, %66) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %68 = "stablehlo.constant"() {value = dense<8> : tensor<8xui32>} : () -> tensor<8xui32>
    %69 = "stablehlo.shift_right_logical"(%66, %68) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %70 = "stablehlo.constant"() {value = dense<24> : tensor<8xui32>} : () -> tensor<8xui32>
    %71 = "stablehlo.shift_left"(%66, %70) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %72 = "stablehlo.or"(%71, %69) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %73 = "stablehlo.xor"(%72, %67) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %74 = "stablehlo.add"(%67, %11) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %75 = "stablehlo.constant"() {value = dense<2> : tensor<8xui32>} : () -> tensor<8xui32>
    %76 = "stablehlo.add"(%7, %75) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %77 = "stablehlo.add"(%73, %76) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %78 = "stablehlo.add"(%74, %77) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %79 = "stablehlo.constant"() {value = dense<19> : tensor<8xui32>} : () -> tensor<8xui32>
    %80 = "stablehlo.shift_right_logical"(%77, %79) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %81 = "stablehlo.constant"() {value = dense<13> : tensor<8xui32>} : () -> tensor<8xui32>
    %82 = "stablehlo.shift_left"(%77, %81) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %83 = "stablehlo.or"(%82, %80) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %84 = "stablehlo.xor"(%83, %78) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %85 = "stablehlo.add"(%78, %84) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %86 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %87 = "stablehlo.shift_right_logical"(%84, %86) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %88 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %89 = "stablehlo.shift_left"(%84, %88) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %90 = "stablehlo.or"(%89, %87) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %91 = "stablehlo.xor"(%90, %85) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %92 = "stablehlo.add"(%85, %91) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %93 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %94 = "stablehlo.shift_right_logical"(%91, %93) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %95 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %96 = "stablehlo.shift_left"(%91, %95) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %97 = "stablehlo.or"(%96, %94) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %98 = "stablehlo.xor"(%97, %92) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %99 = "stablehlo.add"(%92, %98) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %100 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %101 = "stablehlo.shift_right_logical"(%98, %100) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %102 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %103 = "stablehlo.shift_left"(%98, %102) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %104 = "stablehlo.or"(%103, %101) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %105 = "stablehlo.xor"(%104, %99) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %106 = "stablehlo.add"(%99, %7) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %107 = "stablehlo.constant"() {value = dense<3> : tensor<8xui32>} : () -> tensor<8xui32>
    %108 = "stablehlo.add"(%8, %107) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %109 = "stablehlo.add"(%105, %108) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %110 = "stablehlo.add"(%106, %109) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %111 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %112 = "stablehlo.shift_right_logical"(%109, %111) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %113 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %114 = "stablehlo.shift_left"(%109, %113) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %115 = "stablehlo.or"(%114, %112) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %116 = "stablehlo.xor"(%115, %110) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %117 = "stablehlo.add"(%110, %116) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %118 = "stablehlo.constant"() {value = dense<3> : tensor<8xui32>} : () -> tensor<8xui32>
    %119 = "stablehlo.shift_right_logical"(%116, %118) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %120 = "stablehlo.constant"() {value = dense<29> : tensor<8xui32>} : () -> tensor<8xui32>
    %121 = "stablehlo.shift_left"(%116, %120) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %122 = "stablehlo.or"(%121, %119) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %123 = "stablehlo.xor"(%122, %117) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %124 = "stablehlo.add"(%117, %123) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %125 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %126 = "stablehlo.shift_right_logical"(%123, %125) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %127 = "stablehlo.constant"() {value = dense<16> : tensor<8xui32>} : () -> tensor<8xui32>
    %128 = "stablehlo.shift_left"(%123, %127) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %129 = "stablehlo.or"(%128, %126) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %130 = "stablehlo.xor"(%129, %124) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %131 = "stablehlo.add"(%124, %130) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %132 = "stablehlo.constant"() {value = dense<8> : tensor<8xui32>} : () -> tensor<8xui32>
    %133 = "stablehlo.shift_right_logical"(%130, %132) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %134 = "stablehlo.constant"() {value = dense<24> : tensor<8xui32>} : () -> tensor<8xui32>
    %135 = "stablehlo.shift_left"(%130, %134) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %136 = "stablehlo.or"(%135, %133) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %137 = "stablehlo.xor"(%136, %131) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %138 = "stablehlo.add"(%131, %8) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %139 = "stablehlo.constant"() {value = dense<4> : tensor<8xui32>} : () -> tensor<8xui32>
    %140 = "stablehlo.add"(%11, %139) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %141 = "stablehlo.add"(%137, %140) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %142 = "stablehlo.add"(%138, %141) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %143 = "stablehlo.constant"() {value = dense<19> : tensor<8xui32>} : () -> tensor<8xui32>
    %144 = "stablehlo.shift_right_logical"(%141, %143) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %145 = "stablehlo.constant"() {value = dense<13> : tensor<8xui32>} : () -> tensor<8xui32>
    %146 = "stablehlo.shift_left"(%141, %145) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %147 = "stablehlo.or"(%146, %144) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %148 = "stablehlo.xor"(%147, %142) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %149 = "stablehlo.add"(%142, %148) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %150 = "stablehlo.constant"() {value = dense<17> : tensor<8xui32>} : () -> tensor<8xui32>
    %151 = "stablehlo.shift_right_logical"(%148, %150) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %152 = "stablehlo.constant"() {value = dense<15> : tensor<8xui32>} : () -> tensor<8xui32>
    %153 = "stablehlo.shift_left"(%148, %152) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %154 = "stablehlo.or"(%153, %151) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %155 = "stablehlo.xor"(%154, %149) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %156 = "stablehlo.add"(%149, %155) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %157 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %158 = "stablehlo.shift_right_logical"(%155, %157) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %159 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %160 = "stablehlo.shift_left"(%155, %159) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %161 = "stablehlo.or"(%160, %158) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %162 = "stablehlo.xor"(%161, %156) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %163 = "stablehlo.add"(%156, %162) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %164 = "stablehlo.constant"() {value = dense<26> : tensor<8xui32>} : () -> tensor<8xui32>
    %165 = "stablehlo.shift_right_logical"(%162, %164) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %166 = "stablehlo.constant"() {value = dense<6> : tensor<8xui32>} : () -> tensor<8xui32>
    %167 = "stablehlo.shift_left"(%162, %166) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %168 = "stablehlo.or"(%167, %165) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %169 = "stablehlo.xor"(%168, %163) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %170 = "stablehlo.add"(%163, %11) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %171 = "stablehlo.constant"() {value = dense<5> : tensor<8xui32>} : () -> tensor<8xui32>
    %172 = "stablehlo.add"(%7, %171) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %173 = "stablehlo.add"(%169, %172) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %174 = "stablehlo.xor"(%170, %173) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %175 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %176 = "stablehlo.broadcast_in_dim"(%175) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<8xui32>
    %177 = "stablehlo.shift_right_logical"(%174, %176) : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xui32>
    %178 = "stablehlo.bitcast_convert"(%177) : (tensor<8xui32>) -> tensor<8xi32>
    %179 = "stablehlo.convert"(%178) : (tensor<8xi32>) -> tensor<8xf32>
    %180 = "stablehlo.constant"() {value = dense<0x33800000> : tensor<8xf32>} : () -> tensor<8xf32>
    %181 = "stablehlo.multiply"(%179, %180) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%181) : (tensor<8xf32>) -> ()
  }
}
