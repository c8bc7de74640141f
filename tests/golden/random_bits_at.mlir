module @random_bits_at attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<ui32>) -> (tensor<i32>, tensor<i32>) {
    %0 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %1 = "stablehlo.constant"() {value = dense<5> : tensor<ui32>} : () -> tensor<ui32>
    %2 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %3 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<5x6xui32>
    %4 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<5x6xui32>
    %5 = "stablehlo.add"(%3, %4) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %6 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<5x6xui32>
    %7 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %8 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<5x6xui32>
    %9 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<5x6xui32>
    %10 = "stablehlo.xor"(%0, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %11 = "stablehlo.xor"(%10, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %12 = "stablehlo.broadcast_in_dim"(%11) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<5x6xui32>
    %13 = "stablehlo.add"(%5, %8) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %14 = "stablehlo.add"(%6, %9) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %15 = "stablehlo.add"(%13, %14) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %16 = "stablehlo.constant"() {value = dense<19> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %17 = "stablehlo.shift_right_logical"(%14, %16) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %18 = "stablehlo.constant"() {value = dense<13> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %19 = "stablehlo.shift_left"(%14, %18) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %20 = "stablehlo.or"(%19, %17) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %21 = "stablehlo.xor"(%20, %15) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %22 = "stablehlo.add"(%15, %21) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %23 = "stablehlo.constant"() {value = dense<17> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %24 = "stablehlo.shift_right_logical"(%21, %23) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %25 = "stablehlo.constant"() {value = dense<15> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %26 = "stablehlo.shift_left"(%21, %25) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %27 = "stablehlo.or"(%26, %24) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %28 = "stablehlo.xor"(%27, %22) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %29 = "stablehlo.add"(%22, %28) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %30 = "stablehlo.constant"() {value = dense<6> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %31 = "stablehlo.shift_right_logical"(%28, %30) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %32 = "stablehlo.constant"() {value = dense<26> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %33 = "stablehlo.shift_left"(%28, %32) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %34 = "stablehlo.or"(%33, %31) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %35 = "stablehlo.xor"(%34, %29) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %36 = "stablehlo.add"(%29, %35) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %37 = "stablehlo.constant"() {value = dense<26> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %38 = "stablehlo.shift_right_logical"(%35, %37) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %39 = "stablehlo.constant"() {value = dense<6> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %40 = "stablehlo.shift_left"(%35, %39) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %41 = "stablehlo.or"(%40, %38) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %42 = "stablehlo.xor"(%41, %36) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %43 = "stablehlo.add"(%36, %9) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %44 = "stablehlo.constant"() {value = dense<1> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %45 = "stablehlo.add"(%12, %44) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %46 = "stablehlo.add"(%42, %45) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %47 = "stablehlo.add"(%43, %46) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %48 = "stablehlo.constant"() {value = dense<15> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %49 = "stablehlo.shift_right_logical"(%46, %48) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %50 = "stablehlo.constant"() {value = dense<17> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %51 = "stablehlo.shift_left"(%46, %50) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %52 = "stablehlo.or"(%51, %49) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %53 = "stablehlo.xor"(%52, %47) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %54 = "stablehlo.add"(%47, %53) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %55 = "stablehlo.constant"() {value = dense<3> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %56 = "stablehlo.shift_right_logical"(%53, %55) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %57 = "stablehlo.constant"() {value = dense<29> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %58 = "stablehlo.shift_left"(%53, %57) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %59 = "stablehlo.or"(%58, %56) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %60 = "stablehlo.xor"(%59, %54) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %61 = "stablehlo.add"(%54, %60) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %62 = "stablehlo.constant"() {value = dense<16> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %63 = "stablehlo.shift_right_logical"(%60, %62) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %64 = "stablehlo.constant"() {value = dense<16> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %65 = "stablehlo.shift_left"(%60, %64) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %66 = "stablehlo.or"(%65, %63) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %67 = "stablehlo.xor"(%66, %61) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %68 = "stablehlo.add"(%61, %67) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %69 = "stablehlo.constant"() {value = dense<8> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %70 = "stablehlo.shift_right_logical"(%67, %69) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %71 = "stablehlo.constant"() {value = dense<24> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %72 = "stablehlo.shift_left"(%67, %71) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %73 = "stablehlo.or"(%72, %70) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %74 = "stablehlo.xor"(%73, %68) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %75 = "stablehlo.add"(%68, %12) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %76 = "stablehlo.constant"() {value = dense<2> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %77 = "stablehlo.add"(%8, %76) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %78 = "stablehlo.add"(%74, %77) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %79 = "stablehlo.add"(%75, %78) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %80 = "stablehlo.constant"() {value = dense<19> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %81 = "stablehlo.shift_right_logical"(%78, %80) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %82 = "stablehlo.constant"() {value = dense<13> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %83 = "stablehlo.shift_left"(%78, %82) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %84 = "stablehlo.or"(%83, %81) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %85 = "stablehlo.xor"(%84, %79) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %86 = "stablehlo.add"(%79, %85) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %87 = "stablehlo.constant"() {value = dense<17> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %88 = "stablehlo.shift_right_logical"(%85, %87) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %89 = "stablehlo.constant"() {value = dense<15> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %90 = "stablehlo.shift_left"(%85, %89) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %91 = "stablehlo.or"(%90, %88) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %92 = "stablehlo.xor"(%91, %86) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %93 = "stablehlo.add"(%86, %92) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %94 = "stablehlo.constant"() {value = dense<6> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %95 = "stablehlo.shift_right_logical"(%92, %94) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %96 = "stablehlo.constant"() {value = dense<26> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %97 = "stablehlo.shift_left"(%92, %96) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %98 = "stablehlo.or"(%97, %95) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %99 = "stablehlo.xor"(%98, %93) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %100 = "stablehlo.add"(%93, %99) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %101 = "stablehlo.constant"() {value = dense<26> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %102 = "stablehlo.shift_right_logical"(%99, %101) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %103 = "stablehlo.constant"() {value = dense<6> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %104 = "stablehlo.shift_left"(%99, %103) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %105 = "stablehlo.or"(%104, %102) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %106 = "stablehlo.xor"(%105, %100) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %107 = "stablehlo.add"(%100, %8) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %108 = "stablehlo.constant"() {value = dense<3> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %109 = "stablehlo.add"(%9, %108) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %110 = "stablehlo.add"(%106, %109) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %111 = "stablehlo.add"(%107, %110) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %112 = "stablehlo.constant"() {value = dense<15> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %113 = "stablehlo.shift_right_logical"(%110, %112) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %114 = "stablehlo.constant"() {value = dense<17> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %115 = "stablehlo.shift_left"(%110, %114) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %116 = "stablehlo.or"(%115, %113) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %117 = "stablehlo.xor"(%116, %111) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %118 = "stablehlo.add"(%111, %117) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %119 = "stablehlo.constant"() {value = dense<3> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %120 = "stablehlo.shift_right_logical"(%117, %119) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %121 = "stablehlo.constant"() {value = dense<29> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %122 = "stablehlo.shift_left"(%117, %121) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %123 = "stablehlo.or"(%122, %120) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %124 = "stablehlo.xor"(%123, %118) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %125 = "stablehlo.add"(%118, %124) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %126 = "stablehlo.constant"() {value = dense<16> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %127 = "stablehlo.shift_right_logical"(%124, %126) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %128 = "stablehlo.constant"() {value = dense<16> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %129 = "stablehlo.shift_left"(%124, %128) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %130 = "stablehlo.or"(%129, %127) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %131 = "stablehlo.xor"(%130, %125) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %132 = "stablehlo.add"(%125, %131) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %133 = "stablehlo.constant"() {value = dense<8> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %134 = "stablehlo.shift_right_logical"(%131, %133) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %135 = "stablehlo.constant"() {value = dense<24> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %136 = "stablehlo.shift_left"(%131, %135) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %137 = "stablehlo.or"(%136, %134) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %138 = "stablehlo.xor"(%137, %132) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %139 = "stablehlo.add"(%132, %9) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %140 = "stablehlo.constant"() {value = dense<4> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %141 = "stablehlo.add"(%12, %140) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %142 = "stablehlo.add"(%138, %141) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %143 = "stablehlo.add"(%139, %142) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %144 = "stablehlo.constant"() {value = dense<19> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %145 = "stablehlo.shift_right_logical"(%142, %144) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %146 = "stablehlo.constant"() {value = dense<13> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %147 = "stablehlo.shift_left"(%142, %146) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %148 = "stablehlo.or"(%147, %145) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %149 = "stablehlo.xor"(%148, %143) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %150 = "stablehlo.add"(%143, %149) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %151 = "stablehlo.constant"() {value = dense<17> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %152 = "stablehlo.shift_right_logical"(%149, %151) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %153 = "stablehlo.constant"() {value = dense<15> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %154 = "stablehlo.shift_left"(%149, %153) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %155 = "stablehlo.or"(%154, %152) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %156 = "stablehlo.xor"(%155, %150) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %157 = "stablehlo.add"(%150, %156) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %158 = "stablehlo.constant"() {value = dense<6> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %159 = "stablehlo.shift_right_logical"(%156, %158) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %160 = "stablehlo.constant"() {value = dense<26> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %161 = "stablehlo.shift_left"(%156, %160) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %162 = "stablehlo.or"(%161, %159) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %163 = "stablehlo.xor"(%162, %157) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %164 = "stablehlo.add"(%157, %163) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %165 = "stablehlo.constant"() {value = dense<26> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %166 = "stablehlo.shift_right_logical"(%163, %165) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %167 = "stablehlo.constant"() {value = dense<6> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %168 = "stablehlo.shift_left"(%163, %167) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %169 = "stablehlo.or"(%168, %166) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %170 = "stablehlo.xor"(%169, %164) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %171 = "stablehlo.add"(%164, %12) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %172 = "stablehlo.constant"() {value = dense<5> : tensor<5x6xui32>} : () -> tensor<5x6xui32>
    %173 = "stablehlo.add"(%8, %172) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %174 = "stablehlo.add"(%170, %173) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %175 = "stablehlo.xor"(%171, %174) : (tensor<5x6xui32>, tensor<5x6xui32>) -> tensor<5x6xui32>
    %176 = "stablehlo.reshape"(%175) : (tensor<5x6xui32>) -> tensor<5x2x3xui32>
    %177 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<3x6xui32>
    %178 = "stablehlo.broadcast_in_dim"(%arg0) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<3x6xui32>
    %179 = "stablehlo.add"(%177, %178) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %180 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<3x6xui32>
    %181 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %182 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<3x6xui32>
    %183 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<3x6xui32>
    %184 = "stablehlo.xor"(%0, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %185 = "stablehlo.xor"(%184, %181) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %186 = "stablehlo.broadcast_in_dim"(%185) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<3x6xui32>
    %187 = "stablehlo.add"(%179, %182) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %188 = "stablehlo.add"(%180, %183) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %189 = "stablehlo.add"(%187, %188) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %190 = "stablehlo.constant"() {value = dense<19> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %191 = "stablehlo.shift_right_logical"(%188, %190) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %192 = "stablehlo.constant"() {value = dense<13> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %193 = "stablehlo.shift_left"(%188, %192) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %194 = "stablehlo.or"(%193, %191) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %195 = "stablehlo.xor"(%194, %189) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %196 = "stablehlo.add"(%189, %195) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %197 = "stablehlo.constant"() {value = dense<17> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %198 = "stablehlo.shift_right_logical"(%195, %197) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %199 = "stablehlo.constant"() {value = dense<15> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %200 = "stablehlo.shift_left"(%195, %199) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %201 = "stablehlo.or"(%200, %198) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %202 = "stablehlo.xor"(%201, %196) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %203 = "stablehlo.add"(%196, %202) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %204 = "stablehlo.constant"() {value = dense<6> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %205 = "stablehlo.shift_right_logical"(%202, %204) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %206 = "stablehlo.constant"() {value = dense<26> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %207 = "stablehlo.shift_left"(%202, %206) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %208 = "stablehlo.or"(%207, %205) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %209 = "stablehlo.xor"(%208, %203) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %210 = "stablehlo.add"(%203, %209) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %211 = "stablehlo.constant"() {value = dense<26> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %212 = "stablehlo.shift_right_logical"(%209, %211) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %213 = "stablehlo.constant"() {value = dense<6> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %214 = "stablehlo.shift_left"(%209, %213) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %215 = "stablehlo.or"(%214, %212) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %216 = "stablehlo.xor"(%215, %210) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %217 = "stablehlo.add"(%210, %183) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %218 = "stablehlo.constant"() {value = dense<1> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %219 = "stablehlo.add"(%186, %218) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %220 = "stablehlo.add"(%216, %219) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %221 = "stablehlo.add"(%217, %220) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %222 = "stablehlo.constant"() {value = dense<15> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %223 = "stablehlo.shift_right_logical"(%220, %222) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %224 = "stablehlo.constant"() {value = dense<17> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %225 = "stablehlo.shift_left"(%220, %224) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %226 = "stablehlo.or"(%225, %223) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %227 = "stablehlo.xor"(%226, %221) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %228 = "stablehlo.add"(%221, %227) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %229 = "stablehlo.constant"() {value = dense<3> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %230 = "stablehlo.shift_right_logical"(%227, %229) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %231 = "stablehlo.constant"() {value = dense<29> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %232 = "stablehlo.shift_left"(%227, %231) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %233 = "stablehlo.or"(%232, %230) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %234 = "stablehlo.xor"(%233, %228) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %235 = "stablehlo.add"(%228, %234) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %236 = "stablehlo.constant"() {value = dense<16> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %237 = "stablehlo.shift_right_logical"(%234, %236) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %238 = "stablehlo.constant"() {value = dense<16> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %239 = "stablehlo.shift_left"(%234, %238) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %240 = "stablehlo.or"(%239, %237) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %241 = "stablehlo.xor"(%240, %235) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %242 = "stablehlo.add"(%235, %241) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %243 = "stablehlo.constant"() {value = dense<8> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %244 = "stablehlo.shift_right_logical"(%241, %243) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %245 = "stablehlo.constant"() {value = dense<24> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %246 = "stablehlo.shift_left"(%241, %245) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %247 = "stablehlo.or"(%246, %244) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %248 = "stablehlo.xor"(%247, %242) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %249 = "stablehlo.add"(%242, %186) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %250 = "stablehlo.constant"() {value = dense<2> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %251 = "stablehlo.add"(%182, %250) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %252 = "stablehlo.add"(%248, %251) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %253 = "stablehlo.add"(%249, %252) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %254 = "stablehlo.constant"() {value = dense<19> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %255 = "stablehlo.shift_right_logical"(%252, %254) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %256 = "stablehlo.constant"() {value = dense<13> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %257 = "stablehlo.shift_left"(%252, %256) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %258 = "stablehlo.or"(%257, %255) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %259 = "stablehlo.xor"(%258, %253) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %260 = "stablehlo.add"(%253, %259) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %261 = "stablehlo.constant"() {value = dense<17> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %262 = "stablehlo.shift_right_logical"(%259, %261) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %263 = "stablehlo.constant"() {value = dense<15> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %264 = "stablehlo.shift_left"(%259, %263) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %265 = "stablehlo.or"(%264, %262) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %266 = "stablehlo.xor"(%265, %260) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %267 = "stablehlo.add"(%260, %266) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %268 = "stablehlo.constant"() {value = dense<6> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %269 = "stablehlo.shift_right_logical"(%266, %268) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %270 = "stablehlo.constant"() {value = dense<26> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %271 = "stablehlo.shift_left"(%266, %270) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %272 = "stablehlo.or"(%271, %269) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %273 = "stablehlo.xor"(%272, %267) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %274 = "stablehlo.add"(%267, %273) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %275 = "stablehlo.constant"() {value = dense<26> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %276 = "stablehlo.shift_right_logical"(%273, %275) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %277 = "stablehlo.constant"() {value = dense<6> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %278 = "stablehlo.shift_left"(%273, %277) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %279 = "stablehlo.or"(%278, %276) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %280 = "stablehlo.xor"(%279, %274) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %281 = "stablehlo.add"(%274, %182) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %282 = "stablehlo.constant"() {value = dense<3> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %283 = "stablehlo.add"(%183, %282) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %284 = "stablehlo.add"(%280, %283) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %285 = "stablehlo.add"(%281, %284) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %286 = "stablehlo.constant"() {value = dense<15> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %287 = "stablehlo.shift_right_logical"(%284, %286) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %288 = "stablehlo.constant"() {value = dense<17> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %289 = "stablehlo.shift_left"(%284, %288) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %290 = "stablehlo.or"(%289, %287) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %291 = "stablehlo.xor"(%290, %285) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %292 = "stablehlo.add"(%285, %291) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %293 = "stablehlo.constant"() {value = dense<3> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %294 = "stablehlo.shift_right_logical"(%291, %293) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %295 = "stablehlo.constant"() {value = dense<29> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %296 = "stablehlo.shift_left"(%291, %295) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %297 = "stablehlo.or"(%296, %294) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %298 = "stablehlo.xor"(%297, %292) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %299 = "stablehlo.add"(%292, %298) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %300 = "stablehlo.constant"() {value = dense<16> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %301 = "stablehlo.shift_right_logical"(%298, %300) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %302 = "stablehlo.constant"() {value = dense<16> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %303 = "stablehlo.shift_left"(%298, %302) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %304 = "stablehlo.or"(%303, %301) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %305 = "stablehlo.xor"(%304, %299) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %306 = "stablehlo.add"(%299, %305) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %307 = "stablehlo.constant"() {value = dense<8> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %308 = "stablehlo.shift_right_logical"(%305, %307) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %309 = "stablehlo.constant"() {value = dense<24> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %310 = "stablehlo.shift_left"(%305, %309) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %311 = "stablehlo.or"(%310, %308) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %312 = "stablehlo.xor"(%311, %306) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %313 = "stablehlo.add"(%306, %183) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %314 = "stablehlo.constant"() {value = dense<4> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %315 = "stablehlo.add"(%186, %314) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %316 = "stablehlo.add"(%312, %315) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %317 = "stablehlo.add"(%313, %316) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %318 = "stablehlo.constant"() {value = dense<19> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %319 = "stablehlo.shift_right_logical"(%316, %318) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %320 = "stablehlo.constant"() {value = dense<13> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %321 = "stablehlo.shift_left"(%316, %320) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %322 = "stablehlo.or"(%321, %319) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %323 = "stablehlo.xor"(%322, %317) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %324 = "stablehlo.add"(%317, %323) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %325 = "stablehlo.constant"() {value = dense<17> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %326 = "stablehlo.shift_right_logical"(%323, %325) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %327 = "stablehlo.constant"() {value = dense<15> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %328 = "stablehlo.shift_left"(%323, %327) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %329 = "stablehlo.or"(%328, %326) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %330 = "stablehlo.xor"(%329, %324) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %331 = "stablehlo.add"(%324, %330) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %332 = "stablehlo.constant"() {value = dense<6> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %333 = "stablehlo.shift_right_logical"(%330, %332) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %334 = "stablehlo.constant"() {value = dense<26> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %335 = "stablehlo.shift_left"(%330, %334) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %336 = "stablehlo.or"(%335, %333) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %337 = "stablehlo.xor"(%336, %331) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %338 = "stablehlo.add"(%331, %337) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %339 = "stablehlo.constant"() {value = dense<26> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %340 = "stablehlo.shift_right_logical"(%337, %339) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %341 = "stablehlo.constant"() {value = dense<6> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %342 = "stablehlo.shift_left"(%337, %341) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %343 = "stablehlo.or"(%342, %340) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %344 = "stablehlo.xor"(%343, %338) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %345 = "stablehlo.add"(%338, %186) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %346 = "stablehlo.constant"() {value = dense<5> : tensor<3x6xui32>} : () -> tensor<3x6xui32>
    %347 = "stablehlo.add"(%182, %346) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %348 = "stablehlo.add"(%344, %347) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %349 = "stablehlo.xor"(%345, %348) : (tensor<3x6xui32>, tensor<3x6xui32>) -> tensor<3x6xui32>
    %350 = "stablehlo.reshape"(%349) : (tensor<3x6xui32>) -> tensor<3x2x3xui32>
    %351 = "stablehlo.slice"(%176) {start_indices = array<i64: 2, 0, 0>, limit_indices = array<i64: 5, 2, 3>, strides = array<i64: 1, 1, 1>} : (tensor<5x2x3xui32>) -> tensor<3x2x3xui32>
    %352 = "stablehlo.compare"(%351, %350) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type UNSIGNED>} : (tensor<3x2x3xui32>, tensor<3x2x3xui32>) -> tensor<3x2x3xi1>
    %353 = "stablehlo.slice"(%176) {start_indices = array<i64: 1, 0, 0>, limit_indices = array<i64: 2, 2, 3>, strides = array<i64: 1, 1, 1>} : (tensor<5x2x3xui32>) -> tensor<1x2x3xui32>
    %354 = "stablehlo.slice"(%176) {start_indices = array<i64: 0, 0, 0>, limit_indices = array<i64: 1, 2, 3>, strides = array<i64: 1, 1, 1>} : (tensor<5x2x3xui32>) -> tensor<1x2x3xui32>
    %355 = "stablehlo.compare"(%354, %353) {comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type UNSIGNED>} : (tensor<1x2x3xui32>, tensor<1x2x3xui32>) -> tensor<1x2x3xi1>
    %356 = "stablehlo.convert"(%352) : (tensor<3x2x3xi1>) -> tensor<3x2x3xi32>
    %357 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %361 = "stablehlo.reduce"(%356, %357) ({
    ^bb0(%358: tensor<i32>, %359: tensor<i32>):
      %360 = "stablehlo.add"(%358, %359) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%360) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<3x2x3xi32>, tensor<i32>) -> tensor<i32>
    %362 = "stablehlo.convert"(%355) : (tensor<1x2x3xi1>) -> tensor<1x2x3xi32>
    %363 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %367 = "stablehlo.reduce"(%362, %363) ({
    ^bb0(%364: tensor<i32>, %365: tensor<i32>):
      %366 = "stablehlo.add"(%364, %365) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%366) : (tensor<i32>) -> ()
    }) {dimensions = array<i64: 0, 1, 2>} : (tensor<1x2x3xi32>, tensor<i32>) -> tensor<i32>
    "func.return"(%361, %367) : (tensor<i32>, tensor<i32>) -> ()
  }
}
