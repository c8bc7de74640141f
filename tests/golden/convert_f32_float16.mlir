module @convert_f32_float16 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<12xf32>) -> (tensor<12xf16>) {
    %0 = "stablehlo.convert"(%arg0) : (tensor<12xf32>) -> tensor<12xf16>
    "func.return"(%0) : (tensor<12xf16>) -> ()
  }
}
