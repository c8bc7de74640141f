module @bitcast_convert_f32_u32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3xf32>) -> (tensor<3xui32>) {
    %0 = "stablehlo.bitcast_convert"(%arg0) : (tensor<3xf32>) -> tensor<3xui32>
    "func.return"(%0) : (tensor<3xui32>) -> ()
  }
}
