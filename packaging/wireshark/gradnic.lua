-- SPDX-License-Identifier: Apache-2.0
-- What gradnic puts into packets, for Wireshark: the shim of a NIC (docs/wire.md), and the
-- datagrams of aggregation (docs/switch.md).
--
-- Packets come from strangers, and may be cut by the capture. So each reader looks at the length
-- first, and says what is wrong in an expert info, never by an error of Lua.

local shim = Proto("gradnic", "gradnic NIC")
local agg = Proto("gradnic_agg", "gradnic aggregation")

local SHIM, HEADER = 8, 32
local CUT_MOST = 128  -- datagrams that Linux takes at once (UDP_MAX_SEGMENTS)
local kinds = { [0] = "stored", "paper", "lattice", "dense" }
local types = {
    [0] = "GRADIENT", "RESULT", "EVICTED", "REMIND_SWITCH", "REMIND_WORKER", "QUERY", "OVERFLOW"
}
local GRADIENT, RESULT, EVICTED, OVERFLOW = 0, 1, 2, 6
local FLOAT, POISON, RESENT, ECN, LATE, HALVES = 1, 2, 4, 8, 16, 32
local copies = { [0] = "0", "1" }

-- The ranges of k, by kind (cmodel/profile.c).
local k_least = { [0] = 0, 1, -31, -31 }
local k_most = { [0] = 0, 126, 31, 31 }

