module @scatter_add_rows attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<6x3xf32>, %arg1: tensor<2x3xi32>, %arg2: tensor<2x3x3xf32>) -> (tensor<6x3xf32>) {
    %3 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
    ^bb0(%0: tensor<f32>, %1: tensor<f32>):
      %2 = "stablehlo.add"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<6x3xf32>, tensor<2x3xi32>, tensor<2x3x3xf32>) -> tensor<6x3xf32>
    "func.return"(%3) : (tensor<6x3xf32>) -> ()
  }
}
