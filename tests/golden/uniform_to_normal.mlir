module @uniform_to_normal attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>) {
    %0 = "stablehlo.abs"(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %2 = "stablehlo.subtract"(%1, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = "stablehlo.constant"() {value = dense<2.000000e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %4 = "stablehlo.subtract"(%3, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %5 = "stablehlo.multiply"(%2, %4) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %6 = "stablehlo.log"(%5) : (tensor<8xf32>) -> tensor<8xf32>
    %7 = "stablehlo.negate"(%6) : (tensor<8xf32>) -> tensor<8xf32>
    %8 = "stablehlo.constant"() {value = dense<1.000000e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %9 = "stablehlo.subtract"(%8, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %10 = "stablehlo.sqrt"(%7) : (tensor<8xf32>) -> tensor<8xf32>
    %11 = "stablehlo.constant"() {value = dense<3.000000e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %12 = "stablehlo.subtract"(%10, %11) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %13 = "stablehlo.constant"() {value = dense<0xB951F09B> : tensor<8xf32>} : () -> tensor<8xf32>
    %14 = "stablehlo.multiply"(%13, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %15 = "stablehlo.constant"() {value = dense<0x38D3B56B> : tensor<8xf32>} : () -> tensor<8xf32>
    %16 = "stablehlo.add"(%14, %15) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %17 = "stablehlo.multiply"(%16, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %18 = "stablehlo.constant"() {value = dense<0x3AB0DC72> : tensor<8xf32>} : () -> tensor<8xf32>
    %19 = "stablehlo.add"(%17, %18) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %20 = "stablehlo.multiply"(%19, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %21 = "stablehlo.constant"() {value = dense<0xBB70BDE7> : tensor<8xf32>} : () -> tensor<8xf32>
    %22 = "stablehlo.add"(%20, %21) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %23 = "stablehlo.multiply"(%22, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %24 = "stablehlo.constant"() {value = dense<0x3BBC127B> : tensor<8xf32>} : () -> tensor<8xf32>
    %25 = "stablehlo.add"(%23, %24) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %26 = "stablehlo.multiply"(%25, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %27 = "stablehlo.constant"() {value = dense<0xBBF9C5D7> : tensor<8xf32>} : () -> tensor<8xf32>
    %28 = "stablehlo.add"(%26, %27) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %29 = "stablehlo.multiply"(%28, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %30 = "stablehlo.constant"() {value = dense<0x3C1AA57E> : tensor<8xf32>} : () -> tensor<8xf32>
    %31 = "stablehlo.add"(%29, %30) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %32 = "stablehlo.multiply"(%31, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %33 = "stablehlo.constant"() {value = dense<1.001674e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %34 = "stablehlo.add"(%32, %33) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %35 = "stablehlo.multiply"(%34, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %36 = "stablehlo.constant"() {value = dense<0x40354F7E> : tensor<8xf32>} : () -> tensor<8xf32>
    %37 = "stablehlo.add"(%35, %36) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %38 = "stablehlo.constant"() {value = dense<2.500000e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %39 = "stablehlo.subtract"(%7, %38) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %40 = "stablehlo.constant"() {value = dense<0x32F16588> : tensor<8xf32>} : () -> tensor<8xf32>
    %41 = "stablehlo.multiply"(%40, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %42 = "stablehlo.constant"() {value = dense<0x34B84B36> : tensor<8xf32>} : () -> tensor<8xf32>
    %43 = "stablehlo.add"(%41, %42) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %44 = "stablehlo.multiply"(%43, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %45 = "stablehlo.constant"() {value = dense<0xB66C7357> : tensor<8xf32>} : () -> tensor<8xf32>
    %46 = "stablehlo.add"(%44, %45) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %47 = "stablehlo.multiply"(%46, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %48 = "stablehlo.constant"() {value = dense<0xB6935AC1> : tensor<8xf32>} : () -> tensor<8xf32>
    %49 = "stablehlo.add"(%47, %48) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %50 = "stablehlo.multiply"(%49, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %51 = "stablehlo.constant"() {value = dense<0x396532DB> : tensor<8xf32>} : () -> tensor<8xf32>
    %52 = "stablehlo.add"(%50, %51) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %53 = "stablehlo.multiply"(%52, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %54 = "stablehlo.constant"() {value = dense<-1.253725e-03> : tensor<8xf32>} : () -> tensor<8xf32>
    %55 = "stablehlo.add"(%53, %54) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %56 = "stablehlo.multiply"(%55, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %57 = "stablehlo.constant"() {value = dense<0xBB88E4EF> : tensor<8xf32>} : () -> tensor<8xf32>
    %58 = "stablehlo.add"(%56, %57) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %59 = "stablehlo.multiply"(%58, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %60 = "stablehlo.constant"() {value = dense<0x3E7C8F63> : tensor<8xf32>} : () -> tensor<8xf32>
    %61 = "stablehlo.add"(%59, %60) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %62 = "stablehlo.multiply"(%61, %39) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %63 = "stablehlo.constant"() {value = dense<0x3FC02E2F> : tensor<8xf32>} : () -> tensor<8xf32>
    %64 = "stablehlo.add"(%62, %63) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %65 = "stablehlo.constant"() {value = dense<5.000000e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %66 = "stablehlo.compare"(%7, %65) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %67 = "stablehlo.select"(%66, %64, %37) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %68 = "stablehlo.multiply"(%67, %9) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %69 = "stablehlo.negate"(%68) : (tensor<8xf32>) -> tensor<8xf32>
    %70 = "stablehlo.constant"() {value = dense<0.000000e+00> : tensor<8xf32>} : () -> tensor<8xf32>
    %71 = "stablehlo.compare"(%arg0, %70) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %72 = "stablehlo.select"(%71, %69, %68) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %73 = "stablehlo.constant"() {value = dense<0x3FB504F3> : tensor<8xf32>} : () -> tensor<8xf32>
    %74 = "stablehlo.multiply"(%72, %73) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "func.return"(%74) : (tensor<8xf32>) -> ()
  }
}
