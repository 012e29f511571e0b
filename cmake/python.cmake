# SPDX-License-Identifier: Apache-2.0
# What the Python package carries (python/pyproject.toml): the shared libraries, the program, and the
# scripts of `gradnic demo`. A wheel holds no symbolic links: a library has one name, its soname.
set_target_properties(gradnic gradnic_switch gradnic_comm PROPERTIES VERSION 0)
install(TARGETS gradnic gradnic_switch gradnic_comm LIBRARY DESTINATION lib COMPONENT python NAMELINK_SKIP)
install(TARGETS gradnic_tool RUNTIME DESTINATION bin COMPONENT python)
install(PROGRAMS scripts/demo-run scripts/demo-report scripts/testbed DESTINATION share/gradnic COMPONENT python)
install(DIRECTORY tests/data/ DESTINATION share/gradnic/data COMPONENT python
        FILES_MATCHING PATTERN "digits-*" PATTERN "README.md" PATTERN "gradients" EXCLUDE PATTERN "captures" EXCLUDE
        PATTERN "tensors" EXCLUDE)
install(FILES scripts/report_plots.py LICENSE DESTINATION share/gradnic COMPONENT python)
