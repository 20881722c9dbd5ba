-- `dpt launch`: mpirun's options.
local launch = require 'dpt.launcher.launch'

describe('dpt launch', function()
   local function line(what, about) return table.concat(launch.options(what, about), ' ') end

   it('fills in the options of Open MPI', function()
      local about = {library = 'mpirun (Open MPI) 4.1.4', cores = 4}
      assert.equal('mpirun -n 4 --bind-to none', line({n = 4}, about))
      assert.equal('mpirun -n 5 --bind-to none --oversubscribe', line({n = 5}, about))
      assert.equal('mpirun -n 9 --hostfile nodes --bind-to none',
         line({n = 9, hosts = 'nodes'}, about))
      about.root = true
      assert.equal('mpirun -n 1 --bind-to none --allow-run-as-root', line({n = 1}, about))
   end)

   it('fills in those of MPICH', function()
      assert.equal('mpirun -n 9 -f nodes', line({n = 9, hosts = 'nodes'},
         {library = 'HYDRA build details: 4.0.2', cores = 4, root = true}))
   end)

   it('says how it is used', function()
      local function run(words)
         local pipe = io.popen('scripts/dpt launch ' .. words .. ' 2>&1; echo $?')
         local text = pipe:read '*a'
         pipe:close()
         return text
      end
      assert.matches('usage: dpt launch.*\n0\n$', run '--help')
      for _, words in ipairs{'', '-n 0 file', '-n two file', '-n 2', '-m 2 file'} do
         assert.matches('usage: dpt launch.*\n2\n$', run(words), words)
      end
   end)
end)
