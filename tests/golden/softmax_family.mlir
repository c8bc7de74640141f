module @softmax_family attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<1x3xf32>) {
    %0 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg0, %0) ({
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = "stablehlo.maximum"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%3) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<2xf32>) -> tensor<2x1xf32>
    %6 = "stablehlo.broadcast_in_dim"(%5) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %7 = "stablehlo.subtract"(%arg0, %6) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %8 = "stablehlo.exponential"(%7) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %9 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %13 = "stablehlo.reduce"(%8, %9) ({
    ^bb0(%10: tensor<f32>, %11: tensor<f32>):
      %12 = "stablehlo.add"(%10, %11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%12) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %14 = "stablehlo.reshape"(%13) : (tensor<2xf32>) -> tensor<2x1xf32>
    %15 = "stablehlo.broadcast_in_dim"(%14) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %16 = "stablehlo.divide"(%8, %15) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %17 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %21 = "stablehlo.reduce"(%arg0, %17) ({
    ^bb0(%18: tensor<f32>, %19: tensor<f32>):
      %20 = "stablehlo.maximum"(%18, %19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%20) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %22 = "stablehlo.reshape"(%21) : (tensor<2xf32>) -> tensor<2x1xf32>
    %23 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %24 = "stablehlo.subtract"(%arg0, %23) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %25 = "stablehlo.exponential"(%24) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %26 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %30 = "stablehlo.reduce"(%25, %26) ({
    ^bb0(%27: tensor<f32>, %28: tensor<f32>):
      %29 = "stablehlo.add"(%27, %28) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%29) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %31 = "stablehlo.reshape"(%30) : (tensor<2xf32>) -> tensor<2x1xf32>
    %32 = "stablehlo.log"(%31) : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %33 = "stablehlo.broadcast_in_dim"(%32) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %34 = "stablehlo.subtract"(%24, %33) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %35 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %39 = "stablehlo.reduce"(%arg0, %35) ({
    ^bb0(%36: tensor<f32>, %37: tensor<f32>):
      %38 = "stablehlo.maximum"(%36, %37) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%38) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %40 = "stablehlo.reshape"(%39) : (tensor<2xf32>) -> tensor<2x1xf32>
    %41 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
    %42 = "stablehlo.is_finite"(%40) : (tensor<2x1xf32>) -> tensor<2x1xi1>
    %43 = "stablehlo.select"(%42, %40, %41) : (tensor<2x1xi1>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %45 = "stablehlo.subtract"(%arg0, %44) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %46 = "stablehlo.exponential"(%45) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %47 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %51 = "stablehlo.reduce"(%46, %47) ({
    ^bb0(%48: tensor<f32>, %49: tensor<f32>):
      %50 = "stablehlo.add"(%48, %49) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%50) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %52 = "stablehlo.reshape"(%51) : (tensor<2xf32>) -> tensor<2x1xf32>
    %53 = "stablehlo.log"(%52) : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %54 = "stablehlo.add"(%53, %43) : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %55 = "stablehlo.reshape"(%54) : (tensor<2x1xf32>) -> tensor<2xf32>
    %56 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %60 = "stablehlo.reduce"(%arg0, %56) ({
    ^bb0(%57: tensor<f32>, %58: tensor<f32>):
      %59 = "stablehlo.maximum"(%57, %58) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%59) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %61 = "stablehlo.reshape"(%60) : (tensor<3xf32>) -> tensor<1x3xf32>
    %62 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
    %63 = "stablehlo.is_finite"(%61) : (tensor<1x3xf32>) -> tensor<1x3xi1>
    %64 = "stablehlo.select"(%63, %61, %62) : (tensor<1x3xi1>, tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    %65 = "stablehlo.broadcast_in_dim"(%64) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x3xf32>) -> tensor<2x3xf32>
    %66 = "stablehlo.subtract"(%arg0, %65) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %67 = "stablehlo.exponential"(%66) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %68 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %72 = "stablehlo.reduce"(%67, %68) ({
    ^bb0(%69: tensor<f32>, %70: tensor<f32>):
      %71 = "stablehlo.add"(%69, %70) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%71) : (tensor<f32>) -> ()
    }) {dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    %73 = "stablehlo.reshape"(%72) : (tensor<3xf32>) -> tensor<1x3xf32>
    %74 = "stablehlo.log"(%73) : (tensor<1x3xf32>) -> tensor<1x3xf32>
    %75 = "stablehlo.add"(%74, %64) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
    "func.return"(%16, %34, %55, %75) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<1x3xf32>) -> ()
  }
}
