# SPDX-License-Identifier: Apache-2.0
"""What is trained: a small CNN on handwritten digits, and small transformers on Python's own help.

The digits are those of tests/data. The text is pydoc_data.topics, which every Python has. Both are
the same on all ranks, and so are the batches, of which each rank takes its part.
"""

import pathlib
import sys

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples/pytorch"))
from digits import load  # noqa: E402

CONTEXT = 64  # characters that the transformer sees


class Digits:
    """1000 images of 8 x 8 pixels for training, 797 for testing: then an image is 0.13 %."""

    name, words, batch, steps, every = "cnn", "CNN, digits", 16, 300, 10

    def __init__(self):
        images, labels = (torch.cat([load(f"{part}-{kind}") for part in ("train", "test")])
                          for kind in ("images-idx3", "labels-idx1"))  # fmt: skip
        images, labels = images[:, None].float() / images.max(), labels.long()
        self.images, self.labels, self.tests = images[:1000], labels[:1000], (images[1000:], labels[1000:])

    def network(self):
        """1.7 million parameters, most of them behind the convolutions."""
        return nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10),
        )  # fmt: skip

    def optimizer(self, network):
        """SGD with momentum."""
        return torch.optim.SGD(network.parameters(), 0.1, momentum=0.9)

    def examples(self, count, random):
        """A batch: images moved by a pixel or not, and labels."""
        chosen = torch.randint(len(self.images), (count,), generator=random)
        x, y = torch.randint(-1, 2, (2,), generator=random).tolist()
        return torch.roll(self.images[chosen], (y, x), (2, 3)), self.labels[chosen]

    def loss(self, network, examples):
        """The mean cross entropy."""
        return nn.functional.cross_entropy(network(examples[0]), examples[1])

    def accuracy(self, network):
        """The share of test images that it knows."""
        with torch.no_grad():
            return (network(self.tests[0]).argmax(1) == self.tests[1]).float().mean().item()


class Transformer(nn.Module):
    """Predicts the next character from those before it."""

    def __init__(self, letters, width, layers):
        super().__init__()
        self.letters, self.places = nn.Embedding(letters, width), nn.Parameter(0.02 * torch.randn(CONTEXT, width))
        nn.init.normal_(self.letters.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, letters)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT), persistent=False)

    def forward(self, text):
        """Scores for each character that may come next."""
        return self.out(self.norm(self.layers(self.letters(text) + self.places, self.mask, is_causal=True)))


class Text:
    """Half a million characters; the last twentieth is for testing."""

    name, words, batch, steps, every, width, layers = "transformer", "transformer, text", 8, 300, 10, 128, 2

    def __init__(self):
        import pydoc_data.topics

        topics = pydoc_data.topics.topics
        text = "".join(topics[name] for name in sorted(topics))
        text = "".join(c if c == "\n" or " " <= c <= "~" else "?" for c in text)
        self.alphabet = sorted(set(text))
        number = {c: i for i, c in enumerate(self.alphabet)}
        text = torch.tensor([number[c] for c in text])
        cut = len(text) - len(text) // 20
        self.text = text[:cut]
        held = text[cut:][: 256 * (CONTEXT + 1)].view(-1, CONTEXT + 1)
        self.tests = held[:, :-1], held[:, 1:]

    def network(self):
        """A transformer of two layers."""
        return Transformer(len(self.alphabet), self.width, self.layers)

    def optimizer(self, network):
        """Adam."""
        return torch.optim.Adam(network.parameters(), 2e-3)

    def examples(self, count, random):
        """A batch: pieces of text, and the same one character later."""
        begins = torch.randint(len(self.text) - CONTEXT, (count, 1), generator=random)
        pieces = self.text[begins + torch.arange(CONTEXT + 1)]
        return pieces[:, :-1], pieces[:, 1:]

    def loss(self, network, examples):
        """The mean cross entropy."""
        return nn.functional.cross_entropy(network(examples[0]).flatten(0, 1), examples[1].flatten())

    def accuracy(self, network):
        """The share of characters that it expects."""
        with torch.no_grad():
            return (network(self.tests[0]).argmax(2) == self.tests[1]).float().mean().item()


class Wide(Text):
    """The same, with 25 MB of gradients and little to compute: what an exchange costs."""

    name, words, batch, width = "wide", "wide transformer, 25 MB", 1, 504


TASKS = {task.name: task for task in (Wide, Digits, Text)}
