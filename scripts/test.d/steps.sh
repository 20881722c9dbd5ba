#!/bin/bash
# steps.sh: the bodies of the steps that CMakeLists.txt lists; `steps.sh NAME` runs one.
#
# Invariant: a step needs a clone and the step that its line names. It writes to its own build
# folder, to a temporary folder $work, to build-steps/NAME (logs, and `counts`: passed, failed,
# seconds, CPU seconds), to build-steps/failures and build-steps/notes. Steps run in parallel, so
# none may depend on the clock.
set -u

# files PATTERN...: prints the repository's files, including new ones that are not yet committed.
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

# Matches a report of a sanitizer, and a crash, hang or wrong recorded value, of a spec or of a
# program that it runs: passing when repeated does not excuse it. The numbers are exit statuses of a
# signal or of `timeout`.
sanitizer='[a-z]Sanitizer: ?[A-Za-z]|runtime error: |signal [0-9]'
serious="$sanitizer|Segmentation fault|core dumped|\<Aborted\>|Bus error|Illegal instruction"
serious+='|Floating point exception|Alarm clock|Assertion .*failed|assertion failed: |\<hangs?\>'
serious+='|#recorded|_original_(bits_)?spec'
serious+="|(^|^\(number\) |[^0-9. ]|status )1(24|3[0-9])'?$|^\(number\) 3(1744|[3-5][0-9]{3})$"

passed=0 failed=0 recorded=no
# tests PASSED FAILED: adds to the counts of this step.
tests() { passed=$((passed + $1)) failed=$((failed + $2)); }

logs=0
# next_log: sets `log` to the path of a new file.
next_log() { log=$results/$((++logs)).log; }

