# festa_lock as a package: include folders, and what `cmake --install` gives. docs/lock.md says how it is used.
#
# Headers include each other as "lock/…". Ours are found from the checkout. Others find them in a folder that has lock/ and nothing else
# of ours: <prefix>/include/festa when installed, a link when they take the checkout into their build.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

add_library(festa::lock ALIAS festa_lock)
set(FESTA_INCLUDES ${PROJECT_SOURCE_DIR})
if(NOT PROJECT_IS_TOP_LEVEL)
  set(FESTA_INCLUDES ${PROJECT_BINARY_DIR}/include/festa)
  file(MAKE_DIRECTORY ${FESTA_INCLUDES})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lock ${FESTA_INCLUDES}/lock SYMBOLIC)
endif()
target_include_directories(festa_lock PUBLIC $<BUILD_INTERFACE:${FESTA_INCLUDES}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/festa>)
target_compile_features(festa_lock PUBLIC cxx_std_20)
set_target_properties(festa_lock PROPERTIES EXPORT_NAME lock)

set(FESTA_WITHOUT_REDIS)
if(FESTA_WITH_REDIS)
  target_compile_definitions(festa_lock PRIVATE FESTA_WITH_REDIS)
else()
  get_target_property(sources festa_lock SOURCES)
  list(FILTER sources EXCLUDE REGEX "^lock/redis/")
  set_property(TARGET festa_lock PROPERTY SOURCES ${sources})
  set(FESTA_WITHOUT_REDIS PATTERN redis EXCLUDE)
endif()

# link_flags(<variable> <targets and libraries>): -l and paths, for pkg-config, which knows no CMake targets.
function(link_flags result)
  set(flags)
  foreach(item ${ARGN})
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" item "${item}")
    if(TARGET ${item})
      get_target_property(kind ${item} TYPE)
      if(NOT kind STREQUAL "INTERFACE_LIBRARY")
        list(APPEND flags $<TARGET_FILE:${item}>)
      endif()
      get_target_property(needed ${item} INTERFACE_LINK_LIBRARIES)
      if(needed)
        link_flags(more ${needed})
        list(APPEND flags ${more})
      endif()
    elseif(item MATCHES "^[-/]")
      list(APPEND flags ${item})
    elseif(item MATCHES "^[A-Za-z0-9_.+-]+$")
      list(APPEND flags -l${item})
    endif()
  endforeach()
  # What is needed comes behind what needs it.
  list(REVERSE flags)
  list(REMOVE_DUPLICATES flags)
  list(REVERSE flags)
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

get_filename_component(DROGON_HOME "${Drogon_DIR}/../../.." REALPATH)
set(FESTA_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/festa_lock)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/festa_lock-config.cmake.in
  ${PROJECT_BINARY_DIR}/festa_lock-config.cmake INSTALL_DESTINATION ${FESTA_PACKAGE})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/festa_lock-config-version.cmake COMPATIBILITY SameMajorVersion)

file(RELATIVE_PATH FESTA_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
link_flags(FESTA_NEEDS Drogon::Drogon)
list(JOIN FESTA_NEEDS " " FESTA_NEEDS)
configure_file(${PROJECT_SOURCE_DIR}/cmake/festa_lock.pc.in ${PROJECT_BINARY_DIR}/festa_lock.pc.in @ONLY)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/festa_lock.pc INPUT ${PROJECT_BINARY_DIR}/festa_lock.pc.in)

if(PROJECT_IS_TOP_LEVEL)
  install(TARGETS festa_lock EXPORT festa_lock)
  install(EXPORT festa_lock NAMESPACE festa:: FILE festa_lock-targets.cmake DESTINATION ${FESTA_PACKAGE})
  install(FILES ${PROJECT_BINARY_DIR}/festa_lock-config.cmake ${PROJECT_BINARY_DIR}/festa_lock-config-version.cmake
    DESTINATION ${FESTA_PACKAGE})
  install(FILES ${PROJECT_BINARY_DIR}/festa_lock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(DIRECTORY lock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/festa FILES_MATCHING PATTERN "*.h" ${FESTA_WITHOUT_REDIS})
endif()
