from . import dataloader
from .dataloader import DataLoader
