module @bits_to_uniform attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<7xui32>) -> (tensor<7xf32>) {
    %0 = "stablehlo.constant"() {value = dense<8> : tensor<ui32>} : () -> tensor<ui32>
    %1 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<ui32>) -> tensor<7xui32>
    %2 = "stablehlo.shift_right_logical"(%arg0, %1) : (tensor<7xui32>, tensor<7xui32>) -> tensor<7xui32>
    %3 = "stablehlo.bitcast_convert"(%2) : (tensor<7xui32>) -> tensor<7xi32>
    %4 = "stablehlo.convert"(%3) : (tensor<7xi32>) -> tensor<7xf32>
    %5 = "stablehlo.constant"() {value = dense<0x33800000> : tensor<7xf32>} : () -> tensor<7xf32>
    %6 = "stablehlo.multiply"(%4, %5) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    "func.return"(%6) : (tensor<7xf32>) -> ()
  }
}
