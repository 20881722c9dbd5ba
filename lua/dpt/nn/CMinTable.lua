--- nn.CMinTable(): the elementwise minimum over the tensors of the input table.
-- @function nn.CMinTable
-- @within nn tables
-- @as layer
-- @return a module; forward: a table of tensors of the same size -> their minimum
-- @usage nn.CMinTable():forward{torch.Tensor{1, 9}, torch.Tensor{5, 5}} --> [1 5]

local tableextremum = require 'dpt.nn.tableextremum'

return tableextremum.define('nn.CMinTable', 'lt', 'cmin')
