# tests/steady: nothing is lost and nothing hangs, whatever fails, jumps or is killed. Programs of python3 that run
# heapdex itself: short here, and long as targets (`cmake --build build/release --target io_faults`).
set(bookshop ${PROJECT_SOURCE_DIR}/examples/bookshop.hprof.gz)
set(steady ${PROJECT_SOURCE_DIR}/tests/steady)
if(HDX_PYTHON3 AND NOT HDX_FUZZ)
  # The file of the shell's history.
  add_test(NAME steady.history COMMAND ${HDX_PYTHON3} ${steady}/history $<TARGET_FILE:heapdex_cli> ${bookshop})
  set_tests_properties(steady.history PROPERTIES SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)
endif()
