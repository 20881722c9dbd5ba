--- dpt.tensor.linalg: matrix and vector products, triangles, convolutions, factorizations.
--
-- Invariant: a result passed to mm, mv, ger or bmm is not resized, as in Torch7; all other results
-- are. Letters such as 'U' and 'T' are LAPACK's and are passed to C unchanged.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local sizes = require 'dpt.tensor.sizes'
local lib, fail = dptffi.lib, dptffi.fail
local istype, tensorType, fresh = dptffi.ffi.istype, core.tensorType, core.fresh
local type = dptffi.type
local define, dimension, checkInteger = core.define, core.dimension, core.checkInteger
local torch, usage, INT, ON_DEVICE = class.torch, core.usage, dptffi.C.DPT_I32, core.ON_DEVICE

local function isTensor(v) return istype(tensorType, v) end

-- plain products ----------------------------------------------------------------------------------

--- By name: the C function, the number of dimensions of each operand, and the operand dimensions
-- that give the result's size: {1, 0} is dimension 0 of the first operand.
local products = {
   mm = {'addmm', 2, 2, {{1, 0}, {2, 1}}},
   mv = {'addmv', 2, 1, {{1, 0}}},
   ger = {'addr', 1, 1, {{1, 0}, {2, 0}}},
   bmm = {'baddbmm', 3, 3, {{1, 0}, {1, 1}, {2, 2}}},
}

