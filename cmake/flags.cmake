# SPDX-License-Identifier: Apache-2.0
# One set of warnings and sanitizers for everything; targets take it by linking gradnic_flags.
add_library(gradnic_flags INTERFACE)
target_compile_options(gradnic_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Werror
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
target_compile_definitions(gradnic_flags INTERFACE _GNU_SOURCE)
if(GRADNIC_SANITIZE)
  target_compile_options(gradnic_flags INTERFACE -fsanitize=${GRADNIC_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(gradnic_flags INTERFACE -fsanitize=${GRADNIC_SANITIZE})
endif()
if(GRADNIC_FUZZ)
  target_compile_options(gradnic_flags INTERFACE -fsanitize=fuzzer-no-link)  # coverage in everything that is fuzzed
endif()
