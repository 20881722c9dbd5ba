--- nn.CMaxTable(): the elementwise maximum over the tensors of the input table.
-- @function nn.CMaxTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table of tensors of the same size -> their maximum
-- @usage nn.CMaxTable():forward{torch.Tensor{1, 9}, torch.Tensor{5, 5}} --> [5 9]

local tableextremum = require 'dpt.nn.tableextremum'

return tableextremum.define('nn.CMaxTable', 'gt', 'cmax')
