# FESTA_WITH_REDIS: whether lock/redis is built.
#
# On a Drogon as released the end of a connection to Redis uses freed memory: a subscriber and its client both disconnect it, its
# channel dies while it handles an event, a command of another thread does not keep it. scripts/patches/drogon-redis-{channel,disconnect,
# queued}.patch mend that. What they mend cannot be seen in Drogon's headers; a function that the second one adds can be seen in its
# library, or in its source where Drogon is built beside us.
function(drogon_ends_redis_connections result)
  get_target_property(original Drogon::Drogon ALIASED_TARGET)
  if(original)
    get_target_property(folder ${original} SOURCE_DIR)
    file(STRINGS ${folder}/nosql_lib/redis/src/RedisConnection.h seen REGEX "disconnectInLoop")
  else()
    get_target_property(library Drogon::Drogon LOCATION)
    # A shared library may have been stripped of all but its dynamic symbols.
    execute_process(COMMAND ${CMAKE_NM} ${library} OUTPUT_VARIABLE symbols ERROR_QUIET)
    execute_process(COMMAND ${CMAKE_NM} -D ${library} OUTPUT_VARIABLE dynamic ERROR_QUIET)
    string(REGEX MATCH "RedisConnection16disconnectInLoop" seen "${symbols}${dynamic}")
  endif()
  if(seen)
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

if(FESTA_LOCK_REDIS STREQUAL "AUTO")
  drogon_ends_redis_connections(FESTA_WITH_REDIS)
  if(NOT FESTA_WITH_REDIS)
    message(STATUS "festa_lock: without Redis storages. This Drogon lacks scripts/patches/drogon-redis-{channel,disconnect,queued}.patch, "
      "and uses freed memory when a connection to Redis ends")
  endif()
else()
  set(FESTA_WITH_REDIS ${FESTA_LOCK_REDIS})
endif()
