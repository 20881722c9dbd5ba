--- Lists arguments of tensor functions, so that fuzzed calls reach their kernels: letters of
-- spec.support.fuzz.values for the arguments after the tensor, with bars between several forms.
--
-- Invariant: a line here is only a hint: a function without a line gets arguments of any kind.
local core = require 'dpt.tensor.core'

local text = [[
add csub: n | x | n x | x n x | x x
mul div mod fmod remainder bitand bitor bitxor lshift rshift pow: n | x n
cmul cdiv cpow cmod cremainder cfmod cbitand cbitor cbitxor clshift crshift atan2: x | x x
cmax cmin gt lt ge le eq ne: x | n | x x | x n
addcmul addcdiv: x x | n x x | x n x x
lerp: x n
clamp: n n
addmm addmv addr addbmm baddbmm: x x | n x x | n n x x | x x x
mm mv bmm ger dot dist cross: x
abs acos asin atan ceil cos cosh erf exp floor frac log log1p neg cinv round rsqrt sigmoid sign sin
sinh sqrt tan tanh trunc all any zero isContiguous nElement nDimension size stride storage
storageOffset numel totable clone contiguous squeeze t var std nonzero diag real
trace inverse: | d
sum prod mean max min median mode var std cumsum cumprod norm: | d | n d
sort topk kthvalue: | k d | d b | k d b b
renorm: n d n
narrow: d k k
select: d k
transpose: d d
unfold: d k k
chunk split: k | k d
cat: x | x d
index: d i
indexAdd indexCopy: d i x
indexFill: d i n
gather: d I
scatter scatterAdd: d I x | d I n
maskedFill: m n
maskedCopy: m x
maskedSelect: m
expand view reshape resize repeatTensor permute: s | S
expandAs viewAs resizeAs copy copyAsync typeAs isSameSizeAs isSetTo isSize equal: x
unsqueeze squeeze: d
set: | x | o | o k S | o k s
type: | t
fill: n
map: x f
map2: x x f
apply: f
random: | k | k k | G k
uniform normal cauchy logNormal: | n n | G n n
bernoulli geometric exponential: | n | x | G n
multinomial: k | k b | G k b
multinomialAlias: x
ones zeros rand randn: s | S
linspace logspace range: n n | n n k
randperm: k | G k
eye: k | k k
tril triu diag: | d
conv2 xcorr2 conv3 xcorr3: x | x w
histc bhistc: | k | k n n
eig symeig: | w | w w
svd qr geqrf potrf potri potrs: | w
gesv gels trtrs orgqr ormqr: x | x x
pstrf: | n
lt: x
onesLike zerosLike:
string: w
]]

local M = {}
for _, name in pairs(core.methodNames) do M[name] = {'', ' d'} end
for names, forms in text:gmatch '([^:]+):([^\n]*)\n' do
   for name in names:gmatch '%S+' do
      M[name] = M[name] or {}
      for form in (forms .. '|'):gmatch '([^|]*)|' do table.insert(M[name], form) end
   end
end

return M
