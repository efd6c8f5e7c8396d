-- KEYS alive · ARGV channel, how long a process is alive in ms → {{1: the server knew it}}
local known = redis.call('EXISTS', KEYS[1])
redis.call('SET', KEYS[1], 1, 'PX', ARGV[2])
redis.call('PUBLISH', ARGV[1], 'beat')
return {{known}}
