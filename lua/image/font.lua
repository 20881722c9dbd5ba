--- image.font: the bitmap font of drawText, with up to 5 x 8 dots per character.
--
-- Invariant: each digit in base 32 (0 to 9, a to v) is a row of dots, from the top; its highest bit
-- is the left dot. The eighth row is below the baseline. Characters that are not in the list are
-- drawn as a box.
local text = [[
! 4444404  " aa00000  # aavavaa  $ 4fke5u4  % oo24833  & cik8lid  ' 4400000  ( 2488842
) 8422248  * 04le4l4  + 044v440  , 00000448 - 000v000  . 0000004  / 1124488  0 ehjlphe
1 4c4444e  2 eh1248v  3 eh161he  4 26aiv22  5 vgu11he  6 68guhhe  7 v124888  8 ehhehhe
9 ehhf12c  : 0400040  ; 04000448 < 248g842  = 00v0v00  > 8421248  ? eh12404  @ ehnlnge
A ehhvhhh  B uhhuhhu  C ehggghe  D sihhhis  E vgguggv  F vgguggg  G ehgnhhf  H hhhvhhh
I e44444e  J 72222ic  K hikokih  L ggggggv  M hrllhhh  N hpplnjh  O ehhhhhe  P uhhuggg
Q ehhhlid  R uhhukih  S fgge11u  T v444444  U hhhhhhe  V hhhhha4  W hhhllra  X hha4ahh
Y hhha444  Z v1248gv  [ e88888e  \ gg84211  ] e22222e  ^ 4ah0000  _ 0000000v ` 8400000
a 00e1fhf  b ggmphhu  c 00egghe  d 11djhhf  e 00ehvge  f 698s888  g 00fhhf1e h ggmphhh
i 40c444e  j 206222ic k ggikoki  l c44444e  m 00qlllh  n 00mphhh  o 00ehhhe  p 00uhhugg
q 00fhhf11 r 00mpggg  s 00fge1u  t 88s8896  u 00hhhjd  v 00hhha4  w 00hhlla  x 00ha4ah
y 00hhhf1e z 00v248v  { 2448442  | 4444444  } 8442448  ~ 0008l20
]]

local rows = {[' '] = '', ['\t'] = ''}
for character, digits in text:gmatch '(%S) (%w+)' do rows[character] = digits end

local font = {}

--- font.dots(character): iterates over the character's dots: returns column and row, from 0.
function font.dots(character)
   local digits, row, column = rows[character] or 'vhhhhhv', 1, -1
   return function()
      while row <= #digits do
         column = column + 1
         if column == 5 then
            row, column = row + 1, -1
         elseif math.floor(tonumber(digits:sub(row, row), 32) / 2 ^ (4 - column)) % 2 == 1 then
            return column, row - 1
         end
      end
   end
end

return font
