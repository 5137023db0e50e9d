-- wrk's load: POSTs of 1 KiB. Ends with one line, "RESULT {json}", which bench.py reads.
-- Arguments, both or none: a path prefix for each request in turn, with commas between them; and
-- the milliseconds that a connection rests between two requests.

local body_bytes = 1024
local bodies = 60 -- different ones in turn: equal ones would compress to nothing on disk
local requests = {}
local turn = 0

local function split(text)
  local parts = {}
  for part in text:gmatch("[^,]+") do
    parts[#parts + 1] = part
  end
  return parts
end

function init(args)
  local prefixes = args[1] and split(args[1]) or {"/webhooks"}
  if args[2] then
    delay = function() return tonumber(args[2]) end
  end
  local alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
  math.randomseed(20260)
  for i = 1, bodies do
    local characters = {}
    for j = 1, body_bytes - 11 do
      local at = math.random(#alphabet)
      characters[j] = alphabet:sub(at, at)
    end
    local body = '{"data": "' .. table.concat(characters) .. '"'
    body = body:sub(1, body_bytes - 1) .. "}"
    requests[i] = wrk.format("POST", prefixes[i % #prefixes + 1] .. "/bench?n=" .. i,
      {["Content-Type"] = "application/json"}, body)
  end
end

function request()
  turn = turn % bodies + 1
  return requests[turn]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "p50_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f, ' ..
    '"errors": {"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
