module @random_uniform_moments attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %1 = "stablehlo.constant"() {value = dense<1> : tensor<ui32>} : () -> tensor<ui32>
    %2 = "stablehlo.constant"() {value = dense<0> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %3 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<1001000xui32>
    %4 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %5 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1001000xui32>
    %6 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1001000xui32>
    %7 = "stablehlo.xor"(%0, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %8 = "stablehlo.xor"(%7, %4) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1001000xui32>
    %10 = "stablehlo.add"(%2, %5) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %11 = "stablehlo.add"(%3, %6) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %12 = "stablehlo.add"(%10, %11) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %13 = "stablehlo.constant"() {value = dense<19> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %14 = "stablehlo.shift_right_logical"(%11, %13) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %15 = "stablehlo.constant"() {value = dense<13> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %16 = "stablehlo.shift_left"(%11, %15) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %17 = "stablehlo.or"(%16, %14) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %18 = "stablehlo.xor"(%17, %12) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %19 = "stablehlo.add"(%12, %18) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %20 = "stablehlo.constant"() {value = dense<17> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %21 = "stablehlo.shift_right_logical"(%18, %20) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %22 = "stablehlo.constant"() {value = dense<15> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %23 = "stablehlo.shift_left"(%18, %22) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %24 = "stablehlo.or"(%23, %21) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %25 = "stablehlo.xor"(%24, %19) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %26 = "stablehlo.add"(%19, %25) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %27 = "stablehlo.constant"() {value = dense<6> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %28 = "stablehlo.shift_right_logical"(%25, %27) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %29 = "stablehlo.constant"() {value = dense<26> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %30 = "stablehlo.shift_left"(%25, %29) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %31 = "stablehlo.or"(%30, %28) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %32 = "stablehlo.xor"(%31, %26) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %33 = "stablehlo.add"(%26, %32) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %34 = "stablehlo.constant"() {value = dense<26> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %35 = "stablehlo.shift_right_logical"(%32, %34) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %36 = "stablehlo.constant"() {value = dense<6> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %37 = "stablehlo.shift_left"(%32, %36) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %38 = "stablehlo.or"(%37, %35) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %39 = "stablehlo.xor"(%38, %33) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %40 = "stablehlo.add"(%33, %6) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %41 = "stablehlo.constant"() {value = dense<1> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %42 = "stablehlo.add"(%9, %41) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %43 = "stablehlo.add"(%39, %42) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %44 = "stablehlo.add"(%40, %43) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %45 = "stablehlo.constant"() {value = dense<15> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %46 = "stablehlo.shift_right_logical"(%43, %45) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %47 = "stablehlo.constant"() {value = dense<17> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %48 = "stablehlo.shift_left"(%43, %47) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %49 = "stablehlo.or"(%48, %46) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %50 = "stablehlo.xor"(%49, %44) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %51 = "stablehlo.add"(%44, %50) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %52 = "stablehlo.constant"() {value = dense<3> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %53 = "stablehlo.shift_right_logical"(%50, %52) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %54 = "stablehlo.constant"() {value = dense<29> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %55 = "stablehlo.shift_left"(%50, %54) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %56 = "stablehlo.or"(%55, %53) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %57 = "stablehlo.xor"(%56, %51) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %58 = "stablehlo.add"(%51, %57) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %59 = "stablehlo.constant"() {value = dense<16> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %60 = "stablehlo.shift_right_logical"(%57, %59) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %61 = "stablehlo.constant"() {value = dense<16> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %62 = "stablehlo.shift_left"(%57, %61) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %63 = "stablehlo.or"(%62, %60) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %64 = "stablehlo.xor"(%63, %58) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %65 = "stablehlo.add"(%58, %64) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %66 = "stablehlo.constant"() {value = dense<8> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %67 = "stablehlo.shift_right_logical"(%64, %66) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %68 = "stablehlo.constant"() {value = dense<24> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %69 = "stablehlo.shift_left"(%64, %68) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %70 = "stablehlo.or"(%69, %67) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %71 = "stablehlo.xor"(%70, %65) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %72 = "stablehlo.add"(%65, %9) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %73 = "stablehlo.constant"() {value = dense<2> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %74 = "stablehlo.add"(%5, %73) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %75 = "stablehlo.add"(%71, %74) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %76 = "stablehlo.add"(%72, %75) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %77 = "stablehlo.constant"() {value = dense<19> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %78 = "stablehlo.shift_right_logical"(%75, %77) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %79 = "stablehlo.constant"() {value = dense<13> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %80 = "stablehlo.shift_left"(%75, %79) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %81 = "stablehlo.or"(%80, %78) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %82 = "stablehlo.xor"(%81, %76) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %83 = "stablehlo.add"(%76, %82) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %84 = "stablehlo.constant"() {value = dense<17> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %85 = "stablehlo.shift_right_logical"(%82, %84) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %86 = "stablehlo.constant"() {value = dense<15> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %87 = "stablehlo.shift_left"(%82, %86) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %88 = "stablehlo.or"(%87, %85) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %89 = "stablehlo.xor"(%88, %83) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %90 = "stablehlo.add"(%83, %89) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %91 = "stablehlo.constant"() {value = dense<6> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %92 = "stablehlo.shift_right_logical"(%89, %91) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %93 = "stablehlo.constant"() {value = dense<26> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %94 = "stablehlo.shift_left"(%89, %93) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %95 = "stablehlo.or"(%94, %92) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %96 = "stablehlo.xor"(%95, %90) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %97 = "stablehlo.add"(%90, %96) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %98 = "stablehlo.constant"() {value = dense<26> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %99 = "stablehlo.shift_right_logical"(%96, %98) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %100 = "stablehlo.constant"() {value = dense<6> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %101 = "stablehlo.shift_left"(%96, %100) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %102 = "stablehlo.or"(%101, %99) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %103 = "stablehlo.xor"(%102, %97) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %104 = "stablehlo.add"(%97, %5) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %105 = "stablehlo.constant"() {value = dense<3> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %106 = "stablehlo.add"(%6, %105) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %107 = "stablehlo.add"(%103, %106) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %108 = "stablehlo.add"(%104, %107) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %109 = "stablehlo.constant"() {value = dense<15> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %110 = "stablehlo.shift_right_logical"(%107, %109) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %111 = "stablehlo.constant"() {value = dense<17> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %112 = "stablehlo.shift_left"(%107, %111) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %113 = "stablehlo.or"(%112, %110) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %114 = "stablehlo.xor"(%113, %108) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %115 = "stablehlo.add"(%108, %114) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %116 = "stablehlo.constant"() {value = dense<3> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %117 = "stablehlo.shift_right_logical"(%114, %116) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %118 = "stablehlo.constant"() {value = dense<29> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %119 = "stablehlo.shift_left"(%114, %118) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %120 = "stablehlo.or"(%119, %117) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %121 = "stablehlo.xor"(%120, %115) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %122 = "stablehlo.add"(%115, %121) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %123 = "stablehlo.constant"() {value = dense<16> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %124 = "stablehlo.shift_right_logical"(%121, %123) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %125 = "stablehlo.constant"() {value = dense<16> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %126 = "stablehlo.shift_left"(%121, %125) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %127 = "stablehlo.or"(%126, %124) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %128 = "stablehlo.xor"(%127, %122) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %129 = "stablehlo.add"(%122, %128) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %130 = "stablehlo.constant"() {value = dense<8> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %131 = "stablehlo.shift_right_logical"(%128, %130) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %132 = "stablehlo.constant"() {value = dense<24> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %133 = "stablehlo.shift_left"(%128, %132) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %134 = "stablehlo.or"(%133, %131) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %135 = "stablehlo.xor"(%134, %129) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %136 = "stablehlo.add"(%129, %6) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %137 = "stablehlo.constant"() {value = dense<4> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %138 = "stablehlo.add"(%9, %137) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %139 = "stablehlo.add"(%135, %138) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %140 = "stablehlo.add"(%136, %139) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %141 = "stablehlo.constant"() {value = dense<19> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %142 = "stablehlo.shift_right_logical"(%139, %141) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %143 = "stablehlo.constant"() {value = dense<13> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %144 = "stablehlo.shift_left"(%139, %143) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %145 = "stablehlo.or"(%144, %142) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %146 = "stablehlo.xor"(%145, %140) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %147 = "stablehlo.add"(%140, %146) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %148 = "stablehlo.constant"() {value = dense<17> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %149 = "stablehlo.shift_right_logical"(%146, %148) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %150 = "stablehlo.constant"() {value = dense<15> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %151 = "stablehlo.shift_left"(%146, %150) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %152 = "stablehlo.or"(%151, %149) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %153 = "stablehlo.xor"(%152, %147) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %154 = "stablehlo.add"(%147, %153) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %155 = "stablehlo.constant"() {value = dense<6> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %156 = "stablehlo.shift_right_logical"(%153, %155) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %157 = "stablehlo.constant"() {value = dense<26> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %158 = "stablehlo.shift_left"(%153, %157) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %159 = "stablehlo.or"(%158, %156) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %160 = "stablehlo.xor"(%159, %154) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %161 = "stablehlo.add"(%154, %160) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %162 = "stablehlo.constant"() {value = dense<26> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %163 = "stablehlo.shift_right_logical"(%160, %162) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %164 = "stablehlo.constant"() {value = dense<6> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %165 = "stablehlo.shift_left"(%160, %164) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %166 = "stablehlo.or"(%165, %163) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %167 = "stablehlo.xor"(%166, %161) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %168 = "stablehlo.add"(%161, %9) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %169 = "stablehlo.constant"() {value = dense<5> : tensor<1001000xui32>} : () -> tensor<1001000xui32>
    %170 = "stablehlo.add"(%5, %169) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %171 = "stablehlo.add"(%167, %170) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %172 = "stablehlo.xor"(%168, %171) : (tensor<1001000xui32>, tensor<1001000xui32>) -> tensor<1001000xui32>
    %173 = "stablehlo.reshape"(%172) : (tensor<1001000xui32>) -> tensor<1000x1001xui32>
    %174 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %175 = "stablehlo.broadcast_in_dim"(%174) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000x1001xui32>
    %176 = "stablehlo.shift_right_logical"(%173, %175) : (tensor<1000x1001xui32>, tensor<1000x1001xui32>) -> tensor<1000x1001xui32>
    %177 = "stablehlo.bitcast_convert"(%176) : (tensor<1000x1001xui32>) -> tensor<1000x1001xi32>
    %178 = "stablehlo.convert"(%177) : (tensor<1000x1001xi32>) -> tensor<1000x1001xf32>
    %179 = "stablehlo.constant"() {value = dense<0x33800000> : tensor<1000x1001xf32>} : () -> tensor<1000x1001xf32>
    %180 = "stablehlo.multiply"(%178, %179) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %181 = "stablehlo.constant"() {value = dense<5.000000e+00> : tensor<1000x1001xf32>} : () -> tensor<1000x1001xf32>
    %182 = "stablehlo.multiply"(%180, %181) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %183 = "stablehlo.constant"() {value = dense<-2.000000e+00> : tensor<1000x1001xf32>} : () -> tensor<1000x1001xf32>
    %184 = "stablehlo.add"(%182, %183) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %185 = "stablehlo.constant"() {value = dense<0x403FFFFF> : tensor<1000x1001xf32>} : () -> tensor<1000x1001xf32>
    %186 = "stablehlo.minimum"(%184, %185) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %187 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %191 = "stablehlo.reduce"(%186, %187) ({
    ^bb0(%188: tensor<f32>, %189: tensor<f32>):
      %190 = "stablehlo.add"(%188, %189) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%190) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1001xf32>, tensor<f32>) -> tensor<f32>
    %192 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %193 = "stablehlo.divide"(%191, %192) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %194 = "stablehlo.broadcast_in_dim"(%193) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1000x1001xf32>
    %195 = "stablehlo.subtract"(%186, %194) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %196 = "stablehlo.multiply"(%195, %195) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %197 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %201 = "stablehlo.reduce"(%196, %197) ({
    ^bb0(%198: tensor<f32>, %199: tensor<f32>):
      %200 = "stablehlo.add"(%198, %199) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%200) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1001xf32>, tensor<f32>) -> tensor<f32>
    %202 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %203 = "stablehlo.divide"(%201, %202) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %204 = "stablehlo.sqrt"(%203) : (tensor<f32>) -> tensor<f32>
    %205 = "stablehlo.multiply"(%203, %204) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %206 = "stablehlo.multiply"(%196, %195) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %207 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %211 = "stablehlo.reduce"(%206, %207) ({
    ^bb0(%208: tensor<f32>, %209: tensor<f32>):
      %210 = "stablehlo.add"(%208, %209) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%210) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1001xf32>, tensor<f32>) -> tensor<f32>
    %212 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %213 = "stablehlo.divide"(%211, %212) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %214 = "stablehlo.divide"(%213, %205) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %215 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %216 = "stablehlo.add"(%214, %215) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %217 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %218 = "stablehlo.add"(%193, %217) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %219 = "stablehlo.multiply"(%203, %203) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %220 = "stablehlo.multiply"(%196, %196) : (tensor<1000x1001xf32>, tensor<1000x1001xf32>) -> tensor<1000x1001xf32>
    %221 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %225 = "stablehlo.reduce"(%220, %221) ({
    ^bb0(%222: tensor<f32>, %223: tensor<f32>):
      %224 = "stablehlo.add"(%222, %223) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%224) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1001xf32>, tensor<f32>) -> tensor<f32>
    %226 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %227 = "stablehlo.divide"(%225, %226) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %228 = "stablehlo.divide"(%227, %219) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %229 = "stablehlo.constant"() {value = dense<0x7F800000> : tensor<f32>} : () -> tensor<f32>
    %233 = "stablehlo.reduce"(%186, %229) ({
    ^bb0(%230: tensor<f32>, %231: tensor<f32>):
      %232 = "stablehlo.minimum"(%230, %231) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%232) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1001xf32>, tensor<f32>) -> tensor<f32>
    %234 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %238 = "stablehlo.reduce"(%186, %234) ({
    ^bb0(%235: tensor<f32>, %236: tensor<f32>):
      %237 = "stablehlo.maximum"(%235, %236) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%237) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1001xf32>, tensor<f32>) -> tensor<f32>
    %239 = "stablehlo.constant"() {value = dense<3.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %240 = "stablehlo.compare"(%238, %239) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %241 = "stablehlo.convert"(%240) : (tensor<i1>) -> tensor<f32>
    "func.return"(%218, %203, %216, %228, %233, %241) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> ()
  }
}
