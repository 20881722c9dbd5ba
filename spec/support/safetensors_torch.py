# Records PyTorch's results for a small ResNet and an LSTM: weights, an input, the output. With FILE,
# checks that PyTorch computes the recorded output from a file written by dpt.
# Usage: python spec/support/safetensors_torch.py resnet|lstm RECORDED [FILE]
import sys
import torch
from torch import nn
from safetensors.torch import load_file, save_file


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.downsample = nn.Sequential(
            nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
        ) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + self.downsample(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(Block(4, 4, 1))
        self.layer2 = nn.Sequential(Block(4, 8, 2))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return self.fc(self.layer2(self.layer1(x)).mean((2, 3)))


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, num_layers=2, bidirectional=True)
        self.fc = nn.Linear(6, 2)

    def forward(self, x):
        return self.fc(self.lstm(x)[0])


torch.manual_seed(1)
net = ResNet() if sys.argv[1] == 'resnet' else LSTM()
x = torch.randn(2, 3, 8, 8) if sys.argv[1] == 'resnet' else torch.randn(5, 2, 4)
if len(sys.argv) > 3:
    recorded = load_file(sys.argv[2])
    weights = load_file(sys.argv[3])
    print(net.load_state_dict(weights, strict=False))
    net.eval()
    print((net(recorded['input']) - recorded['output']).abs().max().item() < 1e-5)
else:
    for _ in range(3):
        net(x)  # updates running statistics
    net.eval()
    with torch.no_grad():
        for name, p in net.named_parameters():
            p.add_(0.1 * torch.randn_like(p))
        tensors = dict(net.state_dict(), input=x, output=net(x))
    save_file({k: v.contiguous() for k, v in tensors.items()}, sys.argv[2])
