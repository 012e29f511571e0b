# SPDX-License-Identifier: Apache-2.0
# Installed: the program, the libraries, their headers, pkg-config and CMake package files.
include(CMakePackageConfigHelpers)

install(TARGETS gradnic gradnic_static gradnic_switch gradnic_switch_static gradnic_comm gradnic_comm_static gradnic_flags EXPORT gradnicTargets)
install(DIRECTORY cmodel/include/gradnic ring/include/gradnic switch/include/gradnic DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS gradnic_tool RUNTIME)
# `gradnic demo` and `gradnic report`: their scripts, the testbed they make, the digits they train on.
install(PROGRAMS scripts/demo-run scripts/demo-report scripts/testbed DESTINATION ${CMAKE_INSTALL_DATADIR}/gradnic)
install(FILES scripts/report_plots.py DESTINATION ${CMAKE_INSTALL_DATADIR}/gradnic)
install(DIRECTORY tests/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gradnic/data
        FILES_MATCHING PATTERN "digits-*" PATTERN "README.md" PATTERN "gradients" EXCLUDE)
# `gradnic figures`: its scripts, networks and bands.
install(DIRECTORY figures/ DESTINATION ${CMAKE_INSTALL_DATADIR}/gradnic/figures USE_SOURCE_PERMISSIONS
        PATTERN "__pycache__" EXCLUDE)
install(FILES packaging/grafana/gradnic.json DESTINATION ${CMAKE_INSTALL_DATADIR}/gradnic/grafana)
install(FILES packaging/prometheus/gradnic.rules.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/gradnic/prometheus)
install(FILES packaging/wireshark/gradnic.lua packaging/wireshark/preferences packaging/wireshark/colorfilters
        DESTINATION ${CMAKE_INSTALL_DATADIR}/gradnic/wireshark)
install(EXPORT gradnicTargets NAMESPACE gradnic:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gradnic)
write_basic_package_version_file(gradnicConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(cmake/gradnicConfig.cmake.in gradnicConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gradnic)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gradnicConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gradnicConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gradnic)
# pkg-config files find the prefix from where they are, so that the tree can be moved (and installed with --prefix).
file(RELATIVE_PATH GRADNIC_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name libgradnic libgradnic-comm libgradnic-switch)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
