# cdef.cmake: writes OUT, a C file whose function NAME returns the text of IN between its marks.
file(READ ${IN} text)
string(FIND "${text}" "/* dpt: cdef begins */" from)
string(FIND "${text}" "/* dpt: cdef ends */" to)
if(from EQUAL -1 OR to EQUAL -1)
  message(FATAL_ERROR "${IN} has lost its cdef marks")
endif()
math(EXPR length "${to} - ${from}")
string(SUBSTRING "${text}" ${from} ${length} text)
# The text is an array of numbers: C compilers need not accept a string literal of this length.
string(HEX "${text}" hex)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x0a,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include \"${IN}\"\nstatic const char text[] = {${bytes}0};\n"
  "const char *${NAME}(void) { return text; }\n")
