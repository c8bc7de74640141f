module @convert_f32_int8 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<7xf32>) -> (tensor<7xi8>) {
    %0 = "stablehlo.convert"(%arg0) : (tensor<7xf32>) -> tensor<7xi8>
    "func.return"(%0) : (tensor<7xi8>) -> ()
  }
}