--- [r] a b
for name, product in pairs(products) do
   local multiply, na, nb, shape = lib[product[1]], product[2], product[3], product[4]
   define(name, function(a, b, c)
      local r, x, y = a, b, c
      if c == nil then r, x, y = nil, a, b end
      if not isTensor(x) or not isTensor(y) or (r and not isTensor(r)) then
         usage(name, '[result] tensor tensor', a, b, c)
      end
      if x.ndim_ ~= na or y.ndim_ ~= nb then
         fail('%s: got %s and %s, wanted %d and %d dimensions', name, core.describeSize(x),
            core.describeSize(y), na, nb)
      end
      for d = 1, #shape do
         local from = shape[d][1] == 1 and x or y
         sizes.size[d - 1] = from.size_[shape[d][2]]
      end
      if not r then
         r = fresh(x.kind_)
         lib.resize_beside(r, #shape, sizes.size, x)
      else
         local fits = r.ndim_ == #shape
         for d = 0, #shape - 1 do fits = fits and r.size_[d] == sizes.size[d] end
         if not fits then
            fail('%s: the result is a %s, which does not match %s and %s', name,
               core.describeSize(r), core.describeSize(x), core.describeSize(y))
         end
      end
      multiply(r, 0, r, 1, x, y)
      return r
   end)
end

--- torch.addmm([r,] [beta,] m, [alpha,] a, b); m:addmm([beta, alpha,] a, b); r:addmm(m, a, b)
local function sum(name, inPlace)
   local wanted = '[result] [beta] tensor [alpha] tensor tensor'
   local add = lib[name]
   return function(...)
      local tensors, before, after = {}, nil, nil
      for i = 1, select('#', ...) do
         local v = (select(i, ...))
         if isTensor(v) then
            tensors[#tensors + 1] = v
         elseif type(v) ~= 'number' then
            usage(name, wanted, ...)
         elseif after then
            before, after = after, v
         elseif #tensors == 0 then
            before = v
         else
            after = v
         end
      end
      local n = #tensors
      if n < 3 or n > 4 then usage(name, wanted, ...) end
      local m, a, b = tensors[n - 2], tensors[n - 1], tensors[n]
      local r = n == 4 and tensors[1] or inPlace and m or fresh(m.kind_)
      add(r, before or 1, m, after or 1, a, b)
      return r
   end
end
for _, name in ipairs{'addmm', 'addmv', 'addr', 'addbmm', 'baddbmm'} do
   torch[name] = sum(name, false)
   core.method(name, sum(name, true))
end

--- [r] a b [dim]
define('cross', function(a, b, c, d)
   local r, x, y, dim = a, b, c, d
   if not isTensor(c) then r, x, y, dim = nil, a, b, c end
   if not isTensor(x) or not isTensor(y) or (r and not isTensor(r)) then
      usage('cross', '[result] tensor tensor [dimension]', a, b, c, d)
   end
   r = r or fresh(x.kind_)
   lib.cross(r, x, y, dim and dimension('cross', x, dim) or -1)
   return r
end)

--- [r] x [k]
for _, name in ipairs{'diag', 'tril', 'triu'} do
   define(name, function(a, b, c)
      local r, x, k = a, b, c
      if not isTensor(b) then r, x, k = nil, a, b end
      if not isTensor(x) or (r and not isTensor(r)) then
         usage(name, '[result] tensor [diagonal]', a, b, c)
      end
      r = r or fresh(x.kind_)
      lib[name](r, x, k == nil and 0 or checkInteger(name, 'diagonal', k))
      return r
   end)
end

--- [r] x kernel ['F' | 'V']
for name, form in pairs{conv2 = {2, 1}, xcorr2 = {2, 0}, conv3 = {3, 1}, xcorr3 = {3, 0}} do
   define(name, function(a, b, c, d)
      local r, x, kernel, mode = a, b, c, d
      if not isTensor(c) then r, x, kernel, mode = nil, a, b, c end
      mode = mode or 'V'
      if not isTensor(x) or not isTensor(kernel) or (r and not isTensor(r))
         or (mode ~= 'V' and mode ~= 'F') then
         usage(name, "[result] tensor tensor ['F' or 'V']", a, b, c, d)
      end
      r = r or fresh(x.kind_)
      lib.conv(r, x, kernel, form[1], mode == 'F' and 1 or 0, form[2])
      return r
   end)
end

-- LAPACK ------------------------------------------------------------------------------------------

--- By name: results (one letter each: t for the operand's type, i for Int), number of operands, and
-- defaults of the remaining arguments.
local factorizations = {
   gesv = {'tt', 2}, gels = {'tt', 2}, trtrs = {'tt', 2, 'U', 'N', 'N'}, inverse = {'t', 1},
   symeig = {'tt', 1, 'N', 'U'}, eig = {'tt', 1, 'N'}, svd = {'ttt', 1, 'S'},
   potrf = {'t', 1, 'U'}, potri = {'t', 1, 'U'}, potrs = {'t', 2, 'U'},
   pstrf = {'ti', 1, 'U', -1}, qr = {'tt', 1}, geqrf = {'tt', 1}, orgqr = {'t', 2},
   ormqr = {'t', 3, 'L', 'N'},
}

--- Valid letters of the options of functions with several options.
local letters = {symeig = {'NV', 'UL'}, trtrs = {'UL', 'NT', 'NU'}, ormqr = {'LR', 'NT'}}

-- Returns the position of an option: the first from `at` on that accepts it; earlier ones may be
-- omitted.
local function findOption(name, form, at, option)
   for i = at, #form - 2 do
      if type(option) == type(form[i + 2])
         and (not letters[name] or letters[name][i]:find(option, 1, true)) then
         return i
      end
   end
   return at
end

--- Results with contiguous columns, as LAPACK returned them in Torch7; scripts can observe it.
local byColumns = {inverse = {true}, symeig = {false, true}, eig = {false, true},
   svd = {true, false, true}}

local function makeColumnMajor(r)
   if r.ndim_ ~= 2 or not r:isContiguous() then return end
   local copy = r:clone()
   r:resize(copy:size(2), copy:size(1))
   lib.transpose(r, r, 0, 1)
   lib.copy(r, copy)
end

for name, form in pairs(factorizations) do
   local kinds, operands = form[1], form[2]
   local wanted = ('[%s] %s%s'):format(('result '):rep(#kinds):sub(1, -2),
      ('tensor '):rep(operands):sub(1, -2), #form > 2 and ' [options]' or '')
   define(name, function(...)
      local tensors, options, at = {}, {}, 0
      for i = 1, select('#', ...) do
         local v = (select(i, ...))
         if isTensor(v) and at == 0 then
            tensors[#tensors + 1] = v
         else
            at = findOption(name, form, at + 1, v)
            options[at] = v
            if at > #form - 2 or type(v) ~= type(form[at + 2]) then usage(name, wanted, ...) end
         end
      end
      if #tensors == operands then
         for i = 1, #kinds do
            local kind = tensors[i].kind_
            if kinds:sub(i, i) == 'i' then kind = kind >= ON_DEVICE and INT + ON_DEVICE or INT end
            table.insert(tensors, i, fresh(kind))
         end
      elseif #tensors ~= #kinds + operands then
         usage(name, wanted, ...)
      end
      local n = #tensors
      for i = 1, #form - 2 do
         local option = options[i]
         if option == nil then option = form[i + 2] end
         tensors[n + i] = option
      end
      lib[name](unpack(tensors))
      for i, columns in pairs(byColumns[name] or {}) do
         if columns then makeColumnMajor(tensors[i]) end
      end
      return unpack(tensors, 1, #kinds)
   end)
end

--- Tags shared by the reference entries of linear algebra.
-- @pattern linearcall
-- @within linear algebra
-- @param result? tensor: output tensor; allocated if omitted
-- @return the result; several results in the order described
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Returns the sum of the products of corresponding elements.
-- @function torch.dot
-- @as linearcall
-- @also Tensor:dot()
-- @param x tensor: n elements
-- @param y tensor: n elements
-- @usage torch.dot(torch.Tensor{1, 2}, torch.Tensor{3, 4}) --> 11

--- Returns the product of two matrices.
-- @function torch.mm
-- @as linearcall
-- @also Tensor:mm()
-- @param a tensor: n x k
-- @param b tensor: k x m
-- @usage torch.mm(torch.Tensor{{1, 2}}, torch.Tensor{{3}, {4}}) --> [11]

--- Returns the product of a matrix and a vector.
-- @function torch.mv
-- @as linearcall
-- @also Tensor:mv()
-- @param a tensor: n x k
-- @param x tensor: k elements
-- @usage torch.mv(torch.Tensor{{1, 2}, {3, 4}}, torch.Tensor{1, 10}) --> [21 43]

--- Returns the products of corresponding matrices of two batches.
-- @function torch.bmm
-- @as linearcall
-- @also Tensor:bmm()
-- @param a tensor: B x n x k
-- @param b tensor: B x k x m
-- @usage torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 4, 5)):size() --> 2x3x5

--- Returns the outer product of two vectors, n x m.
-- @function torch.ger
-- @as linearcall
-- @also Tensor:ger()
-- @param x tensor: n elements
-- @param y tensor: m elements
-- @usage torch.ger(torch.Tensor{1, 2}, torch.Tensor{10, 20}) --> [10 20 20 40]

--- Returns beta c + alpha a b: a matrix plus the product of two matrices.
-- @function torch.addmm
-- @as linearcall
-- @also Tensor:addmm()
-- @param beta? number: factor of c (1)
-- @param c tensor: n x m
-- @param alpha? number: factor of the product (1)
-- @param a tensor: n x k
-- @param b tensor: k x m
-- @usage torch.addmm(torch.Tensor{{1}}, torch.Tensor{{2}}, torch.Tensor{{3}}) --> [7]

--- Returns beta y + alpha a x: a vector plus the product of a matrix and a vector.
-- @function torch.addmv
-- @as linearcall
-- @also Tensor:addmv()
-- @param beta? number: factor of y (1)
-- @param y tensor: n elements
-- @param alpha? number: factor of the product (1)
-- @param a tensor: n x k
-- @param x tensor: k elements
-- @usage torch.addmv(torch.Tensor{1}, torch.Tensor{{2}}, torch.Tensor{3}) --> [7]

--- Returns beta c + alpha x y': a matrix plus the outer product of two vectors.
-- @function torch.addr
-- @as linearcall
-- @also Tensor:addr()
-- @param beta? number: factor of c (1)
-- @param c tensor: n x m
-- @param alpha? number: factor of the product (1)
-- @param x tensor: n elements
-- @param y tensor: m elements
-- @usage torch.addr(torch.ones(1, 2), torch.Tensor{2}, torch.Tensor{3, 4}) --> [7 9]

--- Returns a matrix plus the sum of the products of two batches of matrices.
-- @function torch.addbmm
-- @as linearcall
-- @also Tensor:addbmm()
-- @param beta? number: factor of c (1)
-- @param c tensor: n x m
-- @param alpha? number: factor of the products (1)
-- @param a tensor: B x n x k
-- @param b tensor: B x k x m
-- @usage torch.addbmm(torch.ones(1, 1), torch.ones(3, 1, 2), torch.ones(3, 2, 1)) --> [7]

--- Returns a batch of matrices plus the products of two batches of matrices.
-- @function torch.baddbmm
-- @as linearcall
-- @also Tensor:baddbmm()
-- @param beta? number: factor of c (1)
-- @param c tensor: B x n x m
-- @param alpha? number: factor of the products (1)
-- @param a tensor: B x n x k
-- @param b tensor: B x k x m
-- @usage torch.baddbmm(torch.ones(2, 1, 1), torch.ones(2, 1, 3), torch.ones(2, 3, 1)) --> [4 4]

--- Returns the cross products of vectors along a dimension of size 3.
-- @function torch.cross
-- @as linearcall
-- @also Tensor:cross()
-- @param x tensor: of any size
-- @param y tensor: of the same size
-- @param dim? number: a dimension of size 3 (the first one)
-- @usage torch.cross(torch.Tensor{1, 0, 0}, torch.Tensor{0, 1, 0}) --> [0 0 1]

--- Returns the sum of the diagonal elements.
-- @function torch.trace
-- @as linearcall
-- @also Tensor:trace()
-- @param x tensor: a matrix
-- @usage torch.trace(torch.eye(3)) --> 3

--- Returns the diagonal of a matrix, or a matrix with the given diagonal.
-- @function torch.diag
-- @as linearcall
-- @also Tensor:diag()
-- @param x tensor: vector or matrix
-- @param k? number: index of the diagonal, positive above the main one (0)
-- @usage torch.diag(torch.Tensor{{1, 2}, {3, 4}}) --> [1 4]

--- Returns the lower triangle of a matrix; other elements are 0.
-- @function torch.tril
-- @as linearcall
-- @also Tensor:tril()
-- @param x tensor: a matrix
-- @param k? number: the last diagonal that is kept (0)
-- @usage torch.tril(torch.ones(2, 2)) --> [1 0 1 1]

--- Returns the upper triangle of a matrix; other elements are 0.
-- @function torch.triu
-- @as linearcall
-- @also Tensor:triu()
-- @param x tensor: a matrix
-- @param k? number: the first diagonal that is kept (0)
-- @usage torch.triu(torch.ones(2, 2)) --> [1 1 0 1]

--- Returns the inverse of a matrix.
-- @function torch.inverse
-- @as linearcall
-- @also Tensor:inverse()
-- @param a tensor: n x n
-- @usage torch.inverse(torch.Tensor{{2, 0}, {0, 4}}) --> [0.5 0 0 0.25]

--- Solves a x = b; returns x and the LU factors of a.
-- @function torch.gesv
-- @as linearcall
-- @also Tensor:gesv()
-- @param b tensor: n x k
-- @param a tensor: n x n
-- @usage (torch.gesv(torch.Tensor{{4}, {8}}, torch.Tensor{{2, 0}, {0, 4}})) --> [2 2]

--- Solves a least squares problem; returns the x that minimizes the norm of a x - b, and the
-- factors.
-- @function torch.gels
-- @as linearcall
-- @also Tensor:gels()
-- @param b tensor: m x k
-- @param a tensor: m x n of full rank
-- @usage (torch.gels(torch.Tensor{{4}, {8}}, torch.Tensor{{2, 0}, {0, 4}})) --> [2 2]

--- Solves a x = b for a triangular matrix a.
-- @function torch.trtrs
-- @as linearcall
-- @also Tensor:trtrs()
-- @param b tensor: n x k
-- @param a tensor: triangular n x n
-- @param uplo? string: 'U' or 'L'
-- @param trans? string: 'N' or 'T'
-- @param diag? string: 'N' or 'U'
-- @usage (torch.trtrs(torch.Tensor{{4}, {8}}, torch.Tensor{{2, 0}, {0, 4}})) --> [2 2]

--- Returns the eigenvalues of a symmetric matrix in ascending order, and its eigenvectors.
-- @function torch.symeig
-- @as linearcall
-- @also Tensor:symeig()
-- @param a tensor: symmetric n x n
-- @param mode? string: 'N' for eigenvalues only, 'V' for eigenvectors, too
-- @param uplo? string: 'U' or 'L': the triangle that is read
-- @usage (torch.symeig(torch.Tensor{{2, 0}, {0, 1}})) --> [1 2]

--- Returns the eigenvalues of a matrix as an n x 2 tensor of real and imaginary parts.
-- @function torch.eig
-- @as linearcall
-- @also Tensor:eig()
-- @param a tensor: n x n
-- @param mode? string: 'N' for eigenvalues only, 'V' for eigenvectors, too
-- @usage (torch.eig(torch.Tensor{{2, 0}, {0, 1}})) --> [2 0 1 0]

--- Returns the singular value decomposition U, S and V of a matrix: a = U diag(S) V'.
-- @function torch.svd
-- @as linearcall
-- @also Tensor:svd()
-- @param a tensor: m x n
-- @param mode? string: 'S' for the reduced decomposition, 'A' for the full one
-- @usage (select(2, torch.svd(torch.Tensor{{2, 0}, {0, 1}}))) --> [2 1]

--- Returns Q and R of a matrix: a = Q R with Q orthogonal and R upper triangular.
-- @function torch.qr
-- @as linearcall
-- @also Tensor:qr()
-- @param a tensor: m x n
-- @usage torch.qr(torch.ones(3, 2)):size() --> 3x2

--- Returns torch.qr's factorization in LAPACK's form: R with the reflectors, and their factors.
-- @function torch.geqrf
-- @as linearcall
-- @also Tensor:geqrf()
-- @param a tensor: m x n
-- @usage torch.geqrf(torch.ones(3, 2)):size() --> 3x2

--- Returns the matrix Q of the reflectors that torch.geqrf returned.
-- @function torch.orgqr
-- @as linearcall
-- @also Tensor:orgqr()
-- @param a tensor: first result of torch.geqrf
-- @param tau tensor: second result of torch.geqrf
-- @usage torch.orgqr(torch.geqrf(torch.eye(2))):size() --> 2x2

--- Multiplies a matrix by the Q of torch.orgqr.
-- @function torch.ormqr
-- @as linearcall
-- @also Tensor:ormqr()
-- @param a tensor: first result of torch.geqrf
-- @param tau tensor: second result of torch.geqrf
-- @param c tensor: n x k
-- @param side? string: 'L' or 'R', the side on which Q is
-- @param trans? string: 'N' or 'T'
-- @usage local a, tau = torch.geqrf(torch.eye(2))
--    return torch.ormqr(a, tau, torch.ones(2, 1)):size() --> 2x1

--- Returns the Cholesky factor of a positive definite matrix.
-- @function torch.potrf
-- @as linearcall
-- @also Tensor:potrf()
-- @param a tensor: positive definite n x n
-- @param uplo? string: 'U' or 'L'
-- @usage torch.potrf(torch.Tensor{{4, 0}, {0, 9}}) --> [2 0 0 3]

--- Solves a x = b, given the Cholesky factor of a.
-- @function torch.potrs
-- @as linearcall
-- @also Tensor:potrs()
-- @param b tensor: n x k
-- @param chol tensor: result of torch.potrf
-- @param uplo? string: 'U' or 'L'
-- @usage torch.potrs(torch.Tensor{{4}, {9}}, torch.Tensor{{2, 0}, {0, 3}}) --> [1 1]

--- Returns the inverse of a matrix, given its Cholesky factor.
-- @function torch.potri
-- @as linearcall
-- @also Tensor:potri()
-- @param chol tensor: result of torch.potrf
-- @param uplo? string: 'U' or 'L'
-- @usage torch.potri(torch.Tensor{{2, 0}, {0, 4}}) --> [0.25 0 0 0.0625]

--- Returns the pivoted Cholesky factor of a matrix and the order of its rows.
-- @function torch.pstrf
-- @as linearcall
-- @also Tensor:pstrf()
-- @param a tensor: positive semi-definite n x n
-- @param uplo? string: 'U' or 'L'
-- @usage (torch.pstrf(torch.Tensor{{4, 0}, {0, 1}})) --> [2 0 0 1]

--- Convolves 2-D images with kernels.
-- @function torch.conv2
-- @as linearcall
-- @also Tensor:conv2()
-- @param x tensor: H x W, or several planes
-- @param k tensor: the kernel
-- @param kind? string: 'V' for valid, 'F' for full
-- @usage torch.conv2(torch.ones(3, 3), torch.ones(2, 2)) --> [4 4 4 4]

--- Cross-correlates 2-D images with kernels: a convolution without flipping the kernel.
-- @function torch.xcorr2
-- @as linearcall
-- @also Tensor:xcorr2()
-- @param x tensor: H x W, or several planes
-- @param k tensor: the kernel
-- @param kind? string: 'V' for valid, 'F' for full
-- @usage torch.xcorr2(torch.ones(3, 3), torch.ones(2, 2)):size() --> 2x2

--- Convolves 3-D volumes with kernels.
-- @function torch.conv3
-- @as linearcall
-- @also Tensor:conv3()
-- @param x tensor: T x H x W, or several planes
-- @param k tensor: the kernel
-- @param kind? string: 'V' for valid, 'F' for full
-- @usage torch.conv3(torch.ones(3, 3, 3), torch.ones(2, 2, 2)):size() --> 2x2x2

--- Cross-correlates 3-D volumes with kernels: a convolution without flipping the kernel.
-- @function torch.xcorr3
-- @as linearcall
-- @also Tensor:xcorr3()
-- @param x tensor: T x H x W, or several planes
-- @param k tensor: the kernel
-- @param kind? string: 'V' for valid, 'F' for full
-- @usage torch.xcorr3(torch.ones(3, 3, 3), torch.ones(2, 2, 2)):sum() --> 64
