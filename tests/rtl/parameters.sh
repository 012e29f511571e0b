#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A bad parameter of a top or a wrapper stops elaboration, in Verilator and in Icarus, and the
# message says what it must be: the name of a module that is missing. The values beside a bad one
# are taken.
set -euo pipefail
cd "$(dirname "$0")/../../rtl"
command -v iverilog >/dev/null || { echo "parameters: iverilog is not installed (scripts/setup --check)" >&2; exit 1; }

# judge TOP SETTING MESSAGE: the message, or "-" where the setting is good
judge() {
    local top=$1 setting=$2 message=$3 tool said code
    for tool in verilator iverilog; do
        code=0
        if [ "$tool" = verilator ]; then
            said=$(verilator --lint-only -Wno-fatal --language 1364-2001 "-G$setting" --top-module "$top" -f "$top.f" 2>&1) || code=$?
        else
            said=$(iverilog -g2001 -t null "-P$top.$setting" -s "$top" -f "$top.f" 2>&1) || code=$?
        fi
        if [ "$message" = - ]; then
            [ "$code" = 0 ] || { echo "$top $setting: $tool refuses what is good: ${said:0:400}"; return 1; }
        elif [ "$code" = 0 ]; then
            echo "$top $setting: $tool takes it"
            return 1
        elif ! grep -q "module.*$message" <<<"$said"; then
            echo "$top $setting: $tool does not say $message: ${said:0:400}"
            return 1
        fi
    done
}
export -f judge

xargs -P 2 -L 1 bash -c 'judge "$@" || exit 255' judge <<'CASES'
gn_stream_compress PROFILES=0 PROFILES_must_name_one_to_three
gn_stream_compress COUNT_WIDTH=4 COUNT_WIDTH_be_5_or_more
gn_stream_decompress PROFILES=8 PROFILES_must_name_one_to_three
gn_stream_decompress COUNT_WIDTH=5 COUNT_WIDTH_be_6_or_more
gn_nic_tx BUFFER_LOG2=3 BUFFER_LOG2_must_be_4_to_11
gn_nic_tx RULES=17 RULES_must_be_1_to_16
gn_nic_tx FLOWS_LOG2=2 LOG2_must_be_3_to_16
gn_nic_tx FLOWS_LOG2=17 LOG2_must_be_3_to_16
gn_nic_tx SIDE_WIDTH=0 SIDE_WIDTH_must_be_1_or_more
gn_nic_rx BUFFER_LOG2=12 BUFFER_LOG2_must_be_4_to_11
gn_nic_rx RESULT_LOG2=9 RESULT_LOG2_LOG2_to_11
gn_nic_rx PROFILES=0 PROFILES_must_name_one_to_three
gn_nic_rx SIDE_WIDTH=0 SIDE_WIDTH_must_be_1_or_more
gn_nic_top RULES=12 -
gn_nic_top RULES=13 RULES_must_be_1_to_12
gn_nic_top RULES=0 RULES_must_be_1_to_12
gn_nic_top PROFILES=8 PROFILES_must_name_one_to_three
gn_nic_top FRAME_MAX=32768 -
gn_nic_top FRAME_MAX=32769 BUFFER_LOG2_is_too_small_for_frames_of_FRAME_MAX_bytes
gn_nic_top FLOWS_LOG2=1 LOG2_must_be_3_to_16
gn_nic_top MAX_RESTORED=65535 -
gn_nic_top MAX_RESTORED=65536 MAX_RESTORED_must_be_0_to_65535
gn_nic_top TX_SIDE_WIDTH=0 SIDE_WIDTH_must_be_1_or_more
gn_nic_top RX_SIDE_WIDTH=0 SIDE_WIDTH_must_be_1_or_more
gn_nic_port DATA_WIDTH=64 -
gn_nic_port DATA_WIDTH=32 DATA_WIDTH_must_be_64_128_256_or_512
gn_nic_port DATA_WIDTH=96 DATA_WIDTH_must_be_64_128_256_or_512
gn_nic_port DATA_WIDTH=1024 DATA_WIDTH_must_be_64_128_256_or_512
gn_nic_port RULES=13 RULES_must_be_1_to_12
gn_nic_lanes LANES=0 LANES_must_be_1_2_or_4
gn_nic_lanes LANES=3 LANES_must_be_1_2_or_4
gn_nic_lanes LANES=8 LANES_must_be_1_2_or_4
gn_nic_lanes DATA_WIDTH=256 more_than_one_lane_takes_a_DATA_WIDTH_of_512
gn_nic_lanes FLOWS_LOG2=2 LOG2_must_be_3_to_16
gn_corundum_app IF_COUNT=0 COUNT_must_be_1_or_more
gn_corundum_app IF_COUNT=17 ADDR_WIDTH_of_13_to_32_must_reach_all_windows
gn_corundum_app AXIL_ADDR_WIDTH=12 ADDR_WIDTH_of_13_to_32_must_reach_all_windows
gn_corundum_app AXIS_IF_DATA_WIDTH=96 DATA_WIDTH_must_be_64_128_256_or_512
gn_corundum_app AXIS_IF_KEEP_WIDTH=16 AXIS_IF_KEEP_WIDTH_must_be_an_eighth
gn_corundum_app TX_TAG_WIDTH=17 TX_TAG_WIDTH_must_be_less
gn_corundum_app MAX_RX_SIZE=32769 BUFFER_LOG2_is_too_small
gn_corundum_app LANES=2 more_than_one_lane_takes_a_DATA_WIDTH_of_512
gn_opennic_box LANES=3 LANES_must_be_1_2_or_4
gn_opennic_box FLOWS_LOG2=17 LOG2_must_be_3_to_16
gn_opennic_box PROFILES=0 PROFILES_must_name_one_to_three
gn_aggregator JOBS_LOG2=0 JOBS_LOG2_must_be_1_to_6
gn_aggregator SLOTS_LOG2=16 SLOTS_LOG2_must_be_1_to_15
gn_aggregator BEATS_LOG2=9 BEATS_LOG2_1_to_8
gn_aggregator BUFFER_LOG2=12 BUFFER_LOG2_must_be_4_to_11
CASES
echo "parameters: refused as they should be"
