-- wrk: every request asks for one seat that is sold. Arguments: performance, file with a user's id and token.
function init(args)
  local id, token = io.lines(args[2])():match("^(%d+) (.+)$")
  local body = '{"userId":' .. id .. ',"seatLocation":"A","seatNumber":1}'
  local headers = { ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json" }
  local text = wrk.format("POST", "/customer/performances/" .. args[1] .. "/reservations", headers, body)
  request = function() return text end
end
