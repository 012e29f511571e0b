# SPDX-License-Identifier: Apache-2.0
# Targets docs-api (the reference, made from the public headers) and docs-site (all pages).
# Both work offline.
# scripts/setup --docs installs what they need. Neither is part of the default build.
find_program(DOXYGEN doxygen)
find_program(MKDOCS mkdocs)
find_program(SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)

if(DOXYGEN)
  configure_file(docs/site/Doxyfile.in docs/Doxyfile @ONLY)
  add_custom_target(docs-api COMMAND ${DOXYGEN} ${PROJECT_BINARY_DIR}/docs/Doxyfile
    COMMENT "API reference: ${PROJECT_BINARY_DIR}/docs/api/index.html" VERBATIM)
  if(GRADNIC_TESTS)
    add_test(NAME docs_api COMMAND ${DOXYGEN} ${PROJECT_BINARY_DIR}/docs/Doxyfile)
    set_tests_properties(docs_api PROPERTIES TIMEOUT 60 LABELS docs)
  endif()
endif()

if(DOXYGEN AND MKDOCS AND SYSTEM_PYTHON)
  set(STAGE ${PROJECT_BINARY_DIR}/docs/stage)
  configure_file(docs/site/mkdocs.yml.in docs/mkdocs.yml @ONLY)
  add_custom_target(docs-site
    COMMAND ${SYSTEM_PYTHON} ${PROJECT_SOURCE_DIR}/docs/site/stage.py ${PROJECT_SOURCE_DIR} ${STAGE}
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${PROJECT_BINARY_DIR}/docs/api ${STAGE}/api
    COMMAND ${MKDOCS} build --strict --quiet --clean --config-file ${PROJECT_BINARY_DIR}/docs/mkdocs.yml
    DEPENDS docs-api COMMENT "Site: ${PROJECT_BINARY_DIR}/docs/site/index.html" VERBATIM)
endif()

foreach(target docs-api docs-site)
  if(NOT TARGET ${target})
    add_custom_target(${target} COMMAND ${CMAKE_COMMAND} -E echo "${target}: Doxygen or MkDocs is missing: scripts/setup --docs"
      COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
  endif()
endforeach()
