module @custom_call attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) -> (tensor<3x2xf32>, tensor<i32>) {
    %0:2 = "stablehlo.custom_call"(%arg0, %arg1) {call_target_name = "flatout.test", api_version = 4 : i32, backend_config = {"alpha" = 5.000000e-01 : f64, "count" = 3 : i64, "flag" = true, "name" = "a \22quoted\22 name", "strides" = array<i64: 1, 2>}, has_side_effect = false, operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<2x3xf32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<i32>)
    "func.return"(%0#0, %0#1) : (tensor<3x2xf32>, tensor<i32>) -> ()
  }
}
