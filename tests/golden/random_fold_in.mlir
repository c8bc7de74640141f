module @random_fold_in attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<ui32>) -> (tensor<4xui32>, tensor<4xui32>) {
    %0 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %1 = "stablehlo.constant"() {value = dense<7> : tensor<ui32>} : () -> tensor<ui32>
    %2 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %3 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %4 = "stablehlo.xor"(%0, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %5 = "stablehlo.xor"(%4, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %6 = "stablehlo.add"(%2, %0) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %7 = "stablehlo.add"(%arg0, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %8 = "stablehlo.add"(%6, %7) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %10 = "stablehlo.shift_right_logical"(%7, %9) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %11 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %12 = "stablehlo.shift_left"(%7, %11) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %13 = "stablehlo.or"(%12, %10) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %14 = "stablehlo.xor"(%13, %8) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %15 = "stablehlo.add"(%8, %14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %16 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %17 = "stablehlo.shift_right_logical"(%14, %16) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %18 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %19 = "stablehlo.shift_left"(%14, %18) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %20 = "stablehlo.or"(%19, %17) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %21 = "stablehlo.xor"(%20, %15) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %22 = "stablehlo.add"(%15, %21) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %23 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %24 = "stablehlo.shift_right_logical"(%21, %23) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %25 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %26 = "stablehlo.shift_left"(%21, %25) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %27 = "stablehlo.or"(%26, %24) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %28 = "stablehlo.xor"(%27, %22) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %29 = "stablehlo.add"(%22, %28) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %30 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %31 = "stablehlo.shift_right_logical"(%28, %30) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %32 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %33 = "stablehlo.shift_left"(%28, %32) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %34 = "stablehlo.or"(%33, %31) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %35 = "stablehlo.xor"(%34, %29) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %36 = "stablehlo.add"(%29, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %37 = "stablehlo.constant"() {value = dense<1> : tensor<ui32>} : () -> tensor<ui32>
    %38 = "stablehlo.add"(%5, %37) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %39 = "stablehlo.add"(%35, %38) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %40 = "stablehlo.add"(%36, %39) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %41 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %42 = "stablehlo.shift_right_logical"(%39, %41) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %43 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %44 = "stablehlo.shift_left"(%39, %43) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %45 = "stablehlo.or"(%44, %42) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %46 = "stablehlo.xor"(%45, %40) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %47 = "stablehlo.add"(%40, %46) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %48 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %49 = "stablehlo.shift_right_logical"(%46, %48) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %50 = "stablehlo.constant"() {value = dense<29> : tensor<ui32>} : () -> tensor<ui32>
    %51 = "stablehlo.shift_left"(%46, %50) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %52 = "stablehlo.or"(%51, %49) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %53 = "stablehlo.xor"(%52, %47) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %54 = "stablehlo.add"(%47, %53) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %55 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %56 = "stablehlo.shift_right_logical"(%53, %55) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %57 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %58 = "stablehlo.shift_left"(%53, %57) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %59 = "stablehlo.or"(%58, %56) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %60 = "stablehlo.xor"(%59, %54) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %61 = "stablehlo.add"(%54, %60) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %62 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %63 = "stablehlo.shift_right_logical"(%60, %62) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %64 = "stablehlo.constant"() {value = dense<24> : tensor<ui32>} : () -> tensor<ui32>
    %65 = "stablehlo.shift_left"(%60, %64) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %66 = "stablehlo.or"(%65, %63) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %67 = "stablehlo.xor"(%66, %61) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %68 = "stablehlo.add"(%61, %5) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %69 = "stablehlo.constant"() {value = dense<2> : tensor<ui32>} : () -> tensor<ui32>
    %70 = "stablehlo.add"(%0, %69) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %71 = "stablehlo.add"(%67, %70) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %72 = "stablehlo.add"(%68, %71) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %73 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %74 = "stablehlo.shift_right_logical"(%71, %73) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %75 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %76 = "stablehlo.shift_left"(%71, %75) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %77 = "stablehlo.or"(%76, %74) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %78 = "stablehlo.xor"(%77, %72) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %79 = "stablehlo.add"(%72, %78) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %80 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %81 = "stablehlo.shift_right_logical"(%78, %80) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %82 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %83 = "stablehlo.shift_left"(%78, %82) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %84 = "stablehlo.or"(%83, %81) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %85 = "stablehlo.xor"(%84, %79) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %86 = "stablehlo.add"(%79, %85) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %87 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %88 = "stablehlo.shift_right_logical"(%85, %87) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %89 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %90 = "stablehlo.shift_left"(%85, %89) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %91 = "stablehlo.or"(%90, %88) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %92 = "stablehlo.xor"(%91, %86) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %93 = "stablehlo.add"(%86, %92) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %94 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %95 = "stablehlo.shift_right_logical"(%92, %94) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %96 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %97 = "stablehlo.shift_left"(%92, %96) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %98 = "stablehlo.or"(%97, %95) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %99 = "stablehlo.xor"(%98, %93) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %100 = "stablehlo.add"(%93, %0) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %101 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %102 = "stablehlo.add"(%1, %101) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %103 = "stablehlo.add"(%99, %102) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %104 = "stablehlo.add"(%100, %103) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %105 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %106 = "stablehlo.shift_right_logical"(%103, %105) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %107 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %108 = "stablehlo.shift_left"(%103, %107) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %109 = "stablehlo.or"(%108, %106) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %110 = "stablehlo.xor"(%109, %104) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %111 = "stablehlo.add"(%104, %110) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %112 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %113 = "stablehlo.shift_right_logical"(%110, %112) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %114 = "stablehlo.constant"() {value = dense<29> : tensor<ui32>} : () -> tensor<ui32>
    %115 = "stablehlo.shift_left"(%110, %114) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %116 = "stablehlo.or"(%115, %113) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %117 = "stablehlo.xor"(%116, %111) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %118 = "stablehlo.add"(%111, %117) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %119 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %120 = "stablehlo.shift_right_logical"(%117, %119) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %121 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %122 = "stablehlo.shift_left"(%117, %121) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %123 = "stablehlo.or"(%122, %120) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %124 = "stablehlo.xor"(%123, %118) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %125 = "stablehlo.add"(%118, %124) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %126 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %127 = "stablehlo.shift_right_logical"(%124, %126) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %128 = "stablehlo.constant"() {value = dense<24> : tensor<ui32>} : () -> tensor<ui32>
    %129 = "stablehlo.shift_left"(%124, %128) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %130 = "stablehlo.or"(%129, %127) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %131 = "stablehlo.xor"(%130, %125) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %132 = "stablehlo.add"(%125, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %133 = "stablehlo.constant"() {value = dense<4> : tensor<ui32>} : () -> tensor<ui32>
    %134 = "stablehlo.add"(%5, %133) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %135 = "stablehlo.add"(%131, %134) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %136 = "stablehlo.add"(%132, %135) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %137 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %138 = "stablehlo.shift_right_logical"(%135, %137) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %139 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %140 = "stablehlo.shift_left"(%135, %139) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %141 = "stablehlo.or"(%140, %138) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %142 = "stablehlo.xor"(%141, %136) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %143 = "stablehlo.add"(%136, %142) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %144 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %145 = "stablehlo.shift_right_logical"(%142, %144) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %146 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %147 = "stablehlo.shift_left"(%142, %146) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %148 = "stablehlo.or"(%147, %145) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %149 = "stablehlo.xor"(%148, %143) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %150 = "stablehlo.add"(%143, %149) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %151 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %152 = "stablehlo.shift_right_logical"(%149, %151) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %153 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %154 = "stablehlo.shift_left"(%149, %153) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %155 = "stablehlo.or"(%154, %152) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %156 = "stablehlo.xor"(%155, %150) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %157 = "stablehlo.add"(%150, %156) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %158 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %159 = "stablehlo.shift_right_logical"(%156, %158) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %160 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %161 = "stablehlo.shift_left"(%156, %160) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %162 = "stablehlo.or"(%161, %159) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %163 = "stablehlo.xor"(%162, %157) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %164 = "stablehlo.add"(%157, %5) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %165 = "stablehlo.constant"() {value = dense<5> : tensor<ui32>} : () -> tensor<ui32>
    %166 = "stablehlo.add"(%0, %165) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %167 = "stablehlo.add"(%163, %166) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %168 = "stablehlo.constant"() {value = dense<0> : tensor<4xui32>} : () -> tensor<4xui32>
    %169 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<4xui32>
    %170 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %171 = "stablehlo.broadcast_in_dim"(%164) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<4xui32>
    %172 = "stablehlo.broadcast_in_dim"(%167) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<4xui32>
    %173 = "stablehlo.xor"(%164, %167) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %174 = "stablehlo.xor"(%173, %170) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %175 = "stablehlo.broadcast_in_dim"(%174) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<4xui32>
    %176 = "stablehlo.add"(%168, %171) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %177 = "stablehlo.add"(%169, %172) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %178 = "stablehlo.add"(%176, %177) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %179 = "stablehlo.constant"() {value = dense<19> : tensor<4xui32>} : () -> tensor<4xui32>
    %180 = "stablehlo.shift_right_logical"(%177, %179) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %181 = "stablehlo.constant"() {value = dense<13> : tensor<4xui32>} : () -> tensor<4xui32>
    %182 = "stablehlo.shift_left"(%177, %181) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %183 = "stablehlo.or"(%182, %180) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %184 = "stablehlo.xor"(%183, %178) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %185 = "stablehlo.add"(%178, %184) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %186 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %187 = "stablehlo.shift_right_logical"(%184, %186) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %188 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %189 = "stablehlo.shift_left"(%184, %188) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %190 = "stablehlo.or"(%189, %187) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %191 = "stablehlo.xor"(%190, %185) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %192 = "stablehlo.add"(%185, %191) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %193 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %194 = "stablehlo.shift_right_logical"(%191, %193) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %195 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %196 = "stablehlo.shift_left"(%191, %195) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %197 = "stablehlo.or"(%196, %194) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %198 = "stablehlo.xor"(%197, %192) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %199 = "stablehlo.add"(%192, %198) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %200 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %201 = "stablehlo.shift_right_logical"(%198, %200) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %202 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %203 = "stablehlo.shift_left"(%198, %202) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %204 = "stablehlo.or"(%203, %201) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %205 = "stablehlo.xor"(%204, %199) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %206 = "stablehlo.add"(%199, %172) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %207 = "stablehlo.constant"() {value = dense<1> : tensor<4xui32>} : () -> tensor<4xui32>
    %208 = "stablehlo.add"(%175, %207) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %209 = "stablehlo.add"(%205, %208) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %210 = "stablehlo.add"(%206, %209) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %211 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %212 = "stablehlo.shift_right_logical"(%209, %211) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %213 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %214 = "stablehlo.shift_left"(%209, %213) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %215 = "stablehlo.or"(%214, %212) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %216 = "stablehlo.xor"(%215, %210) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %217 = "stablehlo.add"(%210, %216) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %218 = "stablehlo.constant"() {value = dense<3> : tensor<4xui32>} : () -> tensor<4xui32>
    %219 = "stablehlo.shift_right_logical"(%216, %218) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %220 = "stablehlo.constant"() {value = dense<29> : tensor<4xui32>} : () -> tensor<4xui32>
    %221 = "stablehlo.shift_left"(%216, %220) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %222 = "stablehlo.or"(%221, %219) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %223 = "stablehlo.xor"(%222, %217) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %224 = "stablehlo.add"(%217, %223) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %225 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %226 = "stablehlo.shift_right_logical"(%223, %225) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %227 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %228 = "stablehlo.shift_left"(%223, %227) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %229 = "stablehlo.or"(%228, %226) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %230 = "stablehlo.xor"(%229, %224) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %231 = "stablehlo.add"(%224, %230) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %232 = "stablehlo.constant"() {value = dense<8> : tensor<4xui32>} : () -> tensor<4xui32>
    %233 = "stablehlo.shift_right_logical"(%230, %232) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %234 = "stablehlo.constant"() {value = dense<24> : tensor<4xui32>} : () -> tensor<4xui32>
    %235 = "stablehlo.shift_left"(%230, %234) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %236 = "stablehlo.or"(%235, %233) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %237 = "stablehlo.xor"(%236, %231) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %238 = "stablehlo.add"(%231, %175) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %239 = "stablehlo.constant"() {value = dense<2> : tensor<4xui32>} : () -> tensor<4xui32>
    %240 = "stablehlo.add"(%171, %239) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %241 = "stablehlo.add"(%237, %240) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %242 = "stablehlo.add"(%238, %241) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %243 = "stablehlo.constant"() {value = dense<19> : tensor<4xui32>} : () -> tensor<4xui32>
    %244 = "stablehlo.shift_right_logical"(%241, %243) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %245 = "stablehlo.constant"() {value = dense<13> : tensor<4xui32>} : () -> tensor<4xui32>
    %246 = "stablehlo.shift_left"(%241, %245) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %247 = "stablehlo.or"(%246, %244) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %248 = "stablehlo.xor"(%247, %242) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %249 = "stablehlo.add"(%242, %248) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %250 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %251 = "stablehlo.shift_right_logical"(%248, %250) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %252 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %253 = "stablehlo.shift_left"(%248, %252) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %254 = "stablehlo.or"(%253, %251) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %255 = "stablehlo.xor"(%254, %249) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %256 = "stablehlo.add"(%249, %255) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %257 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %258 = "stablehlo.shift_right_logical"(%255, %257) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %259 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %260 = "stablehlo.shift_left"(%255, %259) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %261 = "stablehlo.or"(%260, %258) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %262 = "stablehlo.xor"(%261, %256) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %263 = "stablehlo.add"(%256, %262) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %264 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %265 = "stablehlo.shift_right_logical"(%262, %264) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %266 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %267 = "stablehlo.shift_left"(%262, %266) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %268 = "stablehlo.or"(%267, %265) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %269 = "stablehlo.xor"(%268, %263) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %270 = "stablehlo.add"(%263, %171) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %271 = "stablehlo.constant"() {value = dense<3> : tensor<4xui32>} : () -> tensor<4xui32>
    %272 = "stablehlo.add"(%172, %271) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %273 = "stablehlo.add"(%269, %272) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %274 = "stablehlo.add"(%270, %273) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %275 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %276 = "stablehlo.shift_right_logical"(%273, %275) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %277 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %278 = "stablehlo.shift_left"(%273, %277) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %279 = "stablehlo.or"(%278, %276) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %280 = "stablehlo.xor"(%279, %274) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %281 = "stablehlo.add"(%274, %280) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %282 = "stablehlo.constant"() {value = dense<3> : tensor<4xui32>} : () -> tensor<4xui32>
    %283 = "stablehlo.shift_right_logical"(%280, %282) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %284 = "stablehlo.constant"() {value = dense<29> : tensor<4xui32>} : () -> tensor<4xui32>
    %285 = "stablehlo.shift_left"(%280, %284) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %286 = "stablehlo.or"(%285, %283) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %287 = "stablehlo.xor"(%286, %281) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %288 = "stablehlo.add"(%281, %287) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %289 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %290 = "stablehlo.shift_right_logical"(%287, %289) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %291 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %292 = "stablehlo.shift_left"(%287, %291) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %293 = "stablehlo.or"(%292, %290) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %294 = "stablehlo.xor"(%293, %288) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %295 = "stablehlo.add"(%288, %294) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %296 = "stablehlo.constant"() {value = dense<8> : tensor<4xui32>} : () -> tensor<4xui32>
    %297 = "stablehlo.shift_right_logical"(%294, %296) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %298 = "stablehlo.constant"() {value = dense<24> : tensor<4xui32>} : () -> tensor<4xui32>
    %299 = "stablehlo.shift_left"(%294, %298) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %300 = "stablehlo.or"(%299, %297) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %301 = "stablehlo.xor"(%300, %295) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %302 = "stablehlo.add"(%295, %172) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %303 = "stablehlo.constant"() {value = dense<4> : tensor<4xui32>} : () -> tensor<4xui32>
    %304 = "stablehlo.add"(%175, %303) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %305 = "stablehlo.add"(%301, %304) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %306 = "stablehlo.add"(%302, %305) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %307 = "stablehlo.constant"() {value = dense<19> : tensor<4xui32>} : () -> tensor<4xui32>
    %308 = "stablehlo.shift_right_logical"(%305, %307) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %309 = "stablehlo.constant"() {value = dense<13> : tensor<4xui32>} : () -> tensor<4xui32>
    %310 = "stablehlo.shift_left"(%305, %309) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %311 = "stablehlo.or"(%310, %308) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %312 = "stablehlo.xor"(%311, %306) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %313 = "stablehlo.add"(%306, %312) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %314 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %315 = "stablehlo.shift_right_logical"(%312, %314) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %316 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %317 = "stablehlo.shift_left"(%312, %316) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %318 = "stablehlo.or"(%317, %315) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %319 = "stablehlo.xor"(%318, %313) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %320 = "stablehlo.add"(%313, %319) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %321 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %322 = "stablehlo.shift_right_logical"(%319, %321) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %323 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %324 = "stablehlo.shift_left"(%319, %323) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %325 = "stablehlo.or"(%324, %322) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %326 = "stablehlo.xor"(%325, %320) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %327 = "stablehlo.add"(%320, %326) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %328 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %329 = "stablehlo.shift_right_logical"(%326, %328) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %330 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %331 = "stablehlo.shift_left"(%326, %330) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %332 = "stablehlo.or"(%331, %329) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %333 = "stablehlo.xor"(%332, %327) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %334 = "stablehlo.add"(%327, %175) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %335 = "stablehlo.constant"() {value = dense<5> : tensor<4xui32>} : () -> tensor<4xui32>
    %336 = "stablehlo.add"(%171, %335) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %337 = "stablehlo.add"(%333, %336) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %338 = "stablehlo.xor"(%334, %337) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %339 = "stablehlo.constant"() {value = dense<11> : tensor<ui32>} : () -> tensor<ui32>
    %340 = "stablehlo.constant"() {value = dense<0> : tensor<ui32>} : () -> tensor<ui32>
    %341 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %342 = "stablehlo.xor"(%0, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %343 = "stablehlo.xor"(%342, %341) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %344 = "stablehlo.add"(%340, %0) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %345 = "stablehlo.add"(%339, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %346 = "stablehlo.add"(%344, %345) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %347 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %348 = "stablehlo.shift_right_logical"(%345, %347) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %349 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %350 = "stablehlo.shift_left"(%345, %349) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %351 = "stablehlo.or"(%350, %348) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %352 = "stablehlo.xor"(%351, %346) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %353 = "stablehlo.add"(%346, %352) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %354 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %355 = "stablehlo.shift_right_logical"(%352, %354) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %356 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %357 = "stablehlo.shift_left"(%352, %356) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %358 = "stablehlo.or"(%357, %355) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %359 = "stablehlo.xor"(%358, %353) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %360 = "stablehlo.add"(%353, %359) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %361 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %362 = "stablehlo.shift_right_logical"(%359, %361) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %363 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %364 = "stablehlo.shift_left"(%359, %363) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %365 = "stablehlo.or"(%364, %362) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %366 = "stablehlo.xor"(%365, %360) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %367 = "stablehlo.add"(%360, %366) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %368 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %369 = "stablehlo.shift_right_logical"(%366, %368) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %370 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %371 = "stablehlo.shift_left"(%366, %370) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %372 = "stablehlo.or"(%371, %369) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %373 = "stablehlo.xor"(%372, %367) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %374 = "stablehlo.add"(%367, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %375 = "stablehlo.constant"() {value = dense<1> : tensor<ui32>} : () -> tensor<ui32>
    %376 = "stablehlo.add"(%343, %375) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %377 = "stablehlo.add"(%373, %376) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %378 = "stablehlo.add"(%374, %377) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %379 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %380 = "stablehlo.shift_right_logical"(%377, %379) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %381 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %382 = "stablehlo.shift_left"(%377, %381) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %383 = "stablehlo.or"(%382, %380) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %384 = "stablehlo.xor"(%383, %378) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %385 = "stablehlo.add"(%378, %384) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %386 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %387 = "stablehlo.shift_right_logical"(%384, %386) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %388 = "stablehlo.constant"() {value = dense<29> : tensor<ui32>} : () -> tensor<ui32>
    %389 = "stablehlo.shift_left"(%384, %388) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %390 = "stablehlo.or"(%389, %387) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %391 = "stablehlo.xor"(%390, %385) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %392 = "stablehlo.add"(%385, %391) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %393 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %394 = "stablehlo.shift_right_logical"(%391, %393) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %395 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %396 = "stablehlo.shift_left"(%391, %395) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %397 = "stablehlo.or"(%396, %394) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %398 = "stablehlo.xor"(%397, %392) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %399 = "stablehlo.add"(%392, %398) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %400 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %401 = "stablehlo.shift_right_logical"(%398, %400) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %402 = "stablehlo.constant"() {value = dense<24> : tensor<ui32>} : () -> tensor<ui32>
    %403 = "stablehlo.shift_left"(%398, %402) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %404 = "stablehlo.or"(%403, %401) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %405 = "stablehlo.xor"(%404, %399) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %406 = "stablehlo.add"(%399, %343) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %407 = "stablehlo.constant"() {value = dense<2> : tensor<ui32>} : () -> tensor<ui32>
    %408 = "stablehlo.add"(%0, %407) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %409 = "stablehlo.add"(%405, %408) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %410 = "stablehlo.add"(%406, %409) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %411 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %412 = "stablehlo.shift_right_logical"(%409, %411) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %413 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %414 = "stablehlo.shift_left"(%409, %413) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %415 = "stablehlo.or"(%414, %412) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %416 = "stablehlo.xor"(%415, %410) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %417 = "stablehlo.add"(%410, %416) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %418 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %419 = "stablehlo.shift_right_logical"(%416, %418) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %420 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %421 = "stablehlo.shift_left"(%416, %420) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %422 = "stablehlo.or"(%421, %419) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %423 = "stablehlo.xor"(%422, %417) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %424 = "stablehlo.add"(%417, %423) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %425 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %426 = "stablehlo.shift_right_logical"(%423, %425) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %427 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %428 = "stablehlo.shift_left"(%423, %427) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %429 = "stablehlo.or"(%428, %426) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %430 = "stablehlo.xor"(%429, %424) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %431 = "stablehlo.add"(%424, %430) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %432 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %433 = "stablehlo.shift_right_logical"(%430, %432) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %434 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %435 = "stablehlo.shift_left"(%430, %434) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %436 = "stablehlo.or"(%435, %433) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %437 = "stablehlo.xor"(%436, %431) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %438 = "stablehlo.add"(%431, %0) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %439 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %440 = "stablehlo.add"(%1, %439) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %441 = "stablehlo.add"(%437, %440) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %442 = "stablehlo.add"(%438, %441) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %443 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %444 = "stablehlo.shift_right_logical"(%441, %443) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %445 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %446 = "stablehlo.shift_left"(%441, %445) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %447 = "stablehlo.or"(%446, %444) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %448 = "stablehlo.xor"(%447, %442) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %449 = "stablehlo.add"(%442, %448) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %450 = "stablehlo.constant"() {value = dense<3> : tensor<ui32>} : () -> tensor<ui32>
    %451 = "stablehlo.shift_right_logical"(%448, %450) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %452 = "stablehlo.constant"() {value = dense<29> : tensor<ui32>} : () -> tensor<ui32>
    %453 = "stablehlo.shift_left"(%448, %452) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %454 = "stablehlo.or"(%453, %451) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %455 = "stablehlo.xor"(%454, %449) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %456 = "stablehlo.add"(%449, %455) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %457 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %458 = "stablehlo.shift_right_logical"(%455, %457) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %459 = "stablehlo.constant"() {value = dense<16> : tensor<ui32>} : () -> tensor<ui32>
    %460 = "stablehlo.shift_left"(%455, %459) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %461 = "stablehlo.or"(%460, %458) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %462 = "stablehlo.xor"(%461, %456) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %463 = "stablehlo.add"(%456, %462) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %464 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %465 = "stablehlo.shift_right_logical"(%462, %464) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %466 = "stablehlo.constant"() {value = dense<24> : tensor<ui32>} : () -> tensor<ui32>
    %467 = "stablehlo.shift_left"(%462, %466) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %468 = "stablehlo.or"(%467, %465) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %469 = "stablehlo.xor"(%468, %463) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %470 = "stablehlo.add"(%463, %1) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %471 = "stablehlo.constant"() {value = dense<4> : tensor<ui32>} : () -> tensor<ui32>
    %472 = "stablehlo.add"(%343, %471) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %473 = "stablehlo.add"(%469, %472) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %474 = "stablehlo.add"(%470, %473) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %475 = "stablehlo.constant"() {value = dense<19> : tensor<ui32>} : () -> tensor<ui32>
    %476 = "stablehlo.shift_right_logical"(%473, %475) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %477 = "stablehlo.constant"() {value = dense<13> : tensor<ui32>} : () -> tensor<ui32>
    %478 = "stablehlo.shift_left"(%473, %477) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %479 = "stablehlo.or"(%478, %476) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %480 = "stablehlo.xor"(%479, %474) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %481 = "stablehlo.add"(%474, %480) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %482 = "stablehlo.constant"() {value = dense<17> : tensor<ui32>} : () -> tensor<ui32>
    %483 = "stablehlo.shift_right_logical"(%480, %482) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %484 = "stablehlo.constant"() {value = dense<15> : tensor<ui32>} : () -> tensor<ui32>
    %485 = "stablehlo.shift_left"(%480, %484) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %486 = "stablehlo.or"(%485, %483) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %487 = "stablehlo.xor"(%486, %481) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %488 = "stablehlo.add"(%481, %487) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %489 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %490 = "stablehlo.shift_right_logical"(%487, %489) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %491 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %492 = "stablehlo.shift_left"(%487, %491) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %493 = "stablehlo.or"(%492, %490) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %494 = "stablehlo.xor"(%493, %488) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %495 = "stablehlo.add"(%488, %494) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %496 = "stablehlo.constant"() {value = dense<26> : tensor<ui32>} : () -> tensor<ui32>
    %497 = "stablehlo.shift_right_logical"(%494, %496) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %498 = "stablehlo.constant"() {value = dense<6> : tensor<ui32>} : () -> tensor<ui32>
    %499 = "stablehlo.shift_left"(%494, %498) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %500 = "stablehlo.or"(%499, %497) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %501 = "stablehlo.xor"(%500, %495) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %502 = "stablehlo.add"(%495, %343) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %503 = "stablehlo.constant"() {value = dense<5> : tensor<ui32>} : () -> tensor<ui32>
    %504 = "stablehlo.add"(%0, %503) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %505 = "stablehlo.add"(%501, %504) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %506 = "stablehlo.constant"() {value = dense<0> : tensor<4xui32>} : () -> tensor<4xui32>
    %507 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<4xui32>
    %508 = "stablehlo.constant"() {value = dense<466688986> : tensor<ui32>} : () -> tensor<ui32>
    %509 = "stablehlo.broadcast_in_dim"(%502) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<4xui32>
    %510 = "stablehlo.broadcast_in_dim"(%505) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<4xui32>
    %511 = "stablehlo.xor"(%502, %505) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %512 = "stablehlo.xor"(%511, %508) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %513 = "stablehlo.broadcast_in_dim"(%512) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<4xui32>
    %514 = "stablehlo.add"(%506, %509) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %515 = "stablehlo.add"(%507, %510) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %516 = "stablehlo.add"(%514, %515) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %517 = "stablehlo.constant"() {value = dense<19> : tensor<4xui32>} : () -> tensor<4xui32>
    %518 = "stablehlo.shift_right_logical"(%515, %517) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %519 = "stablehlo.constant"() {value = dense<13> : tensor<4xui32>} : () -> tensor<4xui32>
    %520 = "stablehlo.shift_left"(%515, %519) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %521 = "stablehlo.or"(%520, %518) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %522 = "stablehlo.xor"(%521, %516) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %523 = "stablehlo.add"(%516, %522) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %524 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %525 = "stablehlo.shift_right_logical"(%522, %524) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %526 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %527 = "stablehlo.shift_left"(%522, %526) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %528 = "stablehlo.or"(%527, %525) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %529 = "stablehlo.xor"(%528, %523) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %530 = "stablehlo.add"(%523, %529) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %531 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %532 = "stablehlo.shift_right_logical"(%529, %531) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %533 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %534 = "stablehlo.shift_left"(%529, %533) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %535 = "stablehlo.or"(%534, %532) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %536 = "stablehlo.xor"(%535, %530) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %537 = "stablehlo.add"(%530, %536) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %538 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %539 = "stablehlo.shift_right_logical"(%536, %538) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %540 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %541 = "stablehlo.shift_left"(%536, %540) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %542 = "stablehlo.or"(%541, %539) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %543 = "stablehlo.xor"(%542, %537) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %544 = "stablehlo.add"(%537, %510) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %545 = "stablehlo.constant"() {value = dense<1> : tensor<4xui32>} : () -> tensor<4xui32>
    %546 = "stablehlo.add"(%513, %545) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %547 = "stablehlo.add"(%543, %546) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %548 = "stablehlo.add"(%544, %547) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %549 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %550 = "stablehlo.shift_right_logical"(%547, %549) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %551 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %552 = "stablehlo.shift_left"(%547, %551) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %553 = "stablehlo.or"(%552, %550) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %554 = "stablehlo.xor"(%553, %548) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %555 = "stablehlo.add"(%548, %554) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %556 = "stablehlo.constant"() {value = dense<3> : tensor<4xui32>} : () -> tensor<4xui32>
    %557 = "stablehlo.shift_right_logical"(%554, %556) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %558 = "stablehlo.constant"() {value = dense<29> : tensor<4xui32>} : () -> tensor<4xui32>
    %559 = "stablehlo.shift_left"(%554, %558) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %560 = "stablehlo.or"(%559, %557) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %561 = "stablehlo.xor"(%560, %555) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %562 = "stablehlo.add"(%555, %561) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %563 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %564 = "stablehlo.shift_right_logical"(%561, %563) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %565 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %566 = "stablehlo.shift_left"(%561, %565) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %567 = "stablehlo.or"(%566, %564) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %568 = "stablehlo.xor"(%567, %562) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %569 = "stablehlo.add"(%562, %568) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %570 = "stablehlo.constant"() {value = dense<8> : tensor<4xui32>} : () -> tensor<4xui32>
    %571 = "stablehlo.shift_right_logical"(%568, %570) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %572 = "stablehlo.constant"() {value = dense<24> : tensor<4xui32>} : () -> tensor<4xui32>
    %573 = "stablehlo.shift_left"(%568, %572) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %574 = "stablehlo.or"(%573, %571) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %575 = "stablehlo.xor"(%574, %569) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %576 = "stablehlo.add"(%569, %513) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %577 = "stablehlo.constant"() {value = dense<2> : tensor<4xui32>} : () -> tensor<4xui32>
    %578 = "stablehlo.add"(%509, %577) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %579 = "stablehlo.add"(%575, %578) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %580 = "stablehlo.add"(%576, %579) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %581 = "stablehlo.constant"() {value = dense<19> : tensor<4xui32>} : () -> tensor<4xui32>
    %582 = "stablehlo.shift_right_logical"(%579, %581) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %583 = "stablehlo.constant"() {value = dense<13> : tensor<4xui32>} : () -> tensor<4xui32>
    %584 = "stablehlo.shift_left"(%579, %583) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %585 = "stablehlo.or"(%584, %582) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %586 = "stablehlo.xor"(%585, %580) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %587 = "stablehlo.add"(%580, %586) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %588 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %589 = "stablehlo.shift_right_logical"(%586, %588) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %590 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %591 = "stablehlo.shift_left"(%586, %590) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %592 = "stablehlo.or"(%591, %589) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %593 = "stablehlo.xor"(%592, %587) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %594 = "stablehlo.add"(%587, %593) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %595 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %596 = "stablehlo.shift_right_logical"(%593, %595) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %597 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %598 = "stablehlo.shift_left"(%593, %597) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %599 = "stablehlo.or"(%598, %596) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %600 = "stablehlo.xor"(%599, %594) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %601 = "stablehlo.add"(%594, %600) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %602 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %603 = "stablehlo.shift_right_logical"(%600, %602) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %604 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %605 = "stablehlo.shift_left"(%600, %604) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %606 = "stablehlo.or"(%605, %603) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %607 = "stablehlo.xor"(%606, %601) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %608 = "stablehlo.add"(%601, %509) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %609 = "stablehlo.constant"() {value = dense<3> : tensor<4xui32>} : () -> tensor<4xui32>
    %610 = "stablehlo.add"(%510, %609) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %611 = "stablehlo.add"(%607, %610) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %612 = "stablehlo.add"(%608, %611) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %613 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %614 = "stablehlo.shift_right_logical"(%611, %613) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %615 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %616 = "stablehlo.shift_left"(%611, %615) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %617 = "stablehlo.or"(%616, %614) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %618 = "stablehlo.xor"(%617, %612) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %619 = "stablehlo.add"(%612, %618) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %620 = "stablehlo.constant"() {value = dense<3> : tensor<4xui32>} : () -> tensor<4xui32>
    %621 = "stablehlo.shift_right_logical"(%618, %620) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %622 = "stablehlo.constant"() {value = dense<29> : tensor<4xui32>} : () -> tensor<4xui32>
    %623 = "stablehlo.shift_left"(%618, %622) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %624 = "stablehlo.or"(%623, %621) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %625 = "stablehlo.xor"(%624, %619) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %626 = "stablehlo.add"(%619, %625) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %627 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %628 = "stablehlo.shift_right_logical"(%625, %627) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %629 = "stablehlo.constant"() {value = dense<16> : tensor<4xui32>} : () -> tensor<4xui32>
    %630 = "stablehlo.shift_left"(%625, %629) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %631 = "stablehlo.or"(%630, %628) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %632 = "stablehlo.xor"(%631, %626) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %633 = "stablehlo.add"(%626, %632) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %634 = "stablehlo.constant"() {value = dense<8> : tensor<4xui32>} : () -> tensor<4xui32>
    %635 = "stablehlo.shift_right_logical"(%632, %634) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %636 = "stablehlo.constant"() {value = dense<24> : tensor<4xui32>} : () -> tensor<4xui32>
    %637 = "stablehlo.shift_left"(%632, %636) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %638 = "stablehlo.or"(%637, %635) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %639 = "stablehlo.xor"(%638, %633) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %640 = "stablehlo.add"(%633, %510) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %641 = "stablehlo.constant"() {value = dense<4> : tensor<4xui32>} : () -> tensor<4xui32>
    %642 = "stablehlo.add"(%513, %641) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %643 = "stablehlo.add"(%639, %642) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %644 = "stablehlo.add"(%640, %643) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %645 = "stablehlo.constant"() {value = dense<19> : tensor<4xui32>} : () -> tensor<4xui32>
    %646 = "stablehlo.shift_right_logical"(%643, %645) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %647 = "stablehlo.constant"() {value = dense<13> : tensor<4xui32>} : () -> tensor<4xui32>
    %648 = "stablehlo.shift_left"(%643, %647) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %649 = "stablehlo.or"(%648, %646) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %650 = "stablehlo.xor"(%649, %644) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %651 = "stablehlo.add"(%644, %650) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %652 = "stablehlo.constant"() {value = dense<17> : tensor<4xui32>} : () -> tensor<4xui32>
    %653 = "stablehlo.shift_right_logical"(%650, %652) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %654 = "stablehlo.constant"() {value = dense<15> : tensor<4xui32>} : () -> tensor<4xui32>
    %655 = "stablehlo.shift_left"(%650, %654) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %656 = "stablehlo.or"(%655, %653) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %657 = "stablehlo.xor"(%656, %651) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %658 = "stablehlo.add"(%651, %657) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %659 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %660 = "stablehlo.shift_right_logical"(%657, %659) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %661 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %662 = "stablehlo.shift_left"(%657, %661) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %663 = "stablehlo.or"(%662, %660) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %664 = "stablehlo.xor"(%663, %658) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %665 = "stablehlo.add"(%658, %664) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %666 = "stablehlo.constant"() {value = dense<26> : tensor<4xui32>} : () -> tensor<4xui32>
    %667 = "stablehlo.shift_right_logical"(%664, %666) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %668 = "stablehlo.constant"() {value = dense<6> : tensor<4xui32>} : () -> tensor<4xui32>
    %669 = "stablehlo.shift_left"(%664, %668) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %670 = "stablehlo.or"(%669, %667) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %671 = "stablehlo.xor"(%670, %665) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %672 = "stablehlo.add"(%665, %513) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %673 = "stablehlo.constant"() {value = dense<5> : tensor<4xui32>} : () -> tensor<4xui32>
    %674 = "stablehlo.add"(%509, %673) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %675 = "stablehlo.add"(%671, %674) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    %676 = "stablehlo.xor"(%672, %675) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    "func.return"(%338, %676) : (tensor<4xui32>, tensor<4xui32>) -> ()
  }
}
