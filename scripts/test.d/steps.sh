#!/bin/bash
# steps.sh: the steps of scripts/test, which orders them and runs each as `bash steps.sh NAME`.
#
# Invariant: a step needs nothing but a clone and the step that its line names. It writes only to
# the build folder that it makes and to its own folder $work, where `counts` says how many tests
# passed and failed. Steps run beside others, so none may go by the clock.

# name, the run it belongs to (`scripts/test` or `scripts/test --rest`), the step it needs, what it
# shows. They begin in this order: long ones first, so that none is left alone at the end.
# shellcheck disable=SC2034 # scripts/test reads it
steps=(
  'setup        test -         what dpt needs is installed'
  'build        test setup     the library and the C tests build without a warning'
  'lint         test setup     luacheck, clang-format and no line beyond 100 columns'
  'layers       test build     includes, requires, header, cdef, calls of CUDA keep to the rules'
  'size         test setup     each folder keeps to its line budget'
  'specs_others test build     the Lua specs but those of spec/nn'
  'specs_nn     test build     the Lua specs of spec/nn'
  'golden       test build     what the original Torch7 returned'
  'ctest        test build     the C tests'
  'nccl         test build     Lua specs of comm and parallel networks by a stand-in for NCCL'
  'ranks        test build     dpt.distributed on 1 to 3 ranks by mpirun, and one going wrong'
  'examples     test build     each example in its short mode'
  'install      test build     an installed tree works from another directory'
  'startup      test build     dpt loads quickly and brings no CUDA library along'

  'sanitized    rest setup     the same with AddressSanitizer and UndefinedBehaviorSanitizer'
  'asan_ctest   rest sanitized the C tests under both'
  'threads      rest setup     the library and the C tests with ThreadSanitizer'
  'tsan         rest threads   C tests of what runs at once under ThreadSanitizer, also with delays'
  'thread_safety rest setup    what needs a lock has it: clang proves it from annotations'
  'asan_kernels rest sanitized CUDA kernels for the CPU build under both sanitizers'
  'emulated_others rest build  the Lua specs but those of spec/nn, with CUDA kernels run by the CPU'
  'emulated_nn  rest build     the Lua specs of spec/nn, with CUDA kernels run by the CPU'
  'asan_emulated rest asan_kernels Lua specs of CUDA kernels, run by the CPU, under both'
  'asan_others  rest asan_kernels the Lua specs but those of spec/nn, under both'
  'asan_nn      rest asan_kernels the Lua specs of spec/nn, under both'
  'ranks_more   rest build     the same on 5 and 8 ranks and on two hosts, with random faults'
  'ranks_asan   rest asan_kernels dpt.distributed on 1 to 3 ranks under both sanitizers'
  'ranks_tsan   rest threads   C test of 2 and 3 ranks under ThreadSanitizer, also with delays'
  'delay        rest asan_kernels Lua specs of what runs at once, with random delays, under both'
  'fuzz         rest asan_kernels random calls, layers, bytes, failing allocations, under both'
  'kernels      rest build     products and what uses them with each kernel set of OpenBLAS'
  'many         rest build     the Lua specs of DataParallelTable on 64 devices'
  'browser      rest build     pages of profiles in a headless Chromium'
  'docs         rest build     LDoc builds the reference without a warning; all names are in it'
  'prompt       rest build     the prompt in a terminal: completion, history, Ctrl-C'
  'cuda         rest setup     the plugin builds where there is a toolkit, and opens its libraries'
  'leaks        rest build     valgrind finds no leak after many networks'
  'rock         rest setup     luarocks installs dpt; it works from another directory'
  'arm64        rest setup     ARM64: C tests and recorded cases under qemu-user (with --full)'
  'deb          rest setup     Debian packages are built, hold what they should, and work'
  'tour         rest setup     the worked examples of docs/tour.md, built in a copy'
)

# Under sanitizers on emulated devices: there layers and updates pass both the kernels of csrc/cuda
# and, for what has none, the host's.
asan_emulated=(spec/tensor spec/optim spec/nn/[a-z]*_spec.lua)

