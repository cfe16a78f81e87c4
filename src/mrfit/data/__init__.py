"""Internal, but for what docs/reference.md lists: files and tables as integer codes under a domain."""

from mrfit.data.dataset import Dataset
from mrfit.data.encoding import Encoder, ParseOptions
from mrfit.data.frames import table_batches
from mrfit.data.readers import read_batches

__all__ = ["Dataset", "Encoder", "ParseOptions", "read_batches", "table_batches"]
