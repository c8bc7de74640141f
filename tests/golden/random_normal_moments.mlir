module @random_normal_moments attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %1 = "stablehlo.constant"() {value = dense<2> : tensor<ui32>} : () -> tensor<ui32>
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
    %173 = "stablehlo.reshape"(%172) : (tensor<1001000xui32>) -> tensor<1001x1000xui32>
    %174 = "stablehlo.bitcast_convert"(%173) : (tensor<1001x1000xui32>) -> tensor<1001x1000xi32>
    %175 = "stablehlo.constant"() {value = dense<31> : tensor<i32>} : () -> tensor<i32>
    %176 = "stablehlo.broadcast_in_dim"(%175) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1001x1000xi32>
    %177 = "stablehlo.shift_right_arithmetic"(%174, %176) : (tensor<1001x1000xi32>, tensor<1001x1000xi32>) -> tensor<1001x1000xi32>
    %178 = "stablehlo.constant"() {value = dense<8> : tensor<i32>} : () -> tensor<i32>
    %179 = "stablehlo.xor"(%174, %177) : (tensor<1001x1000xi32>, tensor<1001x1000xi32>) -> tensor<1001x1000xi32>
    %180 = "stablehlo.broadcast_in_dim"(%178) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> tensor<1001x1000xi32>
    %181 = "stablehlo.shift_right_arithmetic"(%179, %180) : (tensor<1001x1000xi32>, tensor<1001x1000xi32>) -> tensor<1001x1000xi32>
    %182 = "stablehlo.convert"(%181) : (tensor<1001x1000xi32>) -> tensor<1001x1000xf32>
    %183 = "stablehlo.constant"() {value = dense<0x34000000> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %184 = "stablehlo.multiply"(%182, %183) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %185 = "stablehlo.constant"() {value = dense<0x33800000> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %186 = "stablehlo.add"(%184, %185) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %187 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %188 = "stablehlo.subtract"(%187, %186) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %189 = "stablehlo.multiply"(%186, %188) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %190 = "stablehlo.log"(%189) : (tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %191 = "stablehlo.negate"(%190) : (tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %192 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %193 = "stablehlo.subtract"(%192, %186) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %194 = "stablehlo.sqrt"(%191) : (tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %195 = "stablehlo.constant"() {value = dense<3.000000e+00> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %196 = "stablehlo.subtract"(%194, %195) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %197 = "stablehlo.constant"() {value = dense<0xB951F09B> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %198 = "stablehlo.multiply"(%197, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %199 = "stablehlo.constant"() {value = dense<0x38D3B56B> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %200 = "stablehlo.add"(%198, %199) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %201 = "stablehlo.multiply"(%200, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %202 = "stablehlo.constant"() {value = dense<0x3AB0DC72> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %203 = "stablehlo.add"(%201, %202) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %204 = "stablehlo.multiply"(%203, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %205 = "stablehlo.constant"() {value = dense<0xBB70BDE7> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %206 = "stablehlo.add"(%204, %205) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %207 = "stablehlo.multiply"(%206, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %208 = "stablehlo.constant"() {value = dense<0x3BBC127B> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %209 = "stablehlo.add"(%207, %208) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %210 = "stablehlo.multiply"(%209, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %211 = "stablehlo.constant"() {value = dense<0xBBF9C5D7> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %212 = "stablehlo.add"(%210, %211) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %213 = "stablehlo.multiply"(%212, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %214 = "stablehlo.constant"() {value = dense<0x3C1AA57E> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %215 = "stablehlo.add"(%213, %214) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %216 = "stablehlo.multiply"(%215, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %217 = "stablehlo.constant"() {value = dense<1.001674e+00> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %218 = "stablehlo.add"(%216, %217) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %219 = "stablehlo.multiply"(%218, %196) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %220 = "stablehlo.constant"() {value = dense<0x40354F7E> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %221 = "stablehlo.add"(%219, %220) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %222 = "stablehlo.constant"() {value = dense<2.500000e+00> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %223 = "stablehlo.subtract"(%191, %222) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %224 = "stablehlo.constant"() {value = dense<0x32F16588> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %225 = "stablehlo.multiply"(%224, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %226 = "stablehlo.constant"() {value = dense<0x34B84B36> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %227 = "stablehlo.add"(%225, %226) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %228 = "stablehlo.multiply"(%227, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %229 = "stablehlo.constant"() {value = dense<0xB66C7357> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %230 = "stablehlo.add"(%228, %229) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %231 = "stablehlo.multiply"(%230, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %232 = "stablehlo.constant"() {value = dense<0xB6935AC1> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %233 = "stablehlo.add"(%231, %232) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %234 = "stablehlo.multiply"(%233, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %235 = "stablehlo.constant"() {value = dense<0x396532DB> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %236 = "stablehlo.add"(%234, %235) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %237 = "stablehlo.multiply"(%236, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %238 = "stablehlo.constant"() {value = dense<-1.253725e-03> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %239 = "stablehlo.add"(%237, %238) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %240 = "stablehlo.multiply"(%239, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %241 = "stablehlo.constant"() {value = dense<0xBB88E4EF> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %242 = "stablehlo.add"(%240, %241) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %243 = "stablehlo.multiply"(%242, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %244 = "stablehlo.constant"() {value = dense<0x3E7C8F63> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %245 = "stablehlo.add"(%243, %244) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %246 = "stablehlo.multiply"(%245, %223) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %247 = "stablehlo.constant"() {value = dense<0x3FC02E2F> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %248 = "stablehlo.add"(%246, %247) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %249 = "stablehlo.constant"() {value = dense<5.000000e+00> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %250 = "stablehlo.compare"(%191, %249) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xi1>
    %251 = "stablehlo.select"(%250, %248, %221) : (tensor<1001x1000xi1>, tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %252 = "stablehlo.multiply"(%251, %193) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %253 = "stablehlo.constant"() {value = dense<0x3FB504F3> : tensor<1001x1000xf32>} : () -> tensor<1001x1000xf32>
    %254 = "stablehlo.multiply"(%252, %253) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %255 = "stablehlo.negate"(%254) : (tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %256 = "stablehlo.constant"() {value = dense<0> : tensor<1001x1000xi32>} : () -> tensor<1001x1000xi32>
    %257 = "stablehlo.compare"(%174, %256) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<1001x1000xi32>, tensor<1001x1000xi32>) -> tensor<1001x1000xi1>
    %258 = "stablehlo.select"(%257, %254, %255) : (tensor<1001x1000xi1>, tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %259 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %263 = "stablehlo.reduce"(%258, %259) ({
    ^bb0(%260: tensor<f32>, %261: tensor<f32>):
      %262 = "stablehlo.add"(%260, %261) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%262) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1001x1000xf32>, tensor<f32>) -> tensor<f32>
    %264 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %265 = "stablehlo.divide"(%263, %264) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %266 = "stablehlo.broadcast_in_dim"(%265) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<1001x1000xf32>
    %267 = "stablehlo.subtract"(%258, %266) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %268 = "stablehlo.multiply"(%267, %267) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %269 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %273 = "stablehlo.reduce"(%268, %269) ({
    ^bb0(%270: tensor<f32>, %271: tensor<f32>):
      %272 = "stablehlo.add"(%270, %271) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%272) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1001x1000xf32>, tensor<f32>) -> tensor<f32>
    %274 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %275 = "stablehlo.divide"(%273, %274) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %276 = "stablehlo.sqrt"(%275) : (tensor<f32>) -> tensor<f32>
    %277 = "stablehlo.multiply"(%275, %276) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %278 = "stablehlo.multiply"(%268, %267) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %279 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %283 = "stablehlo.reduce"(%278, %279) ({
    ^bb0(%280: tensor<f32>, %281: tensor<f32>):
      %282 = "stablehlo.add"(%280, %281) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%282) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1001x1000xf32>, tensor<f32>) -> tensor<f32>
    %284 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %285 = "stablehlo.divide"(%283, %284) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %286 = "stablehlo.divide"(%285, %277) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %287 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %288 = "stablehlo.add"(%286, %287) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %289 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %290 = "stablehlo.add"(%265, %289) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %291 = "stablehlo.multiply"(%275, %275) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %292 = "stablehlo.multiply"(%268, %268) : (tensor<1001x1000xf32>, tensor<1001x1000xf32>) -> tensor<1001x1000xf32>
    %293 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %297 = "stablehlo.reduce"(%292, %293) ({
    ^bb0(%294: tensor<f32>, %295: tensor<f32>):
      %296 = "stablehlo.add"(%294, %295) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%296) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1001x1000xf32>, tensor<f32>) -> tensor<f32>
    %298 = "stablehlo.constant"() {value = dense<1.001000e+06> : tensor<f32>} : () -> tensor<f32>
    %299 = "stablehlo.divide"(%297, %298) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %300 = "stablehlo.divide"(%299, %291) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%290, %275, %288, %300) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> ()
  }
}
