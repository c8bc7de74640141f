module @dynamic_slice_clamps attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = "stablehlo.dynamic_slice"(%arg0, %arg2) {slice_sizes = array<i64: 2>} : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    %1 = "stablehlo.dynamic_slice"(%arg0, %arg3) {slice_sizes = array<i64: 2>} : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    %2 = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg2) : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
    %3 = "stablehlo.dynamic_update_slice"(%arg0, %arg1, %arg3) : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
    "func.return"(%0, %1, %2, %3) : (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
  }
}
