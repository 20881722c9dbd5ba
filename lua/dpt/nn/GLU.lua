--- nn.GLU(dim): PyTorch's name of nn.GatedLinearUnit: y = a sigmoid(b), where a and b are the
-- halves of the input along dimension dim (-1, the last one).
-- @function nn.GLU
-- @within nn transfer
-- @as layer
-- @return a module; forward: a tensor with an even size along dim -> half of that size
-- @follows PyTorch's GLU
-- @usage nn.GLU(1):forward(torch.Tensor{{2, 4}, {0, 0}}) --> [1 2]

return (require('dpt.tensor').class('nn.GLU', 'nn.GatedLinearUnit'))
