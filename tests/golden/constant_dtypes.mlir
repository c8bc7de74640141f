module @constant_dtypes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<f32>) -> (tensor<2x3xf32>, tensor<2xf64>, tensor<2xbf16>, tensor<3xf16>, tensor<3xi1>, tensor<2xi32>, tensor<2xi8>, tensor<2xui8>, tensor<1xui32>, tensor<1xi64>, tensor<0xf32>) {
    %0 = "stablehlo.constant"() {value = dense<[[1.000000e-01, -0.000000e+00, 0x7F800000], [0xFF800000, 0x7FC00000, 1.401298e-45]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
    %1 = "stablehlo.constant"() {value = dense<[0x3FD5555555555555, 1.000000e+300]> : tensor<2xf64>} : () -> tensor<2xf64>
    %2 = "stablehlo.constant"() {value = dense<[1.000977e-01, 3.004055e+38]> : tensor<2xbf16>} : () -> tensor<2xbf16>
    %3 = "stablehlo.constant"() {value = dense<[9.997559e-02, 6.550400e+04, 5.960464e-08]> : tensor<3xf16>} : () -> tensor<3xf16>
    %4 = "stablehlo.constant"() {value = dense<[true, false, true]> : tensor<3xi1>} : () -> tensor<3xi1>
    %5 = "stablehlo.constant"() {value = dense<[2147483647, -2147483648]> : tensor<2xi32>} : () -> tensor<2xi32>
    %6 = "stablehlo.constant"() {value = dense<[-128, 127]> : tensor<2xi8>} : () -> tensor<2xi8>
    %7 = "stablehlo.constant"() {value = dense<[0, 255]> : tensor<2xui8>} : () -> tensor<2xui8>
    %8 = "stablehlo.constant"() {value = dense<[4294967295]> : tensor<1xui32>} : () -> tensor<1xui32>
    %9 = "stablehlo.constant"() {value = dense<[-9007199254740992]> : tensor<1xi64>} : () -> tensor<1xi64>
    %10 = "stablehlo.constant"() {value = dense<> : tensor<0xf32>} : () -> tensor<0xf32>
    "func.return"(%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10) : (tensor<2x3xf32>, tensor<2xf64>, tensor<2xbf16>, tensor<3xf16>, tensor<3xi1>, tensor<2xi32>, tensor<2xi8>, tensor<2xui8>, tensor<1xui32>, tensor<1xi64>, tensor<0xf32>) -> ()
  }
}
