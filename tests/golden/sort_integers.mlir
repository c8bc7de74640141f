module @sort_integers attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%arg0: tensor<4xi32>, %arg1: tensor<4xui8>) -> (tensor<4xi32>, tensor<4xui8>) {
    %3 = "stablehlo.sort"(%arg0) ({
    ^bb0(%0: tensor<i32>, %1: tensor<i32>):
      %2 = "stablehlo.compare"(%0, %1) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%2) : (tensor<i1>) -> ()
    }) {dimension = 0 : i64, is_stable = true} : (tensor<4xi32>) -> tensor<4xi32>
    %7 = "stablehlo.sort"(%arg1) ({
    ^bb0(%4: tensor<ui8>, %5: tensor<ui8>):
      %6 = "stablehlo.compare"(%4, %5) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type UNSIGNED>} : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      "stablehlo.return"(%6) : (tensor<i1>) -> ()
    }) {dimension = 0 : i64, is_stable = true} : (tensor<4xui8>) -> tensor<4xui8>
    "func.return"(%3, %7) : (tensor<4xi32>, tensor<4xui8>) -> ()
  }
}
