module @convert_bool_f32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2xi1>) -> (tensor<2xf32>) {
    %0 = "stablehlo.convert"(%arg0) : (tensor<2xi1>) -> tensor<2xf32>
    "func.return"(%0) : (tensor<2xf32>) -> ()
  }
}
