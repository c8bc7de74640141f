module @convert_f32_uint8 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3xf32>) -> (tensor<3xui8>) {
    %0 = "stablehlo.convert"(%arg0) : (tensor<3xf32>) -> tensor<3xui8>
    "func.return"(%0) : (tensor<3xui8>) -> ()
  }
}
