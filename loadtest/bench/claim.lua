-- wrk: claims of coupons. Arguments: first coupon, a file with users' ids and tokens, the number of coupons of which every user
-- claims each once; 0: all users claim the first again and again.
local first, coupons, buyers, count

function init(args)
  first, coupons = tonumber(args[1]), tonumber(args[3])
  buyers, count = {}, 0
  for line in io.lines(args[2]) do
    buyers[#buyers + 1] = { ["Authorization"] = "Bearer " .. line:match("^%d+ (.+)$") }
  end
end

function request()
  local coupon = first
  if coupons > 0 then coupon = first + math.floor(count / #buyers) % coupons end
  local headers = buyers[count % #buyers + 1]
  count = count + 1
  return wrk.format("POST", "/coupons/" .. coupon .. "/claims", headers, "")
end
