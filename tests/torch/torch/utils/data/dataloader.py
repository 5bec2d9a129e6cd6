"""A loader of batches of a list, made of the pieces that the helper looks at."""


class Sampler:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


class BatchSampler:
    def __init__(self, sampler, batch_size):
        self.sampler, self.batch_size = sampler, batch_size

    def __iter__(self):
        for first in range(0, len(self.sampler), self.batch_size):
            yield list(range(first, min(first + self.batch_size, len(self.sampler))))


class DataLoader:
    drop_last = False
    _dataset_kind = 0

    def __init__(self, dataset, batch_size):
        self.dataset, self.batch_size = dataset, batch_size
        self.sampler = Sampler(len(dataset))
        self.batch_sampler = BatchSampler(self.sampler, batch_size)

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        return _SingleProcessDataLoaderIter(self)


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self.loader = loader
        self._reset(loader, True)

    def _reset(self, loader, first_iter=False):
        self._sampler_iter = iter(loader.batch_sampler)

    def _next_index(self):
        return next(self._sampler_iter)

    def _next_data(self):
        return [self.loader.dataset[i] for i in self._next_index()]

    def __iter__(self):
        return self

    def __next__(self):
        return self._next_data()


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    pass
