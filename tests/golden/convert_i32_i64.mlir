module @convert_i32_i64 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<5xi32>) -> (tensor<5xi64>) {
    %0 = "stablehlo.convert"(%arg0) : (tensor<5xi32>) -> tensor<5xi64>
    "func.return"(%0) : (tensor<5xi64>) -> ()
  }
}
