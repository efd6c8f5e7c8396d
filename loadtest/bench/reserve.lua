-- wrk: every request buys another free seat. Arguments: performance, a file with users' ids and tokens, the number of threads.
local threads = 0
function setup(thread)
  thread:set("index", threads)
  threads = threads + 1
  thread:set("threads", threads)
end

local number, step, path, buyers

function init(args)
  local performance, file, stride = args[1], args[2], tonumber(args[3])
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
  number = number + step
  return wrk.format("POST", path, buyer.headers, body)
end
