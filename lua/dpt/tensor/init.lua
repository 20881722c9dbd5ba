--- dpt.tensor: tensors, storages and the torch.* functions over them; returns the table `torch`.
local class = require 'dpt.class'

return class.torch
