# Included by house_criterion.sh through CMAKE_PROJECT_INCLUDE: find_library says that Criterion is not here.
function(find_library name)
  if(name STREQUAL "HDX_CRITERION")
    set(HDX_CRITERION HDX_CRITERION-NOTFOUND CACHE FILEPATH "not found, as house_criterion.sh wants it")
  else()
    _find_library(${ARGV})
  endif()
endfunction()
