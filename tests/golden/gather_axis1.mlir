module @gather_axis1 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x4x2xf32>, %arg1: tensor<2x2xi32>) -> (tensor<3x2x2x2xf32>) {
    %0 = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [0,3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 3, 1, 2>, indices_are_sorted = false} : (tensor<3x4x2xf32>, tensor<2x2xi32>) -> tensor<3x2x2x2xf32>
    "func.return"(%0) : (tensor<3x2x2x2xf32>) -> ()
  }
}
