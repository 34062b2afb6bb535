# hdx_test: every tests/ROOM/test_NOUN.c is a Criterion program of its own, linked with its room; tests/support is
# shared by all.
enable_testing()
find_library(HDX_CRITERION criterion)
find_path(HDX_CRITERION_INCLUDE criterion/criterion.h)
mark_as_advanced(HDX_CRITERION HDX_CRITERION_INCLUDE)
set(rooms_with_tests ${HDX_ROOMS})
if(NOT HDX_CRITERION OR NOT HDX_CRITERION_INCLUDE)
  set(rooms_with_tests)
  message(STATUS "Criterion: none, tests of single rooms are left out (Debian: libcriterion-dev)")
endif()
if(NOT HDX_SQLITE_FOUND) # their tests read files of SQLite
  list(REMOVE_ITEM rooms_with_tests sql fleet)
endif()
file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
add_library(test_support STATIC EXCLUDE_FROM_ALL ${support})
set_target_properties(test_support PROPERTIES LINKER_LANGUAGE C)
target_include_directories(test_support PUBLIC ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
                           ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(test_support PUBLIC base ZLIB::ZLIB)
target_compile_definitions(test_support PUBLIC _GNU_SOURCE)

# Tests are built in a third of the time without what serves the engine's code, not theirs. GCC finds Criterion's macros
# slow to keep track of, and without that does not know that `not(x)` is one.
set(quick -Wall -Wextra -O0 -g1 -fno-sanitize=undefined)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND quick -ftrack-macro-expansion=0 -Wno-unused-value)
endif()

foreach(room IN LISTS rooms_with_tests)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/test_*.c)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    set(target ${room}_${name})
    add_executable(${target} ${file})
    target_link_libraries(${target} PRIVATE ${room} test_support ${HDX_CRITERION})
    # an index is built, opened, asked in one test
    if(room MATCHES "^(passes|making|graph|query|leaks|compare|strip|answer|sql|fleet|oql)$")
      target_link_libraries(${target} PRIVATE making graph query leaks)
    endif()
    if(room STREQUAL "compare") # who opens dumps for it
      target_link_libraries(${target} PRIVATE answer)
    endif()
    if(room STREQUAL "oql") # what it makes of queries is run
      target_link_libraries(${target} PRIVATE sql)
    endif()
    if(room MATCHES "^(graph|query|strip|leaks|columns)$") # memory without a budget can be refused (refusing.h)
      target_link_options(${target} PRIVATE LINKER:--wrap=calloc,--wrap=malloc,--wrap=realloc,--undefined=__wrap_calloc)
    endif()
    target_compile_definitions(${target} PRIVATE HDX_TOOL="$<TARGET_FILE:heapdex_cli>" HDX_TREE="${PROJECT_SOURCE_DIR}"
                                                 HDX_BUILD="${PROJECT_BINARY_DIR}")
    target_compile_options(${target} PRIVATE ${quick})
    add_test(NAME ${room}.${name} COMMAND ${target})
    # a leak in a test leaves Criterion's status 0, so the sanitizer's words decide
    # the slowest, strip.test_told, takes 2 minutes in the release build and several times that with the sanitizers
    set_tests_properties(${room}.${name} PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 1200)
  endforeach()
endforeach()

# hdx_fuzz: tests/fuzz/fuzz_NAME.c has LLVMFuzzerTestOneInput; without libFuzzer it replays tests/fuzz/corpus/NAME as a
# test.
file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
if(NOT HDX_SQLITE_FOUND)
  list(FILTER fuzzers EXCLUDE REGEX "/fuzz_sql\\.c$")
endif()
foreach(file IN LISTS fuzzers)
  get_filename_component(name ${file} NAME_WE)
  if(HDX_FUZZ)
    add_executable(${name} ${file})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} ${file} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
  endif()
  target_link_libraries(${name} PRIVATE check oql making graph query leaks catalog indexes strip hprof source model
                        algo base test_support)
  if(name STREQUAL "fuzz_sql")
    target_link_libraries(${name} PRIVATE sql)
  endif()
  if(name STREQUAL "fuzz_manifest")
    target_link_libraries(${name} PRIVATE batch)
  endif()
  string(REPLACE "fuzz_" "" corpus ${name})
  add_test(NAME fuzz.${corpus} COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${corpus})
  set_tests_properties(fuzz.${corpus} PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)