# fail COUNT NAME LOG COMMAND...: counts and records failures, with the command that repeats them.
fail() {
  local count=$1 name=$2 log=$3
  shift 3
  tests 0 "$count"
  recorded=yes
  [ "$step" != tour ] || set -- scripts/test tour # its tree is a copy
  printf '%s\n' "-- $step: $(cut -c1-300 <<<"$name") ($log)
$(excerpt "$log")
again: DPT_SEED=$DPT_SEED ${full:+DPT_TORTURE=full }$(variables)$*" >>"${results%/*}/failures"
}

# excerpt LOG: prints the first failures that busted reports, or the end, without colours.
excerpt() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | cut -c1-200 | grep . >"$work/text"
  awk '/^(Failure|Error) ->/ {left = 16} left-- > 0 && n++ < 40' "$work/text" | grep . ||
    tail -16 "$work/text"
}

# variables: prints the variables that the step has set, as a command's prefix.
variables() {
  env | sort | comm -13 "$work/env" - | grep -E '^(DPT|LD|OMPI|OPENBLAS|[A-Z]+SAN)_' |
    grep -v '^DPT_SEED=' | sed "s/ /\\\\ /g" | tr '\n' ' '
}

# excused NAME TITLE LOG PATTERN COMMAND...: repeats a failed test once, alone, unless a line of its
# log matches the pattern. If it then passes, records it as unsteady and returns 0.
excused() {
  local name=$1 title=$2 log=$3 pattern=$4 second=${3%.log}-alone-$((++logs)).log
  shift 4
  ! grep -qaE "$pattern" "$log" && "$@" >"$second" 2>&1 </dev/null &&
    note "UNSTEADY $name: $title ($log, alone: $second)"
}

# note TEXT: adds a line to the end of the run.
note() { echo "$1" >>"${results%/*}/notes"; }

run_build() { scripts/build build -DDPT_WERROR=ON; }

run_sanitized() {
  scripts/build build-sanitized -DDPT_WERROR=ON -DDPT_SANITIZE=address,undefined &&
    cmake --build build-sanitized --target dpt_emulated -- --quiet
}

run_layers() {
  scripts/layers || tests 0 1
  scripts/cuda-calls
}

# none TEXT LIST: fails if the list has a line.
none() {
  [ -z "$2" ] || { printf '%s:\n%s\n' "$1" "$2"; tests 0 1; }
}

# Checks the entries of the repository's top folder.
top='.busted .ci .clang-format .editorconfig .gitignore .luacheckrc CMakeLists.txt CONTRIBUTING.md
LICENSE README.md csrc docs examples lua rocks scripts spec'

run_lint() {
  local found
  luacheck -q lua spec examples .busted scripts/{cuda-calls,demo.d,docs,golden,layers*} || tests 0 1
  files 'csrc/*.[ch]' 'csrc/*.cu' 'spec/c/*.[ch]' 'spec/emulation/*.[ch]*' |
    xargs -r clang-format-14 --dry-run -Werror || tests 0 1
  none 'lines over 100 columns, or with a tab' "$(files '*.lua' '*.[ch]' '*.cu' '*.cpp' '*.def' \
    '*.cmake' 'scripts/*' '*CMakeLists.txt' | grep -v '^spec/golden/\(cases\|t7\)/' |
    xargs awk 'length > 100 || /\t/ {print FILENAME ":" FNR}')"
  none 'macros longer than seven lines (last line of each)' "$(files 'csrc/*.[ch]' 'csrc/*.cu' |
    xargs awk '/^ *# *define/ {n = 1}
      n && /\\$/ {n++; next} {if (n > 7) print FILENAME ":" FNR; n = 0}')"
  none 'entries of the top folder that steps.sh does not list' "$(files '*' | cut -d/ -f1 |
    sort -u | grep -vxF "$(tr ' ' '\n' <<<"$top")")"
  found=$(openings)
  [ -z "$found" ] || note "warning: $(wc -l <<<"$found") added comments open with a word that \
docs/style.md replaces:"$'\n'"$found"
}

# openings: prints the comments that a change adds and that open with a word that docs/style.md
# replaces. A change begins at the upstream branch, or is the last commit.
openings() {
  local base
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null)
  [ "$base" != "$(git rev-parse HEAD)" ] || base=
  git diff -U0 "${base:-HEAD~1}" -- '*.[ch]' '*.cu' '*.cpp' '*.lua' '*.sh' 'scripts/*' 2>/dev/null |
    awk '/^[+][+][+] / {file = substr($2, 3)} /^@@/ {sub(/^[+]/, "", $3); line = int($3) - 1}
      /^[+]/ && !/^[+][+][+] / {line++; if (/^[+] *(\/[\/*]|--+|#|\*) (What|Whether|Lets|Of) /)
        print file ":" line ": " substr($0, 2)}'
}

# c_tests FOLDER [PATTERN]: runs the C tests of a build. One that failed a check is repeated once.
c_tests() {
  local run=(ctest --test-dir "$1" --output-on-failure) log bad all name reason before=$failed
  next_log
  "${run[@]}" ${2:+-R "$2"} >"$log" 2>&1
  read -r bad all < <(sed -nE 's/.*passed, ([0-9]+) tests? failed out of ([0-9]+)/\1 \2/p' "$log")
  if [ -z "$all" ]; then fail 1 'ctest' "$log" "${run[@]}"; return 1; fi
  tests $((all - bad)) 0
  while read -r name reason; do
    bad=$((bad - 1))
    awk -v name=": $name " '/^ *[0-9]+\/[0-9]+ Test/ {on = index($0, name)} on' "$log" \
      >"$results/$name.log"
    if [[ $reason == '(Failed)'* ]] && excused "$name" 'a check' "$results/$name.log" \
      "$sanitizer" "${run[@]}" -R "^$name\$"; then
      tests 1 0
    else
      fail 1 "$name $reason" "$results/$name.log" "${run[@]}" -R "$name"
    fi
  done < <(sed -nE 's/^\t *[0-9]+ - (\S+) (\(.*)$/\1 \2/p' "$log")
  [ "$bad" = 0 ] || fail "$bad" 'tests that ctest does not name' "$log" "${run[@]}"
  [ "$failed" = "$before" ]
}

run_ctest() { c_tests build; }

# One test requests too much memory.
sanitizer_options() {
  export ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1:detect_leaks=$1
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
}

run_asan_ctest() { sanitizer_options 1 && c_tests build-sanitized; }

run_threads() {
  scripts/build build-thread -DDPT_WERROR=ON -DDPT_SANITIZE=thread &&
    cmake --build build-thread --target dpt_emulated -- --quiet
}

# Tests of concurrency; comm_spec and copy_spec delay streams themselves.
run_tsan() {
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  c_tests build-thread 'stream|event|alloc|storage|comm|copy|device|worker|trace'
}

# Checks the lock annotations of csrc/base/lock.h in every file that includes it.
run_thread_safety() {
  local flags
  flags=(-fsyntax-only -std=gnu11 -Icsrc -I/usr/include/luajit-2.1 -DDPT_THREAD_SAFETY
    -DDPT_VERSION='"0"' -DDPT_BLAS_FILE=NULL -Werror -Wthread-safety
    -fexperimental-late-parse-attributes)
  files 'csrc/*.c' | grep -vE '\.inc\.c$|^csrc/(host/rows_|mpi/)|/product_avx' |
    xargs grep -lE '"(base|device|comm|distributed|worker)/' |
    xargs -n 16 -P 2 clang-19 "${flags[@]}"
}

# dpt_path: adds the source tree to Lua's path.
dpt_path() { export LUA_PATH="$PWD/lua/?.lua;$PWD/lua/?/init.lua;${LUA_PATH-;}"; }

# specs_together FILE...: runs busted. A file of which a test failed is repeated once.
# spec/support/helper.lua writes DPT_SPEC_RECORD.
runner=(busted) options=()
specs_together() {
  local log good='' bad status count file title before=$failed
  next_log
  : >"$work/record"
  DPT_SPEC_RECORD=$work/record "${runner[@]}" -o plainTerminal "${options[@]}" "$@" \
    >"$log" 2>&1 </dev/null
  status=$?
  read -r good bad < <(sed -n 's/^end\t//p' "$work/record")
  if [ -z "$good" ] || [ $((bad == 0 && status != 0)) = 1 ]; then
    file=$(grep '^start' "$work/record" | tail -1 | cut -f2)
    fail 1 "${file:-busted} ended the process with status $status" "$log" \
      "${runner[@]}" "${options[@]}" "${file:-$*}"
    return 1
  fi
  tests "$good" 0
  if [ "$bad" = 0 ]; then rm "$log"; return 0; fi
  sed -i -E 's/^[-+*.]{8,}//' "$log" # the row of signs, one for each test
  while read -r count file; do
    title=$(awk -F'\t' -v file="$file" '$1 == "failure" && $2 == file {print $3}' "$work/record" |
      paste -sd';')
    if excused "$file" "$title" "$log" "$serious" "${runner[@]}" "${options[@]}" "$file"; then
      tests "$count" 0
    else
      fail "$count" "$file: $title" "$log" "${runner[@]}" "${options[@]}" "$file"
    fi
  done < <(grep '^failure' "$work/record" | cut -f2 | sort | uniq -c)
  [ "$failed" = "$before" ]
}

# specs FILE
# FOLDER ...: runs ten files per process; in one that runs hundreds, collecting garbage, which many
# specs do, takes half of the time.
specs() {
  local list i
  dpt_path
  ls -d "${@:?}" >/dev/null || tests 0 1
  mapfile -t list < <(find "$@" -name '*_spec.lua' | sort)
  for ((i = 0; i < ${#list[@]}; i += 10)); do
    specs_together "${list[@]:i:10}"
  done
}

# others [PATTERN]: prints the specs except those of spec/nn, of ranks and of folders that match
# PATTERN.
others() {
  find spec -name '*_spec.lua' |
    grep -vE "^spec/(nn|distributed|torture/(rank|host|job)s_spec${1:+|$1})" | sort
}

run_specs_nn() { specs spec/nn; }

# shellcheck disable=SC2046 # several files, here and below
run_specs_others() { specs $(others); }

# LuaJIT itself is not instrumented: its accesses to dpt's memory are checked, its own leaks are
# not. Specs tagged #noasan limit memory or start programs.
sanitized_specs() {
  sanitizer_options 0
  export DPT_LIBRARY=$PWD/build-sanitized/libdpt.so
  options=(--exclude-tags=noasan)
  LD_PRELOAD=$(gcc -print-file-name=libasan.so) specs "$@"
}

# Runs the kernels of csrc/cuda on the CPU: with sanitizers, under which a kernel costs several
# times as much, the specs that call each kernel; without sanitizers the other specs.
run_asan_emulated() {
  DPT_DEVICES=emulated:2 sanitized_specs spec/tensor spec/optim spec/nn/[a-z]*_spec.lua
  DPT_DEVICES=emulated:2 DPT_CUDA_REDUCED=1 \
    sanitized_specs spec/nn/{attention_devices,reduced}_spec.lua
}

# Eight devices, the most that a spec uses, whose queues are threads that delay some items; with
# --full also two devices, whose kernels run when they are queued, and the specs of asan_emulated.
emulated() {
  DPT_DEVICES=emulated:8 DPT_EMULATED_ASYNC=1 DPT_EMULATED_DELAY=300 specs "$@"
  [ "$DPT_TORTURE" != full ] || DPT_DEVICES=emulated:2 specs "$@"
}

run_emulated_nn() { emulated spec/nn/[A-Z]*_spec.lua; }

run_emulated_others() {
  emulated $(others "$([ "$DPT_TORTURE" = full ] || echo 'tensor|optim|torture')")
  DPT_DEVICES=emulated:2 specs spec/device
}

# Host devices: their streams and memory, and operations without a kernel in csrc/cuda.
run_asan_host() {
  sanitized_specs spec/{cudnn,device,file,image,rnn} \
    spec/torture/{devices,errors,image,training}_spec.lua
}

run_delay() {
  export DPT_DELAY=$DPT_SEED
  sanitized_specs spec/{comm,parallel,threads} spec/nn/DataParallelTable_spec.lua
}

# Checks the order of streams by events, with CUDA's plugin and its kernels: a missing wait is a
# data race, even if the numbers are right; a planted race must be reported.
# LuaJIT itself is not instrumented, and shells do not run under ThreadSanitizer.
run_tsan_emulated() {
  local library log
  library=$(gcc -print-file-name=libtsan.so)
  export DPT_DEVICES=emulated:3 DPT_EMULATED_ASYNC=1 DPT_EMULATED_DELAY=300 OMP_NUM_THREADS=1
  export DPT_LIBRARY=$PWD/build-thread/libdpt.so
  export TSAN_OPTIONS=halt_on_error=1:exitcode=66:suppressions=$PWD/spec/support/tsan.txt
  runner=(luajit spec/support/busted.lua) options=(--exclude-tags=notsan,noasan,hostonly)
  LD_PRELOAD=$library specs \
    spec/comm/{coalesce,init_peers,nccl}_spec.lua spec/device/{graph,scope}_spec.lua \
    spec/nn/DataParallelTable_{rnn,split}_spec.lua \
    spec/parallel/dispatch/{random,threads}_spec.lua spec/parallel/params/overlap_spec.lua
  next_log
  LD_PRELOAD=$library DPT_EMULATED_FAULT=wait "${runner[@]}" "${options[@]}" \
    spec/comm/coalesce_spec.lua >"$log" 2>&1 </dev/null
  if [ $? = 66 ] && grep -q 'ThreadSanitizer: data race' "$log"; then
    tests 1 0
  else
    fail 1 'a planted race is not reported' "$log" "${runner[@]}" spec/comm/coalesce_spec.lua
  fi
}

# A fiftieth of what --full runs, the same at every change: if it fails, the change is the cause.
# --full draws different cases.
run_fuzz() {
  [ "$DPT_TORTURE" = full ] || export DPT_SEED=1
  export DPT_FUZZ=50
  sanitized_specs spec/torture/{fuzz,api,geometry,bytes,allocation,aliasing}_spec.lua
  DPT_DEVICES=emulated:2 sanitized_specs spec/torture/{api,geometry}_spec.lua
}

# NCCL does the sums and broadcasts.
run_nccl() {
  export DPT_DEVICES=emulated:8 DPT_SPEC_TRANSPORT=nccl DPT_NCCL=$PWD/build/libnccl_fake.so
  specs spec/comm spec/parallel/params spec/nn/DataParallelTable_{spec,tables_spec}.lua
}

run_ranks() { specs spec/distributed; }

run_ranks_more() {
  export DPT_RANKS=5
  [ "$DPT_TORTURE" != full ] || DPT_RANKS='5 8'
  specs spec/distributed/{init,training,bits,resume,user_issues}_spec.lua \
    spec/torture/{ranks,hosts,jobs}_spec.lua
}

run_ranks_asan() { sanitized_specs spec/distributed; }

# LuaJIT's job of several processes does not run under ThreadSanitizer.
run_ranks_tsan() {
  local n
  export TSAN_OPTIONS=halt_on_error=1:exitcode=66:suppressions=$PWD/spec/support/tsan.txt
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  for n in 2 3; do
    timeout 300 mpirun -n $n --bind-to none --oversubscribe build-thread/ranks_spec || tests 0 1
    DPT_DELAY=$DPT_SEED timeout 300 \
      mpirun -n $n --bind-to none --oversubscribe build-thread/ranks_spec || tests 0 1
  done
}

# golden [MODE]: runs and counts the recorded cases.
golden() {
  local output
  output=$(scripts/golden "$@") || tests 0 1
  echo "$output"
  tests "$(grep -oE '[0-9]+ rows pass' <<<"$output" | awk '{n += $1} END {print n + 0}')" 0
}

run_golden() { golden && DPT_DEVICES=emulated:2 golden device; }

# Runs products and their users, and the recorded cases, with the kernel sets of OpenBLAS for older
# CPUs: the other steps run the set of this CPU.
run_kernels() {
  local set flag isa
  while read -r set flag isa; do
    grep -qw "$flag" /proc/cpuinfo || continue
    export OPENBLAS_CORETYPE=$set DPT_ISA=$isa
    specs spec/tensor spec/optim spec/rnn spec/cudnn spec/nn/[a-z]*_spec.lua \
      spec/nn/DataParallelTable_{spec,original_bits_spec,tables_spec}.lua
    golden host
  done <<'SETS'
Prescott avx2 sse2
Haswell avx512vl avx2
SETS
}

run_browser() { dpt_path && specs_together spec/support/browser.lua; }

run_docs() { dpt_path && scripts/docs --check && scripts/docs --html "$work"; }

run_prompt() { dpt_path && specs_together spec/support/prompt.lua; }

# For one architecture: warnings of the compiler are the same for all.
run_cuda() {
  if ! command -v nvcc >/dev/null && [ ! -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    note 'cuda: not built: nvcc not found'
    return 0
  fi
  scripts/build build-cuda -DDPT_WERROR=ON -DBUILD_TESTING=OFF -DDPT_CUDA=ON \
    -DDPT_CUDA_ARCHITECTURES=90-virtual &&
    cmake --build build-cuda --target libraries_spec -- --quiet && build-cuda/libraries_spec
}

# Instructions are emulated: the tests at a tenth of their counts take minutes.
run_arm64() {
  if [ "$DPT_TORTURE" != full ]; then note 'arm64: not run, only with --full'; return 0; fi
  scripts/setup --full && scripts/test.d/arm64.sh || return 1
  DPT_TORTURE=tenth c_tests build-arm64
  printf '#!/bin/sh\nexec "%s" luajit "$@"\n' "$PWD/scripts/test.d/arm64.sh" >"$work/luajit"
  chmod +x "$work/luajit"
  export DPT_LUAJIT=$work/luajit DPT_LIBRARY=$PWD/build-arm64/libdpt.so
  DPT_DEVICES=host:2 golden
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

# No memory may leak, and the bytes still reachable at exit (caches of libraries, thread-local
# memory) may not grow with the number of networks. The JIT compiler is off: valgrind cannot follow
# code generated at run time.
run_leaks() {
  local few many_bytes many=10
  dpt_path
  at_end() { # NETWORKS: prints the bytes still reachable at exit, fails if any are lost
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
  echo "bytes reachable at exit after 2 networks: $few; after $many: $many_bytes; none lost"
  [ $((many_bytes - few)) -lt 16384 ]
}

# expect TEXT COMMAND...: checks a command's output in another directory, without Lua's variables.
expect() {
  local wanted=$1 got
  shift
  got=$(cd / && env -u LUA_PATH -u LUA_CPATH "$@" 2>&1)
  if [ "$got" = "$wanted" ]; then tests 1 0; return; fi
  echo "wanted '$wanted', got '$got' from: $*"
  tests 0 1
}

# command_works BIN: checks the output of an installation's command.
command_works() {
  echo 'print(torch.ones(2, 3):sum(), #arg, arg[1])' >"$work/program.lua"
  expect $'6\t1\tword' "$1/dpt" "$work/program.lua" word
  expect "dpt $(sed -nE 's/^project.dpt VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)" \
    "$1/dpt" --version
  ln -sf "$1/dpt" "$work/link"
  expect '6' "$work/link" -e 'print(torch.ones(2, 3):sum())'
  expect 'true' sh -c "'$1/dpt' doctor | grep -q 'all is well' && echo true"
  expect 'nn.Linear(inputSize, outputSize, [bias])' \
    sh -c "'$1/dpt' help nn.Linear | head -1"
}

run_install() {
  cmake --install build --prefix "$work/prefix" || return 1
  command_works "$work/prefix/bin" && has_files "$work/prefix/lua" "$work/prefix/share/doc/dpt"
}

# has_files LUA DOC: checks that every Lua file, pages and examples are installed.
has_files() {
  expect "$(cd lua && find . -name '*.lua' | sort)" \
    sh -c "cd '$1' && find ./dpt ./image -name '*.lua' | sort"
  expect '4' bash -c "cd '$2' &&
    ls docs/start.md docs/reference/{README,image}.md examples/digits.lua | wc -l"
}

# A private tree, like a user's. luarocks builds in the source folder, so it builds a copy, and this
# tree is unchanged.
run_rock() {
  local tree=$work/tree paths
  mkdir "$tree" "$work/source"
  files '*' | grep -v '^spec/' | tar -c -T - | tar -x -C "$work/source"
  if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache; fi
  export CCACHE_BASEDIR=$work/source CCACHE_NOHASHDIR=1
  "$work/source/scripts/rocks" --tree "$tree" >"$work/rock" 2>&1 ||
    { tail -40 "$work/rock"; return 1; }
  command_works "$tree/bin"
  has_files "$tree/share/lua/5.1" "$tree"/lib/luarocks/rocks-5.1/dpt/*/doc
  paths="eval \$(luarocks --lua-version 5.1 --tree '$tree' path)"
  expect '6' sh -c "$paths && luajit -e \"require 'dpt' print(torch.ones(2, 3):sum())\""
  expect "$tree/lib/lua/5.1/libdpt.so" sh -c "$paths
    luajit -e \"require 'torch'\" 2>/dev/null
    luajit -e \"require 'dpt' for l in io.lines('/proc/self/maps') do
      local p = l:match('(/%S*libdpt.so)') if p then print(p) break end end\""
  # each of the two rocks has its library, and none of the other's files
  expect "libdpt.so dpt libdpt_image.so image" sh -c "cd '$tree/lib/luarocks/rocks-5.1'
    for rock in dpt image; do
      grep -ohE 'libdpt(_image)?[.]so' \$rock/*/rock_manifest
      sed -n '/^   lua = {/,/^   }/s/^      \([a-z]*\) = {.*/\1/p' \$rock/*/rock_manifest
    done | xargs"
  expect '3 6 8' sh -c "$paths && luajit -e \"require 'dpt' local image = require 'image'
    local file = '$work/picture.jpg'
    image.save(file, torch.rand(3, 6, 8)) print(unpack(image.getSize(file):totable()))\" |
    tr '\t' ' '"
  # packages that depend on Torch7's packages, one for each stand-in: dpt satisfies the dependency,
  # and no server is contacted
  rock_of lower "'torch >= 7.0', 'nn', 'image', 'tds'" \
    "return function(t) return require('image').hflip(t):sum() + #require('tds').Vec(1, 2) end"
  rock_of upper "'lower', 'cunn', 'optim >= 1.0', $(sed -n "s/^names='\(.*\)'/\1/p" scripts/rocks |
    sed "s/[a-z]*/'&'/g; s/ /, /g"), 'image'" \
    "return function(n) return require('lower')(torch.ones(2, n)) end"
  rock_by_cmake middle '""'
  rock_by_cmake other middle.c
  for name in lower upper middle; do
    (cd "$work/$name" && PATH=$tree/bin:$PATH rock_make "$tree") >"$work/rock" 2>&1 ||
      { tail -40 "$work/rock"; tests 0 1; }
  done
  (cd "$work/other" && ! PATH=$tree/bin:$PATH rock_make "$tree") >"$work/rock" 2>&1
  grep -q "other: middle.c is made for Torch7's C library" "$work/rock" ||
    { tail -40 "$work/rock"; tests 0 1; }
  echo "print(require('upper')(3), require('middle')())" >"$work/program.lua"
  expect $'8\t5' sh -c "$paths && '$tree/bin/dpt' '$work/program.lua'"
}

