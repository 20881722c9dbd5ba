--- nn.CMaxTable(): the elementwise maximum over the tensors of the input table.

local tableextremum = require 'dpt.nn.tableextremum'

return tableextremum.define('nn.CMaxTable', 'gt', 'cmax')