endforeach()

# What the rooms include, against rooms.cmake.
add_test(NAME house.includes COMMAND ${CMAKE_COMMAND} -D TREE=${PROJECT_SOURCE_DIR}
         -P ${PROJECT_SOURCE_DIR}/cmake/house_includes.cmake)

# What comments cite, against the headings in doc/.
add_test(NAME house.citations COMMAND ${CMAKE_COMMAND} -D TREE=${PROJECT_SOURCE_DIR}
         -P ${PROJECT_SOURCE_DIR}/cmake/house_citations.cmake)

# Words that readers did not understand.
add_test(NAME house.words COMMAND ${PROJECT_SOURCE_DIR}/cmake/house_words.sh ${PROJECT_SOURCE_DIR})

# The links and commands of the pages.
find_program(HDX_PYTHON3 python3)
mark_as_advanced(HDX_PYTHON3)
if(HDX_PYTHON3 AND NOT HDX_FUZZ)
  add_test(NAME house.pages COMMAND ${HDX_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/pages/pages $<TARGET_FILE:heapdex_cli>)
  set_tests_properties(house.pages PROPERTIES TIMEOUT 300)
endif()

# How C is laid out.
add_test(NAME house.format COMMAND ${PROJECT_SOURCE_DIR}/cmake/house_format.sh ${PROJECT_SOURCE_DIR})

# Format versions in the pages, against the code.
add_test(NAME house.versions COMMAND ${PROJECT_SOURCE_DIR}/cmake/house_versions.sh ${PROJECT_SOURCE_DIR})

# Configured where Criterion is not.
add_test(NAME house.criterion COMMAND ${PROJECT_SOURCE_DIR}/cmake/house_criterion.sh ${PROJECT_SOURCE_DIR}
         ${CMAKE_C_COMPILER})

# Which names the linker sees.
add_test(NAME house.symbols COMMAND ${PROJECT_SOURCE_DIR}/cmake/house_symbols.sh ${CMAKE_NM}
         $<TARGET_FILE:heapdex_static> $<TARGET_FILE:heapdex> ${PROJECT_SOURCE_DIR}/include)

# Public headers: each alone, in C99 and in C++.
add_test(NAME install.headers COMMAND ${PROJECT_SOURCE_DIR}/tests/install/headers.sh
         ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER} "${CMAKE_C_FLAGS}")