# rock_make TREE: runs the command that a user types in a package's folder.
rock_make() { luarocks --lua-version 5.1 --tree "$1" --only-server "$work" make; }

# rock_of NAME DEPENDENCIES CODE [BUILD]: creates a made-up package in $work/NAME.
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

# rock_by_cmake NAME SOURCES: creates one that is built as most of Torch7's packages are.
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

# Unpacked, not installed, so the library is named; scripts/setup installs the dependencies. Unless
# DPT_CUDA is set, without the plugin, which the step `cuda` builds.
run_deb() {
  local root=$work/root list multi package
  multi=$(dpkg-architecture -qDEB_HOST_MULTIARCH) ||
    { note 'deb: not run: not a Debian system'; return 0; }
  DPT_CUDA=${DPT_CUDA-OFF} scripts/deb "$work/packages" >"$work/deb" 2>&1 ||
    { tail -40 "$work/deb"; return 1; }
  for package in "$work"/packages/*.deb; do
    dpkg-deb --info "$package" >/dev/null && dpkg-deb -x "$package" "$root" || return 1
  done
  list=$(dpkg-deb -f "$work"/packages/dpt_*.deb Depends)
  for package in libc6 libdnnl2 libsleef3 libgomp1 libopenblas0-pthread libedit2 libjpeg62-turbo \
    libpng16-16; do
    grep -qw "$package" <<<"$list" || { echo "dpt does not depend on $package"; tests 0 1; }
  done
  DPT_LIBRARY=$root/usr/lib/$multi/lua/5.1/libdpt.so DPT_LUAJIT=$root/usr/lib/dpt/luajit \
    command_works "$root/usr/bin"
  has_files "$root/usr/share/lua/5.1" "$root/usr/share/doc/dpt"
  expect 'nn.Linear' sh -c "zcat '$root/usr/share/man/man1/dpt.1.gz' | grep -o 'nn[.]Linear'"
  if command -v lintian >/dev/null; then lintian "$work"/packages/*.deb || tests 0 1; fi
}

# Applies the changes of docs/tour*.md to a copy of the tree and runs their specs.
run_tour() {
  local tree=$work/tree list
  mkdir "$tree"
  files '*' | tar -c -T - | tar -x -C "$tree"
  cd "$tree" || return 1
  list=$(luajit spec/support/tour.lua .) && git init -q && git add -A || return 1
  scripts/build build -DDPT_WERROR=ON -DDPT_CUDA=OFF && scripts/layers || return 1
  for devices in host:2 emulated:2; do
    # shellcheck disable=SC2086 # several files
    DPT_DEVICES=$devices specs $list spec/nn/empty_spec.lua
  done
}

# The lines "-- short: ARGUMENTS" of an example list its arguments here, one run for each.
run_examples() {
  local example words
  for example in $(files 'examples/*.lua'); do
    while read -r words; do
      echo "-- $example $words"
      # shellcheck disable=SC2086 # several words
      scripts/dpt "$example" $words </dev/null && tests 1 0 || tests 0 1
    done < <(sed -n 's/^-- short: //p' "$example")
  done
}

# run STEP FOLDER: runs a step and writes its results to the folder.
run() {
  local status cpu
  step=$1 results=$(realpath -m "$2") work=$(mktemp -d ${DPT_STEPS_TMP:+-p "$DPT_STEPS_TMP"})
  full=${DPT_TORTURE-}
  [ "$full" = full ] || full=
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$results"
  env | sort >"$work/env"
  "run_$step" >"$results/log" 2>&1 && [ $failed = 0 ]
  status=$?
  if [ $status != 0 ] && [ $recorded = no ]; then
    cat "$results/log"
    fail $((failed == 0)) "$step" "$results/log" scripts/test "$step"
  elif [ $((passed + failed)) = 0 ]; then
    passed=1
  fi
  times >"$work/times"
  cpu=$(awk -F'[ms ]' 'NR == 2 {printf "%.0f", $1 * 60 + $2 + $4 * 60 + $5}' "$work/times")
  echo "$passed $failed $SECONDS $cpu" >"$results/counts"
  return $status
}

[ "$0" != "${BASH_SOURCE[0]}" ] || run "$1" "build-steps/$1"
