# The table of rooms: what each may include besides <heapdex/...> and itself. `ctest -R house.includes` reads the
# includes against it.
set(HDX_ROOMS base model source hprof strip indexes catalog algo reading passes making graph rows query leaks render
    columns check compare answer report sql fleet batch oql cli)

set(HDX_SEES_base)
set(HDX_SEES_model base)
set(HDX_SEES_source base)
set(HDX_SEES_hprof base source)
set(HDX_SEES_strip base source hprof model)
set(HDX_SEES_indexes base)
set(HDX_SEES_catalog base model)
set(HDX_SEES_algo base)
set(HDX_SEES_reading base indexes catalog hprof source model strip)
set(HDX_SEES_passes base indexes hprof source model algo reading)
set(HDX_SEES_making base indexes catalog hprof source model algo strip reading passes)
set(HDX_SEES_graph base indexes catalog hprof source model strip)
set(HDX_SEES_rows base)
set(HDX_SEES_query base graph algo rows model)
set(HDX_SEES_leaks base graph algo rows model)
set(HDX_SEES_render base rows)
set(HDX_SEES_columns base rows render source)
set(HDX_SEES_check base)
set(HDX_SEES_compare base rows query leaks graph)
set(HDX_SEES_answer base rows query leaks render columns check compare making graph)
set(HDX_SEES_report base source rows render answer)
set(HDX_SEES_sql base model graph rows query render columns answer)
set(HDX_SEES_fleet base rows query render columns graph answer sql)
set(HDX_SEES_oql base graph)
set(HDX_SEES_batch base rows render answer fleet)
set(HDX_SEES_cli base answer render report sql oql batch)

# Folders of a room: files of one may include headers of those before it; what lies beside the folders, of all.
set(HDX_FOLDERS_query common sets paths runtime histogram holding suspects texts collections triage)

# Libraries of the system, by room.
set(HDX_LIBS_base Threads::Threads pcre2)
set(HDX_LIBS_source ZLIB::ZLIB isal)
set(HDX_LIBS_catalog lmdb)
set(HDX_LIBS_algo m)
set(HDX_LIBS_sql sqlite3)
set(HDX_LIBS_cli edit)
