from mrfit.parameterizations.canonical import Canonical as Canonical
from mrfit.parameterizations.full import Full as Full
from mrfit.parameterizations.generalized_ising import GeneralizedIsing as GeneralizedIsing
from mrfit.parameterizations.ising import Ising as Ising
from mrfit.parameterizations.ordered import Ordered as Ordered
from mrfit.parameterizations.parameterization import Parameterization as Parameterization
from mrfit.parameterizations.spectral import Spectral as Spectral
