module @random_bernoulli attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %1 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %2 = "stablehlo.constant"() {value = dense<0> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %3 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<1000000xui32>
    %4 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %5 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %6 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %7 = "stablehlo.xor"(%0, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %8 = "stablehlo.xor"(%7, %4) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %10 = "stablehlo.add"(%2, %5) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %11 = "stablehlo.add"(%3, %6) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %12 = "stablehlo.add"(%10, %11) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %13 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %14 = "stablehlo.shift_right_logical"(%11, %13) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %15 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %16 = "stablehlo.shift_left"(%11, %15) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %17 = "stablehlo.or"(%16, %14) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %18 = "stablehlo.xor"(%17, %12) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %19 = "stablehlo.add"(%12, %18) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %20 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %21 = "stablehlo.shift_right_logical"(%18, %20) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %22 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %23 = "stablehlo.shift_left"(%18, %22) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %24 = "stablehlo.or"(%23, %21) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %25 = "stablehlo.xor"(%24, %19) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %26 = "stablehlo.add"(%19, %25) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %27 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %28 = "stablehlo.shift_right_logical"(%25, %27) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %29 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %30 = "stablehlo.shift_left"(%25, %29) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %31 = "stablehlo.or"(%30, %28) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %32 = "stablehlo.xor"(%31, %26) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %33 = "stablehlo.add"(%26, %32) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %34 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %35 = "stablehlo.shift_right_logical"(%32, %34) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %36 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %37 = "stablehlo.shift_left"(%32, %36) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %38 = "stablehlo.or"(%37, %35) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %39 = "stablehlo.xor"(%38, %33) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %40 = "stablehlo.add"(%33, %6) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %41 = "stablehlo.constant"() {value = dense<1> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %42 = "stablehlo.add"(%9, %41) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %43 = "stablehlo.add"(%39, %42) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %44 = "stablehlo.add"(%40, %43) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %45 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %46 = "stablehlo.shift_right_logical"(%43, %45) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %47 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %48 = "stablehlo.shift_left"(%43, %47) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %49 = "stablehlo.or"(%48, %46) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %50 = "stablehlo.xor"(%49, %44) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %51 = "stablehlo.add"(%44, %50) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %52 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %53 = "stablehlo.shift_right_logical"(%50, %52) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %54 = "stablehlo.constant"() {value = dense<29> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %55 = "stablehlo.shift_left"(%50, %54) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %56 = "stablehlo.or"(%55, %53) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %57 = "stablehlo.xor"(%56, %51) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %58 = "stablehlo.add"(%51, %57) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %59 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %60 = "stablehlo.shift_right_logical"(%57, %59) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %61 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %62 = "stablehlo.shift_left"(%57, %61) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %63 = "stablehlo.or"(%62, %60) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %64 = "stablehlo.xor"(%63, %58) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %65 = "stablehlo.add"(%58, %64) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %66 = "stablehlo.constant"() {value = dense<8> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %67 = "stablehlo.shift_right_logical"(%64, %66) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %68 = "stablehlo.constant"() {value = dense<24> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %69 = "stablehlo.shift_left"(%64, %68) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %70 = "stablehlo.or"(%69, %67) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %71 = "stablehlo.xor"(%70, %65) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %72 = "stablehlo.add"(%65, %9) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %73 = "stablehlo.constant"() {value = dense<2> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %74 = "stablehlo.add"(%5, %73) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %75 = "stablehlo.add"(%71, %74) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %76 = "stablehlo.add"(%72, %75) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %77 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %78 = "stablehlo.shift_right_logical"(%75, %77) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %79 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %80 = "stablehlo.shift_left"(%75, %79) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %81 = "stablehlo.or"(%80, %78) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %82 = "stablehlo.xor"(%81, %76) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %83 = "stablehlo.add"(%76, %82) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %84 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %85 = "stablehlo.shift_right_logical"(%82, %84) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %86 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %87 = "stablehlo.shift_left"(%82, %86) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %88 = "stablehlo.or"(%87, %85) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %89 = "stablehlo.xor"(%88, %83) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %90 = "stablehlo.add"(%83, %89) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %91 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %92 = "stablehlo.shift_right_logical"(%89, %91) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %93 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %94 = "stablehlo.shift_left"(%89, %93) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %95 = "stablehlo.or"(%94, %92) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %96 = "stablehlo.xor"(%95, %90) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %97 = "stablehlo.add"(%90, %96) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %98 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %99 = "stablehlo.shift_right_logical"(%96, %98) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %100 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %101 = "stablehlo.shift_left"(%96, %100) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %102 = "stablehlo.or"(%101, %99) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %103 = "stablehlo.xor"(%102, %97) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %104 = "stablehlo.add"(%97, %5) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %105 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %106 = "stablehlo.add"(%6, %105) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %107 = "stablehlo.add"(%103, %106) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %108 = "stablehlo.add"(%104, %107) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %109 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %110 = "stablehlo.shift_right_logical"(%107, %109) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %111 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %112 = "stablehlo.shift_left"(%107, %111) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %113 = "stablehlo.or"(%112, %110) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %114 = "stablehlo.xor"(%113, %108) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %115 = "stablehlo.add"(%108, %114) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %116 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %117 = "stablehlo.shift_right_logical"(%114, %116) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %118 = "stablehlo.constant"() {value = dense<29> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %119 = "stablehlo.shift_left"(%114, %118) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %120 = "stablehlo.or"(%119, %117) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %121 = "stablehlo.xor"(%120, %115) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %122 = "stablehlo.add"(%115, %121) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %123 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %124 = "stablehlo.shift_right_logical"(%121, %123) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %125 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %126 = "stablehlo.shift_left"(%121, %125) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %127 = "stablehlo.or"(%126, %124) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %128 = "stablehlo.xor"(%127, %122) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %129 = "stablehlo.add"(%122, %128) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %130 = "stablehlo.constant"() {value = dense<8> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %131 = "stablehlo.shift_right_logical"(%128, %130) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %132 = "stablehlo.constant"() {value = dense<24> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %133 = "stablehlo.shift_left"(%128, %132) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %134 = "stablehlo.or"(%133, %131) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %135 = "stablehlo.xor"(%134, %129) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %136 = "stablehlo.add"(%129, %6) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %137 = "stablehlo.constant"() {value = dense<4> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %138 = "stablehlo.add"(%9, %137) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %139 = "stablehlo.add"(%135, %138) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %140 = "stablehlo.add"(%136, %139) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %141 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %142 = "stablehlo.shift_right_logical"(%139, %141) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %143 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %144 = "stablehlo.shift_left"(%139, %143) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %145 = "stablehlo.or"(%144, %142) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %146 = "stablehlo.xor"(%145, %140) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %147 = "stablehlo.add"(%140, %146) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %148 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %149 = "stablehlo.shift_right_logical"(%146, %148) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %150 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %151 = "stablehlo.shift_left"(%146, %150) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %152 = "stablehlo.or"(%151, %149) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %153 = "stablehlo.xor"(%152, %147) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %154 = "stablehlo.add"(%147, %153) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %155 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %156 = "stablehlo.shift_right_logical"(%153, %155) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %157 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %158 = "stablehlo.shift_left"(%153, %157) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %159 = "stablehlo.or"(%158, %156) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %160 = "stablehlo.xor"(%159, %154) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %161 = "stablehlo.add"(%154, %160) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %162 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %163 = "stablehlo.shift_right_logical"(%160, %162) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %164 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %165 = "stablehlo.shift_left"(%160, %164) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %166 = "stablehlo.or"(%165, %163) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %167 = "stablehlo.xor"(%166, %161) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %168 = "stablehlo.add"(%161, %9) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %169 = "stablehlo.constant"() {value = dense<5> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %170 = "stablehlo.add"(%5, %169) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %171 = "stablehlo.add"(%167, %170) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %172 = "stablehlo.xor"(%168, %171) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %173 = "stablehlo.reshape"(%172) : (tensor<1000000xui32>) -> tensor<1000x1000xui32>
    %174 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %175 = "stablehlo.broadcast_in_dim"(%174) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000x1000xui32>
    %176 = "stablehlo.compare"(%173, %175) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type UNSIGNED>} : (tensor<1000x1000xui32>, tensor<1000x1000xui32>) -> tensor<1000x1000xi1>
    %177 = "stablehlo.convert"(%176) : (tensor<1000x1000xi1>) -> tensor<1000x1000xf32>
    %178 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %182 = "stablehlo.reduce"(%177, %178) ({
    ^bb0(%179: tensor<f32>, %180: tensor<f32>):
      %181 = "stablehlo.add"(%179, %180) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%181) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<f32>
    %183 = "stablehlo.constant"() {value = dense<1.000000e+06> : tensor<f32>} : () -> tensor<f32>
    %184 = "stablehlo.divide"(%182, %183) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %185 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %186 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %187 = "stablehlo.constant"() {value = dense<0> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %188 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<1000000xui32>
    %189 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %190 = "stablehlo.broadcast_in_dim"(%185) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %191 = "stablehlo.broadcast_in_dim"(%186) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %192 = "stablehlo.xor"(%185, %186) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %193 = "stablehlo.xor"(%192, %189) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %194 = "stablehlo.broadcast_in_dim"(%193) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %195 = "stablehlo.add"(%187, %190) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %196 = "stablehlo.add"(%188, %191) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %197 = "stablehlo.add"(%195, %196) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %198 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %199 = "stablehlo.shift_right_logical"(%196, %198) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %200 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %201 = "stablehlo.shift_left"(%196, %200) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %202 = "stablehlo.or"(%201, %199) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %203 = "stablehlo.xor"(%202, %197) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %204 = "stablehlo.add"(%197, %203) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %205 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %206 = "stablehlo.shift_right_logical"(%203, %205) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %207 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %208 = "stablehlo.shift_left"(%203, %207) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %209 = "stablehlo.or"(%208, %206) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %210 = "stablehlo.xor"(%209, %204) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %211 = "stablehlo.add"(%204, %210) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %212 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %213 = "stablehlo.shift_right_logical"(%210, %212) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %214 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %215 = "stablehlo.shift_left"(%210, %214) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %216 = "stablehlo.or"(%215, %213) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %217 = "stablehlo.xor"(%216, %211) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %218 = "stablehlo.add"(%211, %217) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %219 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %220 = "stablehlo.shift_right_logical"(%217, %219) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %221 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %222 = "stablehlo.shift_left"(%217, %221) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %223 = "stablehlo.or"(%222, %220) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %224 = "stablehlo.xor"(%223, %218) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %225 = "stablehlo.add"(%218, %191) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %226 = "stablehlo.constant"() {value = dense<1> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %227 = "stablehlo.add"(%194, %226) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %228 = "stablehlo.add"(%224, %227) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %229 = "stablehlo.add"(%225, %228) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %230 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %231 = "stablehlo.shift_right_logical"(%228, %230) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %232 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %233 = "stablehlo.shift_left"(%228, %232) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %234 = "stablehlo.or"(%233, %231) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %235 = "stablehlo.xor"(%234, %229) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %236 = "stablehlo.add"(%229, %235) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %237 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %238 = "stablehlo.shift_right_logical"(%235, %237) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %239 = "stablehlo.constant"() {value = dense<29> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %240 = "stablehlo.shift_left"(%235, %239) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %241 = "stablehlo.or"(%240, %238) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %242 = "stablehlo.xor"(%241, %236) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %243 = "stablehlo.add"(%236, %242) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %244 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %245 = "stablehlo.shift_right_logical"(%242, %244) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %246 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %247 = "stablehlo.shift_left"(%242, %246) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %248 = "stablehlo.or"(%247, %245) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %249 = "stablehlo.xor"(%248, %243) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %250 = "stablehlo.add"(%243, %249) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %251 = "stablehlo.constant"() {value = dense<8> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %252 = "stablehlo.shift_right_logical"(%249, %251) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %253 = "stablehlo.constant"() {value = dense<24> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %254 = "stablehlo.shift_left"(%249, %253) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %255 = "stablehlo.or"(%254, %252) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %256 = "stablehlo.xor"(%255, %250) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %257 = "stablehlo.add"(%250, %194) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %258 = "stablehlo.constant"() {value = dense<2> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %259 = "stablehlo.add"(%190, %258) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %260 = "stablehlo.add"(%256, %259) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %261 = "stablehlo.add"(%257, %260) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %262 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %263 = "stablehlo.shift_right_logical"(%260, %262) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %264 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %265 = "stablehlo.shift_left"(%260, %264) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %266 = "stablehlo.or"(%265, %263) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %267 = "stablehlo.xor"(%266, %261) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %268 = "stablehlo.add"(%261, %267) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %269 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %270 = "stablehlo.shift_right_logical"(%267, %269) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %271 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %272 = "stablehlo.shift_left"(%267, %271) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %273 = "stablehlo.or"(%272, %270) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %274 = "stablehlo.xor"(%273, %268) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %275 = "stablehlo.add"(%268, %274) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %276 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %277 = "stablehlo.shift_right_logical"(%274, %276) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %278 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %279 = "stablehlo.shift_left"(%274, %278) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %280 = "stablehlo.or"(%279, %277) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %281 = "stablehlo.xor"(%280, %275) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %282 = "stablehlo.add"(%275, %281) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %283 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %284 = "stablehlo.shift_right_logical"(%281, %283) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %285 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %286 = "stablehlo.shift_left"(%281, %285) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %287 = "stablehlo.or"(%286, %284) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %288 = "stablehlo.xor"(%287, %282) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %289 = "stablehlo.add"(%282, %190) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %290 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %291 = "stablehlo.add"(%191, %290) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %292 = "stablehlo.add"(%288, %291) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %293 = "stablehlo.add"(%289, %292) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %294 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %295 = "stablehlo.shift_right_logical"(%292, %294) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %296 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %297 = "stablehlo.shift_left"(%292, %296) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %298 = "stablehlo.or"(%297, %295) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %299 = "stablehlo.xor"(%298, %293) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %300 = "stablehlo.add"(%293, %299) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %301 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %302 = "stablehlo.shift_right_logical"(%299, %301) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %303 = "stablehlo.constant"() {value = dense<29> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %304 = "stablehlo.shift_left"(%299, %303) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %305 = "stablehlo.or"(%304, %302) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %306 = "stablehlo.xor"(%305, %300) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %307 = "stablehlo.add"(%300, %306) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %308 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %309 = "stablehlo.shift_right_logical"(%306, %308) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %310 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %311 = "stablehlo.shift_left"(%306, %310) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %312 = "stablehlo.or"(%311, %309) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %313 = "stablehlo.xor"(%312, %307) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %314 = "stablehlo.add"(%307, %313) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %315 = "stablehlo.constant"() {value = dense<8> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %316 = "stablehlo.shift_right_logical"(%313, %315) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %317 = "stablehlo.constant"() {value = dense<24> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %318 = "stablehlo.shift_left"(%313, %317) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %319 = "stablehlo.or"(%318, %316) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %320 = "stablehlo.xor"(%319, %314) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %321 = "stablehlo.add"(%314, %191) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %322 = "stablehlo.constant"() {value = dense<4> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %323 = "stablehlo.add"(%194, %322) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %324 = "stablehlo.add"(%320, %323) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %325 = "stablehlo.add"(%321, %324) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %326 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %327 = "stablehlo.shift_right_logical"(%324, %326) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %328 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %329 = "stablehlo.shift_left"(%324, %328) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %330 = "stablehlo.or"(%329, %327) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %331 = "stablehlo.xor"(%330, %325) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %332 = "stablehlo.add"(%325, %331) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %333 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %334 = "stablehlo.shift_right_logical"(%331, %333) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %335 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %336 = "stablehlo.shift_left"(%331, %335) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %337 = "stablehlo.or"(%336, %334) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %338 = "stablehlo.xor"(%337, %332) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %339 = "stablehlo.add"(%332, %338) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %340 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %341 = "stablehlo.shift_right_logical"(%338, %340) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %342 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %343 = "stablehlo.shift_left"(%338, %342) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %344 = "stablehlo.or"(%343, %341) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %345 = "stablehlo.xor"(%344, %339) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %346 = "stablehlo.add"(%339, %345) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %347 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %348 = "stablehlo.shift_right_logical"(%345, %347) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %349 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %350 = "stablehlo.shift_left"(%345, %349) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %351 = "stablehlo.or"(%350, %348) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %352 = "stablehlo.xor"(%351, %346) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %353 = "stablehlo.add"(%346, %194) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %354 = "stablehlo.constant"() {value = dense<5> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %355 = "stablehlo.add"(%190, %354) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %356 = "stablehlo.add"(%352, %355) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %357 = "stablehlo.xor"(%353, %356) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %358 = "stablehlo.reshape"(%357) : (tensor<1000000xui32>) -> tensor<1000x1000xui32>
    %359 = "stablehlo.constant"() {value = dense<1288490189> : tensor<ui32>} : () -> tensor<ui32>
    %360 = "stablehlo.broadcast_in_dim"(%359) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000x1000xui32>
    %361 = "stablehlo.compare"(%358, %360) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type UNSIGNED>} : (tensor<1000x1000xui32>, tensor<1000x1000xui32>) -> tensor<1000x1000xi1>
    %362 = "stablehlo.convert"(%361) : (tensor<1000x1000xi1>) -> tensor<1000x1000xf32>
    %363 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %367 = "stablehlo.reduce"(%362, %363) ({
    ^bb0(%364: tensor<f32>, %365: tensor<f32>):
      %366 = "stablehlo.add"(%364, %365) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%366) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<f32>
    %368 = "stablehlo.constant"() {value = dense<1.000000e+06> : tensor<f32>} : () -> tensor<f32>
    %369 = "stablehlo.divide"(%367, %368) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %370 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %371 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %372 = "stablehlo.constant"() {value = dense<0> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %373 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<1000000xui32>
    %374 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %375 = "stablehlo.broadcast_in_dim"(%370) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %376 = "stablehlo.broadcast_in_dim"(%371) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %377 = "stablehlo.xor"(%370, %371) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %378 = "stablehlo.xor"(%377, %374) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %379 = "stablehlo.broadcast_in_dim"(%378) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000000xui32>
    %380 = "stablehlo.add"(%372, %375) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %381 = "stablehlo.add"(%373, %376) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %382 = "stablehlo.add"(%380, %381) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %383 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %384 = "stablehlo.shift_right_logical"(%381, %383) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %385 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %386 = "stablehlo.shift_left"(%381, %385) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %387 = "stablehlo.or"(%386, %384) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %388 = "stablehlo.xor"(%387, %382) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %389 = "stablehlo.add"(%382, %388) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %390 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %391 = "stablehlo.shift_right_logical"(%388, %390) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %392 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %393 = "stablehlo.shift_left"(%388, %392) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %394 = "stablehlo.or"(%393, %391) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %395 = "stablehlo.xor"(%394, %389) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %396 = "stablehlo.add"(%389, %395) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %397 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %398 = "stablehlo.shift_right_logical"(%395, %397) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %399 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %400 = "stablehlo.shift_left"(%395, %399) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %401 = "stablehlo.or"(%400, %398) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %402 = "stablehlo.xor"(%401, %396) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %403 = "stablehlo.add"(%396, %402) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %404 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %405 = "stablehlo.shift_right_logical"(%402, %404) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %406 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %407 = "stablehlo.shift_left"(%402, %406) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %408 = "stablehlo.or"(%407, %405) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %409 = "stablehlo.xor"(%408, %403) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %410 = "stablehlo.add"(%403, %376) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %411 = "stablehlo.constant"() {value = dense<1> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %412 = "stablehlo.add"(%379, %411) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %413 = "stablehlo.add"(%409, %412) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %414 = "stablehlo.add"(%410, %413) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %415 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %416 = "stablehlo.shift_right_logical"(%413, %415) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %417 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %418 = "stablehlo.shift_left"(%413, %417) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %419 = "stablehlo.or"(%418, %416) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %420 = "stablehlo.xor"(%419, %414) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %421 = "stablehlo.add"(%414, %420) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %422 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %423 = "stablehlo.shift_right_logical"(%420, %422) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %424 = "stablehlo.constant"() {value = dense<29> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %425 = "stablehlo.shift_left"(%420, %424) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %426 = "stablehlo.or"(%425, %423) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %427 = "stablehlo.xor"(%426, %421) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %428 = "stablehlo.add"(%421, %427) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %429 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %430 = "stablehlo.shift_right_logical"(%427, %429) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %431 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %432 = "stablehlo.shift_left"(%427, %431) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %433 = "stablehlo.or"(%432, %430) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %434 = "stablehlo.xor"(%433, %428) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %435 = "stablehlo.add"(%428, %434) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %436 = "stablehlo.constant"() {value = dense<8> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %437 = "stablehlo.shift_right_logical"(%434, %436) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %438 = "stablehlo.constant"() {value = dense<24> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %439 = "stablehlo.shift_left"(%434, %438) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %440 = "stablehlo.or"(%439, %437) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %441 = "stablehlo.xor"(%440, %435) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %442 = "stablehlo.add"(%435, %379) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %443 = "stablehlo.constant"() {value = dense<2> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %444 = "stablehlo.add"(%375, %443) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %445 = "stablehlo.add"(%441, %444) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %446 = "stablehlo.add"(%442, %445) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %447 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %448 = "stablehlo.shift_right_logical"(%445, %447) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %449 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %450 = "stablehlo.shift_left"(%445, %449) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %451 = "stablehlo.or"(%450, %448) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %452 = "stablehlo.xor"(%451, %446) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %453 = "stablehlo.add"(%446, %452) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %454 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %455 = "stablehlo.shift_right_logical"(%452, %454) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %456 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %457 = "stablehlo.shift_left"(%452, %456) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %458 = "stablehlo.or"(%457, %455) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %459 = "stablehlo.xor"(%458, %453) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %460 = "stablehlo.add"(%453, %459) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %461 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %462 = "stablehlo.shift_right_logical"(%459, %461) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %463 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %464 = "stablehlo.shift_left"(%459, %463) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %465 = "stablehlo.or"(%464, %462) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %466 = "stablehlo.xor"(%465, %460) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %467 = "stablehlo.add"(%460, %466) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %468 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %469 = "stablehlo.shift_right_logical"(%466, %468) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %470 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %471 = "stablehlo.shift_left"(%466, %470) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %472 = "stablehlo.or"(%471, %469) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %473 = "stablehlo.xor"(%472, %467) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %474 = "stablehlo.add"(%467, %375) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %475 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %476 = "stablehlo.add"(%376, %475) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %477 = "stablehlo.add"(%473, %476) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %478 = "stablehlo.add"(%474, %477) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %479 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %480 = "stablehlo.shift_right_logical"(%477, %479) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %481 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %482 = "stablehlo.shift_left"(%477, %481) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %483 = "stablehlo.or"(%482, %480) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %484 = "stablehlo.xor"(%483, %478) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %485 = "stablehlo.add"(%478, %484) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %486 = "stablehlo.constant"() {value = dense<3> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %487 = "stablehlo.shift_right_logical"(%484, %486) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %488 = "stablehlo.constant"() {value = dense<29> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %489 = "stablehlo.shift_left"(%484, %488) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %490 = "stablehlo.or"(%489, %487) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %491 = "stablehlo.xor"(%490, %485) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %492 = "stablehlo.add"(%485, %491) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %493 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %494 = "stablehlo.shift_right_logical"(%491, %493) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %495 = "stablehlo.constant"() {value = dense<16> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %496 = "stablehlo.shift_left"(%491, %495) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %497 = "stablehlo.or"(%496, %494) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %498 = "stablehlo.xor"(%497, %492) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %499 = "stablehlo.add"(%492, %498) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %500 = "stablehlo.constant"() {value = dense<8> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %501 = "stablehlo.shift_right_logical"(%498, %500) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %502 = "stablehlo.constant"() {value = dense<24> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %503 = "stablehlo.shift_left"(%498, %502) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %504 = "stablehlo.or"(%503, %501) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %505 = "stablehlo.xor"(%504, %499) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %506 = "stablehlo.add"(%499, %376) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %507 = "stablehlo.constant"() {value = dense<4> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %508 = "stablehlo.add"(%379, %507) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %509 = "stablehlo.add"(%505, %508) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %510 = "stablehlo.add"(%506, %509) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %511 = "stablehlo.constant"() {value = dense<19> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %512 = "stablehlo.shift_right_logical"(%509, %511) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %513 = "stablehlo.constant"() {value = dense<13> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %514 = "stablehlo.shift_left"(%509, %513) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %515 = "stablehlo.or"(%514, %512) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %516 = "stablehlo.xor"(%515, %510) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %517 = "stablehlo.add"(%510, %516) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %518 = "stablehlo.constant"() {value = dense<17> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %519 = "stablehlo.shift_right_logical"(%516, %518) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %520 = "stablehlo.constant"() {value = dense<15> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %521 = "stablehlo.shift_left"(%516, %520) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %522 = "stablehlo.or"(%521, %519) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %523 = "stablehlo.xor"(%522, %517) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %524 = "stablehlo.add"(%517, %523) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %525 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %526 = "stablehlo.shift_right_logical"(%523, %525) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %527 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %528 = "stablehlo.shift_left"(%523, %527) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %529 = "stablehlo.or"(%528, %526) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %530 = "stablehlo.xor"(%529, %524) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %531 = "stablehlo.add"(%524, %530) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %532 = "stablehlo.constant"() {value = dense<26> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %533 = "stablehlo.shift_right_logical"(%530, %532) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %534 = "stablehlo.constant"() {value = dense<6> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %535 = "stablehlo.shift_left"(%530, %534) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %536 = "stablehlo.or"(%535, %533) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %537 = "stablehlo.xor"(%536, %531) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %538 = "stablehlo.add"(%531, %379) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %539 = "stablehlo.constant"() {value = dense<5> : tensor<1000000xui32>} : () -> tensor<1000000xui32>
    %540 = "stablehlo.add"(%375, %539) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %541 = "stablehlo.add"(%537, %540) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %542 = "stablehlo.xor"(%538, %541) : (tensor<1000000xui32>, tensor<1000000xui32>) -> tensor<1000000xui32>
    %543 = "stablehlo.reshape"(%542) : (tensor<1000000xui32>) -> tensor<1000x1000xui32>
    %544 = "stablehlo.constant"() {value = dense<4290672329> : tensor<ui32>} : () -> tensor<ui32>
    %545 = "stablehlo.broadcast_in_dim"(%544) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<1000x1000xui32>
    %546 = "stablehlo.compare"(%543, %545) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type UNSIGNED>} : (tensor<1000x1000xui32>, tensor<1000x1000xui32>) -> tensor<1000x1000xi1>
    %547 = "stablehlo.convert"(%546) : (tensor<1000x1000xi1>) -> tensor<1000x1000xf32>
    %548 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %552 = "stablehlo.reduce"(%547, %548) ({
    ^bb0(%549: tensor<f32>, %550: tensor<f32>):
      %551 = "stablehlo.add"(%549, %550) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%551) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<f32>
    %553 = "stablehlo.constant"() {value = dense<1.000000e+06> : tensor<f32>} : () -> tensor<f32>
    %554 = "stablehlo.divide"(%552, %553) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %555 = "stablehlo.constant"() {value = dense<true> : tensor<1000x1000xi1>} : () -> tensor<1000x1000xi1>
    %556 = "stablehlo.convert"(%555) : (tensor<1000x1000xi1>) -> tensor<1000x1000xf32>
    %557 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %561 = "stablehlo.reduce"(%556, %557) ({
    ^bb0(%558: tensor<f32>, %559: tensor<f32>):
      %560 = "stablehlo.add"(%558, %559) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%560) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0, 1>} : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<f32>
    %562 = "stablehlo.constant"() {value = dense<1.000000e+06> : tensor<f32>} : () -> tensor<f32>
    %563 = "stablehlo.divide"(%561, %562) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%184, %369, %554, %563) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> ()
  }
}
