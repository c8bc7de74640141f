module @gather_rows_flat attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<6x3xf32>, %arg1: tensor<6xi32>) -> (tensor<6x3xf32>) {
    %0 = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, indices_are_sorted = false} : (tensor<6x3xf32>, tensor<6xi32>) -> tensor<6x3xf32>
    "func.return"(%0) : (tensor<6x3xf32>) -> ()
  }
}