local s = {
    magic = ProtoField.uint16("gradnic.magic", "Magic", base.HEX),
    version = ProtoField.uint8("gradnic.version", "Version", base.DEC, nil, 0xf0),
    kind = ProtoField.uint8("gradnic.kind", "Kind", base.DEC, kinds, 0x0f),
    k = ProtoField.int8("gradnic.k", "Bound: an error of 2^-k, k", base.DEC),
    length = ProtoField.uint16("gradnic.length", "Payload before compression (bytes)", base.DEC),
    head = ProtoField.uint8("gradnic.head", "Head (bytes)", base.DEC),
    crc = ProtoField.uint8("gradnic.crc", "CRC-8", base.HEX),
    stored = ProtoField.bytes("gradnic.stored", "Stored payload"),
    head_bytes = ProtoField.bytes("gradnic.head_bytes", "Head"),
    stream = ProtoField.bytes("gradnic.stream", "Stream"),
    tail = ProtoField.bytes("gradnic.tail", "Tail"),
    values = ProtoField.uint32("gradnic.values", "Values in the stream", base.DEC),
    ratio = ProtoField.float("gradnic.ratio", "Ratio"),
}
local s_wrong = ProtoExpert.new("gradnic.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
shim.fields = s
shim.experts = { s_wrong }

local function flag(name, text, mask)
    return ProtoField.bool("gradnic_agg.flags." .. name, text, 8, nil, mask)
end
local a = {
    version = ProtoField.uint8("gradnic_agg.version", "Version", base.DEC, nil, 0xf0),
    type = ProtoField.uint8("gradnic_agg.type", "Type", base.DEC, types, 0x0f),
    flags = ProtoField.uint8("gradnic_agg.flags", "Flags", base.HEX),
    float = flag("float", "FLOAT: binary32, for the leader", FLOAT),
    poison = flag("poison", "POISON: a contribution without integers", POISON),
    resent = flag("resent", "RESENT: it was sent before", RESENT),
    ecn = flag("ecn", "ECN: a queue on the way up was marked", ECN),
    late = flag("late", "LATE: something had to be sent again", LATE),
    halves = flag("halves", "HALVES: the chunk travels in 16 bits", HALVES),
    job = ProtoField.uint16("gradnic_agg.job", "Job", base.DEC),
    gen = ProtoField.uint16("gradnic_agg.gen", "Generation", base.DEC),
    copy = ProtoField.uint16("gradnic_agg.copy", "Version bit", base.DEC, copies, 0x8000),
    slot = ProtoField.uint16("gradnic_agg.slot", "Slot", base.DEC, nil, 0x7fff),
    psn = ProtoField.uint32("gradnic_agg.psn", "Chunk (psn)", base.DEC),
    bitmap = ProtoField.uint64("gradnic_agg.bitmap", "Contributed", base.HEX),
    level = ProtoField.uint16("gradnic_agg.level", "Level", base.DEC, nil, 0xf000),
    fanin = ProtoField.uint16("gradnic_agg.fanin", "Fan-in", base.DEC, nil, 0x0fff),
    priority = ProtoField.uint16("gradnic_agg.priority", "Priority", base.DEC),
    rank = ProtoField.uint16("gradnic_agg.rank", "Sender's rank", base.DEC),
    exponent = ProtoField.int8("gradnic_agg.exponent", "Exponent of the unit", base.DEC),
    next = ProtoField.int8("gradnic_agg.next", "Exponent of the next chunk, or k", base.DEC),
    values = ProtoField.uint16("gradnic_agg.values", "Values", base.DEC),
    crc = ProtoField.uint32("gradnic_agg.crc", "CRC-32, or keyed check", base.HEX),
    payload = ProtoField.bytes("gradnic_agg.payload", "Values (little-endian)"),
    first_in = ProtoField.framenum("gradnic_agg.first_in", "Sent before in", base.NONE, frametype.RETRANS_PREV),
    again_in = ProtoField.framenum("gradnic_agg.again_in", "Sent again in", base.NONE, frametype.RETRANS_NEXT),
    result_in = ProtoField.framenum("gradnic_agg.result_in", "Result in", base.NONE, frametype.RESPONSE),
    result_of = ProtoField.framenum("gradnic_agg.result_of", "Contribution in", base.NONE, frametype.REQUEST),
    length = ProtoField.uint16("gradnic_agg.length", "Bytes of this datagram, of several", base.DEC),
    lost = ProtoField.string("gradnic_agg.lost", "Lost"),
}
local a_wrong = ProtoExpert.new("gradnic_agg.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local a_check = ProtoExpert.new("gradnic_agg.check", "Check is not the CRC: damaged, or of a job with a secret",
    expert.group.CHECKSUM, expert.severity.WARN)
local a_again = ProtoExpert.new("gradnic_agg.again", "Sent again", expert.group.SEQUENCE, expert.severity.NOTE)
local a_overflow = ProtoExpert.new("gradnic_agg.overflow", "No sum of integers: values follow as binary32",
    expert.group.SEQUENCE, expert.severity.NOTE)
agg.fields = a
agg.experts = { a_wrong, a_check, a_again, a_overflow }

-- Checks.

local crc8, crc32 = {}, {}
for i = 0, 255 do
    local small, large = i, i
    for _ = 1, 8 do
        small = small >= 128 and bit.bxor(small * 2, 0x107) or small * 2
        large = large % 2 == 1 and bit.bxor(bit.rshift(large, 1), 0xedb88320) or bit.rshift(large, 1)
        large = large % 4294967296
    end
    crc8[i], crc32[i] = small, large
end

-- Of the shim at `at`; nil: the bytes end before it does.
local function shim_check(bytes, at)
    local c = 0
    if #bytes < at + SHIM then return nil end
    for i = at + 1, at + SHIM - 1 do c = crc8[bit.bxor(c, bytes:byte(i))] end
    return c
end

local function agg_check(bytes)
    local c = -1
    for i = 1, HEADER - 4 do
        c = bit.bxor(crc32[bit.band(bit.bxor(c, bytes:byte(i)), 255)], bit.rshift(c, 8))
    end
    return bit.bnot(c) % 4294967296
end

-- Whether a shim stands at `at`.
local function is_shim(tvb, at)
    if tvb:len() < at + SHIM or tvb(at, 2):uint() ~= 0x474e then return false end
    local bytes = tvb:raw(at, SHIM)
    return shim_check(bytes, 0) == bytes:byte(SHIM)
end

-- Whether a header of aggregation stands at `at`, and whether its check is the CRC.
local function is_agg(tvb, at)
    if tvb:len() < at + HEADER then return false end
    local first = tvb(at, 1):uint()
    if first < 0x10 or first > 0x16 then return false end
    return true, agg_check(tvb:raw(at, HEADER - 4)) == tvb(at + 28, 4):uint()
end

-- What Wireshark remembers of a capture. Frames are read several times, the first time in order.

-- A frame may hold several datagrams: each has an identity, made of frame and offset.

local first, result, first_of, again_of, result_of, answer_of, said
local offset = 0  -- of the datagram that is being read
local function frame(id) return math.floor(id / 65536) end
local function forget()
    first, result = {}, {}
    first_of, again_of, result_of, answer_of, said = {}, {}, {}, {}, {}
end
forget()
agg.init = forget

local function name(address, port) return tostring(address) .. " " .. port .. " " end

-- Looks at a contribution for the first time: has the capture seen it before?
local function remember_gradient(chunk, from, to, bitmap, resent, id)
    local mine = from .. to .. chunk
    local key = mine .. bitmap
    local before = first[key]
    if before then
        first_of[id] = before
        if not again_of[before] then again_of[before] = id end
        if result[mine] then
            said[id] = "the result in frame " .. frame(result[mine]) .. ", on its way to the sender, or it was late"
        else
            said[id] = "frame " .. frame(before) .. ", its result, or the part of another, behind this point; or they are late"
        end
        return
    end
    first[key] = id
    if not first[mine] then first[mine] = id end
    if resent then said[id] = "the one that was sent before, ahead of this point or of the capture's begin" end
end

local function remember_result(chunk, from, to, id)
    local mine = to .. from .. chunk
    local before = result[mine]
    if before then
        first_of[id] = before
        if not again_of[before] then again_of[before] = id end
    else
        result[mine] = id
        if first[mine] then answer_of[first[mine]] = id end
    end
    result_of[id] = first[mine]
end

local function remember(kind, chunk, bitmap, resent, pinfo)
    local from, to = name(pinfo.src, pinfo.src_port), name(pinfo.dst, pinfo.dst_port)
    if kind == GRADIENT then
        remember_gradient(chunk, from, to, bitmap, resent, pinfo.number * 65536 + offset)
    elseif kind == RESULT or kind == OVERFLOW then
        remember_result(chunk, from, to, pinfo.number * 65536 + offset)
    end
end

local function show_memory(tree, id)
    local function link(field, other) if other then tree:add(field, frame(other)):set_generated() end end
    link(a.first_in, first_of[id])
    link(a.again_in, again_of[id])
    link(a.result_in, answer_of[id])
    link(a.result_of, result_of[id])
    if said[id] then tree:add(a.lost, said[id]):set_generated() end
end

-- A header of aggregation at `at`, and its values. `form`: nil, or the fields of the shim ahead.
local function dissect_agg(tvb, at, pinfo, root, form, whole)
    local function part(from, count) return tvb(at + from, count) end
    local tree = root:add(agg, tvb(at), "gradnic aggregation")
    local function wrong(text) tree:add_proto_expert_info(a_wrong, text) end
    local kind, flags = part(0, 1):uint() % 16, part(1, 1):uint()
    local job, gen, psn = part(2, 2):uint(), part(4, 2):uint(), part(8, 4):uint()
    local high, low = part(12, 4):uint(), part(16, 4):uint()
    local fanin, values = part(20, 2):uint() % 4096, part(26, 2):uint()
    local function has(mask) return bit.band(flags, mask) ~= 0 end

    tree:add(a.version, part(0, 1))
    tree:add(a.type, part(0, 1))
    local marks = tree:add(a.flags, part(1, 1))
    for _, field in ipairs { a.float, a.poison, a.resent, a.ecn, a.late, a.halves } do marks:add(field, part(1, 1)) end
    tree:add(a.job, part(2, 2))
    tree:add(a.gen, part(4, 2))
    tree:add(a.copy, part(6, 2))
    tree:add(a.slot, part(6, 2))
    tree:add(a.psn, part(8, 4))
    tree:add(a.bitmap, part(12, 8))
    tree:add(a.level, part(20, 2))
    tree:add(a.fanin, part(20, 2))
    tree:add(has(FLOAT) and a.rank or a.priority, part(22, 2))
    tree:add(a.exponent, part(24, 1))
    tree:add(a.next, part(25, 1))
    tree:add(a.values, part(26, 2))
    tree:add(a.crc, part(28, 4))
    local _, sound = is_agg(tvb, at)
    if not sound then tree:add_proto_expert_info(a_check) end

    -- As the switch looks at it (switch/packet.h).
    if flags > 63 then wrong("flags: unknown ones") end
    if fanin < 1 or fanin > 64 then
        wrong("fan-in: want 1 to 64")
    elseif (fanin < 32 and (high ~= 0 or low >= 2 ^ fanin)) or (fanin >= 32 and fanin < 64 and high >= 2 ^ (fanin - 32)) then
        wrong("bitmap: bits beyond the fan-in")
    end
    if kind == GRADIENT and high == 0 and low == 0 then wrong("bitmap: a contribution of nobody") end
    if has(POISON) and values > 0 then wrong("POISON with values") end
    if has(HALVES) and (has(FLOAT) or form) then wrong("HALVES with FLOAT, or behind a shim") end
    if form and form.length ~= HEADER + 4 * values then wrong("values: not those of the shim's length") end
    if form and form.kind ~= 0 then
        if form.head ~= HEADER or form.k ~= part(25, 1):int() or values == 0 or has(FLOAT) then
            wrong("not what may stand behind a shim: head, k, values or FLOAT")
        end
    else
        local rest = whole - at - HEADER
        if rest ~= 4 * values and not (has(HALVES) and rest == 2 * values) then
            wrong("length: " .. rest .. " bytes follow, not those of " .. values .. " values")
        end
        if tvb:len() > at + HEADER then tree:add(a.payload, tvb(at + HEADER)) end
    end
    if kind == OVERFLOW then tree:add_proto_expert_info(a_overflow) end

    -- Values past the slots, between workers and leader, are answered in their own way.
    local chunk = job .. " " .. gen .. " " .. psn .. (has(FLOAT) and " FLOAT " or " ")
    if not pinfo.visited then remember(kind, chunk, high .. " " .. low .. " " .. part(22, 2):uint(), has(RESENT), pinfo) end
    local id = pinfo.number * 65536 + offset
    show_memory(tree, id)
    if has(RESENT) or (first_of[id] and kind ~= EVICTED) then tree:add_proto_expert_info(a_again) end

    local what = string.format("%s job %d.%d slot %d psn %d, %d values%s", types[kind] or "type " .. kind, job, gen,
        part(6, 2):uint() % 32768, psn, values, has(RESENT) and " [sent again]" or "")
    tree:append_text(": " .. what)
    pinfo.cols.protocol = "GRADNIC-AGG"
    pinfo.cols.info = what
end

-- A payload with a shim. `datagram`: whether a header of aggregation may follow it. `whole`: bytes.
local function dissect_shim(tvb, pinfo, root, datagram, whole)
    local form = {
        version = math.floor(tvb(2, 1):uint() / 16), kind = tvb(2, 1):uint() % 16, k = tvb(3, 1):int(),
        length = tvb(4, 2):uint(), head = tvb(6, 1):uint(),
    }
    local tree = root:add(shim, tvb(), "gradnic NIC")
    local function wrong(text) tree:add_proto_expert_info(s_wrong, text) end
    tree:add(s.magic, tvb(0, 2))
    tree:add(s.version, tvb(2, 1))
    tree:add(s.kind, tvb(2, 1))
    tree:add(s.k, tvb(3, 1))
    tree:add(s.length, tvb(4, 2))
    tree:add(s.head, tvb(6, 1))
    tree:add(s.crc, tvb(7, 1))
    pinfo.cols.protocol = "GRADNIC"
    local what = string.format("%s, 2^-%d, %d bytes as %d", kinds[form.kind] or "kind " .. form.kind, form.k, form.length,
        whole - SHIM)
    tree:append_text(": " .. what)
    if datagram then pinfo.cols.info = what else pinfo.cols.info:append(" [gradnic " .. what .. "]") end

    -- In the receiver's order (docs/wire.md). The first thing that is wrong decides.
    local rest = whole - SHIM
    local tail = (form.length - form.head) % 4
    if form.version ~= 1 then
        wrong("version: this is the dissector of version 1")
        return
    elseif form.kind > 3 then
        wrong("kind: not known")
        return
    elseif form.k < k_least[form.kind] or form.k > k_most[form.kind] then
        wrong("k: outside the profile's range")
        return
    elseif form.head > form.length or (form.kind == 0 and form.head ~= 0) then
        wrong("head: longer than the payload, or stored")
        return
    elseif form.length == 0 or (form.kind == 0 and rest ~= form.length) or (form.kind ~= 0 and rest < form.head + tail) then
        wrong("length: not what follows")
        return
    end

    -- The capture may have cut the rest.
    local function show(field, from, count)
        count = math.min(count, tvb:len() - from)
        if count > 0 then tree:add(field, tvb(from, count)) end
    end
    if form.kind == 0 then
        show(s.stored, SHIM, rest)
    else
        show(s.head_bytes, SHIM, form.head)
        show(s.stream, SHIM + form.head, rest - form.head - tail)
        show(s.tail, whole - tail, tail)
        tree:add(s.values, tvb(4, 2), math.floor((form.length - form.head) / 4)):set_generated()
    end
    tree:add(s.ratio, tvb(4, 2), form.length / whole):set_generated()
    if datagram and (form.head == HEADER or form.kind == 0) then
        local is, sound = is_agg(tvb, SHIM)
        if is and (sound or form.length == HEADER + 4 * tvb(SHIM + 26, 2):uint()) then
            dissect_agg(tvb, SHIM, pinfo, root, form, whole)
        end
    end
end

function shim.dissector(tvb, pinfo, root)
    if not is_shim(tvb, 0) then return 0 end
    dissect_shim(tvb, pinfo, root, pinfo.port_type == 3, tvb:reported_len())
    return tvb:len()
end

-- A host that lets the kernel cut datagrams (UDP GSO) sees in its own captures what is not cut yet:
-- datagrams of one length, but for the last. This is that length, or that of the whole payload.
-- A stranger may have filled the packet with what looks like shims, so only some are looked at.
local function first_length(tvb)
    local bytes = tvb:raw()
    local function is_next(at, ahead)  -- whether a header like the first stands there
        if bytes:sub(at + ahead + 3, at + ahead + 6) ~= bytes:sub(ahead + 3, ahead + 6) then return false end
        local is, sound = is_agg(tvb, at + ahead)
        local _, first_sound = is_agg(tvb, ahead)
        return is and sound == first_sound
    end
    if is_shim(tvb, 0) then
        local from, tries = SHIM + 1, is_agg(tvb, SHIM) and 0 or CUT_MOST
        while tries < CUT_MOST do
            local found = bytes:find("GN", from, true)
            if not found then break end
            if shim_check(bytes, found - 1) == bytes:byte(found + SHIM - 1) and is_next(found - 1, SHIM) then
                return found - 1
            end
            from, tries = found + 1, tries + 1
        end
    else
        for width = 4, 2, -2 do
            local length = HEADER + width * tvb(26, 2):uint()
            if is_next(length, 0) then return length end
        end
    end
    return tvb:reported_len()
end

local function dissect_datagrams(tvb, pinfo, root)
    local whole, length, count = tvb:reported_len(), first_length(tvb), 0
    for at = 0, tvb:len() - 1, length do
        if count == CUT_MOST then break end
        local one = tvb(at, math.min(length, tvb:len() - at)):tvb()
        local bytes = math.min(length, whole - at)
        offset = at
        if is_shim(one, 0) then
            dissect_shim(one, pinfo, root, true, bytes)
        elseif is_agg(one, 0) then
            dissect_agg(one, 0, pinfo, root, nil, bytes)
        else
            break
        end
        if length < whole then root:add(a.length, bytes):set_generated() end
        count = count + 1
    end
    offset = 0
    if count > 1 then pinfo.cols.info:append(" and " .. count - 1 .. " before it, not cut yet") end
end

function agg.dissector(tvb, pinfo, root)
    if not is_shim(tvb, 0) and not is_agg(tvb, 0) then return 0 end
    dissect_datagrams(tvb, pinfo, root)
    return tvb:len()
end

-- Other protocols' datagrams are left alone: either check is right, or it is not ours. Datagrams of
-- a job with a secret have a keyed check: Decode As takes them.
local function is_ours(tvb)
    if is_shim(tvb, 0) then return true end
    local is, sound = is_agg(tvb, 0)
    return is and sound
end
agg:register_heuristic("udp", function(tvb, pinfo, root)
    if not is_ours(tvb) then return false end
    agg.dissector(tvb, pinfo, root)
    return true
end)
shim:register_heuristic("tcp", function(tvb, pinfo, root)
    if not is_shim(tvb, 0) then return false end
    dissect_shim(tvb, pinfo, root, false, tvb:reported_len())
    return true
end)
DissectorTable.get("udp.port"):add_for_decode_as(agg)
DissectorTable.get("tcp.port"):add_for_decode_as(shim)