# files PATTERN...: files of the repository, also new ones that are not yet committed.
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

# tests PASSED FAILED: how many tests this step counted.
tests() { echo "$1 $2" >>"$work/counts"; }

run_setup() { scripts/setup; }

run_build() { scripts/build build -DDPT_WERROR=ON; }

run_sanitized() { scripts/build build-sanitized -DDPT_WERROR=ON -DDPT_SANITIZE=address,undefined; }

run_asan_kernels() {
  cmake --build build-sanitized --target dpt_emulated -- --quiet
}

run_layers() {
  local status=0
  scripts/layers || status=1
  scripts/cuda-calls || status=1
  return $status
}

run_lint() {
  local bad=0 long
  luacheck -q lua spec examples .busted scripts/{cuda-calls,docs,golden,layers,size} || bad=1
  files 'csrc/*.[ch]' 'csrc/*.cu' 'spec/c/*.[ch]' 'spec/emulation/*.[ch]*' |
    xargs -r clang-format-14 --dry-run -Werror || bad=1
  long=$(files '*.lua' '*.c' '*.h' '*.cu' '*.cpp' '*.def' '*.cmake' 'scripts/*' 'CMakeLists.txt' |
    grep -v '^spec/golden/\(cases\|t7\)/' |
    xargs awk 'length > 100 || /\t/ {print FILENAME ":" FNR}')
  if [ -n "$long" ]; then
    echo 'lines beyond 100 columns, or with a tab:'
    echo "$long"
    bad=1
  fi
  long=$(files 'csrc/*.[ch]' 'csrc/*.cu' | xargs awk '/^ *# *define/ {n = 1}
    n && /\\$/ {n++; next} {if (n > 7) print FILENAME ":" FNR; n = 0}')
  if [ -n "$long" ]; then
    echo 'macros of more than seven lines, by their last:'
    echo "$long"
    bad=1
  fi
  return $bad
}

run_size() { scripts/size; }

# c_tests FOLDER [PATTERN]: runs the C tests of a build and counts them.
c_tests() {
  local output summary status
  output=$(ctest --test-dir "$1" --output-on-failure ${2:+-R "$2"} 2>&1)
  status=$?
  summary=$(sed -nE 's/.*passed, ([0-9]+) tests? failed out of ([0-9]+)/\1 \2/p' <<<"$output")
  if [ -z "$summary" ]; then echo "$output"; return 1; fi
  tests $((${summary#* } - ${summary% *})) "${summary% *}"
  if [ $status = 0 ]; then tail -3 <<<"$output" | head -1; else echo "$output"; fi
  return $status
}

run_ctest() { c_tests build; }

# Asking for too much memory is one of the tests.
sanitizer_options() {
  export ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1:detect_leaks=$1
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
}

run_asan_ctest() {
  sanitizer_options 1
  c_tests build-sanitized
}

run_threads() { scripts/build build-thread -DDPT_WERROR=ON -DDPT_SANITIZE=thread; }

# Twice: as it is, and with random delays in the streams.
run_tsan() {
  local pattern='stream|event|alloc|storage|comm|device|worker|trace' status=0
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  c_tests build-thread "$pattern" || status=1
  DPT_DELAY=$DPT_SEED c_tests build-thread "$pattern" || status=1
  return $status
}

# What csrc/base/lock.h says of mutexes, in every file that can see one.
run_thread_safety() {
  scripts/setup --rest || return 1
  local flags
  flags=(-fsyntax-only -std=gnu11 -Icsrc -I/usr/include/luajit-2.1 -DDPT_THREAD_SAFETY
    -DDPT_VERSION='"0"' -DDPT_BLAS_FILE=NULL -Werror -Wthread-safety
    -fexperimental-late-parse-attributes)
  files 'csrc/*.c' | grep -vE '\.inc\.c$|^csrc/host/rows_|/product_avx' |
    xargs grep -lE '"(base|device|comm|worker)/' | xargs -n 16 -P 2 clang-19 "${flags[@]}"
}

# dpt_path: puts the source tree on Lua's path.
dpt_path() { export LUA_PATH="$PWD/lua/?.lua;$PWD/lua/?/init.lua;${LUA_PATH-;}"; }

# specs_together [OPTION | FILE ...]: runs busted, and counts.
specs_together() {
  local output status line good bad wrong
  output=$(busted -o plainTerminal "$@" 2>&1)
  status=$?
  line=$(grep -E '^[0-9]+ success' <<<"$output" | tail -1)
  if [ -z "$line" ]; then tail -50 <<<"$output"; return 1; fi
  read -r good bad wrong _ < <(tr -c '0-9\n' ' ' <<<"$line")
  tests "$good" $((bad + wrong))
  # without the rows of a sign for each test
  if [ $status = 0 ]; then echo "$line"; else sed -E 's/^[-+*.]{8,}//' <<<"$output"; fi
  return $status
}

# specs [OPTION | FILE | FOLDER ...]: ten files to a process; in one that runs hundreds, collecting
# garbage, which many specs do, takes half of the time.
specs() {
  local options=() files=() word i status=0
  dpt_path
  for word; do
    case $word in
      -*) options+=("$word") ;;
      *) [ ! -d "$word" ] || word=$(find "$word" -name '*_spec.lua' | sort)
        mapfile -t -O ${#files[@]} files <<<"$word" ;;
    esac
  done
  for ((i = 0; i < ${#files[@]}; i += 10)); do
    specs_together "${options[@]}" "${files[@]:i:10}" || status=1
  done
  return $status
}

# All specs but those of spec/nn and those that start ranks.
mapfile -t others < <(find spec -name '*_spec.lua' -not -path 'spec/nn/*' \
  -not -path 'spec/distributed/*' -not -path 'spec/torture/[rh]*s_spec.lua' | sort)

run_specs_nn() { specs spec/nn; }

run_specs_others() { specs "${others[@]}"; }

# LuaJIT itself is not instrumented: what it does to memory of ours is seen, its own leaks are not
# looked for. Specs tagged #noasan limit memory or start programs.
sanitized_specs() {
  sanitizer_options 0
  export DPT_LIBRARY=$PWD/build-sanitized/libdpt.so
  LD_PRELOAD=$(gcc -print-file-name=libasan.so) specs --exclude-tags=noasan "$@"
}

run_asan_emulated() { DPT_DEVICES=emulated:2 sanitized_specs "${asan_emulated[@]}"; }

run_asan_nn() { sanitized_specs spec/nn; }

run_asan_others() { sanitized_specs "${others[@]}"; }

run_delay() {
  export DPT_DELAY=$DPT_SEED
  sanitized_specs spec/comm spec/parallel spec/threads spec/torture \
    spec/nn/DataParallelTable_spec.lua
}

# A fiftieth of all that --full runs, and the same at every change: what fails was changed. --full
# draws others.
run_fuzz() {
  local status=0
  [ "$DPT_TORTURE" = full ] || export DPT_SEED=1
  export DPT_FUZZ=50
  sanitized_specs spec/torture/{fuzz,api,geometry,bytes,allocation,aliasing}_spec.lua || status=1
  DPT_DEVICES=emulated:2 sanitized_specs spec/torture/{api,geometry}_spec.lua || status=1
  return $status
}

run_many() { DPT_DEVICES=host:64 specs spec/nn/DataParallelTable*_spec.lua; }

# What spec/emulation builds: kernels of csrc/cuda, the host's where there is none. Eight devices,
# as many as a spec may want; then two. No spec is left out: those that need host devices say so.
run_emulated_nn() {
  DPT_DEVICES=emulated:8 specs spec/nn && { [ "$DPT_TORTURE" != full ] ||
    DPT_DEVICES=emulated:2 specs spec/nn; }
}

run_emulated_others() {
  local status=0
  DPT_DEVICES=emulated:8 specs "${others[@]}" || status=1
  if [ "$DPT_TORTURE" = full ]; then
    DPT_DEVICES=emulated:2 specs "${others[@]}" || status=1
  else
    DPT_DEVICES=emulated:2 specs spec/device || status=1
  fi
  return $status
}

# DataParallelTable and what it is made of, where sums and broadcasts are left to NCCL.
run_nccl() {
  export DPT_DEVICES=emulated:8 DPT_SPEC_TRANSPORT=nccl DPT_NCCL=$PWD/build/libnccl_fake.so
  specs spec/comm spec/parallel spec/nn/DataParallelTable_{spec,tables_spec}.lua
}

run_ranks() { specs spec/distributed; }

run_ranks_more() {
  DPT_RANKS='5 8' specs spec/distributed/{init,training,bits,resume,user_issues}_spec.lua \
    spec/torture/{ranks,hosts}_spec.lua
}

run_ranks_asan() { sanitized_specs spec/distributed; }

# LuaJIT does not run under ThreadSanitizer.
run_ranks_tsan() {
  local n status=0
  command -v mpirun >/dev/null || { echo 'there is no mpirun: not run'; return 0; }
  export TSAN_OPTIONS=halt_on_error=1:exitcode=66:suppressions=$PWD/spec/support/ranks/tsan.txt
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  for n in 2 3; do
    timeout 300 mpirun -n $n --bind-to none --oversubscribe build-thread/ranks_spec || status=1
    DPT_DELAY=$DPT_SEED timeout 300 \
      mpirun -n $n --bind-to none --oversubscribe build-thread/ranks_spec || status=1
  done
  return $status
}

# golden [MODE]: the recorded cases, counted.
golden() {
  local output status
  output=$(scripts/golden "$@")
  status=$?
  echo "$output"
  if [ $status = 0 ]; then
    tests "$(grep -oE '[0-9]+ rows pass' <<<"$output" | awk '{n += $1} END {print n + 0}')" 0
  fi
  return $status
}

run_golden() {
  local status=0
  golden || status=1
  DPT_DEVICES=emulated:2 golden device || status=1
  return $status
}

# What computes products, with every kernel set that the CPU can run; the bits of each differ.
run_kernels() {
  local set flag isa status=0
  while read -r set flag isa; do
    grep -qw "$flag" /proc/cpuinfo || continue
    export OPENBLAS_CORETYPE=$set DPT_ISA=$isa
    echo "-- $set"
    specs spec/tensor spec/optim spec/rnn spec/cudnn spec/nn/[a-z]*_spec.lua \
      spec/nn/DataParallelTable_{spec,original_bits_spec,tables_spec}.lua || status=1
    golden host || status=1
  done <<'SETS'
Prescott sse2 sse2
Haswell avx2 avx2
Zen avx2 avx2
SkylakeX avx512vl avx512
SETS
  return $status
}

run_browser() {
  command -v chromium >/dev/null ||
    echo 'skipped: pages of profiles in a browser: there is no chromium (scripts/setup --rest)'
  specs spec/support/browser.lua
}

# docs/reference must come out as it is.
run_docs() {
  scripts/setup --rest || return 1
  dpt_path
  scripts/docs && git diff --exit-code --stat docs/reference
}

run_prompt() {
  scripts/setup --rest || return 1
  specs spec/support/prompt.lua
}

# One architecture: that the text compiles without a warning is the same for all.
run_cuda() {
  if ! command -v nvcc >/dev/null && [ ! -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    echo 'there is no nvcc here: not built'
    return 0
  fi
  scripts/build build-cuda -DDPT_WERROR=ON -DBUILD_TESTING=OFF -DDPT_CUDA=ON \
    -DDPT_CUDA_ARCHITECTURES=90-virtual &&
    cmake --build build-cuda --target libraries_spec -- --quiet && build-cuda/libraries_spec
}

# Instructions are translated: the tests at a tenth of their counts take minutes.
run_arm64() {
  if [ "$DPT_TORTURE" != full ]; then echo 'not run: only with --full'; return 0; fi
  scripts/setup --full && scripts/test.d/arm64.sh || return 1
  local status=0
  DPT_TORTURE=tenth c_tests build-arm64 || status=1
  printf '#!/bin/sh\nexec "%s" luajit "$@"\n' "$PWD/scripts/test.d/arm64.sh" >"$work/luajit"
  chmod +x "$work/luajit"
  export DPT_LUAJIT=$work/luajit DPT_LIBRARY=$PWD/build-arm64/libdpt.so
  DPT_DEVICES=host:2 golden || status=1
  return $status
}

run_startup() {
  local cuda
  dpt_path
  luajit spec/support/startup.lua || return 1
  [ -e /dev/nvidia0 ] && return 0
  cuda=$(luajit -e "require 'dpt' io.write(io.open('/proc/self/maps'):read('*a'))" |
    grep -oE '/[^ ]*(libcuda|libcudart|libcublas|libcudnn|libnccl|libdpt_cuda)[^ ]*' | sort -u)
  [ -z "$cuda" ] || { echo "loaded without a GPU: $cuda"; return 1; }
}

# Nothing may be lost, and what is still reachable at the end (caches of libraries, thread-local
# memory) may not grow with the number of networks. The JIT compiler is off: valgrind cannot follow
# code that is made at run time.
run_leaks() {
  local few many_bytes many=10
  dpt_path
  at_end() { # NETWORKS: prints the bytes that are still reachable, fails where some are lost
    DPT_DEVICES=host:2 OMP_NUM_THREADS=1 valgrind --leak-check=full --log-file="$work/valgrind" \
      luajit -joff spec/support/leaks.lua "$1" >&2 || { cat "$work/valgrind" >&2; return 1; }
    if grep -qE '(definitely|indirectly) lost: [1-9]' "$work/valgrind"; then
      cat "$work/valgrind" >&2
      return 1
    fi
    tr -d , <"$work/valgrind" | awk '/still reachable|possibly lost/ {n += $4} END {print n + 0}'
  }
  [ "$DPT_TORTURE" = full ] && many=100
  few=$(at_end 2) && many_bytes=$(at_end $many) || return 1
  echo "bytes at the end after 2 networks: $few; after $many: $many_bytes; none are lost"
  [ $((many_bytes - few)) -lt 16384 ]
}

# expect TEXT COMMAND...: what the command prints in another directory, without Lua's variables.
expect() {
  local wanted=$1 got
  shift
  got=$(cd / && env -u LUA_PATH -u LUA_CPATH "$@" 2>&1)
  if [ "$got" = "$wanted" ]; then tests 1 0; return; fi
  echo "wanted '$wanted', got '$got' from: $*"
  tests 0 1
  return 1
}

# version: what CMakeLists.txt says.
version() { sed -nE 's/^project\(dpt VERSION ([0-9.]+).*/\1/p' CMakeLists.txt; }

# command_works BIN: what an installation's command prints.
command_works() {
  local status=0
  echo 'print(torch.ones(2, 3):sum(), #arg, arg[1])' >"$work/program.lua"
  expect $'6\t1\tword' "$1/dpt" "$work/program.lua" word || status=1
  expect "dpt $(version)" "$1/dpt" --version || status=1
  ln -sf "$1/dpt" "$work/link"
  expect '6' "$work/link" -e 'print(torch.ones(2, 3):sum())' || status=1
  expect 'true' sh -c "'$1/dpt' doctor | grep -q 'all is well' && echo true" || status=1
  expect 'nn.Linear(inputSize, outputSize, [bias])' \
    sh -c "'$1/dpt' help nn.Linear | head -1" || status=1
  return $status
}

run_install() {
  cmake --install build --prefix "$work/prefix" >"$work/install" 2>&1 ||
    { cat "$work/install"; return 1; }
  command_works "$work/prefix/bin" &&
    has_pages "$work/prefix/share/doc/dpt"
}

# has_pages FOLDER: what is read beside the reference that `dpt help` prints.
has_pages() {
  expect '3' \
    sh -c "cd '$1' && ls docs/start.md docs/reference/README.md examples/digits.lua | wc -l"
}

# A private tree, as a user's; luarocks builds where the sources are: from a copy, so that this tree
# stays as it is.
run_rock() {
  local tree=$work/tree paths status=0
  mkdir "$tree" "$work/source"
  files '*' | grep -v '^spec/' | tar -c -T - | tar -x -C "$work/source"
  if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache; fi
  "$work/source/scripts/rocks" --tree "$tree" >"$work/rock" 2>&1 ||
    { tail -40 "$work/rock"; return 1; }
  command_works "$tree/bin" || status=1
  has_pages "$tree"/lib/luarocks/rocks-5.1/dpt/*/doc || status=1
  paths="eval \$(luarocks --lua-version 5.1 --tree '$tree' path)"
  expect '6' sh -c "$paths && luajit -e \"require 'dpt' print(torch.ones(2, 3):sum())\"" || status=1
  expect "$tree/lib/lua/5.1/libdpt.so" sh -c "$paths
    luajit -e \"require 'torch'\" 2>/dev/null
    luajit -e \"require 'dpt' for l in io.lines('/proc/self/maps') do
      local p = l:match('(/%S*libdpt.so)') if p then print(p) break end end\"" || status=1
  # each of the two rocks has its library, and none of the other's files
  expect "libdpt.so dpt libdpt_image.so image" sh -c "cd '$tree/lib/luarocks/rocks-5.1'
    for rock in dpt image; do
      grep -ohE 'libdpt(_image)?[.]so' \$rock/*/rock_manifest
      sed -n '/^   lua = {/,/^   }/s/^      \([a-z]*\) = {.*/\1/p' \$rock/*/rock_manifest
    done | xargs" || status=1
  expect '3 6 8' sh -c "$paths && luajit -e \"require 'dpt' local image = require 'image'
    local file = '$work/picture.jpg'
    image.save(file, torch.rand(3, 6, 8)) print(unpack(image.getSize(file):totable()))\" |
    tr '\t' ' '" || status=1
  # packages that depend on Torch7's, on each that has a stand-in: dpt is taken for it, and no
  # server is asked
  rock_of lower "'torch >= 7.0', 'nn', 'image', 'tds'" \
    "return function(t) return require('image').hflip(t):sum() + #require('tds').Vec(1, 2) end"
  rock_of upper "'lower', 'cunn', 'optim >= 1.0', $(sed -n "s/^names='\(.*\)'/\1/p" scripts/rocks |
    sed "s/[a-z]*/'&'/g; s/ /, /g"), 'image'" \
    "return function(n) return require('lower')(torch.ones(2, n)) end"
  rock_by_cmake middle '""'
  rock_by_cmake other middle.c
  for name in lower upper middle; do
    (cd "$work/$name" && PATH=$tree/bin:$PATH rock_make "$tree") >"$work/rock" 2>&1 ||
      { tail -40 "$work/rock"; status=1; }
  done
  (cd "$work/other" && ! PATH=$tree/bin:$PATH rock_make "$tree") >"$work/rock" 2>&1
  grep -q "other: middle.c is made for Torch7's C library" "$work/rock" ||
    { tail -40 "$work/rock"; status=1; }
  echo "print(require('upper')(3), require('middle')())" >"$work/program.lua"
  expect $'8\t5' sh -c "$paths && '$tree/bin/dpt' '$work/program.lua'" || status=1
  return $status
}

# rock_make TREE: what a user types in a package's folder.
rock_make() { luarocks --lua-version 5.1 --tree "$1" --only-server "$work" make; }

# rock_of NAME DEPENDENCIES CODE [BUILD]: a made-up package in $work/NAME.
rock_of() {
  mkdir "$work/$1"
  echo "$3" >"$work/$1/$1.lua"
  cat >"$work/$1/$1-1.0-1.rockspec" <<ROCKSPEC
package = '$1'
version = '1.0-1'
source = {url = 'git+file://.'}
dependencies = {$2}
build = ${4:-{type = 'builtin', modules = {$1 = '$1.lua'\}\}}
ROCKSPEC
}

# rock_by_cmake NAME SOURCES: one that is built as most of Torch7's packages are.
rock_by_cmake() {
  rock_of "$1" "'torch >= 7.0'" 'return function() return nn.Identity():forward(5) end' "{
   type = 'command',
   build_command = 'cmake -E make_directory build && cd build && cmake ..'
      .. ' -DCMAKE_PREFIX_PATH=\"\$(LUA_BINDIR)/..\" -DCMAKE_INSTALL_PREFIX=\"\$(PREFIX)\" && make',
   install_command = 'cd build && make install',
}"
  mv "$work/$1/$1.lua" "$work/$1/init.lua"
  cat >"$work/$1/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 2.8)
find_package(Torch REQUIRED)
file(GLOB lua *.lua)
add_torch_package($1 $2 "\${lua}" "Made up")
CMAKE
}

# Unpacked beside the system, so the library is named; what they depend on is what setup installs.
# Unless DPT_CUDA says so without the plugin, which the step `cuda` builds.
run_deb() {
  local root=$work/root list multi status=0 package
  multi=$(dpkg-architecture -qDEB_HOST_MULTIARCH) || { echo 'no Debian: not run'; return 0; }
  DPT_CUDA=${DPT_CUDA-OFF} scripts/deb "$work/packages" >"$work/deb" 2>&1 ||
    { tail -40 "$work/deb"; return 1; }
  for package in "$work"/packages/*.deb; do
    dpkg-deb --info "$package" >/dev/null && dpkg-deb -x "$package" "$root" || return 1
  done
  list=$(dpkg-deb -f "$work"/packages/dpt_*.deb Depends)
  for package in libc6 libdnnl2 libsleef3 libgomp1 libopenblas0-pthread libedit2 libjpeg62-turbo \
    libpng16-16; do
    grep -qw "$package" <<<"$list" || { echo "dpt does not depend on $package"; status=1; }
  done
  DPT_LIBRARY=$root/usr/lib/$multi/lua/5.1/libdpt.so DPT_LUAJIT=$root/usr/lib/dpt/luajit \
    command_works "$root/usr/bin" || status=1
  has_pages "$root/usr/share/doc/dpt" || status=1
  expect 'nn.Linear' sh -c "zcat '$root/usr/share/man/man1/dpt.1.gz' | grep -o 'nn[.]Linear'" ||
    status=1
  if command -v lintian >/dev/null; then lintian "$work"/packages/*.deb || status=1; fi
  return $status
}

# The changes of docs/tour.md in a copy of the tree, with their specs.
run_tour() {
  local tree=$work/tree list status=0
  mkdir "$tree"
  files '*' | tar -c -T - | tar -x -C "$tree"
  cd "$tree" || return 1
  list=$(luajit spec/support/tour.lua .) && git init -q && git add -A || return 1
  scripts/build build -DDPT_WERROR=ON -DDPT_CUDA=OFF && scripts/layers || return 1
  for devices in host:2 emulated:2; do
    # shellcheck disable=SC2086 # several files
    DPT_DEVICES=$devices specs $list spec/nn/empty_spec.lua || status=1
  done
  return $status
}

# An example says in lines "-- short: ARGUMENTS" how it is run here, once for each.
run_examples() {
  local example words output status=0
  for example in $(files 'examples/*.lua'); do
    while read -r words; do
      echo "-- $example $words"
      # shellcheck disable=SC2086 # several words
      if output=$(scripts/dpt "$example" $words 2>&1 </dev/null); then
        tail -1 <<<"$output"
        tests 1 0
      else
        tail -20 <<<"$output"
        tests 0 1
        status=1
      fi
    done < <(sed -n 's/^-- short: //p' "$example")
  done
  return $status
}

# Run as a program: one step; `cpu` says how many seconds of a CPU it took.
if [ "$0" = "${BASH_SOURCE[0]}" ]; then
  set -u
  "run_$1"
  status=$?
  times >"$work/times"
  awk -F'[ms ]' 'NR == 2 {print $1 * 60 + $2 + $4 * 60 + $5}' "$work/times" >"$work/cpu"
  exit $status
fi
