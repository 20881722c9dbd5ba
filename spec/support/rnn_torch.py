"""Records the results of PyTorch's recurrent layers, for spec/cudnn/RNN_torch_spec.lua.

    python3 spec/support/rnn_torch.py > spec/support/rnn_torch.txt      (Debian: python3-torch)

All inputs are value(first, count), without random numbers, so that the spec creates the same ones.
A case is a line `case KEY=VALUE ...`, followed by lines `NAME numbers...`. Weights are flat, in the
order of dpt's files: the matrices of every layer and direction (input, recurrent, projection), then
their biases.
"""
import math
import torch

T, B, I, H = 4, 3, 2, 3


def value(first, *sizes):
    count = math.prod(sizes)
    numbers = [0.6 * math.sin(0.7 * first + 0.37 * k * (1 + 0.01 * first)) for k in range(count)]
    return torch.tensor(numbers, dtype=torch.float64).reshape(*sizes)


def parts(layer):
    """Returns the parameters in dpt's order."""
    def named(*kinds):
        for l in range(layer.num_layers):
            for end in ['', '_reverse'][:2 if layer.bidirectional else 1]:
                for kind in kinds:
                    if hasattr(layer, f'{kind}_l{l}{end}'):
                        yield getattr(layer, f'{kind}_l{l}{end}')
    return list(named('weight_ih', 'weight_hh', 'weight_hr')) + list(named('bias_ih', 'bias_hh'))


def show(name, tensor):
    print(name, ' '.join('%.10g' % x for x in tensor.detach().flatten().tolist()))


def record(cell, layers, directions, first, lengths, projection):
    make = {'relu': torch.nn.RNN, 'tanh': torch.nn.RNN, 'lstm': torch.nn.LSTM, 'gru': torch.nn.GRU}[cell]
    more = {'nonlinearity': cell} if cell in ('relu', 'tanh') else {}
    if projection:
        more['proj_size'] = projection
    layer = make(I, H, layers, batch_first=first, bidirectional=directions == 2, **more).double()
    total = sum(p.nelement() for p in parts(layer))
    flat, at = value(1, total), 0
    for p in parts(layer):
        p.data.copy_(flat[at:at + p.nelement()].view_as(p))
        at += p.nelement()
    print(f'case cell={cell} layers={layers} directions={directions} first={int(first)}'
          f' projection={projection} lengths={",".join(map(str, lengths)) or "-"}')
    out = projection or H
    x = value(2, *((B, T, I) if first else (T, B, I))).requires_grad_()
    h = value(3, layers * directions, B, out).requires_grad_()
    c = value(4, layers * directions, B, H).requires_grad_()
    given = x
    if lengths:
        given = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, first, enforce_sorted=False)
    y, states = layer(given, (h, c) if cell == 'lstm' else h)
    if lengths:
        y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, first, total_length=T)
    states = states if cell == 'lstm' else (states,)
    loss = (y * value(5, *y.shape)).sum()
    for k, s in enumerate(states):
        loss = loss + (s * value(6 + k, *s.shape)).sum()
    loss.backward()
    show('y', y)
    show('hn', states[0])
    show('gx', x.grad)
    show('gh', h.grad)
    if cell == 'lstm':
        show('cn', states[1])
        show('gc', c.grad)
    show('gw', torch.cat([p.grad.flatten() for p in parts(layer)]))


for case in [('relu', 1, 1, False, [], 0), ('relu', 2, 2, True, [2, 4, 3], 0),
             ('tanh', 1, 2, False, [4, 3, 1], 0), ('tanh', 3, 1, True, [], 0),
             ('lstm', 1, 1, False, [], 0), ('lstm', 2, 2, True, [], 0),
             ('lstm', 2, 1, False, [2, 4, 1], 0), ('lstm', 2, 2, False, [4, 4, 2], 2),
             ('gru', 1, 1, True, [], 0), ('gru', 2, 2, False, [], 0), ('gru', 3, 1, False, [1, 4, 3], 0)]:
    record(*case)