# examples/NAME.c in C99 as users compile them, and the parts of them that public headers show.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  add_executable(example_${name} ${file})
  target_link_libraries(example_${name} PRIVATE heapdex)
  set_target_properties(example_${name} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
  target_compile_options(example_${name} PRIVATE -Wall -Wextra -Wpedantic)
endforeach()
add_test(NAME install.examples COMMAND ${PROJECT_SOURCE_DIR}/tests/install/examples.sh
         ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
set_tests_properties(install.examples PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)

# The installed package, used by a program of somebody else.
add_test(NAME install.package COMMAND ${PROJECT_SOURCE_DIR}/tests/install/test.sh
         ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} "${CMAKE_C_FLAGS}")
set_tests_properties(install.package PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)

if(TARGET sql_test_extension)
  add_dependencies(sql_test_extension heapdex_sqlite)
  target_compile_definitions(sql_test_extension PRIVATE HDX_EXTENSION="$<TARGET_FILE:heapdex_sqlite>")
endif()

# The extension of SQLite in programs that load it; one with sanitizers in it can be loaded by none of them.
if(TARGET heapdex_sqlite AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  add_test(NAME sql.extension COMMAND ${PROJECT_SOURCE_DIR}/tests/sql/extension.sh $<TARGET_FILE:heapdex_sqlite>
           ${PROJECT_SOURCE_DIR}/examples/bookshop.hprof.gz ${CMAKE_NM})
  set_tests_properties(sql.extension PROPERTIES TIMEOUT 300)
endif()

# The Python package and Parquet files in the programs of others; where their packages cannot be had nothing is tested.
if(NOT CMAKE_C_FLAGS MATCHES "sanitize" AND NOT HDX_FUZZ) # python3 itself knows of no sanitizer
  add_test(NAME python.heapdex COMMAND ${PROJECT_SOURCE_DIR}/python/tests/run $<TARGET_FILE:heapdex>
           $<TARGET_FILE:heapdex_cli> ${PROJECT_SOURCE_DIR}/build/python)
  set_tests_properties(python.heapdex PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300)
  add_test(NAME python.fleet COMMAND ${PROJECT_SOURCE_DIR}/python/tests/plain $<TARGET_FILE:heapdex>)
  set_tests_properties(python.fleet PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
  # Two to four minutes, a download of 450 MB the first time: `cmake --build build/release --target spark`
  add_custom_target(spark COMMAND sh -c "\"$@\" || test $? -eq 77" spark
                    ${PROJECT_SOURCE_DIR}/python/tests/spark_cluster $<TARGET_FILE:heapdex>
                    $<TARGET_FILE:heapdex_cli> ${PROJECT_SOURCE_DIR}/build/spark
                    DEPENDS heapdex heapdex_cli VERBATIM USES_TERMINAL)
endif()

# What Python declares of the library, against the headers.
if(HDX_PYTHON3 AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  add_test(NAME python.layout COMMAND ${HDX_PYTHON3} ${PROJECT_SOURCE_DIR}/python/tests/layout ${CMAKE_C_COMPILER}
           ${PROJECT_SOURCE_DIR}/include)
  set_tests_properties(python.layout PROPERTIES TIMEOUT 60)
else()
  message(STATUS "python3: none, what the Python package declares is not compared with the headers")
endif()

# Tests of the command line run the program itself.
get_property(test_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER test_targets INCLUDE REGEX "^(cli|answer)_test_")
foreach(target IN LISTS test_targets)
  add_dependencies(${target} heapdex_cli)
endforeach()

# What the gate reports, as readers of its formats see it.
add_test(NAME cli.check_reports COMMAND ${PROJECT_SOURCE_DIR}/tests/cli/check_reports $<TARGET_FILE:heapdex_cli>
         ${PROJECT_SOURCE_DIR})
set_tests_properties(cli.check_reports PROPERTIES SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)

# Commands among files of a user that resemble heapdex's own: short here, `cmake --build build/release --target decoys`
# with 1,000 random calls.
set(decoys ${PROJECT_SOURCE_DIR}/tests/cli/decoys $<TARGET_FILE:heapdex_cli>
    ${PROJECT_SOURCE_DIR}/examples/bookshop.hprof.gz)
add_test(NAME cli.decoys COMMAND ${decoys} --calls 100)
set_tests_properties(cli.decoys PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 600)
add_custom_target(decoys COMMAND ${decoys} --calls 1000 --seed 2 DEPENDS heapdex_cli USES_TERMINAL)

# Ctrl-C at random moments: some commands here, `cmake --build build/release --target interrupts` on a dump of 6 million
# objects.
set(interrupts ${PROJECT_SOURCE_DIR}/tests/cli/interrupts_made.sh $<TARGET_FILE:bench_make_dump>
    ${PROJECT_SOURCE_DIR}/tests/cli/interrupts $<TARGET_FILE:heapdex_cli>)
add_test(NAME cli.interrupts COMMAND ${interrupts} 20000 1 10000 index histogram strip restore export path leaks)
set_tests_properties(cli.interrupts PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 600)
add_custom_target(interrupts COMMAND ${interrupts} 6000000 20 200 DEPENDS heapdex_cli bench_make_dump USES_TERMINAL)

# What deploy/ says, run: needs what it carries heapdex to, and says what it left out. Not part of ./check.
add_custom_target(recipes COMMAND sh -c "\"$@\" || test $? -eq 77" recipes
                  ${PROJECT_SOURCE_DIR}/tests/deploy/recipes $<TARGET_FILE:heapdex_cli>
                  ${PROJECT_SOURCE_DIR}/build/recipes DEPENDS heapdex_cli VERBATIM USES_TERMINAL)

# A batch of dumps with kills in the middle, and its tables beside what single commands say: short here, which needs
# ../shared; `cmake --build build/release --target proof` with 30 dumps and Parquet, which needs a JDK, two minutes.
add_test(NAME batch.proof COMMAND ${PROJECT_SOURCE_DIR}/tests/batch/proof --short $<TARGET_FILE:heapdex_cli>
         ${PROJECT_BINARY_DIR}/proof)
set_tests_properties(batch.proof PROPERTIES SKIP_RETURN_CODE 77 FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)
add_custom_target(proof COMMAND sh -c "\"$@\" || test $? -eq 77" proof ${PROJECT_SOURCE_DIR}/tests/batch/proof
                  --packages ${PROJECT_SOURCE_DIR}/build/python $<TARGET_FILE:heapdex_cli>
                  ${PROJECT_SOURCE_DIR}/build/proof DEPENDS heapdex_cli VERBATIM USES_TERMINAL)

# A build stopped over and over: short here, `cmake --build build/release --target stop_storm` on a dump of 20 million
# objects, on one thread and on two.
set(stop_storm ${PROJECT_SOURCE_DIR}/tests/making/stop_storm_made.sh $<TARGET_FILE:bench_make_dump>
    ${PROJECT_SOURCE_DIR}/tests/making/stop_storm $<TARGET_FILE:heapdex_cli>)
add_test(NAME making.stop_storm COMMAND ${stop_storm} 1500000 60% --threads 1)
set_tests_properties(making.stop_storm PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 600)
add_custom_target(stop_storm COMMAND ${stop_storm} 20000000 25% --threads 1
    COMMAND ${stop_storm} 20000000 25% --threads 2 DEPENDS heapdex_cli bench_make_dump USES_TERMINAL)

# deploy/slurm with programs in the place of Slurm; on a Slurm that is installed and started for it:
# `cmake --build build/debug --target slurm`, which says so and fails where that cannot be.
add_test(NAME deploy.slurm_task COMMAND ${PROJECT_SOURCE_DIR}/tests/deploy/slurm_task)
set_tests_properties(deploy.slurm_task PROPERTIES TIMEOUT 120)
add_custom_target(slurm COMMAND ${PROJECT_SOURCE_DIR}/tests/deploy/slurm $<TARGET_FILE:heapdex_cli>
    $<TARGET_FILE:bench_make_dump> DEPENDS heapdex_cli bench_make_dump USES_TERMINAL)

include(cmake/steady.cmake)

# tests/threads/NAME.c are plain programs that ThreadSanitizer can follow (preset tsan); they run in every preset.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/threads/*.c)
if(NOT HDX_SQLITE_FOUND) # it reads streams of statements, too
  list(FILTER files EXCLUDE REGEX "/streams\\.c$")
endif()
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  add_executable(threads_${name} ${file})
  target_link_libraries(threads_${name} PRIVATE sql answer making graph query leaks rows catalog indexes hprof source
                        model algo base test_support)
  target_compile_options(threads_${name} PRIVATE -Wall -Wextra)
  add_test(NAME threads.${name} COMMAND threads_${name})
  set_tests_properties(threads.${name} PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 300)
endforeach()

# The longest begin first, so that none of them runs alone at the end.
foreach(test cli.test_options strip.test_golden cli.interrupts making.test_stop)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES COST 1000 TIMEOUT 600)
  endif()
endforeach()

# Every question with every fault at the door of the graph: what the linker puts there counts calls, and one goes wrong.
# Some of them here, half a minute of two processors. HDX_FAULTS=60 build/asan/faults_table: twenty; HDX_FAULTS=all:
# hours. tests/faults/flips build/asan/heapdex DUMP...: the same of bytes of an index, as long as it is told to.
include(cmake/faults.cmake)
add_test(NAME house.faults COMMAND ${CMAKE_COMMAND} -D TREE=${PROJECT_SOURCE_DIR}
         -P ${PROJECT_SOURCE_DIR}/cmake/faults.cmake)
if(HDX_SQLITE_FOUND AND NOT HDX_FUZZ)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/heapdex/graph.h
               ${PROJECT_SOURCE_DIR}/src/graph/graph.h ${PROJECT_SOURCE_DIR}/tests/faults/values.c)
  hdx_faults_of(${PROJECT_SOURCE_DIR} names coded wrappers)
  hdx_faults_named(${PROJECT_SOURCE_DIR} values sound)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/faults/codes.c CONTENT "${wrappers}" @ONLY)
  add_executable(faults_table tests/faults/table.c tests/faults/faults.c tests/faults/values.c
                 ${PROJECT_BINARY_DIR}/faults/codes.c)
  target_link_libraries(faults_table PRIVATE cli test_support)
  target_compile_definitions(faults_table PRIVATE HDX_TREE="${PROJECT_SOURCE_DIR}")
  foreach(name IN LISTS coded values)
    target_link_options(faults_table PRIVATE LINKER:--wrap=${name})
  endforeach()
  add_test(NAME faults.table COMMAND faults_table)
  set_tests_properties(faults.table PROPERTIES FAIL_REGULAR_EXPRESSION "Sanitizer" TIMEOUT 600 COST 500)
endif()

# What takes more than 10 seconds under the sanitizers has the label slow, but for what reads hostile input and for what
# alone notices many faults of its room (rows.test_sort, algo.test_dominators): ./check leaves it to .ci/run, which runs
# it in the release build, with what the sanitizers cannot run. Two targets build what each of them needs.
set(slow
    algo.test_packed answer.test_answers answer.test_views base.test_regex batch.proof batch.test_batches
    batch.test_drop batch.test_rebuild batch.test_run batch.test_stopped bench.make_dump cli.decoys cli.interrupts
    cli.test_answers cli.test_batch cli.test_complete cli.test_errors cli.test_help cli.test_options cli.test_pipes
    cli.test_screens cli.test_sessions cli.test_sql cli.test_utf8 columns.test_runs faults.table fleet.test_place
    fleet.test_tables fuzz.checkpoint graph.test_told hprof.test_golden hprof.test_large hprof.test_sampled
    indexes.test_ints indexes.test_one_to_n leaks.test_heaps leaks.test_search making.test_checkpoint
    making.test_checkpoint_indexes making.test_checkpoint_temporary making.test_cost making.test_counts
    making.test_edges making.test_estimate making.test_flips making.test_golden making.test_index making.test_kill
    making.test_seal making.test_seek making.test_stop making.test_view query.test_asked query.test_bookshop
    query.test_crowd query.test_free_if query.test_garbage query.test_immediate_dominators query.test_loaders
    query.test_merged query.test_properties query.test_referents query.test_sets source.test_isal source.test_keep
    sql.test_answers sql.test_held sql.test_random sql.test_texts sql.test_walks steady.killed_writers
    steady.readers_storm strip.test_golden strip.test_overlay strip.test_told)
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
  list(APPEND slow sql.extension python.heapdex python.fleet steady.history steady.io_faults steady.clock_jumps
       steady.small_stack)
endif()
add_custom_target(slow_tests DEPENDS heapdex_cli heapdex bench_make_dump man)
add_custom_target(quick_tests DEPENDS man)
get_property(quick_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(test IN LISTS slow)
  string(REPLACE "." "_" program ${test})
  if(TEST ${test})
    set_property(TEST ${test} PROPERTY LABELS slow)
  endif()
  if(TARGET ${program} AND NOT program STREQUAL "bench_make_dump")
    add_dependencies(slow_tests ${program})
    list(REMOVE_ITEM quick_targets ${program})
  endif()
endforeach()
foreach(program heapdex_sqlite steady_faults steady_clocks)
  if(TARGET ${program})
    add_dependencies(slow_tests ${program})
  endif()
endforeach()
foreach(target IN LISTS quick_targets)
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|STATIC_LIBRARY)$")
    add_dependencies(quick_tests ${target})
  endif()
endforeach()
