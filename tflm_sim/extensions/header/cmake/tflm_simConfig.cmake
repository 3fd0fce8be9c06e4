# A header with a model's arena before anything is linked:
#
#     execute_process(COMMAND python3 -m tflm_sim.extensions.header
#                     OUTPUT_VARIABLE tflm_sim_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
#     find_package(tflm_sim REQUIRED)
#     tflm_arena(app model.tflite OUTPUT net.h TARGET cortex-m4 LIBRARY ...)
#
# SPDX-License-Identifier: Apache-2.0
if(NOT TFLM_SIM_COMMAND)
  find_program(TFLM_SIM_COMMAND tflm-sim)
  if(NOT TFLM_SIM_COMMAND)
    set(tflm_sim_FOUND FALSE)
    set(tflm_sim_NOT_FOUND_MESSAGE "tflm-sim: not on PATH; pip install tflm_sim, or set TFLM_SIM_COMMAND")
    return()
  endif()
endif()
set(tflm_sim_FOUND TRUE)
get_filename_component(_tflm_sim_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_tflm_sim_init "${_tflm_sim_package}/__init__.py" CACHE INTERNAL "changes with tflm_sim's version")

# tflm_arena(TARGET model.tflite OUTPUT header.h [TARGET T] [BOARD B] [LIBRARY L] [KERNELS K] [RUNTIME R] [ARGS ...])
#
# Writes header.h for this model before TARGET is compiled, and again when the model or tflm_sim changes; TARGET finds it
# by its name. ARGS are further options of "tflm-sim size". TARGET is a target of CMake: with ESP-IDF ${COMPONENT_LIB},
# with Zephyr app.
function(tflm_arena cmake_target model)
  # ESP-IDF reads each component first for what it requires; nothing can be built then.
  if(CMAKE_BUILD_EARLY_EXPANSION)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "OUTPUT;TARGET;BOARD;LIBRARY;KERNELS;RUNTIME" "ARGS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tflm_arena: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_OUTPUT)
    message(FATAL_ERROR "tflm_arena: OUTPUT names the header")
  endif()
  set(options ${arg_ARGS})
  foreach(option TARGET BOARD LIBRARY KERNELS RUNTIME)
    if(arg_${option})
      string(TOLOWER "${option}" name)
      list(APPEND options "--${name}" "${arg_${option}}")
    endif()
  endforeach()
  get_filename_component(file "${model}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/tflm_sim")
  set(header "${folder}/${arg_OUTPUT}")
  get_filename_component(parent "${header}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  add_custom_command(
    OUTPUT "${header}"
    COMMAND ${TFLM_SIM_COMMAND} size "${file}" ${options} --header "${header}"
    DEPENDS "${file}" "${_tflm_sim_init}"
    COMMENT "The tensor arena of ${model}"
    VERBATIM)
  # Targets in other folders that use the header wait for it, too.
  string(MAKE_C_IDENTIFIER "tflm_arena_${cmake_target}_${arg_OUTPUT}" step)
  add_custom_target(${step} DEPENDS "${header}")
  add_dependencies(${cmake_target} ${step})
  get_target_property(kind ${cmake_target} TYPE)
  if(kind STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${cmake_target} INTERFACE "${folder}")
  else()
    target_include_directories(${cmake_target} PUBLIC "${folder}")
  endif()
endfunction()
