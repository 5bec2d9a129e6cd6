class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._dataset_kind = 0
        self.loader, self.rest = loader, iter(loader.batch_sampler)

    def _reset(self, loader, first_iter=False):
        pass

    def _next_index(self):
        return next(self.rest)

    def __iter__(self):
        return self

    def __next__(self):
        return [self.loader.dataset[i] for i in self._next_index()]


class DataLoader:
    drop_last = False
    _dataset_kind = 0

    def __init__(self, dataset, batch_size=1):
        self.dataset, self.batch_size, self.sampler = dataset, batch_size, range(len(dataset))
        n = len(dataset)
        self.batch_sampler = [range(i, min(n, i + batch_size)) for i in range(0, n, batch_size)]

    def __iter__(self):
        return _BaseDataLoaderIter(self)

    def __len__(self):
        return len(self.batch_sampler)
