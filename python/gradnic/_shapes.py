# SPDX-License-Identifier: Apache-2.0
"""Tensors as the library and Gloo take them: contiguous. Results come back to their places."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any, Callable, Dict, List, Tuple

import torch
import torch.distributed as dist


def _lies_in_one_place(tensor: torch.Tensor) -> bool:
    """Whether several of a tensor's elements may lie in one place."""
    reach = 0
    for stride, size in sorted((stride, size) for stride, size in zip(tensor.stride(), tensor.shape) if size > 1):
        if stride <= reach:
            return bool(tensor.numel())
        reach += stride * (size - 1)
    return False


class Shapes:
    """The tensors of one call. `after` brings results to their places."""

    def __init__(self) -> None:
        self._after: List[Callable[[], None]] = []

    def input(self, tensor: torch.Tensor) -> torch.Tensor:
        """The values, contiguous."""
        return tensor.detach().contiguous()

    def place(self, tensor: torch.Tensor) -> torch.Tensor:
        """Where results go. Raises where several elements would go to one place."""
        tensor = tensor.detach()
        if _lies_in_one_place(tensor):
            raise ValueError("gradnic: several elements of the tensor for results lie in one place (expand()?): "
                             "clone it")
        return tensor

    def output(self, tensor: torch.Tensor, filled: bool = False) -> torch.Tensor:
        """A contiguous tensor for results. `filled`: with the values that are there."""
        tensor = self.place(tensor)
        if tensor.is_contiguous():
            return tensor
        copy = tensor.contiguous() if filled else torch.empty(tensor.shape, dtype=tensor.dtype)
        self.then(lambda: tensor.copy_(copy))
        return copy

    def then(self, step: Callable[[], Any]) -> None:
        """Adds a step for `after`."""
        self._after.append(step)

    @property
    def has_steps(self) -> bool:
        """Whether results are not yet in their places when the exchange is done."""
        return bool(self._after)

    def after(self) -> None:
        """Brings results to their places."""
        if not self._after:
            return
        with torch.no_grad():
            for step in self._after:
                step()


def rounded_to_odd(values: torch.Tensor) -> torch.Tensor:
    """float64 as float32 that a type of 16 bits can be rounded from, as if from float64.

    copy_() takes the same way, and rounds twice. Where float32 does not have the value, that of its
    neighbours is taken whose last bit is 1. It tells on which side of a tie the value is.
    """
    near = values.float()
    back = near.double()
    if torch.equal(back, values):
        return near
    even = (near.view(torch.int32) & 1 == 0) & (back != values)
    return torch.where(even, torch.nextafter(near, ((values - back) * torch.inf).float()), near)


def _mapped(given: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """An argument of a collective: a tensor, lists of them to any depth, or something else."""
    if isinstance(given, torch.Tensor):
        return change(given) if given.layout == torch.strided else given
    if isinstance(given, (list, tuple)):
        return [_mapped(each, change) for each in given]
    return given


def by_copies(call: Callable[..., Any], arguments: Tuple[Any, ...], into_first: bool) -> Any:
    """Starts a collective of Gloo, which knows memory only: it takes no notice of strides.

    `into_first`: results come into the first argument. What is not contiguous is copied.
    """
    shapes = Shapes()
    copies: Dict[int, torch.Tensor] = {}

    def result(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_contiguous():
            return tensor
        copy = shapes.output(tensor, filled=True)
        copies[id(copy)] = tensor
        return copy

    def values(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor.is_contiguous() else shapes.input(tensor)

    changed = [_mapped(each, result if into_first and not i else values) for i, each in enumerate(arguments)]
    work = call(*changed)
    if not shapes.has_steps:
        return work

    def original(value: Any) -> Any:
        return _mapped(value, lambda tensor: copies.get(id(tensor), tensor))

    return CopiedWork(work, shapes, original, changed)


class CopiedWork(dist._Work):
    """What Gloo does with copies. It is done when its results are in their places."""

    def __init__(self, work: Any, shapes: Shapes, original: Callable[[Any], Any], copies: List[Any]) -> None:
        """`original` puts the caller's tensors into a value of Gloo's, for their `copies`."""
        super().__init__()
        self._work, self._shapes, self._original, self._copies = work, shapes, original, copies
        self._lock = threading.Lock()
        self._placed = False

    def _place(self) -> None:
        with self._lock:
            if not self._placed:
                self._shapes.after()
                self._placed = True

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Waits until it is done, and raises what went wrong."""
        done: bool = self._work.wait(timeout)
        self._place()
        return done

    def is_completed(self) -> bool:
        """Whether it is done, well or not."""
        done: bool = self._work.is_completed()
        if done and self._work.exception() is None:
            self._place()
        return done

    def is_success(self) -> bool:
        """Whether it is done, and well."""
        done: bool = self._work.is_success()
        if done:
            self._place()
        return done

    def exception(self) -> Any:
        """What went wrong, if anything has."""
        return self._work.exception()

    def result(self) -> Any:
        """The tensors of the result."""
        value = self._work.result()  # raises before it is done
        self._place()
        return self._original(value)

    def synchronize(self) -> None:
        """Waits."""
        self.wait()

    def source_rank(self) -> int:
        """Where what was received came from."""
        rank: int = self._work._source_rank()
        return rank

    _source_rank = source_rank

    def get_future(self) -> Any:
        """A future of the result."""
        return self._work.get_future().then(self._end)

    def _end(self, future: Any) -> Any:
        value = future.value()
        self._place()
        return self._original(value)
