# SPDX-License-Identifier: Apache-2.0
# The Verilog in Verilator, for whoever needs it: the NIC's engines, the simulation, the tests.
if(GRADNIC_RTL)
  find_package(verilator HINTS $ENV{VERILATOR_ROOT})
endif()
set(gradnic_rtl ${PROJECT_SOURCE_DIR}/rtl)

# gn_verilate(TARGET TOP module SOURCES verilog... [PREFIX name] [X_ASSIGN fast|unique] [OPTIMIZE -O1|-O2] [OPTIONS words of verilate()...] [ARGS arguments of Verilator...]):
# adds the Verilated module to a target, as class PREFIX (V and the module's name). -O1 instead of
# -O2 compiles in less than half of the time, and runs 3 % slower
function(gn_verilate target)
  cmake_parse_arguments(arg "" "TOP;PREFIX;X_ASSIGN;OPTIMIZE" "SOURCES;OPTIONS;ARGS" ${ARGN})
  if(NOT arg_PREFIX)
    set(arg_PREFIX V${arg_TOP})
  endif()
  if(NOT arg_X_ASSIGN)
    set(arg_X_ASSIGN unique)
  endif()
  if(NOT arg_OPTIMIZE)
    set(arg_OPTIMIZE -O2)
  endif()
  verilate(${target} ${arg_OPTIONS} SOURCES ${arg_SOURCES} TOP_MODULE ${arg_TOP} PREFIX ${arg_PREFIX}
    INCLUDE_DIRS ${gradnic_rtl}/lib ${gradnic_rtl}/codec ${gradnic_rtl}/frame ${gradnic_rtl}/nic ${gradnic_rtl}/wrap ${gradnic_rtl}/switch
    VERILATOR_ARGS --language 1364-2001 -Wall --x-assign ${arg_X_ASSIGN} --x-initial unique -O3 ${arg_ARGS})
  # Verilator cuts what it makes into many small files with large headers.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  # of the generated code, too: Verilator's lint has looked at its source
  target_compile_options(${target} PRIVATE ${arg_OPTIMIZE} -w)
  # A third of it runs once, when the model is made. Optimizing that would take longer than it runs.
  get_target_property(slow ${target} SOURCES)
  list(FILTER slow INCLUDE REGEX "/${arg_PREFIX}__[^/]*__Slow\\.cpp$")
  set(once ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${arg_PREFIX}_once.cxx)
  list(TRANSFORM slow REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE content)
  list(JOIN content "" content)
  file(GENERATE OUTPUT ${once} CONTENT "${content}")
  set_source_files_properties(${slow} PROPERTIES HEADER_FILE_ONLY ON)
  set_source_files_properties(${once} PROPERTIES COMPILE_OPTIONS -O0 SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${once})
endfunction()

# Verilator's own sources, which verilate() gives to every target, compiled once for all targets of one kind: library NAME.
function(gn_share_verilated_runtime target name)
  get_target_property(sources ${target} SOURCES)
  set(runtime ${sources})
  list(FILTER runtime INCLUDE REGEX "/verilated[a-z_]*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/verilated[a-z_]*\\.cpp$")
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  if(NOT TARGET ${name})
    add_library(${name} STATIC ${runtime})
    foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_FEATURES)
      get_target_property(value ${target} ${property})
      if(value)
        set_target_properties(${name} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
    target_compile_options(${name} PRIVATE -O2 -w)
  endif()
  target_link_libraries(${target} PRIVATE ${name})
endfunction()
