-- wrk: every request buys another free seat. Arguments: performance, a file with users' ids and tokens, the number of threads;
-- then "keyed": each with an Idempotency-Key; or "paced" and the mean time between the requests of a connection in milliseconds.
local threads = 0
function setup(thread)
  thread:set("index", threads)
  threads = threads + 1
  thread:set("threads", threads)
end

local number, step, path, buyers, performance, keyed

function init(args)
  local file, stride = args[2], tonumber(args[3])
  performance, keyed = args[1], args[4] == "keyed"
  if args[4] == "paced" then
    local mean = tonumber(args[5])
    delay = function() return math.floor(math.random() * 2 * mean) end
  end
  path = "/customer/performances/" .. performance .. "/reservations"
  number, step = index + 1, stride
  buyers = {}
  for line in io.lines(file) do
    local id, token = line:match("^(%d+) (.+)$")
    buyers[#buyers + 1] = {
      id = id,
      headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" },
    }
  end
end

function request()
  local buyer = buyers[number % #buyers + 1]
  local body = '{"userId":' .. buyer.id .. ',"seatLocation":"A","seatNumber":' .. number .. '}'
  if keyed then buyer.headers["Idempotency-Key"] = performance .. "-" .. number end
  number = number + step
  return wrk.format("POST", path, buyer.headers, body)
end
