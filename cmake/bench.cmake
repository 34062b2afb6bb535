# hdx_bench: bench/bench_NAME.c are programs: arguments in, CSV out. Built with everything, so that they do not rot; run by hand (bench/README.md).
file(GLOB benches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/bench_*.c)
foreach(file IN LISTS benches)
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE build graph algo hdx_warnings)
endforeach()
