# SPDX-License-Identifier: Apache-2.0
"""Types of PyTorch's tensors."""

import torch

FLOATS = (torch.float32, torch.bfloat16, torch.float16)
"""Those whose sums may be compressed."""
