from mrfit.testing.engines import check_engine as check_engine
from mrfit.testing.formats import check_format as check_format
from mrfit.testing.methods import check_method as check_method
from mrfit.testing.objectives import check_objective as check_objective
from mrfit.testing.parameterizations import check_parameterization as check_parameterization
from mrfit.testing.penalties import check_penalty as check_penalty
from mrfit.testing.structure_learners import check_structure_learner as check_structure_learner
