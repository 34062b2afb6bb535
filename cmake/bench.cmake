# hdx_bench: bench/bench_NAME.c are programs: arguments in, CSV out. Built with everything, so that they do not rot; run
# by hand (bench/README.md).
file(GLOB benches CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/bench_*.c)
foreach(file IN LISTS benches)
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE making query leaks graph rows algo hdx_warnings)
endforeach()
target_link_options(bench_timeline PRIVATE -Wl,--wrap=hdx_workers_run,--wrap=hdx_run_tasks)
target_link_libraries(bench_sql PRIVATE sql answer)
if(BUILD_TESTING)
  add_test(NAME bench.make_dump COMMAND ${PROJECT_SOURCE_DIR}/tests/bench/make_dump.sh
           $<TARGET_FILE:bench_make_dump> $<TARGET_FILE:heapdex_cli>)
  add_test(NAME bench.summary COMMAND ${PROJECT_SOURCE_DIR}/tests/bench/summary.sh ${PROJECT_SOURCE_DIR}/bench
           $<TARGET_FILE:bench_make_dump> $<TARGET_FILE:heapdex_cli>)
  set_tests_properties(bench.make_dump bench.summary PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)
endif()
