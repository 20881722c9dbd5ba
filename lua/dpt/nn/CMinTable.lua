--- nn.CMinTable(): the elementwise minimum over the tensors of the input table.

local tableextremum = require 'dpt.nn.tableextremum'

return tableextremum.define('nn.CMinTable', 'lt', 'cmin')
