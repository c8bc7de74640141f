# flatout_folder(NAME USES folder... LIBS target...)
#
# Declares one folder of the house: a static library flatout_NAME of all its sources, linked only to
# the folders named under USES (that is what enforces the layering), and one test program for every
# *_test.cc beside them. LIBS are third-party targets that the folder's sources need. TEST_USES are
# further folders that only the folder's tests need.
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)

function(flatout_test target source)
  add_executable(${target} ${source})
  # What tests do is in the libraries; their own code need not be fast, but soon there.
  target_compile_options(${target} PRIVATE -O1)
  target_link_libraries(${target} PRIVATE ${ARGN} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE FLATOUT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
  set_tests_properties(${target} PROPERTIES TIMEOUT 900 ENVIRONMENT "FLATOUT_DEPS=${FLATOUT_DEPS}")
endfunction()

function(flatout_folder name)
  cmake_parse_arguments(ARG "" "" "USES;LIBS;TEST_USES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc ops/*.cc layers/*.cc sources/*.cc transforms/*.cc
       image/*.cc verbs/*.cc formats/*.cc tensorboard/*.cc profile/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_main)\\.cc$")
  if(NOT sources)
    return()
  endif()
  add_library(flatout_${name} STATIC ${sources})
  target_include_directories(flatout_${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  list(TRANSFORM ARG_USES PREPEND flatout_)
  list(TRANSFORM ARG_TEST_USES PREPEND flatout_)
  target_link_libraries(flatout_${name} PUBLIC ${ARG_USES} fmt::fmt Threads::Threads ${CMAKE_DL_LIBS}
                        PRIVATE ${ARG_LIBS})
  foreach(test ${tests})
    get_filename_component(stem ${test} NAME_WE)
    flatout_test(${name}_${stem} ${test} flatout_${name} ${ARG_TEST_USES})
  endforeach()
endfunction()
