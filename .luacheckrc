-- luacheck's settings: LuaJIT, 100 columns; Torch7's global names are known everywhere.
std = 'luajit'
max_line_length = 100
self = false -- a method need not use its object
read_globals = {'torch', 'nn', 'cunn', 'cutorch', 'cudnn', 'optim', 'threads', 'nccl', 'xlua', 'paths',
   'sys', 'include', '__threadid'}
files['spec'] = {std = '+busted'}
files['.busted'] = {globals = {'arg'}} -- which it quotes
-- what jobs define are globals of other Lua states
files['spec/threads'] = {std = '+busted', allow_defined = true}
-- specs catch what is printed
files['spec/util'] = {std = '+busted', globals = {'io'}}
files['scripts/golden'] = {std = 'luajit'}
-- recorded as they ran on the original Torch7: not reformatted
files['spec/golden/cases'] = {max_line_length = false, ignore = {'1..', '2..', '4..', '5..', '6..'}}
files['spec/golden/t7'] = {max_line_length = false, ignore = {'1..', '2..', '4..', '5..', '6..'}}
