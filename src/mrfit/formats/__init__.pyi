from mrfit.formats.libdai import FG as FG
from mrfit.formats.libra_mn import MN as MN
from mrfit.formats.model_format import ModelFormat as ModelFormat
from mrfit.formats.models import read_network as read_network
from mrfit.formats.models import write_network as write_network
from mrfit.formats.mrf_network import MRF as MRF
from mrfit.formats.uai import LG as LG
from mrfit.formats.uai import UAI as UAI
