-- wrk: GET of a path with If-None-Match. Arguments: path, tag.
function init(args)
  local text = wrk.format("GET", args[1], { ["If-None-Match"] = args[2] })
  request = function() return text end
end
