# make install: program, library both ways, headers, pkg-config and CMake package, man page, completions of bash,
# zsh and fish where Debian has them, and the pages and examples that headers cite.
install(TARGETS heapdex_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT heapdex)
install(TARGETS heapdex heapdex_static EXPORT heapdex COMPONENT heapdex
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET heapdex_sqlite)
  install(TARGETS heapdex_sqlite LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heapdex COMPONENT heapdex)
endif()
install(DIRECTORY include/heapdex DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT heapdex
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY doc DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT heapdex
        FILES_MATCHING PATTERN "*.md" PATTERN "*.sql")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT heapdex
        FILES_MATCHING PATTERN "*.c" PATTERN "report.png")
foreach(section 1 5 7)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT heapdex
          FILES_MATCHING PATTERN "*.${section}")
endforeach()
install(FILES src/cli/heapdex.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heapdex
        COMPONENT heapdex)
install(FILES src/cli/_heapdex DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT heapdex)
install(FILES src/cli/heapdex.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT heapdex)

# CMake: find_package(heapdex) gives heapdex::heapdex and heapdex::static.
set_target_properties(heapdex_static PROPERTIES EXPORT_NAME static)
install(EXPORT heapdex NAMESPACE heapdex:: FILE heapdex-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/heapdex COMPONENT heapdex)
configure_package_config_file(cmake/heapdex-config.cmake.in ${PROJECT_BINARY_DIR}/heapdex-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/heapdex)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heapdex-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heapdex-config.cmake ${PROJECT_BINARY_DIR}/heapdex-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/heapdex COMPONENT heapdex)

# Paths relative to the file itself: cmake --install --prefix and packages that are unpacked elsewhere stay right.
file(RELATIVE_PATH HDX_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH HDX_PC_INCLUDE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/heapdex.pc.in heapdex.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heapdex.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT heapdex)
