# tests/steady: nothing is lost and nothing hangs, whatever fails, jumps or is killed. Programs of python3 that run
# heapdex itself: short here, and long as targets (`cmake --build build/release --target io_faults`).
set(bookshop ${PROJECT_SOURCE_DIR}/examples/bookshop.hprof.gz)

# steady(NAME SHORT LONG [LIBRARY]): a test with the arguments SHORT, a target with LONG; LIBRARY: for LD_PRELOAD.
function(steady name short long)
  set(command ${HDX_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/steady/${name} $<TARGET_FILE:heapdex_cli>)
  if(ARGC GREATER 3)
    list(APPEND command $<TARGET_FILE:${ARGV3}>)
  endif()
  list(APPEND command ${bookshop})
  separate_arguments(short)
  separate_arguments(long)
  add_test(NAME steady.${name} COMMAND ${command} ${short})
  set_tests_properties(steady.${name} PROPERTIES SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)
  add_custom_target(${name} COMMAND ${command} ${long} DEPENDS heapdex_cli ${ARGV3} USES_TERMINAL)
endfunction()

if(HDX_PYTHON3 AND NOT HDX_FUZZ)
  # strip and restore, killed.
  steady(killed_writers "--kills 9" "--kills 100")
  # 100 readers against builds, views and removals.
  steady(readers_storm "--seconds 3 --readers 6" "--seconds 60 --readers 100")
  if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize") # their own stacks are larger, and they want to be loaded first
    foreach(shim faults clocks)
      add_library(steady_${shim} MODULE ${PROJECT_SOURCE_DIR}/tests/steady/${shim}.c)
      target_compile_definitions(steady_${shim} PRIVATE _GNU_SOURCE)
      target_compile_options(steady_${shim} PRIVATE -Wall -Wextra)
      set_target_properties(steady_${shim} PROPERTIES C_VISIBILITY_PRESET default) # or they replace no function
    endforeach()
    # The file of the shell's history; libedit reads past lines that it cannot decode.
    steady(history "" "")
    # Each call to the file system fails in turn: hours in debug, one in release.
    steady(io_faults "--sample 3" "--every" steady_faults)
    # Clocks that jump by hours.
    steady(clock_jumps "--rounds 1" "--rounds 20" steady_clocks)
    # All commands with a stack of 128 KB.
    steady(small_stack "--nodes 20000 --depths 90,200,1100" "--nodes 1000000 --depths 10,90,200,900,1100,5000,20000")
  endif()
endif()
