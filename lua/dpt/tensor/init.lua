--- dpt.tensor: tensors, storages and the torch.* functions over them; returns the table `torch`.
--
-- Invariant: the parts add to `torch` and to the method tables in this order; each requires only
-- the parts before it.
local class = require 'dpt.class'

require 'dpt.tensor.core'
require 'dpt.tensor.sizes'
require 'dpt.tensor.storage'
require 'dpt.tensor.indexing'
require 'dpt.tensor.construct'
require 'dpt.tensor.query'
require 'dpt.tensor.views'
require 'dpt.tensor.convert'
require 'dpt.tensor.print'
require 'dpt.tensor.pointwise'
require 'dpt.tensor.numbers'
require 'dpt.tensor.operators'
require 'dpt.tensor.reduce'
require 'dpt.tensor.gather'
require 'dpt.tensor.linalg'
require 'dpt.tensor.broadcast'
require 'dpt.tensor.einsum'
require 'dpt.tensor.create'
require 'dpt.tensor.random'
require 'dpt.tensor.system'

return class.torch
