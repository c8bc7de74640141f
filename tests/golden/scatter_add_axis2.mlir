module @scatter_add_axis2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<3x4x2xf32>, %arg1: tensor<2x2xi32>, %arg2: tensor<3x4x2x2xf32>) -> (tensor<3x4x2xf32>) {
    %3 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
    ^bb0(%0: tensor<f32>, %1: tensor<f32>):
      %2 = "stablehlo.add"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0,1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xf32>, tensor<2x2xi32>, tensor<3x4x2x2xf32>) -> tensor<3x4x2xf32>
    "func.return"(%3) : (tensor<3x4x2xf32>) -> ()
  }
}
