-- scripts/cuda-calls: the faults that it reports in files with planted faults.
local function check(text, name)
   local folder = os.tmpname()
   os.remove(folder)
   assert(os.execute('mkdir ' .. folder) == 0)
   local file = assert(io.open(folder .. '/' .. (name or 'kernel.cu'), 'w'))
   file:write('int f() {\n  return DPT_LAUNCH(k, 1, 1, 0, c) || cudaGetDevice(&n);\n}\n' .. text)
   file:close()
   local pipe = io.popen('scripts/cuda-calls ' .. folder)
   local said = pipe:read '*a'
   pipe:close()
   os.execute('rm -r ' .. folder)
   return said:match('^(.*)cuda%-calls: [^\n]*\n$')
end

describe('scripts/cuda-calls', function()
   it('accepts calls whose status is used', function()
      for _, good in ipairs{'  DPT__CUDA(cudaMemcpyAsync(to, from, n, kind, s));',
         '  cudaError_t e = cudaEventQuery(event);', '  (void)cudaGetLastError();',
         '  e = on ? cudaA(1) : cudaB(2);', '  // cudaGetDevice(&n);',
         '  DPT__CUBLAS(functions.cublasSetStream_v2(handle, s));',
         '  if (DPT_LAUNCH_COOPERATIVE(k, 1, 1, 0, c, x)) return 1;',
         '  puts("; cudaGetDevice(&n);");'} do
         assert.equal('', check(good), good)
      end
      assert.equal('', check('  return cudaStreamSynchronize(s);', 'stream.cu'))
   end)

   it('finds the planted faults', function()
      for bad, what in pairs{
         ['  cudaGetDevice(&n);'] = 'kernel.cu:4: the status of cudaGetDevice is ignored',
         ['  if (a) x = 1; else cudaGetDevice(&n);'] = 'ignored',
         ['  functions.cublasSetStream_v2(handle, s);'] = 'cublasSetStream_v2 is ignored',
         ['  nccl->ncclCommAbort(comm);'] = 'ncclCommAbort is ignored',
         ['  case 1: cudnnDestroy(h);'] = 'cudnnDestroy is ignored',
         ['  DPT_LAUNCH(k, 1, 1, 0, c);'] = 'the status of a launch is ignored',
         ['  k<<<1, 1>>>(x);'] = 'a launch outside DPT_LAUNCH',
         ['  return cudaLaunchKernel(k, 1, 1, a, 0, 0);'] = 'use DPT_LAUNCH',
         ['  return cudaMalloc(&p, n);'] = 'takes memory',
         ['  return cudaDeviceSynchronize();'] = 'only csrc/cuda/device code waits',
         ['  return cudaMemcpy(a, b, n, kind);'] = 'only csrc/cuda/device code waits',
      } do
         local said = check(bad)
         assert.is_truthy(said:find(what, 1, true), bad .. ': ' .. said)
      end
   end)
end)
